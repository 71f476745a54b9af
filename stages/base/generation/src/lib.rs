//! What stands between the settings, a stage's frame and the models.
//!
//! - [`ConfiguredModels`]: the catalogue in force, and models by the settings that name them.
//! - [`TokenCounting`]: tokens of a text by a model's tokenizer, or by its characters where that is not here.
//! - [`Session`]: one run of a stage that generates texts: its model (loaded only when something is
//!   missing), ledger, limits, progress and outcome. The explain and entities stages share it.
//!
//! The crate must not know what is generated, or for which entities.

mod configured;
mod counting;
mod session;

pub use configured::ConfiguredModels;
pub use counting::TokenCounting;
pub use session::{Generated, RowState, Session, Tools};
