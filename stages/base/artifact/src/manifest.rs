//! What an artifact is and what decided it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Digest;

/// Bumped when the encoding of [`KeyParts`] changes.
const KEY_FORMAT: u32 = 1;

/// Everything that decides a stage's output, and nothing else: no path, no time, no host, no job.
///
/// Kept readable in the manifest, so that two keys can be compared part by part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyParts {
    /// Stage name.
    pub stage: String,
    /// Bumped by hand when the same input may give other rows.
    pub revision: u32,
    /// Resolved `params` of the stage: dotted key to value as TOML text.
    pub params: BTreeMap<String, String>,
    /// Content digest of each input: `artifact/table` to digest.
    pub inputs: BTreeMap<String, Digest>,
    /// Version of each table written.
    pub tables: BTreeMap<String, u32>,
    /// Identity of what else decides the output: models, prompts, grammars.
    pub identities: BTreeMap<String, String>,
}

impl KeyParts {
    /// The stage key.
    pub fn key(&self) -> Digest {
        // Destructured without `..`, so that a new part cannot be left out.
        let Self { stage, revision, params, inputs, tables, identities } = self;
        Digest::of(|encoder| {
            encoder.u32(KEY_FORMAT).text(stage).u32(*revision);
            encoder.length(params.len());
            for (name, value) in params {
                encoder.text(name).text(value);
            }
            encoder.length(inputs.len());
            for (name, digest) in inputs {
                encoder.text(name).digest(digest);
            }
            encoder.length(tables.len());
            for (name, version) in tables {
                encoder.text(name).u32(*version);
            }
            encoder.length(identities.len());
            for (name, identity) in identities {
                encoder.text(name).text(identity);
            }
        })
    }
}

/// One Parquet file of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartEntry {
    /// File name.
    pub file: String,
    /// Rows in it.
    pub rows: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Digest of the bytes; detects damage only.
    pub digest: Digest,
}

/// One table of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableEntry {
    /// Table version.
    pub version: u32,
    /// Rows.
    pub rows: u64,
    /// Digest over the rows in key order; what downstream keys depend on.
    pub content: Digest,
    /// Its files.
    pub parts: Vec<PartEntry>,
}

/// A file that is not a table, such as a FAISS index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Path inside the artifact, with `/`.
    pub file: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Digest of the bytes.
    pub digest: Digest,
}

/// Description of one artifact, written last: an artifact exists when its manifest does.
///
/// The same inputs give the same manifest, byte for byte; when, where and by whom it was built
/// stands beside it in `provenance.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Store format.
    pub format: u32,
    /// Artifact name.
    pub artifact: String,
    /// Name of the artifact's folder: the plan key, or for a stage that may stop early a digest
    /// of the plan key and the rows.
    pub key: Digest,
    /// Digest of `parts`.
    pub plan: Digest,
    /// What decided it.
    pub parts: KeyParts,
    /// Folder key of each artifact read, by name.
    pub read: BTreeMap<String, Digest>,
    /// Tables, by name.
    pub tables: BTreeMap<String, TableEntry>,
    /// Other files, in path order.
    pub files: Vec<FileEntry>,
}
