//! Panics inside the engines, which some damaged files and some bugs of theirs cause, as errors.
//!
//! A program's panic hook says that Almanac has a bug and asks for a report. A panic that becomes an
//! error here must not say so first, so the hook is told apart: by the thread, where the engine is
//! called, and by the place, where the engine has threads of its own.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::{Mutex, Once, PoisonError};

use crate::error::Cause;

/// Crates that are the engines, as they stand in the paths of their sources.
const ENGINES: [&str; 8] = [
    "/mistralrs",
    "/candle-",
    "/gemm-",
    "/tokenizers-",
    "/safetensors-",
    "/llguidance-",
    "/toktrie",
    "/minijinja-",
];

thread_local! {
    /// Calls of [`contain`] that this thread is in.
    static CONTAINED: Cell<u32> = const { Cell::new(0) };
}

/// What the last panic on a thread of an engine said.
static LAST_WORDS: Mutex<Option<String>> = Mutex::new(None);

/// Calls an engine; a panic becomes an error with what it said.
pub(crate) fn contain<T>(call: impl FnOnce() -> Result<T, Cause>) -> Result<T, Cause> {
    divert_hook();
    CONTAINED.set(CONTAINED.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(call));
    CONTAINED.set(CONTAINED.get() - 1);
    outcome.unwrap_or_else(|payload| {
        let words = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Err(format!("the engine panicked: {words}").into())
    })
}

/// What an engine said when it panicked on a thread of its own, once.
pub(crate) fn last_words() -> Option<String> {
    LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Keeps the panics of engines from the program's hook, which all others still reach.
fn divert_hook() {
    static DIVERTED: Once = Once::new();
    DIVERTED.call_once(|| {
        let program = take_hook();
        set_hook(Box::new(move |info| {
            let is_contained = is_contained();
            if !is_contained && !is_of_engine(info) {
                return program(info);
            }
            let message = info.payload_as_str().unwrap_or("no message");
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            tracing::debug!(place, message, "an engine panicked");
            if !is_contained {
                *LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner) = Some(message.to_owned());
            }
        }));
    });
}

fn is_contained() -> bool {
    CONTAINED.try_with(|depth| depth.get() > 0).unwrap_or(false)
}

fn is_of_engine(info: &PanicHookInfo<'_>) -> bool {
    info.location().is_some_and(|place| ENGINES.iter().any(|name| place.file().contains(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_its_words() {
        let error = contain(|| {
            let heads: usize = "0".parse()?;
            let sizes = vec![1; 3];
            Ok(sizes[sizes.len() + heads])
        });
        let words = error.unwrap_err().to_string();
        assert!(words.starts_with("the engine panicked: index out of bounds"), "{words}");
        assert_eq!(contain(|| Ok(1)).unwrap(), 1);
        assert!(contain(|| -> Result<(), Cause> { Err("no".into()) }).is_err());
    }
}
