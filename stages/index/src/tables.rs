//! The rows a search works on, in memory.

use almanac_artifact::{Artifact, Digest, Store, Table};
use almanac_tables::{Chunk, Edge, Entity, Explanation, File, Module, Rank, Summary, Text};

use crate::Result;

/// Every table a search reads. Tables are in key order, as stored.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// Files of the source tree.
    pub files: Vec<File>,
    /// Their texts.
    pub texts: Vec<Text>,
    /// Symbols and sections.
    pub entities: Vec<Entity>,
    /// Relations.
    pub edges: Vec<Edge>,
    /// Folders and namespaces.
    pub modules: Vec<Module>,
    /// Centrality.
    pub ranks: Vec<Rank>,
    /// Explanations of symbols and sections.
    pub explanations: Vec<Explanation>,
    /// Summaries of files, modules and call chains.
    pub summaries: Vec<Summary>,
    /// Retrievable records, one a vector.
    pub chunks: Vec<Chunk>,
}

impl Tables {
    /// Reads the tables an index artifact was built from, by the keys in its manifest and in
    /// those of the artifacts it read. A table that no artifact of the chain holds stays empty.
    pub fn read(store: &Store, index: &Artifact) -> Result<Self> {
        let sources = upstream(store, index)?;
        Ok(Self {
            files: rows(&sources)?,
            texts: rows(&sources)?,
            entities: rows(&sources)?,
            edges: rows(&sources)?,
            modules: rows(&sources)?,
            ranks: rows(&sources)?,
            explanations: rows(&sources)?,
            summaries: rows(&sources)?,
            chunks: rows(&sources)?,
        })
    }

    /// Text of a file; empty when it was not read.
    pub fn text(&self, path: &str) -> &str {
        self.texts.binary_search_by(|text| text.path.as_str().cmp(path)).map_or("", |at| &self.texts[at].text)
    }

    /// File with this path.
    pub fn file(&self, path: &str) -> Option<usize> {
        self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()
    }

    /// Explanation of an entity; empty when there is none.
    pub fn explanation(&self, entity_id: &str) -> &str {
        self.explanations
            .binary_search_by(|explanation| explanation.entity_id.as_str().cmp(entity_id))
            .map_or("", |at| &self.explanations[at].text)
    }

    /// Summary with this id (`file:PATH`, `module:NAME`, `chain:ENTITY`).
    pub fn summary(&self, id: &str) -> Option<&Summary> {
        self.summaries
            .binary_search_by(|summary| summary.id.as_str().cmp(id))
            .ok()
            .map(|at| &self.summaries[at])
    }

    /// Centrality of a node, 0 when unknown.
    pub fn rank(&self, node: &str) -> f64 {
        self.ranks
            .binary_search_by(|rank| rank.node.as_str().cmp(node))
            .map_or(0.0, |at| self.ranks[at].score)
    }
}

/// The artifact and everything it was built from, nearest first.
fn upstream(store: &Store, index: &Artifact) -> Result<Vec<Artifact>> {
    let mut found: Vec<Artifact> = vec![index.clone()];
    let mut seen: Vec<(String, Digest)> = Vec::new();
    let mut at = 0;
    while at < found.len() {
        let read = found[at].manifest().read.clone();
        at += 1;
        for (name, key) in read {
            if seen.iter().any(|(seen_name, seen_key)| *seen_name == name && *seen_key == key) {
                continue;
            }
            let artifact = store.artifact(&name, &key)?.ok_or_else(|| crate::Error::MissingFile {
                path: store.artifact_folder(&name, &key).join("manifest.json"),
            })?;
            seen.push((name, key));
            found.push(artifact);
        }
    }
    Ok(found)
}

fn rows<T: Table>(sources: &[Artifact]) -> Result<Vec<T>> {
    match sources.iter().find(|artifact| artifact.manifest().tables.contains_key(T::NAME)) {
        Some(artifact) => Ok(artifact.read()?),
        None => Ok(Vec::new()),
    }
}
