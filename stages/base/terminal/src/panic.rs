//! What a panic looks like to a user: an internal error, with what a report needs.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;

use crate::ExitStatus;
use crate::report::{Failure, print};

/// Hint below every error that is our fault.
pub(crate) const BUG_HINT: &str =
    "this is a bug in almanac; please report it with this message and the command that was run";

/// Prints panics of every thread like errors.
pub(crate) fn install_hook() {
    std::panic::set_hook(Box::new(|info| {
        print(&failure(info));
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            crate::terminal().line(&backtrace.to_string());
        }
    }));
}

fn failure(info: &PanicHookInfo<'_>) -> Failure {
    let message = info.payload_as_str().unwrap_or("unknown panic");
    let place = info.location().map_or_else(String::new, |place| format!(" at {place}"));
    Failure {
        error: format!("internal error{place}"),
        causes: vec![message.to_owned()],
        hint: Some(BUG_HINT.to_owned()),
        status: ExitStatus::Bug,
    }
}
