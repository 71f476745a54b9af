//! What `submit` prints.

use std::path::PathBuf;

use almanac_artifact::Store;
use almanac_freshness::{Plan, State};
use almanac_slurm::{Job, JobKind, Run, Slurm, command_line};
use almanac_stage::GlobalArguments;
use almanac_terminal::{ExitStatus, Table, format};
use serde::Serialize;

use super::work::Told;
use crate::commands::plan::why;

/// The object of `--json`.
#[derive(Serialize)]
struct SubmitReport<'a> {
    run: Option<&'a str>,
    submitted: bool,
    jobs: &'a [Job],
    /// Stages whose records are made by arrays.
    estimates: &'a [Told],
    scripts: Vec<ScriptReport<'a>>,
}

#[derive(Serialize)]
struct ScriptReport<'a> {
    path: String,
    command: String,
    text: &'a str,
}

/// Everything is fresh.
pub(super) fn nothing(global: &GlobalArguments) -> ExitStatus {
    if global.json {
        almanac_terminal::data_json(&SubmitReport {
            run: None,
            submitted: false,
            jobs: &[],
            estimates: &[],
            scripts: vec![],
        });
    }
    almanac_terminal::status("Finished", "nothing to submit, everything is fresh");
    ExitStatus::Done
}

/// The command that submits a job, with names in place of the ids that are not known yet.
fn command(job: &Job, path: &std::path::Path) -> String {
    let after: Vec<String> = job.after.iter().map(|name| format!("<{name}>")).collect();
    let words = Slurm::sbatch_arguments(path, &after);
    let plain = |word: &String| {
        if word.starts_with("--dependency") { word.clone() } else { command_line(std::slice::from_ref(word)) }
    };
    format!("sbatch {}", words.iter().map(plain).collect::<Vec<_>>().join(" "))
}

/// Says what the arrays will cost, and on whose word.
fn estimates(told: &[Told]) {
    let mut table =
        Table::new(["stage", "records", "tasks", "a minute and task", "task hours", "GPU hours"]).right(1..6);
    for stage in told {
        let source = match stage.measured_on_tasks {
            0 => "site file".to_owned(),
            tasks => format!("measured on {} tasks here", format::count(tasks)),
        };
        table.row([
            stage.stage.clone(),
            format!("about {}", format::count(stage.records)),
            format::count(stage.tasks.into()),
            format!("{:.1} ({source})", stage.records_per_minute),
            format!("{:.1}", stage.task_hours),
            format!("{:.1}", stage.gpu_hours),
        ]);
    }
    if !told.is_empty() {
        table.print();
    }
}

/// Prints every script and command, and what they come to.
pub(super) fn scripts(
    global: &GlobalArguments,
    run: &Run,
    plan: &Plan,
    told: &[Told],
    scripts: &[(PathBuf, String)],
) {
    let reports: Vec<ScriptReport<'_>> = run
        .jobs
        .iter()
        .zip(scripts)
        .map(|(job, (path, text))| ScriptReport {
            path: path.to_string_lossy().into_owned(),
            command: command(job, path),
            text,
        })
        .collect();
    if global.json {
        let jobs = &run.jobs;
        almanac_terminal::data_json(&SubmitReport {
            run: None,
            submitted: false,
            jobs,
            estimates: told,
            scripts: reports,
        });
        return;
    }
    for report in &reports {
        almanac_terminal::data(&format!("#### {}\n{}", report.path, report.text));
    }
    for report in &reports {
        almanac_terminal::data(&report.command);
    }
    // Last, where it is seen.
    jobs(run, plan);
    estimates(told);
    almanac_terminal::note("a dry run: nothing was written or submitted");
}

/// Says what is in the queue now.
pub(super) fn submitted(global: &GlobalArguments, run: &Run, store: &Store, plan: &Plan, told: &[Told]) {
    if global.json {
        almanac_terminal::data_json(&SubmitReport {
            run: Some(&run.id),
            submitted: true,
            jobs: &run.jobs,
            estimates: told,
            scripts: vec![],
        });
        return;
    }
    jobs(run, plan);
    estimates(told);
    almanac_terminal::status("Submitted", format!("run {}", run.id));
    almanac_terminal::note(format!(
        "scripts and logs: {}; `almanac status --watch` shows how it goes, `almanac cancel {}` ends it",
        run.folder(store.root()).display(),
        run.id
    ));
}

/// The jobs, in the order in which they run, and why there are any.
fn jobs(run: &Run, plan: &Plan) {
    let mut table = Table::new(["job", "id", "tasks", "records", "after", "why"]).right([1, 2, 3]);
    for job in &run.jobs {
        let planned = plan.stages.iter().find(|planned| planned.stage == job.stage);
        let reason = planned.filter(|planned| planned.state != State::Fresh).map(why).unwrap_or_default();
        let is_array = job.kind == JobKind::Array;
        table.row([
            job.name.clone(),
            job.id.clone().unwrap_or_default(),
            if is_array { format::count(job.tasks.into()) } else { String::new() },
            if is_array && job.first == 1 {
                format!("about {}", format::count(job.records))
            } else {
                String::new()
            },
            job.after.join(", "),
            if job.kind == JobKind::Commit { "commits what the tasks have made".to_owned() } else { reason },
        ]);
    }
    table.print();
}
