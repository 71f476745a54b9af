//! `almanac build`: plan, run what is stale, skip what is fresh.

mod jobs;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

use almanac_artifact::Store;
use almanac_catalog::{PIPELINE, StageSpec, stage as stage_named};
use almanac_freshness::tree::Tree;
use almanac_freshness::{Gaps, StagePlan, State};
use almanac_stage::{GlobalArguments, Interruption, within};
use almanac_terminal::ExitStatus;
use clap::Args;
use serde::Serialize;

use super::plan::why;
use super::submit::checks::absent_model;
use crate::error::Error;
use crate::project::Project;

/// Options of `build`.
#[derive(Debug, Args)]
pub(crate) struct BuildArguments {
    /// Top folder of the code to read
    #[arg(long, value_name = "TREE")]
    source: PathBuf,
    /// Run this stage even when it is fresh; records in the ledgers are still reused; repeatable
    #[arg(long, value_name = "STAGE")]
    force: Vec<String>,
    /// Read every byte of every artifact, not only its length; what is damaged is set aside and rebuilt
    #[arg(long)]
    verify: bool,
    /// Stop after this stage
    #[arg(long, value_name = "STAGE")]
    until: Option<String>,
    /// Processes side by side for explain, entities and embed, which share this machine's threads,
    /// memory and GPUs; each loads the models it needs
    #[arg(long, value_name = "COUNT", default_value = "1")]
    jobs: NonZeroUsize,
    #[command(flatten)]
    limits: TextLimits,
}

/// Bounds on what language models generate, shared by `build` and `plan`.
#[derive(Debug, Args)]
pub(crate) struct TextLimits {
    /// Seconds for explain and again for entities, the most important records first; 0 is no limit
    #[arg(long, value_name = "SECONDS", value_parser = within("explain.run.max_seconds"))]
    max_seconds: Option<u64>,
    /// Records for explain and again for entities, the most important first; 0 is no limit
    #[arg(long, value_name = "COUNT", value_parser = within("explain.run.max_records"))]
    max_records: Option<u64>,
    /// Try texts again that failed, or that mention too many names that they were not shown
    #[arg(long)]
    retry_failed: bool,
}

impl TextLimits {
    /// The limits as settings, so that plan and stages see the same.
    pub(crate) fn assignments(&self) -> Vec<String> {
        let mut assignments = Vec::new();
        for stage in PIPELINE.iter().filter(|stage| stage.generates_texts()) {
            for (name, limit) in [("max_seconds", self.max_seconds), ("max_records", self.max_records)] {
                if let Some(limit) = limit {
                    assignments.push(format!("{}.run.{name}={limit}", stage.name));
                }
            }
            if self.retry_failed {
                assignments.push(format!("{}.run.retry_failed=true", stage.name));
            }
        }
        assignments
    }
}

/// Refuses at once what would fail after the first stages: a model that is not there, for a stage that
/// was never built. One that was may have nothing to generate.
fn check_models(project: &Project, tree: &Tree, arguments: &BuildArguments) -> miette::Result<()> {
    let last = PIPELINE.iter().position(|stage| arguments.until.as_deref() == Some(stage.name));
    let plan = project.plan(Some(tree), &arguments.force, &[], Gaps::Fill)?;
    let wanted = PIPELINE.iter().zip(&plan.stages).take(last.map_or(PIPELINE.len(), |last| last + 1));
    let first_time: Vec<&'static StageSpec> = wanted
        .filter(|(_, planned)| planned.state != State::Fresh && planned.key.is_none())
        .map(|(stage, _)| *stage)
        .collect();
    match absent_model(project, &first_time)? {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}

/// What `--json` prints at the end.
#[derive(Default, Serialize)]
struct BuildReport {
    ran: Vec<&'static str>,
    fresh: Vec<&'static str>,
    /// Texts that failed, of the stages that ran and have any.
    failed: BTreeMap<&'static str, u64>,
    exit: u8,
    seconds: f64,
}

pub(crate) fn run(global: &GlobalArguments, arguments: &BuildArguments) -> miette::Result<ExitStatus> {
    for name in arguments.force.iter().chain(&arguments.until) {
        if stage_named(name).is_none() {
            return Err(Error::NoStage { name: name.clone() }.into());
        }
    }
    let started = Instant::now();
    let assignments = arguments.limits.assignments();
    let mut project = Project::open(global, &assignments)?;
    let interruption = Interruption::watch()?;
    let tree = project.scan(&arguments.source)?;
    // From here on the stage that runs is told, and this process ends after it.
    interruption.hold();
    let interrupted = interruption.flag();
    project.store = Some(Store::open_or_create(&project.store_folder)?);

    check_models(&project, &tree, arguments)?;

    let mut report = BuildReport::default();
    for (place, stage) in PIPELINE.iter().enumerate() {
        // Planned anew for each stage: what it depends on has just been written.
        if interrupted.load(Ordering::Relaxed) {
            report.exit = ExitStatus::Retry.code();
            break;
        }
        // What was forced and has run is as fresh as anything else now.
        let forced: Vec<String> = PIPELINE[place..]
            .iter()
            .filter(|stage| arguments.force.iter().any(|name| name == stage.name))
            .map(|stage| stage.name.to_owned())
            .collect();
        let verified = if arguments.verify { &[stage.name][..] } else { &[] };
        let plan = project.plan(Some(&tree), &forced, verified, Gaps::Fill)?;
        let planned = &plan.stages[place];
        if planned.state == State::Fresh {
            report.fresh.push(stage.name);
        } else {
            announce(planned);
            let child = child_arguments(global, arguments, &project, &assignments, stage.name);
            report.exit = jobs::run(stage, &child, arguments.jobs, interrupted)?;
            if report.exit != 0 {
                break;
            }
            report.ran.push(stage.name);
            let failed = if stage.generates_texts() { failed_texts(&project, stage.artifact)? } else { 0 };
            if failed > 0 {
                report.failed.insert(stage.name, failed);
            }
        }
        if arguments.until.as_deref() == Some(stage.name) {
            break;
        }
    }
    report.seconds = started.elapsed().as_secs_f64();
    finish(global, &report);
    // The stage has told what went wrong; its exit code is this command's.
    Ok(ExitStatus::ALL.into_iter().find(|status| status.code() == report.exit).unwrap_or(ExitStatus::Bug))
}

/// Texts of the current artifact that failed.
fn failed_texts(project: &Project, artifact: &str) -> miette::Result<u64> {
    let Some(store) = &project.store else { return Ok(0) };
    let current = store.read_ref(project.settings.profile(), artifact)?;
    Ok(current.map_or(0, |current| current.failed))
}

fn announce(planned: &StagePlan) {
    almanac_terminal::status("Running", format!("{}: {}", planned.stage, why(planned)));
}

fn child_arguments(
    global: &GlobalArguments,
    arguments: &BuildArguments,
    project: &Project,
    assignments: &[String],
    stage: &str,
) -> Vec<String> {
    let own = std::process::id().to_string();
    let mut child = vec!["run".to_owned(), "--end-with-parent".to_owned(), own];
    child.extend(global.to_arguments());
    child.extend(["--store".to_owned(), project.store_folder.to_string_lossy().into_owned()]);
    for assignment in assignments {
        child.extend(["--set".to_owned(), assignment.clone()]);
    }
    if stage == "parse" {
        child.extend(["--source".to_owned(), arguments.source.to_string_lossy().into_owned()]);
    }
    if arguments.force.iter().any(|name| name == stage) {
        child.push("--force".to_owned());
    }
    if arguments.verify {
        child.push("--verify".to_owned());
    }
    child
}

fn finish(global: &GlobalArguments, report: &BuildReport) {
    if global.json {
        almanac_terminal::data_json(report);
    }
    if report.exit == 0 {
        let what = if report.ran.is_empty() {
            "nothing to run, everything is fresh".to_owned()
        } else {
            format!("ran {}", report.ran.join(", "))
        };
        almanac_terminal::status("Finished", format!("{what} in {:.2} s", report.seconds));
    }
}
