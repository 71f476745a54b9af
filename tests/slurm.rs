//! `almanac submit`, `status` and `cancel` on a real Slurm: a controller and two node daemons that
//! these tests start on this machine.

#[path = "slurm/accidents.rs"]
mod accidents;
#[path = "slurm/cluster.rs"]
mod cluster;
#[path = "slurm/tiny_models.rs"]
mod tiny_models;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use almanac_tests::{Bench, RECORDS, Run, binary, repository_root};
use cluster::{Cluster, cluster, job, path_without_slurm};
use serde_json::Value;

/// Two records a task, so that a few records make an array.
const SITE: &str = r#"
description = "the test cluster"
[slurm]
max_requeues = 3
[resources.cpu]
cpus = 1
memory = ""
[resources.gpu]
cpus = 1
memory = ""
gpus = 0
request = []
[stages.explain]
target_minutes = 1
records_per_minute = 2.0
[stages.entities]
target_minutes = 1
records_per_minute = 2.0
"#;

/// Tasks of a job in a state.
fn count(run: &Value, name: &str, state: &str) -> u64 {
    job(run, name)["tasks"][state].as_u64().unwrap_or(0)
}

/// A bench that is built up to the graph, so that explain is next.
fn before_explain(cluster: &Cluster) -> Bench {
    let bench = Bench::with_picolib();
    cluster.build(&bench, RECORDS, &["--until", "graph"]).exits(0);
    bench
}

/// A bench with a whole store.
fn built_bench(cluster: &Cluster) -> Bench {
    let bench = Bench::with_picolib();
    cluster.build(&bench, RECORDS, &[]).exits(0);
    bench
}

/// Logs of a stage's jobs, its commit's too; a task's is there once its node has begun with it.
fn logs(bench: &Bench, stage: &str) -> Vec<PathBuf> {
    let within = |folder: &Path| {
        let entries = fs_err::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let runs = within(&bench.store().join("runs"));
    let logs = runs.iter().flat_map(|run| within(&run.join("logs")));
    let prefix = format!("{stage}-");
    logs.filter(|log| log.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)))
        .collect()
}

#[test]
fn a_chain_of_jobs_gives_what_build_gives_byte_for_byte() {
    let cluster = cluster();
    let built = built_bench(&cluster);
    let bench = Bench::with_picolib();
    let submitted = cluster.submit(&bench, SITE, RECORDS, &[]).exits(0).json();
    assert_eq!(submitted["submitted"], true);
    let run = cluster.wait(&bench);
    assert_eq!(run["is_done"], true, "{run:#}");
    assert_eq!(count(&run, "explain", "done"), 2, "three records, two a task");
    assert_eq!(bench.artifact_bytes(), built.artifact_bytes());
    assert_eq!(bench.made("explain"), u64::from(RECORDS));
    assert_eq!(bench.made("entities"), built.made("entities"));

    let again = cluster.submit(&bench, SITE, RECORDS, &[]).exits(0).json();
    assert_eq!(again["submitted"], false, "{again:#}");
    assert_eq!(again["jobs"], serde_json::json!([]));
}

#[test]
fn a_workstation_does_the_same_in_several_processes() {
    let cluster = cluster();
    let one = built_bench(&cluster);
    let bench = Bench::with_picolib();
    cluster.build(&bench, RECORDS, &["--jobs", "2"]).exits(0);
    assert_eq!(bench.artifact_bytes(), one.artifact_bytes());
    for stage in ["explain", "entities", "embed"] {
        assert_eq!(bench.made(stage), one.made(stage), "{stage}: each record once");
    }
    assert_eq!(bench.runs("explain"), 3, "two tasks and a commit");
    let again = cluster.build(&bench, RECORDS, &["--jobs", "2"]).exits(0).json();
    assert_eq!(again["ran"], serde_json::json!([]));
}

#[test]
fn every_level_in_several_tasks_gives_what_build_gives() {
    let cluster = cluster();
    let built = Bench::with_picolib();
    cluster.build(&built, 0, &[]).exits(0);
    let bench = Bench::with_picolib();
    // Rates that give each array some tasks.
    let site =
        SITE.replace("= 2.0", "= 20.0") + "[stages.embed]\ntarget_minutes = 1\nrecords_per_minute = 60.0\n";
    let submitted = cluster.submit(&bench, &site, 0, &[]).exits(0).json();
    let jobs = submitted["jobs"].as_array().unwrap();
    for label in ["explain", "entities-files", "entities-call_chains", "embed"] {
        let tasks: u64 =
            jobs.iter().filter(|job| job["label"] == label).map(|job| job["tasks"].as_u64().unwrap()).sum();
        assert!(tasks > 1, "{label} in {tasks} task: {submitted:#}");
    }
    let run = cluster.wait(&bench);
    assert_eq!(run["is_done"], true, "{run:#}");
    assert_eq!(bench.artifact_bytes(), built.artifact_bytes());
    for stage in ["explain", "entities", "embed"] {
        assert_eq!(bench.made(stage), built.made(stage), "{stage}: no record twice");
    }
}

#[test]
fn one_changed_file_submits_what_is_stale_with_one_task() {
    let cluster = cluster();
    let bench = built_bench(&cluster);
    let built = built_bench(&cluster);
    for bench in [&bench, &built] {
        bench.edit("src/Field/Field.hpp", "{", "{ // edited\n");
    }
    let submitted = cluster.submit(&bench, SITE, RECORDS, &[]).exits(0).json();
    let tasks = |name: &str| job(&submitted, name)["tasks"].as_u64().unwrap();
    assert_eq!((tasks("explain"), tasks("entities-files"), tasks("embed")), (1, 1, 1));
    let run = cluster.wait(&bench);
    assert_eq!(run["is_done"], true, "{run:#}");
    cluster.build(&built, RECORDS, &[]).exits(0);
    assert_eq!(bench.artifact_bytes(), built.artifact_bytes());
    let again = cluster.submit(&bench, SITE, RECORDS, &[]).exits(0).json();
    assert_eq!(again["submitted"], false, "{again:#}");
}

#[test]
fn a_task_gets_the_gpu_that_its_site_asks_for() {
    let cluster = cluster();
    let bench = before_explain(&cluster);
    let site = SITE.replace("gpus = 0\nrequest = []", "gpus = 1\nrequest = ['--gres=gpu:a100:1']")
        + "[environment]\nsetup = ['echo GPU $CUDA_VISIBLE_DEVICES']\n";
    let submitted = cluster.submit(&bench, &site, 6, &["--until", "explain"]).exits(0).json();
    let tasks = job(&submitted, "explain")["tasks"].as_u64().unwrap();
    let run = cluster.wait(&bench);
    assert_eq!(run["is_done"], true, "{run:#}");
    let said: Vec<String> =
        logs(&bench, "explain").iter().map(|log| fs_err::read_to_string(log).unwrap()).collect();
    // Each node has one, number 0 there. The commit gets none, and may use a variable that is not set.
    assert_eq!(said.iter().filter(|text| text.contains("GPU 0\n")).count() as u64, tasks, "{said:?}");
    assert!(run["gpu_hours"].as_f64().unwrap() > 0.0, "{run:#}");

    let absent = site.replace("a100", "h100");
    refused(&cluster, cluster.submit(&bench, &absent, 12, &["--until", "explain"]), 69, "%P %c %m %G");
}

#[test]
fn of_two_submissions_at_once_one_is_refused() {
    let cluster = cluster();
    let bench = before_explain(&cluster);
    fs_err::write(bench.path("site.toml"), SITE).unwrap();
    let tree = bench.tree();
    let site = bench.path("site.toml");
    let arguments = ["submit", "--source", tree.to_str().unwrap(), "--site", site.to_str().unwrap()];
    let started: Vec<_> = (0..2)
        .map(|_| {
            let mut command = cluster.command(&bench, "slow", &arguments);
            command
                .args(["--max-records", "6"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut runs: Vec<Run> =
        started.into_iter().map(|child| Run::from(child.wait_with_output().unwrap())).collect();
    runs.sort_by_key(|run| run.code);
    assert_eq!((runs[0].code, runs[1].code), (0, 69), "{}\n{}", runs[0].stderr, runs[1].stderr);
    // And one that comes later.
    let refused = cluster.submit_with("slow", &bench, SITE, 6, &[]).exits(69);
    assert!(refused.stderr.contains("almanac cancel"), "{}", refused.stderr);
    let cancelled = cluster.almanac(&bench, &["cancel"]).exits(0).json();
    assert_eq!(cancelled["jobs"].as_array().unwrap().len(), job_count(&cluster, &bench));
    assert_eq!(cluster.wait(&bench)["outcome"], "cancelled");
    cluster.wait_for("an empty queue", || cluster.slurm("squeue", &["-h"]).is_empty());
}

fn job_count(cluster: &Cluster, bench: &Bench) -> usize {
    cluster.newest(bench)["jobs"].as_array().unwrap().len()
}

#[test]
fn more_tasks_than_an_array_may_have_are_several_arrays() {
    let cluster = cluster();
    let bench = before_explain(&cluster);
    let site = SITE.replacen("records_per_minute = 2.0", "records_per_minute = 1.0", 1);
    let submitted = cluster.submit(&bench, &site, 5, &["--until", "explain"]).exits(0).json();
    // MaxArraySize is 4 here, so an array has three tasks at most.
    let tasks = |name: &str| job(&submitted, name)["tasks"].as_u64().unwrap();
    assert_eq!((tasks("explain-1"), tasks("explain-2")), (3, 2));
    let run = cluster.wait(&bench);
    assert_eq!(run["is_done"], true, "{run:#}");
    assert_eq!(bench.made("explain"), 5);
}

#[test]
fn a_stage_that_fails_ends_the_run_and_says_why() {
    let cluster = cluster();
    let bench = Bench::with_picolib();
    for node in ["n1", "n2"] {
        cluster.slurm("scontrol", &["update", &format!("nodename={node}"), "state=drain", "reason=test"]);
    }
    cluster.submit(&bench, SITE, RECORDS, &[]).exits(0);
    fs_err::rename(bench.tree(), bench.path("elsewhere")).unwrap();
    for node in ["n1", "n2"] {
        cluster.slurm("scontrol", &["update", &format!("nodename={node}"), "state=resume"]);
    }
    let run = cluster.wait(&bench);
    assert_eq!(run["is_done"], false);
    let failure = &job(&run, "parse")["failures"][0];
    assert_eq!(failure["exit"], 66, "{run:#}");
    assert!(failure["tail"].to_string().contains("is not a folder"), "{failure:#}");
    assert_eq!(count(&run, "index", "never_ran"), 1, "{run:#}");
    assert!(run["next"].as_str().unwrap().contains(bench.store().to_str().unwrap()), "{run:#}");
    cluster.wait_for("an empty queue", || cluster.slurm("squeue", &["-h"]).is_empty());
}

/// Fails with this code, leaves nothing in the queue and says this.
#[track_caller]
fn refused(cluster: &Cluster, run: Run, code: i32, words: &str) {
    let run = run.exits(code);
    assert!(run.stderr.contains(words), "{}", run.stderr);
    assert_eq!(cluster.slurm("squeue", &["-h"]), "");
}

#[test]
fn what_the_cluster_refuses_is_said_and_nothing_is_half_submitted() {
    let cluster = cluster();
    let bench = before_explain(&cluster);
    let unknown = SITE.replace("[resources.gpu]", "[resources.gpu]\npartition = 'nowhere'");
    refused(&cluster, cluster.submit(&bench, &unknown, 1, &[]), 69, "invalid partition specified: nowhere");
    let later = SITE.replace("[resources.cpu]", "[resources.cpu]\npartition = 'nowhere'");
    // The explain array is in the queue before its commit is refused.
    refused(&cluster, cluster.submit(&bench, &later, 1, &[]), 69, "none of its jobs is in the queue");
    let large = SITE.replace("cpus = 1", "cpus = 500");
    refused(&cluster, cluster.submit(&bench, &large, 1, &[]), 69, "More processors requested than permitted");
    let typo = SITE.replace("max_requeues", "max_requeue");
    refused(&cluster, cluster.submit(&bench, &typo, 1, &[]), 78, "did you mean `max_requeues`?");

    let gone = bench.path("gone.conf");
    let conf = fs_err::read_to_string(cluster.conf()).unwrap();
    fs_err::write(&gone, conf.replace("SlurmctldPort=", "SlurmctldPort=1")).unwrap();
    let site = bench.path("site.toml");
    fs_err::write(&site, SITE).unwrap();
    let tree = bench.tree();
    let arguments = ["submit", "--source", tree.to_str().unwrap(), "--site", site.to_str().unwrap()];
    let output = cluster.command(&bench, "tiny", &arguments).env("SLURM_CONF", &gone).output().unwrap();
    refused(&cluster, Run::from(output), 69, "Unable to contact slurm controller");
    let empty = path_without_slurm(&bench.path("bin"));
    let output = cluster.command(&bench, "tiny", &arguments).env("PATH", empty).output().unwrap();
    refused(&cluster, Run::from(output), 69, "Slurm is not installed here");
}

#[test]
fn gpu_hours_buy_the_most_important_records() {
    let cluster = cluster();
    let bench = before_explain(&cluster);
    // Two records a minute and no GPU, so an hour is a task's: 0.05 hours are six records.
    let dry = cluster
        .submit(&bench, SITE, 0, &["--dry-run", "--until", "explain", "--max-gpu-hours", "0.05"])
        .exits(0)
        .json();
    let limit = |text: &Value| {
        let text = text.as_str().unwrap();
        let (_, rest) = text.split_once("--max-records ").unwrap_or_else(|| panic!("{text}"));
        rest.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    let explain = limit(&dry["scripts"][0]["text"]);
    assert!((1..=6).contains(&explain), "{explain}");
    assert_eq!(limit(&dry["scripts"][1]["text"]), explain, "the commit has the same limit");
    assert!(job(&dry, "explain")["records"].as_u64().unwrap() <= explain);
}

#[test]
fn a_store_that_cannot_be_written_submits_nothing() {
    let cluster = cluster();
    let bench = before_explain(&cluster);
    fs_err::remove_dir_all(bench.store().join("runs")).unwrap();
    fs_err::write(bench.store().join("runs"), "a file where a folder should be").unwrap();
    refused(&cluster, cluster.submit(&bench, SITE, 1, &[]), 74, "runs");
}

#[test]
fn a_dry_run_prints_everything_and_writes_nothing() {
    let cluster = cluster();
    let bench = Bench::with_picolib();
    let dry = cluster.submit(&bench, SITE, RECORDS, &["--dry-run"]).exits(0).json();
    assert!(!bench.store().exists());
    let scripts = dry["scripts"].as_array().unwrap();
    let jobs: Vec<&str> =
        dry["jobs"].as_array().unwrap().iter().map(|job| job["name"].as_str().unwrap()).collect();
    assert_eq!(
        jobs,
        [
            "parse",
            "graph",
            "explain",
            "explain-commit",
            "entities-files",
            "entities-modules",
            "entities-call_chains",
            "entities-commit",
            "embed",
            "embed-commit",
            "index"
        ]
    );
    assert_eq!(scripts.len(), jobs.len());
    for (script, name) in scripts.iter().zip(&jobs) {
        assert!(script["text"].as_str().unwrap().contains("#SBATCH --kill-on-invalid-dep=yes"), "{name}");
    }
    assert!(scripts[1]["command"].as_str().unwrap().contains("--dependency=afterok:<parse>"));
    assert_eq!(cluster.slurm("squeue", &["-h"]), "");
}

#[test]
fn a_clean_run_makes_artifacts_anew_and_records_only_when_they_are_forgotten() {
    let cluster = cluster();
    let bench = built_bench(&cluster);
    let before = (bench.made("explain"), bench.artifact_bytes());
    cluster.submit(&bench, SITE, RECORDS, &["--clean", "--until", "explain"]).exits(0);
    assert_eq!(cluster.wait(&bench)["is_done"], true);
    assert_eq!(bench.made("explain"), before.0, "the ledger is kept");
    cluster.submit(&bench, SITE, RECORDS, &["--clean", "--forget-records", "--until", "explain"]).exits(0);
    assert_eq!(cluster.wait(&bench)["is_done"], true);
    assert_eq!(bench.made("explain"), before.0 + u64::from(RECORDS));
    assert_eq!(bench.artifact_bytes(), before.1);
}

#[test]
fn a_person_can_submit_each_stage_by_hand() {
    let cluster = cluster();
    let bench = Bench::with_picolib();
    let bin = binary("almanac").parent().unwrap().to_owned();
    let by_hand = |stage: &str, options: &[&str]| {
        let log = format!("--output={}", bench.path(&format!("{stage}-%a.log")).display());
        let status = Command::new("sbatch")
            .args(["--wait", "--cpus-per-task=1", &log])
            .args(options)
            .arg(format!("slurm/{stage}.sbatch"))
            .current_dir(repository_root())
            .env("SLURM_CONF", cluster.conf())
            .env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()))
            .env("ALMANAC_STORE", bench.store())
            .env("ALMANAC_CONFIG", cluster.config())
            .env("ALMANAC_MODELS__LLM", "tiny")
            .env("ALMANAC_EXPLAIN__RUN__MAX_RECORDS", "2")
            .env("ALMANAC_EXPLAIN__PARAMS__FORMAT", "text")
            .env("ALMANAC_EXPLAIN__PARAMS__CONTEXT_TOKENS", "160")
            .env("ALMANAC_EXPLAIN__PARAMS__MAX_TOKENS", "16")
            .output()
            .unwrap();
        assert!(status.status.success(), "{stage}: {}", String::from_utf8_lossy(&status.stderr));
    };
    let source = format!("--export=ALL,source={}", bench.tree().display());
    by_hand("parse", &[&source]);
    by_hand("graph", &[]);
    by_hand("explain", &["--array=1-2"]);
    assert_eq!(bench.made("explain"), 2);
    assert_eq!(
        bench
            .rows::<almanac_tables::Explanation>("explanations")
            .iter()
            .filter(|row| !row.text.is_empty())
            .count(),
        2
    );
}

#[test]
fn every_script_is_shellcheck_clean() {
    let files = fs_err::read_dir(repository_root().join("slurm")).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "sbatch" || extension == "sh"))
        .collect();
    assert_eq!(scripts.len(), 7, "task.sh and a file for each stage");
    scripts.push(repository_root().join("tests/slurm/cluster.sh"));
    let output = Command::new("shellcheck").arg("-x").args(&scripts).current_dir(repository_root()).output();
    let output = output.expect("shellcheck is installed by `bash tests/run.sh`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
