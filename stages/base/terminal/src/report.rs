//! How a program ends: its error printed once, its status as the exit code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use miette::Diagnostic;
use serde::Serialize;

use crate::panic::BUG_HINT;
use crate::visible::{continued, visible, visible_json};
use crate::{ExitStatus, color, exit_status_of, panic, terminal};

/// Runs a program: prints its error if it fails, and turns how it ended into an exit code.
///
/// A panic is reported as a bug, unless something on the way makes an error of it. Output that could not be written makes a success a failure,
/// except where the reader stopped reading.
pub fn main(run: impl FnOnce() -> miette::Result<ExitStatus>) -> ExitCode {
    panic::install_hook();
    let code = match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(status)) => ExitCode::from(status),
        Ok(Err(error)) => report(error.as_ref()),
        Err(_) => {
            panic::tell();
            ExitCode::from(ExitStatus::Bug)
        }
    };
    match terminal().output.finish() {
        Ok(()) => code,
        Err(error) => {
            let status = ExitStatus::Io;
            print(&Failure {
                error: "standard output could not be written".to_owned(),
                causes: vec![error.to_string()],
                hint: Some("check where the output is redirected to".to_owned()),
                status,
            });
            ExitCode::from(status)
        }
    }
}

/// Prints an error with its causes and hint to standard error, as one line of JSON with
/// `--json`, and gives the exit code it asks for.
pub fn report(diagnostic: &dyn Diagnostic) -> ExitCode {
    let failure = Failure::of(diagnostic);
    print(&failure);
    ExitCode::from(failure.status)
}

/// An error as it is printed.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) error: String,
    pub(crate) causes: Vec<String>,
    pub(crate) hint: Option<String>,
    pub(crate) status: ExitStatus,
}

/// The line of `--json`.
#[derive(Serialize)]
struct FailureLine<'a> {
    reason: &'static str,
    error: &'a str,
    causes: &'a [String],
    hint: Option<&'a str>,
    status: ExitStatus,
    exit: u8,
}

impl Failure {
    fn of(diagnostic: &dyn Diagnostic) -> Self {
        let status = exit_status_of(diagnostic);
        let error = diagnostic.to_string();
        let mut causes: Vec<String> = Vec::new();
        let mut source = diagnostic.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            // Some libraries repeat their source in their own message.
            if !std::iter::once(&error).chain(&causes).any(|said| said.contains(&text)) {
                causes.push(text);
            }
            source = cause.source();
        }
        let chain = std::iter::successors(Some(diagnostic), |diagnostic| diagnostic.diagnostic_source());
        let help = chain.into_iter().find_map(|diagnostic| Some(diagnostic.help()?.to_string()));
        let hint = help.or_else(|| (status == ExitStatus::Bug).then(|| BUG_HINT.to_owned()));
        Self { error, causes, hint, status }
    }

    /// The error for people.
    fn text(&self) -> String {
        let shown = |message: &str| continued(&visible(message));
        let mut text = format!("{}: {}", color::ERROR.paint("error"), shown(&self.error));
        for cause in &self.causes {
            text += &format!("\n  caused by: {}", shown(cause));
        }
        if let Some(hint) = &self.hint {
            text += &format!("\n\n{}: {}", color::NOTE.paint("hint"), shown(hint));
        }
        text
    }

    /// The error for programs.
    fn json(&self) -> String {
        let line = FailureLine {
            reason: "error",
            error: &self.error,
            causes: &self.causes,
            hint: self.hint.as_deref(),
            status: self.status,
            exit: self.status.code(),
        };
        let line = serde_json::to_string(&line).expect("strings and numbers always serialise");
        visible_json(&line).into_owned()
    }
}

pub(crate) fn print(failure: &Failure) {
    let terminal = terminal();
    let text = if terminal.options.json { failure.json() } else { failure.text() };
    terminal.styled(&text);
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[derive(Debug)]
    struct Layered {
        text: &'static str,
        help: Option<&'static str>,
        source: Option<Box<Layered>>,
    }

    impl std::fmt::Display for Layered {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.text)
        }
    }

    impl Error for Layered {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.source.as_deref().map(|source| source as &dyn Error)
        }
    }

    impl Diagnostic for Layered {
        fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
            Some(Box::new("almanac::data"))
        }

        fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
            self.help.map(|help| Box::new(help) as Box<dyn std::fmt::Display>)
        }
    }

    fn damaged() -> Layered {
        let inner = Layered { text: "digest is 9f2c", help: None, source: None };
        let middle =
            Layered { text: "part-00003.parquet: digest is 9f2c", help: None, source: Some(Box::new(inner)) };
        Layered {
            text: "artifact `chunks` does not match its manifest",
            help: Some("run `almanac gc --broken`"),
            source: Some(Box::new(middle)),
        }
    }

    #[test]
    fn an_error_is_printed_with_each_cause_once_and_its_hint() {
        let text = console::strip_ansi_codes(&Failure::of(&damaged()).text()).into_owned();
        assert_eq!(
            text,
            "error: artifact `chunks` does not match its manifest\n  \
             caused by: part-00003.parquet: digest is 9f2c\n\n\
             hint: run `almanac gc --broken`"
        );
    }

    #[test]
    fn an_error_is_one_line_of_json() {
        let line = Failure::of(&damaged()).json();
        assert!(!line.contains('\n'));
        let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(value["reason"], "error");
        assert_eq!(value["exit"], 65);
        assert_eq!(value["status"], "bad_data");
        assert_eq!(value["causes"][0], "part-00003.parquet: digest is 9f2c");
        assert_eq!(value["hint"], "run `almanac gc --broken`");
    }

    #[test]
    fn names_in_an_error_cannot_forge_messages() {
        let text = Layered { text: "a\u{1b}[2K\rb.h\nerror: c", help: None, source: None };
        let failure = Failure::of(&text);
        let printed = console::strip_ansi_codes(&failure.text()).into_owned();
        assert_eq!(printed, "error: a\\u{1b}[2K\\rb.h\n    error: c");
        assert!(failure.json().contains(r"a\u001b[2K\rb.h\nerror: c"), "{}", failure.json());
    }

    #[test]
    fn an_error_without_a_code_asks_for_a_report() {
        let failure = Failure::of(&miette::MietteDiagnostic::new("x"));
        assert_eq!(failure.status, ExitStatus::Bug);
        assert_eq!(failure.hint.as_deref(), Some(BUG_HINT));
    }
}
