//! A bundle opened into a cache folder that is named by its content.

use std::path::{Path, PathBuf};

use almanac_artifact::{Digest, Store};

use crate::unpack::unpack;
use crate::{Error, Limits, Manifest, Result};

/// A bundle that can be asked.
#[derive(Debug)]
pub struct Opened {
    /// Folder of the store in it.
    pub store: PathBuf,
    /// What it holds.
    pub manifest: Manifest,
}

fn file_of(path: &Path) -> Result<fs_err::File> {
    match fs_err::metadata(path) {
        Ok(found) if !found.is_file() => Err(Error::Refused {
            path: path.to_owned(),
            reason: "it is no bundle: not a regular file".to_owned(),
        }),
        Ok(_) => fs_err::File::open(path).map_err(Error::io("read", path)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::Missing { path: path.to_owned() })
        }
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

/// Reads every byte of a bundle, and writes nothing.
///
/// # Errors
/// Whatever is wrong with it.
pub fn verify(path: &Path, limits: &Limits) -> Result<Manifest> {
    unpack(path, &mut file_of(path)?, None, limits)
}

/// Opens a bundle below `cache`, once for each content: a folder that is there and whole is used as
/// it is, one that is not is replaced. Nothing has its final name before every digest was checked.
///
/// # Errors
/// Whatever is wrong with it, or a cache folder that cannot be written.
pub fn open(path: &Path, cache: &Path, limits: &Limits) -> Result<Opened> {
    let mut file = file_of(path)?;
    let digest = Digest::of_reader(&mut file).map_err(Error::io("read", path))?;
    let folder = cache.join(digest.hex(32));
    if let Some(manifest) = whole(&folder) {
        return Ok(Opened { store: folder.join("store"), manifest });
    }
    fs_err::create_dir_all(cache).map_err(Error::io("create", cache))?;
    // Removed when dropped, so an error leaves nothing.
    let staging =
        tempfile::Builder::new().prefix(".opening-").tempdir_in(cache).map_err(Error::io("create", cache))?;
    let inside = staging.path().join("bundle");
    fs_err::create_dir(&inside).map_err(Error::io("create", &inside))?;
    let manifest = unpack(path, &mut file, Some(&inside), limits)?;
    Store::open(&inside.join("store"))?;
    let described =
        serde_json::to_vec(&manifest).map_err(|error| Error::io("write", &inside)(error.into()))?;
    almanac_artifact::write_atomically(&inside.join("manifest.json"), &described)?;
    if folder.exists() {
        let old = staging.path().join("old");
        fs_err::rename(&folder, &old).map_err(Error::io("replace", &folder))?;
    }
    if let Err(error) = fs_err::rename(&inside, &folder) {
        // Somebody else may have opened the same bundle at the same time.
        if whole(&folder).is_none() {
            return Err(Error::io("create", &folder)(error));
        }
    }
    Ok(Opened { store: folder.join("store"), manifest })
}

/// The manifest of an opened bundle whose every member is what it was.
fn whole(folder: &Path) -> Option<Manifest> {
    let manifest: Manifest =
        almanac_artifact::read_json(&folder.join("manifest.json"), "bundle manifest").ok().flatten()?;
    let intact = manifest.members.iter().all(|(name, member)| {
        let digest = fs_err::File::open(folder.join(name)).and_then(Digest::of_reader);
        digest.is_ok_and(|digest| digest == member.digest)
    });
    intact.then_some(manifest)
}
