//! What can go wrong while evaluating.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

/// Errors of evaluation.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum Error {
    /// A file cannot be read.
    #[error("failed to read {}", path.display())]
    #[diagnostic(code(almanac::missing), help("check the path"))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// A question set is malformed.
    #[error("{} is not a question set", path.display())]
    #[diagnostic(
        code(almanac::data),
        help("a JSON list of objects with id, category, question, gold_files and facts")
    )]
    Gold {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },

    /// A result line is malformed.
    #[error("line {line} of {} is not a result", path.display())]
    #[diagnostic(code(almanac::data), help("each line is what `almanac search --batch` prints"))]
    Result {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },
}
