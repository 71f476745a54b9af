//! A clear message instead of an illegal instruction.

use crate::Error;

/// Fails when the processor lacks what the program was compiled for (`.cargo/config.toml`).
///
/// The standard detection macro is of no use: a feature the compiler was told to assume is
/// reported as present without a look. So the kernel's list is read.
pub fn require_processor() -> Result<(), Error> {
    let needed: &[(&str, bool)] = &[
        ("avx2", cfg!(target_feature = "avx2")),
        ("fma", cfg!(target_feature = "fma")),
        ("f16c", cfg!(target_feature = "f16c")),
        ("bmi2", cfg!(target_feature = "bmi2")),
    ];
    let Ok(list) = fs_err::read_to_string("/proc/cpuinfo") else { return Ok(()) };
    match list.lines().find(|line| line.starts_with("flags")) {
        None => Ok(()),
        Some(flags) => missing(flags, needed),
    }
}

fn missing(flags: &str, needed: &[(&str, bool)]) -> Result<(), Error> {
    let present: Vec<&str> = flags.split_whitespace().collect();
    let missing: Vec<&str> = needed
        .iter()
        .filter(|(name, compiled_in)| *compiled_in && !present.contains(name))
        .map(|(name, _)| *name)
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(Error::Processor { missing: missing.join(", ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_compiled_in_and_is_absent_is_named() {
        let needed = [("avx2", true), ("fma", true), ("avx512f", false)];
        let error = missing("flags : fpu sse2 fma", &needed).unwrap_err();
        assert_eq!(error.to_string(), "this processor lacks avx2, which this build of Almanac needs");
        assert!(missing("flags : fma avx2", &needed).is_ok());
    }
}
