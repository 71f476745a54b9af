//! Small files of the store: JSON read with a clear error, bytes replaced in one step.

use std::io::Write;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::abandoned::unique_suffix;
use crate::{Error, Result};

/// Reads a JSON file; `what` names it in errors. `None` when it does not exist.
pub fn read_json<T: DeserializeOwned>(path: &Path, what: &'static str) -> Result<Option<T>> {
    check_regular(path)?;
    match fs_err::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|source| Error::Json {
            what,
            path: path.to_owned(),
            source,
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

/// Replaces `path` by `bytes`: a reader sees the old file or the new one, never a part.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs_err::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let temporary = temporary_beside(path);
    let written = (|| {
        let mut file = fs_err::File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs_err::rename(&temporary, path)
    })();
    if let Err(error) = written {
        // The temporary file may not exist; the first error is the one to tell.
        let _ = fs_err::remove_file(&temporary);
        return Err(Error::io("write", path)(error));
    }
    sync_folder(folder)
}

/// A name in the same folder that no other process uses, on any host of a shared file system.
pub(crate) fn temporary_beside(path: &Path) -> std::path::PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}", unique_suffix()))
}

/// Refuses what is no regular file: opening a pipe waits for ever, and a device may never end.
/// What does not exist passes.
pub(crate) fn check_regular(path: &Path) -> Result<()> {
    match fs_err::metadata(path) {
        Ok(found) if !found.is_file() => Err(Error::NotAFile { path: path.to_owned() }),
        _ => Ok(()),
    }
}

/// Makes a rename in `folder` durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    let synced = fs_err::File::open(folder).and_then(|file| file.sync_all());
    match synced {
        Ok(()) => Ok(()),
        // Some network file systems refuse fsync on folders; the rename itself has happened.
        Err(error) if error.kind() == std::io::ErrorKind::InvalidInput => Ok(()),
        Err(error) => Err(Error::io("sync", folder)(error)),
    }
}
