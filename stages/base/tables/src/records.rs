//! Generated texts: what the ledgers keep and what the explain and entities stages write.

use almanac_artifact::{LedgerRecord, table};

use crate::{EntityLevel, RecordStatus};

table! {
    /// A generated text, keyed by everything that decides it. Kept for ever.
    pub struct GenerationRecord in "generations", version 1, sorted by (record_key) {
        /// Digest of rendered prompt, prompt signature, model, sampling and output limits.
        record_key: String,
        /// Prompt mode.
        prompt: String,
        /// Model name.
        model: String,
        /// Done or failed.
        status: RecordStatus,
        /// Why it failed; empty when done.
        reason: String,
        /// Generated text; empty when failed.
        text: String,
        /// Times it was tried.
        attempts: u32,
        /// Tokens of the prompt.
        prompt_tokens: u32,
        /// Tokens generated.
        completion_tokens: u32,
        /// Seconds it took.
        seconds: f32,
        /// Name of what it was generated for first, for people reading the ledger.
        subject: String,
    }
}

impl LedgerRecord for GenerationRecord {
    fn record_key(&self) -> &str {
        &self.record_key
    }

    fn supersedes(&self, other: &Self) -> bool {
        // A success replaces a failure; among equals the one tried more often, then the text
        // decides, so that every reader picks the same record whatever the order of files.
        let rank = |r: &Self| (r.status == RecordStatus::Done, r.attempts);
        let content = |r: &Self| (r.text.clone(), r.reason.clone());
        rank(self) > rank(other) || (rank(self) == rank(other) && content(self) < content(other))
    }
}

table! {
    /// An embedding, keyed by the text and the model. Kept for ever.
    pub struct EmbeddingRecord in "vectors", version 1, sorted by (record_key) {
        /// Digest of text, model, prefix and normalisation.
        record_key: String,
        /// The vector.
        vector: Vec<f32>,
    }
}

impl LedgerRecord for EmbeddingRecord {
    fn record_key(&self) -> &str {
        &self.record_key
    }

    fn supersedes(&self, other: &Self) -> bool {
        self.vector.partial_cmp(&other.vector) == Some(std::cmp::Ordering::Less)
    }
}

table! {
    /// Explanation of one symbol or documentation section (paper 3.5, prompt mode `general`).
    pub struct Explanation in "explanations", version 1, sorted by (entity_id) {
        /// Entity explained.
        entity_id: String,
        /// Done, missing or failed.
        status: RecordStatus,
        /// Why it failed; empty otherwise.
        reason: String,
        /// Prompt mode.
        prompt: String,
        /// Model name.
        model: String,
        /// The explanation; empty when missing or failed.
        text: String,
        /// Key of its record in the ledger.
        record_key: String,
        /// Place in the order of work, from 0: most important first.
        priority: u32,
    }
}

table! {
    /// Summary of a file, module or call chain (paper 3.2.4).
    pub struct Summary in "summaries", version 1, sorted by (id) {
        /// `file:PATH`, `module:NAME` or `chain:ENTITY_ID`.
        id: String,
        /// File, module or call chain.
        level: EntityLevel,
        /// File name, module name or qualified symbol.
        title: String,
        /// File the summary is about; the callable's file for a call chain; empty for a module.
        path: String,
        /// Folder or namespace it belongs to.
        module: String,
        /// What it is made from: entity ids, file paths or module ids.
        members: Vec<String>,
        /// Facts the prompt was given, also shown where no text was generated.
        facts: String,
        /// Done, missing or failed.
        status: RecordStatus,
        /// Why it failed; empty otherwise.
        reason: String,
        /// Prompt mode, `file_level_fallback` for a file without symbols.
        prompt: String,
        /// Model name.
        model: String,
        /// The summary; empty when missing or failed.
        text: String,
        /// Key of its record in the ledger.
        record_key: String,
        /// Place in the order of work, from 0.
        priority: u32,
    }
}
