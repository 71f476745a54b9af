//! One run of a stage that generates texts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use almanac_artifact::{Ledger, Shard};
use almanac_inference::{
    AnswerFormat, GenerationCounts, GenerationLimits, GenerationProgress, GenerationSettings, LanguageModel,
    LazyModel, ModelIdentity, OpenLedger, PromptTemplate,
};
use almanac_stage::{Context, Counts, Outcome};
use almanac_tables::{GenerationRecord, RecordStatus};
use almanac_terminal::Progress;

use crate::ConfiguredModels;

/// Model, ledger and limits of one run.
pub struct Session<'a> {
    context: &'a Context,
    stage: &'static str,
    models: ConfiguredModels,
    model: ModelIdentity,
    settings: GenerationSettings,
}

/// What the outcome of a run depends on, of a row that would be written.
#[derive(Debug, Clone, Copy)]
pub struct RowState<'a> {
    /// What it is about.
    pub subject: &'a str,
    /// Done, missing or failed.
    pub status: RecordStatus,
    /// Key of its record.
    pub record_key: &'a str,
    /// Whether it mentions too many names that its prompt does not.
    pub poorly_grounded: bool,
}

/// What a stage's plan needs to generate.
pub struct Tools<'a, 'm> {
    /// Number of records wanted, the most important first.
    pub most: usize,
    /// The model, loaded when it is first asked.
    pub model: &'a mut LazyModel<'m>,
    /// The ledger.
    pub ledger: &'a mut OpenLedger<GenerationRecord>,
    /// When to stop.
    pub limits: &'a GenerationLimits<'a>,
    /// Told after each record.
    pub progress: &'a mut dyn FnMut(GenerationProgress<'_>),
}

impl<'a> Session<'a> {
    /// Reads the stage's limits and finds out who its model is.
    pub fn open(context: &'a Context, stage: &'static str) -> miette::Result<Self> {
        let models = ConfiguredModels::load(context.settings())?;
        let setting = format!("{stage}.params.model");
        let name = ConfiguredModels::name(context.settings(), &setting, "models.llm")?;
        let model = models.identity(&name)?;
        Ok(Self { context, stage, models, model, settings: context.run_settings()? })
    }

    /// Name and digest of the model, for prompts' keys.
    pub fn model(&self) -> &ModelIdentity {
        &self.model
    }

    /// Tokens of prompt and answer together: as many as `wanted`, if the model takes so many.
    pub fn context_tokens(&self, wanted: usize) -> miette::Result<usize> {
        Ok(wanted.min(self.models.catalog().get(&self.model.name)?.context_length))
    }

    /// The prompt of a mode, for answers in a format.
    pub fn prompt(&self, mode: &str, format: AnswerFormat) -> miette::Result<PromptTemplate> {
        let file = self.context.settings().prompt(mode)?;
        Ok(PromptTemplate::parse_for(format, mode, &file.text)?)
    }

    /// Calls `generate` for this task's share and gives the counts and all records there are now.
    ///
    /// A shard then looks, with what other shards have written meanwhile, whether anything of the
    /// whole selection is left; the last one to finish finds nothing and commits.
    ///
    /// Of the ledger only the records of `keys` are read; `None`: all, where keys depend on texts.
    pub fn generate(
        &self,
        keys: Option<BTreeSet<String>>,
        mut generate: impl FnMut(Tools<'_, '_>) -> miette::Result<GenerationCounts>,
    ) -> miette::Result<Generated> {
        let records: Ledger<GenerationRecord> = match keys {
            Some(keys) => self.context.ledger_for(keys)?,
            None => self.context.ledger()?,
        };
        let mut ledger = OpenLedger::new(records, self.settings.flush_policy());
        let mut load = || -> almanac_inference::Result<Box<dyn LanguageModel>> {
            Ok(Box::new(self.models.language_model(&self.model.name, self.settings.in_flight)?))
        };
        let mut model = LazyModel::new(self.model.clone(), &mut load);
        let share = self.context.shard().unwrap_or(Shard::WHOLE);
        let mut limits = self.settings.limits(share, self.context.interrupted());
        if self.context.commit_only() {
            limits.deadline = Some(Instant::now());
            limits.retry_failed = false;
        }
        let mut bar: Option<Progress> = None;
        let mut shown = 0;
        let mut failures = Failures::default();
        let mut progress = |now: GenerationProgress<'_>| {
            let bar = bar.get_or_insert_with(|| Progress::start(self.stage, now.total as u64, "records"));
            bar.advance((now.done - shown) as u64);
            bar.set_message(&newest(&now));
            shown = now.done;
            if let Some(reason) = now.failure {
                failures.add(now.subject, reason);
            }
        };
        let mut counts = generate(Tools {
            most: self.settings.most(),
            model: &mut model,
            ledger: &mut ledger,
            limits: &limits,
            progress: &mut progress,
        })?;
        if let Some(bar) = bar {
            bar.finish();
        }
        if self.context.shard().is_some() && counts.left + counts.waiting == 0 {
            let done = counts;
            ledger.reload()?;
            limits.shard = Shard::WHOLE;
            limits.deadline = Some(Instant::now());
            // What failed again just now is settled.
            limits.retry_failed = false;
            let whole = generate(Tools {
                most: self.settings.most(),
                model: &mut model,
                ledger: &mut ledger,
                limits: &limits,
                progress: &mut |_| {},
            })?;
            counts = GenerationCounts { left: whole.left + whole.waiting, waiting: 0, ..done };
        }
        Ok(Generated { counts, ledger: ledger.finish(self.context.shard().is_none())?, failures })
    }

    /// How the run ended, given the state of every row that would be written. `before` has the keys of
    /// the records that the rows of the last run had, by subject.
    pub fn outcome<'r>(
        &self,
        generated: &Generated,
        before: &BTreeMap<String, String>,
        rows: impl Iterator<Item = RowState<'r>>,
    ) -> Outcome {
        let counts = &generated.counts;
        let mut report = self.report(generated);
        let mut changed = BTreeSet::new();
        for row in rows {
            report.total += 1;
            report.poorly_grounded += u64::from(row.poorly_grounded);
            match row.status {
                RecordStatus::Done | RecordStatus::Unwanted => {}
                RecordStatus::Failed => report.failed += 1,
                RecordStatus::Missing => {
                    report.missing += 1;
                    if before.get(row.subject).is_some_and(|key| key != row.record_key) {
                        changed.insert(row.record_key);
                    }
                }
            }
        }
        report.changed = changed.len() as u64;
        self.tell_failures(&generated.failures, report.failed);
        if report.missing == 0 {
            Outcome::Complete(report)
        } else if self.context.commit_only() && counts.left + counts.waiting > 0 {
            // Something within the limits is missing, so no limit explains it.
            Outcome::Gaps(report)
        } else if self.context.shard().is_some() && counts.waiting > 0 {
            Outcome::Blocked(report)
        } else if self.context.shard().is_some() && counts.left > 0 {
            Outcome::Waiting(report)
        } else if self.settings.max_records == 0 && self.settings.max_seconds == 0 {
            // No limit stopped this run, so the model did.
            Outcome::Gaps(report)
        } else {
            Outcome::Partial(report)
        }
    }

    /// How a run ended that was to make a share of the records and commit nothing.
    pub fn share_outcome(&self, generated: &Generated) -> Outcome {
        let counts = &generated.counts;
        self.tell_failures(&generated.failures, 0);
        let report = Counts {
            total: counts.wanted as u64,
            failed: counts.failed as u64,
            missing: (counts.left + counts.waiting) as u64,
            ..self.report(generated)
        };
        if counts.waiting > 0 { Outcome::Blocked(report) } else { Outcome::Waiting(report) }
    }

    /// How a run ended that a signal stopped, if one did: without a look at the rows, which nobody
    /// will read.
    pub fn interruption(&self, generated: &Generated) -> Option<Outcome> {
        if !self.context.is_interrupted() {
            return None;
        }
        let counts = &generated.counts;
        self.tell_failures(&generated.failures, 0);
        Some(Outcome::Interrupted(Counts {
            total: counts.wanted as u64,
            failed: counts.failed as u64,
            missing: (counts.left + counts.waiting) as u64,
            ..self.report(generated)
        }))
    }

    /// The part of the report that needs no rows.
    fn report(&self, generated: &Generated) -> Counts {
        let Generated { counts, failures, .. } = generated;
        let (ahead, prompt_tokens, completion_tokens) = if self.context.counts_only() {
            (counts.records_ahead as u64, counts.prompt_tokens_ahead, counts.completion_tokens_ahead)
        } else {
            (0, counts.prompt_tokens, counts.completion_tokens)
        };
        Counts {
            reused: counts.reused as u64,
            generated: counts.generated as u64,
            failed_now: failures.count,
            first_failure: failures.first.clone().unwrap_or_default(),
            ahead,
            prompt_tokens,
            completion_tokens,
            ..Counts::default()
        }
    }

    /// A failure is kept and does not end the run, but whoever started it must know.
    fn tell_failures(&self, failures: &Failures, rows: u64) {
        let stage = self.stage;
        let again = "`almanac build --retry-failed`";
        match &failures.first {
            Some(first) => almanac_terminal::warning(format!(
                "{} of the texts that {stage} asked for failed, the first on {first}; {again} tries them again, \
                 and another model may do better",
                failures.count
            )),
            None if rows > 0 => almanac_terminal::note(format!(
                "{rows} texts of {stage} failed in earlier runs and were not tried again; {again} does"
            )),
            None => {}
        }
    }
}

/// What was made last, and how fast.
fn newest(now: &GenerationProgress<'_>) -> String {
    if now.subject.is_empty() {
        return String::new();
    }
    let tokens = now.counts.prompt_tokens + now.counts.completion_tokens;
    let per_second = tokens as f64 / now.counts.seconds.max(f64::MIN_POSITIVE);
    format!("{} ({per_second:.0} tokens/s, {tokens} so far)", now.subject)
}

/// What a run came to.
pub struct Generated {
    counts: GenerationCounts,
    ledger: Ledger<GenerationRecord>,
    failures: Failures,
}

impl Generated {
    /// Every record there is now.
    pub fn ledger(&self) -> &Ledger<GenerationRecord> {
        &self.ledger
    }
}

/// What failed in this run.
#[derive(Default)]
struct Failures {
    count: u64,
    /// Subject and reason of the first.
    first: Option<String>,
}

impl Failures {
    fn add(&mut self, subject: &str, reason: &str) {
        self.count += 1;
        self.first.get_or_insert_with(|| format!("`{subject}`: {reason}"));
    }
}
