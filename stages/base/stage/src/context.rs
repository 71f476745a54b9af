//! What a stage is given and what it gives back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use almanac_artifact::{Artifact, ArtifactWriter, Ledger, LedgerRecord, Store, Table};
use almanac_catalog::StageSpec;
use almanac_freshness::tree::Tree;
use almanac_settings::Settings;
use almanac_tables::Imported;
use serde::de::DeserializeOwned;

use crate::{Error, Shard};

/// Everything a stage may look at.
pub struct Context {
    pub(crate) spec: &'static StageSpec,
    pub(crate) store: Store,
    pub(crate) settings: Settings,
    pub(crate) inputs: BTreeMap<String, Artifact>,
    pub(crate) previous: Option<Artifact>,
    pub(crate) tree: Option<Tree>,
    pub(crate) shard: Option<Shard>,
    pub(crate) level: Option<String>,
    pub(crate) commit_only: bool,
    pub(crate) count: bool,
    pub(crate) threads: usize,
    pub(crate) identities: BTreeMap<String, String>,
    pub(crate) interrupted: Arc<AtomicBool>,
}

impl Context {
    /// Rows of an input table.
    pub fn read<T: Table>(&self, artifact: &str) -> miette::Result<Vec<T>> {
        let input = self
            .inputs
            .get(artifact)
            .ok_or_else(|| Error::NotAnInput { artifact: artifact.to_owned(), stage: self.spec.name })?;
        let read = input.read();
        if let Err(error) = &read
            && error.is_damage()
        {
            // Out of the way, so that the next build makes it anew.
            self.store.set_aside_if_damaged(artifact, &input.manifest().key);
        }
        Ok(read?)
    }

    /// The stage's `params`, which are part of its key.
    pub fn params<P: DeserializeOwned>(&self) -> miette::Result<P> {
        Ok(self.settings.section(&format!("{}.params", self.spec.name))?)
    }

    /// The stage's `run` settings, which are not.
    pub fn run_settings<R: DeserializeOwned>(&self) -> miette::Result<R> {
        Ok(self.settings.section(&format!("{}.run", self.spec.name))?)
    }

    /// All settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The source tree; only the parse stage has one.
    pub fn tree(&self) -> miette::Result<&Tree> {
        Ok(self.tree.as_ref().ok_or(Error::NoSource)?)
    }

    /// The artifact this stage wrote last, to take over what has not changed, if it was written
    /// by the same revision with the same settings and identities (but for `except`).
    pub fn reusable_previous(
        &self,
        parts: &almanac_artifact::KeyParts,
        except: &[&str],
    ) -> Option<&Artifact> {
        let previous = self.previous.as_ref()?;
        let old = &previous.manifest().parts;
        let relevant = |all: &BTreeMap<String, String>| {
            all.iter()
                .filter(|(name, _)| !except.contains(&name.as_str()))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect::<Vec<_>>()
        };
        let same = old.revision == parts.revision
            && old.params == parts.params
            && old.tables == parts.tables
            && relevant(&old.identities) == relevant(&parts.identities);
        same.then_some(previous)
    }

    /// Rows of the artifact this stage wrote last; none where there is none, or it cannot be read.
    pub fn previous_rows<T: Table>(&self) -> Vec<T> {
        self.previous.as_ref().and_then(|previous| previous.read().ok()).unwrap_or_default()
    }

    /// The stage's ledger.
    pub fn ledger<R: LedgerRecord>(&self) -> miette::Result<Ledger<R>> {
        let ledger = self.store.ledger(self.spec.ledger.unwrap_or(self.spec.name))?;
        warn_of_damage(&ledger);
        Ok(ledger)
    }

    /// The stage's ledger, with no more than the records of these keys in memory.
    pub fn ledger_for<R: LedgerRecord>(&self, keys: BTreeSet<String>) -> miette::Result<Ledger<R>> {
        let ledger = self.store.ledger_for(self.spec.ledger.unwrap_or(self.spec.name), keys)?;
        warn_of_damage(&ledger);
        Ok(ledger)
    }

    /// Texts that were imported into the store.
    pub fn imported(&self) -> miette::Result<Imported> {
        Ok(Imported::open(&self.store)?)
    }

    /// Folder of the stage's ledger.
    pub fn ledger_folder(&self) -> PathBuf {
        self.store.ledger_folder(self.spec.ledger.unwrap_or(self.spec.name))
    }

    /// This task's share; `None` for all.
    pub fn shard(&self) -> Option<Shard> {
        self.shard
    }

    /// The one level of the stage's records to make, if not all are wanted: then nothing is committed.
    pub fn level(&self) -> Option<&str> {
        self.level.as_deref()
    }

    /// Whether to generate nothing and commit what is there.
    pub fn commit_only(&self) -> bool {
        self.commit_only
    }

    /// Whether to do no more than count what is missing.
    pub fn counts_only(&self) -> bool {
        self.count
    }

    /// Threads the job was given.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Identities in the stage's key, such as `model NAME` to digest.
    pub fn identities(&self) -> &BTreeMap<String, String> {
        &self.identities
    }

    /// Set by a signal: take no new work.
    pub fn interrupted(&self) -> &AtomicBool {
        &self.interrupted
    }

    /// Whether a signal came.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// The artifact being written.
pub struct Output {
    pub(crate) writer: ArtifactWriter,
    pub(crate) parts: almanac_artifact::KeyParts,
}

impl Output {
    /// Writes a table; rows are sorted by its key.
    pub fn write<T: Table>(&mut self, rows: Vec<T>) -> miette::Result<()> {
        Ok(self.writer.write(rows)?)
    }

    /// The same, while other threads write other tables.
    pub fn write_beside<T: Table>(&self, rows: Vec<T>) -> miette::Result<()> {
        Ok(self.writer.write_beside(rows)?)
    }

    /// Folder for files that are not tables.
    pub fn folder(&self) -> &Path {
        self.writer.staging()
    }

    /// What decides this output.
    pub fn parts(&self) -> &almanac_artifact::KeyParts {
        &self.parts
    }
}

fn warn_of_damage<R: LedgerRecord>(ledger: &Ledger<R>) {
    for path in ledger.damaged() {
        almanac_terminal::warning(format!(
            "ledger file {} is damaged; its records are generated again",
            path.display()
        ));
    }
}
