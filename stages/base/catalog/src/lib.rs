//! The pipeline as data: stages, what each reads and writes, and what else decides its output.
//!
//! Everything that needs to know the chain (planner, driver, status, documentation) reads it here.
//! The crate must not know how a stage works, where the store is or which settings are in force.

mod grammars;
mod stages;

pub use grammars::GRAMMARS;
pub use stages::{EMBED, ENTITIES, EXPLAIN, GRAPH, INDEX, PARSE, PIPELINE};

use almanac_artifact::Table;

/// One table of one artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct TableSpec {
    /// Artifact that holds it.
    pub artifact: &'static str,
    /// Table name.
    pub table: &'static str,
    /// Table version.
    pub version: u32,
}

impl TableSpec {
    const fn of<T: Table>(artifact: &'static str) -> Self {
        Self { artifact, table: T::NAME, version: T::VERSION }
    }

    /// `artifact/table`, as keys name it.
    pub fn name(&self) -> String {
        format!("{}/{}", self.artifact, self.table)
    }
}

/// What decides a stage's output besides its settings and the tables it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// Content of the source tree.
    SourceTree,
    /// Versions of the tree-sitter grammars and the macros masked before parsing.
    Grammars,
    /// The model named by this setting; `models.llm` or `models.embedder` when it is empty.
    Model {
        /// Dotted setting.
        setting: &'static str,
        /// Dotted setting used when the first is empty.
        fallback: &'static str,
    },
    /// Texts that were generated elsewhere and imported into the store.
    Imported,
    /// The prompt whose mode this setting names.
    Prompt {
        /// Dotted setting.
        setting: &'static str,
    },
    /// A library that makes the output. A test compares the version with `Cargo.lock`.
    ///
    /// Versions stand in the keys of stages, not of ledger records: after an upgrade the ledger is
    /// projected anew, which takes seconds, and nothing that cost model time is made again. Who finds
    /// that an upgrade changes texts or vectors bumps the format of the records.
    Library {
        /// Name of the crate.
        name: &'static str,
        /// Its version.
        version: &'static str,
    },
    /// A format that the program itself defines. A test compares the version with the constant in
    /// the code.
    Format {
        /// What has the format.
        name: &'static str,
        /// Its version.
        version: u32,
    },
}

/// One stage.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct StageSpec {
    /// Name, a verb: `parse`. The binary is `almanac-<name>`.
    pub name: &'static str,
    /// Artifact it writes, a plural noun.
    pub artifact: &'static str,
    /// Bumped by hand when the same input may give other rows.
    pub revision: u32,
    /// One line for people.
    pub summary: &'static str,
    /// Tables it reads.
    pub reads: &'static [TableSpec],
    /// Tables it writes.
    pub writes: &'static [TableSpec],
    /// What else decides its output.
    pub identities: &'static [Identity],
    /// Ledger of records that cost model time, if it has one.
    pub ledger: Option<&'static str>,
    /// Whether it may stop before every record is there, leaving visible gaps.
    pub partial: bool,
    /// Levels of its records, if they have any: each is made of the one before.
    pub levels: &'static [&'static str],
}

impl StageSpec {
    /// File name of the stage's binary.
    pub fn binary(&self) -> String {
        format!("almanac-{}", self.name)
    }

    /// Whether it generates texts with a language model, which is what costs hours.
    pub fn generates_texts(&self) -> bool {
        self.identities
            .iter()
            .any(|identity| matches!(identity, Identity::Model { fallback: "models.llm", .. }))
    }

    /// Names of the artifacts it reads, each once.
    pub fn artifacts_read(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.reads.iter().map(|read| read.artifact).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The stage that writes `artifact`.
pub fn writer_of(artifact: &str) -> Option<&'static StageSpec> {
    PIPELINE.iter().copied().find(|stage| stage.artifact == artifact)
}

/// The stage with this name.
pub fn stage(name: &str) -> Option<&'static StageSpec> {
    PIPELINE.iter().copied().find(|stage| stage.name == name)
}
