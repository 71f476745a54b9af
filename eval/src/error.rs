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

    /// A line of the compiler's truth is malformed.
    #[error("line {line} of {} is not what the extractor writes", path.display())]
    #[diagnostic(code(almanac::data), help("delete the file: the next run makes it anew"))]
    Truth {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },

    /// The list of corpora is malformed.
    #[error("{} is not a list of corpora", path.display())]
    #[diagnostic(code(almanac::data), help("compare it with the one in eval/graph"))]
    Corpora {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: Box<toml::de::Error>,
    },

    /// A corpus that is asked for is not in the list.
    #[error("there is no corpus `{name}`")]
    #[diagnostic(code(almanac::usage), help("eval/graph/corpora.toml names them"))]
    NoCorpus {
        /// The name.
        name: String,
    },

    /// A corpus has neither folder nor package.
    #[error("corpus `{corpus}` names no tree")]
    #[diagnostic(code(almanac::data), help("give it a `folder` of the repository or a Debian `package`"))]
    NoTree {
        /// The corpus.
        corpus: String,
    },

    /// A Debian package could not be brought here.
    #[error("package {package} could not be unpacked: {what}")]
    #[diagnostic(
        code(almanac::unavailable),
        help("a first run needs apt-get, dpkg-deb and the network; `apt-get update` may be due")
    )]
    Package {
        /// The package.
        package: String,
        /// What the program said.
        what: String,
    },

    /// A file of the work folder cannot be written.
    #[error("failed to write {}", path.display())]
    #[diagnostic(code(almanac::io), help("check the space and rights of the work folder"))]
    Copy {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// The compiler did not accept a corpus, or libclang is not there.
    #[error("the truth of corpus `{corpus}` could not be read: {what}")]
    #[diagnostic(
        code(almanac::unavailable),
        help("it needs python3 and the packages libclang1-14 and libclang-common-14-dev")
    )]
    Extractor {
        /// The corpus.
        corpus: String,
        /// What the program said.
        what: String,
    },

    /// A stage failed on a corpus.
    #[error("{stage} failed: {what}")]
    #[diagnostic(code(almanac::unavailable), help("build it, or name the folder it is in with --bin"))]
    Stage {
        /// The binary.
        stage: String,
        /// What it said.
        what: String,
    },
}
