//! What is up to date, what is not, and why.
//!
//! - [`tree`]: the source tree by content: paths and digests, after the ignore rules.
//! - [`key_parts`]: everything that decides a stage's output, from settings and current refs.
//! - [`plan`]: state and reasons of every stage, without running anything.
//!
//! Staleness is a comparison of contents. The crate must not look at modification times, run
//! stages or load models; the identity of a model is handed in by whoever knows models.

mod error;
mod keys;
mod plan;
mod reason;
pub mod tree;

pub use error::Error;
pub use keys::{Identities, current_inputs, key_parts, limits, retries_failed};
pub use plan::{Gaps, Plan, PlanInput, StagePlan, State, budget_covers, plan};
pub use reason::{Reason, differences};

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
