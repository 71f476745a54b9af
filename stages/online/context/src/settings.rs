//! Every number a context depends on, from `[context]`.

use std::collections::BTreeMap;

use almanac_tables::ArtifactRole;
use serde::Deserialize;

/// `[context]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextSettings {
    /// Most tokens of a package, never exceeded.
    pub budget_tokens: usize,
    /// Files that are ranked and listed.
    pub listed: usize,
    /// Files that relations are followed from.
    pub anchors: usize,
    /// Changes of the history that are looked at.
    pub history: usize,
    /// Most files of a change that says something about how files belong together.
    pub change_files: usize,
    /// Most files whose symbols are read.
    pub opened: usize,
    /// Share of the budget that cards get before any source.
    pub card_share: f64,
    /// Share of the budget for the view of the repository's modules.
    pub view_share: f64,
    /// Model whose tokenizer counts the budget; empty: the answering model.
    pub tokenizer: String,
    /// Most MiB of the cache of all trees; 0: nothing is kept.
    pub cache_mib: u64,
    /// When a file's text is shown.
    pub promotion: Promotion,
    /// What takes part; each can be switched off alone.
    pub parts: Parts,
    /// Weights of what makes an anchor; each signal is a share of the best file's.
    pub signals: Signals,
    /// How much of an anchor's score a related file gets, by kind of relation.
    pub propagation: Propagation,
    /// Factor on a file's score by its role; 1 where a role is not named.
    pub role_factors: BTreeMap<ArtifactRole, f64>,
}

/// `[context.parts]`: the components that an ablation turns off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// Includes between files.
    pub explicit: bool,
    /// Headers with their implementation and tests, by name; build files with their folder.
    pub implicit: bool,
    /// History: messages of changes, files that change together, files that change often.
    pub organisational: bool,
    /// Cards before source.
    pub metadata_first: bool,
    /// The repository at the grain that tree and budget allow.
    pub compression: bool,
}

impl ContextSettings {
    /// Most tokens of what comes before source.
    pub(crate) fn card_budget(&self) -> usize {
        (self.budget_tokens as f64 * self.card_share) as usize
    }
}

/// `[context.promotion]`: use of a file's text for the task, from 0 to 1, and what it takes to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promotion {
    /// Weight of the file's score, as a share of the best one's.
    pub score: f64,
    /// Weight of the task's words that it has.
    pub cues: f64,
    /// Weight of being an anchor; half for a file related to one.
    pub anchor: f64,
    /// Weight of connecting parts of the package that nothing else connects.
    pub bridge: f64,
    /// Least use for signatures and the lines that fit the task.
    pub partial: f64,
    /// Least use for all of the text.
    pub full: f64,
    /// Largest share of the budget for all of one file.
    pub full_share: f64,
}

/// `[context.signals]`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signals {
    /// BM25 over whole files.
    pub file: f64,
    /// BM25 over stretches of a file, the best one.
    pub unit: f64,
    /// BM25 over paths.
    pub path: f64,
    /// The task names the file.
    pub mention: f64,
    /// BM25 over messages of the changes that touched the file.
    pub messages: f64,
    /// How often and how lately the file was changed.
    pub activity: f64,
}

/// `[context.propagation]`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Propagation {
    /// Header, implementation and test of one name.
    pub pair: f64,
    /// Changed together before.
    pub co_change: f64,
    /// Included by the anchor.
    pub includes: f64,
    /// Includes the anchor.
    pub included_by: f64,
    /// Build file of the anchor's folder.
    pub build: f64,
    /// In the anchor's folder.
    pub folder: f64,
    /// Share of what every further anchor gives by a relation of the same kind.
    pub support: f64,
}
