//! Bad input: a documented exit code, a message with a hint, and nothing lost.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use almanac_artifact::{STORE_FORMAT, Store};
use almanac_tables::{File, FileStatus};
use almanac_tests::{Bench, RECORDS, Run, binary, built_bench};

#[track_caller]
fn has_hint(run: &Run, words: &[&str]) {
    assert!(run.stderr.contains("error: ") || run.stderr.contains("\"error\""), "{}", run.stderr);
    assert!(run.stderr.contains("hint"), "{}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "no `{word}` in:\n{}", run.stderr);
    }
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
}

#[test]
fn a_missing_model_is_said_before_anything_is_lost() {
    let bench = Bench::with_picolib();
    let empty = bench.path("no-models");
    fs_err::create_dir(&empty).unwrap();
    let mut command = bench.build_command(1, &[]);
    let output = command.env("ALMANAC_MODELS", &empty).output().unwrap();
    assert_eq!(output.status.code(), Some(69), "{}", String::from_utf8_lossy(&output.stderr));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("almanac models get"), "{stderr}");
    // Before the first stage ran, and what needs no model is there for the asking.
    assert!(!stderr.contains("Running"), "{stderr}");
    let tree = bench.tree().display().to_string();
    bench.run("almanac", &["build", "--source", &tree, "--until", "graph"]).exits(0);
}

#[test]
fn a_model_with_a_wrong_digest_is_refused() {
    let bench = built_bench();
    let models = bench.path("models");
    let folder = models.join("smollm2-135m-instruct");
    fs_err::create_dir_all(&folder).unwrap();
    let list = bench.run("almanac", &["models", "list", "--json"]).exits(0).json();
    let entry = list.as_array().unwrap().iter().find(|m| m["name"] == "smollm2-135m-instruct").unwrap();
    let real = entry["folder"].as_str().unwrap();
    for file in fs_err::read_dir(real).unwrap() {
        let path = file.unwrap().path();
        let mut bytes = fs_err::read(&path).unwrap();
        // A byte in the weights: same length, still a GGUF.
        let place = bytes.len() / 2;
        bytes[place] ^= 1;
        fs_err::write(folder.join(path.file_name().unwrap()), bytes).unwrap();
    }
    let mut command = bench.command("almanac-explain", &["run", "--max-records", "5"]);
    let output = command.env("ALMANAC_MODELS", &models).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(65), "{stderr}");
    assert!(stderr.contains("hint"), "{stderr}");
    bench.artifact("explanations").verify().unwrap();
}

#[test]
fn random_bytes_named_cpp_are_a_file_and_nothing_more() {
    let bench = built_bench();
    // A fixed pseudo-random sequence (xorshift), so that a failure can be repeated.
    let mut state = 0x9e37_79b9_u32;
    let noise: Vec<u8> = (0..50_000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 24) as u8
        })
        .collect();
    fs_err::write(bench.tree().join("src/noise.cpp"), &noise).unwrap();
    let printable: Vec<u8> = noise.iter().map(|byte| 32 + byte % 95).collect();
    fs_err::write(bench.tree().join("src/printable.cpp"), printable).unwrap();
    fs_err::write(bench.tree().join("src/latin1.cpp"), b"// caf\xe9\nint coffee();\n").unwrap();
    fs_err::write(bench.tree().join("src/empty.cpp"), b"").unwrap();
    bench.build(RECORDS, &["--until", "graph"]).exits(0);
    let files: Vec<File> = bench.rows("sources");
    let file = |path: &str| files.iter().find(|file| file.path == path).unwrap();
    assert_eq!(file("src/noise.cpp").status, FileStatus::Binary);
    assert!(matches!(file("src/printable.cpp").status, FileStatus::Parsed | FileStatus::Text));
    assert!(file("src/latin1.cpp").lossy);
}

/// Whether a file can be unreadable for this process at all.
fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.starts_with(b"0\n"))
}

#[test]
fn an_unreadable_file_is_listed_and_the_rest_is_read() {
    let bench = Bench::with_picolib();
    let path = bench.tree().join("src/secret.h");
    fs_err::write(&path, "int secret();\n").unwrap();
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = if is_root() {
        // Root reads everything, so the stage runs as nobody, who owns the store.
        fs_err::create_dir(bench.store()).unwrap();
        for folder in [bench.path(""), bench.tree(), bench.store()] {
            fs_err::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        }
        let copy = bench.path("almanac-parse");
        fs_err::copy(binary("almanac-parse"), &copy).unwrap();
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(copy);
        command
    } else {
        Command::new(binary("almanac-parse"))
    };
    command.arg("run").arg("--store").arg(bench.store()).arg("--source").arg(bench.tree());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files: Vec<File> = bench.rows("sources");
    let secret = files.iter().find(|file| file.path == "src/secret.h").unwrap();
    assert_eq!(secret.status, FileStatus::Unreadable);
    assert!(secret.status_reason.contains("permission denied"), "{secret:?}");
    assert!(files.iter().filter(|file| file.status == FileStatus::Parsed).count() > 5);
}

/// What could not be read at this moment must not look like a tree without it.
#[test]
fn too_few_open_files_never_make_a_smaller_tree() {
    let bench = Bench::with_picolib();
    let tree = bench.tree().display().to_string();
    bench.run("almanac-parse", &["run", "--source", &tree]).exits(0);
    let whole: Vec<String> = bench.rows::<File>("sources").into_iter().map(|file| file.path).collect();
    for files in 4..14 {
        let store = bench.path(&format!("store-{files}"));
        let line = format!(
            "ulimit -n {files}; exec {:?} run --source {tree:?} --store {store:?}",
            binary("almanac-parse"),
        );
        let output = Command::new("bash").args(["-c", &line]).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => {
                let sources = Store::open(&store).unwrap().current("default", "sources", "parse").unwrap();
                let read: Vec<String> =
                    sources.read::<File>().unwrap().into_iter().map(|file| file.path).collect();
                assert_eq!(read, whole, "{files} open files: {stderr}");
            }
            Some(69 | 74) => assert!(stderr.contains("hint"), "{files} open files: {stderr}"),
            // Not even the program's libraries can be opened.
            Some(127) => {}
            code => panic!("{files} open files: {code:?} {stderr}"),
        }
    }
}

#[test]
fn an_empty_tree_and_an_absent_one_are_missing_input() {
    let bench = Bench::empty();
    let run = bench.build(1, &[]);
    has_hint(&run, &["has no file to read"]);
    run.exits(66);
    fs_err::remove_dir(bench.tree()).unwrap();
    let run = bench.build(1, &[]);
    has_hint(&run, &["is not a folder"]);
    run.exits(66);
}

#[test]
fn a_store_of_another_format_is_refused_and_left_alone() {
    let bench = built_bench();
    let marker = bench.store().join("store.json");
    fs_err::write(&marker, format!("{{\"format\": {}}}", STORE_FORMAT + 1)).unwrap();
    for arguments in [&["status"][..], &["search", "anything"], &["plan"]] {
        let run = bench.run("almanac", arguments);
        has_hint(&run, &["format"]);
        run.exits(65);
    }
    let run = bench.build(RECORDS, &[]);
    has_hint(&run, &["format"]);
    run.exits(65);
    fs_err::write(&marker, format!("{{\"format\": {STORE_FORMAT}}}")).unwrap();
    let build = bench.build(RECORDS, &[]).exits(0);
    assert!(build.stderr.contains("nothing to run"), "{}", build.stderr);
}

#[test]
fn a_folder_that_is_no_store_is_missing_input() {
    let bench = Bench::empty();
    for arguments in [&["status"][..], &["search", "anything"], &["ask", "anything"]] {
        let run = bench.run("almanac", arguments);
        has_hint(&run, &["almanac build"]);
        run.exits(66);
    }
}

#[test]
fn a_corrupted_part_is_set_aside_and_rebuilt_without_the_model() {
    for artifact in ["sources", "explanations", "embeddings"] {
        let bench = built_bench();
        let before = bench.artifact_bytes();
        let folder = bench.artifact(artifact).folder().to_owned();
        let part = fs_err::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.extension().is_some_and(|extension| extension == "parquet"))
            .unwrap();
        let bytes = fs_err::read(&part).unwrap();
        fs_err::write(&part, &bytes[..bytes.len() - 9]).unwrap();

        let limit = RECORDS.to_string();
        let plan = bench.run("almanac", &["plan", "--json", "--max-records", &limit]).exits(0).json();
        assert!(plan.to_string().contains("output_damaged"), "{plan}");
        let run = bench.run("almanac", &["search", "anything"]);
        has_hint(&run, &["does not match its manifest"]);
        run.exits(65);

        bench.build(RECORDS, &[]).exits(0);
        assert_eq!(before, bench.artifact_bytes());
        let generated = bench.last_run("explain")["counts"]["generated"].as_u64().unwrap();
        let expected = if artifact == "explanations" { 0 } else { RECORDS };
        assert_eq!(generated, u64::from(expected), "{artifact}");
        assert_eq!(Store::open(&bench.store()).unwrap().root(), bench.store());
    }
}

/// States of the stages that are not fresh, by name, with the first reason.
fn not_fresh(bench: &Bench, arguments: &[&str]) -> Vec<(String, String)> {
    let limit = RECORDS.to_string();
    let arguments = [&["plan", "--json", "--max-records", &limit], arguments].concat();
    let plan = bench.run("almanac", &arguments).exits(0).json();
    let stages = plan["stages"].as_array().unwrap().iter().filter(|stage| stage["state"] != "fresh");
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    stages.map(|stage| (text(&stage["stage"]), text(&stage["reasons"][0]["reason"]))).collect()
}

fn flip_byte(path: &Path) {
    let mut bytes = fs_err::read(path).unwrap();
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    fs_err::write(path, bytes).unwrap();
}

#[test]
fn damage_that_keeps_the_length_is_found_by_verifying_and_repaired() {
    let bench = built_bench();
    let before = bench.artifact_bytes();
    let cases = [
        ("sources", "parse", "entities-00000.parquet"),
        ("explanations", "explain", "explanations-00000.parquet"),
        ("index", "index", "vectors.faiss"),
    ];
    for (artifact, stage, file) in cases {
        let folder = bench.artifact(artifact).folder().to_owned();
        flip_byte(&folder.join(file));
        assert!(not_fresh(&bench, &[]).is_empty(), "{file}: lengths are right");
        let found = not_fresh(&bench, &["--verify"]);
        assert_eq!(found[0], (stage.to_owned(), "output_damaged".to_owned()), "{file}");
        let build = bench.build(RECORDS, &["--verify"]).exits(0).json();
        assert!(build["ran"].to_string().contains(stage), "{build}");
        assert_eq!(before, bench.artifact_bytes(), "{file}");
        assert!(not_fresh(&bench, &["--verify"]).is_empty(), "{file}");
    }
}

#[test]
fn a_damaged_ref_is_said_and_written_anew() {
    let bench = built_bench();
    let before = bench.artifact_bytes();
    let cases = [
        ("sources", "parse", ""),
        ("explanations", "explain", "garbage"),
        ("index", "index", "{\"key\": \"00"),
    ];
    for (artifact, stage, damaged) in cases {
        let path = bench.store().join(format!("refs/default/{artifact}.json"));
        fs_err::write(&path, damaged).unwrap();
        assert_eq!(not_fresh(&bench, &[])[0], (stage.to_owned(), "ref_damaged".to_owned()));
        bench.run("almanac", &["status"]).exits(0);
        bench.build(RECORDS, &[]).exits(0);
        assert_eq!(before, bench.artifact_bytes());
    }
    let generated = bench.last_run("explain")["counts"]["generated"].as_u64();
    assert_eq!(generated, Some(0), "the ledger holds every record");
}

#[test]
fn a_store_is_neither_the_source_tree_nor_a_file() {
    let bench = Bench::with_picolib();
    let tree = bench.tree();
    let run_on = |store: &Path, program: &str, verb: &str| {
        let mut command = Command::new(binary(program));
        command.arg(verb).arg("--source").arg(&tree).arg("--store").arg(store);
        command.output().unwrap()
    };
    let file = tree.join("CMakeLists.txt");
    for (store, words) in [(&tree, "same folder"), (&file, "is a file")] {
        for (program, verb) in [("almanac", "build"), ("almanac-parse", "run")] {
            let output = run_on(store, program, verb);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(78), "{stderr}");
            assert!(stderr.contains(words) && stderr.contains("hint"), "{stderr}");
            assert!(!tree.join("store.json").exists());
        }
    }
    let inside = tree.join("artifacts");
    assert!(run_on(&inside, "almanac-parse", "run").status.success());
    let files: Vec<File> =
        Store::open(&inside).unwrap().current("default", "sources", "parse").unwrap().read().unwrap();
    assert!(files.iter().all(|file| !file.path.starts_with("artifacts/")));
}

#[test]
fn without_a_home_only_what_needs_a_model_ends() {
    let bench = built_bench();
    let limit = RECORDS.to_string();
    let homeless = |arguments: &[&str]| {
        let mut command = bench.command("almanac", arguments);
        command.env_remove("HOME").env_remove("XDG_CACHE_HOME").env_remove("ALMANAC_MODELS");
        command.output().unwrap()
    };
    for arguments in [&["status"][..], &["plan", "--check", "--max-records", &limit], &["config"]] {
        let output = homeless(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let output = homeless(&["models", "list"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(78), "{stderr}");
    assert!(stderr.contains("ALMANAC_MODELS"), "{stderr}");
}

#[test]
fn unknown_settings_profiles_and_stages_name_what_exists() {
    let bench = built_bench();
    let run = bench.run("almanac", &["plan", "--set", "explain.run.max_secnds=3"]);
    has_hint(&run, &["max_secnds", "max_seconds"]);
    run.exits(78);
    let run = bench.run("almanac", &["plan", "--profile", "nonsense"]);
    has_hint(&run, &["nonsense"]);
    run.exits(78);
    let run = bench.build(1, &["--force", "compile"]);
    has_hint(&run, &["compile", "parse"]);
    run.exits(2);
}
