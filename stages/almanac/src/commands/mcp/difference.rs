//! What the tree has that the store was not built from, in words for an agent.

use std::collections::BTreeMap;

use almanac_freshness::tree::Tree;
use almanac_tables::File;

use crate::knowledge::Knowledge;

/// Files that are named in the first line.
const NAMED: usize = 8;

/// How a tree differs from a store.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// Which state the store speaks of, in a line; empty without a tree.
    pub(super) line: String,
    /// What became of a file: changed, new, gone.
    files: BTreeMap<String, &'static str>,
}

impl Difference {
    /// Compares contents.
    pub(super) fn between(store: &[File], tree: &Tree) -> Self {
        let known: BTreeMap<&str, &str> =
            store.iter().map(|file| (file.path.as_str(), file.content_digest.as_str())).collect();
        let mut files = BTreeMap::new();
        for file in &tree.files {
            // A file that was not read has no digest, here and there.
            let digest = file.digest.as_ref().map(ToString::to_string).unwrap_or_default();
            match known.get(file.path.as_str()) {
                None => files.insert(file.path.clone(), "new"),
                Some(known) if *known != digest => files.insert(file.path.clone(), "changed"),
                Some(_) => None,
            };
        }
        let there = |path: &str| tree.files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok();
        for path in known.keys().filter(|path| !there(path)) {
            files.insert((*path).to_owned(), "gone");
        }
        Self { line: line(&files), files }
    }

    /// The line, and what else an answer from the store should begin with.
    pub(super) fn said(&self, knowledge: &Knowledge) -> String {
        let problem = knowledge.problem.as_ref().map(|problem| format!("Note: {problem}.\n"));
        self.line.clone() + &problem.unwrap_or_default()
    }

    /// Which of the files that an answer shows are not as it shows them.
    pub(super) fn of<'a>(&self, shown: impl Iterator<Item = &'a str>) -> String {
        let old = shown.filter_map(|path| Some(format!("{path} ({})", self.files.get(path)?)));
        let old: Vec<String> = old.collect();
        if old.is_empty() {
            return String::new();
        }
        format!("Shown as they were, so lines may be elsewhere now: {}.\n\n", old.join(", "))
    }
}

fn line(files: &BTreeMap<String, &'static str>) -> String {
    if files.is_empty() {
        return "The store is of the tree as it is.\n\n".to_owned();
    }
    let named: Vec<String> =
        files.iter().take(NAMED).map(|(path, what)| format!("{path} ({what})")).collect();
    let named = named.join(", ");
    let more = if files.len() > NAMED { ", ..." } else { "" };
    let count =
        if files.len() == 1 { "1 file differs".to_owned() } else { format!("{} files differ", files.len()) };
    format!("The store is older than the tree, {count}: {named}{more}. `context` reads the tree itself.\n\n")
}
