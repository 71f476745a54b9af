//! Contents read so far, and the searchable view of one snapshot.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use almanac_language::{Classification, PathRole, path_role};
use almanac_tables::ArtifactRole;

use crate::Result;
use crate::bm25::{Bm25, counted};
use crate::cache::{Cache, Kept};
use crate::history::History;
use crate::relate::Relations;
use crate::settings::ContextSettings;
use crate::snapshot::{Entry, Snapshot};
use crate::symbols::ReadSymbols;
use crate::units::Units;
use crate::words::Vocabulary;

/// A cache holds contents of earlier states of a tree up to so many times its own; then it begins anew.
const STATES: usize = 3;

/// Terms by number, and contents by name.
type KeptContents = (Vec<String>, Vec<(String, Units)>);

/// Contents by name: a second snapshot pays only for what differs from those before it.
#[derive(Debug, Default)]
pub struct Workspace {
    pub(crate) vocabulary: Vocabulary,
    contents: HashMap<String, Rc<Units>>,
    pub(crate) symbols: RefCell<ReadSymbols>,
    pub(crate) has_new_symbols: std::cell::Cell<bool>,
    has_new_contents: bool,
}

impl Workspace {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a cache holds.
    pub fn of_cache(cache: &Cache) -> Self {
        let (terms, contents): KeptContents = cache.read(Kept::Contents).unwrap_or_default();
        Self {
            vocabulary: Vocabulary::of_terms(terms),
            contents: contents.into_iter().map(|(content, units)| (content, Rc::new(units))).collect(),
            symbols: RefCell::new(cache.read(Kept::Symbols).unwrap_or_default()),
            ..Self::default()
        }
    }

    /// Keeps what is new for the next call, which will ask for something like `view`.
    pub fn keep(&mut self, view: &View, cache: &Cache) {
        let current: HashSet<&str> = view.files.iter().map(|file| file.entry.content.as_str()).collect();
        if std::mem::take(&mut self.has_new_contents) {
            let all = || self.contents.iter().map(|(content, units)| (content.as_str(), units.as_ref()));
            if self.contents.len() <= STATES * current.len() {
                cache.write(Kept::Contents, &(self.vocabulary.terms(), all().collect::<Vec<_>>()));
            } else {
                cache.write(Kept::Contents, &(Vec::<&str>::new(), Vec::<(&str, &Units)>::new()));
            }
        }
        if self.has_new_symbols.take() {
            let symbols = self.symbols.get_mut();
            symbols.retain(|_, content| current.contains(content));
            cache.write(Kept::Symbols, symbols);
        }
    }

    /// Reads what is new in a snapshot and indexes it.
    pub fn view(&mut self, snapshot: Rc<Snapshot>, settings: &ContextSettings) -> Result<View> {
        let wanted: Vec<&Entry> = snapshot.entries.iter().filter(|entry| is_searched(&entry.path)).collect();
        let unread: Vec<&Entry> =
            wanted.iter().copied().filter(|entry| !self.contents.contains_key(&entry.content)).collect();
        self.has_new_contents |= !unread.is_empty();
        snapshot.texts(&unread, |entry, text| {
            let units = Units::read(&text, &mut self.vocabulary);
            self.contents.insert(entry.content.clone(), Rc::new(units));
        })?;
        let mut files = Vec::new();
        for entry in wanted {
            let Some(units) = self.contents.get(&entry.content) else { continue };
            let class = Classification::of(&entry.path);
            let role = match path_role(&entry.path, class) {
                PathRole::Decided(role) => role,
                PathRole::Unplaced => ArtifactRole::Library,
            };
            files.push(ViewedFile { entry: entry.clone(), role, units: Rc::clone(units) });
        }
        let mut terms = Vec::new();
        let paths: Vec<Vec<(u32, f32)>> = files
            .iter()
            .map(|file| {
                terms.clear();
                self.vocabulary.of(&file.entry.path, &mut terms);
                counted(terms.clone(), 1.0)
            })
            .collect();
        let stretch_files: Vec<usize> = files
            .iter()
            .enumerate()
            .flat_map(|(at, file)| file.units.stretches.iter().map(move |_| at))
            .collect();
        let history = History::new(&snapshot, &files, settings, &mut self.vocabulary);
        let relations = Relations::new(&files, &history);
        Ok(View {
            snapshot,
            whole: Bm25::new(files.iter().map(|file| file.units.whole.as_slice())),
            stretches: Bm25::new(files.iter().flat_map(|file| &file.units.stretches).map(Vec::as_slice)),
            paths: Bm25::new(paths.iter().map(Vec::as_slice)),
            stretch_files,
            history,
            relations,
            files,
        })
    }
}

/// A file of a view.
pub(crate) struct ViewedFile {
    pub(crate) entry: Entry,
    pub(crate) role: ArtifactRole,
    pub(crate) units: Rc<Units>,
}

/// One snapshot, indexed.
pub struct View {
    pub(crate) snapshot: Rc<Snapshot>,
    pub(crate) files: Vec<ViewedFile>,
    pub(crate) whole: Bm25,
    pub(crate) stretches: Bm25,
    /// File of every stretch.
    pub(crate) stretch_files: Vec<usize>,
    pub(crate) paths: Bm25,
    pub(crate) history: History,
    pub(crate) relations: Relations,
}

/// Whether the words of a file say something: data and pictures do not.
fn is_searched(path: &str) -> bool {
    const DATA: &[&str] = &[
        "csv", "swc", "acc", "dat", "svg", "png", "jpg", "jpeg", "gif", "pdf", "eps", "ipynb", "lock", "h5",
        "bp", "nc", "npy", "gz", "zip",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix).to_ascii_lowercase();
    !DATA.contains(&suffix.as_str())
}
