//! What the stale stages with a language model would make: records, tokens and hours.

use std::process::{Command, Stdio};

use almanac_artifact::{Store, read_json};
use almanac_catalog::{PIPELINE, StageSpec};
use almanac_freshness::tree::Tree;
use almanac_freshness::{Plan, StagePlan, State};
use almanac_slurm::estimate;
use almanac_stage::{Counts, GlobalArguments, RunRecord};
use almanac_terminal::format;
use serde::{Deserialize, Serialize};

use crate::children::binary;
use crate::project::Project;

/// Newest run records of a stage that its rate is taken from.
const RECENT: usize = 20;

/// What one stage would make.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct StageWork {
    pub(crate) stage: &'static str,
    /// Records to be made, within the limits in force.
    pub(crate) records: u64,
    /// Of all missing ones, those that were made before, from another prompt.
    pub(crate) changed: u64,
    /// Whether the records were counted. Where an earlier stage has to run first they are an estimate.
    pub(crate) counted: bool,
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
    /// Tokens a second, by setting or as measured; absent where neither is known.
    pub(crate) tokens_per_second: Option<f64>,
    /// Hours of one GPU, or of this machine, at that rate.
    pub(crate) gpu_hours: Option<f64>,
}

/// What a stage's `run --count --json` says.
#[derive(Deserialize)]
struct Counted {
    counts: Counts,
}

/// The work of every stage with a language model that is not fresh.
pub(crate) fn of(
    global: &GlobalArguments,
    project: &Project,
    assignments: &[String],
    plan: &Plan,
    tree: Option<&Tree>,
) -> Vec<StageWork> {
    let stages = PIPELINE.iter().filter(|stage| stage.generates_texts());
    stages
        .filter_map(|stage| {
            let planned = plan.stages.iter().find(|planned| planned.stage == stage.name)?;
            let mut work = match planned.state {
                State::Fresh => return None,
                State::Stale => counted(global, project, assignments, stage)
                    .or_else(|| estimated(project, plan, planned, stage, tree))?,
                State::Pending => estimated(project, plan, planned, stage, tree)?,
            };
            work.tokens_per_second = rate(project, stage);
            let tokens = (work.prompt_tokens + work.completion_tokens) as f64;
            work.gpu_hours = work.tokens_per_second.map(|rate| tokens / rate / 3600.0);
            Some(work)
        })
        .collect()
}

/// Asks the stage, whose inputs are there. `None` where it cannot say; the run will tell why.
fn counted(
    global: &GlobalArguments,
    project: &Project,
    assignments: &[String],
    stage: &'static StageSpec,
) -> Option<StageWork> {
    let mut command = Command::new(binary(stage).ok()?);
    command.args(["run", "--count", "--json", "-q"]).args(global.to_arguments());
    command.arg("--store").arg(&project.store_folder);
    for assignment in assignments {
        command.args(["--set", assignment]);
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let Counted { counts } = serde_json::from_slice(&output.stdout).ok()?;
    Some(StageWork {
        stage: stage.name,
        records: counts.ahead,
        changed: counts.changed,
        counted: true,
        prompt_tokens: counts.prompt_tokens,
        completion_tokens: counts.completion_tokens,
        tokens_per_second: None,
        gpu_hours: None,
    })
}

/// Reckons from the tree what the stage will find when those before it have run.
fn estimated(
    project: &Project,
    plan: &Plan,
    planned: &StagePlan,
    stage: &'static StageSpec,
    tree: Option<&Tree>,
) -> Option<StageWork> {
    let profile = project.settings.profile();
    let works = estimate(project.store.as_ref(), profile, plan, tree?, false);
    let work = works.get(planned.stage)?;
    let records = work.total().min(limit(project, stage).saturating_sub(work.done));
    let tokens = |name: &str| number(project, &format!("{}.params.{name}", stage.name));
    let answer = tokens("max_tokens");
    Some(StageWork {
        stage: stage.name,
        records,
        changed: 0,
        counted: false,
        // As prompts are on average: most are shorter than they may be, and few answers use their limit.
        prompt_tokens: records * tokens("context_tokens").saturating_sub(answer) * 2 / 3,
        completion_tokens: records * answer * 2 / 3,
        tokens_per_second: None,
        gpu_hours: None,
    })
}

fn number(project: &Project, key: &str) -> u64 {
    let value = project.settings.value(key).and_then(|value| value.as_integer());
    value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
}

/// Most records to have; zero in the settings is no limit.
fn limit(project: &Project, stage: &StageSpec) -> u64 {
    match number(project, &format!("{}.run.max_records", stage.name)) {
        0 => u64::MAX,
        limit => limit,
    }
}

/// Tokens a second: the setting's, else those of the newest runs.
fn rate(project: &Project, stage: &StageSpec) -> Option<f64> {
    let setting = project.settings.value(&format!("{}.run.tokens_per_second", stage.name));
    let configured = setting.and_then(|value| value.as_float()).filter(|rate| *rate > 0.0);
    configured.or_else(|| measured(project.store.as_ref()?, stage))
}

fn measured(store: &Store, stage: &StageSpec) -> Option<f64> {
    let folder = store.run_record("");
    let mut names: Vec<String> = fs_err::read_dir(&folder)
        .ok()?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.split('-').nth(1) == Some(stage.name) && name.ends_with(".json"))
        .collect();
    // Names begin with the time.
    names.sort_by(|a, b| b.cmp(a));
    let records =
        names.iter().filter_map(|name| read_json::<RunRecord>(&folder.join(name), "run record").ok()?);
    let worked = records.filter(|record| record.counts.completion_tokens > 0 && record.seconds > 0.0);
    let (tokens, seconds) = worked.take(RECENT).fold((0, 0.0), |(tokens, seconds), record| {
        (tokens + record.counts.prompt_tokens + record.counts.completion_tokens, seconds + record.seconds)
    });
    (tokens > 0).then(|| tokens as f64 / seconds)
}

impl StageWork {
    /// The work in one line.
    pub(crate) fn line(&self) -> String {
        let about = if self.counted { "" } else { "about " };
        let changed = match self.changed {
            0 => String::new(),
            changed => format!(", {} of all missing because their prompt changed", format::count(changed)),
        };
        let hours = match (self.gpu_hours, self.tokens_per_second) {
            (Some(hours), Some(rate)) => format!("{hours:.2} GPU hours at {rate:.0} tokens a second"),
            _ => format!("hours unknown: set {}.run.tokens_per_second or run some records first", self.stage),
        };
        format!(
            "{}: {about}{} records{changed}, {} tokens to read and {} to write, {hours}",
            self.stage,
            format::count(self.records),
            format::count(self.prompt_tokens),
            format::count(self.completion_tokens),
        )
    }
}
