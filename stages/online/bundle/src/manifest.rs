//! The first member of a bundle: what it holds and where that came from.

use std::collections::BTreeMap;

use almanac_artifact::Digest;
use serde::{Deserialize, Serialize};

/// Bumped when the layout of a bundle changes.
pub const BUNDLE_FORMAT: u32 = 1;

/// Name of the first member.
pub(crate) const MANIFEST: &str = "manifest.json";

/// One file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Size in bytes.
    pub bytes: u64,
    /// Digest of the bytes.
    pub digest: Digest,
}

/// What a bundle holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Bundle format.
    pub format: u32,
    /// Version of Almanac that made it.
    pub version: String,
    /// Name of the project.
    pub project: String,
    /// Profile whose artifacts these are.
    pub profile: String,
    /// Commit of the source tree, when it was a git repository.
    pub commit: Option<String>,
    /// Whether the tree had changes that were not committed.
    pub dirty: Option<bool>,
    /// Key of the index.
    pub key: Digest,
    /// Revision of each stage.
    pub revisions: BTreeMap<String, u32>,
    /// Models, prompts, grammars and libraries that decided each artifact.
    pub identities: BTreeMap<String, BTreeMap<String, String>>,
    /// Settings that decided each artifact.
    pub settings: BTreeMap<String, BTreeMap<String, String>>,
    /// Rows of each table.
    pub counts: BTreeMap<String, u64>,
    /// What has to be kept in mind when it is handed on.
    pub licence_notes: String,
    /// Every other member.
    pub members: BTreeMap<String, Member>,
}
