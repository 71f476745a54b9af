//! One submission as it is kept in the store: `runs/<id>/run.json`, with `scripts/`, `logs/` and
//! `tasks/` beside it.

use std::path::{Path, PathBuf};

use almanac_artifact::{Store, read_json, write_atomically};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// File of a run in its folder.
const FILE: &str = "run.json";

/// What became of a submission as such.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// Being submitted; if its process is gone, it broke off.
    Planned,
    /// Every job is in the queue, or was.
    Submitted,
    /// Broke off; what was in the queue was cancelled.
    Broken,
    /// Ended by `almanac cancel`.
    Cancelled,
}

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// Runs a stage in one piece.
    Single,
    /// Makes records, each task its share.
    Array,
    /// Checks that every task has done its share, and commits.
    Commit,
}

/// Tasks that must have succeeded before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Required {
    /// Label of the job.
    pub name: String,
    /// Number of its tasks; 0 for a job that is no array.
    pub count: u32,
}

/// One job of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name within the run: `parse`, `explain-2`, `explain-commit`.
    pub name: String,
    /// Name of its state files; the arrays of one stage share it.
    pub label: String,
    /// Stage.
    pub stage: String,
    /// What it does.
    pub kind: JobKind,
    /// Number of the first task among all of the label; 0 for a job that is no array.
    pub first: u32,
    /// Tasks of this array; 1 for a job that is none.
    pub tasks: u32,
    /// Tasks of all arrays of the label.
    pub shards: u32,
    /// Tasks at once; 0 for no limit.
    pub at_once: u32,
    /// Records that its label was planned for; an estimate while earlier stages have not run.
    pub records: u64,
    /// GPUs of a task.
    pub gpus: u32,
    /// Kind of resources.
    pub resources: String,
    /// Arguments of the stage's binary after the ones all share.
    pub arguments: Vec<String>,
    /// Names of the jobs it waits for.
    pub after: Vec<String>,
    /// What it looks up itself before it begins.
    pub requires: Vec<Required>,
    /// Slurm's id, once it is in the queue.
    pub id: Option<String>,
}

impl Job {
    /// Name in the queue; carries the run.
    pub fn queue_name(&self, run: &str) -> String {
        format!("almanac-{run}-{}", self.name)
    }

    /// Names of the state files of its tasks.
    pub fn task_files(&self) -> Vec<String> {
        match self.kind {
            JobKind::Array => {
                (self.first..self.first + self.tasks).map(|task| format!("{}.{task}", self.label)).collect()
            }
            JobKind::Single | JobKind::Commit => vec![self.label.clone()],
        }
    }
}

/// One submission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Id: time and process.
    pub id: String,
    /// When it was planned, RFC 3339.
    pub created: String,
    /// Profile it builds.
    pub profile: String,
    /// Source tree.
    pub source: PathBuf,
    /// Site.
    pub site: String,
    /// `--clusters` of the site.
    pub clusters: String,
    /// What became of it.
    pub outcome: RunOutcome,
    /// Command that continues after an accident.
    pub command: String,
    /// Its jobs, in order.
    pub jobs: Vec<Job>,
}

impl Run {
    /// A run that begins now.
    pub fn new(profile: &str, source: &Path, site: &crate::Site, command: String, jobs: Vec<Job>) -> Self {
        let now = Timestamp::now();
        Self {
            id: format!("{}-{:x}", now.strftime("%Y%m%dT%H%M%S"), std::process::id()),
            created: now.to_string(),
            profile: profile.to_owned(),
            source: source.to_owned(),
            site: site.name.clone(),
            clusters: site.slurm.clusters.clone(),
            outcome: RunOutcome::Planned,
            command,
            jobs,
        }
    }

    /// Its folder in the store at this path.
    pub fn folder(&self, store: &Path) -> PathBuf {
        store.join("runs").join(&self.id)
    }

    /// Writes the run's file.
    pub fn save(&self, store: &Store) -> Result<()> {
        let path = self.folder(store.root()).join(FILE);
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|source| Error::io("write", &path)(std::io::Error::other(source)))?;
        bytes.push(b'\n');
        Ok(write_atomically(&path, &bytes)?)
    }

    /// Whether the file is one that this program wrote there: names of files and arguments of Slurm's
    /// programs are made of what it says.
    fn is_sound(&self, folder: &Path) -> bool {
        let is_id = |id: &String| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        folder.file_name().is_some_and(|name| name == self.id.as_str())
            && self.jobs.iter().filter_map(|job| job.id.as_ref()).all(is_id)
    }

    /// Every run of a store, the newest first. A file that does not read belongs to another version.
    pub fn all(store: &Store) -> Vec<Self> {
        let Ok(entries) = fs_err::read_dir(store.run_record("")) else { return Vec::new() };
        let folders = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
        let read = |path: PathBuf| {
            let run = read_json::<Self>(&path.join(FILE), "run").ok().flatten()?;
            run.is_sound(&path).then_some(run)
        };
        let mut runs: Vec<Self> = folders.filter_map(read).collect();
        runs.sort_by(|a, b| b.created.cmp(&a.created).then_with(|| b.id.cmp(&a.id)));
        runs
    }

    /// The run whose id begins with `id`; the newest for an empty one.
    pub fn find(store: &Store, id: &str) -> Result<Self> {
        let runs = Self::all(store);
        if runs.is_empty() {
            return Err(Error::NothingSubmitted { store: store.root().to_owned() });
        }
        let known: Vec<String> = runs.iter().map(|run| run.id.clone()).collect();
        let mut found = runs.into_iter().filter(|run| run.id.starts_with(id));
        let first = found.next();
        let is_ambiguous = !id.is_empty() && found.next().is_some();
        first.filter(|run| !is_ambiguous || run.id == id).ok_or_else(|| Error::NoRun {
            run: id.to_owned(),
            hint: format!("runs, the newest first: {}", known.join(", ")),
        })
    }

    /// Ids of the jobs that are in the queue, or were.
    pub fn ids(&self) -> Vec<String> {
        self.jobs.iter().filter_map(|job| job.id.clone()).collect()
    }

    /// Names of all its jobs in the queue.
    pub fn queue_names(&self) -> Vec<String> {
        self.jobs.iter().map(|job| job.queue_name(&self.id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_somebody_elses_making_is_none() {
        let folder = tempfile::TempDir::new().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let job = serde_json::json!({
            "name": "parse", "label": "parse", "stage": "parse", "kind": "single", "first": 0, "tasks": 1,
            "shards": 1, "at_once": 0, "records": 0, "gpus": 0, "resources": "cpu", "arguments": [],
            "after": [], "requires": [], "id": "17"
        });
        let put = |folder: &str, id: &str, number: &str| {
            let mut job = job.clone();
            job["id"] = number.into();
            let run = serde_json::json!({
                "id": id, "created": "2026-01-01T00:00:00Z", "profile": "default", "source": "/src",
                "site": "local", "clusters": "", "outcome": "submitted", "command": "", "jobs": [job]
            });
            let path = store.run_record(folder).join(FILE);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, run.to_string()).unwrap();
        };
        put("sound", "sound", "17");
        put("elsewhere", "../../elsewhere", "17");
        put("option", "option", "--user=somebody");
        let ids: Vec<String> = Run::all(&store).into_iter().map(|run| run.id).collect();
        assert_eq!(ids, ["sound"]);
    }
}
