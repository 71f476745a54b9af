//! Building an artifact: staging folder, fsync, manifest last, one rename.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::files::{sync_folder, write_atomically};
use crate::parquet_io::{PART_ROWS, write_part};
use crate::{
    Artifact, Digest, Error, FileEntry, KeyParts, Manifest, Result, STORE_FORMAT, Store, Table, TableEntry,
};

/// An artifact in the making. Dropped before [`ArtifactWriter::commit`], it leaves nothing behind.
#[derive(Debug)]
pub struct ArtifactWriter {
    store: Store,
    staging: PathBuf,
    artifact: String,
    tables: Mutex<BTreeMap<String, TableEntry>>,
    files: Vec<FileEntry>,
}

impl ArtifactWriter {
    /// Begins an artifact of this name.
    pub fn begin(store: &Store, artifact: &str) -> Result<Self> {
        Ok(Self {
            store: store.clone(),
            staging: store.staging_folder(artifact)?,
            artifact: artifact.to_owned(),
            tables: Mutex::default(),
            files: Vec::new(),
        })
    }

    /// Where files that are not tables are written before [`ArtifactWriter::add_files`].
    pub fn staging(&self) -> &Path {
        &self.staging
    }

    /// Writes a table: rows are sorted by the declared key, which must tell them apart.
    pub fn write<T: Table>(&mut self, rows: Vec<T>) -> Result<()> {
        self.write_beside(rows)
    }

    /// The same, while other threads write other tables.
    pub fn write_beside<T: Table>(&self, mut rows: Vec<T>) -> Result<()> {
        rows.sort_by(T::compare);
        for (index, pair) in rows.windows(2).enumerate() {
            if pair[0].compare(&pair[1]).is_eq() {
                let key = format!("{:?}", pair[1]).chars().take(200).collect();
                return Err(Error::DuplicateRow { table: T::NAME, row: index + 1, key });
            }
        }
        let content = Digest::of(|encoder| {
            encoder.text(T::NAME).u32(T::VERSION).length(rows.len());
            rows.iter().for_each(|row| row.encode(encoder));
        });
        let mut parts = Vec::new();
        // An empty table still has one part, so that its schema can be read by other tools.
        let slices = if rows.is_empty() { vec![&rows[..]] } else { rows.chunks(PART_ROWS).collect() };
        for (number, slice) in slices.into_iter().enumerate() {
            let path = self.staging.join(format!("{}-{number:05}.parquet", T::NAME));
            parts.push(write_part(&path, slice)?);
        }
        let entry = TableEntry { version: T::VERSION, rows: rows.len() as u64, content, parts };
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.insert(T::NAME.to_owned(), entry);
        Ok(())
    }

    /// Lists every file under `staging` that is not part of a table.
    pub fn add_files(&mut self) -> Result<()> {
        let tables = self.tables.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut pending = vec![self.staging.clone()];
        let mut files = Vec::new();
        while let Some(folder) = pending.pop() {
            for entry in fs_err::read_dir(&folder).map_err(Error::io("list", &folder))? {
                let path = entry.map_err(Error::io("list", &folder))?.path();
                if path.is_dir() {
                    pending.push(path);
                } else {
                    files.push(path);
                }
            }
        }
        files.sort();
        for path in files {
            let relative = path.strip_prefix(&self.staging).unwrap_or(&path);
            let name = relative.to_string_lossy().replace('\\', "/");
            let is_part = tables.values().flat_map(|table| &table.parts).any(|part| part.file == name);
            if is_part {
                continue;
            }
            let file = fs_err::File::open(&path).map_err(Error::io("open", &path))?;
            file.sync_all().map_err(Error::io("sync", &path))?;
            let bytes = file.metadata().map_err(Error::io("inspect", &path))?.len();
            let digest = Digest::of_reader(file).map_err(Error::io("read", &path))?;
            self.files.push(FileEntry { file: name, bytes, digest });
        }
        self.files.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(())
    }

    /// Commits. With `by_content` the folder key depends on the rows too, as it must for a stage
    /// that may stop before every record is there.
    ///
    /// Committing what is already in the store is a success: the present artifact is checked and
    /// returned, the new files are dropped.
    pub fn commit(
        mut self,
        parts: KeyParts,
        read: BTreeMap<String, Digest>,
        by_content: bool,
        provenance: &impl Serialize,
    ) -> Result<Artifact> {
        let plan = parts.key();
        let tables = std::mem::take(self.tables.get_mut().unwrap_or_else(PoisonError::into_inner));
        let key = if by_content { content_key(&plan, &tables) } else { plan };
        let manifest = Manifest {
            format: STORE_FORMAT,
            artifact: self.artifact.clone(),
            key,
            plan,
            parts,
            read,
            tables,
            files: std::mem::take(&mut self.files),
        };
        self.write_json("provenance.json", provenance)?;
        self.write_json("manifest.json", &manifest)?;
        sync_folder(&self.staging)?;
        self.publish(&key, &manifest)?;
        self.store.artifact(&self.artifact, &key)?.ok_or_else(|| Error::NoTable {
            artifact: self.artifact.clone(),
            name: "manifest.json".to_owned(),
        })
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let path = self.staging.join(name);
        let mut bytes = serde_json::to_vec_pretty(value).map_err(|source| Error::Json {
            what: "JSON file",
            path: path.clone(),
            source,
        })?;
        bytes.push(b'\n');
        write_atomically(&path, &bytes)
    }

    /// Renames the staging folder into place. Renaming onto a folder that is not empty fails,
    /// which means that somebody else has committed the same key (or left a damaged one).
    fn publish(&self, key: &Digest, manifest: &Manifest) -> Result<()> {
        let target = self.store.artifact_folder(&self.artifact, key);
        let parent = self.store.root().join(&self.artifact);
        fs_err::create_dir_all(&parent).map_err(Error::io("create", &parent))?;
        for _ in 0..3 {
            match std::fs::rename(&self.staging, &target) {
                Ok(()) => return sync_folder(&parent),
                Err(error) if target.exists() => match self.present(key, manifest) {
                    Ok(true) => return Ok(()),
                    Ok(false) => self.set_aside(key)?,
                    Err(damage) if damage.is_damage() => self.set_aside(key)?,
                    Err(Error::Io { .. }) => return Err(Error::io("publish", &target)(error)),
                    Err(other) => return Err(other),
                },
                Err(error) => return Err(Error::io("publish", &target)(error)),
            }
        }
        Err(Error::Damaged { path: target, detail: "another program keeps changing it".to_owned() })
    }
}

impl ArtifactWriter {
    /// Whether a whole artifact with this key is there. Its bytes are read: this is the moment to
    /// find damage that lengths do not show, while a good copy is at hand.
    fn present(&self, key: &Digest, manifest: &Manifest) -> Result<bool> {
        let Some(present) = self.store.artifact(&self.artifact, key)? else { return Ok(false) };
        present.verify()?;
        for (name, table) in &manifest.tables {
            let same = present.manifest().tables.get(name).is_some_and(|old| old.content == table.content);
            if !same {
                return Err(Error::OtherContents {
                    artifact: self.artifact.clone(),
                    key: key.short(),
                    name: name.clone(),
                    folder: present.folder().to_owned(),
                });
            }
        }
        Ok(true)
    }

    fn set_aside(&self, key: &Digest) -> Result<()> {
        match self.store.set_aside(&self.artifact, key) {
            // Another host has moved it already.
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other.map(|_| ()),
        }
    }
}

impl Drop for ArtifactWriter {
    fn drop(&mut self) {
        // Nothing to tell anybody: after a commit the folder is gone, before one it is scratch.
        let _ = fs_err::remove_dir_all(&self.staging);
    }
}

fn content_key(plan: &Digest, tables: &BTreeMap<String, TableEntry>) -> Digest {
    Digest::of(|encoder| {
        encoder.digest(plan).length(tables.len());
        for (name, table) in tables {
            encoder.text(name).digest(&table.content);
        }
    })
}
