//! One committed artifact: its rows, its files, and whether they are what was committed.

use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;

use crate::files::check_regular;
use crate::parquet_io::read_part;
use crate::{Digest, Error, Manifest, Result, Table};

/// One committed artifact.
#[derive(Debug, Clone)]
pub struct Artifact {
    folder: PathBuf,
    manifest: Manifest,
}

/// A file with the size and digest that the manifest records.
type Entry = (PathBuf, u64, Digest);

impl Artifact {
    /// An artifact whose files are there with the right lengths.
    pub(crate) fn open(folder: PathBuf, manifest: Manifest) -> Result<Self> {
        let artifact = Self { folder, manifest };
        artifact.check_names()?;
        artifact.check_lengths()?;
        Ok(artifact)
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Every row of a table, in key order. The files' digests are checked first: a decoder may take
    /// changed bytes for other rows.
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
            let path = self.folder.join(&part.file);
            check_digest(&path, part.digest)?;
            rows.extend(read_part::<T>(&path)?);
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

    /// Every part of every table.
    fn parts(&self) -> impl Iterator<Item = Entry> + '_ {
        let parts = self.manifest.tables.values().flat_map(|table| &table.parts);
        parts.map(|part| (self.folder.join(&part.file), part.bytes, part.digest))
    }

    /// Every file that is not part of a table.
    fn files(&self) -> impl Iterator<Item = Entry> + '_ {
        self.manifest.files.iter().map(|file| (self.folder.join(&file.file), file.bytes, file.digest))
    }

    /// What a manifest names lies in its folder: it may have come with a store from anywhere.
    fn check_names(&self) -> Result<()> {
        let parts = self.manifest.tables.values().flat_map(|table| &table.parts);
        let names = parts.map(|part| &part.file).chain(self.manifest.files.iter().map(|file| &file.file));
        for name in names {
            let path = Path::new(name);
            let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
            if name.is_empty() || !path.components().all(is_plain) {
                let detail = format!("it names {name:?}, which is not in its folder");
                return Err(Error::ManifestKey { path: self.folder.join("manifest.json"), detail });
            }
        }
        Ok(())
    }

    fn check_lengths(&self) -> Result<()> {
        for (path, bytes, _) in self.parts().chain(self.files()) {
            let found = match fs_err::metadata(&path) {
                Ok(metadata) if !metadata.is_file() => return Err(Error::NotAFile { path }),
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
        check_digests(self.parts().chain(self.files()).collect())
    }

    /// Checks the digests of the files that are not tables, whose readers check nothing.
    /// [`Artifact::read`] checks those of a table by itself.
    pub fn verify_files(&self) -> Result<()> {
        check_digests(self.files().collect())
    }
}

/// Checks all files at once; of several damaged ones the first is told.
fn check_digests(entries: Vec<Entry>) -> Result<()> {
    let first = entries.par_iter().find_map_first(|(path, _, digest)| check_digest(path, *digest).err());
    first.map_or(Ok(()), Err)
}

fn check_digest(path: &Path, expected: Digest) -> Result<()> {
    check_regular(path)?;
    let found = fs_err::File::open(path).and_then(Digest::of_reader);
    let found = found.map_err(Error::io("read", path))?;
    if found == expected {
        return Ok(());
    }
    let detail = format!("digest {}, the manifest says {}", found.short(), expected.short());
    Err(Error::Damaged { path: path.to_owned(), detail })
}
