//! What can go wrong in the driver itself.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

/// Errors of the driver.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum Error {
    /// A stage binary is not installed.
    #[error("stage binary {} was not found", path.display())]
    #[diagnostic(
        code(almanac::unavailable),
        help("build the whole workspace (`cargo build --release`) and keep the binaries in one folder")
    )]
    NoBinary {
        /// Where it was expected.
        path: PathBuf,
    },

    /// A stage binary could not be started or watched.
    #[error("failed to run {}", path.display())]
    #[diagnostic(code(almanac::unavailable), help("check that the file is executable on this machine"))]
    Child {
        /// The binary.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// Input of `--batch` cannot be read.
    #[error("failed to read {}", path.display())]
    #[diagnostic(code(almanac::missing), help("give a file of JSON lines {{\"id\": …, \"query\": …}}"))]
    BatchFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// A line of `--batch` is not what it should be.
    #[error("line {line} of {} is not a query", path.display())]
    #[diagnostic(code(almanac::data), help("each line is one object {{\"id\": …, \"query\": …}}"))]
    BatchLine {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },

    /// Neither a query nor a batch.
    #[error("nothing was asked")]
    #[diagnostic(code(almanac::usage), help("give a question in quotes, or --batch FILE"))]
    NoQuery,

    /// A stage name that does not exist.
    #[error("there is no stage `{name}`")]
    #[diagnostic(code(almanac::usage), help("stages are: parse, graph, explain, entities, embed, index"))]
    NoStage {
        /// The name.
        name: String,
    },
}
