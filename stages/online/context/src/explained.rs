//! What a store says of files, beside the tree as it is now.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::snapshot::Snapshot;
use crate::state::StoreState;

/// An explanation on a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation {
    /// What the file is for, in one line.
    pub text: String,
    /// Whether the file has changed since.
    pub is_stale: bool,
}

/// Files of a store.
#[derive(Debug, Default)]
pub struct Explained {
    files: HashMap<String, Described>,
}

#[derive(Debug)]
struct Described {
    digest: String,
    line: Option<String>,
}

impl Explained {
    /// Adds a file by its path, the digest of its content and, where there is one, a line on what it is for.
    pub fn add(&mut self, path: String, digest: String, line: Option<String>) {
        self.files.insert(path, Described { digest, line });
    }

    /// What is said of a file whose content is now `content`.
    pub(crate) fn of(&self, path: &str, content: &str) -> Option<Explanation> {
        let file = self.files.get(path)?;
        Some(Explanation { text: file.line.clone()?, is_stale: file.digest != content })
    }

    /// How a working tree differs.
    pub(crate) fn beside(&self, snapshot: &Snapshot) -> StoreState {
        let mut state = StoreState::default();
        let mut both = 0;
        for entry in &snapshot.entries {
            match self.files.get(&entry.path) {
                Some(file) if file.digest == entry.content => both += 1,
                Some(_) => {
                    both += 1;
                    state.changed += 1;
                }
                None => state.added += 1,
            }
        }
        // A file that the store could not read has no digest, and may be listed nowhere now.
        let readable = self.files.values().filter(|file| !file.digest.is_empty()).count();
        state.deleted = readable.saturating_sub(both);
        state
    }
}
