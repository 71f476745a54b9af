//! Generates what a ledger lacks, most important first, each record once.
//!
//! What is asked and in which order is decided before; this runner knows neither entities nor
//! tables beyond [`GenerationRecord`]. An answer that is empty, loops or says nothing is asked for again
//! with another seed, then becomes a failed record with its reason, as a prompt does that does not fit
//! the model. One that names too much that it was not shown is asked for once more. A model that breaks
//! is no property of the prompt, so it leaves no record, and three in a row end the run. Nor does a text
//! that was interrupted half way leave one.

mod answer_check;
mod grounding;
mod job;
mod lazy_model;
mod limits;
mod open_ledger;
mod structured;
#[cfg(test)]
mod tests;
mod told;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};

use almanac_artifact::Ledger;
use almanac_tables::{GenerationRecord, RecordStatus};

use answer_check::{Accepted, check_structured, check_text};
pub use grounding::names_in;
pub use job::{GenerationJob, Sampling};
pub use lazy_model::LazyModel;
pub use limits::{GenerationCounts, GenerationLimits, GenerationProgress, GenerationSettings};
pub use open_ledger::{FlushPolicy, OpenLedger};
pub use told::Told;

use crate::{AnswerSchema, Completion, GenerateRequest, LanguageModel};

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
    let (missing, mut counts) = sort_out(jobs, ledger, sampling, limits);
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
    /// The text there is, which only a better grounded one replaces.
    standing: Option<GenerationRecord>,
}

impl Missing<'_> {
    /// Of a new record and the one that stands the better grounded; of equal ones that which stands.
    /// Either way the attempts and their cost count, so that the next try has another seed.
    fn better(&self, new: GenerationRecord) -> GenerationRecord {
        match &self.standing {
            Some(standing) if new.saying().is_none() || new.grounding <= standing.grounding => {
                GenerationRecord {
                    status: standing.status,
                    reason: standing.reason.clone(),
                    text: standing.text.clone(),
                    grounding: standing.grounding,
                    ungrounded: standing.ungrounded.clone(),
                    ..new
                }
            }
            _ => new,
        }
    }
}

fn sort_out<'a>(
    jobs: &[&'a GenerationJob],
    ledger: &OpenLedger<GenerationRecord>,
    sampling: &Sampling,
    limits: &GenerationLimits<'_>,
) -> (Vec<Missing<'a>>, GenerationCounts) {
    let mut counts = GenerationCounts::default();
    let mut missing = Vec::new();
    let usual = usual_answer(ledger.records());
    let is_poor = |record: &GenerationRecord| f64::from(record.grounding) < sampling.minimum_grounding;
    for (position, (job, subjects)) in distinct(jobs).into_iter().enumerate() {
        if !limits.shard.owns(position) {
            continue;
        }
        counts.wanted += subjects;
        match ledger.get(&job.record_key) {
            Some(record) if record.saying().is_some() && !(limits.retry_failed && is_poor(record)) => {
                counts.reused += subjects;
            }
            Some(record) if record.status == RecordStatus::Failed && !limits.retry_failed => {
                counts.failed += subjects;
            }
            record => {
                let attempts_before = record.map_or(0, |record| record.attempts);
                let standing = record.filter(|record| record.saying().is_some()).cloned();
                counts.left += subjects;
                counts.expect(job, usual);
                missing.push(Missing { job, subjects, attempts_before, standing });
            }
        }
    }
    (missing, counts)
}

/// Tokens of an answer on average, where there are any.
fn usual_answer(ledger: &Ledger<GenerationRecord>) -> Option<u64> {
    let tokens = ledger.iter().filter(|record| record.status == RecordStatus::Done);
    let (records, tokens) = tokens.fold((0, 0), |(records, tokens), record| {
        (records + 1, tokens + u64::from(record.completion_tokens))
    });
    (records > 0).then(|| tokens / records)
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
            loop {
                let (at, outcome) = match receiver.recv_timeout(ledger.until_due()) {
                    Ok(next) => next,
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = ledger.flush_when_due() {
                            queue.stop.store(true, Ordering::Relaxed);
                            result = Err(error.into());
                        }
                        continue;
                    }
                };
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
                        let subjects = self.jobs[at].subjects;
                        let record = self.jobs[at].better(record);
                        let reason = record.reason.clone();
                        let failure = (record.status == RecordStatus::Failed).then_some(reason.as_str());
                        counts.add(&record, subjects);
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
        let job = missing.job;
        let mut record = GenerationRecord {
            record_key: job.record_key.clone(),
            prompt: job.prompt.clone(),
            model: self.name.to_owned(),
            status: RecordStatus::Failed,
            schema: job.schema.map_or("", AnswerSchema::name).to_owned(),
            subject: job.subject.clone(),
            attempts: missing.attempts_before,
            ..GenerationRecord::default()
        };
        let schema = job.schema.map(|schema| Arc::new(schema.json_schema(job.max_tokens)));
        for _ in 0..self.sampling.attempts.max(1) {
            if record.attempts > missing.attempts_before && self.limits.interrupted.load(Ordering::Relaxed) {
                return Outcome::Interrupted;
            }
            let request = self.request(job, record.attempts, "", schema.clone());
            match self.ask(&request, job, &mut record) {
                Ok(Ok(accepted)) => return self.ground(job, schema, accepted, record),
                Ok(Err(reason)) => record.reason = reason.to_owned(),
                Err(crate::Error::Interrupted { .. }) => return Outcome::Interrupted,
                // A property of prompt and model, not an accident: it would fail again.
                Err(error @ crate::Error::ContextOverflow { .. }) => {
                    record.reason = error.to_string();
                    return Outcome::Record(record);
                }
                Err(error) => return Outcome::ModelError(error),
            }
        }
        Outcome::Record(record)
    }

    /// Keeps an answer; when it names too much that the prompt does not, it is asked for once more, and
    /// the better of the two is kept.
    fn ground(
        &self,
        job: &GenerationJob,
        schema: Option<Arc<serde_json::Value>>,
        accepted: Accepted,
        mut record: GenerationRecord,
    ) -> Outcome {
        let found = grounding::check(&accepted.shown, &accepted.answer, &job.user);
        let is_poor = f64::from(found.share) < self.sampling.minimum_grounding;
        record.status = RecordStatus::Done;
        record.reason.clear();
        record.text = accepted.kept;
        (record.grounding, record.ungrounded) = (found.share, found.offenders);
        if !is_poor {
            return Outcome::Record(record);
        }
        let correction = grounding::correction(&record.ungrounded);
        let request = self.request(job, record.attempts, &correction, schema);
        match self.ask(&request, job, &mut record) {
            Ok(Ok(second)) => {
                let found = grounding::check(&second.shown, &second.answer, &job.user);
                if found.share > record.grounding {
                    record.text = second.kept;
                    (record.grounding, record.ungrounded) = (found.share, found.offenders);
                }
            }
            // The first answer stands: also when the correction no longer fits the model.
            Ok(Err(_)) | Err(crate::Error::ContextOverflow { .. }) => {}
            Err(crate::Error::Interrupted { .. }) => return Outcome::Interrupted,
            Err(error) => return Outcome::ModelError(error),
        }
        Outcome::Record(record)
    }

    /// Asks once, counts what it cost, and judges the answer.
    fn ask(
        &self,
        request: &GenerateRequest,
        job: &GenerationJob,
        record: &mut GenerationRecord,
    ) -> crate::Result<Result<Accepted, &'static str>> {
        let Completion { text, prompt_tokens, completion_tokens, seconds, finish } =
            self.model.generate_until(request, self.limits.interrupted)?;
        record.attempts += 1;
        record.prompt_tokens = record.prompt_tokens.saturating_add(narrow(prompt_tokens));
        record.completion_tokens = record.completion_tokens.saturating_add(narrow(completion_tokens));
        record.seconds += seconds as f32;
        Ok(match job.schema {
            Some(schema) => check_structured(schema, &text, job.max_tokens, &job.system),
            None => check_text(&text, finish, &job.system),
        })
    }

    /// The first attempt ever is the one the settings ask for; every later one has its own seed.
    fn request(
        &self,
        job: &GenerationJob,
        attempts_before: u32,
        correction: &str,
        schema: Option<Arc<serde_json::Value>>,
    ) -> GenerateRequest {
        let sampling = self.sampling;
        // A correction is another prompt, so it needs no warmth to give another answer.
        let is_cool = attempts_before == 0 || !correction.is_empty();
        GenerateRequest {
            system: job.system.to_string(),
            user: format!("{}{correction}", job.user),
            max_tokens: job.max_tokens,
            temperature: if is_cool { sampling.temperature } else { sampling.retry_temperature },
            seed: sampling.seed.wrapping_add(u64::from(attempts_before)),
            schema,
        }
    }
}

fn narrow(tokens: usize) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
