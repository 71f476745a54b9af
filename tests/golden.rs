//! What parse and graph make of the fixture library, written down: under one key, always the same.
//!
//! A change of rows needs a bump of the stage's `revision`, or stores would keep the old rows as
//! fresh. Then `ALMANAC_TEST_REWRITE=1 cargo test --release -p almanac-tests --test golden` writes
//! `golden.toml` anew; it refuses as long as the key is the old one.

use almanac_artifact::Manifest;
use almanac_catalog::{GRAPH, PARSE, StageSpec};
use almanac_tests::{Bench, repository_root};
use toml::{Table, Value};

const FILE: &str = "tests/golden.toml";
const HEAD: &str = "# Content digests of each table for tests/fixtures/picolib; see tests/golden.rs.\n\n";

/// The key without the rows it stands for, and the rows.
fn written(stage: &StageSpec, manifest: &Manifest) -> Value {
    let text = |text: String| Value::String(text);
    let tables = manifest.tables.iter().map(|(name, table)| (name.clone(), text(table.content.to_string())));
    Value::Table(Table::from_iter([
        ("revision".to_owned(), Value::Integer(stage.revision.into())),
        ("key".to_owned(), text(manifest.plan.to_string())),
        ("tables".to_owned(), Value::Table(tables.collect())),
    ]))
}

#[test]
fn rows_change_only_with_the_key() {
    let path = repository_root().join(FILE);
    let recorded: Table = fs_err::read_to_string(&path).unwrap_or_default().parse().unwrap();
    let bench = Bench::with_picolib();
    let tree = bench.tree();
    bench.run("almanac-parse", &["run", "--source", tree.to_str().unwrap()]).exits(0);
    bench.run("almanac-graph", &["run"]).exits(0);

    let mut now = Table::new();
    for stage in [&PARSE, &GRAPH] {
        let value = written(stage, bench.artifact(stage.artifact).manifest());
        if let Some(before) = recorded.get(stage.name).filter(|before| before["key"] == value["key"]) {
            let (before, rows) = (&before["tables"], &value["tables"]);
            assert_eq!(
                before, rows,
                "{} gives other rows under the same key: bump its revision in stages/base/catalog/src/stages.rs, \
                 then run with ALMANAC_TEST_REWRITE=1",
                stage.name
            );
        }
        now.insert(stage.name.to_owned(), value);
    }
    if std::env::var_os("ALMANAC_TEST_REWRITE").is_some() {
        fs_err::write(&path, format!("{HEAD}{}", toml::to_string_pretty(&now).unwrap())).unwrap();
    } else {
        assert_eq!(
            recorded, now,
            "a key changed (revision, params, grammars, macros, tables or the fixture): \
             look at {FILE} and run with ALMANAC_TEST_REWRITE=1"
        );
    }
}
