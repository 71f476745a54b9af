//! Kills, signals and shards: no record is generated twice, and the result is the same bytes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use almanac_artifact::{LedgerRecord, Store};
use almanac_catalog::{EMBED, ENTITIES, StageSpec};
use almanac_tables::{EmbeddingRecord, GenerationRecord};
use almanac_tests::{Bench, RECORDS, built_bench};

/// Ledger files in which each record key stands. A record generated twice has two.
fn record_copies(bench: &Bench, ledger: &str) -> BTreeMap<String, usize> {
    copies_of::<GenerationRecord>(bench, ledger)
}

fn copies_of<R: LedgerRecord>(bench: &Bench, ledger: &str) -> BTreeMap<String, usize> {
    let folder = bench.store().join("ledger").join(ledger);
    let scratch = tempfile_dir(bench, "one-file");
    let mut copies = BTreeMap::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let single = scratch.join("ledger").join("single");
        fs_err::create_dir_all(&single).unwrap();
        fs_err::copy(&path, single.join("file.parquet")).unwrap();
        let store = Store::open_or_create(&scratch).unwrap();
        for record in store.ledger::<R>("single").unwrap().iter() {
            *copies.entry(record.record_key().to_owned()).or_insert(0) += 1;
        }
    }
    copies
}

fn tempfile_dir(bench: &Bench, name: &str) -> std::path::PathBuf {
    let path = bench.path(name);
    fs_err::create_dir_all(&path).unwrap();
    path
}

/// A bench that is built up to the graph, so that explain is next.
fn before_explain() -> Bench {
    let bench = built_bench();
    for folder in ["explanations", "summaries", "embeddings", "index", "ledger", "runs"] {
        fs_err::remove_dir_all(bench.store().join(folder)).unwrap();
    }
    for artifact in ["explanations", "summaries", "embeddings", "index"] {
        fs_err::remove_file(bench.store().join(format!("refs/default/{artifact}.json"))).unwrap();
    }
    bench
}

fn ledger_folder_exists(bench: &Bench) -> bool {
    bench.store().join("ledger/explanations").is_dir()
}

fn ledger_files(bench: &Bench) -> usize {
    let folder = bench.store().join("ledger/explanations");
    fs_err::read_dir(folder).map_or(0, |entries| {
        entries.flatten().filter(|e| !e.file_name().to_string_lossy().starts_with('.')).count()
    })
}

fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(240);
    while !condition() {
        assert!(Instant::now() < deadline, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

const FLUSH_EACH: &[&str] = &["--set", "explain.run.flush_records=1"];

fn explain(bench: &Bench, arguments: &[&str]) -> Command {
    let limit = RECORDS.to_string();
    let mut command = bench.command("almanac-explain", &["run", "--json", "--max-records", &limit]);
    command.args(FLUSH_EACH).args(arguments);
    command
}

#[test]
fn a_killed_build_continues_without_generating_anything_twice() {
    let undisturbed = built_bench();
    let bench = before_explain();
    let mut child = Bench::start(bench.build_command(RECORDS, FLUSH_EACH).env("RUST_BACKTRACE", "0"));
    wait_for("the first record", || ledger_files(&bench) >= 1);
    // The driver and the stage, as a node failure would take both.
    kill_tree(child.id());
    child.wait().unwrap();
    let before = record_copies(&bench, "explanations").len();
    assert!(before >= 1);
    assert!(!bench.store().join("refs/default/explanations.json").exists());

    bench.build(RECORDS, FLUSH_EACH).exits(0);
    let copies = record_copies(&bench, "explanations");
    assert_eq!(copies.len(), RECORDS as usize);
    assert!(copies.values().all(|copies| *copies == 1), "{copies:?}");
    let generated = bench.last_run("explain")["counts"]["generated"].as_u64().unwrap() as usize;
    assert_eq!(generated, RECORDS as usize - before, "only what was missing");
    assert_eq!(bench.artifact_bytes(), undisturbed.artifact_bytes());
}

/// Kills a process and its children at once.
fn kill_tree(process: u32) {
    let mut command = Command::new("kill");
    command.arg("-9").arg(process.to_string()).args(children(process));
    assert!(command.status().unwrap().success());
}

fn children(process: u32) -> Vec<String> {
    let path = format!("/proc/{process}/task/{process}/children");
    let children = fs_err::read_to_string(path).unwrap_or_default();
    children.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_stage_does_not_outlive_a_driver_that_was_killed_alone() {
    let bench = before_explain();
    let mut driver = Bench::start(&mut bench.build_command(RECORDS, FLUSH_EACH));
    wait_for("the first record", || ledger_files(&bench) >= 1);
    let stages = children(driver.id());
    assert_eq!(stages.len(), 1);
    driver.kill().unwrap();
    driver.wait().unwrap();
    // The stage's grace is ten seconds. An orphan that nobody waits for stays as a zombie.
    let stat = format!("/proc/{}/stat", stages[0]);
    let deadline = Instant::now() + Duration::from_secs(20);
    while fs_err::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(Instant::now() < deadline, "the stage goes on without its driver");
        std::thread::sleep(Duration::from_millis(20));
    }
    let before = record_copies(&bench, "explanations").len();
    bench.build(RECORDS, FLUSH_EACH).exits(0);
    let copies = record_copies(&bench, "explanations");
    assert_eq!(copies.len(), RECORDS as usize);
    assert!(copies.values().all(|copies| *copies == 1), "{copies:?}");
    let generated = bench.last_run("explain")["counts"]["generated"].as_u64().unwrap() as usize;
    assert_eq!(generated, RECORDS as usize - before);
}

#[test]
fn a_signal_flushes_and_asks_to_be_requeued() {
    let bench = before_explain();
    for signal in ["-TERM", "-USR1"] {
        let kept = ledger_folder_exists(&bench).then(|| record_copies(&bench, "explanations").len());
        let before = ledger_files(&bench);
        let mut child = Bench::start(&mut explain(&bench, &[]));
        wait_for("a record", || ledger_files(&bench) > before);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let code = child.wait().unwrap().code();
        assert_eq!(code, Some(75), "{signal}");
        assert_eq!(bench.last_run("explain")["state"], "interrupted");
        // A record takes longer than it took to send the signal: the one that was being generated is
        // neither waited for nor kept as failed.
        assert_eq!(record_copies(&bench, "explanations").len(), kept.unwrap_or(0) + 1, "{signal}");
    }
    let copies = record_copies(&bench, "explanations");
    assert!(copies.values().all(|copies| *copies == 1), "{copies:?}");
}

#[test]
fn shards_in_any_order_give_the_undisturbed_artifact() {
    let undisturbed = built_bench();
    let bench = before_explain();
    let states: Vec<String> = ["3/3", "1/3", "2/3"]
        .iter()
        .map(|shard| {
            let output = explain(&bench, &["--shard", shard]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            report["state"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(states, ["waiting", "waiting", "done"]);
    assert_eq!(bytes_of(&bench, "explanations"), bytes_of(&undisturbed, "explanations"));
}

/// A bench that is built up to `stage`, which is next.
fn before(stage: &StageSpec) -> Bench {
    let bench = built_bench();
    fs_err::remove_dir_all(bench.store().join(stage.artifact)).unwrap();
    fs_err::remove_file(bench.store().join(format!("refs/default/{}.json", stage.artifact))).unwrap();
    fs_err::remove_dir_all(bench.store().join("ledger").join(stage.ledger.unwrap())).unwrap();
    bench
}

/// Runs a stage, whole or one shard of it, and gives its report.
fn stage_run(bench: &Bench, stage: &StageSpec, arguments: &[&str]) -> serde_json::Value {
    let output = bench.command(&stage.binary(), &[&["run", "--json"], arguments].concat()).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let again = matches!(report["state"].as_str(), Some("blocked"));
    assert_eq!(output.status.code(), Some(if again { 75 } else { 0 }), "{report}");
    report
}

/// Runs the shards one after the other until one of them commits, and gives the states and how many
/// records were made.
fn run_shards(bench: &Bench, stage: &StageSpec, shards: [&str; 2], arguments: &[&str]) -> (Vec<String>, u64) {
    let (mut states, mut made) = (Vec::new(), 0);
    for shard in shards.iter().cycle().take(10) {
        let report = stage_run(bench, stage, &[&["--shard", *shard], arguments].concat());
        let counts = &report["counts"];
        made += counts["generated"].as_u64().unwrap() + counts["failed_now"].as_u64().unwrap();
        states.push(report["state"].as_str().unwrap().to_owned());
        if report["state"] == "done" {
            break;
        }
    }
    (states, made)
}

const ORDERS: [[&str; 2]; 2] = [["1/2", "2/2"], ["2/2", "1/2"]];

/// Five summaries are three of files, one of a folder and one of a call chain: a shard must wait for
/// what its prompts are made of.
#[test]
fn shards_of_summaries_give_the_undisturbed_artifact() {
    let arguments = ["--max-records", "5"];
    let undisturbed = before(&ENTITIES);
    let whole = stage_run(&undisturbed, &ENTITIES, &arguments);
    assert_eq!(whole["state"], "done");
    for shards in ORDERS {
        let bench = before(&ENTITIES);
        let (states, made) = run_shards(&bench, &ENTITIES, shards, &arguments);
        let (last, earlier) = states.split_last().unwrap();
        assert_eq!(last, "done", "{states:?}");
        assert!(earlier.iter().all(|state| state == "blocked" || state == "waiting"), "{states:?}");
        assert_eq!(made, 5, "{states:?}");
        let copies = record_copies(&bench, "summaries");
        assert_eq!(copies.len(), 5);
        assert!(copies.values().all(|copies| *copies == 1), "{copies:?}");
        assert_eq!(bytes_of(&bench, "summaries"), bytes_of(&undisturbed, "summaries"), "{shards:?}");
    }
}

#[test]
fn shards_of_vectors_give_the_undisturbed_artifact() {
    let undisturbed = built_bench();
    for shards in ORDERS {
        let bench = before(&EMBED);
        // A limit leaves gaps, and the last shard commits them.
        let (states, made) = run_shards(&bench, &EMBED, shards, &["--max-records", "30"]);
        assert_eq!((states.as_slice(), made), (&["waiting".to_owned(), "done".to_owned()][..], 30));
        let (states, _) = run_shards(&bench, &EMBED, shards, &[]);
        assert_eq!(states, ["waiting", "done"]);
        assert!(copies_of::<EmbeddingRecord>(&bench, "embeddings").values().all(|copies| *copies == 1));
        assert_eq!(bytes_of(&bench, "embeddings"), bytes_of(&undisturbed, "embeddings"), "{shards:?}");
    }
}

#[test]
fn vectors_that_were_made_before_a_signal_are_kept() {
    let undisturbed = built_bench();
    let bench = before(&EMBED);
    let folder = bench.store().join("ledger/embeddings");
    let mut command = bench.command("almanac-embed", &["run", "--set", "embed.run.flush_records=1"]);
    let mut child = Bench::start(&mut command);
    wait_for("a vector", || fs_err::read_dir(&folder).is_ok_and(|mut files| files.next().is_some()));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(75));
    let kept = copies_of::<EmbeddingRecord>(&bench, "embeddings").len() as u64;
    let report = stage_run(&bench, &EMBED, &[]);
    assert_eq!((report["state"].as_str(), report["counts"]["reused"].as_u64()), (Some("done"), Some(kept)));
    assert!(report["counts"]["generated"].as_u64().unwrap() > 0, "the signal came in the middle");
    assert_eq!(bytes_of(&bench, "embeddings"), bytes_of(&undisturbed, "embeddings"));
}

fn bytes_of(bench: &Bench, artifact: &str) -> BTreeMap<String, Vec<u8>> {
    let artifact = bench.artifact(artifact);
    fs_err::read_dir(artifact.folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path != Path::new("provenance.json") && !path.ends_with("provenance.json"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs_err::read(&path).unwrap()))
        .collect()
}
