//! The only printer. Results go to standard output, everything else to standard error.
//!
//! A program's `main` hands its work to [`main`], reads its command line, calls [`init`] once and
//! from then on prints through the functions of this crate. They never fail: what goes wrong with
//! standard output is kept and decides the exit status; a reader that stops reading is success.
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

use std::fmt;
use std::sync::OnceLock;

use indicatif::{MultiProgress, ProgressDrawTarget};
use serde::Serialize;

use crate::streams::Output;

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
        }
    }

    /// Prints a line to standard error, above a progress bar if one is shown.
    fn line(&self, line: &str) {
        self.bars.suspend(|| streams::write_stderr(&format!("{line}\n")));
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

/// Prints a result to standard output, ending the line if the text does not.
pub fn data(text: &str) {
    let terminal = terminal();
    terminal.bars.suspend(|| terminal.output.write_line(text));
}

/// Prints a piece of a text that appears bit by bit, such as an answer, and shows it at once.
pub fn data_piece(piece: &str) {
    let terminal = terminal();
    terminal.bars.suspend(|| terminal.output.write_piece(piece));
}

/// Prints a result to standard output as one line of JSON.
pub fn data_json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(line) => data(&line),
        Err(error) => terminal().output.fail(std::io::Error::other(error)),
    }
}

/// Prints what is done now or was done: `status("Parsing", "312 files")`, the verb right-aligned.
pub fn status(verb: &str, message: impl fmt::Display) {
    let terminal = terminal();
    if terminal.options.quiet == 0 {
        terminal.line(&status_line(verb, message));
    }
}

/// Like [`status`], but only with `-v`.
pub fn detail(verb: &str, message: impl fmt::Display) {
    let terminal = terminal();
    if terminal.options.quiet == 0 && terminal.options.verbose > 0 {
        terminal.line(&status_line(verb, message));
    }
}

/// Prints something worth knowing that needs no action.
pub fn note(message: impl fmt::Display) {
    let terminal = terminal();
    if terminal.options.quiet == 0 {
        terminal.line(&format!("{}: {message}", color::NOTE.paint("note")));
    }
}

/// Prints something that is probably wrong, though the work goes on.
pub fn warning(message: impl fmt::Display) {
    let terminal = terminal();
    if terminal.options.quiet < 2 {
        terminal.line(&format!("{}: {message}", color::WARNING.paint("warning")));
    }
}

fn status_line(verb: &str, message: impl fmt::Display) -> String {
    // Padded before it is coloured: escape codes would count as width.
    format!("{} {message}", color::STATUS.paint(&format!("{verb:>12}")))
}
