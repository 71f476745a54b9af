//! Generates what a ledger lacks, most important first, each record once.
//!
//! What is asked and in which order is decided before; this runner knows neither entities nor
//! tables beyond [`GenerationRecord`]. An answer that is empty or loops, or a prompt that does not
//! fit the model, becomes a failed record with its reason. A model that breaks is no property of
//! the prompt, so it leaves no record, and three in a row end the run. Nor does a text that was
//! interrupted half way leave one.

mod answer_check;
mod job;
mod lazy_model;
mod limits;
mod open_ledger;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use almanac_tables::{GenerationRecord, RecordStatus};

use answer_check::check;
pub use job::{GenerationJob, Sampling};
pub use lazy_model::LazyModel;
pub use limits::{GenerationCounts, GenerationLimits, GenerationProgress, GenerationSettings};
pub use open_ledger::{FlushPolicy, OpenLedger};

use crate::{GenerateRequest, LanguageModel};

/// Errors of the model in a row that end a run.
const BROKEN_AFTER: usize = 3;

/// What can end a run of generations.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum GenerationError {
    /// The model could not be loaded.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Model(#[from] crate::Error),

    /// The loaded model is not the one the keys were made for.
    #[error("model `{expected}` was announced, but `{found}` was loaded")]
    #[diagnostic(code(almanac::bug), help("please report this"))]
    OtherModel {
        /// Name and digest announced.
        expected: String,
        /// Name and digest loaded.
        found: String,
    },

    /// The model failed again and again.
    #[error("model `{model}` failed {BROKEN_AFTER} times in a row, last on `{subject}`")]
    #[diagnostic(
        code(almanac::unavailable),
        help("everything generated before is kept; check memory and device, then run the stage again")
    )]
    Broken {
        /// Model name.
        model: String,
        /// What it was asked about.
        subject: String,
        /// What it said last.
        #[source]
        source: crate::Error,
    },

    /// The ledger could not be written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Ledger(#[from] almanac_artifact::Error),
}

/// Generates those of this task's `jobs` that the ledger lacks, in their order.
///
/// Flushes the ledger before it returns, also on errors of the model.
pub fn generate(
    jobs: &[&GenerationJob],
    model: &mut LazyModel<'_>,
    ledger: &mut OpenLedger<GenerationRecord>,
    sampling: &Sampling,
    limits: &GenerationLimits<'_>,
    progress: &mut dyn FnMut(GenerationProgress<'_>),
) -> Result<GenerationCounts, GenerationError> {
    let (missing, mut counts) = sort_out(jobs, ledger, limits);
    if missing.is_empty() || limits.is_over() {
        return Ok(counts);
    }
    let total = missing.len();
    progress(GenerationProgress { subject: "", done: 0, total, counts: &counts, failure: None });
    let name = model.identity().name.clone();
    let model = model.get()?;
    let run = Run { model, name: &name, jobs: &missing, sampling, limits };
    let result = run.all(ledger, &mut counts, progress);
    ledger.flush()?;
    result.map(|()| counts)
}

/// A job without a usable record, the number of subjects that share it and the attempts made before.
struct Missing<'a> {
    job: &'a GenerationJob,
    subjects: usize,
    attempts_before: u32,
}

fn sort_out<'a>(
    jobs: &[&'a GenerationJob],
    ledger: &OpenLedger<GenerationRecord>,
    limits: &GenerationLimits<'_>,
) -> (Vec<Missing<'a>>, GenerationCounts) {
    let mut counts = GenerationCounts::default();
    let mut missing = Vec::new();
    for (position, (job, subjects)) in distinct(jobs).into_iter().enumerate() {
        if !limits.shard.owns(position) {
            continue;
        }
        counts.wanted += subjects;
        match ledger.get(&job.record_key) {
            Some(record) if record.status == RecordStatus::Done => counts.reused += subjects,
            Some(_) if !limits.retry_failed => counts.failed += subjects,
            record => {
                let attempts_before = record.map_or(0, |record| record.attempts);
                counts.left += subjects;
                missing.push(Missing { job, subjects, attempts_before });
            }
        }
    }
    (missing, counts)
}

/// Jobs of distinct keys, in order, with the number of subjects of each. Shards are told apart after
/// this, so that one prompt of two subjects is never with two shards.
fn distinct<'a>(jobs: &[&'a GenerationJob]) -> Vec<(&'a GenerationJob, usize)> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut distinct: Vec<(&GenerationJob, usize)> = Vec::new();
    for &job in jobs {
        let place = *places.entry(&job.record_key).or_insert(distinct.len());
        match distinct.get_mut(place) {
            Some((_, subjects)) => *subjects += 1,
            None => distinct.push((job, 1)),
        }
    }
    distinct
}

struct Run<'a> {
    model: &'a dyn LanguageModel,
    name: &'a str,
    jobs: &'a [Missing<'a>],
    sampling: &'a Sampling,
    limits: &'a GenerationLimits<'a>,
}

/// What the workers share.
#[derive(Default)]
struct Queue {
    next: AtomicUsize,
    errors_in_a_row: AtomicUsize,
    stop: AtomicBool,
}

impl Queue {
    fn is_broken(&self) -> bool {
        self.errors_in_a_row.load(Ordering::Relaxed) >= BROKEN_AFTER
    }
}

enum Outcome {
    Record(GenerationRecord),
    ModelError(crate::Error),
    Interrupted,
}

impl Run<'_> {
    fn all(
        &self,
        ledger: &mut OpenLedger<GenerationRecord>,
        counts: &mut GenerationCounts,
        progress: &mut dyn FnMut(GenerationProgress<'_>),
    ) -> Result<(), GenerationError> {
        let queue = Queue::default();
        let workers = self.limits.in_flight.clamp(1, self.jobs.len());
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..workers {
                let (sender, queue) = (sender.clone(), &queue);
                scope.spawn(move || self.work(queue, &sender));
            }
            drop(sender);
            // Everything that was finished is kept, also after an error.
            let mut result = Ok(());
            let mut done = 0;
            for (at, outcome) in receiver {
                let subject = self.jobs[at].job.subject.as_str();
                match outcome {
                    Outcome::Interrupted => {}
                    Outcome::ModelError(source) => {
                        if queue.is_broken() && result.is_ok() {
                            let (model, subject) = (self.name.to_owned(), subject.to_owned());
                            result = Err(GenerationError::Broken { model, subject, source });
                        }
                    }
                    Outcome::Record(record) => {
                        done += 1;
                        counts.add(&record, self.jobs[at].subjects);
                        let reason = record.reason.clone();
                        let failure = (record.status == RecordStatus::Failed).then_some(reason.as_str());
                        if let Err(error) = ledger.put(record) {
                            queue.stop.store(true, Ordering::Relaxed);
                            result = Err(error.into());
                        }
                        let total = self.jobs.len();
                        progress(GenerationProgress { subject, done, total, counts, failure });
                    }
                }
            }
            result
        })
    }

    fn work(&self, queue: &Queue, sender: &mpsc::Sender<(usize, Outcome)>) {
        while !queue.stop.load(Ordering::Relaxed) && !queue.is_broken() && !self.limits.is_over() {
            let at = queue.next.fetch_add(1, Ordering::Relaxed);
            let Some(missing) = self.jobs.get(at) else { return };
            let outcome = self.attempt(missing);
            match outcome {
                Outcome::ModelError(_) => queue.errors_in_a_row.fetch_add(1, Ordering::Relaxed),
                _ => queue.errors_in_a_row.swap(0, Ordering::Relaxed),
            };
            if sender.send((at, outcome)).is_err() {
                return;
            }
        }
    }

    fn attempt(&self, missing: &Missing<'_>) -> Outcome {
        let mut record = GenerationRecord {
            record_key: missing.job.record_key.clone(),
            prompt: missing.job.prompt.clone(),
            model: self.name.to_owned(),
            status: RecordStatus::Failed,
            subject: missing.job.subject.clone(),
            attempts: missing.attempts_before,
            ..GenerationRecord::default()
        };
        for _ in 0..self.sampling.attempts.max(1) {
            if record.attempts > missing.attempts_before && self.limits.interrupted.load(Ordering::Relaxed) {
                return Outcome::Interrupted;
            }
            let request = self.request(missing.job, record.attempts);
            let completion = match self.model.generate_until(&request, self.limits.interrupted) {
                Ok(completion) => completion,
                Err(crate::Error::Interrupted { .. }) => return Outcome::Interrupted,
                // A property of prompt and model, not an accident: it would fail again.
                Err(error @ crate::Error::ContextOverflow { .. }) => {
                    record.reason = error.to_string();
                    return Outcome::Record(record);
                }
                Err(error) => return Outcome::ModelError(error),
            };
            record.attempts += 1;
            record.prompt_tokens = record.prompt_tokens.saturating_add(narrow(completion.prompt_tokens));
            record.completion_tokens =
                record.completion_tokens.saturating_add(narrow(completion.completion_tokens));
            record.seconds += completion.seconds as f32;
            match check(&completion.text, completion.finish) {
                Ok(text) => {
                    record.status = RecordStatus::Done;
                    record.reason.clear();
                    record.text = text;
                    break;
                }
                Err(reason) => record.reason = reason.to_owned(),
            }
        }
        Outcome::Record(record)
    }

    /// The first attempt ever is the one the settings ask for; every later one has its own seed.
    fn request(&self, job: &GenerationJob, attempts_before: u32) -> GenerateRequest {
        let sampling = self.sampling;
        let first = attempts_before == 0;
        GenerateRequest {
            system: job.system.to_string(),
            user: job.user.clone(),
            max_tokens: job.max_tokens,
            temperature: if first { sampling.temperature } else { sampling.retry_temperature },
            seed: sampling.seed.wrapping_add(u64::from(attempts_before)),
        }
    }
}

fn narrow(tokens: usize) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
