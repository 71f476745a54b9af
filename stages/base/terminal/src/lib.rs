//! The only printer. Results go to standard output, everything else to standard error.
//!
//! A program's `main` hands its work to [`main`], reads its command line, calls [`init`] once and
//! from then on prints through the functions of this crate. They never fail: what goes wrong with
//! standard output is kept and decides the exit status; a reader that stops reading is success.
//! What they print may come from files and models: control characters are shown as their codes.
//!
//! It must not know what any stage does, nor read settings; colour variables are the one part of
//! the environment it looks at.

mod color;
mod exit;
pub mod format;
mod log;
mod panic;
mod progress;
mod report;
mod streams;
mod table;
mod visible;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use indicatif::{MultiProgress, ProgressDrawTarget};
use serde::Serialize;

use crate::streams::Output;
use crate::visible::{continued, visible, visible_json, visible_line};

pub use crate::color::ColorChoice;
pub use crate::exit::{ExitStatus, exit_status_of};
pub use crate::progress::Progress;
pub use crate::report::{main, report};
pub use crate::table::Table;

/// What the command line says about output.
#[derive(Debug, Clone)]
pub struct Options {
    /// `--json`: standard output carries JSON lines only, and so does the error.
    pub json: bool,
    /// `-q`: 1 leaves out status lines, notes and progress, 2 warnings too.
    pub quiet: u8,
    /// `-v`: 1 shows details and the informative log, 2 the debugging log, 3 everything.
    pub verbose: u8,
    /// `--color`.
    pub color: ColorChoice,
    /// Not `--no-progress`.
    pub progress: bool,
    /// Filter of the log in the syntax of `tracing` (`ALMANAC_LOG`); none: by `verbose`.
    pub log_filter: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { json: false, quiet: 0, verbose: 0, color: ColorChoice::Auto, progress: true, log_filter: None }
    }
}

#[derive(Debug)]
struct Terminal {
    options: Options,
    stderr_is_terminal: bool,
    bars: MultiProgress,
    output: Output,
    /// Notes and warnings that were printed.
    said: Mutex<HashSet<String>>,
}

static TERMINAL: OnceLock<Terminal> = OnceLock::new();

/// Sets how this process prints and starts the log. Only the first call counts; without one,
/// [`Options::default`] holds.
pub fn init(options: Options) {
    color::apply(options.color);
    let filter = log::filter(&options);
    let mut first = false;
    TERMINAL.get_or_init(|| {
        first = true;
        Terminal::new(options)
    });
    if first && let Err(problem) = log::start(filter) {
        warning(problem);
    }
}

fn terminal() -> &'static Terminal {
    TERMINAL.get_or_init(|| Terminal::new(Options::default()))
}

impl Terminal {
    fn new(options: Options) -> Self {
        let stderr_is_terminal = console::Term::stderr().features().is_attended();
        Self {
            options,
            stderr_is_terminal,
            bars: MultiProgress::with_draw_target(ProgressDrawTarget::stderr()),
            output: Output::stdout(),
            said: Mutex::default(),
        }
    }

    /// Prints a message to standard error, above a progress bar if one is shown. The head is ours
    /// and may be coloured.
    fn line(&self, head: &str, message: &str) {
        self.styled(&format!("{head}{}", continued(&visible(message))));
    }

    /// Prints what is harmless already and may be coloured.
    fn styled(&self, text: &str) {
        self.bars.suspend(|| streams::write_stderr(&format!("{text}\n")));
    }

    /// Whether a message is said for the first time.
    fn is_new(&self, message: &str) -> bool {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).insert(message.to_owned())
    }
}

/// Whether `--json` was given.
pub fn is_json() -> bool {
    terminal().options.json
}

/// Whether nobody reads standard output any more; a loop that only prints can stop.
pub fn is_output_closed() -> bool {
    terminal().output.is_closed()
}

/// Keeps that standard output could not be written, where something else wrote to it.
pub fn output_failed(error: std::io::Error) {
    terminal().output.fail(error);
}

/// Prints a result to standard output, ending the line if the text does not.
pub fn data(text: &str) {
    let terminal = terminal();
    terminal.bars.suspend(|| terminal.output.write_line(&visible(text)));
}

/// Prints a result of one line, such as a place in a file: a line end inside it is shown, not made.
pub fn data_line(text: &str) {
    let terminal = terminal();
    terminal.bars.suspend(|| terminal.output.write_line(&visible_line(text)));
}

/// Prints a piece of a text that appears bit by bit, such as an answer, and shows it at once.
pub fn data_piece(piece: &str) {
    let terminal = terminal();
    terminal.bars.suspend(|| terminal.output.write_piece(&visible(piece)));
}

/// Prints a result to standard output as one line of JSON.
pub fn data_json(value: &impl Serialize) {
    let terminal = terminal();
    match serde_json::to_string(value) {
        Ok(line) => terminal.bars.suspend(|| terminal.output.write_line(&visible_json(&line))),
        Err(error) => terminal.output.fail(std::io::Error::other(error)),
    }
}

/// Prints what is done now or was done: `status("Parsing", "312 files")`, the verb right-aligned.
pub fn status(verb: &str, message: impl fmt::Display) {
    let terminal = terminal();
    if terminal.options.quiet == 0 {
        terminal.line(&status_head(verb), &message.to_string());
    }
}

/// Like [`status`], but only with `-v`.
pub fn detail(verb: &str, message: impl fmt::Display) {
    let terminal = terminal();
    if terminal.options.quiet == 0 && terminal.options.verbose > 0 {
        terminal.line(&status_head(verb), &message.to_string());
    }
}

/// Prints something worth knowing that needs no action, once.
pub fn note(message: impl fmt::Display) {
    let terminal = terminal();
    let message = message.to_string();
    if terminal.options.quiet == 0 && terminal.is_new(&message) {
        terminal.line(&format!("{}: ", color::NOTE.paint("note")), &message);
    }
}

/// Prints something that is probably wrong, though the work goes on, once.
pub fn warning(message: impl fmt::Display) {
    let terminal = terminal();
    let message = message.to_string();
    if terminal.options.quiet < 2 && terminal.is_new(&message) {
        terminal.line(&format!("{}: ", color::WARNING.paint("warning")), &message);
    }
}

/// Prints what is wrong with a command line, as its parser says it (`error: …`, how it is used).
pub fn usage_error(text: &str) {
    let text = text.trim_end();
    match text.strip_prefix("error: ") {
        Some(message) => {
            terminal().styled(&format!("{}: {}", color::ERROR.paint("error"), visible(message)));
        }
        // Help, where a command was asked for nothing.
        None => terminal().styled(&visible(text)),
    }
}

fn status_head(verb: &str) -> String {
    // Padded before it is coloured: escape codes would count as width.
    format!("{} ", color::STATUS.paint(&format!("{:>12}", visible_line(verb))))
}
