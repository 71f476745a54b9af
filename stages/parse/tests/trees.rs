//! Whole files and trees: what cannot be read, what is taken over, and that threads change nothing.

use std::io;
use std::sync::atomic::AtomicBool;

use almanac_artifact::Digest;
use almanac_freshness::tree::TreeRules;
use almanac_parse::{
    Error, ParseInput, ParseParams, ParseRun, ParsedFile, Previous, ReadSettings, TreeInput, TreeRows,
    parse_all, parse_tree,
};
use almanac_tables::{ArtifactRole, EntityKind, FileStatus, Language, SourceType};

const RUN: ParseRun = ParseRun { threads: 2 };

const TREE: &[(&str, &str)] = &[
    ("CMakeLists.txt", "option(GPU \"Build for a GPU\" OFF)\nadd_library(core src/core.cpp)\n"),
    ("README.md", "# Core\nA library.\n\n## Use\nCall `run`.\n"),
    ("doc/pages/intro.hpp", "/**\n@page intro Introduction\nHow to begin.\n*/\n"),
    ("src/core.cpp", "#include \"core.h\"\nnamespace core { int run(int n) { return step(n); } }\n"),
    ("src/core.h", "namespace core { int run(int n); inline int step(int n) { return n + 1; } }\n"),
    ("test/TestCore.cpp", "#include \"core.h\"\nTEST(Core, Run) { core::run(1); }\n"),
];

fn params() -> ParseParams {
    let tree = TreeRules { max_file_bytes: 1 << 20, ignore: Vec::new(), include_hidden: true };
    ParseParams { max_chunk_size: 400, max_file_steps: 100_000_000, tree }
}

fn settings(params: &ParseParams, run: ParseRun) -> ReadSettings<'_> {
    static CALM: AtomicBool = AtomicBool::new(false);
    ReadSettings { params, run, interrupted: &CALM }
}

fn parse(path: &str, bytes: &[u8]) -> ParsedFile {
    let input = ParseInput { path: path.to_owned(), bytes: bytes.to_vec() };
    parse_all(&[input], settings(&params(), RUN)).expect("no signal").remove(0)
}

fn inputs(files: &[(&str, &str)]) -> Vec<TreeInput> {
    let input = |(path, text): &(&str, &str)| TreeInput {
        path: (*path).to_owned(),
        bytes: text.len() as u64,
        digest: Digest::of_bytes(text.as_bytes()).to_string(),
        problem: None,
    };
    files.iter().map(input).collect()
}

fn read_tree(files: &[(&str, &str)], previous: Previous, run: ParseRun) -> TreeRows {
    let load = |path: &str| {
        let found = files.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| io::Error::other("no such file"))
    };
    parse_tree(&inputs(files), &load, previous, settings(&params(), run)).expect("threads")
}

fn previous(rows: &TreeRows) -> Previous {
    let TreeRows { files, texts, entities, references, locals, .. } = rows.clone();
    Previous::new(files, texts, entities, references, locals)
}

#[test]
fn a_tree_gives_rows_of_every_kind_in_table_order() {
    let rows = read_tree(TREE, Previous::default(), RUN);
    let files: Vec<_> =
        rows.files.iter().map(|f| (f.path.as_str(), f.language, f.source_type, f.role, f.status)).collect();
    assert_eq!(
        files,
        [
            ("CMakeLists.txt", Language::Cmake, SourceType::Build, ArtifactRole::Build, FileStatus::Parsed),
            (
                "README.md",
                Language::Markdown,
                SourceType::Documentation,
                ArtifactRole::Documentation,
                FileStatus::Parsed
            ),
            (
                "doc/pages/intro.hpp",
                Language::Markdown,
                SourceType::Documentation,
                ArtifactRole::Documentation,
                FileStatus::Parsed
            ),
            ("src/core.cpp", Language::Cpp, SourceType::Source, ArtifactRole::Library, FileStatus::Parsed),
            ("src/core.h", Language::Cpp, SourceType::Header, ArtifactRole::Library, FileStatus::Parsed),
            ("test/TestCore.cpp", Language::Cpp, SourceType::Source, ArtifactRole::Test, FileStatus::Parsed),
        ]
    );
    let names: Vec<_> = rows.entities.iter().map(|e| (e.kind.as_str(), e.name.as_str())).collect();
    assert_eq!(
        names,
        [
            ("build_option", "GPU"),
            ("build_target", "core"),
            ("section", "Core"),
            ("section", "Use"),
            ("section", "Introduction"),
            ("namespace", "core"),
            ("function_definition", "run"),
            ("namespace", "core"),
            ("function_declaration", "run"),
            ("function_definition", "step"),
            ("test_case", "Core.Run"),
        ]
    );
    assert!(
        rows.entities.iter().filter(|e| e.path.starts_with("test/")).all(|e| e.role == ArtifactRole::Test)
    );
    let ordered = rows.entities.is_sorted_by(|a, b| {
        (&a.path, a.start_byte, a.end_byte, &a.id) <= (&b.path, b.start_byte, b.end_byte, &b.id)
    });
    assert!(ordered);
}

#[test]
fn unchanged_files_are_taken_over_and_the_rows_are_those_of_a_clean_run() {
    let first = read_tree(TREE, Previous::default(), RUN);
    assert_eq!((first.reused, first.parsed), (0, 6));
    let again = read_tree(TREE, previous(&first), RUN);
    assert_eq!((again.reused, again.parsed), (6, 0));
    let mut edited = TREE.to_vec();
    edited[4].1 = "// A note.\nnamespace core { int run(int n); inline int step(int n) { return n + 1; } }\n";
    edited.remove(5);
    let partly = read_tree(&edited, previous(&first), RUN);
    assert_eq!((partly.reused, partly.parsed), (4, 1));
    let clean = read_tree(&edited, Previous::default(), RUN);
    assert_eq!(TreeRows { reused: 0, parsed: 0, ..partly }, TreeRows { reused: 0, parsed: 0, ..clean });
    assert_eq!(TreeRows { reused: 0, parsed: 0, ..again }, TreeRows { reused: 0, parsed: 0, ..first });
}

#[test]
fn the_number_of_threads_and_the_order_of_files_change_nothing() {
    let one = read_tree(TREE, Previous::default(), ParseRun { threads: 1 });
    let many = read_tree(TREE, Previous::default(), ParseRun { threads: 4 });
    assert_eq!(one, many);
    let input = |(path, text): &(&str, &str)| ParseInput {
        path: (*path).to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let forward: Vec<ParseInput> = TREE.iter().map(input).collect();
    let backward: Vec<ParseInput> = forward.iter().rev().cloned().collect();
    let all = |inputs: &[ParseInput]| parse_all(inputs, settings(&params(), RUN)).expect("threads");
    assert_eq!(all(&forward), all(&backward));
}

#[test]
fn what_cannot_be_read_has_a_row_that_says_why() {
    let mut state = 7u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(5000)
    .collect();
    let parsed = parse("src/noise.cpp", &noise);
    assert_eq!(parsed.file.status, FileStatus::Binary);
    assert!(!parsed.file.status_reason.is_empty() && parsed.text.is_none() && parsed.entities.is_empty());

    let missing =
        TreeInput { path: "src/gone.h".to_owned(), bytes: 3, digest: "00".to_owned(), problem: None };
    let refused = |_: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, "permission denied"));
    let rows =
        parse_tree(&[missing], &refused, Previous::default(), settings(&params(), RUN)).expect("threads");
    assert_eq!(rows.files[0].status, FileStatus::Unreadable);
    assert_eq!(rows.files[0].status_reason, "permission denied");

    let large = TreeInput {
        path: "data.bin".to_owned(),
        bytes: 9_000_000,
        digest: String::new(),
        problem: Some((FileStatus::TooLarge, "larger than 2 MiB".to_owned())),
    };
    let rows =
        parse_tree(&[large], &refused, Previous::default(), settings(&params(), RUN)).expect("threads");
    assert_eq!((rows.files[0].status, rows.files[0].bytes), (FileStatus::TooLarge, 9_000_000));
}

#[test]
fn a_file_that_defeats_the_parser_is_text_with_a_reason() {
    let deep = format!("int x = {}1;\n", "(".repeat(2000));
    let parsed = parse("src/deep.cpp", deep.as_bytes());
    assert_eq!(parsed.file.status, FileStatus::Text);
    assert_eq!(parsed.file.status_reason, "brackets nested deeper than 1000");
    assert_eq!(parsed.text.as_ref().map(|text| text.text.as_str()), Some(deep.as_str()));
    assert!(parsed.entities.iter().all(|entity| entity.kind == EntityKind::TextBlock));
    assert!(!parsed.entities.is_empty());
}

#[test]
fn a_name_of_very_many_parts_ends_somewhere() {
    let text = format!("int {}f() {{ return 1; }}\n", "A::".repeat(20_000));
    let parsed = parse("src/path.cpp", text.as_bytes());
    let names: Vec<usize> =
        parsed.entities.iter().map(|entity| entity.qualified_name.matches("::").count()).collect();
    assert_eq!(names, [256]);
}

#[test]
fn a_file_that_takes_too_many_steps_is_text_and_a_signal_ends_the_run() {
    let late = {
        let load = |path: &str| {
            let text = TREE.iter().find(|(name, _)| *name == path).map_or("", |(_, text)| text);
            Ok(text.as_bytes().to_vec())
        };
        let hasty = ParseParams { max_file_steps: 5, ..params() };
        parse_tree(&inputs(TREE), &load, Previous::default(), settings(&hasty, RUN)).expect("threads")
    };
    let core = &late.files[4];
    assert_eq!((core.path.as_str(), core.status), ("src/core.h", FileStatus::Text));
    assert_eq!(core.status_reason, "parser stopped after 5 steps");
    assert!(late.entities.iter().any(|e| e.path == "src/core.h" && e.kind == EntityKind::TextBlock));

    let signal = AtomicBool::new(true);
    let params = params();
    let settings = ReadSettings { params: &params, run: RUN, interrupted: &signal };
    let load = |_: &str| Ok(b"int f();\n".to_vec());
    let run = parse_tree(&inputs(&[("a.h", "int f();\n")]), &load, Previous::default(), settings);
    assert!(matches!(run, Err(Error::Interrupted)));
}

#[test]
fn a_file_is_read_again_when_a_macro_it_uses_changes_elsewhere() {
    let tree = [
        ("src/macros.h", "#define FIELD(n) int n() const;\n"),
        ("src/other.h", "int unrelated();\n"),
        ("src/user.h", "struct S {\n  FIELD(size)\n  int a;\n};\n"),
    ];
    let names = |rows: &TreeRows| -> Vec<String> {
        let of_user = rows.entities.iter().filter(|entity| entity.path == "src/user.h");
        of_user.map(|entity| entity.qualified_name.clone()).collect()
    };
    let first = read_tree(&tree, Previous::default(), RUN);
    assert_eq!(names(&first), ["S", "S::size", "S::a"]);
    let mut edited = tree.to_vec();
    edited[0].1 = "#define FIELD(n) int get_##n() const;\n";
    let again = read_tree(&edited, previous(&first), RUN);
    assert_eq!((again.reused, again.parsed), (1, 2));
    assert_eq!(names(&again), ["S", "S::get_size", "S::a"]);
    let clean = read_tree(&edited, Previous::default(), RUN);
    assert_eq!(TreeRows { reused: 0, parsed: 0, ..again }, TreeRows { reused: 0, parsed: 0, ..clean });
}

#[test]
fn a_file_is_read_again_when_it_is_included_in_another_scope() {
    let tree = [
        ("lib/all.h", "#include \"setup.h\"\nnamespace one {\n#include \"part.h\"\n}\n"),
        ("lib/part.h", "#include \"inner.h\"\nint part();\n"),
        ("lib/inner.h", "int inner();\n"),
        ("lib/setup.h", "int setup();\n"),
    ];
    let names = |rows: &TreeRows| -> Vec<String> {
        let functions = rows.entities.iter().filter(|entity| entity.kind.is_callable());
        functions.map(|entity| entity.qualified_name.clone()).collect()
    };
    let first = read_tree(&tree, Previous::default(), RUN);
    assert_eq!(names(&first), ["one::inner", "one::part", "setup"]);
    for (all, expected, parsed) in [
        // Both parts depend on the scope, the other file does not.
        (
            "#include \"setup.h\"\nnamespace two {\n#include \"part.h\"\n}\n",
            ["two::inner", "two::part", "setup"],
            3,
        ),
        ("#include \"setup.h\"\n#include \"part.h\"\n", ["inner", "part", "setup"], 3),
        (
            "#include \"setup.h\"\n\nnamespace one {\n#include \"part.h\"\n}\n",
            ["one::inner", "one::part", "setup"],
            1,
        ),
    ] {
        let mut edited = tree.to_vec();
        edited[0].1 = all;
        let again = read_tree(&edited, previous(&first), RUN);
        assert_eq!((names(&again), again.parsed), (expected.map(str::to_owned).to_vec(), parsed), "{all}");
        let clean = read_tree(&edited, Previous::default(), RUN);
        assert_eq!(TreeRows { reused: 0, parsed: 0, ..again }, TreeRows { reused: 0, parsed: 0, ..clean });
    }
}

#[test]
fn encodings_are_read_and_replacements_are_told() {
    let marked = parse("src/a.h", b"\xEF\xBB\xBFint f();\n");
    assert_eq!((marked.file.lossy, marked.entities[0].start_byte), (false, 0));
    let latin = parse("src/b.h", b"// Andr\xE9\nint f();\n");
    assert!(latin.file.lossy);
    let text = latin.text.expect("text").text;
    assert_eq!(latin.entities[0].slice(&text), "int f();");
    assert_eq!((latin.entities[0].leading_comment.as_str(), latin.file.lines), ("Andr\u{FFFD}", 2));
    let windows = parse("src/c.h", b"int f();\r\nint g();\r\n");
    assert_eq!(windows.entities.iter().map(|e| e.start_line).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn an_empty_file_and_a_file_of_comments_are_read() {
    assert!(parse("src/empty.h", b"").entities.is_empty());
    assert_eq!(parse("src/empty.h", b"").file.lines, 0);
    let notes = parse("src/notes.h", b"// Only words here.\n");
    assert_eq!(notes.entities[0].kind, EntityKind::TextBlock);
}
