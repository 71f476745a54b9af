//! The calls of the fixture library against what a compiler sees.

use std::collections::BTreeMap;
use std::path::Path;

use almanac_parse::ParseInput;
use almanac_tables::EdgeKind;

use crate::source::Graph;

const CALLS: &str = include_str!("../fixtures/picolib.calls.tsv");

/// Caller and callee with the file and the lines of the calls.
type Calls = BTreeMap<(String, String, String), Vec<u32>>;

pub(crate) fn picolib() -> Graph {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/picolib");
    let mut inputs = Vec::new();
    let mut pending = vec![root.clone()];
    while let Some(folder) = pending.pop() {
        for entry in fs_err::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let relative = path.strip_prefix(&root).expect("below").to_string_lossy().into_owned();
                inputs.push(ParseInput { path: relative, bytes: fs_err::read(path).expect("a file") });
            }
        }
    }
    Graph::read(inputs)
}

fn expected() -> Calls {
    let mut calls = Calls::new();
    for line in CALLS.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [path, line, caller, callee] = columns.as_slice() else { panic!("four columns: {line}") };
        let key = ((*path).to_owned(), (*caller).to_owned(), (*callee).to_owned());
        calls.entry(key).or_default().push(line.parse().expect("a line"));
    }
    calls
}

/// What edges say: the same, with how often and on which line first.
fn found(graph: &Graph) -> BTreeMap<(String, String, String), Vec<(u32, u32)>> {
    let mut found: BTreeMap<_, Vec<(u32, u32)>> = BTreeMap::new();
    for edge in graph.edges(EdgeKind::Calls) {
        let (caller, callee) = (graph.name(&edge.source).to_owned(), graph.name(&edge.target).to_owned());
        let key = (edge.path.clone(), caller, callee);
        found.entry(key).or_default().push((edge.line, edge.count));
    }
    found
}

#[test]
fn every_call_a_compiler_sees_is_an_edge_with_its_line_and_count() {
    let graph = picolib();
    let found = found(&graph);
    let mut wrong = Vec::new();
    for (call, lines) in expected() {
        let edges = found.get(&call).map_or(&[][..], Vec::as_slice);
        let first = edges.iter().map(|(line, _)| *line).min();
        let count: u32 = edges.iter().map(|(_, count)| *count).sum();
        // A line with several calls is listed once.
        if first != lines.iter().copied().min() || count < lines.len() as u32 {
            wrong.push(format!("{call:?}: lines {lines:?}, edges (line, count) {edges:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Edges that the table does not have, though they are right: caller, callee and why it has none.
const UNSEEN: &[(&str, &str, &str)] = &[
    ("TwoStreamManager::initialize", "TwoStreamManager::initialize::perturbed", "a lambda"),
    ("pico::ExtrapolateFace::apply", "pico::FaceCondition::forEachGhost", "never instantiated"),
    (
        "pico::ExtrapolateFace::assignGhostToInterior",
        "pico::FaceCondition::forEachGhost",
        "never instantiated",
    ),
    ("pico::device::deposit", "pico::device::depositKernel", "CUDA"),
    ("pico::device::depositKernel", "pico::device::wrap", "CUDA"),
    ("pico::Attribute::operator=", "pico::parallel::View::data", "never instantiated"),
];

#[test]
fn every_other_edge_is_an_operator_a_constructor_or_listed() {
    let graph = picolib();
    let expected = expected();
    let mut unseen: Vec<(String, String)> = Vec::new();
    for (path, caller, callee) in found(&graph).into_keys() {
        let mut names = callee.rsplit("::");
        let name = names.next().unwrap_or_default().to_owned();
        let is_constructor = names.next() == Some(name.as_str());
        let is_cpp = [".h", ".hpp", ".cpp", ".cu"].iter().any(|ending| path.ends_with(ending));
        let is_listed = expected.contains_key(&(path, caller.clone(), callee.clone()));
        if is_cpp && !is_listed && !is_constructor && !name.starts_with("operator") {
            unseen.push((caller, callee));
        }
    }
    unseen.sort();
    let mut right: Vec<(String, String)> =
        UNSEEN.iter().map(|(caller, callee, _)| ((*caller).to_owned(), (*callee).to_owned())).collect();
    right.sort();
    assert_eq!(unseen, right);
}
