//! What can go wrong with a bundle.

use std::path::{Path, PathBuf};

use miette::Diagnostic;
use thiserror::Error;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of making, checking and opening a bundle.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// The bundle is not there.
    #[error("there is no bundle {}", path.display())]
    #[diagnostic(code(almanac::missing), help("check the name, or make one with `almanac bundle create`"))]
    Missing {
        /// The path.
        path: PathBuf,
    },

    /// A file or folder cannot be read or written.
    #[error("failed to {action} {}", path.display())]
    #[diagnostic(
        code(almanac::io),
        help("check permissions, free space and quota; nothing half-written was left")
    )]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// The bundle is refused before anything of it is used.
    #[error("bundle {} is refused: {reason}", path.display())]
    #[diagnostic(
        code(almanac::data),
        help("fetch the bundle again, and compare its digest with that of who made it; nothing was opened")
    )]
    Refused {
        /// The bundle.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// The bundle is of another format.
    #[error("bundle {} has format {found}, this program reads format {expected}", path.display())]
    #[diagnostic(
        code(almanac::data),
        help("use the Almanac version that made it, or make it anew with `almanac bundle create`")
    )]
    Format {
        /// The bundle.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// Format of this program.
        expected: u32,
    },

    /// The store cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] almanac_artifact::Error),
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
