//! One run of a stage that generates texts.

use std::time::Instant;

use almanac_artifact::Ledger;
use almanac_inference::{
    GenerationCounts, GenerationLimits, GenerationProgress, GenerationSettings, LanguageModel, LazyModel,
    ModelIdentity, OpenLedger, PromptTemplate, Shard,
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

    /// The prompt of a mode.
    pub fn prompt(&self, mode: &str) -> miette::Result<PromptTemplate> {
        let file = self.context.settings().prompt(mode)?;
        Ok(PromptTemplate::parse(mode, &file.text)?)
    }

    /// Calls `generate` for this task's share and gives the counts and all records there are now.
    ///
    /// A shard then looks, with what other shards have written meanwhile, whether anything of the
    /// whole selection is left; the last one to finish finds nothing and commits.
    pub fn generate(
        &self,
        mut generate: impl FnMut(Tools<'_, '_>) -> miette::Result<GenerationCounts>,
    ) -> miette::Result<(GenerationCounts, Ledger<GenerationRecord>)> {
        let records = self.context.ledger::<GenerationRecord>()?;
        let mut ledger =
            OpenLedger::new(&self.context.ledger_folder(), records, self.settings.flush_policy());
        let mut load = || -> almanac_inference::Result<Box<dyn LanguageModel>> {
            Ok(Box::new(self.models.language_model(&self.model.name, self.settings.in_flight)?))
        };
        let mut model = LazyModel::new(self.model.clone(), &mut load);
        let share = self.context.shard().map_or(Shard::WHOLE, |shard| Shard {
            index: shard.number as usize - 1,
            count: shard.count as usize,
        });
        let mut limits = self.settings.limits(share, self.context.interrupted());
        if self.context.commit_only() {
            limits.deadline = Some(Instant::now());
        }
        let mut bar: Option<Progress> = None;
        let mut shown = 0;
        let mut progress = |now: GenerationProgress<'_>| {
            let bar = bar.get_or_insert_with(|| Progress::start(self.stage, now.total as u64, "records"));
            bar.advance((now.done - shown) as u64);
            bar.set_message(now.subject);
            shown = now.done;
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
            let whole = generate(Tools {
                most: self.settings.most(),
                model: &mut model,
                ledger: &mut ledger,
                limits: &limits,
                progress: &mut |_| {},
            })?;
            counts = GenerationCounts { left: whole.left + whole.waiting, waiting: 0, ..done };
        }
        Ok((counts, ledger.finish()?))
    }

    /// How the run ended, given the state of every row that would be written.
    pub fn outcome(&self, counts: &GenerationCounts, rows: impl Iterator<Item = RecordStatus>) -> Outcome {
        let mut report = Counts {
            total: 0,
            reused: counts.reused as u64,
            generated: counts.generated as u64,
            failed: 0,
            missing: 0,
            prompt_tokens: counts.prompt_tokens,
            completion_tokens: counts.completion_tokens,
        };
        for status in rows {
            report.total += 1;
            match status {
                RecordStatus::Done => {}
                RecordStatus::Failed => report.failed += 1,
                RecordStatus::Missing => report.missing += 1,
            }
        }
        if self.context.is_interrupted() {
            Outcome::Interrupted(report)
        } else if report.missing == 0 {
            Outcome::Complete(report)
        } else if self.context.commit_only() {
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
}
