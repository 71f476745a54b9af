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

    /// Input of `--batch` is not there.
    #[error("{} is not a file of questions", path.display())]
    #[diagnostic(code(almanac::missing), help("give a file of JSON lines {{\"id\": …, \"query\": …}}"))]
    NoBatchFile {
        /// The path.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// Input of `--batch` cannot be read.
    #[error("failed to read {}", path.display())]
    #[diagnostic(code(almanac::io), help("the lines before it are answered; check permissions and the disk"))]
    BatchFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// Lines of `--batch` that are no queries.
    #[error("{refused} of {lines} lines of {} were not answered", path.display())]
    #[diagnostic(
        code(almanac::data),
        help(
            "each has a line with `error` in the output; a query is one object {{\"id\": …, \"query\": …}}"
        )
    )]
    BatchLines {
        /// The file.
        path: PathBuf,
        /// Lines without an answer.
        refused: usize,
        /// All lines but empty ones.
        lines: usize,
    },

    /// Nowhere to unpack a bundle.
    #[error("there is no folder to open a bundle in")]
    #[diagnostic(code(almanac::config), help("set HOME, or XDG_CACHE_HOME to a folder that can be written"))]
    NoCache,

    /// Neither a query nor a batch.
    #[error("nothing was asked")]
    #[diagnostic(code(almanac::usage), help("give a question in quotes, or --batch FILE"))]
    NoQuery,

    /// A tree is wanted and none was named.
    #[error("this server was started without a source tree")]
    #[diagnostic(code(almanac::usage), help("start it as `almanac mcp --source TREE`"))]
    NoTree,

    /// The protocol's transport failed.
    #[error("the connection to the client failed: {error}")]
    #[diagnostic(code(almanac::io), help("start the server again; with --http, is the port taken?"))]
    Mcp {
        /// Why.
        error: String,
    },

    /// A name that leads out of the tree.
    #[error("`{name}` is not inside the tree")]
    #[diagnostic(code(almanac::usage), help("give a symbol, or a path relative to the top of the tree"))]
    OutsideTree {
        /// The name.
        name: String,
    },

    /// Nothing is called so.
    #[error("the store has no symbol or file `{name}`{}", offered(similar))]
    #[diagnostic(code(almanac::missing), help("`almanac search` finds things by what they do"))]
    NoSuchName {
        /// The name.
        name: String,
        /// Names that are nearly the same.
        similar: Vec<String>,
    },

    /// A model that a stage would load on a node is not here.
    #[error("model `{name}`, which stage `{stage}` loads, is not there")]
    #[diagnostic(
        code(almanac::unavailable),
        help("`almanac models get {name}` brings it; nothing is fetched on a compute node")
    )]
    NoModel {
        /// The model.
        name: String,
        /// The stage.
        stage: &'static str,
    },

    /// A stage binary is of another build.
    #[error("stage binary {} is not of the same build as this `almanac`", path.display())]
    #[diagnostic(
        code(almanac::unavailable),
        help("build the whole workspace (`cargo build --release`) and keep the binaries in one folder")
    )]
    OtherBinary {
        /// The binary.
        path: PathBuf,
    },

    /// A stage name that does not exist.
    #[error("there is no stage `{name}`")]
    #[diagnostic(code(almanac::usage), help("stages are: parse, graph, explain, entities, embed, index"))]
    NoStage {
        /// The name.
        name: String,
    },
}

fn offered(similar: &[String]) -> String {
    if similar.is_empty() { String::new() } else { format!("; did you mean {}?", similar.join(", ")) }
}
