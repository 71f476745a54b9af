//! Slurm's own programs: never parsed as prose, never waited for without end.

mod process;

use std::path::Path;
use std::time::Duration;

use crate::{Error, Result};
use process::{Ended, run};

/// Commands fail by themselves after about 9 s when the controller is gone.
const TIMEOUT: Duration = Duration::from_secs(60);
/// MaxArraySize where the cluster does not say; Slurm's default.
const MAX_ARRAY_SIZE: u32 = 1001;

/// One task as Slurm sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// Id of the job or the whole array.
    pub job: String,
    /// Index in the array.
    pub index: Option<u32>,
    /// State, such as `RUNNING`.
    pub state: String,
    /// Why it waits.
    pub reason: String,
}

impl Queued {
    /// Whether it still has something before it.
    pub fn is_alive(&self) -> bool {
        [
            "PENDING",
            "RUNNING",
            "SUSPENDED",
            "COMPLETING",
            "CONFIGURING",
            "REQUEUED",
            "REQUEUE_HOLD",
            "STOPPED",
        ]
        .iter()
        .any(|state| self.state.starts_with(state))
    }

    /// Whether it waits for what will never come.
    pub fn is_hopeless(&self) -> bool {
        self.reason.contains("DependencyNeverSatisfied")
    }
}

/// The cluster, through its programs.
#[derive(Debug, Clone, Default)]
pub struct Slurm {
    clusters: String,
}

impl Slurm {
    /// The named clusters; empty: this machine's.
    pub fn new(clusters: &str) -> Self {
        Self { clusters: clusters.to_owned() }
    }

    fn run(&self, program: &'static str, arguments: &[&str]) -> Result<Ended> {
        let clusters = format!("--clusters={}", self.clusters);
        let mut all: Vec<&str> = Vec::new();
        if !self.clusters.is_empty() && program != "sbatch" {
            all.push(&clusters);
        }
        all.extend(arguments);
        run(program, &all, TIMEOUT)
    }

    /// Command line that submits a script after other jobs.
    pub fn sbatch_arguments(script: &Path, after: &[String]) -> Vec<String> {
        let mut arguments = vec!["--parsable".to_owned()];
        if !after.is_empty() {
            arguments.push(format!("--dependency=afterok:{}", after.join(":")));
        }
        arguments.push(script.to_string_lossy().into_owned());
        arguments
    }

    /// Submits a script after other jobs have succeeded and gives its id.
    pub fn sbatch(&self, script: &Path, after: &[String]) -> Result<String> {
        let arguments = Self::sbatch_arguments(script, after);
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ended = self.run("sbatch", &words)?;
        // `ID` or `ID;CLUSTER`.
        let id = ended.stdout.trim().split(';').next().unwrap_or_default().to_owned();
        if ended.is_success && !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(id);
        }
        Err(refused(format!("sbatch {}", arguments.join(" ")), &ended))
    }

    /// Cancels jobs by id and by name; what is unknown or over is no error.
    pub fn cancel(&self, ids: &[String], names: &[String]) -> Result<()> {
        for chunk in ids.chunks(100) {
            let words: Vec<&str> = chunk.iter().map(String::as_str).collect();
            self.cancelled(&words)?;
        }
        for name in names {
            self.cancelled(&[&format!("--name={name}")])?;
        }
        Ok(())
    }

    fn cancelled(&self, arguments: &[&str]) -> Result<()> {
        let ended = self.run("scancel", arguments)?;
        let is_over = |line: &str| {
            line.contains("Invalid job id") || line.contains("already completing") || line.trim().is_empty()
        };
        if ended.is_success || ended.stderr.lines().all(is_over) {
            return Ok(());
        }
        Err(refused(format!("scancel {}", arguments.join(" ")), &ended))
    }

    /// All tasks of the named jobs that Slurm has not forgotten. Names, because a list of ids of which
    /// one is forgotten is an error, or an empty table.
    pub fn queue(&self, names: &[String]) -> Result<Vec<Queued>> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let names = format!("--name={}", names.join(","));
        let arguments = ["--noheader", "--array", "--states=all", &names, "--format=%F|%K|%T|%r"];
        let ended = self.run("squeue", &arguments)?;
        if !ended.is_success {
            return Err(refused("squeue".to_owned(), &ended));
        }
        Ok(ended.stdout.lines().filter_map(parse_queued).collect())
    }

    /// What accounting says of jobs by id; nothing where there is none.
    pub fn accounting(&self, ids: &[String]) -> Vec<Queued> {
        if ids.is_empty() {
            return Vec::new();
        }
        let ids = format!("--jobs={}", ids.join(","));
        let arguments = ["-X", "-n", "-P", "--format=jobid,state", &ids];
        let answer = self.run("sacct", &arguments);
        let text = answer.map(|ended| ended.stdout).unwrap_or_default();
        text.lines().filter_map(parse_accounted).collect()
    }

    /// MaxArraySize of the cluster.
    pub fn max_array_size(&self) -> Result<u32> {
        let ended = self.run("scontrol", &["show", "config"])?;
        if !ended.is_success {
            return Err(refused("scontrol show config".to_owned(), &ended));
        }
        let value = ended.stdout.lines().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            (name.trim() == "MaxArraySize").then(|| value.trim().parse().ok())?
        });
        Ok(value.unwrap_or(MAX_ARRAY_SIZE))
    }
}

fn parse_queued(line: &str) -> Option<Queued> {
    // With several clusters squeue says `CLUSTER: name` in between.
    let parts: Vec<&str> = line.trim().splitn(4, '|').collect();
    let [job, index, state, reason] = parts[..] else { return None };
    Some(Queued {
        job: job.to_owned(),
        index: index.parse().ok(),
        state: state.to_owned(),
        reason: reason.to_owned(),
    })
}

fn parse_accounted(line: &str) -> Option<Queued> {
    let (id, state) = line.trim().split_once('|')?;
    let (job, index) = id.split_once('_').unwrap_or((id, ""));
    // `CANCELLED by 1000`
    let state = state.split_whitespace().next()?;
    Some(Queued {
        job: job.to_owned(),
        index: index.parse().ok(),
        state: state.to_owned(),
        reason: String::new(),
    })
}

fn refused(command: String, ended: &Ended) -> Error {
    let said = if ended.stderr.trim().is_empty() { &ended.stdout } else { &ended.stderr };
    let lines: Vec<&str> = said
        .lines()
        .map(|line| line.trim())
        .map(|line| line.split_once(": error: ").map_or(line, |(_, rest)| rest))
        .filter(|line| !line.is_empty())
        .collect();
    let message = if lines.is_empty() { "it said nothing".to_owned() } else { lines.join("; ") };
    let hint = hint_for(&message).to_owned();
    Error::Refused { command, message, hint }
}

fn hint_for(message: &str) -> &'static str {
    let message = message.to_lowercase();
    let cases = [
        ("partition", "correct `partition` in the site file; `sinfo --summarize` lists the partitions"),
        ("account", "correct `account` in the site file; `sacctmgr show associations` lists yours"),
        ("qos", "correct `qos` in the site file; `sacctmgr show qos` lists them"),
        ("unable to contact", "the controller does not answer: try again later, or ask `scontrol ping`"),
        ("configuration source", "set SLURM_CONF, or log in to a machine of the cluster"),
        (
            "node configuration",
            "ask for less in the site file; `sinfo --format='%P %c %m %G'` shows what there is",
        ),
        ("gres", "correct `request` in the site file; `sinfo --format='%P %G'` shows the GPUs"),
        ("time limit", "correct `time` in the site file; `sinfo --format='%P %l'` shows the limits"),
        ("permission", "ask the site for access, or choose another partition or account in the site file"),
    ];
    cases
        .iter()
        .find(|(word, _)| message.contains(word))
        .map_or("correct the site file; `almanac submit --dry-run` shows the scripts", |(_, hint)| hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_arrays_and_jobs_are_told_apart() {
        let task = parse_queued("17|3|RUNNING|None").unwrap();
        assert_eq!((task.job.as_str(), task.index, task.is_alive()), ("17", Some(3), true));
        let job = parse_queued("18|N/A|PENDING|DependencyNeverSatisfied").unwrap();
        assert_eq!((job.index, job.is_hopeless()), (None, true));
        assert_eq!(parse_queued("CLUSTER: gmerlin6"), None);
        assert!(!parse_queued("17|4|CANCELLED|None").unwrap().is_alive());
        let over = parse_accounted("17_4|CANCELLED by 1000").unwrap();
        assert_eq!((over.index, over.state.as_str()), (Some(4), "CANCELLED"));
    }

    #[test]
    fn a_refusal_says_what_to_correct() {
        let ended = Ended {
            is_success: false,
            stdout: String::new(),
            stderr: "sbatch: error: invalid partition specified: nowhere\nsbatch: error: Batch job submission failed: Invalid partition name specified\n".to_owned(),
        };
        let error = refused("sbatch x".to_owned(), &ended);
        assert!(error.to_string().contains("invalid partition specified: nowhere"), "{error}");
        assert!(miette::Diagnostic::help(&error).unwrap().to_string().contains("sinfo"));
    }

    #[test]
    fn dependencies_are_on_success() {
        let arguments =
            Slurm::sbatch_arguments(Path::new("/r/a b.sbatch"), &["1".to_owned(), "2".to_owned()]);
        assert_eq!(arguments, ["--parsable", "--dependency=afterok:1:2", "/r/a b.sbatch"]);
    }
}
