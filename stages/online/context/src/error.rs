//! What can go wrong with the context of a task.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

/// Errors of recovering a context.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// The tree cannot be listed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Tree(#[from] almanac_freshness::Error),

    /// A file of the tree cannot be read.
    #[error("failed to read {}", path.display())]
    #[diagnostic(code(almanac::io), help("check permissions, and that the tree is not being changed"))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// `git` cannot be run.
    #[error("failed to run git in {}", folder.display())]
    #[diagnostic(code(almanac::unavailable), help("a commit is read with the program `git`: install it"))]
    NoGit {
        /// Where.
        folder: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// `git` refused.
    #[error("git {command} failed in {}: {message}", folder.display())]
    #[diagnostic(
        code(almanac::missing),
        help(
            "--source must be a git repository that holds the commit; `git -C SOURCE log -1 COMMIT` shows it"
        )
    )]
    Git {
        /// Subcommand.
        command: String,
        /// Where.
        folder: PathBuf,
        /// What it said.
        message: String,
    },

    /// The task holds nothing to search for.
    #[error("the task is empty")]
    #[diagnostic(code(almanac::usage), help("describe the change in words, or name a file or symbol"))]
    EmptyTask,

    /// The budget cannot hold anything.
    #[error("a token budget of {budget} holds no package")]
    #[diagnostic(code(almanac::usage), help("give {least} or more with --budget"))]
    Budget {
        /// The budget.
        budget: usize,
        /// The smallest that is accepted.
        least: usize,
    },
}

impl Error {
    /// Whether another task could be answered all the same.
    pub fn is_of_the_task(&self) -> bool {
        matches!(self, Self::EmptyTask | Self::Git { .. })
    }
}
