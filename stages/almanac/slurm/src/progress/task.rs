//! State of one task, from its file, the queue and accounting.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Queued;

/// State of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Succeeded.
    Done,
    /// At work.
    Running,
    /// Stopped with everything saved, to be started again.
    Requeued,
    /// In the queue.
    Waiting,
    /// Ended by itself without success.
    Failed,
    /// Ended by somebody else: cancelled, node failure, memory, time.
    Lost,
    /// Left the queue before it began.
    NeverRan,
}

/// What a task writes about itself (`slurm/task.sh`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct TaskFile {
    pub(super) state: String,
    pub(super) exit: i32,
    pub(super) restarts: u32,
}

impl TaskFile {
    /// Reads a task's file; none when it has not begun.
    pub(super) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs_err::read(path).ok()?).ok()
    }
}

/// State of a task, and why. `queued` is `None` when Slurm does not answer, `Some(None)` when it
/// does and does not know the task.
#[allow(clippy::option_option)]
pub(super) fn judge(
    written: Option<&TaskFile>,
    queued: Option<&Option<Queued>>,
    accounted: Option<&Queued>,
) -> (TaskState, String) {
    let in_queue = queued.and_then(Option::as_ref);
    if let Some(task) = in_queue
        && task.is_alive()
        && written.is_none_or(|written| written.state != "done")
    {
        return alive(task, written);
    }
    let Some(written) = written else {
        return match (queued, in_queue.or(accounted)) {
            (None, _) => (TaskState::Waiting, "Slurm does not answer".to_owned()),
            (Some(_), Some(task)) if began(task) => (TaskState::Lost, words(&task.state)),
            (Some(_), _) => (TaskState::NeverRan, String::new()),
        };
    };
    let ended = in_queue.or(accounted).map_or("", |task| task.state.as_str());
    match written.state.as_str() {
        "done" => (TaskState::Done, String::new()),
        "running" if queued.is_none() => (TaskState::Running, String::new()),
        "requeued" if queued.is_none() => (TaskState::Requeued, String::new()),
        "failed" => (TaskState::Failed, meaning(written.exit)),
        "interrupted" if ended.is_empty() => {
            (TaskState::Lost, "ended from outside, with everything saved".to_owned())
        }
        _ => (TaskState::Lost, words(ended)),
    }
}

fn alive(task: &Queued, written: Option<&TaskFile>) -> (TaskState, String) {
    if task.state == "PENDING" || task.state.starts_with("REQUEUE") {
        let state = if task.is_hopeless() {
            TaskState::NeverRan
        } else if written.is_some() {
            TaskState::Requeued
        } else {
            TaskState::Waiting
        };
        return (state, task.reason.clone());
    }
    (TaskState::Running, String::new())
}

/// Whether a task that is over had begun: a cancelled one without a file had not.
fn began(task: &Queued) -> bool {
    !task.state.starts_with("CANCELLED")
}

/// A state of Slurm in words.
fn words(state: &str) -> String {
    let cases = [
        ("CANCELLED", "cancelled"),
        ("TIMEOUT", "reached its walltime before it could save; finished records are kept"),
        ("OUT_OF_MEMORY", "ran out of memory; ask for more in the site file"),
        ("NODE_FAIL", "its node failed"),
        ("BOOT_FAIL", "its node did not start"),
        ("PREEMPTED", "was pre-empted"),
        ("FAILED", "failed before it could say why; see the log"),
    ];
    cases.iter().find(|(name, _)| state.starts_with(name)).map_or_else(
        || "left the queue without a word: killed, or its node failed".to_owned(),
        |(_, words)| (*words).to_owned(),
    )
}

/// An exit code in words; the table of the README.
fn meaning(exit: i32) -> String {
    let words = match exit {
        1 => "a bug: please report",
        2 => "bad command line",
        65 => "malformed input or a damaged artifact",
        66 => "something it needs is not there",
        69 => "a model, program or device is not available",
        74 => "the file system refused: permission, quota, disk",
        75 => "interrupted, and not started again",
        78 => "invalid configuration",
        126 | 127 => "the program could not be started",
        137 => "killed, most often for memory",
        143 => "ended by SIGTERM",
        _ => "see the log",
    };
    format!("exit {exit}: {words}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(state: &str, exit: i32) -> TaskFile {
        TaskFile { state: state.to_owned(), exit, restarts: 0 }
    }

    fn queued(state: &str, reason: &str) -> Queued {
        Queued { job: "1".to_owned(), index: Some(1), state: state.to_owned(), reason: reason.to_owned() }
    }

    fn state(written: Option<TaskFile>, queued: Option<Option<Queued>>) -> TaskState {
        judge(written.as_ref(), queued.as_ref(), None).0
    }

    #[test]
    fn a_task_that_wrote_done_is_done_whatever_the_queue_says() {
        for queue in
            [None, Some(None), Some(Some(queued("COMPLETED", "None"))), Some(Some(queued("COMPLETING", "")))]
        {
            assert_eq!(state(Some(file("done", 0)), queue), TaskState::Done);
        }
    }

    #[test]
    fn the_queue_tells_a_running_task_from_a_killed_one() {
        let running = || Some(file("running", 0));
        assert_eq!(state(running(), Some(Some(queued("RUNNING", "None")))), TaskState::Running);
        assert_eq!(state(running(), Some(Some(queued("PENDING", "BeginTime")))), TaskState::Requeued);
        assert_eq!(state(running(), Some(None)), TaskState::Lost);
        assert_eq!(state(running(), Some(Some(queued("NODE_FAIL", "None")))), TaskState::Lost);
        assert_eq!(state(running(), None), TaskState::Running);
    }

    #[test]
    fn a_task_without_a_file_waits_or_never_ran() {
        assert_eq!(state(None, Some(Some(queued("PENDING", "Dependency")))), TaskState::Waiting);
        assert_eq!(
            state(None, Some(Some(queued("PENDING", "DependencyNeverSatisfied")))),
            TaskState::NeverRan
        );
        // A pending task that was cancelled by itself leaves no record at all.
        assert_eq!(state(None, Some(None)), TaskState::NeverRan);
        assert_eq!(state(None, None), TaskState::Waiting);
        assert_eq!(state(None, Some(Some(queued("FAILED", "None")))), TaskState::Lost);
    }

    #[test]
    fn a_failure_says_what_its_code_means() {
        let (state, why) = judge(Some(&file("failed", 69)), Some(&None), None);
        assert_eq!(state, TaskState::Failed);
        assert!(why.starts_with("exit 69: a model"), "{why}");
        let lost = queued("OUT_OF_MEMORY", "");
        assert!(judge(Some(&file("running", 0)), Some(&None), Some(&lost)).1.contains("memory"));
    }
}
