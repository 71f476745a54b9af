//! Settings of the embed stage.

use serde::Deserialize;

/// `[embed.params]`: decides the chunks and vectors.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Embedder; empty for the project's.
    pub model: String,
    /// Longest text that is embedded, in tokens; 0 for the embedder's own window.
    pub max_chunk_tokens: usize,
    /// Size of a chunk in estimated tokens; more becomes several parts. Prose in a first part leaves
    /// at least half of it to code.
    pub chunk_tokens: usize,
    /// Shorter entities without a comment have no chunk of their own.
    pub minimum_characters: usize,
    /// Shorter comments do not count as documentation.
    pub minimum_comment: usize,
    /// Blocks of a file of role `data` that begin after this many bytes have no chunk.
    pub data_bytes: u64,
    /// A file read as text of which a smaller share of the characters is in words has no chunk of its
    /// text: it is a table of numbers or a drawing.
    pub minimum_words: f64,
}

/// `[embed.run]`: how fast and how much.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSettings {
    /// Texts handed to the embedder at once.
    pub batch: usize,
    /// Threads; 0 for as many as the machine or the job gives.
    pub threads: usize,
    /// Seconds after which no more work is taken; 0 for no limit.
    pub max_seconds: u64,
    /// Vectors to have, those of earlier runs included; 0 for all.
    pub max_records: usize,
    /// Vectors after which the ledger is flushed.
    pub flush_records: usize,
    /// Seconds after which the ledger is flushed.
    pub flush_seconds: u64,
}
