//! The state of a tree that a task is asked of.

use std::path::{Path, PathBuf};

use almanac_freshness::tree::{KnownDigests, Tree, TreeRules};
use almanac_language::{Content, decode};

use crate::cache::{Cache, Kept};
use crate::git::{self, Change};
use crate::state::State;
use crate::{Error, Result};

/// A file and the name of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: String,
    /// The same name, the same content.
    pub(crate) content: String,
}

/// The files of a working tree or of a commit, and the changes that led to it.
#[derive(Debug)]
pub struct Snapshot {
    folder: PathBuf,
    pub(crate) entries: Vec<Entry>,
    pub(crate) changes: Vec<Change>,
    /// Commit that was read; `None` for a working tree.
    pub commit: Option<String>,
    pub(crate) state: State,
}

/// Commits whose changes are kept: branches that one goes back and forth between.
const COMMITS: usize = 4;

impl Snapshot {
    /// Lists a working tree, with the last `most` changes of its repository, if it is in one. Files that
    /// look as they did when `cache` was written are not read.
    pub fn of_tree(folder: &Path, rules: &TreeRules, most: usize, cache: &Cache) -> Result<Self> {
        let known: KnownDigests = cache.read(Kept::Stamps).unwrap_or_default();
        let (head, scanned) = std::thread::scope(|scope| {
            let head = scope.spawn(|| git::head(folder));
            let scanned = Tree::scan_again(folder, rules, Path::new(""), &known);
            (head.join(), scanned)
        });
        let (tree, known_now) = scanned?;
        if known_now != known {
            cache.write(Kept::Stamps, &known_now);
        }
        let entries = tree.files.into_iter().filter_map(|file| {
            let content = file.digest?.to_string();
            Some(Entry { path: file.path, content })
        });
        let mut state = State::default();
        let mut changes = Vec::new();
        // Without git, or outside a repository, there is no history, and nothing else is lost.
        match head {
            Ok(Ok(head)) => {
                state.changed_files = Some(head.changed);
                match &head.commit {
                    Some(commit) => changes = changes_before(folder, commit, most, cache)?,
                    None => state.warn("the repository has no commit yet: no history takes part"),
                }
                state.commit = head.commit;
            }
            Ok(Err(error)) => state.warn(&format!("no history takes part: {error}")),
            Err(_) => state.warn("no history takes part: reading it failed"),
        }
        Ok(Self { folder: folder.to_owned(), entries: entries.collect(), changes, commit: None, state })
    }

    /// Lists a commit of a repository, bare or not, from its objects.
    pub fn of_commit(
        folder: &Path,
        commit: &str,
        rules: &TreeRules,
        most: usize,
        cache: &Cache,
    ) -> Result<Self> {
        let commit = git::resolve(folder, commit)?;
        let listed = git::files(folder, &commit)?;
        let small = listed.into_iter().filter(|file| file.bytes <= rules.max_file_bytes);
        let entries = small.map(|file| Entry { path: file.path, content: file.blob }).collect();
        let changes = changes_before(folder, &commit, most, cache)?;
        let state = State { commit: Some(commit.clone()), ..State::default() };
        Ok(Self { folder: folder.to_owned(), entries, changes, commit: Some(commit), state })
    }

    /// Calls `take` with the text of every given entry that is text.
    pub(crate) fn texts(&self, wanted: &[&Entry], mut take: impl FnMut(&Entry, String)) -> Result<()> {
        let mut text = |entry: &Entry, bytes: &[u8]| {
            if let Content::Text { text, .. } = decode(bytes) {
                take(entry, text);
            }
        };
        if self.commit.is_some() {
            let blobs: Vec<&str> = wanted.iter().map(|entry| entry.content.as_str()).collect();
            return git::contents(&self.folder, &blobs, |at, bytes| text(wanted[at], &bytes));
        }
        for entry in wanted {
            let path = self.folder.join(&entry.path);
            match fs_err::read(&path) {
                Ok(bytes) => text(entry, &bytes),
                // Deleted since it was listed.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => return Err(Error::Read { path, source }),
            }
        }
        Ok(())
    }
}

/// Changes up to a commit, which are the same for ever.
fn changes_before(folder: &Path, commit: &str, most: usize, cache: &Cache) -> Result<Vec<Change>> {
    let mut kept: Vec<((String, usize), Vec<Change>)> = cache.read(Kept::Changes).unwrap_or_default();
    let key = (commit.to_owned(), most);
    if let Some(at) = kept.iter().position(|(known, _)| *known == key) {
        return Ok(kept.swap_remove(at).1);
    }
    let changes = git::changes(folder, commit, most)?;
    kept.insert(0, (key, changes));
    kept.truncate(COMMITS);
    cache.write(Kept::Changes, &kept);
    Ok(kept.swap_remove(0).1)
}
