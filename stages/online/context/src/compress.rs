//! The repository at the grain that tree and budget allow: by module, by file, by signature.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

/// How fine the view of the repository is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Granularity {
    /// Folders, and names of the ranked files in them.
    Module,
    /// A card for each ranked file, with names of symbols.
    File,
    /// A card for each ranked file, with signatures of symbols.
    Signature,
}

/// Tokens of a line of a file with what is known of it, and of the signatures of its symbols.
const CARD_TOKENS: usize = 60;
const SIGNATURES_TOKENS: usize = 150;
/// Files from which a tree counts as twice as large, and so on: its names are longer and less telling.
const LARGE_TREE: usize = 1000;

/// Ranked files that the line of a module names.
const NUMBERS: usize = 6;

impl Granularity {
    /// The finest that has room for all `ranked` files of a tree in `budget` tokens of cards.
    pub(crate) fn of(ranked: usize, files: usize, budget: usize) -> Self {
        let strain = 1.0 + (files as f64 / LARGE_TREE as f64).max(1.0).log2() / 4.0;
        let each = budget as f64 / ranked.max(1) as f64 / strain;
        if each >= SIGNATURES_TOKENS as f64 {
            Self::Signature
        } else if each >= CARD_TOKENS as f64 / 2.0 {
            Self::File
        } else {
            Self::Module
        }
    }
}

/// Lines that show the modules of a tree: those of the ranked files first, each with their numbers, then
/// the largest of the others. `depth` folders name a module.
pub(crate) fn modules(paths: &[&str], ranked: &[&str], depth: usize) -> Vec<String> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for path in paths {
        *sizes.entry(module(path, depth)).or_default() += 1;
    }
    let mut first: Vec<&str> = Vec::new();
    let mut numbers: HashMap<&str, Vec<String>> = HashMap::new();
    for (at, path) in ranked.iter().enumerate() {
        let module = module(path, depth);
        let known = numbers.entry(module).or_default();
        if known.is_empty() {
            first.push(module);
        }
        known.push((at + 1).to_string());
    }
    let mut others: Vec<(&str, usize)> =
        sizes.iter().filter(|(module, _)| !numbers.contains_key(*module)).map(|(m, n)| (*m, *n)).collect();
    others.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let with = first.iter().map(|module| {
        let (all, size) = (&numbers[module], sizes.get(module).copied().unwrap_or(0));
        let more =
            if all.len() > NUMBERS { format!(" and {} more", all.len() - NUMBERS) } else { String::new() };
        format!("{module} {}: {}{more}\n", files(size), all[..all.len().min(NUMBERS)].join(" "))
    });
    with.chain(others.iter().map(|(module, count)| format!("{module} {}\n", files(*count)))).collect()
}

/// Names of files by their folder, for those that have no card of their own.
pub(crate) fn by_folder<'p>(files: &[(usize, &'p str)]) -> Vec<(&'p str, Vec<(usize, &'p str)>)> {
    let mut folders: Vec<(&str, Vec<(usize, &str)>)> = Vec::new();
    for &(number, path) in files {
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        match folders.iter_mut().find(|(known, _)| *known == folder) {
            Some((_, names)) => names.push((number, name)),
            None => folders.push((folder, vec![(number, name)])),
        }
    }
    folders
}

/// The first folders of a path.
fn module(path: &str, depth: usize) -> &str {
    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
    match folder.match_indices('/').nth(depth.saturating_sub(1)) {
        Some((end, _)) => &folder[..end],
        None => folder,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grain_follows_tree_and_budget() {
        assert_eq!(Granularity::of(40, 300, 40_000), Granularity::Signature);
        assert_eq!(Granularity::of(40, 300, 3_200), Granularity::File);
        assert_eq!(Granularity::of(40, 300, 400), Granularity::Module);
        // A larger tree is shown more coarsely under the same budget.
        assert_eq!(Granularity::of(40, 10_000, 1_400), Granularity::Module);
        assert_eq!(Granularity::of(40, 300, 1_400), Granularity::File);
    }

    #[test]
    fn modules_of_ranked_files_come_first() {
        let paths = ["a/b/c/x.h", "a/b/y.h", "d/z.h", "d/w.h", "e/v.h", "top.txt"];
        let lines = modules(&paths, &["e/v.h", "a/b/c/x.h"], 2);
        assert_eq!(lines, ["e 1 file: 1\n", "a/b 2 files: 2\n", "d 2 files\n", ". 1 file\n"]);
        let folders = by_folder(&[(3, "a/x.h"), (4, "top.txt"), (5, "a/y.h")]);
        assert_eq!(folders, [("a", vec![(3, "x.h"), (5, "y.h")]), (".", vec![(4, "top.txt")])]);
    }
}
