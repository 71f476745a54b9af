//! The rows a search works on, in memory.

use almanac_artifact::{Artifact, Store, Table};
use almanac_tables::{Chunk, Edge, Entity, Explanation, File, Module, Rank, Summary, Text};

use crate::{Error, Result};

/// Name of the artifact that holds the index, and of the stage that writes it.
pub(crate) const INDEX: &str = "index";

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
    /// Reads the tables an index artifact was built from, by the keys in its manifest. A table that
    /// none of those artifacts holds stays empty.
    ///
    /// # Errors
    /// An artifact that is damaged, which is set aside where the store can be changed; or gone.
    pub fn read(store: &Store, index: &Artifact) -> Result<Self> {
        let sources = sources(store, index)?;
        Ok(Self {
            files: sources.rows()?,
            texts: sources.rows()?,
            entities: sources.rows()?,
            edges: sources.rows()?,
            modules: sources.rows()?,
            ranks: sources.rows()?,
            explanations: sources.rows()?,
            summaries: sources.rows()?,
            chunks: sources.rows()?,
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

/// What the index was built from.
fn sources<'a>(store: &'a Store, index: &Artifact) -> Result<Sources<'a>> {
    let mut artifacts = Vec::new();
    for (name, key) in &index.manifest().read {
        let error = match store.artifact(name, key) {
            Ok(Some(artifact)) => {
                artifacts.push(artifact);
                continue;
            }
            Ok(None) => Error::MissingFile { path: store.artifact_folder(name, key).join("manifest.json") },
            // Another key than the index names: it may be the index that is wrong.
            Err(error @ almanac_artifact::Error::ManifestKey { .. }) => error.into(),
            Err(error) => return Err(Error::from(error).set_aside(store, name, key)),
        };
        // An index without its tables answers nothing, and making it anew costs no model time.
        let moved = store.set_aside(INDEX, &index.manifest().key).is_ok();
        return Err(error.in_store(store, INDEX, moved));
    }
    Ok(Sources { store, artifacts })
}

struct Sources<'a> {
    store: &'a Store,
    artifacts: Vec<Artifact>,
}

impl Sources<'_> {
    fn rows<T: Table>(&self) -> Result<Vec<T>> {
        let holds = |artifact: &&Artifact| artifact.manifest().tables.contains_key(T::NAME);
        let Some(artifact) = self.artifacts.iter().find(holds) else { return Ok(Vec::new()) };
        let manifest = artifact.manifest();
        artifact
            .read()
            .map_err(|error| Error::from(error).set_aside(self.store, &manifest.artifact, &manifest.key))
    }
}
