//! What became of a run: from its state files and the run records first, then from Slurm.

pub(crate) mod records;
mod task;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use almanac_artifact::Store;
use serde::Serialize;

use crate::journal::{Job, JobKind, Run, RunOutcome};
use crate::{Queued, Slurm};

pub use records::StageRecords;
pub use task::TaskState;
use task::{TaskFile, judge};

/// Failed tasks of a job that are told one by one.
const FAILURES_TOLD: usize = 3;
/// Lines of a log that are shown.
const LOG_LINES: usize = 6;
/// Of a log only so much is read, from its end.
const LOG_BYTES: u64 = 4096;

/// A task that did not succeed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// Task, such as `explain.7`.
    pub task: String,
    /// Exit code of its command, where it ended by itself.
    pub exit: Option<i32>,
    /// What happened, in words.
    pub why: String,
    /// Its log.
    pub log: PathBuf,
    /// Last lines of it.
    pub tail: Vec<String>,
}

/// One job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobProgress {
    /// Name within the run.
    pub name: String,
    /// Stage.
    pub stage: String,
    /// What it does.
    pub kind: JobKind,
    /// Slurm's id.
    pub id: String,
    /// Tasks by state.
    pub tasks: BTreeMap<TaskState, u32>,
    /// Times its tasks were started again.
    pub restarts: u32,
    /// What it waits for, while it waits.
    pub waits_for: String,
    /// Tasks that did not succeed, the first few.
    pub failures: Vec<Failure>,
}

impl JobProgress {
    /// Number of tasks in a state.
    pub fn count(&self, state: TaskState) -> u32 {
        self.tasks.get(&state).copied().unwrap_or(0)
    }

    /// The state that says most about the job as a whole.
    pub fn state(&self) -> TaskState {
        let order = [
            TaskState::Failed,
            TaskState::Lost,
            TaskState::Running,
            TaskState::Requeued,
            TaskState::Waiting,
            TaskState::NeverRan,
        ];
        order.into_iter().find(|state| self.count(*state) > 0).unwrap_or(TaskState::Done)
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunProgress {
    /// Id.
    pub run: String,
    /// When it was submitted.
    pub created: String,
    /// Site.
    pub site: String,
    /// What became of the submission.
    pub outcome: RunOutcome,
    /// Whether Slurm answered; if not, states are those of the files.
    pub queue_answers: bool,
    /// Whether nothing of it will run any more.
    pub is_over: bool,
    /// Whether every job has succeeded.
    pub is_done: bool,
    /// Its jobs.
    pub jobs: Vec<JobProgress>,
    /// Records made by this run, by stage.
    pub records: Vec<StageRecords>,
    /// Hours of GPU spent.
    pub gpu_hours: f64,
    /// Hours of GPU to go, where it can be told.
    pub gpu_hours_left: f64,
    /// Command that continues, when it is over and not done.
    pub next: String,
    /// Its folder.
    pub folder: PathBuf,
}

/// Looks at a run.
pub fn progress(store: &Store, run: &Run) -> RunProgress {
    let slurm = Slurm::new(&run.clusters);
    let queue = slurm.queue(&run.queue_names()).ok();
    let accounted = if queue.is_some() { slurm.accounting(&run.ids()) } else { Vec::new() };
    let folder = run.folder(store.root());
    let seen = Seen { queue: queue.as_deref().map(by_task), accounted: by_task(&accounted), folder: &folder };
    let jobs: Vec<JobProgress> = run.jobs.iter().map(|job| seen.job(run, job)).collect();
    let records = records::of_run(store, run, &jobs);
    let alive = [TaskState::Running, TaskState::Requeued, TaskState::Waiting];
    let is_alive = jobs.iter().any(|job| alive.iter().any(|state| job.count(*state) > 0));
    let is_done = jobs.iter().all(|job| job.state() == TaskState::Done);
    let hours = |minutes: fn(&StageRecords) -> f64| records.iter().map(minutes).sum::<f64>() / 60.0;
    RunProgress {
        run: run.id.clone(),
        created: run.created.clone(),
        site: run.site.clone(),
        outcome: run.outcome,
        queue_answers: queue.is_some(),
        is_over: !is_alive,
        is_done,
        gpu_hours: hours(|stage| stage.gpu_minutes),
        gpu_hours_left: hours(|stage| stage.gpu_minutes_left),
        jobs,
        records,
        next: if is_alive || is_done { String::new() } else { run.command.clone() },
        folder,
    }
}

/// Everything that is known at this moment.
struct Seen<'a> {
    queue: Option<Tasks<'a>>,
    accounted: Tasks<'a>,
    folder: &'a Path,
}

/// Tasks by the id of their job and their index.
type Tasks<'a> = HashMap<(&'a str, Option<u32>), &'a Queued>;

fn by_task(list: &[Queued]) -> Tasks<'_> {
    // Of a task that is listed twice, the first.
    list.iter().rev().map(|task| ((task.job.as_str(), task.index), task)).collect()
}

impl Seen<'_> {
    fn job(&self, run: &Run, job: &Job) -> JobProgress {
        let id = job.id.clone().unwrap_or_default();
        let mut progress = JobProgress {
            name: job.name.clone(),
            stage: job.stage.clone(),
            kind: job.kind,
            id: id.clone(),
            tasks: BTreeMap::new(),
            restarts: 0,
            waits_for: String::new(),
            failures: Vec::new(),
        };
        for (place, file) in (1..).zip(job.task_files()) {
            let index = (job.kind == JobKind::Array).then_some(place);
            let written = TaskFile::read(&self.folder.join("tasks").join(&file));
            let key = (id.as_str(), index);
            let queued = self.queue.as_ref().map(|queue| queue.get(&key).copied().cloned());
            let accounted = self.accounted.get(&key).copied();
            let (state, why) = judge(written.as_ref(), queued.as_ref(), accounted);
            *progress.tasks.entry(state).or_insert(0) += 1;
            progress.restarts += written.as_ref().map_or(0, |written| written.restarts);
            let tell = matches!(state, TaskState::Failed | TaskState::Lost);
            if tell && progress.failures.len() < FAILURES_TOLD {
                let suffix = index.map_or_else(String::new, |index| format!("_{index}"));
                let log = self.folder.join("logs").join(format!("{}-{id}{suffix}.log", job.name));
                progress.failures.push(Failure {
                    task: file,
                    exit: written.map(|written| written.exit).filter(|exit| *exit != 0),
                    why,
                    tail: tail(&log),
                    log,
                });
            } else if state == TaskState::Waiting {
                progress.waits_for = why;
            }
        }
        if progress.state() == TaskState::NeverRan && run.outcome != RunOutcome::Cancelled {
            progress.waits_for = "cancelled before it began, as what it waits for failed".to_owned();
        }
        progress
    }
}

/// Last lines of a log; none when it cannot be read.
fn tail(path: &Path) -> Vec<String> {
    use std::io::{Read, Seek, SeekFrom};
    let Ok(mut file) = fs_err::File::open(path) else { return Vec::new() };
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::new();
    let read = file
        .seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES)))
        .and_then(|_| file.take(LOG_BYTES).read_to_end(&mut bytes));
    if read.is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].iter().map(|line| (*line).to_owned()).collect()
}
