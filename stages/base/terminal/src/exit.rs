use std::process::ExitCode;

use miette::Diagnostic;
use serde::Serialize;

/// How a program ended. The numbers are an interface: job scripts and CI act on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum ExitStatus {
    /// Done, or already fresh; also when nobody reads the output any more.
    Done = 0,
    /// Something that must not happen; asks for a report.
    Bug = 1,
    /// Bad command line.
    Usage = 2,
    /// `plan --check`: something would run.
    Stale = 10,
    /// Evaluation below its baseline.
    Gate = 20,
    /// Malformed input, or an artifact that does not match its digest or schema.
    BadData = 65,
    /// An artifact or file needed as input is not there.
    MissingInput = 66,
    /// Scheduler, device or model not reachable.
    Unavailable = 69,
    /// Quota, permission, disk.
    Io = 74,
    /// Interrupted or pre-empted with everything saved; safe to requeue.
    Retry = 75,
    /// Invalid configuration.
    Config = 78,
}

impl ExitStatus {
    /// Every status.
    pub const ALL: [Self; 11] = [
        Self::Done,
        Self::Bug,
        Self::Usage,
        Self::Stale,
        Self::Gate,
        Self::BadData,
        Self::MissingInput,
        Self::Unavailable,
        Self::Io,
        Self::Retry,
        Self::Config,
    ];

    /// Number the process ends with.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Code of the diagnostics that end with this status; none for [`ExitStatus::Done`].
    pub fn diagnostic_code(self) -> Option<&'static str> {
        match self {
            Self::Done => None,
            Self::Bug => Some("almanac::bug"),
            Self::Usage => Some("almanac::usage"),
            Self::Stale => Some("almanac::stale"),
            Self::Gate => Some("almanac::gate"),
            Self::BadData => Some("almanac::data"),
            Self::MissingInput => Some("almanac::missing"),
            Self::Unavailable => Some("almanac::unavailable"),
            Self::Io => Some("almanac::io"),
            Self::Retry => Some("almanac::retry"),
            Self::Config => Some("almanac::config"),
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}

/// Status that a diagnostic's code asks for, its own or that of the first diagnostic below it
/// that has one. A missing or unknown code is a [`ExitStatus::Bug`].
pub fn exit_status_of(diagnostic: &dyn Diagnostic) -> ExitStatus {
    let chain = std::iter::successors(Some(diagnostic), |diagnostic| diagnostic.diagnostic_source());
    let code = chain.into_iter().find_map(|diagnostic| Some(diagnostic.code()?.to_string()));
    let with_code = |status: &ExitStatus| code.is_some() && status.diagnostic_code() == code.as_deref();
    ExitStatus::ALL.into_iter().find(with_code).unwrap_or(ExitStatus::Bug)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status_of(code: &str) -> ExitStatus {
        exit_status_of(&miette::MietteDiagnostic::new("x").with_code(code))
    }

    #[test]
    fn every_code_has_its_documented_number() {
        let expected = [
            ("almanac::bug", 1),
            ("almanac::usage", 2),
            ("almanac::stale", 10),
            ("almanac::gate", 20),
            ("almanac::data", 65),
            ("almanac::missing", 66),
            ("almanac::unavailable", 69),
            ("almanac::io", 74),
            ("almanac::retry", 75),
            ("almanac::config", 78),
        ];
        for (code, number) in expected {
            assert_eq!(status_of(code).code(), number, "{code}");
        }
        assert_eq!(expected.len() + 1, ExitStatus::ALL.len());
    }

    #[test]
    fn a_diagnostic_without_a_known_code_is_a_bug() {
        assert_eq!(status_of("almanac::other"), ExitStatus::Bug);
        assert_eq!(exit_status_of(&miette::MietteDiagnostic::new("x")), ExitStatus::Bug);
    }

    #[test]
    fn context_around_an_error_keeps_its_status() {
        let inner = miette::MietteDiagnostic::new("inner").with_code("almanac::io");
        let report = miette::Report::new(inner).wrap_err("outer");
        assert_eq!(exit_status_of(report.as_ref()), ExitStatus::Io);
    }
}
