//! What happens to tasks while they work: walltime, cancellation, a node that dies, preemption. No finished
//! record is lost, and none is made twice.

use std::time::Duration;

use almanac_tests::Bench;

use super::cluster::{Cluster, cluster, job};
use super::{SITE, before_explain, logs};

/// Waits until a task of explain has flushed a record, and gives the index of a task that runs.
fn running_task(cluster: &Cluster, bench: &Bench, records: usize) -> String {
    let ledger = bench.store().join("ledger/explanations");
    let files = || {
        let entries = fs_err::read_dir(&ledger).map(|entries| entries.flatten().collect::<Vec<_>>());
        entries
            .unwrap_or_default()
            .iter()
            .filter(|e| !e.file_name().to_string_lossy().starts_with('.'))
            .count()
    };
    let mut task = String::new();
    cluster.wait_for("a record", || {
        let running = cluster.slurm("squeue", &["-h", "-r", "-t", "running", "-o", "%j %F_%K"]);
        let line = running.lines().find(|line| line.contains("-explain "));
        task = line.and_then(|line| line.split_whitespace().nth(1)).unwrap_or_default().to_owned();
        files() >= records && !task.is_empty()
    });
    task
}

/// How many tasks of a stage have begun.
fn begun_tasks(bench: &Bench, stage: &str) -> u64 {
    logs(bench, stage).len() as u64
}

#[test]
fn a_task_whose_walltime_ends_is_started_again_alone() {
    let cluster = cluster();
    let bench = before_explain(&cluster);
    // Six records a task: the one that is told to end has work for seconds when its first is there.
    let site = SITE.replace("records_per_minute = 2.0", "records_per_minute = 6.0");
    cluster.submit_with("slow", &bench, &site, 12, &["--until", "explain"]).exits(0);
    // By then every task has begun to work.
    let task = running_task(&cluster, &bench, 4);
    // What Slurm sends `--signal=B:USR1@…` before the walltime.
    cluster.slurm("scancel", &["--batch", "--signal=USR1", &task]);
    let run = cluster.wait(&bench);
    assert_eq!(run["is_done"], true, "{run:#}");
    assert_eq!(job(&run, "explain")["restarts"], 1);
    assert_eq!(bench.made("explain"), 12, "no record twice");
}

#[test]
fn cancelled_tasks_and_another_array_size_lose_nothing() {
    let cluster = cluster();
    let bench = before_explain(&cluster);
    cluster.submit_with("slow", &bench, SITE, 6, &["--until", "explain"]).exits(0);
    let task = running_task(&cluster, &bench, 2);
    let (array, _) = task.split_once('_').unwrap();
    cluster.slurm("scancel", &[array]);
    let run = cluster.wait(&bench);
    assert_eq!(run["is_done"], false);
    assert!(run["next"].as_str().unwrap().starts_with("almanac submit --source"), "{run:#}");
    let before = bench.made("explain");
    assert!((1..6).contains(&before), "{before} made before the cancellation");

    let slower = SITE.replace("records_per_minute = 2.0", "records_per_minute = 100.0");
    let again = cluster.submit_with("slow", &bench, &slower, 6, &["--until", "explain"]).exits(0).json();
    let counted = job(&again, "explain")["records"].as_u64().unwrap();
    assert!(counted < 6, "{counted}: the stage counts what is left");
    let run = cluster.wait(&bench);
    assert_eq!(run["is_done"], true, "{run:#}");
    assert_eq!(bench.made("explain"), 6, "no record twice");
}

#[test]
fn a_node_daemon_that_crashes_costs_nothing() {
    let cluster = cluster();
    let bench = before_explain(&cluster);
    let submitted = cluster.submit_with("slow", &bench, SITE, 6, &["--until", "explain"]).exits(0).json();
    // A script whose daemon dies before it began is missed by Slurm only half an hour later.
    let tasks = job(&submitted, "explain")["tasks"].as_u64().unwrap();
    cluster.wait_for("every task to begin", || begun_tasks(&bench, "explain") >= tasks);
    cluster.kill_node_daemon("n1");
    std::thread::sleep(Duration::from_secs(1));
    cluster.start_node_daemon("n1");
    let run = cluster.wait(&bench);
    assert_eq!(run["is_done"], true, "{run:#}");
    assert_eq!(bench.made("explain"), 6);
}

#[test]
fn tasks_that_are_preempted_are_started_again_and_make_no_record_twice() {
    let cluster = cluster();
    let bench = before_explain(&cluster);
    let submitted = cluster.submit_with("slow", &bench, SITE, 6, &["--until", "explain"]).exits(0).json();
    let tasks = job(&submitted, "explain")["tasks"].as_u64().unwrap();
    cluster.wait_for("every task to begin", || begun_tasks(&bench, "explain") >= tasks);
    // A job of a partition that goes first takes both nodes.
    let urgent = ["--partition=urgent", "--nodes=2", "--exclusive", "--output=/dev/null", "--wrap=sleep 2"];
    assert!(cluster.slurm("sbatch", &urgent).starts_with("Submitted"));
    let run = cluster.wait(&bench);
    assert_eq!(run["is_done"], true, "{run:#}");
    let restarts = job(&run, "explain")["restarts"].as_u64().unwrap();
    assert!(restarts > 0, "nothing was preempted: {run:#}");
    assert_eq!(bench.made("explain"), 6, "no record twice");
}
