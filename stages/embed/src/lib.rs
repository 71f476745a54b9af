//! The embed stage: the retrievable chunks and their vectors (paper 3.2.5).
//!
//! Reads `files`, `texts`, `entities`, `explanations` and `summaries`; writes `chunks` and
//! `embeddings`. Bump the stage's revision when the same rows and settings would give other chunks.
//!
//! [`chunk_all`] is pure and needs no model. [`prepare`] fits each chunk's text into the embedder's
//! window, [`embed_missing`] embeds what the ledger lacks, [`project`] turns the ledger into rows.
//!
//! Files of data and drawings have no chunk of their text, and a call chain without a generated text
//! has none either, since it says no more than its symbol. All code is in some chunk: a long symbol in several parts, a class without the members that have
//! chunks of their own, small things in one chunk with their neighbours. A vector never loses code
//! to prose.
//!
//! What this crate must not know: which embedder runs, where artifacts lie, Slurm, the terminal.

mod chunks;
mod data;
mod error;
mod lines;
mod own;
mod params;
mod run;
mod structured_text;
mod token_estimate;
mod window;

pub use chunks::{Sources, chunk_all};
pub use error::Error;
pub use params::{Params, RunSettings};
pub use run::{
    EmbedCounts, EmbedLimits, EmbedProgress, Prepared, VectorIdentity, embed_missing, left_of_all, prepare,
    project,
};
pub use window::embedding_text;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
