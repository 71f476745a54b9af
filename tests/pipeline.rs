//! The chain on the fixture library: what it finds, what it reruns, and that it is reproducible.

#[path = "pipeline/imports.rs"]
mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use almanac_tables::{
    ArtifactRole, Chunk, Edge, EdgeKind, Entity, EntityKind, Explanation, File, RecordStatus, Reference,
    Summary,
};
use almanac_tests::{Bench, RECORDS, built_bench, repository_root};
use serde_json::Value;

const QUESTION: &str = "Where is the conjugate gradient solver algorithm implemented?";

fn ran(build: &Value) -> Vec<&str> {
    build["ran"].as_array().unwrap().iter().map(|stage| stage.as_str().unwrap()).collect()
}

#[test]
fn a_question_finds_the_file_that_answers_it() {
    let bench = built_bench();
    let found = bench.run("almanac", &["search", QUESTION, "--json"]).exits(0).json();
    for key in ["query", "intent", "files", "chunks", "context", "context_tokens", "seconds"] {
        assert!(found.get(key).is_some(), "no `{key}` in {found}");
    }
    assert_eq!(found["query"], QUESTION);
    let first = found["files"][0].as_str().unwrap();
    assert!(first.contains("ConjugateGradient") || first.contains("CG"), "{first} is first");
    for chunk in found["chunks"].as_array().unwrap() {
        for key in ["rank", "role", "path", "start_line", "end_line", "symbol", "level", "score"] {
            assert!(chunk.get(key).is_some(), "no `{key}` in {chunk}");
        }
        let path = chunk["path"].as_str().unwrap();
        if !path.is_empty() {
            let text = fs_err::read_to_string(bench.tree().join(path)).unwrap();
            let (start, end) = (chunk["start_line"].as_u64().unwrap(), chunk["end_line"].as_u64().unwrap());
            assert!(1 <= start && start <= end && end <= text.lines().count() as u64, "{chunk}");
        }
    }
    assert!(found["context_tokens"].as_u64().unwrap() <= 7300);
}

#[test]
fn a_batch_answers_line_by_line_in_one_process() {
    let bench = built_bench();
    let file = bench.path("questions.jsonl");
    let lines = format!(
        "{{\"id\":\"a\",\"query\":\"{QUESTION}\"}}\n\n{{\"id\":7,\"query\":\"How are ghost cells exchanged?\"}}\n"
    );
    fs_err::write(&file, lines).unwrap();
    let batch = bench.run("almanac", &["search", "--batch", file.to_str().unwrap(), "--json"]).exits(0);
    let answers: Vec<Value> = batch.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&Value::from("a"), &Value::from(7)));
    let alone = bench.run("almanac", &["search", QUESTION, "--json"]).exits(0).json();
    assert_eq!(answers[0]["context"], alone["context"], "a batch must not change an answer");
}

#[test]
fn an_answer_comes_with_sources_that_exist() {
    let bench = built_bench();
    let settings = ["--set", "answer.max_tokens=24", "--set", "answer.context_tokens=520"];
    let arguments = [&["ask", QUESTION, "--json"][..], &settings].concat();
    let answer = bench.run("almanac", &arguments).exits(0).json();
    assert!(!answer["text"].as_str().unwrap().trim().is_empty());
    let sources = answer["sources"].as_array().unwrap();
    assert!(!sources.is_empty());
    for source in sources {
        assert!(bench.tree().join(source["path"].as_str().unwrap()).is_file(), "{source}");
    }
}

#[test]
fn what_was_read_is_what_is_in_the_tree() {
    let bench = built_bench();
    let files: Vec<File> = bench.rows("sources");
    let entities: Vec<Entity> = bench.rows("sources");
    for entity in &entities {
        let file = files.iter().find(|file| file.path == entity.path).expect("an entity lies in a file");
        assert!(entity.start_line >= 1 && entity.end_line <= file.lines.max(1), "{entity:?}");
        assert!(entity.start_byte <= entity.end_byte && entity.end_byte <= file.bytes + 3, "{entity:?}");
    }
    assert!(entities.iter().any(|entity| entity.kind == EntityKind::Enum));
    assert!(entities.iter().any(|entity| entity.kind == EntityKind::Section));
    let edges: Vec<Edge> = bench.rows("graph");
    for kind in [EdgeKind::Includes, EdgeKind::Calls, EdgeKind::Owns, EdgeKind::Inherits, EdgeKind::Defines] {
        assert!(edges.iter().any(|edge| edge.kind == kind), "no edge of kind {kind}");
    }
}

/// Files of the fixture below `folder` whose names end in one of `endings`.
fn fixture_files(folder: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut pending = vec![repository_root().join("tests/fixtures/picolib").join(folder)];
    while let Some(folder) = pending.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                pending.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                files.push(path);
            }
        }
    }
    files
}

#[test]
fn the_figures_of_status_are_those_of_the_tree() {
    let bench = built_bench();
    let status = bench.run("almanac", &["status", "--json"]).exits(0).json();
    let counts = &status["counts"];
    let figure =
        |name: &str| counts[name].as_u64().unwrap_or_else(|| panic!("no `{name}` in {counts}")) as usize;

    // What the file system says.
    assert_eq!(figure("files"), fixture_files("", &[""]).len());
    assert_eq!(figure("source_files_under_src"), fixture_files("src", &[".h", ".hpp", ".cpp"]).len());
    assert_eq!(figure("documents"), fixture_files("", &[".md", ".rst", ".txt"]).len());
    let code = fixture_files("", &[".h", ".hpp", ".cpp", ".cu"]);
    // A page of documentation with a code suffix is no code.
    let code = code.iter().filter(|path| !path.ends_with("docs/tutorial/first_steps.hpp"));
    let bytes: u64 = code.map(|path| fs_err::metadata(path).unwrap().len()).sum();
    assert_eq!(figure("source_bytes") as u64, bytes);
    assert_eq!((figure("error_bytes"), counts["unread"].as_array().unwrap().len()), (0, 0));

    // Universal Ctags 5.9 finds 175 functions, 31 classes, 9 structs and 5 enumerations. It misses five
    // functions: the destructor of `Communicator` and four whose signatures break before the name
    // (`allreduce`, `innerProduct`, `gatherFromField`, `Vector::dot`); and it expands no macros, which
    // define two operators three times and three reductions.
    assert_eq!(figure("functions"), 175 + 5 + 2 * 3 + 3);
    assert_eq!(figure("classes"), 31 + 9);
    assert_eq!(figure("enums"), 5);
    // Headings of README.md, architecture.md, boundary_conditions.rst, first_steps.hpp, particles.tex, and
    // the four keys of two_stream.yaml: mesh, particles, time, solver.
    assert_eq!(figure("sections"), 5 + 5 + 3 + 4 + 1 + 4);
    // Texts before headings and of files without symbols: one each of three CMake files and the manual,
    // and two of the script.
    assert_eq!(figure("text_blocks"), 3 + 1 + 2);
    // 18 folders, the top one included; pico, its detail, device and parallel, and tp.
    assert_eq!(figure("modules"), 18 + 5);

    // What the tables say, which other tests compare with the sources.
    let entities: Vec<Entity> = bench.rows("sources");
    let edges: Vec<Edge> = bench.rows("graph");
    assert_eq!(figure("entities"), entities.len());
    assert_eq!(figure("references"), bench.rows::<Reference>("sources").len());
    assert_eq!(figure("edges"), edges.len());
    let names: BTreeMap<&str, &str> =
        entities.iter().map(|entity| (entity.id.as_str(), entity.qualified_name.as_str())).collect();
    // Calls that are certain enough to be told, from one name to another: a summary names overloads once.
    let calls = edges.iter().filter(|edge| edge.kind == EdgeKind::Calls && edge.confidence >= 0.5);
    let name = |id: &str| names.get(id).copied();
    let calls = calls.filter(|edge| match (name(&edge.source), name(&edge.target)) {
        (Some(caller), Some(callee)) => caller != callee,
        _ => false,
    });
    let linked: BTreeSet<&str> =
        calls.flat_map(|edge| [edge.source.as_str(), edge.target.as_str()]).collect();
    let chains = entities.iter().filter(|entity| entity.kind.is_callable() && entity.is_definition);
    assert_eq!(figure("call_chains"), chains.filter(|entity| linked.contains(entity.id.as_str())).count());
    assert_eq!(figure("chunks"), bench.rows::<Chunk>("embeddings").len());
    assert_eq!(figure("vectors"), figure("chunks"), "every chunk has a vector");
    for line in status["coverage"].as_array().unwrap() {
        let number = |name: &str| line[name].as_u64().unwrap() as usize;
        let all = number("done") + number("missing") + number("unwanted") + number("failed");
        let expected = match line["level"].as_str().unwrap() {
            "symbols" => bench.rows::<Explanation>("explanations").len(),
            "files" => figure("files"),
            "modules" => 18,
            "call chains" => figure("call_chains"),
            other => panic!("{other} is no level"),
        };
        assert_eq!(all, expected, "{line}");
    }
    // The same figures for people.
    let text = bench.run("almanac", &["status"]).exits(0).stdout;
    for (words, name) in [
        ("functions and methods defined", "functions"),
        ("classes and structs", "classes"),
        ("documentation sections", "sections"),
        ("call chains", "call_chains"),
        ("vectors", "vectors"),
    ] {
        let line = text.lines().find(|line| line.starts_with(words)).unwrap();
        let shown: String = line.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(shown, figure(name).to_string(), "{line}");
    }
}

#[test]
fn a_limited_budget_explains_the_most_important_and_leaves_gaps_visible() {
    let bench = built_bench();
    let mut explanations: Vec<Explanation> = bench.rows("explanations");
    explanations.sort_by_key(|explanation| explanation.priority);
    let limit = RECORDS as usize;
    assert!(explanations.len() > limit, "the fixture has more symbols than the budget");
    assert!(explanations[..limit].iter().all(|e| e.status != RecordStatus::Missing));
    assert!(explanations[limit..].iter().all(|e| e.status == RecordStatus::Missing && e.text.is_empty()));
    let summaries: Vec<Summary> = bench.rows("summaries");
    assert!(
        summaries.iter().any(|summary| summary.status == RecordStatus::Missing && !summary.facts.is_empty())
    );

    let status = bench.run("almanac", &["status", "--json"]).exits(0).json();
    let symbols = &status["coverage"][0];
    assert_eq!(symbols["missing"].as_u64().unwrap() as usize, explanations.len() - limit);
    let poor = explanations.iter().filter(|e| e.poorly_grounded).count();
    assert_eq!(symbols["poorly_grounded"].as_u64().unwrap() as usize, poor);
    for done in explanations.iter().filter(|e| e.status == RecordStatus::Done) {
        assert!(!done.role.is_empty() && done.text.starts_with(&done.role), "{done:?}");
        assert!(done.grounding.is_some());
    }
}

#[test]
fn a_second_build_runs_nothing() {
    let bench = built_bench();
    let before = bench.artifact_bytes();
    let build = bench.build(RECORDS, &[]).exits(0);
    assert!(build.stderr.contains("nothing to run"), "{}", build.stderr);
    assert_eq!(ran(&build.json()), Vec::<&str>::new());
    assert_eq!(bench.runs("parse"), 1);
    assert_eq!(before, bench.artifact_bytes());
}

/// What is not asked for is no gap: a build without limits is whole although some roles have no texts.
#[test]
fn texts_that_nobody_wants_are_no_gaps() {
    let bench = Bench::with_picolib();
    let roles: Vec<String> = ArtifactRole::ALL.iter().map(|role| format!("{:?}", role.to_string())).collect();
    let sets =
        ["explain", "entities"].map(|stage| format!("{stage}.params.skip_roles=[{}]", roles.join(",")));
    let sets = ["--set", &sets[0], "--set", &sets[1], "--set", "embed.run.max_records=3"];
    bench.build(0, &[&sets[..], &["--until", "entities"]].concat()).exits(0);
    let again = bench.build(0, &[&sets[..], &["--until", "entities"]].concat()).exits(0);
    assert_eq!(ran(&again.json()), Vec::<&str>::new(), "{}", again.stderr);
    let summaries = bench.rows::<Summary>("summaries");
    assert!(!summaries.is_empty());
    assert!(summaries.iter().all(|row| row.status == RecordStatus::Unwanted && !row.reason.is_empty()));
}

#[test]
fn an_edited_comment_reruns_only_what_it_reaches() {
    let bench = built_bench();
    let file = "src/Field/Field.hpp";
    let path = bench.tree().join(file);
    let text = fs_err::read_to_string(&path).unwrap();
    fs_err::write(&path, format!("{text}\n// A remark at the end of the file.\n")).unwrap();

    let source = bench.tree();
    let arguments = ["plan", "--source", source.to_str().unwrap(), "--json"];
    let plan = bench.run("almanac", &arguments).exits(0).json();
    assert_eq!(plan["stages"][0]["state"], "stale");
    assert_eq!(plan["stages"][0]["reasons"][0]["modified"], serde_json::json!([file]));
    assert_eq!(plan["stages"][1]["state"], "pending");

    let build = bench.build(RECORDS, &[]).exits(0).json();
    assert!(ran(&build).contains(&"parse"));
    let files: Vec<File> = bench.rows("sources");
    let parse = &bench.last_run("parse")["counts"];
    assert_eq!(parse["generated"], 1, "one file changed");
    assert_eq!(parse["reused"].as_u64().unwrap() as usize, files.len() - 1);
    assert!(ran(&build).contains(&"explain"), "the file's text is an input of explain");
    assert_eq!(bench.runs("explain"), 2);
    assert_eq!(bench.last_run("explain")["counts"]["generated"], 0, "no prompt changed");
}

#[test]
fn an_incremental_build_gives_the_bytes_of_a_clean_one() {
    let incremental = built_bench();
    incremental.edit("src/Field/Field.hpp", "{", "{ // edited\n");
    fs_err::remove_file(incremental.tree().join("docs/boundary_conditions.rst")).unwrap();
    fs_err::write(incremental.tree().join("src/extra.h"), "#pragma once\nint added(int value);\n").unwrap();
    incremental.build(RECORDS, &[]).exits(0);

    let clean = Bench::copy_of(&incremental);
    for folder in ["sources", "graph", "explanations", "summaries", "embeddings", "index", "refs"] {
        fs_err::remove_dir_all(clean.store().join(folder)).unwrap();
    }
    clean.build(RECORDS, &[]).exits(0);
    assert_eq!(clean.last_run("explain")["counts"]["generated"], 0, "the ledger holds every record");
    assert_eq!(incremental.artifact_bytes(), clean.artifact_bytes());
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let bench = built_bench();
    let before = bench.artifact_bytes();
    for threads in ["1", "2"] {
        for folder in ["sources", "graph", "embeddings", "index", "refs"] {
            fs_err::remove_dir_all(bench.store().join(folder)).unwrap();
        }
        let settings: Vec<String> =
            ["parse", "graph", "embed", "index"].map(|stage| format!("{stage}.run.threads={threads}")).into();
        let arguments: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
        bench.build(RECORDS, &arguments).exits(0);
        assert_eq!(before, bench.artifact_bytes(), "{threads} threads");
    }
}

#[test]
fn switching_back_finds_what_was_built_before() {
    let bench = built_bench();
    let before = bench.artifact_bytes();
    let path = bench.tree().join("src/extra.h");
    fs_err::write(&path, "#pragma once\nint added(int value);\n").unwrap();
    bench.build(RECORDS, &["--until", "graph"]).exits(0);
    fs_err::remove_file(&path).unwrap();
    bench.build(RECORDS, &[]).exits(0);
    assert_eq!(before, bench.artifact_bytes());
    assert_eq!(bench.runs("parse"), 2, "the first artifact is found again, not rebuilt");
}

#[test]
fn a_setting_names_itself_as_the_cause() {
    let bench = built_bench();
    let limit = RECORDS.to_string();
    let arguments = ["plan", "--max-records", &limit, "--set", "parse.params.max_chunk_size=900", "--json"];
    let plan = bench.run("almanac", &arguments).exits(0).json();
    let reason = &plan["stages"][0]["reasons"][0];
    assert_eq!((&reason["reason"], &reason["key"]), (&"param_changed".into(), &"max_chunk_size".into()));
    assert_eq!(reason["new"], "900");
    let check = bench.run("almanac", &["plan", "--check", "--set", "parse.params.max_chunk_size=900"]);
    check.exits(10);
    bench.run("almanac", &["plan", "--check", "--max-records", &limit]).exits(0);
    let more = (RECORDS + 1).to_string();
    let plan = bench.run("almanac", &["plan", "--json", "--max-records", &more]).exits(0).json();
    assert_eq!(plan["stages"][2]["reasons"][0]["reason"], "incomplete", "a larger limit has work");
}

#[test]
fn a_plan_says_what_the_models_would_make() {
    let bench = built_bench();
    let work = |limit: u32, settings: &[&str]| {
        let limit = limit.to_string();
        let arguments = [&["plan", "--json", "--max-records", &limit], settings].concat();
        bench.run("almanac", &arguments).exits(0).json()["work"].as_array().unwrap().clone()
    };
    assert!(work(RECORDS, &[]).is_empty(), "a fresh stage makes nothing");
    let one_more = &work(RECORDS + 1, &[])[0];
    let figures = |work: &Value| {
        (work["stage"].as_str().unwrap().to_owned(), work["records"].as_u64(), work["changed"].as_u64())
    };
    assert_eq!(figures(one_more), ("explain".to_owned(), Some(1), Some(0)));
    assert_eq!(one_more["counted"], true);
    for name in ["prompt_tokens", "completion_tokens", "tokens_per_second", "gpu_hours"] {
        assert!(one_more[name].as_f64().unwrap() > 0.0, "{name}: {one_more}");
    }
    let rate = work(RECORDS + 1, &["--set", "explain.run.tokens_per_second=250"])[0].clone();
    assert_eq!(rate["tokens_per_second"], 250.0);
    // What decides a text changes all of them, and a run makes as many as the plan said.
    let other = ["--set", "explain.params.sampling.seed=21"];
    let all = u64::from(RECORDS);
    assert_eq!(figures(&work(RECORDS, &other)[0]), ("explain".to_owned(), Some(all), Some(all)));
    bench.build(RECORDS, &[&other[..], &["--until", "explain"]].concat()).exits(0);
    let counts = &bench.last_run("explain")["counts"];
    let made = counts["generated"].as_u64().unwrap() + counts["failed_now"].as_u64().unwrap();
    assert_eq!(made, all, "{counts}");
}

#[test]
fn every_binary_answers_help_and_version() {
    let bench = Bench::empty();
    let stages = almanac_catalog::PIPELINE.iter().map(|stage| stage.binary());
    for name in stages.chain(["almanac".to_owned(), "almanac-eval".to_owned()]) {
        let path = almanac_tests::binary(&name);
        for (flag, wanted) in [("--help", "Usage"), ("--version", env!("CARGO_PKG_VERSION"))] {
            let output = std::process::Command::new(&path).arg(flag).output().unwrap();
            assert!(output.status.success(), "{name} {flag}");
            assert!(String::from_utf8_lossy(&output.stdout).contains(wanted), "{name} {flag}");
        }
    }
    for stage in almanac_catalog::PIPELINE {
        let described = bench.run(&stage.binary(), &["describe"]).exits(0).json();
        assert_eq!(described["revision"], stage.revision, "{} is of another build", stage.name);
    }
}

#[test]
fn texts_that_failed_are_told_with_the_reason_and_what_to_do() {
    let bench = built_bench();
    // One token is less than any answer needs.
    let settings = ["max_tokens=1", "context_tokens=120", "sampling.attempts=1"];
    let settings: Vec<String> = settings.iter().map(|set| format!("explain.params.{set}")).collect();
    let mut arguments = vec!["run", "--json", "--max-records", "2"];
    settings.iter().for_each(|set| arguments.extend(["--set", set.as_str()]));
    let run = bench.run("almanac-explain", &arguments).exits(0);
    let counts = &run.json()["counts"];
    assert_eq!((counts["failed_now"].as_u64(), counts["generated"].as_u64()), (Some(2), Some(0)));
    let first = counts["first_failure"].as_str().unwrap();
    assert!(first.ends_with(": the answer is empty"), "{first}");
    let entities: Vec<Entity> = bench.rows("sources");
    let name = first.split('`').nth(1).unwrap();
    assert!(entities.iter().any(|entity| entity.qualified_name == name), "{name} is no name");
    for words in ["warning", "2 of the texts", first, "almanac build --retry-failed"] {
        assert!(run.stderr.contains(words), "no `{words}` in {}", run.stderr);
    }
    assert_eq!(bench.last_run("explain")["counts"]["failed_now"], 2);
    // The next run says that they are still there, and one that is asked to tries again.
    let forced = bench.run("almanac-explain", &[&arguments[..], &["--force"]].concat()).exits(0);
    assert!(forced.stderr.contains("were not tried again"), "{}", forced.stderr);
    let retry = [&arguments[..], &["--set", "explain.run.retry_failed=true"]].concat();
    assert_eq!(bench.run("almanac-explain", &retry).exits(0).json()["counts"]["failed_now"], 2);
    let build = [&arguments[4..], &["--until", "explain", "--force", "explain"]].concat();
    assert!(bench.build(2, &build).exits(0).json()["failed"]["explain"].as_u64().unwrap() >= 2);
}

#[test]
fn each_model_is_a_line_of_json() {
    let bench = Bench::empty();
    for (verb, outcome) in [("get", "present"), ("verify", "verified")] {
        let names = ["all-minilm-l6-v2", "smollm2-135m-instruct"];
        let run = bench.run("almanac", &[&["models", verb, "--json"], &names[..]].concat()).exits(0);
        let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2, "{}", run.stdout);
        for (line, name) in lines.iter().zip(names) {
            assert_eq!((&line["name"], &line["outcome"]), (&Value::from(name), &Value::from(outcome)));
            assert!(line["files"].as_u64().unwrap() > 0 && line["pinned"].as_bool().unwrap(), "{line}");
            assert!(std::path::Path::new(line["folder"].as_str().unwrap()).is_dir(), "{line}");
        }
    }
}
