//! Texts that were generated elsewhere, as JSON lines, into the ledger of imported ones.
//!
//! Nothing is generated: what is known here about symbols, files and modules decides what each line is
//! about, and what does not match is told. A line counts only as long as what it is about does not change.

mod lines;
mod subjects;

use std::collections::BTreeSet;

use almanac_artifact::Ledger;
use almanac_inference::names_in;
use almanac_tables::{GenerationRecord, Imported, RecordStatus};
use serde::Serialize;

pub use lines::{Error, File, read};
pub use subjects::Known;
use subjects::Subjects;

/// What an import did.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Lines in the file.
    pub lines: usize,
    /// Texts that are in the store now and were not before.
    pub added: usize,
    /// Texts that were there already.
    pub present: usize,
    /// Lines that are about nothing in the store, or about something that another line took.
    pub unmatched: Vec<Unmatched>,
}

/// A line that was not used.
#[derive(Debug, Serialize)]
pub struct Unmatched {
    /// Number of the line, from 1.
    pub line: usize,
    /// What it says it is about.
    pub subject: String,
    /// Why it was not used.
    pub reason: &'static str,
}

/// Records of the texts of `file` that are about something known and not in `ledger`, the ledger of imported
/// ones, yet; and what became of every line.
pub fn records(
    file: &File,
    known: &Known<'_>,
    ledger: &Ledger<GenerationRecord>,
) -> (Vec<GenerationRecord>, Report) {
    let subjects = Subjects::new(known);
    let mut records = Vec::new();
    let mut report = Report { lines: file.lines.len(), ..Report::default() };
    let prompt = format!("{} {}", Imported::PROMPT, file.digest.hex(8));
    let mut taken = BTreeSet::new();
    for (place, found) in subjects.find(&file.lines).into_iter().enumerate() {
        let line = &file.lines[place];
        let refused = |reason| Unmatched { line: line.number, subject: line.subject(), reason };
        let subject = match found {
            Ok(subject) => subject,
            Err(reason) => {
                report.unmatched.push(refused(reason));
                continue;
            }
        };
        let record_key = Imported::key(&subject.id, &subject.content);
        if !taken.insert(record_key.clone()) {
            report.unmatched.push(refused("an earlier line is about the same"));
            continue;
        }
        let present = ledger.get(&record_key);
        if present.is_some_and(|present| present.text == line.explanation && present.model == line.model) {
            report.present += 1;
            continue;
        }
        let (grounding, ungrounded) = names_in(&line.explanation, &subject.shown);
        records.push(GenerationRecord {
            record_key,
            prompt: prompt.clone(),
            model: line.model.clone(),
            status: RecordStatus::Done,
            text: line.explanation.clone(),
            grounding,
            ungrounded,
            attempts: 1,
            subject: line.subject(),
            ..GenerationRecord::default()
        });
        report.added += 1;
    }
    (records, report)
}
