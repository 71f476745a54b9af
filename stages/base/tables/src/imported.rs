//! Texts that were generated elsewhere: how they are kept and found.
//!
//! A record of ours is keyed by the prompt it answers. An imported one has no prompt, so it is keyed by
//! what it is about and the content of that: when the code changes, it counts no longer.

use almanac_artifact::{Digest, Ledger, Result, Store};

use crate::{File, GenerationRecord};

/// Texts that were imported into a store, of symbols, files, modules and call chains.
#[derive(Debug)]
pub struct Imported(Option<Ledger<GenerationRecord>>);

impl Imported {
    /// Name of the ledger that keeps them.
    pub const LEDGER: &'static str = "imported";
    /// What their prompt is called, before the digest of the file they came from.
    pub const PROMPT: &'static str = "imported";

    /// Reads those of a store; one without any has none.
    pub fn open(store: &Store) -> Result<Self> {
        Ok(Self(Some(store.ledger(Self::LEDGER)?)))
    }

    /// None at all.
    pub fn none() -> Self {
        Self(None)
    }

    /// Key of the text about `subject` (an entity's id, or a summary's) whose content has this digest.
    pub fn key(subject: &str, content: &str) -> String {
        Digest::of(|encoder| {
            encoder.text(Self::PROMPT).text(subject).text(content);
        })
        .to_string()
    }

    /// The text about `subject`, if there is one for this content.
    pub fn get(&self, subject: &str, content: &str) -> Option<&GenerationRecord> {
        let record = self.0.as_ref()?.get(&Self::key(subject, content))?;
        record.saying().is_some().then_some(record)
    }

    /// What stands for a folder's content: always the same, for its summary outlives an edit in it.
    pub const MODULE_CONTENT: &'static str = "";

    /// What stands for a file's content.
    pub fn file_content(file: &File) -> &str {
        &file.content_digest
    }

    /// Digest of all of them; `None` where there is none.
    pub fn digest(&self) -> Option<String> {
        let ledger = self.0.as_ref().filter(|ledger| !ledger.is_empty())?;
        let digest = Digest::of(|encoder| {
            encoder.length(ledger.len());
            for record in ledger.iter() {
                encoder.text(&record.record_key).text(&record.model).text(&record.text);
            }
        });
        Some(digest.hex(16))
    }
}

/// Which of two records about the same thing is shown: our own where it says something, else the
/// imported one.
pub fn preferred<'a>(
    own: Option<&'a GenerationRecord>,
    imported: Option<&'a GenerationRecord>,
) -> Option<&'a GenerationRecord> {
    own.filter(|record| record.saying().is_some()).or(imported).or(own)
}
