//! The command line and the settings, as a user meets them: what is refused, and what the refusal says.

use std::fs::OpenOptions;
use std::process::{Command, Output};

use almanac_tests::{Bench, binary};

fn run(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code(), text(&stdout), text(&stderr))
}

/// Every program that users start.
fn programs() -> Vec<String> {
    let stages = almanac_catalog::PIPELINE.iter().map(|stage| stage.binary());
    stages.chain(["almanac".to_owned(), "almanac-eval".to_owned()]).collect()
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for program in programs() {
        for flag in ["--help", "--version"] {
            let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
            let (code, _, stderr) = run(Command::new(binary(&program)).arg(flag).stdout(full));
            assert_eq!(code, Some(74), "{program} {flag}: {stderr}");
            assert!(stderr.contains("could not be written") && stderr.contains("hint"), "{stderr}");
        }
    }
}

#[test]
fn a_usage_error_is_told_once_and_cannot_steer_the_terminal() {
    let (code, stdout, stderr) = run(Command::new(binary("almanac")).args(["search", "--\u{202e}x"]));
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.starts_with("error: unexpected argument '--\\u{202e}x'"), "{stderr:?}");
    assert_eq!(stderr.matches("error:").count(), 1, "{stderr}");
    let (code, _, stderr) = run(&mut Command::new(binary("almanac")));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("Usage: almanac") && !stderr.contains("error:"), "{stderr}");
}

#[test]
fn an_option_that_stands_for_a_setting_has_its_range() {
    let bench = Bench::with_picolib();
    let tree = bench.tree();
    let tree = tree.to_str().unwrap();
    let huge = u64::MAX.to_string();
    let cases: [(&str, &[&str], &str, &str); 5] = [
        ("almanac", &["build", "--source", tree, "--max-seconds", &huge], "--max-seconds", "0..=3153600000"),
        ("almanac", &["plan", "--max-records", &huge], "--max-records", "0..=1000000000000"),
        ("almanac-explain", &["run", "--max-seconds", &huge], "--max-seconds", "0..=3153600000"),
        ("almanac", &["search", "x", "--budget", "50"], "--budget", "100..=10000000"),
        ("almanac", &["search", "x", "--budget", "0"], "--budget", "100..=10000000"),
    ];
    for (program, arguments, option, range) in cases {
        let run = bench.run(program, arguments).exits(2);
        for words in [option, range] {
            assert!(run.stderr.contains(words), "no `{words}` in: {}", run.stderr);
        }
    }
    assert!(!bench.store().exists(), "nothing was begun");
}

#[test]
fn a_number_no_setting_can_be_is_refused_by_every_command() {
    let bench = Bench::with_picolib();
    let config = bench.path("config");
    fs_err::create_dir(&config).unwrap();
    fs_err::write(config.join("local.toml"), "[retrieval]\ncandidate_k = 0\n").unwrap();
    let refused = |command: &mut Command, words: &[&str]| {
        let (code, _, stderr) = run(command);
        assert_eq!(code, Some(78), "{stderr}");
        for words in words.iter().chain(&["hint", "where a"]) {
            assert!(stderr.contains(words), "no `{words}` in: {stderr}");
        }
    };
    for verb in
        [&["status"][..], &["search", "x"], &["plan"], &["config"], &["ask", "x"], &["models", "list"]]
    {
        let set = ["--set", "retrieval.weights.dense=nan"];
        refused(
            &mut bench.command("almanac", &[verb, &set].concat()),
            &["`retrieval.weights.dense`", "from --set", "is nan", "a number from 0 to 1000"],
        );
    }
    refused(
        bench.command("almanac-embed", &["run"]).env("ALMANAC_EMBED__RUN__BATCH", "-1"),
        &["`embed.run.batch`", "ALMANAC_EMBED__RUN__BATCH", "is -1", "a whole number from 1 to 65536"],
    );
    refused(
        bench.command("almanac", &["status"]).arg("--config").arg(&config),
        &["`retrieval.candidate_k`", "local.toml", "is 0", "a whole number from 1 to 1000000"],
    );
    let (code, _, stderr) = run(&mut bench.command("almanac", &["plan", "--set", "answer.max_tokens=6144"]));
    assert_eq!(code, Some(78), "{stderr}");
    assert!(stderr.contains("`answer.max_tokens`") && stderr.contains("`answer.context_tokens`"), "{stderr}");
}

#[test]
fn a_file_of_configuration_that_is_not_utf8_names_the_byte() {
    let bench = Bench::empty();
    let config = bench.path("config");
    fs_err::create_dir_all(config.join("profiles")).unwrap();
    let cases: [(&str, &[&str]); 3] = [
        ("models.toml", &["models", "list"]),
        ("profiles/night.toml", &["config", "--profile", "night"]),
        ("local.toml", &["config"]),
    ];
    for (file, arguments) in cases {
        fs_err::write(config.join(file), b"# caf\xe9\n").unwrap();
        let (code, _, stderr) = run(bench.command("almanac", arguments).arg("--config").arg(&config));
        assert_eq!(code, Some(78), "{stderr}");
        for words in [file, "not UTF-8", "byte 5", "line 1", "hint"] {
            assert!(stderr.contains(words), "no `{words}` in: {stderr}");
        }
        fs_err::remove_file(config.join(file)).unwrap();
    }
}

#[test]
fn the_usual_store_is_taken_where_it_is_and_never_made() {
    let bench = Bench::empty();
    let status = || {
        let mut command = Command::new(binary("almanac"));
        run(command.arg("status").current_dir(bench.path("")).env_remove("ALMANAC_STORE"))
    };
    let (code, _, stderr) = status();
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("no store was named") && stderr.contains("--store DIR"), "{stderr}");
    assert!(!bench.path("artifacts").exists());
    fs_err::create_dir(bench.path("artifacts")).unwrap();
    let (code, _, stderr) = status();
    assert_eq!(code, Some(66), "{stderr}");
    assert!(stderr.contains("artifacts is not an Almanac store"), "{stderr}");
    let (_, help, _) = run(Command::new(binary("almanac")).args(["status", "--help"]));
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("else ./artifacts where there is such a folder"), "{help}");
}

#[test]
fn names_of_files_cannot_steer_the_terminal() {
    let bench = Bench::with_picolib();
    bench.build(1, &["--until", "parse"]).exits(0);
    let name = "src/evil\u{1b}]0;owned\u{7}\u{202e}\nerror: forged.h";
    fs_err::write(bench.tree().join(name), "int evil();\n").unwrap();
    let tree = bench.tree();
    for json in [&[][..], &["--json"]] {
        let arguments = [&["plan", "--source", tree.to_str().unwrap()], json].concat();
        let plan = bench.run("almanac", &arguments).exits(0);
        let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(plan.stdout.contains("owned"), "{}", plan.stdout);
        assert!(!plan.stdout.contains(steers) && !plan.stderr.contains(steers), "{:?}", plan.stdout);
        assert!(!plan.stdout.lines().any(|line| line.starts_with("error: forged")), "{}", plan.stdout);
        if !json.is_empty() {
            assert!(plan.json().to_string().contains("evil"), "it is still JSON with the name in it");
            let added = &plan.json()["stages"][0]["reasons"][0]["added"];
            assert_eq!(added, &serde_json::json!([name]));
        }
    }
}

#[test]
fn a_context_without_a_tokenizer_holds_its_budget_and_says_so() {
    let bench = Bench::with_picolib();
    let home = tempfile::tempdir().unwrap();
    let ask = |budget: &str| {
        let mut command = Command::new(binary("almanac"));
        command.args(["context", "Ghost cells of a field are not filled by fillHalo", "--json", "--budget"]);
        command.arg(budget).arg("--source").arg(bench.tree());
        command.env("XDG_CACHE_HOME", home.path()).env_remove("ALMANAC_MODELS").env_remove("ALMANAC_STORE");
        let (code, stdout, stderr) = run(&mut command);
        assert_eq!(code, Some(0), "{stderr}");
        let mut answer: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        answer.as_object_mut().unwrap().remove("seconds");
        answer
    };
    for budget in ["500", "2000", "100000"] {
        let first = ask(budget);
        let tokens = first["context"].as_str().unwrap().chars().count().div_ceil(4);
        assert_eq!(first["context_tokens"], tokens);
        assert!(tokens <= budget.parse().unwrap(), "{tokens} of {budget}");
        assert!(first["tokenizer"].as_str().unwrap().starts_with("approximation"), "{}", first["tokenizer"]);
        let said = first["state"]["diagnostics"].to_string();
        assert!(said.contains("tokens are approximated") && said.contains("tokenizer.json"), "{said}");
        // From the cache that the first call wrote.
        assert!(home.path().join("almanac/context").is_dir());
        assert_eq!(ask(budget), first);
    }
    let mut unknown = Command::new(binary("almanac"));
    unknown.args(["context", "x", "--set", "context.tokenizer=none", "--source"]).arg(bench.tree());
    let (code, _, stderr) = run(&mut unknown);
    assert_eq!(code, Some(78), "{stderr}");
    assert!(stderr.contains("no model named `none`"), "{stderr}");
}
