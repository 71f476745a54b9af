//! Generated texts: what the ledgers keep and what the explain and entities stages write.

use std::path::Path;

use almanac_artifact::{LedgerRecord, read_rows, table};

use crate::{Answer, EntityLevel, RecordStatus};

table! {
    /// A generated text, keyed by everything that decides it. Kept for ever.
    pub struct GenerationRecord in "generations", version 2, sorted by (record_key) {
        /// Digest of rendered prompt, prompt signature, output schema, model, sampling and output limits; for
        /// an imported text, of what it is about and the content of that.
        record_key: String,
        /// Prompt mode, or `imported` and the digest of the file.
        prompt: String,
        /// Model name.
        model: String,
        /// Done or failed.
        status: RecordStatus,
        /// Why it failed; empty when done.
        reason: String,
        /// Output schema; empty for free text.
        schema: String,
        /// Generated text, JSON of the schema where there is one; empty when failed.
        text: String,
        /// Share of the names it mentions that occur in its prompt, from 0 to 1; 1 where it mentions none.
        grounding: f32,
        /// Names it mentions that do not occur in its prompt.
        ungrounded: Vec<String>,
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
        // A success replaces a failure, and one that names less at random another one; among equals the
        // one tried more often, then the text decides, so that every reader picks the same record
        // whatever the order of files.
        let rank = |r: &Self| (r.saying().is_some(), r.attempts);
        let content = |r: &Self| (r.text.clone(), r.reason.clone());
        match (rank(self), rank(other)) {
            ((true, _), (true, _)) if self.grounding != other.grounding => self.grounding > other.grounding,
            (mine, theirs) => mine > theirs || (mine == theirs && content(self) < content(other)),
        }
    }

    fn read_older(path: &Path, version: &str) -> Option<almanac_artifact::Result<Vec<Self>>> {
        let rows = |rows: Vec<GenerationRecordV1>| rows.into_iter().map(Self::from).collect();
        (version == "1").then(|| read_rows(path).map(rows))
    }
}

/// What a record says: its columns, empty for free text, and the text to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Saying {
    /// Columns of a structured answer.
    pub answer: Answer,
    /// Text to show and embed.
    pub text: String,
}

impl GenerationRecord {
    /// What it says; `None` when it failed or is no JSON of its schema, and so is to be made anew.
    pub fn saying(&self) -> Option<Saying> {
        if self.status != RecordStatus::Done {
            return None;
        }
        if self.schema.is_empty() {
            return Some(Saying { answer: Answer::default(), text: self.text.clone() });
        }
        let answer: Answer = serde_json::from_str(&self.text).ok()?;
        let text = answer.text();
        Some(Saying { answer, text })
    }
}

table! {
    /// A generated text as the first version kept it: free text, not checked for names.
    pub struct GenerationRecordV1 in "generations", version 1, sorted by (record_key) {
        /// Digest of everything that decides it.
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
        /// Name of what it was generated for first.
        subject: String,
    }
}

impl From<GenerationRecordV1> for GenerationRecord {
    fn from(old: GenerationRecordV1) -> Self {
        Self {
            record_key: old.record_key,
            prompt: old.prompt,
            model: old.model,
            status: old.status,
            reason: old.reason,
            schema: String::new(),
            text: old.text,
            grounding: 1.0,
            ungrounded: Vec::new(),
            attempts: old.attempts,
            prompt_tokens: old.prompt_tokens,
            completion_tokens: old.completion_tokens,
            seconds: old.seconds,
            subject: old.subject,
        }
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
    pub struct Explanation in "explanations", version 2, sorted by (entity_id) {
        /// Entity explained.
        entity_id: String,
        /// Done, missing or failed.
        status: RecordStatus,
        /// Why it failed; empty otherwise.
        reason: String,
        /// Prompt mode; `imported` and the digest of its file for a text that was imported.
        prompt: String,
        /// Model name, as the file says it for a text that was imported.
        model: String,
        /// The explanation as it is shown and embedded: the columns after it in their order, or free text;
        /// empty when missing or failed.
        text: String,
        /// What it is for, in one line.
        role: String,
        /// What it does.
        does: String,
        /// What goes in or is needed, as `name: meaning [unit]`.
        inputs: Vec<String>,
        /// What comes out or is provided, as `name: meaning [unit]`.
        outputs: Vec<String>,
        /// Numerical or physical meaning.
        meaning: String,
        /// MPI, Kokkos, threads and devices.
        parallelism: String,
        /// Side effects and preconditions.
        effects: String,
        /// Search terms.
        terms: Vec<String>,
        /// What the code does not tell.
        uncertainty: String,
        /// Share of the names it mentions that occur in its prompt, from 0 to 1; null when there is no text.
        grounding: Option<f32>,
        /// Names it mentions that do not occur in its prompt.
        ungrounded: Vec<String>,
        /// Whether the share is under the setting `minimum_grounding`, also after a second try.
        poorly_grounded: bool,
        /// Key of its record in the ledger.
        record_key: String,
        /// Place in the order of work, from 0: most important first.
        priority: u32,
    }
}

table! {
    /// Summary of a file, module or call chain (paper 3.2.4).
    pub struct Summary in "summaries", version 2, sorted by (id) {
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
        /// Prompt mode, `file_level_fallback` for a file without symbols; for an imported text as above.
        prompt: String,
        /// Model name.
        model: String,
        /// The summary as it is shown and embedded: the columns after it in their order, or free text;
        /// empty when missing or failed.
        text: String,
        /// What it is for, in one line.
        role: String,
        /// What it does.
        does: String,
        /// What goes in or is needed, as `name: meaning [unit]`.
        inputs: Vec<String>,
        /// What comes out or is provided, as `name: meaning [unit]`.
        outputs: Vec<String>,
        /// Numerical or physical meaning.
        meaning: String,
        /// MPI, Kokkos, threads and devices.
        parallelism: String,
        /// Side effects and preconditions.
        effects: String,
        /// Search terms.
        terms: Vec<String>,
        /// What the code does not tell.
        uncertainty: String,
        /// Share of the names it mentions that occur in its prompt, from 0 to 1; null when there is no text.
        grounding: Option<f32>,
        /// Names it mentions that do not occur in its prompt.
        ungrounded: Vec<String>,
        /// Whether the share is under the setting `minimum_grounding`, also after a second try.
        poorly_grounded: bool,
        /// Key of its record in the ledger.
        record_key: String,
        /// Place in the order of work, from 0.
        priority: u32,
    }
}

#[cfg(test)]
mod tests {
    use almanac_artifact::Ledger;

    use super::*;

    impl LedgerRecord for GenerationRecordV1 {
        fn record_key(&self) -> &str {
            &self.record_key
        }

        fn supersedes(&self, _other: &Self) -> bool {
            false
        }
    }

    fn record(text: &str, schema: &str, grounding: f32, attempts: u32) -> GenerationRecord {
        let (text, schema) = (text.to_owned(), schema.to_owned());
        GenerationRecord { text, schema, grounding, attempts, ..GenerationRecord::default() }
    }

    #[test]
    fn records_of_the_first_version_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Ledger::<GenerationRecordV1>::open(folder.path()).unwrap().writer();
        let old = GenerationRecordV1 {
            record_key: "k".into(),
            text: "Role: solves.".into(),
            attempts: 2,
            ..Default::default()
        };
        writer.append(old);
        writer.finish().unwrap();
        let mut writer = Ledger::<GenerationRecord>::open(folder.path()).unwrap().writer();
        writer.append(GenerationRecord { record_key: "new".into(), ..record("x", "", 1.0, 1) });
        writer.finish().unwrap();
        let ledger = Ledger::<GenerationRecord>::open(folder.path()).unwrap();
        assert_eq!((ledger.len(), ledger.damaged().len()), (2, 0));
        let old = ledger.get("k").unwrap();
        assert_eq!((old.attempts, old.grounding, old.schema.as_str()), (2, 1.0, ""));
        assert_eq!(old.saying().unwrap().text, "Role: solves.");
    }

    #[test]
    fn of_two_records_the_better_one_is_kept_whichever_came_first() {
        let failed = GenerationRecord { status: RecordStatus::Failed, attempts: 9, ..record("", "", 0.0, 9) };
        let broken = record("{\"role\": \"a", "symbol", 1.0, 5);
        let poor = record("{\"role\": \"a\"}", "symbol", 0.2, 4);
        let poor_again = GenerationRecord { attempts: 6, ..poor.clone() };
        let good = record("{\"role\": \"b\"}", "symbol", 0.9, 3);
        assert_eq!(broken.saying(), None, "it is made anew, and nobody panics");
        for (better, worse) in
            [(&poor, &failed), (&poor, &broken), (&poor_again, &poor), (&good, &poor_again), (&good, &failed)]
        {
            assert!(better.supersedes(worse) && !worse.supersedes(better), "{better:?} {worse:?}");
        }
    }
}
