//! What a ledger's record says, in the columns of the tables made from it.

use almanac_tables::{Answer, GenerationRecord, RecordStatus};

use super::Sampling;

/// The columns that explanations and summaries take from a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// Done, missing or failed.
    pub status: RecordStatus,
    /// Why it failed; empty otherwise.
    pub reason: String,
    /// Text to show; empty when missing or failed.
    pub text: String,
    /// Columns of a structured answer.
    pub answer: Answer,
    /// Share of its names that occur in its prompt; `None` when there is no text.
    pub grounding: Option<f32>,
    /// Names that do not.
    pub ungrounded: Vec<String>,
    /// Whether the share is too small.
    pub poorly_grounded: bool,
}

impl Told {
    /// What `record` says. One that is not there, or cannot be read, is missing.
    pub fn of(record: Option<&GenerationRecord>, sampling: &Sampling) -> Self {
        let mut told = Self {
            status: RecordStatus::Missing,
            reason: String::new(),
            text: String::new(),
            answer: Answer::default(),
            grounding: None,
            ungrounded: Vec::new(),
            poorly_grounded: false,
        };
        let Some(record) = record else { return told };
        if let Some(said) = record.saying() {
            told.status = RecordStatus::Done;
            (told.text, told.answer) = (said.text, said.answer);
            told.grounding = Some(record.grounding);
            told.ungrounded = record.ungrounded.clone();
            told.poorly_grounded = f64::from(record.grounding) < sampling.minimum_grounding;
        } else if record.status == RecordStatus::Failed {
            told.status = RecordStatus::Failed;
            told.reason = record.reason.clone();
        }
        told
    }
}
