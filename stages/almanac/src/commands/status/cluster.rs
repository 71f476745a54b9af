//! Runs on a cluster: the newest, and every other that is still at work.

use std::time::Duration;

use almanac_artifact::Store;
use almanac_slurm::{JobProgress, Run, RunOutcome, RunProgress, StageRecords, TaskState, progress};
use almanac_terminal::{Table, format};

/// Runs that are looked at; older ones are over.
const RUNS_ASKED: usize = 5;

/// The newest run, and others that are not over.
pub(crate) fn runs(store: &Store) -> Vec<RunProgress> {
    let runs = Run::all(store).into_iter().take(RUNS_ASKED);
    let looked = runs.map(|run| progress(store, &run)).enumerate();
    looked.filter(|(place, run)| *place == 0 || !run.is_over).map(|(_, run)| run).collect()
}

/// Prints runs for people.
pub(crate) fn print(runs: &[RunProgress]) {
    for run in runs {
        almanac_terminal::data(&format!("\nrun {} on {}: {}", run.run, run.site, summary(run)));
        print_jobs(run);
        print_records(run);
        for job in &run.jobs {
            for failure in &job.failures {
                almanac_terminal::data(&format!("  {}: {}", failure.task, failure.why));
                almanac_terminal::data(&format!("    {}", failure.log.display()));
                for line in &failure.tail {
                    almanac_terminal::data(&format!("    | {line}"));
                }
            }
        }
        if !run.next.is_empty() {
            almanac_terminal::data(&format!("to go on: {}", run.next));
        }
    }
}

fn summary(run: &RunProgress) -> String {
    let word = match (run.outcome, run.is_done, run.is_over) {
        (_, true, _) => "done",
        (RunOutcome::Cancelled, _, true) => "cancelled",
        (RunOutcome::Broken, _, true) => "was not submitted",
        (_, _, true) => "ended without success",
        _ => "at work",
    };
    let unsure = if run.queue_answers { "" } else { " (Slurm does not answer; as its files say)" };
    format!("{word}{unsure}")
}

fn print_jobs(run: &RunProgress) {
    let mut table =
        Table::new(["job", "id", "state", "done", "running", "waiting", "failed", "restarts", "waits for"])
            .right([1, 3, 4, 5, 6, 7]);
    for job in &run.jobs {
        let count = |states: &[TaskState]| {
            format::count(states.iter().map(|state| u64::from(job.count(*state))).sum())
        };
        table.row([
            job.name.clone(),
            job.id.clone(),
            word(job).to_owned(),
            count(&[TaskState::Done]),
            count(&[TaskState::Running]),
            count(&[TaskState::Waiting, TaskState::Requeued]),
            count(&[TaskState::Failed, TaskState::Lost, TaskState::NeverRan]),
            format::count(job.restarts.into()),
            job.waits_for.clone(),
        ]);
    }
    table.print();
}

fn word(job: &JobProgress) -> &'static str {
    match job.state() {
        TaskState::Done => "done",
        TaskState::Running => "running",
        TaskState::Requeued => "to be started again",
        TaskState::Waiting => "waiting",
        TaskState::Failed => "failed",
        TaskState::Lost => "ended from outside",
        TaskState::NeverRan => "never ran",
    }
}

fn print_records(run: &RunProgress) {
    // A stage in one piece counts files or edges, which are no records.
    let stages: Vec<&StageRecords> = run.records.iter().filter(|stage| stage.planned > 0).collect();
    if stages.is_empty() {
        return;
    }
    almanac_terminal::data("");
    let mut table = Table::new(["records", "made", "failed", "left, about", "a task makes", "time left"])
        .right([1, 2, 3, 4, 5]);
    for stage in &stages {
        table.row([
            stage.stage.clone(),
            format::count(stage.made),
            format::count(stage.failed),
            format::count(stage.left),
            if stage.per_minute > 0.0 { format::rate(stage.per_minute / 60.0) } else { String::new() },
            stage.minutes_left.map(minutes).unwrap_or_default(),
        ]);
    }
    table.print();
    let tokens: u64 = run.records.iter().map(|stage: &StageRecords| stage.tokens).sum();
    if run.gpu_hours > 0.0 || run.gpu_hours_left > 0.0 {
        almanac_terminal::data(&format!(
            "{:.2} GPU hours spent, about {:.2} to go; {} tokens",
            run.gpu_hours,
            run.gpu_hours_left,
            format::count(tokens)
        ));
    }
}

fn minutes(minutes: f64) -> String {
    Duration::try_from_secs_f64(minutes * 60.0).map(format::rough_duration).unwrap_or_default()
}
