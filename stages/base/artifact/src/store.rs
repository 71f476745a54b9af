//! The folder that holds artifacts, ledgers, refs and run records.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::{read_json, unique_suffix, write_atomically};
use crate::parquet_io::read_part;
use crate::{Digest, Error, Ledger, LedgerRecord, Manifest, Result, Table};

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
}

impl Store {
    /// Opens a store, creating the folder if needed.
    pub fn open_or_create(root: &Path) -> Result<Self> {
        let marker = root.join("store.json");
        match read_json::<StoreFile>(&marker, "store description")? {
            Some(_) => Self::open(root),
            None => {
                let text = format!("{{\n  \"format\": {STORE_FORMAT}\n}}\n");
                write_atomically(&marker, text.as_bytes())?;
                Self::open(root)
            }
        }
    }

    /// Opens an existing store.
    pub fn open(root: &Path) -> Result<Self> {
        match read_json::<StoreFile>(&root.join("store.json"), "store description")? {
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
            stage: stage.to_owned(),
            profile: profile.to_owned(),
            store: self.root.clone(),
        };
        let current = self.read_ref(profile, artifact)?.ok_or_else(missing)?;
        self.artifact(artifact, &current.key)?.ok_or_else(missing)
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
        let artifact = Artifact { folder, manifest };
        artifact.check_lengths()?;
        Ok(Some(artifact))
    }

    /// Moves a damaged artifact out of the way, keeping it for inspection.
    pub fn set_aside(&self, artifact: &str, key: &Digest) -> Result<PathBuf> {
        let folder = self.artifact_folder(artifact, key);
        let target = self.root.join(".damaged").join(format!("{artifact}-{}", unique_suffix()));
        let parent = self.root.join(".damaged");
        fs_err::create_dir_all(&parent).map_err(Error::io("create", &parent))?;
        fs_err::rename(&folder, &target).map_err(Error::io("set aside", &folder))?;
        Ok(target)
    }

    /// The ledger with this name, such as `explanations`.
    pub fn ledger<R: LedgerRecord>(&self, name: &str) -> Result<Ledger<R>> {
        Ledger::open(&self.ledger_folder(name))
    }

    /// Folder of the ledger with this name.
    pub fn ledger_folder(&self, name: &str) -> PathBuf {
        self.root.join("ledger").join(name)
    }
}

/// One committed artifact.
#[derive(Debug, Clone)]
pub struct Artifact {
    folder: PathBuf,
    manifest: Manifest,
}

impl Artifact {
    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every row of a table, in key order.
    pub fn read<T: Table>(&self) -> Result<Vec<T>> {
        let entry = self.manifest.tables.get(T::NAME).ok_or_else(|| Error::NoTable {
            artifact: self.manifest.artifact.clone(),
            name: T::NAME.to_owned(),
        })?;
        if entry.version != T::VERSION {
            return Err(Error::TableVersion {
                artifact: self.manifest.artifact.clone(),
                table: T::NAME,
                found: entry.version,
                expected: T::VERSION,
            });
        }
        let mut rows = Vec::new();
        for part in &entry.parts {
            rows.extend(read_part::<T>(&self.folder.join(&part.file))?);
        }
        if rows.len() as u64 != entry.rows {
            return Err(Error::Damaged {
                path: self.folder.join(format!("{}-*.parquet", T::NAME)),
                detail: format!("{} rows, the manifest says {}", rows.len(), entry.rows),
            });
        }
        Ok(rows)
    }

    /// Path of a file that is not a table.
    pub fn file_path(&self, file: &str) -> Result<PathBuf> {
        let listed = self.manifest.files.iter().any(|entry| {
            entry.file == file || entry.file.strip_prefix(file).is_some_and(|rest| rest.starts_with('/'))
        });
        if listed {
            Ok(self.folder.join(file))
        } else {
            Err(Error::NoTable { artifact: self.manifest.artifact.clone(), name: file.to_owned() })
        }
    }

    /// Every file with its recorded size and digest.
    fn entries(&self) -> impl Iterator<Item = (PathBuf, u64, Digest)> + '_ {
        let parts = self
            .manifest
            .tables
            .values()
            .flat_map(|table| &table.parts)
            .map(|part| (self.folder.join(&part.file), part.bytes, part.digest));
        let files =
            self.manifest.files.iter().map(|file| (self.folder.join(&file.file), file.bytes, file.digest));
        parts.chain(files)
    }

    fn check_lengths(&self) -> Result<()> {
        for (path, bytes, _) in self.entries() {
            let found = match fs_err::metadata(&path) {
                Ok(metadata) => metadata.len(),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    return Err(Error::Damaged { path, detail: "the file is missing".to_owned() });
                }
                Err(error) => return Err(Error::io("inspect", &path)(error)),
            };
            if found != bytes {
                let detail = format!("{found} bytes, the manifest says {bytes}");
                return Err(Error::Damaged { path, detail });
            }
        }
        Ok(())
    }

    /// Checks the digest of every file.
    pub fn verify(&self) -> Result<()> {
        self.check_lengths()?;
        for (path, _, expected) in self.entries() {
            let file = fs_err::File::open(&path).map_err(Error::io("open", &path))?;
            let found = Digest::of_reader(file).map_err(Error::io("read", &path))?;
            if found != expected {
                let detail = format!("digest {}, the manifest says {}", found.short(), expected.short());
                return Err(Error::Damaged { path, detail });
            }
        }
        Ok(())
    }
}
