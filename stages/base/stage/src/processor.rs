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
    let highest_own = __cpuid(0x8000_0000).eax;
    let own = if highest_own >= 0x8000_0001 { __cpuid(0x8000_0001).ecx } else { 0 };
    missing_in(basic, extended, own)
}

#[cfg(not(target_arch = "x86_64"))]
fn missing_features() -> Vec<&'static str> {
    Vec::new()
}

/// Bits of cpuid: ECX of leaf 1, EBX of leaf 7 and ECX of leaf 0x80000001 (Intel SDM, volume 2A, table
/// 3-8). OSXSAVE: without it the system does not keep the wide registers.
#[cfg(target_arch = "x86_64")]
fn missing_in(basic: u32, extended: u32, own: u32) -> Vec<&'static str> {
    let bits = [
        ("AVX2", extended, 5),
        ("BMI1", extended, 3),
        ("BMI2", extended, 8),
        ("FMA", basic, 12),
        ("MOVBE", basic, 22),
        ("OSXSAVE", basic, 27),
        ("F16C", basic, 29),
        ("LZCNT", own, 5),
    ];
    bits.into_iter()
        .map(|(name, register, bit)| (name, register & (1 << bit)))
        .filter_map(|(name, bit)| (bit == 0).then_some(name))
        .collect()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn names_what_is_missing() {
        let basic = 1 << 12 | 1 << 22 | 1 << 27 | 1 << 29;
        let extended = 1 << 3 | 1 << 5 | 1 << 8;
        assert!(missing_in(basic, extended, 1 << 5).is_empty());
        // Ivy Bridge: AVX and F16C under a system that keeps them, and none of what Haswell brought.
        let missing = missing_in(1 << 27 | 1 << 29, 0, 0);
        assert_eq!(missing, ["AVX2", "BMI1", "BMI2", "FMA", "MOVBE", "LZCNT"]);
        assert_eq!(missing_in(0, 0, 0).len(), 8);
    }
}
