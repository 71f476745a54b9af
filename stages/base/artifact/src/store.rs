//! The folder that holds artifacts, ledgers, refs and run records.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::abandoned::unique_suffix;
use crate::files::{read_json, write_atomically};
use crate::{Artifact, Digest, Error, Ledger, LedgerRecord, Manifest, Result};

/// Format of the store's layout.
pub const STORE_FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct StoreFile {
    format: u32,
}

/// A store: `<artifact>/<key>/`, `refs/<profile>/<artifact>.json`, `ledger/<name>/`, `runs/`.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

fn marker(root: &Path) -> PathBuf {
    root.join("store.json")
}

fn read_marker(root: &Path) -> Result<Option<StoreFile>> {
    match read_json(&marker(root), "store description") {
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotADirectory => {
            Err(Error::StoreIsFile { path: root.to_owned() })
        }
        other => other,
    }
}

/// What a profile's artifact currently is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ref {
    /// Folder key of the artifact.
    pub key: Digest,
    /// Plan key it was built for.
    pub plan: Digest,
    /// Whether every wanted record is there; always true for stages without a ledger.
    pub complete: bool,
    /// Limits that the last run reached, by name (`max_seconds`, `max_records`; 0 is none). A larger
    /// limit makes the stage stale, the same one does not. `None` when no limit explains a gap.
    pub budget: Option<BTreeMap<String, u64>>,
    /// Records that were tried and failed. They count as there until somebody asks to retry them.
    #[serde(default)]
    pub failed: u64,
    /// Records that are there and poorly grounded. They too are tried again only when somebody asks.
    #[serde(default)]
    pub poorly_grounded: u64,
}

impl Store {
    /// Opens a store, creating the folder if needed.
    pub fn open_or_create(root: &Path) -> Result<Self> {
        if read_marker(root)?.is_none() {
            let text = format!("{{\n  \"format\": {STORE_FORMAT}\n}}\n");
            write_atomically(&marker(root), text.as_bytes())?;
        }
        Self::open(root)
    }

    /// Opens an existing store.
    pub fn open(root: &Path) -> Result<Self> {
        match read_marker(root)? {
            None => Err(Error::NotAStore { path: root.to_owned() }),
            Some(file) if file.format != STORE_FORMAT => {
                Err(Error::StoreFormat { path: root.to_owned(), found: file.format, expected: STORE_FORMAT })
            }
            Some(_) => Ok(Self { root: root.to_owned() }),
        }
    }

    /// The store's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Folder of one artifact version.
    pub fn artifact_folder(&self, artifact: &str, key: &Digest) -> PathBuf {
        self.root.join(artifact).join(key.hex(32))
    }

    /// A new folder for work in progress, on the same file system.
    pub(crate) fn staging_folder(&self, artifact: &str) -> Result<PathBuf> {
        let folder = self.root.join(".staging").join(format!("{artifact}-{}", unique_suffix()));
        fs_err::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        Ok(folder)
    }

    /// Path of a run record.
    pub fn run_record(&self, name: &str) -> PathBuf {
        self.root.join("runs").join(name)
    }

    fn ref_path(&self, profile: &str, artifact: &str) -> PathBuf {
        self.root.join("refs").join(profile).join(format!("{artifact}.json"))
    }

    /// What `artifact` currently is for `profile`.
    pub fn read_ref(&self, profile: &str, artifact: &str) -> Result<Option<Ref>> {
        read_json(&self.ref_path(profile, artifact), "ref")
    }

    /// Makes `value` current for `profile`.
    pub fn write_ref(&self, profile: &str, artifact: &str, value: &Ref) -> Result<()> {
        let mut bytes = serde_json::to_vec_pretty(value).map_err(|source| Error::Json {
            what: "ref",
            path: self.ref_path(profile, artifact),
            source,
        })?;
        bytes.push(b'\n');
        write_atomically(&self.ref_path(profile, artifact), &bytes)
    }

    /// The current artifact of `profile`; `stage` names who writes it in the error.
    pub fn current(&self, profile: &str, artifact: &str, stage: &str) -> Result<Artifact> {
        let missing = || Error::NoArtifact {
            artifact: artifact.to_owned(),
            profile: profile.to_owned(),
            store: self.root.clone(),
            hint: match self.profiles_with(artifact).join("`, `") {
                others if !others.is_empty() && !self.ref_path(profile, artifact).exists() => {
                    format!("the store has it for --profile `{others}`")
                }
                _ => format!("run `almanac build` (or `almanac-{stage} run`) first"),
            },
        };
        let current = self.read_ref(profile, artifact)?.ok_or_else(missing)?;
        self.artifact(artifact, &current.key)?.ok_or_else(missing)
    }

    /// Profiles that have this artifact, in order.
    fn profiles_with(&self, artifact: &str) -> Vec<String> {
        let folders = fs_err::read_dir(self.root.join("refs")).into_iter().flatten().flatten();
        let names = folders.filter_map(|folder| folder.file_name().into_string().ok());
        let mut profiles: Vec<String> =
            names.filter(|profile| self.ref_path(profile, artifact).is_file()).collect();
        profiles.sort();
        profiles
    }

    /// The artifact with this folder key, if it was committed. Its files are checked for presence
    /// and length; their digests by [`Artifact::verify`].
    pub fn artifact(&self, artifact: &str, key: &Digest) -> Result<Option<Artifact>> {
        let folder = self.artifact_folder(artifact, key);
        let path = folder.join("manifest.json");
        let Some(manifest) = read_json::<Manifest>(&path, "manifest")? else { return Ok(None) };
        if manifest.format != STORE_FORMAT {
            return Err(Error::StoreFormat {
                path: self.root.clone(),
                found: manifest.format,
                expected: STORE_FORMAT,
            });
        }
        if manifest.key != *key {
            return Err(Error::ManifestKey {
                path,
                detail: format!("it names key {}", manifest.key.short()),
            });
        }
        if manifest.parts.key() != manifest.plan {
            return Err(Error::ManifestKey { path, detail: "its parts give another key".to_owned() });
        }
        Artifact::open(folder, manifest).map(Some)
    }

    /// The artifact with this folder key, every byte of it checked.
    pub fn verified_artifact(&self, artifact: &str, key: &Digest) -> Result<Option<Artifact>> {
        let found = self.artifact(artifact, key)?;
        found.map(|found| found.verify().map(|()| found)).transpose()
    }

    /// Moves an artifact out of the way, keeping it for inspection.
    pub fn set_aside(&self, artifact: &str, key: &Digest) -> Result<PathBuf> {
        let folder = self.artifact_folder(artifact, key);
        let target = self.root.join(".damaged").join(format!("{artifact}-{}", unique_suffix()));
        let parent = self.root.join(".damaged");
        fs_err::create_dir_all(&parent).map_err(Error::io("create", &parent))?;
        fs_err::rename(&folder, &target).map_err(Error::io("set aside", &folder))?;
        Ok(target)
    }

    /// What a reader does who has met damage: sets the artifact aside, so that the next build makes
    /// it anew. Gives whether it is out of the way.
    ///
    /// The artifact is read again first: one that is whole (the reader is of another version, or
    /// somebody has rebuilt it meanwhile) stays. A store that cannot be changed stays as it is; the
    /// damage is what the caller has to tell, so that is no error.
    pub fn set_aside_if_damaged(&self, artifact: &str, key: &Digest) -> bool {
        match self.verified_artifact(artifact, key) {
            Ok(None) => true,
            Err(error) if error.is_damage() => {
                let moved = self.set_aside(artifact, key);
                if let Err(error) = &moved {
                    tracing::warn!("the damaged artifact stays where it is: {error}");
                }
                moved.is_ok()
            }
            Ok(Some(_)) | Err(_) => false,
        }
    }

    /// The ledger with this name, such as `explanations`.
    pub fn ledger<R: LedgerRecord>(&self, name: &str) -> Result<Ledger<R>> {
        Ledger::open(&self.ledger_folder(name))
    }

    /// The ledger with this name, with no more than the records of these keys in memory.
    pub fn ledger_for<R: LedgerRecord>(&self, name: &str, keys: BTreeSet<String>) -> Result<Ledger<R>> {
        Ledger::open_for(&self.ledger_folder(name), keys)
    }

    /// Moves a ledger out of the way, so that its records are made anew, and gives where it is kept;
    /// `None` when there is none. Moved back, it counts again.
    pub fn set_ledger_aside(&self, name: &str) -> Result<Option<PathBuf>> {
        let folder = self.ledger_folder(name);
        if !folder.is_dir() {
            return Ok(None);
        }
        let parent = self.root.join("forgotten");
        fs_err::create_dir_all(&parent).map_err(Error::io("create", &parent))?;
        let target = parent.join(format!("{name}-{}", unique_suffix()));
        fs_err::rename(&folder, &target).map_err(Error::io("set aside", &folder))?;
        Ok(Some(target))
    }

    /// Folder of the ledger with this name.
    pub fn ledger_folder(&self, name: &str) -> PathBuf {
        self.root.join("ledger").join(name)
    }
}
