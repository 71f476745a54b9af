//! What can go wrong when explaining.

use almanac_inference::{GenerationError, PromptError};

/// Errors of the explain stage; each is told by the part that met it.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum Error {
    /// The prompt cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Prompt(#[from] PromptError),

    /// The model or the ledger failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Generation(#[from] GenerationError),
}
