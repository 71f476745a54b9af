//! Records that cost GPU time, kept one by one and for ever.
//!
//! A ledger is a folder of Parquet files that are only ever added. Any number of tasks on any
//! number of hosts append at once, each under file names of its own; a killed task loses what it
//! had not flushed. Each record is keyed by everything that decides it, so a reader needs no order.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use crate::abandoned::{Owner, unique_suffix};
use crate::files::{check_regular, sync_folder};
use crate::parquet_io::{read_part, write_part};
use crate::{Error, Result, Table};

/// Times a folder is listed before a missing file counts as an error.
const LISTINGS: usize = 5;
/// Files of killed writers are merged when there are this many, each smaller than this many bytes:
/// what was merged grows out of it, so that no record is rewritten at the end of every run.
const ABANDONED_FILES: usize = 16;
const ABANDONED_BYTES: u64 = 1 << 20;

/// A row that can be kept in a ledger.
pub trait LedgerRecord: Table {
    /// Digest of everything that decides the record.
    fn record_key(&self) -> &str;
    /// Which of two records with one key is kept; must be the same whatever the order.
    fn supersedes(&self, other: &Self) -> bool;
    /// Records of a file that an older version of the table wrote; `None` where that version is not known.
    fn read_older(path: &Path, version: &str) -> Option<Result<Vec<Self>>> {
        let _ = (path, version);
        None
    }
}

/// The records of one ledger, by key.
#[derive(Debug)]
pub struct Ledger<R> {
    folder: PathBuf,
    /// Keys of the records that are kept in memory; `None`: all.
    wanted: Option<BTreeSet<String>>,
    records: BTreeMap<String, R>,
    damaged: Vec<PathBuf>,
}

impl<R: LedgerRecord> Ledger<R> {
    /// Reads `folder`; one that does not exist is an empty ledger.
    ///
    /// A file that cannot be read is set aside in [`Ledger::damaged`] and costs only its own
    /// records, which are generated again.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::read(folder, None)
    }

    /// Like [`Ledger::open`], with no more than the records of these keys in memory: a ledger keeps
    /// what was made for every earlier state of a tree, and that is never wanted at once.
    pub fn open_for(folder: &Path, keys: BTreeSet<String>) -> Result<Self> {
        Self::read(folder, Some(keys))
    }

    /// Reads again what is there, for records that other tasks have added since.
    pub fn reload(&mut self) -> Result<()> {
        *self = Self::read(&self.folder, self.wanted.take())?;
        Ok(())
    }

    fn read(folder: &Path, wanted: Option<BTreeSet<String>>) -> Result<Self> {
        let (records, damaged) = (BTreeMap::new(), Vec::new());
        let mut ledger = Self { folder: folder.to_owned(), wanted, records, damaged };
        let mut read = BTreeSet::new();
        let mut gone = false;
        // Other tasks merge their files meanwhile. The merged one is in place before the others go,
        // so what a listing has missed is in a new file of the next.
        for _ in 0..LISTINGS {
            let new: Vec<PathBuf> =
                parquet_files(folder)?.into_iter().filter(|path| !read.contains(path)).collect();
            gone = false;
            if new.is_empty() {
                break;
            }
            for path in new {
                if ledger.read_file(&path)? {
                    read.insert(path);
                } else {
                    gone = true;
                }
            }
        }
        if gone { Err(Error::LedgerFolder { path: folder.to_owned() }) } else { Ok(ledger) }
    }

    /// Reads one file; false when it is not there any more.
    fn read_file(&mut self, path: &Path) -> Result<bool> {
        let older = older_version::<R>(path);
        let rows = check_regular(path).and_then(|()| match &older {
            None => read_part::<R>(path),
            Some(version) => R::read_older(path, version).unwrap_or_else(|| {
                let (path, found) = (path.to_owned(), version.clone());
                Err(Error::LedgerVersion { path, found, expected: R::VERSION })
            }),
        });
        match rows {
            Ok(rows) => rows.into_iter().for_each(|row| self.insert(row)),
            Err(Error::Io { source, .. }) if is_gone(&source) => return Ok(false),
            Err(error) if error.is_damage() => self.damaged.push(path.to_owned()),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    fn insert(&mut self, record: R) {
        if self.wanted.as_ref().is_some_and(|wanted| !wanted.contains(record.record_key())) {
            return;
        }
        match self.records.get(record.record_key()) {
            Some(present) if !record.supersedes(present) => {}
            _ => {
                self.records.insert(record.record_key().to_owned(), record);
            }
        }
    }

    /// The record with this key.
    pub fn get(&self, key: &str) -> Option<&R> {
        self.records.get(key)
    }

    /// Number of distinct records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// All records, in key order.
    pub fn iter(&self) -> impl Iterator<Item = &R> {
        self.records.values()
    }

    /// Files that could not be read.
    pub fn damaged(&self) -> &[PathBuf] {
        &self.damaged
    }

    /// A writer for this process. Flushed records are visible to ledgers opened later.
    pub fn writer(&self) -> LedgerWriter<R> {
        LedgerWriter {
            folder: self.folder.clone(),
            name: unique_suffix(),
            sequence: 0,
            pending: Vec::new(),
            written: Vec::new(),
            rows: PhantomData,
        }
    }

    /// Takes a record out of the view in memory; it stays in the ledger.
    pub fn take(&mut self, key: &str) -> Option<R> {
        self.records.remove(key)
    }

    /// Adds a record to the view in memory, as a run does with what it has just written.
    pub fn absorb(&mut self, record: R) {
        self.insert(record);
    }
}

/// Whether a file was removed, here or on another host of a network file system.
fn is_gone(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::StaleNetworkFileHandle)
}

fn parquet_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs_err::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("list", folder)(error)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::io("list", folder))?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !hidden && path.extension().is_some_and(|extension| extension == "parquet") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The version in the name (`….v1.parquet`) of a file that is not of the present one. It stands there so
/// that a record of another version is never mistaken for damage and generated again.
fn older_version<R: Table>(path: &Path) -> Option<String> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let (_, version) = stem.rsplit_once(".v")?;
    (version != R::VERSION.to_string()).then(|| version.to_owned())
}

/// Appends records in files of its own.
#[derive(Debug)]
pub struct LedgerWriter<R> {
    folder: PathBuf,
    name: String,
    sequence: u32,
    pending: Vec<R>,
    written: Vec<PathBuf>,
    rows: PhantomData<R>,
}

impl<R: LedgerRecord> LedgerWriter<R> {
    /// Keeps a record until the next flush.
    pub fn append(&mut self, record: R) {
        self.pending.push(record);
    }

    /// Records not yet flushed.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Makes everything appended durable.
    pub fn flush(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let path = self.write_file(&self.pending)?;
        self.sequence += 1;
        self.pending.clear();
        self.written.push(path);
        Ok(())
    }

    /// Flushes and merges this writer's files into one, so that a long run leaves one file. Small
    /// files of writers that were killed on this machine join it.
    ///
    /// The merged file is in place before the small ones go, so a kill in between, or another task
    /// that merges the same ones, leaves records twice, never not at all.
    pub fn finish(self) -> Result<()> {
        self.merge(false)
    }

    /// Like [`finish`](Self::finish), and small files of other machines' writers join too, once they are
    /// many: the tasks of an array leave one each, and every later task would open them all. For a run
    /// that comes after the tasks; one that still writes loses nothing by it.
    pub fn finish_all(self) -> Result<()> {
        self.merge(true)
    }

    fn merge(mut self, of_any_machine: bool) -> Result<()> {
        self.flush()?;
        let mut merged = Ledger {
            folder: self.folder.clone(),
            wanted: None,
            records: BTreeMap::new(),
            damaged: Vec::new(),
        };
        let mut sources = self.written.clone();
        let others = self.abandoned(of_any_machine)?;
        sources.extend(others.into_iter().filter(|path| !self.written.contains(path)));
        if sources.len() < 2 {
            return Ok(());
        }
        // What cannot be read now stays for a later reader to judge.
        sources.retain(|path| matches!(merged.read_file(path), Ok(true)));
        sources.retain(|path| !merged.damaged.contains(path));
        let rows: Vec<R> = merged.records.into_values().collect();
        self.write_file(&rows)?;
        for path in &sources {
            match fs_err::remove_file(path) {
                Err(error) if !is_gone(&error) => return Err(Error::io("remove", path)(error)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Small files, if they are many, whose writer certainly runs no more; or of any machine.
    fn abandoned(&self, of_any_machine: bool) -> Result<Vec<PathBuf>> {
        let version = format!(".v{}.parquet", R::VERSION);
        let mut paths = parquet_files(&self.folder)?;
        paths.retain(|path| {
            path.to_string_lossy().ends_with(&version)
                && (of_any_machine || Owner::in_name(path).is_some_and(|owner| owner.is_gone()))
                && fs_err::metadata(path).is_ok_and(|found| found.is_file() && found.len() < ABANDONED_BYTES)
        });
        Ok(if paths.len() < ABANDONED_FILES { Vec::new() } else { paths })
    }

    fn write_file(&self, rows: &[R]) -> Result<PathBuf> {
        fs_err::create_dir_all(&self.folder).map_err(Error::io("create", &self.folder))?;
        let name = format!("{}-{:05}.v{}.parquet", self.name, self.sequence, R::VERSION);
        let temporary = self.folder.join(format!(".{name}"));
        let path = self.folder.join(name);
        let mut sorted = rows.to_vec();
        sorted.sort_by(R::compare);
        if let Err(error) = write_part(&temporary, &sorted) {
            let _ = fs_err::remove_file(&temporary);
            return Err(error);
        }
        fs_err::rename(&temporary, &path).map_err(Error::io("rename", &temporary))?;
        sync_folder(&self.folder)?;
        Ok(path)
    }
}
