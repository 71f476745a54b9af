//! What can go wrong on the way to a cluster.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

/// Errors of submitting, watching and cancelling.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// There is no such site.
    #[error("there is no site `{name}`")]
    #[diagnostic(
        code(almanac::config),
        help(
            "{hint}shipped sites: {known}; one of your own is <config>/sites/{name}.toml or a path to a file, \
             after slurm/sites/template.toml"
        )
    )]
    NoSite {
        /// Name asked for.
        name: String,
        /// The nearest one.
        hint: String,
        /// All of them.
        known: String,
    },

    /// A site's file cannot be read.
    #[error("site file {} could not be read", path.display())]
    #[diagnostic(code(almanac::config), help("give the path of a file as slurm/sites/template.toml"))]
    SiteFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// A site's file is not what it should be.
    #[error("{origin}: {reason}")]
    #[diagnostic(code(almanac::config), help("see slurm/sites/template.toml for every key"))]
    SiteSyntax {
        /// The file.
        origin: String,
        /// Why.
        reason: String,
    },

    /// A key that no site has.
    #[error("{origin}: there is no `{key}`")]
    #[diagnostic(code(almanac::config), help("{hint}known here: {known}"))]
    SiteKey {
        /// The file.
        origin: String,
        /// Dotted key.
        key: String,
        /// The nearest one.
        hint: String,
        /// Keys of that table.
        known: String,
    },

    /// A value that would not work.
    #[error("{origin}: `{key}` is {found}, where {expected} is expected")]
    #[diagnostic(code(almanac::config), help("see slurm/sites/template.toml for what it means"))]
    SiteValue {
        /// The file.
        origin: String,
        /// Dotted key.
        key: String,
        /// Value found.
        found: String,
        /// What would be right.
        expected: String,
    },

    /// A value that no quoting carries through a script.
    #[error("{what} cannot be written into a job script: {value}")]
    #[diagnostic(
        code(almanac::usage),
        help("use a path or value without line breaks, control characters and backslashes")
    )]
    Unquotable {
        /// What it is.
        what: &'static str,
        /// The value, escaped.
        value: String,
    },

    /// The template of scripts does not render.
    #[error("failed to render the script of job `{job}`")]
    #[diagnostic(code(almanac::bug), help("please report this"))]
    Template {
        /// Job.
        job: String,
        /// Why.
        #[source]
        source: minijinja::Error,
    },

    /// A Slurm program is not there.
    #[error("`{program}` was not found: Slurm is not installed here")]
    #[diagnostic(
        code(almanac::unavailable),
        help("log in to a machine of the cluster, or use `almanac build` on this one")
    )]
    NotInstalled {
        /// The program.
        program: &'static str,
    },

    /// A Slurm program could not be run.
    #[error("failed to run `{program}`")]
    #[diagnostic(code(almanac::unavailable), help("check that Slurm works here: `sinfo`"))]
    Program {
        /// The program.
        program: &'static str,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// A Slurm program did not end.
    #[error("`{program}` gave no answer within {seconds} s")]
    #[diagnostic(
        code(almanac::unavailable),
        help("the controller does not answer: try again later, or ask `scontrol ping`")
    )]
    NoAnswer {
        /// The program.
        program: &'static str,
        /// Time waited.
        seconds: u64,
    },

    /// Slurm refused.
    #[error("`{command}` failed: {message}")]
    #[diagnostic(code(almanac::unavailable), help("{hint}"))]
    Refused {
        /// Command line.
        command: String,
        /// What Slurm said.
        message: String,
        /// What to do.
        hint: String,
    },

    /// A submission broke off.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Broken(#[from] Broken),

    /// Another run works on the same store and profile.
    #[error("run {run} is at work on this store (profile {profile}): {jobs} of its jobs are in the queue")]
    #[diagnostic(
        code(almanac::unavailable),
        help("watch it with `almanac status --watch`, or end it with `almanac cancel {run}`")
    )]
    Busy {
        /// The run.
        run: String,
        /// The profile.
        profile: String,
        /// Jobs in the queue.
        jobs: usize,
    },

    /// Another submission is under way.
    #[error("another `almanac submit` is at work on this store ({owner})")]
    #[diagnostic(
        code(almanac::unavailable),
        help("wait for it; if it is gone, remove the folder {}", path.display())
    )]
    Claimed {
        /// Who.
        owner: String,
        /// The claim.
        path: PathBuf,
    },

    /// A run was asked for where there is none.
    #[error("nothing was submitted for the store {}", store.display())]
    #[diagnostic(code(almanac::missing), help("`almanac submit` starts a run"))]
    NothingSubmitted {
        /// The store.
        store: PathBuf,
    },

    /// There is no such run.
    #[error("there is no run `{run}` in this store")]
    #[diagnostic(code(almanac::usage), help("{hint}"))]
    NoRun {
        /// Id or its beginning.
        run: String,
        /// Runs there are.
        hint: String,
    },

    /// A file of a run cannot be written or read.
    #[error("failed to {action} {}", path.display())]
    #[diagnostic(
        code(almanac::io),
        help("check permissions, free space and quota of the store; nothing that was committed is lost")
    )]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// The store refused.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] almanac_artifact::Error),
}

impl Error {
    /// Turns an error of the file system into one that names the path.
    pub(crate) fn io(action: &'static str, path: &std::path::Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path: path.clone(), source }
    }
}

/// A submission that broke off, with what became of the jobs that were in the queue already.
#[derive(Debug)]
pub struct Broken {
    /// The run.
    pub run: String,
    /// What became of its jobs, and what to do.
    pub hint: String,
    /// Why.
    pub cause: Box<Error>,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "run {} was not submitted", self.run)
    }
}

impl std::error::Error for Broken {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.cause.as_ref())
    }
}

impl Diagnostic for Broken {
    fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.cause.code()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        Some(Box::new(&self.hint))
    }
}
