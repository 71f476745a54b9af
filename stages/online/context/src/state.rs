//! Which state of the tree an answer is of.

use schemars::JsonSchema;
use serde::Serialize;

/// The state that was read, as far as git and a store tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct State {
    /// Commit that was read, or that the working tree stands on; null where there is none.
    pub commit: Option<String>,
    /// Files of the working tree that differ from that commit, new and deleted ones included; null for a
    /// commit, and outside of a repository.
    pub changed_files: Option<usize>,
    /// How the tree differs from the store that was given; null without one.
    pub store: Option<StoreState>,
    /// What is missing that an answer could be better with.
    pub diagnostics: Vec<String>,
}

/// A tree beside a store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StoreState {
    /// Files of both with other content in the store.
    pub changed: usize,
    /// Files that the store does not have.
    pub added: usize,
    /// Files that only the store has.
    pub deleted: usize,
}

impl State {
    pub(crate) fn warn(&mut self, message: &str) {
        self.diagnostics.push(message.to_owned());
    }

    /// For people: commit, changes, store.
    pub fn summary(&self) -> String {
        let commit = self.commit.as_deref().map(|commit| &commit[..commit.len().min(10)]);
        let mut said = match (commit, self.changed_files) {
            (Some(commit), Some(0)) => format!("working tree as in commit {commit}"),
            (Some(commit), Some(files)) => {
                format!("working tree, {files} files other than in commit {commit}")
            }
            (Some(commit), None) => format!("commit {commit}"),
            (None, _) => "working tree, no commit".to_owned(),
        };
        if let Some(store) = &self.store {
            let differ = store.changed + store.added + store.deleted;
            said += &format!("; {differ} files differ from the store");
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_told_in_words() {
        let mut state = State { commit: Some("0123456789abcdef".into()), ..State::default() };
        assert_eq!(state.summary(), "commit 0123456789");
        state.changed_files = Some(2);
        state.store = Some(StoreState { changed: 1, added: 2, deleted: 4 });
        let said = "working tree, 2 files other than in commit 0123456789; 7 files differ from the store";
        assert_eq!(state.summary(), said);
    }
}
