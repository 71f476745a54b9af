//! Parse and graph against a compiler, on the fixture library: the truth against an independent list,
//! the stages against the truth.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("eval/ lies in the repository").to_owned()
}

/// A measurement of picolib: its work folder and what `--json` printed. Made once.
fn measured() -> &'static (TempDir, Value) {
    static MEASURED: OnceLock<(TempDir, Value)> = OnceLock::new();
    MEASURED.get_or_init(|| {
        let work = TempDir::new().expect("a temporary folder");
        let output = Command::new(env!("CARGO_BIN_EXE_almanac-eval"))
            .args(["graph", "--corpus", "picolib", "--json", "--work"])
            .arg(work.path())
            .output()
            .expect("the binary starts");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        let printed = serde_json::from_slice(&output.stdout).expect("one JSON value");
        (work, printed)
    })
}

fn row<'a>(kind: &str, name: &str) -> &'a Value {
    let rows = measured().1[0][kind].as_array().expect("rows");
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no row {name} in {kind}"))
}

fn number(row: &Value, column: &str) -> f64 {
    row[column].as_f64().unwrap_or_else(|| panic!("no {column} in {row}"))
}

/// Path, line, caller and callee of every call from one named function to another.
fn calls_of_the_truth() -> BTreeSet<(String, u64, String, String)> {
    let folder = measured().0.path().join("picolib");
    let truth = fs_err::read_dir(folder)
        .expect("the corpus has a folder")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .expect("a truth");
    let text = fs_err::read_to_string(truth).expect("the truth can be read");
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    let symbols: BTreeMap<u64, (&str, &str)> = records
        .iter()
        .filter(|record| record["record"] == "symbol")
        .map(|symbol| {
            let text = |column: &str| symbol[column].as_str().expect("a text");
            (symbol["id"].as_u64().expect("a number"), (text("kind"), text("name")))
        })
        .collect();
    let is_function = |kind: &str| matches!(kind, "function" | "method");
    let is_operator = |name: &str| name.rsplit("::").next().is_some_and(|name| name.starts_with("operator"));
    let mut calls = BTreeSet::new();
    for call in records.iter().filter(|record| record["record"] == "call") {
        let Some(caller) = call["caller"].as_u64().map(|id| symbols[&id].1) else { continue };
        // The list names a GoogleTest case as the source does.
        let caller = match caller.strip_suffix("_Test::TestBody") {
            Some(case) => case.replacen('_', ".", 1),
            None => caller.to_owned(),
        };
        for callee in call["required"].as_array().expect("a list") {
            let (kind, callee) = symbols[&callee.as_u64().expect("a number")];
            if is_function(kind) && !is_operator(callee) {
                let path = call["path"].as_str().expect("a path").to_owned();
                let line = call["line"].as_u64().expect("a line");
                calls.insert((path, line, caller.clone(), callee.to_owned()));
            }
        }
    }
    calls
}

/// The list was read off clang's dump of the instantiated syntax trees, which shares no code with the
/// extractor. It lacks what no unit of the library instantiates and the device's source.
#[test]
fn the_truth_is_what_clang_dumps() {
    let list = repository().join("tests/fixtures/picolib.calls.tsv");
    let listed: BTreeSet<(String, u64, String, String)> = fs_err::read_to_string(list)
        .expect("the list")
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let line = cells[1].parse().expect("a line number");
            (cells[0].to_owned(), line, cells[2].to_owned(), cells[3].to_owned())
        })
        .collect();
    let truth = calls_of_the_truth();
    let missing: Vec<_> = listed.difference(&truth).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let more: Vec<(&str, u64)> =
        truth.difference(&listed).map(|(path, line, _, _)| (path.as_str(), *line)).collect();
    assert_eq!(
        more,
        [
            ("src/Field/BoundaryConditions.h", 145),
            ("src/Field/BoundaryConditions.h", 153),
            ("src/Particles/DepositKernel.cu", 20),
            ("src/Particles/DepositKernel.cu", 21),
            ("src/Particles/DepositKernel.cu", 29),
            ("src/Particles/Particles.hpp", 46),
        ]
    );
}

#[test]
fn definitions_of_the_fixture_are_found() {
    let all = row("definitions", "all");
    assert!(number(all, "wanted") > 200.0, "{all}");
    assert!(number(all, "precision") >= 0.99, "{all}");
    assert!(number(all, "recall") >= 0.98, "{all}");
}

#[test]
fn calls_of_the_fixture_are_found() {
    let all = row("calls", "all");
    assert!(number(all, "wanted") > 380.0, "{all}");
    assert!(number(all, "precision") >= 0.95, "{all}");
    assert!(number(all, "recall") >= 0.90, "{all}");
    let launches = row("calls", "launch");
    assert!(number(launches, "precision") >= 0.99, "{launches}");
    assert!(number(launches, "recall") >= 0.99, "{launches}");
}
