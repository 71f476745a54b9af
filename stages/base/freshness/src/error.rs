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

    /// The store would be the source tree itself.
    #[error("the store and the source tree are the same folder, {}", path.display())]
    #[diagnostic(
        code(almanac::config),
        help("name another folder with --store; one inside the tree is left out when the tree is read")
    )]
    StoreIsTree {
        /// The folder.
        path: PathBuf,
    },

    /// The rules of what to leave out cannot be read.
    #[error("{} is not a regular file", path.display())]
    #[diagnostic(
        code(almanac::data),
        help("it should hold patterns of files to leave out; move it out of the tree")
    )]
    IgnoreFile {
        /// The ignore file.
        path: PathBuf,
    },

    /// Something in the tree could not be read now, though it may be another time.
    #[error("the source tree could not be read to its end, at {}", path.display())]
    #[diagnostic(
        code(almanac::io),
        help(
            "nothing was changed; check the file system, permissions and limits (ulimit -n), and run it again"
        )
    )]
    Walk {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// The tree holds no file after the ignore rules.
    #[error("source tree {} has no file to read", path.display())]
    #[diagnostic(
        code(almanac::missing),
        help("check --source, the tree's .gitignore and the setting parse.params.tree.ignore")
    )]
    EmptyTree {
        /// The tree.
        path: PathBuf,
    },

    /// A pattern in the settings is no glob.
    #[error("`{pattern}` in parse.params.tree.ignore is not a valid glob")]
    #[diagnostic(code(almanac::config), help("use .gitignore syntax, such as `build/` or `*.dat`"))]
    Glob {
        /// The pattern.
        pattern: String,
        /// Why not.
        #[source]
        source: ignore::Error,
    },

    /// Two inputs do not belong together.
    #[error("`{artifact}` was built from another `{table}` than the current one")]
    #[diagnostic(
        code(almanac::missing),
        help("run `almanac-{stage} run` first, or `almanac build` for the whole chain")
    )]
    MixedInputs {
        /// The artifact that is behind.
        artifact: String,
        /// `artifact/table` that has moved on.
        table: String,
        /// Stage that brings it up to date.
        stage: &'static str,
    },

    /// The store refused.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] almanac_artifact::Error),

    /// The settings refused.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Settings(#[from] almanac_settings::Error),
}
