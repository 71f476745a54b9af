//! Random edits of the fixture library: rows that take over earlier ones are those of a clean run.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use almanac_artifact::Digest;
use almanac_freshness::tree::TreeRules;
use almanac_parse::{ParseParams, ParseRun, Previous, ReadSettings, TreeInput, TreeRows, parse_tree};
use proptest::prelude::*;

type Files = BTreeMap<String, String>;

static FIXTURE: LazyLock<Files> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/picolib");
    let mut files = Files::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the fixture") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                files.insert(relative(&path, &root), text);
            }
        }
    }
    assert!(files.len() > 15, "{files:?}");
    files
});

fn relative(path: &Path, root: &PathBuf) -> String {
    path.strip_prefix(root).expect("inside").to_string_lossy().into_owned()
}

/// What an edit does to the file and line that its numbers choose.
#[derive(Debug, Clone, Copy)]
enum Edit {
    DropLine,
    RepeatLine,
    SwapLines,
    /// A line of another place: declarations, directives and macros end up where they do not belong.
    MoveLine,
    DropFile,
    CopyFile,
    Insert(&'static str),
}

/// Lines whose effect reaches beyond their file.
const FAR: [&str; 9] = [
    "#define PICO_INLINE_FUNCTION",
    "#define PICO_INLINE_FUNCTION inline __attribute__((always_inline))",
    "#define PICO_OPEN namespace opened {",
    "#define PICO_OPEN namespace other { inline namespace v2 {",
    "PICO_OPEN",
    "#undef PICO_INLINE_FUNCTION",
    "#include \"Field/Field.h\"",
    "namespace wrapped {",
    "}",
];

fn edits() -> impl Strategy<Value = Vec<(Edit, usize, usize)>> {
    let edit = prop_oneof![
        3 => Just(Edit::DropLine),
        2 => Just(Edit::RepeatLine),
        2 => Just(Edit::SwapLines),
        3 => Just(Edit::MoveLine),
        1 => Just(Edit::DropFile),
        1 => Just(Edit::CopyFile),
        4 => proptest::sample::select(&FAR[..]).prop_map(Edit::Insert),
    ];
    proptest::collection::vec((edit, any::<usize>(), any::<usize>()), 1..6)
}

fn apply(files: &mut Files, (edit, file, line): (Edit, usize, usize)) {
    let Some(path) = files.keys().nth(file % files.len()).cloned() else { return };
    let mut lines: Vec<String> = files[&path].split_inclusive('\n').map(str::to_owned).collect();
    let at = if lines.is_empty() { 0 } else { line % lines.len() };
    match edit {
        Edit::DropFile if files.len() > 5 => {
            files.remove(&path);
            return;
        }
        Edit::CopyFile => {
            let text = files[&path].clone();
            files.insert(format!("copy{}/{path}", line % 3), text);
            return;
        }
        Edit::Insert(text) => lines.insert(at, format!("{text}\n")),
        _ if lines.is_empty() => {}
        Edit::DropLine | Edit::DropFile => drop(lines.remove(at)),
        Edit::RepeatLine => lines.insert(at, lines[at].clone()),
        Edit::SwapLines => {
            let next = (at + 1) % lines.len();
            lines.swap(at, next);
        }
        Edit::MoveLine => {
            let moved = lines.remove(at);
            let place = (line / 7) % (lines.len() + 1);
            lines.insert(place, moved);
        }
    }
    files.insert(path, lines.concat());
}

fn read(files: &Files, previous: Previous) -> TreeRows {
    static CALM: AtomicBool = AtomicBool::new(false);
    let inputs: Vec<TreeInput> = files
        .iter()
        .map(|(path, text)| TreeInput {
            path: path.clone(),
            bytes: text.len() as u64,
            digest: Digest::of_bytes(text.as_bytes()).to_string(),
            problem: None,
        })
        .collect();
    let load = |path: &str| {
        let text = files.get(path).ok_or_else(|| io::Error::other("no such file"))?;
        Ok(text.as_bytes().to_vec())
    };
    let tree = TreeRules { max_file_bytes: 1 << 20, ignore: Vec::new(), include_hidden: true };
    let params = ParseParams { max_chunk_size: 400, max_file_steps: 100_000_000, tree };
    let settings = ReadSettings { params: &params, run: ParseRun { threads: 2 }, interrupted: &CALM };
    parse_tree(&inputs, &load, previous, settings).expect("no signal")
}

fn kept(rows: &TreeRows) -> Previous {
    let TreeRows { files, texts, entities, references, locals, .. } = rows.clone();
    Previous::new(files, texts, entities, references, locals)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_taken_over_equals_what_is_read_anew(rounds in proptest::collection::vec(edits(), 1..4)) {
        let mut files = FIXTURE.clone();
        let mut rows = read(&files, Previous::default());
        for round in rounds {
            for edit in round {
                apply(&mut files, edit);
            }
            let next = read(&files, kept(&rows));
            let clean = read(&files, Previous::default());
            prop_assert_eq!(&next.files, &clean.files);
            prop_assert_eq!(&next.texts, &clean.texts);
            prop_assert_eq!(&next.entities, &clean.entities);
            prop_assert_eq!(&next.references, &clean.references);
            prop_assert_eq!(&next.locals, &clean.locals);
            prop_assert_eq!(next.reused + next.parsed, clean.parsed);
            rows = next;
        }
    }
}
