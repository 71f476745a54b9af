//! The pipeline as jobs of a Slurm cluster.
//!
//! - [`Site`]: what a cluster is like, from `slurm/sites/*.toml` or a file of one's own.
//! - [`estimate`] and [`Sizing`]: how many records a stage still has to make, and how many tasks that is.
//! - [`Run`] and [`Chain`]: the jobs of one submission, in which order, with which dependencies.
//! - [`Script`]: the sbatch script of a job, every value quoted.
//! - [`Slurm`]: sbatch, squeue, scontrol, sacct and scancel, with time-outs.
//! - [`submit`], [`cancel`] and [`progress`]: submit all or nothing, and see what became of it.
//!
//! State is taken from the store first: the run's folder holds its jobs, scripts, logs and one small
//! file per task. What Slurm remembers only adds to it.
//!
//! It must not know how a stage works (a stage sees `--shard 3/64`), nor load models or print.

mod chain;
mod claim;
mod client;
mod error;
mod estimate;
mod journal;
mod progress;
mod quote;
mod script;
mod site;
mod sizing;
mod submission;

pub use chain::{Chain, ChainInput, Part, Stage, chain};
pub use client::{Queued, Slurm};
pub use error::{Broken, Error};
pub use estimate::{Rate, Work, estimate, rates};
pub use journal::{Job, JobKind, Required, Run, RunOutcome};
pub use progress::{Failure, JobProgress, RunProgress, StageRecords, TaskState, progress};
pub use quote::command_line;
pub use script::Script;
pub use site::{Common, Environment, Resources, SHIPPED_SITES, Site, StageSite};
pub use sizing::{Array, Budget, Sizing, split};
pub use submission::{Submission, cancel, scripts, submit};

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
