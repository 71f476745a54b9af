//! What can go wrong in the frame itself.

use miette::Diagnostic;
use thiserror::Error;

/// Errors of the frame.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// No store was named.
    #[error("no store was named")]
    #[diagnostic(
        code(almanac::usage),
        help(
            "give --store DIR or set ALMANAC_STORE; the repository's `artifacts` folder is the usual place"
        )
    )]
    NoStore,

    /// The parse stage needs a tree.
    #[error("no source tree was named")]
    #[diagnostic(code(almanac::usage), help("give --source TREE, the top folder of the code to read"))]
    NoSource,

    /// A shard of a stage that works in one piece.
    #[error("stage `{stage}` works in one piece and takes no --shard")]
    #[diagnostic(code(almanac::usage), help("explain, entities and embed can be sharded"))]
    NotSharded {
        /// The stage.
        stage: &'static str,
    },

    /// Only texts can be imported, and explain takes those of every level.
    #[error("stage `{stage}` imports nothing")]
    #[diagnostic(code(almanac::usage), help("`almanac-explain import FILE` takes texts of every level"))]
    NoImport {
        /// The stage.
        stage: &'static str,
    },

    /// An option about records that do not exist.
    #[error("stage `{stage}` keeps no records and takes no {option}")]
    #[diagnostic(code(almanac::usage), help("explain, entities and embed keep records"))]
    NoRecords {
        /// The stage.
        stage: &'static str,
        /// The option.
        option: &'static str,
    },

    /// A source tree for a stage that reads the store.
    #[error("stage `{stage}` reads the store and takes no --source")]
    #[diagnostic(code(almanac::usage), help("parse alone reads the source tree"))]
    NoTree {
        /// The stage.
        stage: &'static str,
    },

    /// A level that the stage's records do not have.
    #[error("stage `{stage}` has no level `{level}`")]
    #[diagnostic(code(almanac::usage), help("entities has the levels files, modules and call_chains"))]
    NoLevel {
        /// The stage.
        stage: &'static str,
        /// The level.
        level: String,
    },

    /// A signal handler could not be set.
    #[error("failed to watch for signals")]
    #[diagnostic(
        code(almanac::unavailable),
        help("the limits of open files, threads or memory may be too low (ulimit -a)")
    )]
    Signal {
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// The thread pool could not be built.
    #[error("failed to start {threads} threads")]
    #[diagnostic(code(almanac::unavailable), help("lower the stage's run.threads"))]
    Threads {
        /// How many.
        threads: usize,
        /// Why.
        #[source]
        source: rayon::ThreadPoolBuildError,
    },

    /// A stage asked for an artifact that the catalogue does not list among its inputs.
    #[error("artifact `{artifact}` is not an input of stage `{stage}`")]
    #[diagnostic(code(almanac::bug), help("please report this"))]
    NotAnInput {
        /// The artifact.
        artifact: String,
        /// The stage.
        stage: &'static str,
    },

    /// The processor lacks instructions that the program was compiled for.
    #[error("this processor lacks {missing}, which this build of Almanac needs")]
    #[diagnostic(
        code(almanac::unavailable),
        help(
            "run on an x86-64-v3 machine (any x86 server since 2015) or rebuild without the target-cpu line of .cargo/config.toml"
        )
    )]
    Processor {
        /// Instruction sets.
        missing: String,
    },
}
