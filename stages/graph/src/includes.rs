//! Which file an `#include`, a CMake command or a Python import means.

use rustc_hash::FxHashMap;

use almanac_tables::{EdgeKind, Reference, ReferenceKind, ReferenceOutcome, Resolution};

use crate::GraphParams;
use crate::edges::{EdgeSet, How, NEAR, Node, Spot};
use crate::outcomes::Outcomes;
use crate::tree::{Family, Tree};

/// Standard headers with an extension; without one, a header in angle brackets is a system header.
const C_HEADERS: &[&str] = &[
    "assert.h",
    "complex.h",
    "ctype.h",
    "errno.h",
    "fenv.h",
    "float.h",
    "inttypes.h",
    "limits.h",
    "locale.h",
    "math.h",
    "setjmp.h",
    "signal.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "time.h",
    "unistd.h",
    "wchar.h",
    "mpi.h",
    "omp.h",
];

/// Resolves every include, adds its edges and returns the included files of each file, each once.
pub(crate) fn resolve_includes(
    tree: &Tree<'_>,
    references: &[Reference],
    params: &GraphParams,
    edges: &mut EdgeSet,
    outcomes: &mut Outcomes,
) -> Vec<Vec<usize>> {
    let suffixes = suffix_index(tree);
    let mut targets = vec![Vec::new(); tree.files.len()];
    for reference in references.iter().filter(|reference| reference.kind == ReferenceKind::Include) {
        let Some(from) = tree.file(&reference.path) else { continue };
        let asked = Asked::new(reference);
        let (found, resolution) = find(tree, &suffixes, from, &asked);
        if found.is_empty() {
            let outcome =
                if asked.is_system { ReferenceOutcome::External } else { ReferenceOutcome::Unresolved };
            outcomes.count(ReferenceKind::Include, outcome);
            continue;
        }
        if found.len() > params.max_candidates as usize {
            outcomes.count(ReferenceKind::Include, ReferenceOutcome::TooMany);
            continue;
        }
        let confidence = if resolution == Resolution::Name { NEAR } else { 1.0 };
        let how = How::one_of(found.len(), resolution, confidence);
        outcomes.count(ReferenceKind::Include, ReferenceOutcome::from_resolution(how.resolution));
        for to in found {
            let spot = Spot { file: from, line: reference.line };
            edges.add(EdgeKind::Includes, Node::File(from), Node::File(to), how, spot);
            if !targets[from].contains(&to) {
                targets[from].push(to);
            }
        }
    }
    targets
}

/// An include as its author wrote it.
struct Asked {
    path: String,
    is_system: bool,
}

impl Asked {
    fn new(reference: &Reference) -> Self {
        let written = reference.written.trim();
        let name = reference.name.trim().trim_matches(['<', '>', '"', '\'']);
        // `${PROJECT_SOURCE_DIR}/cmake/Options.cmake` is a path below some folder of the tree.
        let name = match name.rfind("}/") {
            Some(at) if name.contains("${") => &name[at + 2..],
            _ => name,
        };
        Self { path: name.trim_start_matches('/').to_owned(), is_system: written.contains('<') }
    }
}

/// Every path suffix that starts at a folder border, with the files that have it.
pub(crate) fn suffix_index<'a>(tree: &Tree<'a>) -> FxHashMap<&'a str, Vec<usize>> {
    let mut index: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (at, file) in tree.files.iter().enumerate() {
        let path = file.path.as_str();
        let starts = path.match_indices('/').map(|(slash, _)| slash + 1);
        for start in std::iter::once(0).chain(starts) {
            index.entry(&path[start..]).or_default().push(at);
        }
    }
    index
}

fn find(
    tree: &Tree<'_>,
    suffixes: &FxHashMap<&str, Vec<usize>>,
    from: usize,
    asked: &Asked,
) -> (Vec<usize>, Resolution) {
    let spellings = spellings(Family::of(tree.files[from].language), &asked.path);
    if !asked.is_system {
        for spelling in &spellings {
            let beside = normalised(&tree.files[from].folder, spelling);
            if let Some(to) = beside.and_then(|path| tree.file(&path)) {
                return (vec![to], Resolution::Exact);
            }
        }
    }
    let has_extension = asked.path.contains('.');
    if asked.is_system && (!has_extension || C_HEADERS.contains(&asked.path.as_str())) {
        return (Vec::new(), Resolution::Exact);
    }
    for spelling in &spellings {
        let Some(suffix) = normalised("", spelling) else { continue };
        let Some(found) = suffixes.get(suffix.as_str()) else { continue };
        // A folder given to `add_subdirectory` is below the folder that names it.
        if spelling.ends_with("/CMakeLists.txt") {
            continue;
        }
        return nearest(tree, from, found);
    }
    (Vec::new(), Resolution::Exact)
}

/// File paths that a name may stand for, likeliest first.
fn spellings(family: Family, path: &str) -> Vec<String> {
    let path = path.trim_end_matches('/');
    match family {
        Family::Native => vec![path.to_owned(), format!("{path}.in")],
        Family::Build => vec![
            path.to_owned(),
            format!("{path}.cmake"),
            format!("Find{path}.cmake"),
            format!("{path}/CMakeLists.txt"),
        ],
        Family::Python => {
            // `.a` is beside the file, each further dot one folder up.
            let name = path.trim_start_matches('.');
            let dots = path.len() - name.len();
            let module = format!("{}{}", "../".repeat(dots.saturating_sub(1)), name.replace('.', "/"));
            vec![format!("{module}.py"), format!("{module}/__init__.py")]
        }
        // A module is kept in a file of its name; an included file has its own.
        Family::Fortran => ["f90", "F90", "f", "F"]
            .iter()
            .map(|suffix| format!("{path}.{suffix}"))
            .chain([path.to_owned()])
            .collect(),
        Family::Text => vec![path.to_owned()],
    }
}

/// The files of `found` that share most folders with `from`; ambiguous when several do.
fn nearest(tree: &Tree<'_>, from: usize, found: &[usize]) -> (Vec<usize>, Resolution) {
    let others: Vec<usize> = found.iter().copied().filter(|&to| to != from).collect();
    match others.as_slice() {
        [] => (Vec::new(), Resolution::Exact),
        [only] => (vec![*only], Resolution::Name),
        several => {
            let shared = |to: usize| tree.shared_folders(from, to);
            let most = several.iter().map(|&to| shared(to)).max().unwrap_or(0);
            let near: Vec<usize> = several.iter().copied().filter(|&to| shared(to) == most).collect();
            (near, Resolution::Name)
        }
    }
}

/// `path` below `folder` without `.` and `..`; `None` when it leaves the tree.
pub(crate) fn normalised(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if folder.is_empty() => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}
