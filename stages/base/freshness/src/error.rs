//! What can go wrong while planning.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

/// Errors of planning.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// The source tree is not there.
    #[error("source tree {} is not a folder", path.display())]
    #[diagnostic(code(almanac::missing), help("name the top folder of the code with --source TREE"))]
    NoTree {
        /// The path given.
        path: PathBuf,
    },

    /// The tree holds no file after the ignore rules.
    #[error("source tree {} has no file to read", path.display())]
    #[diagnostic(
        code(almanac::missing),
        help("check --source, the tree's .gitignore and the setting parse.params.ignore")
    )]
    EmptyTree {
        /// The tree.
        path: PathBuf,
    },

    /// A pattern in the settings is no glob.
    #[error("`{pattern}` in parse.params.ignore is not a valid glob")]
    #[diagnostic(code(almanac::config), help("use .gitignore syntax, such as `build/` or `*.dat`"))]
    Glob {
        /// The pattern.
        pattern: String,
        /// Why not.
        #[source]
        source: ignore::Error,
    },

    /// The store refused.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] almanac_artifact::Error),

    /// The settings refused.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Settings(#[from] almanac_settings::Error),

    /// An identity could not be found out.
    #[error("failed to identify {what}")]
    #[diagnostic(code(almanac::config), help("see `almanac models list` and `almanac config`"))]
    Identity {
        /// Model or prompt.
        what: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
