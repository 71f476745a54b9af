//! From a question to the context a model answers from (paper 3.3 and 3.4).
//!
//! [`search`] fuses exact names, BM25 and vectors into one ranking of whole symbols, sections and
//! files, selects among them under a hard token budget, adds what the stored graph relates to
//! them and renders the rest as text with `path:line` ranges. It is a pure function of the store,
//! the question and the settings: the only model is the embedder of the question, and it never
//! writes, prints or reads a clock but for `seconds`. The crate must not know where the store lies,
//! who asks or which model answers.

mod building;
mod context;
mod error;
mod excerpt;
mod expand;
mod fuse;
mod intent;
mod query;
mod scores;
mod search;
mod select;
mod settings;

pub use error::Error;
pub use intent::{Intent, StructuralMode};
pub use search::{ContextChunk, DroppedChunk, Role, SearchResult, TokenCounter, estimate_tokens, search};
pub use settings::{RetrievalSettings, SelectionSettings, Weights};

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
