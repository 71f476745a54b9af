//! Reads a bundle from somebody unknown: every member is checked against the manifest.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};

use almanac_artifact::FileHasher;
use serde::Deserialize;
use tar::{Archive, Entry, EntryType};

use crate::manifest::MANIFEST;
use crate::{BUNDLE_FORMAT, Error, Manifest, Result};

/// Most a bundle may ask of the machine that opens it.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of all members.
    pub total_bytes: u64,
    /// Bytes of the manifest, which is held in memory.
    pub manifest_bytes: u64,
    /// Bytes unpacked for each byte packed.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { total_bytes: 64 << 30, manifest_bytes: 64 << 20, ratio: 200 }
    }
}

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Reads `file`, and writes its members below `folder` when there is one. Nothing there may be used
/// unless this succeeds.
pub(crate) fn unpack(
    path: &Path,
    file: &mut fs_err::File,
    folder: Option<&Path>,
    limits: &Limits,
) -> Result<Manifest> {
    let refused = |reason: String| Error::Refused { path: path.to_owned(), reason };
    let broken = |error: std::io::Error| match error.kind() {
        ErrorKind::UnexpectedEof => refused("it ends too early".to_owned()),
        _ => refused(format!("it is damaged: {error}")),
    };
    let packed = file.metadata().map_err(Error::io("read", path))?.len();
    let mut magic = [0; 4];
    let read = file.rewind().and_then(|()| file.read_exact(&mut magic)).and_then(|()| file.rewind());
    if read.is_err() || magic != ZSTD_MAGIC {
        return Err(refused("it is no bundle: it does not begin as one".to_owned()));
    }
    let most = limits.total_bytes.min(packed.saturating_mul(limits.ratio)).max(limits.manifest_bytes);
    let decoder = zstd::Decoder::new(file).map_err(broken)?;
    // Headers and padding come on top of the members.
    let mut archive = Archive::new(decoder.take(most.saturating_mul(2)));
    let mut entries = archive.entries().map_err(broken)?.raw(true);
    let first = entries.next().ok_or_else(|| refused("it is empty".to_owned()))?.map_err(broken)?;
    let name = checked_name(&first).map_err(refused)?;
    if name != MANIFEST {
        return Err(refused(format!("it begins with `{name}` where its manifest should be")));
    }
    let manifest = read_manifest(path, first, limits)?;
    let total = manifest.members.values().try_fold(0_u64, |sum, member| sum.checked_add(member.bytes));
    let total = total.filter(|total| *total <= limits.total_bytes);
    let total = total.ok_or_else(|| refused(format!("it holds more than {} bytes", limits.total_bytes)))?;
    if total > packed.saturating_mul(limits.ratio) {
        return Err(refused(format!("{packed} bytes would unpack to {total}, over {} to one", limits.ratio)));
    }
    let mut seen = BTreeSet::new();
    for entry in entries {
        let mut entry = entry.map_err(broken)?;
        let name = checked_name(&entry).map_err(refused)?;
        let member = manifest.members.get(&name);
        let member = member.ok_or_else(|| refused(format!("`{name}` is not in its manifest")))?;
        if !seen.insert(name.clone()) {
            return Err(refused(format!("`{name}` is in it twice")));
        }
        if entry.size() != member.bytes {
            let size = entry.size();
            return Err(refused(format!("`{name}` has {size} bytes, its manifest says {}", member.bytes)));
        }
        let mut hasher = FileHasher::default();
        let target = folder.map(|folder| folder.join(&name));
        copy(&mut entry, &mut hasher, target.as_ref(), &broken)?;
        if hasher.finish() != member.digest {
            return Err(refused(format!("`{name}` does not match its digest")));
        }
    }
    if let Some(missing) = manifest.members.keys().find(|name| !seen.contains(*name)) {
        return Err(refused(format!("`{missing}` is missing")));
    }
    let mut rest = archive.into_inner();
    if std::io::copy(&mut rest, &mut std::io::sink()).map_err(broken)? > 10_240 {
        return Err(refused("something follows its last member".to_owned()));
    }
    Ok(manifest)
}

/// The name of a regular file below the bundle's own folder; else what is wrong with it.
fn checked_name<R: Read>(entry: &Entry<'_, R>) -> Result<String, String> {
    let bytes = entry.path_bytes();
    let name = std::str::from_utf8(&bytes).map_err(|_| "a name in it is not UTF-8".to_owned())?;
    match entry.header().entry_type() {
        EntryType::Regular => {}
        EntryType::Symlink | EntryType::Link => return Err(format!("`{name}` is a link")),
        EntryType::Char | EntryType::Block => return Err(format!("`{name}` is a device")),
        EntryType::Fifo => return Err(format!("`{name}` is a pipe")),
        EntryType::Directory => return Err(format!("`{name}` is a folder entry")),
        _ => return Err(format!("`{name}` is of a kind that bundles do not have")),
    }
    if name.starts_with('/') {
        return Err(format!("`{name}` is an absolute path"));
    }
    if name.split('/').any(|part| part == "..") {
        return Err(format!("`{name}` leads out of the bundle"));
    }
    if name.split('/').any(|part| part.is_empty() || part == ".") || name.contains('\0') {
        return Err(format!("`{name}` is not a plain path"));
    }
    Ok(name.to_owned())
}

#[derive(Deserialize)]
struct Head {
    format: u64,
}

fn read_manifest<R: Read>(path: &Path, entry: Entry<'_, R>, limits: &Limits) -> Result<Manifest> {
    let refused = |reason: String| Error::Refused { path: path.to_owned(), reason };
    if entry.size() > limits.manifest_bytes {
        return Err(refused(format!("its manifest has more than {} bytes", limits.manifest_bytes)));
    }
    let size = entry.size();
    let mut bytes = Vec::new();
    entry
        .take(size)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(format!("its manifest ends too early: {error}")))?;
    let invalid = |error: serde_json::Error| refused(format!("its manifest is invalid: {error}"));
    // Another format may have other fields.
    let head: Head = serde_json::from_slice(&bytes).map_err(invalid)?;
    if head.format != u64::from(BUNDLE_FORMAT) {
        return Err(Error::Format { path: path.to_owned(), found: head.format, expected: BUNDLE_FORMAT });
    }
    serde_json::from_slice(&bytes).map_err(invalid)
}

fn copy(
    from: &mut impl Read,
    hasher: &mut FileHasher,
    target: Option<&PathBuf>,
    broken: &impl Fn(std::io::Error) -> Error,
) -> Result<()> {
    let mut file = target.map(|path| create(path).map_err(Error::io("write", path))).transpose()?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = from.read(&mut buffer).map_err(broken)?;
        if length == 0 {
            break;
        }
        hasher.write_all(&buffer[..length]).map_err(broken)?;
        if let (Some(file), Some(path)) = (&mut file, target) {
            file.write_all(&buffer[..length]).map_err(Error::io("write", path))?;
        }
    }
    match (file, target) {
        (Some(file), Some(path)) => file.sync_all().map_err(Error::io("write", path)),
        _ => Ok(()),
    }
}

fn create(path: &Path) -> std::io::Result<fs_err::File> {
    if let Some(parent) = path.parent() {
        fs_err::create_dir_all(parent)?;
    }
    fs_err::File::create_new(path)
}
