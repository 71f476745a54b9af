//! Entities of one name, and which of them a file can mean.
//!
//! A name such as `initialize` may stand in every file of a tree. Looking through all of them for
//! each mention would make resolution quadratic, so a long list is kept by file: what a file sees is
//! found where its includes and the list's files meet.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use almanac_tables::{ArtifactRole, SourceType};

use crate::definitions::Symbols;
use crate::reach::Reach;
use crate::tree::{Family, Tree};

/// Entities up to which a list is simply looked through.
const SHORT: usize = 24;
/// Candidates after which a name says nothing any more.
pub(crate) const MOST: usize = 64;

/// Entities of one name, in table order.
#[derive(Debug, Default)]
pub(crate) struct Group {
    all: Vec<usize>,
    long: Option<Box<Long>>,
}

/// The same by where they can be meant.
#[derive(Debug)]
struct Long {
    /// Entities by the files that declare or define their symbol.
    by_file: BTreeMap<usize, Vec<usize>>,
    /// The files, one bit each.
    files: Vec<u64>,
    /// Those that any file may mean without seeing them.
    open: Vec<usize>,
    /// Those that only files of their folder may mean without seeing them.
    by_folder: FxHashMap<String, Vec<usize>>,
}

/// What is needed to tell what a file can mean.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'a> {
    pub(crate) tree: &'a Tree<'a>,
    pub(crate) reach: &'a Reach,
    pub(crate) symbols: &'a Symbols,
}

impl Group {
    pub(crate) fn push(&mut self, at: usize) {
        self.all.push(at);
    }

    pub(crate) fn all(&self) -> &[usize] {
        &self.all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether it is kept by file.
    pub(crate) fn is_long(&self) -> bool {
        self.long.is_some()
    }

    /// Prepares a long list; called once, when it is complete.
    pub(crate) fn finish(&mut self, sight: Sight<'_>) {
        if self.all.len() <= SHORT {
            return;
        }
        let mut long = Long {
            by_file: BTreeMap::new(),
            files: vec![0; sight.tree.files.len().div_ceil(64)],
            open: Vec::new(),
            by_folder: FxHashMap::default(),
        };
        // A symbol may be declared very often: its files are looked up once.
        let mut files_of: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for &at in &self.all {
            let symbol = sight.symbols.of(at);
            let files = files_of.entry(symbol).or_insert_with(|| {
                let mut files: Vec<usize> =
                    sight.symbols.with(at).iter().map(|&one| sight.tree.facts[one].file).collect();
                files.sort_unstable();
                files.dedup();
                files
            });
            for &mut file in files {
                long.by_file.entry(file).or_default().push(at);
                long.files[file / 64] |= 1 << (file % 64);
            }
            match sight.reaches_unseen(at) {
                Unseen::Everywhere => long.open.push(at),
                Unseen::InFolder => {
                    let folder = &sight.tree.files[sight.tree.facts[at].file].folder;
                    long.by_folder.entry(folder.clone()).or_default().push(at);
                }
                Unseen::Nowhere => {}
            }
        }
        self.long = Some(Box::new(long));
    }

    /// Those in the family of `file`, seen from it or, if none is, usable without being seen; with
    /// `visits` counting those looked at. Lists that are cut hold more than [`MOST`].
    pub(crate) fn meant(&self, sight: Sight<'_>, file: usize, visits: &mut u64) -> Vec<usize> {
        let Some(long) = &self.long else {
            *visits += self.all.len() as u64;
            return sight.meant(&self.all, file);
        };
        let family = Family::of(sight.tree.files[file].language);
        let is_family = |at: &usize| sight.tree.facts[*at].family == family;
        let mut seen: Vec<usize> = Vec::new();
        for other in sight.reach.seen_among(file, &long.files) {
            let entities = long.by_file.get(&other).map_or(&[][..], Vec::as_slice);
            *visits += entities.len() as u64;
            seen.extend(entities.iter().copied().filter(is_family));
            if seen.len() > MOST {
                break;
            }
        }
        if seen.is_empty() {
            let folder = long.by_folder.get(&sight.tree.files[file].folder);
            let hidden = long.open.iter().chain(folder.into_iter().flatten()).copied();
            seen.extend(hidden.filter(is_family).take(MOST + 1));
            *visits += seen.len() as u64;
        }
        seen.sort_unstable();
        seen.dedup();
        seen
    }
}

/// Where a symbol can be meant although no include leads to it.
enum Unseen {
    Everywhere,
    InFolder,
    Nowhere,
}

impl Sight<'_> {
    /// Whether any entity of the symbol of `at` is in a file that `file` sees.
    pub(crate) fn is_visible(&self, at: usize, file: usize) -> bool {
        self.symbols.with(at).iter().any(|&other| self.reach.sees(file, self.tree.facts[other].file))
    }

    /// A symbol private to a source file is meant nowhere else, nor would a library use a program's.
    fn reaches_unseen(&self, at: usize) -> Unseen {
        let is_header = |&other: &usize| self.tree.entities[other].source_type == SourceType::Header;
        let is_native = self.tree.facts[at].family == Family::Native;
        if is_native && !self.symbols.with(at).iter().any(is_header) {
            return Unseen::Nowhere;
        }
        match self.tree.entities[at].role {
            ArtifactRole::Library | ArtifactRole::Vendored => Unseen::Everywhere,
            _ => Unseen::InFolder,
        }
    }

    fn is_usable(&self, at: usize, file: usize) -> bool {
        match self.reaches_unseen(at) {
            Unseen::Everywhere => true,
            Unseen::InFolder => {
                self.tree.files[self.tree.facts[at].file].folder == self.tree.files[file].folder
            }
            Unseen::Nowhere => false,
        }
    }

    /// Those of `found` in the family of `file`, seen from it or usable without being seen.
    pub(crate) fn meant(&self, found: &[usize], file: usize) -> Vec<usize> {
        let family = Family::of(self.tree.files[file].language);
        let of_family = found.iter().copied().filter(|&at| self.tree.facts[at].family == family);
        let (visible, hidden): (Vec<usize>, Vec<usize>) =
            of_family.partition(|&at| self.is_visible(at, file));
        if visible.is_empty() {
            hidden.into_iter().filter(|&at| self.is_usable(at, file)).collect()
        } else {
            visible
        }
    }
}
