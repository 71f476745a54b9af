//! What a file takes from the rest of its tree: the meaning of macros, and the scopes it is included in.
//!
//! A file that is included only inside namespaces or classes declares what it declares there, as the
//! parts of a header do that opens `namespace arma {` around its includes. Where every include is
//! known, that is a fact of the tree; a file that is included at top level, or not at all, stands by
//! itself.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use almanac_language::{
    Define, Directives, EnclosedInclude, ScopePart, TreeMacros, directives, enclosed_includes,
};
use rayon::prelude::*;

/// Scopes that one file is read in.
const SCOPES: usize = 4;
/// Namespaces and classes around a file that are followed: headers may include each other.
const DEPTH: usize = 12;

/// Namespaces and classes around a file, outermost first.
pub(crate) type Around = Vec<ScopePart>;

/// What a tree tells about each of its files.
#[derive(Debug, Default)]
pub struct Surroundings {
    pub(crate) macros: TreeMacros,
    scopes: HashMap<String, Vec<Around>>,
}

impl Surroundings {
    /// Of the C-family files of a tree, in path order; `text` gives theirs.
    pub(crate) fn of<'t, F: Sync>(
        files: &'t [F],
        path: impl Fn(&'t F) -> &'t str + Sync,
        text: impl Fn(&'t F) -> Option<std::borrow::Cow<'t, str>> + Sync,
    ) -> Self {
        let read: Vec<Option<Directives>> =
            files.par_iter().map(|file| Some(directives(&text(file)?))).collect();
        let defines = read.iter().flatten().flat_map(|one| one.defines.iter().cloned());
        let macros = TreeMacros::new(defines.collect::<Vec<Define>>());
        let includes: Vec<(&str, Vec<EnclosedInclude>)> = files
            .par_iter()
            .zip(read)
            .filter_map(|(file, read)| {
                let read = read?;
                let found = match read.may_enclose {
                    true => enclosed_includes(&text(file)?, &macros),
                    false => read.includes.into_iter().map(at_top).collect(),
                };
                Some((path(file), found))
            })
            .collect();
        let scopes = scopes(&includes);
        Self { macros, scopes }
    }

    /// Scopes in which a file is included; none where it stands by itself.
    pub(crate) fn around(&self, path: &str) -> &[Around] {
        self.scopes.get(path).map_or(&[], Vec::as_slice)
    }
}

fn at_top(path: String) -> EnclosedInclude {
    EnclosedInclude { path, scope: Some(Vec::new()) }
}

/// The files of a tree by the ends of their paths.
struct Paths<'a> {
    all: BTreeSet<&'a str>,
    by_name: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Paths<'a> {
    fn new(paths: impl Iterator<Item = &'a str>) -> Self {
        let all: BTreeSet<&str> = paths.collect();
        let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
        for path in &all {
            by_name.entry(last_part(path)).or_default().push(path);
        }
        Self { all, by_name }
    }

    /// The file that a path included from another means: beside it, else the one file of the tree
    /// whose path ends so.
    fn find(&self, from: &str, written: &str) -> Option<&'a str> {
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        if let Some(found) = joined(folder, written).and_then(|path| self.all.get(path.as_str()).copied()) {
            return Some(found);
        }
        let written = written.trim_start_matches("./");
        let is_it = |path: &&&str| {
            path.strip_suffix(written).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        let mut found = self.by_name.get(last_part(written))?.iter().filter(is_it);
        match (found.next(), found.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A path from a folder, `..` resolved; `None` above the tree.
fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The scopes of files that are included, and never at top level.
fn scopes(includes: &[(&str, Vec<EnclosedInclude>)]) -> HashMap<String, Vec<Around>> {
    // Most trees have no include inside anything.
    let encloses = |one: &EnclosedInclude| one.scope.as_ref().is_some_and(|scope| !scope.is_empty());
    if !includes.iter().any(|(_, found)| found.iter().any(encloses)) {
        return HashMap::new();
    }
    let paths = Paths::new(includes.iter().map(|(path, _)| *path));
    let mut targets: BTreeMap<&str, Vec<(&str, Around)>> = BTreeMap::new();
    let mut included: BTreeSet<&str> = BTreeSet::new();
    for (from, found) in includes {
        for one in found {
            let Some(target) = paths.find(from, &one.path).filter(|target| target != from) else { continue };
            included.insert(target);
            // What stands in a function or a list is no place for declarations.
            let scope = one.scope.clone().unwrap_or_default();
            targets.entry(from).or_default().push((target, scope));
        }
    }
    let mut found: BTreeMap<&str, BTreeSet<Around>> = BTreeMap::new();
    let mut open: VecDeque<&str> = VecDeque::new();
    for path in paths.all.iter().filter(|path| !included.contains(*path)) {
        found.insert(path, BTreeSet::from([Vec::new()]));
        open.push_back(path);
    }
    while let Some(path) = open.pop_front() {
        let around = found.get(path).cloned().unwrap_or_default();
        for (target, scope) in targets.get(path).map_or(&[][..], Vec::as_slice) {
            if spread(&around, scope, found.entry(target).or_default()) {
                open.push_back(target);
            }
        }
    }
    let is_inside = |around: &BTreeSet<Around>| !around.is_empty() && !around.contains(&Vec::new());
    let kept = found.into_iter().filter(|(_, around)| is_inside(around));
    kept.map(|(path, around)| (path.to_owned(), around.into_iter().collect())).collect()
}

/// Adds to a file's scopes those of a file that includes it, and whether there are new ones. Top
/// level is stronger than any other.
fn spread(around: &BTreeSet<Around>, scope: &Around, into: &mut BTreeSet<Around>) -> bool {
    if into.contains(&Vec::new()) {
        return false;
    }
    let mut is_new = false;
    for outer in around {
        let mut inner = outer.clone();
        inner.extend_from_slice(scope);
        if inner.is_empty() {
            *into = BTreeSet::from([inner]);
            return true;
        }
        if inner.len() <= DEPTH && (into.len() < SCOPES || into.contains(&inner)) {
            is_new |= into.insert(inner);
        }
    }
    is_new
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn around(files: &[(&str, &str)], path: &str) -> Vec<String> {
        let found = Surroundings::of(files, |file| file.0, |file| Some(Cow::Borrowed(file.1)));
        let shown =
            |around: &Around| around.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join("::");
        found.around(path).iter().map(shown).collect()
    }

    #[test]
    fn parts_of_a_header_stand_in_its_namespace() {
        let files = [
            ("lib/all", "#include \"lib/setup.h\"\nnamespace a {\n#include \"part.h\"\n}\n"),
            ("lib/inner.h", ""),
            ("lib/part.h", "namespace b {\n#include <lib/inner.h>\n}\n"),
            ("lib/setup.h", ""),
        ];
        assert_eq!(around(&files, "lib/part.h"), ["a"]);
        assert_eq!(around(&files, "lib/inner.h"), ["a::b"]);
        assert!(around(&files, "lib/setup.h").is_empty());
    }

    #[test]
    fn top_level_is_stronger_and_classes_are_several() {
        let files = [
            ("m.h", "class M {\n#include \"both.h\"\n};\n"),
            ("n.h", "class N {\n#include \"both.h\"\n#include \"free.h\"\n};\n"),
            ("o.cpp", "#include \"free.h\"\n"),
            ("both.h", ""),
            ("free.h", ""),
        ];
        assert_eq!(around(&files, "both.h"), ["M", "N"]);
        assert!(around(&files, "free.h").is_empty());
    }

    #[test]
    fn files_that_include_each_other_end() {
        let files = [
            ("a.h", "namespace n {\n#include \"b.h\"\n}\n"),
            ("b.h", "namespace n {\n#include \"a.h\"\n}\n"),
            ("top.cpp", "namespace t {\n#include \"a.h\"\n}\n"),
        ];
        assert_eq!(around(&files, "a.h").first().map(String::as_str), Some("t"));
    }
}
