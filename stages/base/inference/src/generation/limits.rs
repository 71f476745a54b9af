//! What bounds a run of generations, and what it reports.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use almanac_artifact::Shard;
use almanac_tables::{GenerationRecord, RecordStatus};
use serde::{Deserialize, Serialize};

use super::GenerationJob;
use crate::FlushPolicy;

/// What bounds a run.
#[derive(Debug, Clone, Copy)]
pub struct GenerationLimits<'a> {
    /// Part of the work to take.
    pub shard: Shard,
    /// When no more work is taken.
    pub deadline: Option<Instant>,
    /// Requests handed to the model at once.
    pub in_flight: usize,
    /// Whether failed and poorly grounded records are tried again, with further seeds.
    pub retry_failed: bool,
    /// Set from outside: no more work is taken.
    pub interrupted: &'a AtomicBool,
}

impl GenerationLimits<'_> {
    /// Whether no more work may be taken.
    pub fn is_over(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The `run` settings of a stage that generates; none of them can change a text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerationSettings {
    /// The most important texts to have, those of earlier runs included; 0 for all.
    pub max_records: usize,
    /// Seconds after which no more work is taken; 0 for no limit.
    pub max_seconds: u64,
    /// Requests handed to the model at once.
    pub in_flight: usize,
    /// Whether failed and poorly grounded records are tried again.
    pub retry_failed: bool,
    /// Records after which the ledger is flushed.
    pub flush_records: usize,
    /// Seconds after which the ledger is flushed.
    pub flush_seconds: u64,
    /// Tokens, read and written, that a device handles a second; 0 for as measured. Plans alone use it.
    pub tokens_per_second: f64,
}

impl GenerationSettings {
    /// When a ledger is flushed.
    pub fn flush_policy(&self) -> FlushPolicy {
        FlushPolicy { records: self.flush_records, interval: Duration::from_secs(self.flush_seconds) }
    }

    /// The most important texts to have.
    pub fn most(&self) -> usize {
        if self.max_records == 0 { usize::MAX } else { self.max_records }
    }

    /// The limits of a run that starts now.
    pub fn limits<'a>(&self, shard: Shard, interrupted: &'a AtomicBool) -> GenerationLimits<'a> {
        let budget = (self.max_seconds > 0).then(|| Duration::from_secs(self.max_seconds));
        GenerationLimits {
            shard,
            deadline: budget.map(|budget| Instant::now() + budget),
            in_flight: self.in_flight,
            retry_failed: self.retry_failed,
            interrupted,
        }
    }
}

/// What a run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct GenerationCounts {
    /// Texts wanted of this task.
    pub wanted: usize,
    /// There already.
    pub reused: usize,
    /// Generated now.
    pub generated: usize,
    /// Failed, now or before.
    pub failed: usize,
    /// Not taken: time was over, the run was interrupted or the model broke.
    pub left: usize,
    /// Not taken: what their prompts are made of is not there yet.
    pub waiting: usize,
    /// Prompt tokens read by the model.
    pub prompt_tokens: u64,
    /// Tokens generated.
    pub completion_tokens: u64,
    /// Seconds the model worked, summed over requests.
    pub seconds: f64,
    /// Records that what was left or waits needs.
    pub records_ahead: usize,
    /// Prompt tokens that they will probably need.
    pub prompt_tokens_ahead: u64,
    /// Tokens that will probably be generated for them.
    pub completion_tokens_ahead: u64,
}

impl std::ops::AddAssign for GenerationCounts {
    fn add_assign(&mut self, other: Self) {
        let Self {
            wanted,
            reused,
            generated,
            failed,
            left,
            waiting,
            prompt_tokens,
            completion_tokens,
            seconds,
            records_ahead,
            prompt_tokens_ahead,
            completion_tokens_ahead,
        } = other;
        self.wanted += wanted;
        self.reused += reused;
        self.generated += generated;
        self.failed += failed;
        self.left += left;
        self.waiting += waiting;
        self.prompt_tokens += prompt_tokens;
        self.completion_tokens += completion_tokens;
        self.seconds += seconds;
        self.records_ahead += records_ahead;
        self.prompt_tokens_ahead += prompt_tokens_ahead;
        self.completion_tokens_ahead += completion_tokens_ahead;
    }
}

/// State of a run, after each record.
#[derive(Debug, Clone, Copy)]
pub struct GenerationProgress<'a> {
    /// What was generated last; empty at the start.
    pub subject: &'a str,
    /// Texts generated or failed now.
    pub done: usize,
    /// Texts to generate in this call.
    pub total: usize,
    /// Counts so far.
    pub counts: &'a GenerationCounts,
    /// Why what was generated last has failed, if it has.
    pub failure: Option<&'a str>,
}

impl GenerationCounts {
    /// A text that is not made in this call.
    pub fn expect(&mut self, job: &GenerationJob, completion_tokens: Option<u64>) {
        self.records_ahead += 1;
        self.prompt_tokens_ahead += job.expected_prompt_tokens();
        self.completion_tokens_ahead += completion_tokens.unwrap_or(job.expected_completion_tokens());
    }

    /// A record of this run that `subjects` share: one is generated for, the others reuse it.
    pub(super) fn add(&mut self, record: &GenerationRecord, subjects: usize) {
        match record.status {
            RecordStatus::Done => {
                self.generated += 1;
                self.reused += subjects - 1;
            }
            RecordStatus::Missing | RecordStatus::Unwanted | RecordStatus::Failed => self.failed += subjects,
        }
        self.left -= subjects;
        self.prompt_tokens += u64::from(record.prompt_tokens);
        self.completion_tokens += u64::from(record.completion_tokens);
        self.seconds += f64::from(record.seconds);
    }
}
