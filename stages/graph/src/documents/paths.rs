//! Paths in documents.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use almanac_tables::{ReferenceOutcome, Resolution};

use super::{ALIKE, Meant};
use crate::edges::{NEAR, Node};
use crate::includes::normalised;
use crate::tree::Tree;

/// Files and folders by path, and files by each end of their path.
pub(super) struct Paths<'a> {
    tree: &'a Tree<'a>,
    folders: BTreeSet<&'a str>,
    suffixes: FxHashMap<&'a str, Vec<usize>>,
}

impl<'a> Paths<'a> {
    pub(super) fn new(tree: &'a Tree<'a>) -> Self {
        let mut folders = BTreeSet::new();
        for file in tree.files {
            let mut folder = file.folder.as_str();
            while folder != "." && !folder.is_empty() && folders.insert(folder) {
                folder = folder.rsplit_once('/').map_or("", |(outer, _)| outer);
            }
        }
        Self { tree, folders, suffixes: crate::includes::suffix_index(tree) }
    }

    /// What a path in a document of `folder` leads to: from there, from the top, or the one file whose
    /// path ends with it.
    pub(super) fn meant(&self, path: &str, folder: &str) -> Meant {
        let path = path.trim_end_matches('/');
        let base = if folder == "." { "" } else { folder };
        let found = [base, ""].into_iter().find_map(|base| self.at(&normalised(base, path)?));
        if let Some(node) = found {
            return Meant::of(vec![node], Resolution::Exact, 1.0);
        }
        let end = path.trim_start_matches("./").trim_start_matches("../").trim_start_matches('/');
        let found = self.suffixes.get(end).map_or(&[][..], Vec::as_slice);
        if found.len() > ALIKE {
            return Meant { outcome: ReferenceOutcome::TooMany, ..Meant::NOTHING };
        }
        Meant::of(found.iter().map(|&at| Node::File(at)).collect(), Resolution::Name, NEAR)
    }

    fn at(&self, path: &str) -> Option<Node> {
        let file = self.tree.file(path).map(Node::File);
        file.or_else(|| self.folders.contains(path).then(|| Node::Folder(path.to_owned())))
    }
}
