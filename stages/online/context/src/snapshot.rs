//! The state of a tree that a task is asked of.

use std::path::{Path, PathBuf};

use almanac_freshness::tree::{Tree, TreeRules};
use almanac_language::{Content, decode};

use crate::git::{self, Change};
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
}

impl Snapshot {
    /// Lists a working tree, with the last `most` changes of its repository, if it is in one.
    pub fn of_tree(folder: &Path, rules: &TreeRules, most: usize) -> Result<Self> {
        let tree = Tree::scan(folder, rules, Path::new(""))?;
        let entries = tree.files.into_iter().filter_map(|file| {
            let content = file.digest?.to_string();
            Some(Entry { path: file.path, content })
        });
        // Without git, or outside a repository, there is no history, and nothing else is lost.
        let changes = git::changes(folder, "HEAD", most).unwrap_or_default();
        Ok(Self { folder: folder.to_owned(), entries: entries.collect(), changes, commit: None })
    }

    /// Lists a commit of a repository, bare or not, from its objects.
    pub fn of_commit(folder: &Path, commit: &str, rules: &TreeRules, most: usize) -> Result<Self> {
        let commit = git::resolve(folder, commit)?;
        let listed = git::files(folder, &commit)?;
        let small = listed.into_iter().filter(|file| file.bytes <= rules.max_file_bytes);
        let entries = small.map(|file| Entry { path: file.path, content: file.blob }).collect();
        let changes = git::changes(folder, &commit, most)?;
        Ok(Self { folder: folder.to_owned(), entries, changes, commit: Some(commit) })
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
