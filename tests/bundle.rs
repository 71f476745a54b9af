//! A store carried in one file answers as it did where it was made.

use std::path::Path;
use std::process::Command;

use almanac_tests::{Run, binary, built_bench};
use serde_json::Value;

const QUESTION: &str = "Where is the conjugate gradient solver implemented?";

fn search(cache: &Path, arguments: &[&str]) -> Run {
    let mut command = Command::new(binary("almanac"));
    command.args(["search", QUESTION, "--json"]).args(arguments);
    command.env_remove("ALMANAC_STORE").env_remove("ALMANAC_CONFIG").env("XDG_CACHE_HOME", cache);
    command.env("HOME", cache);
    Run::from(command.output().unwrap())
}

fn but_for_time(run: &Run) -> Value {
    let mut found = run.json();
    found.as_object_mut().unwrap().remove("seconds").unwrap();
    found
}

#[test]
fn a_bundle_is_the_same_twice_and_answers_like_its_store() {
    let bench = built_bench();
    let create = |folder: &str| {
        let output = bench.path(folder);
        let output = output.to_str().unwrap();
        let run = bench.run("almanac", &["bundle", "create", "--project", "p", "--output", output, "--json"]);
        run.exits(0).json()["path"].as_str().unwrap().to_owned()
    };
    let (first, second) = (create("one"), create("two"));
    assert_eq!(fs_err::read(&first).unwrap(), fs_err::read(&second).unwrap());
    assert_eq!(fs_err::read_dir(bench.path("one")).unwrap().count(), 1);

    // Where there is no embedder, and nothing else either.
    let home = bench.path("home");
    fs_err::create_dir(&home).unwrap();
    let bundled = search(&home, &["--bundle", &first]).exits(0);
    assert!(bundled.stderr.contains("searching without vectors"), "{}", bundled.stderr);
    assert!(!bundled.json()["chunks"].as_array().unwrap().is_empty());
    let stored = search(&home, &["--store", bench.store().to_str().unwrap()]).exits(0);
    assert_eq!(but_for_time(&bundled), but_for_time(&stored));

    // A bundle without its end is refused, and nothing of it stays.
    let bytes = fs_err::read(&first).unwrap();
    let cut = bench.path("cut.almanac");
    fs_err::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let refused = search(&home, &["--bundle", cut.to_str().unwrap()]).exits(65);
    assert!(refused.stderr.contains("ends too early"), "{}", refused.stderr);
    assert_eq!(fs_err::read_dir(home.join("almanac/bundles")).unwrap().count(), 1);
}
