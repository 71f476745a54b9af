//! How much there is to do, and how much of it is to be done.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use almanac_artifact::Store;
use almanac_catalog::{StageSpec, stage as stage_named};
use almanac_freshness::tree::Tree;
use almanac_freshness::{Plan, StagePlan, State};
use almanac_slurm::{Budget, Job, JobKind, Rate, Site, Stage, Work, estimate, rates};
use serde::{Deserialize, Serialize};

use super::SubmitArguments;
use crate::project::Project;

/// What a stage's `run --count --json` says.
#[derive(Deserialize)]
struct Counted {
    counts: CountedRecords,
}

#[derive(Deserialize)]
struct CountedRecords {
    total: u64,
    missing: u64,
}

/// Asks a stage whose inputs are there how many of its records are missing. An estimate does where it
/// cannot say: its binary is elsewhere, or it fails, which its job will tell.
fn count(binary: &Path, arguments: &[String], level: &str) -> Option<(u64, u64)> {
    let mut command = Command::new(binary);
    command.args(["run", "--count", "--json", "-q"]).args(arguments).stdin(Stdio::null());
    if !level.is_empty() {
        command.args(["--level", level]);
    }
    let output = command.output().ok().filter(|output| output.status.success())?;
    let Counted { counts } = serde_json::from_slice(&output.stdout).ok()?;
    Some((counts.total.saturating_sub(counts.missing), counts.missing))
}

/// What the arrays of a stage are expected to do.
#[derive(Serialize)]
pub(super) struct Told {
    pub(super) stage: String,
    pub(super) records: u64,
    pub(super) tasks: u32,
    pub(super) records_per_minute: f64,
    /// 0 where the site's file says the rate.
    pub(super) measured_on_tasks: u64,
    /// Hours of all tasks together.
    pub(super) task_hours: f64,
    pub(super) gpu_hours: f64,
}

/// Work, rates and limits of the stages that make records.
pub(super) struct Sizes {
    works: BTreeMap<&'static str, Work>,
    rates: BTreeMap<String, Rate>,
    /// `max_records` by stage, where a limit is in force.
    limits: BTreeMap<&'static str, u64>,
}

impl Sizes {
    pub(super) fn new(
        project: &Project,
        arguments: &SubmitArguments,
        site: &Site,
        plan: &Plan,
        tree: &Tree,
        stage_arguments: &[String],
        bin: &Path,
    ) -> Self {
        let profile = project.settings.profile();
        let works = estimate(project.store.as_ref(), profile, plan, tree, arguments.forget_records);
        let rates = rates(project.store.as_ref(), site);
        let mut sizes = Self { works, rates, limits: BTreeMap::new() };
        if !arguments.forget_records {
            let store = ["--store".to_owned(), project.store_folder.to_string_lossy().into_owned()];
            let words = [stage_arguments, &store].concat();
            for planned in plan.stages.iter().filter(|planned| planned.state == State::Stale) {
                sizes.count(planned, bin, &words);
            }
        }
        for stage in ["explain", "entities"] {
            let setting = project.settings.value(&format!("{stage}.run.max_records"));
            let limit = setting.and_then(|value| u64::try_from(value.as_integer()?).ok()).unwrap_or(0);
            if limit > 0 {
                sizes.limit(stage, limit);
            }
        }
        if let Some(gpu_hours) = arguments.max_gpu_hours {
            sizes.spend(&Budget { gpu_hours }, site);
        }
        sizes
    }

    /// Replaces estimates by counts where a stage's inputs are there already: after an accident, say.
    fn count(&mut self, planned: &StagePlan, bin: &Path, arguments: &[String]) {
        let Some(spec) = stage_named(planned.stage).filter(|spec| spec.ledger.is_some()) else { return };
        let Some(work) = self.works.get_mut(planned.stage) else { return };
        let mut done = 0;
        for (level, missing) in &mut work.missing {
            let Some((there, lacking)) = count(&bin.join(spec.binary()), arguments, level) else { return };
            done += there;
            *missing = lacking;
        }
        work.done = done;
    }

    fn rate(&self, stage: &str) -> f64 {
        self.rates.get(stage).map_or(1.0, |rate| rate.per_minute)
    }

    /// How many records the jobs of a stage make, how fast and on whose word, and what that costs.
    pub(super) fn told(&self, stage: &str, jobs: &[Job]) -> Option<Told> {
        let rate = *self.rates.get(stage)?;
        // The arrays of one label share its records.
        let arrays = jobs.iter().filter(|job| job.stage == stage && job.kind == JobKind::Array);
        let firsts = arrays.clone().filter(|job| job.first == 1);
        let records: u64 = firsts.map(|job| job.records).sum();
        let gpus = arrays.clone().map(|job| job.gpus).max()?;
        let minutes = records as f64 / rate.per_minute;
        Some(Told {
            stage: stage.to_owned(),
            records,
            tasks: arrays.map(|job| job.tasks).sum(),
            records_per_minute: rate.per_minute,
            measured_on_tasks: rate.measured_on,
            task_hours: minutes / 60.0,
            gpu_hours: minutes / 60.0 * f64::from(gpus),
        })
    }

    /// Lowers a stage's work to `most` records, those that are there included.
    fn limit(&mut self, stage: &'static str, most: u64) {
        let Some(work) = self.works.get_mut(stage) else { return };
        let (total, wanted) = (work.total(), most.saturating_sub(work.done));
        if total > wanted {
            let share = wanted as f64 / total as f64;
            for missing in work.missing.values_mut() {
                *missing = (*missing as f64 * share).ceil() as u64;
            }
        }
        let limit = self.limits.entry(stage).or_insert(most);
        *limit = (*limit).min(most);
    }

    /// Vectors are cheap and needed for every record; the rest pays for texts.
    fn spend(&mut self, budget: &Budget, site: &Site) {
        let cost = |stage: &str| {
            // Where no GPU is asked for, a task's hour counts as one.
            let gpus = site.resources_of(stage).map_or(1, |resources| resources.gpus.max(1));
            f64::from(gpus) / self.rate(stage)
        };
        let embed = self.works.get("embed").map_or(0.0, |work| work.total() as f64 * cost("embed"));
        let left = Budget { gpu_hours: (budget.gpu_hours - embed / 60.0).max(0.0) };
        let stages = ["explain", "entities"];
        let wanted = stages.map(|stage| (self.works.get(stage).map_or(0, Work::total), cost(stage)));
        for (stage, records) in stages.into_iter().zip(left.records(&wanted)) {
            let (done, total) = self.works.get(stage).map_or((0, 0), |work| (work.done, work.total()));
            if records < total {
                // Zero would be no limit at all.
                self.limit(stage, (done + records).max(1));
            }
        }
    }

    /// The stages as a chain wants them.
    pub(super) fn stages(&self, arguments: &SubmitArguments, stages: &[&'static StageSpec]) -> Vec<Stage> {
        let of_stage = |stage: &&'static StageSpec| {
            let mut words = Vec::new();
            if stage.name == "parse" {
                let source = super::absolute(&arguments.source).to_string_lossy().into_owned();
                words.extend(["--source".to_owned(), source]);
            }
            if arguments.clean {
                words.push("--force".to_owned());
            }
            if let Some(limit) = self.limits.get(stage.name) {
                words.extend(["--max-records".to_owned(), limit.to_string()]);
            }
            let work = self.works.get(stage.name);
            let parts = work.map(|work| work.parts(stage.name, self.rate(stage.name))).unwrap_or_default();
            Stage { name: stage.name, parts, arguments: words }
        };
        stages.iter().map(of_stage).collect()
    }
}

/// Moves the ledgers of these stages aside, if that was asked for.
pub(super) fn forget_records(
    store: &Store,
    is_wanted: bool,
    stages: &[&'static StageSpec],
) -> almanac_slurm::Result<()> {
    for ledger in stages.iter().filter(|_| is_wanted).filter_map(|stage| stage.ledger) {
        if let Some(place) = store.set_ledger_aside(ledger)? {
            almanac_terminal::status("Moved", format!("the ledger of {ledger} to {}", place.display()));
        }
    }
    Ok(())
}
