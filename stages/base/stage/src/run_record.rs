//! What happened in a run, for `status` and for whoever asks on Tuesday.

use std::path::PathBuf;

use almanac_artifact::{Owner, Store, write_atomically};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Begun; if its process is gone, it was killed.
    Running,
    /// Committed.
    Done,
    /// Its share is done; other shards are not.
    Waiting,
    /// Needs what other shards have not finished; to be started again.
    Blocked,
    /// Stopped by a signal; safe to start again.
    Interrupted,
    /// Failed; `error` says why.
    Failed,
}

impl RunState {
    /// The state as `--json` reports it at the end of a run.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Waiting => "waiting",
            Self::Blocked => "blocked",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }
}

/// What a stage counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Items of the whole task: files, records, chunks.
    pub total: u64,
    /// Taken over from earlier work.
    pub reused: u64,
    /// Made in this run.
    pub generated: u64,
    /// Tried and failed, in this run or before.
    pub failed: u64,
    /// Tried and failed in this run.
    #[serde(default)]
    pub failed_now: u64,
    /// Subject and reason of the first of these; empty when there is none.
    #[serde(default)]
    pub first_failure: String,
    /// There, and mentions too many names that its prompt does not.
    #[serde(default)]
    pub poorly_grounded: u64,
    /// Wanted and not there.
    pub missing: u64,
    /// Records to make within the limits in force, where they are only counted; one for all rows that
    /// share it.
    #[serde(default)]
    pub ahead: u64,
    /// Of all records that are missing, those that were made before from another prompt.
    #[serde(default)]
    pub changed: u64,
    /// Prompt tokens read by a model; where records are only counted, those the missing ones would need.
    pub prompt_tokens: u64,
    /// Tokens written by a model, or that would be.
    pub completion_tokens: u64,
}

/// One run of one stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// Id: time, stage, host and process.
    pub id: String,
    /// Stage name.
    pub stage: String,
    /// Profile.
    pub profile: String,
    /// Share of the work, `i/n`; empty for all.
    pub shard: String,
    /// State.
    pub state: RunState,
    /// When it began, RFC 3339.
    pub started: String,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Host it ran on.
    pub host: String,
    /// Process id there.
    pub process: u32,
    /// That process, so that it can be told from another of the same number; see [`Owner`].
    #[serde(default)]
    pub owner: String,
    /// Slurm job and task; empty outside a job.
    pub job: String,
    /// Folder key of the artifact committed; empty when none was.
    pub key: String,
    /// Counts.
    pub counts: Counts,
    /// Largest resident memory, bytes.
    pub peak_memory_bytes: u64,
    /// Error with its causes; empty when none.
    pub error: String,
}

impl RunRecord {
    /// A run that begins now.
    pub fn begin(stage: &str, profile: &str, shard: String) -> Self {
        let now = Timestamp::now();
        let job = almanac_settings::environment::slurm_job();
        let host = almanac_settings::environment::host_name().unwrap_or_default();
        Self {
            // Tasks of an array start in the same millisecond, in containers with the same process ids.
            id: format!("{}-{stage}-{host}-{}", now.strftime("%Y%m%dT%H%M%S%3f"), std::process::id()),
            stage: stage.to_owned(),
            profile: profile.to_owned(),
            shard,
            state: RunState::Running,
            started: now.to_string(),
            seconds: 0.0,
            host,
            process: std::process::id(),
            owner: Owner::signature(),
            job: job.map_or_else(String::new, |job| match job.array_task_id {
                Some(task) => format!("{}_{task}", job.array_job_id.unwrap_or(job.job_id)),
                None => job.job_id,
            }),
            key: String::new(),
            counts: Counts::default(),
            peak_memory_bytes: 0,
            error: String::new(),
        }
    }

    /// Where the record is kept.
    fn path(&self, store: &Store) -> PathBuf {
        store.run_record(&format!("{}.json", self.id))
    }

    /// Writes the record, with the memory used so far.
    pub fn save(&mut self, store: &Store) -> almanac_artifact::Result<()> {
        self.peak_memory_bytes = peak_memory_bytes();
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        write_atomically(&self.path(store), &bytes)
    }
}

/// High-water mark of resident memory, from the kernel; 0 where it does not say.
fn peak_memory_bytes() -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
