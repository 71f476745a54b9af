//! A clear message instead of an illegal instruction.

use crate::Error;

/// Refuses, in words, a processor that would die on an illegal instruction.
///
/// candle's quantised kernels pick their instructions when they are compiled, so the workspace is
/// built for x86-64-v3 and every binary asks here first. Other architectures always pass.
pub fn require_processor() -> Result<(), Error> {
    let missing = missing_features();
    if missing.is_empty() { Ok(()) } else { Err(Error::Processor { missing: missing.join(", ") }) }
}

/// `is_x86_feature_detected!` answers true, without asking the processor, for whatever the
/// compiler was told to assume, which is exactly what is to be checked. Hence cpuid itself.
#[cfg(target_arch = "x86_64")]
fn missing_features() -> Vec<&'static str> {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    let highest_leaf = __cpuid(0).eax;
    let basic = __cpuid(1).ecx;
    let extended = if highest_leaf >= 7 { __cpuid_count(7, 0).ebx } else { 0 };
    missing_in(basic, extended)
}

#[cfg(not(target_arch = "x86_64"))]
fn missing_features() -> Vec<&'static str> {
    Vec::new()
}

/// Bits of cpuid: ECX of leaf 1 and EBX of leaf 7 (Intel SDM, volume 2A, table 3-8).
#[cfg(target_arch = "x86_64")]
fn missing_in(basic: u32, extended: u32) -> Vec<&'static str> {
    [("AVX2", extended & (1 << 5)), ("FMA", basic & (1 << 12)), ("F16C", basic & (1 << 29))]
        .into_iter()
        .filter_map(|(name, bit)| (bit == 0).then_some(name))
        .collect()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn names_what_is_missing() {
        let (fma, f16c, avx2) = (1 << 12, 1 << 29, 1 << 5);
        assert!(missing_in(fma | f16c, avx2).is_empty());
        // Ivy Bridge: AVX and F16C, but neither FMA nor AVX2.
        assert_eq!(missing_in(f16c, 0), ["AVX2", "FMA"]);
        assert_eq!(missing_in(0, 0), ["AVX2", "FMA", "F16C"]);
    }
}
