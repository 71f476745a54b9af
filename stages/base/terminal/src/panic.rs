//! What a panic looks like to a user: an internal error, with what a report needs.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;
use std::sync::{Mutex, PoisonError};

use crate::ExitStatus;
use crate::report::{Failure, print};

/// Hint below every error that is our fault.
pub(crate) const BUG_HINT: &str =
    "this is a bug in almanac; please report it with this message and the command that was run";

/// A panic of the main thread, until somebody on the way makes an error of it or it ends the
/// program.
static UNTOLD: Mutex<Option<Told>> = Mutex::new(None);

struct Told {
    failure: Failure,
    backtrace: Option<String>,
}

/// Prints panics like errors: those of the main thread when they reach [`crate::main`], since a
/// reader of damaged files may turn them into an error; those of other threads at once.
pub(crate) fn install_hook() {
    let main = std::thread::current().id();
    std::panic::set_hook(Box::new(move |info| {
        let backtrace = Backtrace::capture();
        let captured = backtrace.status() == BacktraceStatus::Captured;
        let told = Told { failure: failure(info), backtrace: captured.then(|| backtrace.to_string()) };
        let is_last = info.payload_as_str().is_some_and(cannot_unwind);
        if std::thread::current().id() != main {
            told.print();
        } else if is_last {
            tell();
            told.print();
        } else {
            *UNTOLD.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        }
    }));
}

/// Whether the program is aborted right after this panic, by the words of the standard library.
fn cannot_unwind(message: &str) -> bool {
    message.contains("cannot unwind") || message.contains("in a destructor during cleanup")
}

/// Prints the panic that ended the main thread.
pub(crate) fn tell() {
    let told = UNTOLD.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(told) = told {
        told.print();
    }
}

impl Told {
    fn print(&self) {
        print(&self.failure);
        if let Some(backtrace) = &self.backtrace {
            crate::terminal().line("", backtrace);
        }
    }
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
