//! Damage that a library meets with a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::{Error, Result};

/// Calls a library on files whose contents it takes on trust. Digests are checked before, unless
/// that is switched off; whatever gets past them is still an error and never a panic.
pub(crate) fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let detail = format!("its reader gave up: {}", text.unwrap_or("it does not say why"));
        Err(Error::Damaged { path: path.to_owned(), detail })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_damage_and_names_the_file() {
        let failed = guarded::<()>(Path::new("bm25"), || panic!("length {} is wrong", 3));
        let error = failed.expect_err("it panicked");
        assert_eq!(error.to_string(), "bm25 is damaged: its reader gave up: length 3 is wrong");
        assert!(error.is_damage());
    }
}
