//! The frame around a stage that stands in for a real one: signals, damage, failed records.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use almanac_artifact::Store;
use serde_json::Value;
use tempfile::TempDir;

/// Far less than the grace of a stage with a ledger, far more than a busy machine needs.
const SOON: Duration = Duration::from_secs(6);

struct Stage {
    folder: TempDir,
    work: &'static str,
    ledger: bool,
}

impl Stage {
    fn new(work: &'static str, ledger: bool) -> Self {
        Self { folder: TempDir::new().unwrap(), work, ledger }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn name(&self) -> (&'static str, &'static str) {
        if self.ledger { ("explain", "explanations") } else { ("graph", "graph") }
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("ALMANAC_TEST_WORK", self.work).stdin(Stdio::null());
        if self.ledger {
            command.env("ALMANAC_TEST_LEDGER", "1");
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(program());
        command.args(["run", "--json", "--store"]).arg(self.store()).args(arguments);
        command
    }

    /// Starts the stage and waits until it is at work.
    fn start(&self, arguments: &[&str]) -> Child {
        let child = self.run(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        self.wait_for_work();
        child
    }

    fn wait_for_work(&self) {
        let staging = self.store().join(".staging");
        let at_work = || {
            let folders = std::fs::read_dir(&staging).into_iter().flatten().flatten();
            folders.map(|folder| folder.path().join("data")).any(|file| file.is_file())
        };
        within(Duration::from_secs(60), at_work);
    }

    /// Runs the stage to its end: `state` of its report, and standard error.
    fn finish(&self, arguments: &[&str]) -> (String, String) {
        let Output { status, stdout, stderr } = self.run(arguments).output().unwrap();
        let stderr = String::from_utf8(stderr).unwrap();
        assert!(status.success(), "{stderr}");
        let report: Value = serde_json::from_slice(&stdout).unwrap();
        (report["state"].as_str().unwrap().to_owned(), stderr)
    }

    fn last_run(&self) -> Value {
        let runs = std::fs::read_dir(self.store().join("runs")).unwrap();
        let newest = runs.map(|entry| entry.unwrap().path()).max().unwrap();
        serde_json::from_slice(&std::fs::read(newest).unwrap()).unwrap()
    }

    fn staged(&self) -> usize {
        std::fs::read_dir(self.store().join(".staging")).unwrap().count()
    }

    /// The file of the current artifact.
    fn data(&self) -> PathBuf {
        let (stage, artifact) = self.name();
        let store = Store::open(&self.store()).unwrap();
        store.current("default", artifact, stage).unwrap().folder().join("data")
    }

    fn reference(&self) -> PathBuf {
        self.store().join(format!("refs/default/{}.json", self.name().1))
    }
}

/// Cargo builds examples beside the folder of the test programs.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples/stand_in")
}

#[track_caller]
fn within(limit: Duration, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < limit, "waited too long");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

/// The exit code of a child that ends soon.
#[track_caller]
fn ends_soon(child: &mut Child) -> Option<i32> {
    let mut status = None;
    within(SOON, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    status.and_then(|status| status.code())
}

#[test]
fn a_signal_ends_work_that_never_looks_up() {
    for name in ["-TERM", "-INT", "-USR1"] {
        let stage = Stage::new("blind", false);
        let mut child = stage.start(&[]);
        signal(name, child.id());
        assert_eq!(ends_soon(&mut child), Some(75), "{name}");
        let report: Value = serde_json::from_reader(child.stdout.unwrap()).unwrap();
        assert_eq!(report["state"], "interrupted");
        assert_eq!(stage.last_run()["state"], "interrupted");
        assert_eq!(stage.staged(), 0);
        assert!(!stage.reference().exists());
    }
}

#[test]
fn work_that_keeps_records_gets_time_to_flush_and_no_more() {
    let stage = Stage::new("blind", true);
    let mut child = stage.start(&[]);
    signal("-TERM", child.id());
    let asked = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(75));
    assert!(asked.elapsed() >= Duration::from_secs(9), "{:?}", asked.elapsed());
    assert_eq!(stage.last_run()["state"], "interrupted");

    let stage = Stage::new("minding", true);
    let mut child = stage.start(&[]);
    signal("-TERM", child.id());
    assert_eq!(ends_soon(&mut child), Some(75));
    assert_eq!(stage.last_run()["state"], "interrupted");
    assert_eq!(stage.last_run()["counts"]["total"], 5, "what the stage itself has counted");
    assert_eq!(stage.staged(), 0);
}

#[test]
fn a_second_interrupt_ends_at_once() {
    let stage = Stage::new("blind", true);
    let mut child = stage.start(&[]);
    signal("-INT", child.id());
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(child.try_wait().unwrap(), None);
    signal("-INT", child.id());
    assert_eq!(ends_soon(&mut child), Some(130));
}

#[test]
fn a_stage_does_not_outlive_the_driver_that_started_it() {
    let stage = Stage::new("blind", false);
    let mut driver = stage
        .command("sh")
        .args(["-c", "\"$0\" run --store \"$1\" --end-with-parent $$ & echo $!; wait"])
        .arg(program())
        .arg(stage.store())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(driver.stdout.take().unwrap()), &mut line)
        .unwrap();
    stage.wait_for_work();
    driver.kill().unwrap();
    driver.wait().unwrap();
    // Adopted by whoever adopts orphans here; gone, or not yet waited for.
    let state = PathBuf::from(format!("/proc/{}/stat", line.trim()));
    within(SOON, || std::fs::read_to_string(&state).map_or(true, |stat| stat.contains(") Z ")));
    assert_eq!(stage.last_run()["state"], "interrupted");
    assert_eq!(stage.staged(), 0);

    // A driver that is gone before the stage could watch it: process 1 is not the parent here.
    let output = stage.run(&["--end-with-parent", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(75));
}

#[test]
fn a_killed_run_leaves_nothing_that_the_next_does_not_sweep() {
    let stage = Stage::new("blind", false);
    let mut child = stage.start(&[]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(stage.staged(), 1);
    let next = Stage { work: "quick", ..stage };
    assert_eq!(next.finish(&[]).0, "done");
    assert_eq!(next.staged(), 0);
}

#[test]
fn damage_that_keeps_the_length_is_found_by_verifying() {
    for ledger in [false, true] {
        let stage = Stage::new("quick", ledger);
        assert_eq!(stage.finish(&[]).0, "done");
        let data = stage.data();
        let mut bytes = std::fs::read(&data).unwrap();
        bytes[500] ^= 1;
        std::fs::write(&data, bytes).unwrap();
        assert_eq!(stage.finish(&[]).0, "fresh", "lengths are right");
        let (state, stderr) = stage.finish(&["--verify"]);
        assert_eq!(state, "done");
        assert!(stderr.contains("set aside"), "{stderr}");
        assert_eq!(std::fs::read(stage.data()).unwrap(), [7; 1000]);
        assert_eq!(stage.finish(&["--verify"]).0, "fresh");
        assert_eq!(std::fs::read_dir(stage.store().join(".damaged")).unwrap().count(), 1);
    }
}

#[test]
fn forcing_replaces_a_damaged_artifact() {
    let stage = Stage::new("quick", false);
    stage.finish(&[]);
    std::fs::write(stage.data(), [8; 1000]).unwrap();
    assert_eq!(stage.finish(&["--force"]).0, "done");
    assert_eq!(std::fs::read(stage.data()).unwrap(), [7; 1000]);
}

#[test]
fn a_manifest_that_contradicts_itself_is_set_aside() {
    let stage = Stage::new("quick", false);
    stage.finish(&[]);
    let manifest = stage.data().with_file_name("manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replacen("\"revision\": 1", "\"revision\": 9", 1)).unwrap();
    assert_eq!(stage.finish(&[]).0, "done");
    assert_eq!(std::fs::read_to_string(&manifest).unwrap(), text);
}

#[test]
fn a_damaged_ref_counts_as_none_and_is_written_anew() {
    for ledger in [false, true] {
        let stage = Stage::new("quick", ledger);
        stage.finish(&[]);
        let text = std::fs::read_to_string(stage.reference()).unwrap();
        for damaged in ["", "garbage", &text[..text.len() / 2]] {
            std::fs::write(stage.reference(), damaged).unwrap();
            let (state, stderr) = stage.finish(&[]);
            // Without a ledger the artifact is found by its key, and only the ref moves.
            assert_eq!(state, if ledger { "done" } else { "fresh" });
            assert_eq!(stderr.matches("written anew").count(), 1, "{stderr}");
            assert_eq!(stage.finish(&[]).0, "fresh");
        }
    }
}

#[test]
fn failed_records_are_work_only_for_who_retries_them() {
    let stage = Stage::new("quick", true);
    stage.finish(&[]);
    let current = Store::open(&stage.store()).unwrap().read_ref("default", "explanations").unwrap().unwrap();
    assert_eq!((current.complete, current.failed), (true, 2));
    assert_eq!(stage.finish(&[]).0, "fresh");
    assert_eq!(stage.finish(&["--set", "explain.run.retry_failed=true"]).0, "done");
}

#[test]
fn a_file_is_no_store() {
    let stage = Stage::new("quick", false);
    std::fs::write(stage.store(), "text").unwrap();
    let output = stage.run(&[]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(78), "{stderr}");
    assert!(stderr.contains("is a file") && stderr.contains("--store"), "{stderr}");
    assert!(Path::new(&stage.store()).is_file());
}
