//! What can go wrong before a file is read; afterwards every file gives rows.

use miette::Diagnostic;
use thiserror::Error as ThisError;

/// Errors of this crate.
#[derive(Debug, ThisError, Diagnostic)]
pub enum Error {
    /// A parameter is out of range.
    #[error("parse.params.max_chunk_size is {value}")]
    #[diagnostic(code(almanac::config), help("set it to {least} characters or more"))]
    ChunkSize {
        /// Value given.
        value: usize,
        /// Least value.
        least: usize,
    },
    /// A file is not what it was when the tree was listed.
    #[error("{path} changed while the tree was read")]
    #[diagnostic(code(almanac::retry), help("run the build again when nothing writes to the tree"))]
    TreeChanged {
        /// Path relative to the tree.
        path: String,
    },
    /// A signal came while files were read.
    #[error("interrupted while files were read")]
    #[diagnostic(code(almanac::retry), help("run the build again: nothing was written"))]
    Interrupted,
    /// The threads cannot be started.
    #[error("{threads} parser threads cannot be started")]
    #[diagnostic(code(almanac::unavailable), help("set parse.run.threads to a smaller number"))]
    Threads {
        /// Threads wanted.
        threads: usize,
        /// Why.
        #[source]
        source: rayon::ThreadPoolBuildError,
    },
}
