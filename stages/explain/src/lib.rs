//! The explain stage: a generated explanation for each important symbol (paper 3.2 and 3.5, prompt
//! mode `general`).
//!
//! Reads `entities`, `texts`, `edges` and `ranks`; writes `explanations`. Bump the stage's revision
//! when the same rows and settings would give other prompts or another choice of symbols.
//!
//! [`Plan::new`] decides what is explained, in which order and with which prompt, without a model.
//! [`Plan::generate`] asks the model for what the ledger lacks. [`Plan::project`] turns the ledger
//! into rows, the same whatever the order of work was.
//!
//! [`import`] does without a model: texts that were made elsewhere, matched to what the store has.
//!
//! A rank decides when a symbol is explained, never what its prompt says: ranks move with every
//! edit anywhere in the tree, and a prompt that moves costs a generation.
//!
//! What this crate must not know: which model runs, where artifacts lie, Slurm, the terminal.

mod code;
mod error;
mod facts;
pub mod import;
mod neighbours;
mod params;
mod plan;

pub use error::Error;
pub use params::Params;
pub use plan::{Plan, Sources, Work};

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
