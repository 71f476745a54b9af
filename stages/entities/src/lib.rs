//! The entities stage: summaries of files, modules and call chains (paper 3.2.4, table 1).
//!
//! Reads `files`, `texts`, `entities`, `edges`, `modules`, `ranks` and `explanations`; writes
//! `summaries`. Bump the stage's revision when the same rows and settings would give other facts or
//! prompts.
//!
//! Levels run file, module (deepest first), call chain, because a prompt contains the summaries of
//! what its subject is made of. A subject waits until those of its parts that are to be generated
//! are settled, so no summary is paid for twice; where a part has no text, its facts stand in.
//! Facts are rows of their own right: a subject without generated text can still be found.
//!
//! A rank decides when something is summarised, never what its prompt says.
//!
//! What this crate must not know: which model runs, where artifacts lie, Slurm, the terminal.

mod call_chain;
mod context;
mod error;
mod fact_sheet;
mod file_level;
mod module_level;
mod params;
mod plan;
mod shares;

pub use context::Sources;
pub use error::Error;
pub use params::{CallChainStrategy, FileStrategy, ModuleStrategy, Params, Prompts, RecordShares};
pub use plan::Plan;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
