//! From a question and its context to a cited answer (paper 3.5).
//!
//! The answer is checked after it is generated: every `path:line` it cites must exist and lie in
//! the evidence the model saw, every name in backticks must occur in it. The crate must not know
//! how evidence is found, which model answers, or where the answer goes.

mod answer;
mod citations;
mod error;

pub use answer::{Answer, AnswerSettings, Source, answer, context_budget};
pub use error::Error;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
