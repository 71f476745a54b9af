//! The frame every stage runs in, so that a stage is one function over rows.
//!
//! It owns the command line of the stage binaries (`run`, `describe`), settings, the freshness
//! check, signals, threads, the commit and the run record. It must not know what any stage
//! computes, nor Slurm: a stage sees `--shard 3/64`.

mod arguments;
mod context;
mod error;
mod frame;
mod processor;
mod provenance;
mod run_record;
mod signals;

pub use almanac_artifact::Shard;
pub use arguments::{GlobalArguments, ImportArguments, RunArguments, parse_arguments, within};
pub use context::{Context, Output};
pub use error::Error;
pub use frame::{Implementation, Import, Outcome, main};
pub use processor::require_processor;
pub use run_record::{Counts, RunRecord, RunState};
pub use signals::Interruption;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
