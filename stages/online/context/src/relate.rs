//! Relations between files: by name, by include, by folder, by history.

use std::collections::HashMap;

use almanac_tables::ArtifactRole;

use crate::history::History;
use crate::settings::ContextSettings;
use crate::workspace::ViewedFile;

/// Most files of one name that belong together wherever they lie.
const NAMESAKES: usize = 6;
/// Most files that include a file for the relation to say something.
const INCLUDERS: usize = 25;

/// Most files of a folder for the folder to say something.
const NEIGHBOURS: usize = 80;

/// How two files are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Pair,
    CoChange,
    Includes,
    IncludedBy,
    Build,
    Folder,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::CoChange => "co_change",
            Self::Includes => "includes",
            Self::IncludedBy => "included_by",
            Self::Build => "builds",
            Self::Folder => "folder",
        }
    }
}

/// A related file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Related {
    pub(crate) to: usize,
    pub(crate) kind: Kind,
    /// From 0 to 1.
    pub(crate) strength: f32,
    /// What shows it.
    pub(crate) evidence: String,
}

/// Relations of all files of a view.
pub(crate) struct Relations {
    keys: Vec<String>,
    by_key: HashMap<String, Vec<usize>>,
    folders: Vec<String>,
    includes: Vec<Vec<usize>>,
    included_by: Vec<Vec<usize>>,
    /// Build file by folder.
    build: HashMap<String, usize>,
    /// Files by folder.
    in_folder: HashMap<String, Vec<usize>>,
}

impl Relations {
    pub(crate) fn new(files: &[ViewedFile], _history: &History) -> Self {
        let paths: Vec<&str> = files.iter().map(|file| file.entry.path.as_str()).collect();
        let keys: Vec<String> = paths.iter().map(|path| key(path)).collect();
        let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut build = HashMap::new();
        for (at, path) in paths.iter().enumerate() {
            by_key.entry(keys[at].clone()).or_default().push(at);
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            by_name.entry(name).or_default().push(at);
            if name == "CMakeLists.txt" {
                build.insert(folder.to_owned(), at);
            }
        }
        let mut included_by = vec![Vec::new(); files.len()];
        let mut includes = vec![Vec::new(); files.len()];
        for (at, file) in files.iter().enumerate() {
            for written in &file.units.includes {
                let found = included(&paths, &by_name, at, written).filter(|found| *found != at);
                if let Some(found) = found.filter(|found| !includes[at].contains(found)) {
                    includes[at].push(found);
                    included_by[found].push(at);
                }
            }
        }
        let folders: Vec<String> =
            paths.iter().map(|path| path.rsplit_once('/').map_or("", |(f, _)| f).to_owned()).collect();
        let mut in_folder: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, folder) in folders.iter().enumerate() {
            in_folder.entry(folder.clone()).or_default().push(at);
        }
        Self { keys, by_key, folders, includes, included_by, build, in_folder }
    }

    /// Everything a file is related to that the settings ask for.
    pub(crate) fn of(
        &self,
        file: usize,
        files: &[ViewedFile],
        history: &History,
        settings: &ContextSettings,
    ) -> Vec<Related> {
        let mut found = Vec::new();
        if settings.parts.implicit {
            self.by_name(file, files, &mut found);
        }
        if settings.parts.organisational {
            for (to, strength, count) in history.together(file).into_iter().take(40) {
                let evidence = format!("changed together {count} times");
                found.push(Related { to, kind: Kind::CoChange, strength, evidence });
            }
            self.neighbours(file, &mut found);
        }
        if settings.parts.explicit {
            let evidence = |from: usize, to: usize| {
                format!("{} includes {}", files[from].entry.path, files[to].entry.path)
            };
            for &to in &self.includes[file] {
                let rarity = 1.0 / (1.0 + self.included_by[to].len() as f32).ln().max(1.0);
                found.push(Related {
                    to,
                    kind: Kind::Includes,
                    strength: rarity,
                    evidence: evidence(file, to),
                });
            }
            if self.included_by[file].len() <= INCLUDERS {
                let rarity = 1.0 / (1.0 + self.included_by[file].len() as f32).ln().max(1.0);
                for &to in &self.included_by[file] {
                    let evidence = evidence(to, file);
                    found.push(Related { to, kind: Kind::IncludedBy, strength: rarity, evidence });
                }
            }
        }
        found
    }

    /// Files of the same folder; the fewer they are, the more it says.
    fn neighbours(&self, file: usize, found: &mut Vec<Related>) {
        let folder = &self.folders[file];
        let inside = self.in_folder.get(folder).map_or(&[][..], Vec::as_slice);
        if folder.is_empty() || inside.len() > NEIGHBOURS {
            return;
        }
        let strength = 1.0 / (inside.len() as f32).sqrt();
        for &to in inside.iter().filter(|to| **to != file) {
            let evidence = format!("both are in {folder}");
            found.push(Related { to, kind: Kind::Folder, strength, evidence });
        }
    }

    /// Namesakes, and the build file of the folder.
    fn by_name(&self, file: usize, files: &[ViewedFile], found: &mut Vec<Related>) {
        let namesakes = self.by_key.get(&self.keys[file]).map_or(&[][..], Vec::as_slice);
        for &to in namesakes.iter().filter(|to| **to != file) {
            let beside = self.folders[to] == self.folders[file];
            if namesakes.len() > NAMESAKES && !beside {
                continue;
            }
            let is_test = |at: usize| files[at].role == ArtifactRole::Test;
            let strength = if is_test(to) != is_test(file) { 0.7 } else { 1.0 };
            let evidence = format!("both are named {}", self.keys[file]);
            found.push(Related { to, kind: Kind::Pair, strength, evidence });
        }
        if let Some(&to) = self.build.get(&self.folders[file]).filter(|to| **to != file) {
            let evidence = format!("builds {}", self.folders[file]);
            found.push(Related { to, kind: Kind::Build, strength: 1.0, evidence });
        }
    }
}

/// The name by which header, implementation and tests of one thing are known.
fn key(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem).to_lowercase();
    let mut stem = stem.as_str();
    for mark in ["test_", "tests_", "unit_", "bench_", "test"] {
        stem = stem.strip_prefix(mark).filter(|rest| rest.len() > 2).unwrap_or(stem);
    }
    for mark in ["_tests", "_test", "_impl", "_fwd", "tests", "test", "_unit"] {
        stem = stem.strip_suffix(mark).filter(|rest| rest.len() > 2).unwrap_or(stem);
    }
    let plain: String = stem.chars().filter(|c| *c != '_' && *c != '-').collect();
    if matches!(plain.as_str(), "cmakelists" | "readme" | "main" | "index" | "init" | "makefile" | "") {
        // Files of these names have nothing to do with one another.
        return path.to_lowercase();
    }
    plain
}

/// The file that an include means: the one whose path ends with it, nearest to who includes it.
fn included(
    paths: &[&str],
    by_name: &HashMap<&str, Vec<usize>>,
    from: usize,
    written: &str,
) -> Option<usize> {
    let written = written.trim_start_matches("./").trim_start_matches("../");
    let name = written.rsplit('/').next()?;
    let shared = |at: usize| {
        let (a, b) = (paths[at].split('/'), paths[from].split('/'));
        a.zip(b).take_while(|(a, b)| a == b).count()
    };
    let ends = |at: &&usize| {
        paths[**at].strip_suffix(written).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    by_name.get(name)?.iter().filter(ends).copied().max_by_key(|at| (shared(*at), std::cmp::Reverse(*at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_implementation_and_test_share_a_key() {
        for path in ["src/Field/BareField.h", "src/Field/BareField.hpp", "unit_tests/TestBareField.cpp"] {
            assert_eq!(key(path), "barefield", "{path}");
        }
        assert_eq!(key("test/unit/test_range.cpp"), "range");
        assert_ne!(key("a/CMakeLists.txt"), key("b/CMakeLists.txt"));
        assert_eq!(key("test/test.cpp"), "test");
    }

    #[test]
    fn an_include_is_the_nearest_file_of_that_path() {
        let paths = ["a/x/util.h", "b/x/util.h", "b/main.cpp"];
        let by_name = HashMap::from([("util.h", vec![0, 1])]);
        assert_eq!(included(&paths, &by_name, 2, "x/util.h"), Some(1));
        assert_eq!(included(&paths, &by_name, 2, "y/util.h"), None);
        assert_eq!(included(&paths, &by_name, 2, "../a/x/util.h"), Some(0));
    }
}
