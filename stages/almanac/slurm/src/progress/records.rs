//! What the tasks of a run have made, from their run records in the store.

use std::collections::BTreeMap;

use almanac_artifact::{Store, read_json};
use almanac_stage::RunRecord;
use serde::Serialize;

use super::{JobProgress, TaskState};
use crate::journal::{JobKind, Run};

/// Records of one stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StageRecords {
    /// Stage.
    pub stage: String,
    /// Planned, when the run was submitted.
    pub planned: u64,
    /// Made by tasks that have ended.
    pub made: u64,
    /// Tried and failed.
    pub failed: u64,
    /// Planned and not made; an estimate.
    pub left: u64,
    /// Made in a minute by one task.
    pub per_minute: f64,
    /// Minutes to go, with as many tasks as run now; none when nothing runs or nothing was made.
    pub minutes_left: Option<f64>,
    /// Minutes of GPU spent.
    pub gpu_minutes: f64,
    /// Minutes of GPU to go.
    pub gpu_minutes_left: f64,
    /// Tokens read and written by the model.
    pub tokens: u64,
}

/// Adds up the run records of a run's jobs.
pub(super) fn of_run(store: &Store, run: &Run, progress: &[JobProgress]) -> Vec<StageRecords> {
    let gpus: BTreeMap<&str, u32> =
        run.jobs.iter().filter_map(|job| Some((job.id.as_deref()?, job.gpus))).collect();
    let mut stages: Vec<StageRecords> = Vec::new();
    let mut seconds: BTreeMap<String, f64> = BTreeMap::new();
    for job in run.jobs.iter().filter(|job| job.kind == JobKind::Array) {
        let stage = entry(&mut stages, &job.stage);
        // The arrays of one label share its records.
        if job.first == 1 {
            stage.planned += job.records;
        }
    }
    for record in records_since(store, &run.created) {
        let job = record.job.split('_').next().unwrap_or_default();
        let Some(gpus) = gpus.get(job) else { continue };
        let stage = entry(&mut stages, &record.stage);
        stage.made += record.counts.generated;
        stage.failed = stage.failed.max(record.counts.failed);
        stage.tokens += record.counts.prompt_tokens + record.counts.completion_tokens;
        stage.gpu_minutes += record.seconds / 60.0 * f64::from(*gpus);
        if record.counts.generated > 0 {
            *seconds.entry(record.stage).or_insert(0.0) += record.seconds;
        }
    }
    for stage in &mut stages {
        let is_over =
            progress.iter().filter(|job| job.stage == stage.stage).all(|job| job.state() == TaskState::Done);
        stage.left = if is_over { 0 } else { stage.planned.saturating_sub(stage.made) };
        let minutes = seconds.get(&stage.stage).copied().unwrap_or(0.0) / 60.0;
        if minutes > 0.0 {
            stage.per_minute = stage.made as f64 / minutes;
            let running: u32 = progress
                .iter()
                .filter(|job| job.stage == stage.stage)
                .map(|job| job.count(TaskState::Running))
                .sum();
            let task_minutes = stage.left as f64 / stage.per_minute;
            stage.minutes_left = (running > 0).then(|| task_minutes / f64::from(running));
            let of_stage = run.jobs.iter().find(|job| job.stage == stage.stage);
            stage.gpu_minutes_left = task_minutes * of_stage.map_or(0.0, |job| f64::from(job.gpus));
        }
    }
    stages.retain(|stage| stage.planned > 0 || stage.made > 0 || stage.gpu_minutes > 0.0);
    stages
}

fn entry<'a>(stages: &'a mut Vec<StageRecords>, name: &str) -> &'a mut StageRecords {
    let place = stages.iter().position(|stage| stage.stage == name).unwrap_or_else(|| {
        stages.push(StageRecords { stage: name.to_owned(), ..StageRecords::default() });
        stages.len() - 1
    });
    &mut stages[place]
}

/// The newest run records of all stages.
pub(crate) fn newest_records(store: &Store, most: usize) -> Vec<RunRecord> {
    let names = record_names(store, "");
    read_records(store, &names[names.len().saturating_sub(most)..])
}

/// Run records that are not older than a day before `created`: the clocks of nodes differ.
fn records_since(store: &Store, created: &str) -> Vec<RunRecord> {
    let day = jiff::SignedDuration::from_hours(24);
    let since = created.parse::<jiff::Timestamp>().ok().and_then(|time| time.checked_sub(day).ok());
    let first = since.map_or_else(String::new, |time| time.strftime("%Y%m%dT%H%M%S").to_string());
    read_records(store, &record_names(store, &first))
}

/// Names of run records from `first` on; they begin with the time.
fn record_names(store: &Store, first: &str) -> Vec<String> {
    let Ok(entries) = fs_err::read_dir(store.run_record("")) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".json") && !name.starts_with('.') && name.as_str() >= first)
        .collect();
    names.sort();
    names
}

/// A record that does not read is another version's, and says nothing.
fn read_records(store: &Store, names: &[String]) -> Vec<RunRecord> {
    let read = |name: &String| read_json::<RunRecord>(&store.run_record(name), "run record").ok().flatten();
    names.iter().filter_map(read).collect()
}
