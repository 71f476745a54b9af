//! What was read of a tree before, kept in the user's cache folder, so that nothing is read twice.
//!
//! Everything in it is keyed by content and only saves work: what is missing, damaged, of another tree or
//! written by another version is ignored and made anew, and where nothing can be written nothing is.

use std::io::Write;
use std::path::{Path, PathBuf};

use almanac_artifact::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Layout of the files; raised when one of them changes.
const FORMAT: u32 = 1;
const MAGIC: &[u8; 16] = b"almanac-context\n";
/// Magic, who wrote it, digest of what follows.
const HEADER: usize = 16 + 32 + 32;

/// The cache of one tree.
#[derive(Debug, Default)]
pub struct Cache {
    /// Folder of the tree's files; `None`: nothing is kept.
    folder: Option<PathBuf>,
    writer: Option<Digest>,
    most_bytes: u64,
}

/// A file of the cache.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kept {
    /// Digests of files by what they looked like.
    Stamps,
    /// Terms by content.
    Contents,
    /// Symbols by content.
    Symbols,
    /// Past changes by commit.
    Changes,
}

impl Kept {
    fn name(self) -> &'static str {
        match self {
            Self::Stamps => "stamps",
            Self::Contents => "contents",
            Self::Symbols => "symbols",
            Self::Changes => "changes",
        }
    }
}

impl Cache {
    /// Keeps nothing.
    pub fn off() -> Self {
        Self::default()
    }

    /// The cache of `source` in `folder`, which all trees share and which stays below `most_bytes`. What
    /// is kept depends on `settings`, the settings that decide how files are read.
    pub fn of(folder: &Path, source: &Path, settings: &str, most_bytes: u64) -> Self {
        let Ok(source) = source.canonicalize() else { return Self::off() };
        // Another build may read files otherwise.
        let program = std::env::current_exe().and_then(fs_err::metadata);
        let Ok((Ok(built), bytes)) = program.map(|found| (found.modified(), found.len())) else {
            return Self::off();
        };
        let writer = Digest::of(|encoder| {
            encoder.u64(u64::from(FORMAT)).text(env!("CARGO_PKG_VERSION")).text(settings);
            encoder.u64(bytes).text(&format!("{built:?}"));
        });
        let tree = Digest::of_bytes(source.as_os_str().as_encoded_bytes());
        Self { folder: Some(folder.join(tree.hex(20))), writer: Some(writer), most_bytes }
    }

    /// What a file holds; `None` where there is nothing that can be used.
    pub(crate) fn read<T: DeserializeOwned>(&self, kept: Kept) -> Option<T> {
        let path = self.folder.as_ref()?.join(kept.name());
        let bytes = fs_err::read(path).ok()?;
        if bytes.get(..HEADER)? != self.header(bytes.get(HEADER..)?)? {
            tracing::debug!("the cache of {} is of another version or damaged", kept.name());
            return None;
        }
        postcard::from_bytes(&bytes[HEADER..]).ok()
    }

    /// Replaces a file in one step; a reader sees the old one or the new one.
    pub(crate) fn write<T: Serialize>(&self, kept: Kept, value: &T) {
        let Some(folder) = &self.folder else { return };
        let written = postcard::to_allocvec(value).map_err(std::io::Error::other).and_then(|payload| {
            if payload.len() as u64 > self.most_bytes {
                return Err(std::io::Error::other("larger than the cache may be"));
            }
            let header = self.header(&payload).unwrap_or_default();
            fs_err::create_dir_all(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(&header)?;
            file.write_all(&payload)?;
            file.persist(folder.join(kept.name()))?;
            Ok(())
        });
        match written {
            Ok(()) => self.bound(),
            // A read-only home, a full disk: the next call takes longer, that is all.
            Err(error) => tracing::debug!("{} is not kept: {error}", kept.name()),
        }
    }

    fn header(&self, payload: &[u8]) -> Option<Vec<u8>> {
        let digests = [self.writer.as_ref()?.hex(32), Digest::of_bytes(payload).hex(32)];
        Some([MAGIC.as_slice(), digests[0].as_bytes(), digests[1].as_bytes()].concat())
    }

    /// Removes the trees that were not asked of for longest until all take no more than they may.
    fn bound(&self) {
        let Some((own, all)) = self.folder.as_ref().and_then(|own| Some((own, own.parent()?))) else {
            return;
        };
        let mut trees = Vec::new();
        for entry in std::fs::read_dir(all).into_iter().flatten().flatten() {
            let files = std::fs::read_dir(entry.path()).into_iter().flatten().flatten();
            let found: Vec<_> = files.filter_map(|file| file.metadata().ok()).collect();
            let bytes: u64 = found.iter().map(std::fs::Metadata::len).sum();
            let used = found.iter().filter_map(|file| file.modified().ok()).max();
            trees.push((used, entry.path(), bytes));
        }
        let mut total: u64 = trees.iter().map(|(_, _, bytes)| bytes).sum();
        trees.sort();
        for (_, path, bytes) in trees {
            if total <= self.most_bytes {
                break;
            }
            if path != *own && fs_err::remove_dir_all(&path).is_ok() {
                total -= bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_or_of_another_writer_is_ignored_and_old_trees_make_room() {
        let home = tempfile::tempdir().unwrap();
        let of = |tree: &str, settings: &str| {
            let source = home.path().join(tree);
            std::fs::create_dir_all(&source).unwrap();
            Cache::of(&home.path().join("cache"), &source, settings, 1000)
        };
        let cache = of("a", "x");
        cache.write(Kept::Stamps, &vec![7u32; 300]);
        assert_eq!(cache.read::<Vec<u32>>(Kept::Stamps), Some(vec![7; 300]));
        assert_eq!(cache.read::<Vec<u32>>(Kept::Contents), None);
        assert_eq!(of("a", "y").read::<Vec<u32>>(Kept::Stamps), None);
        assert_eq!(of("b", "x").read::<Vec<u32>>(Kept::Stamps), None);
        // Cut, changed in one byte, and something else altogether.
        let path = cache.folder.clone().unwrap().join("stamps");
        let bytes = std::fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        changed[HEADER + 5] ^= 1;
        for damaged in [&bytes[..bytes.len() - 1], &bytes[..10], &changed, b""] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(cache.read::<Vec<u32>>(Kept::Stamps), None);
        }
        cache.write(Kept::Stamps, &vec![7u32; 300]);
        // Two of these fit, three do not: the oldest tree goes, not the one that is written.
        let (second, third) = (of("b", "x"), of("c", "x"));
        second.write(Kept::Stamps, &vec![8u32; 300]);
        third.write(Kept::Stamps, &vec![9u32; 300]);
        assert_eq!(third.read::<Vec<u32>>(Kept::Stamps), Some(vec![9; 300]));
        assert!(cache.read::<Vec<u32>>(Kept::Stamps).is_none());
        assert!(second.read::<Vec<u32>>(Kept::Stamps).is_some());
        // Larger than everything may be.
        third.write(Kept::Contents, &vec![9u32; 2000]);
        assert!(third.read::<Vec<u32>>(Kept::Contents).is_none());
    }

    #[test]
    fn where_nothing_can_be_written_nothing_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let cache = Cache::of(&file.join("cache"), home.path(), "x", 1000);
        cache.write(Kept::Stamps, &1u32);
        assert_eq!(cache.read::<u32>(Kept::Stamps), None);
        Cache::off().write(Kept::Stamps, &1u32);
        assert_eq!(Cache::off().read::<u32>(Kept::Stamps), None);
    }
}
