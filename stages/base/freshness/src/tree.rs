//! The source tree by content.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use almanac_artifact::Digest;
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Which files belong to the tree.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeRules {
    /// Files larger than this are listed, not read.
    pub max_file_bytes: u64,
    /// Globs in .gitignore syntax that are left out, besides the tree's own ignore files.
    pub ignore: Vec<String>,
    /// Whether files and folders that start with a dot belong to it (`.git` never does).
    pub include_hidden: bool,
}

/// One file of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// Path relative to the tree, with `/`.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Digest of the content; `None` for a file that is too large or cannot be read.
    pub digest: Option<Digest>,
    /// Why it was not read; empty otherwise.
    pub problem: String,
}

/// What a file looked like when its content was hashed: a change of content changes one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    bytes: u64,
    inode: u64,
    /// Nanoseconds since 1970: of the content, and of content or attributes.
    modified: i64,
    changed: i64,
}

/// Age from which a stamp is trusted, in nanoseconds: a file changed again within the grain of its clock
/// would look the same.
const SETTLED: i64 = 2_000_000_000;

impl Stamp {
    fn of(found: &std::fs::Metadata) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            bytes: found.len(),
            inode: found.ino(),
            modified: nanoseconds(found.mtime(), found.mtime_nsec()),
            changed: nanoseconds(found.ctime(), found.ctime_nsec()),
        }
    }

    /// Whether a later change would show, for a file that is hashed after `now`.
    fn is_settled(&self, now: i64) -> bool {
        self.changed.max(self.modified) < now.saturating_sub(SETTLED)
    }
}

/// Digests of files from an earlier scan, for files that look as they did then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownDigests(HashMap<String, (Stamp, Digest)>);

/// The tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// Its folder.
    pub root: PathBuf,
    /// Its files, in path order.
    pub files: Vec<TreeFile>,
}

impl Tree {
    /// Lists and hashes the files under `root`. `exclude` (the store) is left out when inside.
    ///
    /// Links are not followed: a link to the outside would pull foreign files into the store and
    /// a link to a parent would never end.
    pub fn scan(root: &Path, rules: &TreeRules, exclude: &Path) -> Result<Self> {
        Ok(Self::scan_again(root, rules, exclude, &KnownDigests::default())?.0)
    }

    /// The same, without reading files that look as they did when `known` was made; with what is known
    /// now.
    pub fn scan_again(
        root: &Path,
        rules: &TreeRules,
        exclude: &Path,
        known: &KnownDigests,
    ) -> Result<(Self, KnownDigests)> {
        if !root.is_dir() {
            return Err(Error::NoTree { path: root.to_owned() });
        }
        if root.canonicalize().is_ok_and(|root| exclude.canonicalize().is_ok_and(|store| store == root)) {
            return Err(Error::StoreIsTree { path: root.to_owned() });
        }
        if let Some(path) = endless_ignore_file(root) {
            return Err(Error::IgnoreFile { path });
        }
        let paths = list(root, rules, exclude)?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
        let read = |path: &PathBuf| read_file(root, path, rules.max_file_bytes, known).transpose();
        let mut read: Vec<(TreeFile, Option<Stamp>)> =
            paths.par_iter().filter_map(read).collect::<Result<_>>()?;
        read.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        if read.is_empty() {
            return Err(Error::EmptyTree { path: root.to_owned() });
        }
        let settled = read.iter().filter_map(|(file, stamp)| {
            let stamp = stamp.filter(|stamp| stamp.is_settled(now))?;
            Some((file.path.clone(), (stamp, file.digest?)))
        });
        let known = KnownDigests(settled.collect());
        let files = read.into_iter().map(|(file, _)| file).collect();
        Ok((Self { root: root.to_owned(), files }, known))
    }

    /// Digest of all paths and contents.
    pub fn digest(&self) -> Digest {
        Digest::of(|encoder| {
            encoder.length(self.files.len());
            for file in &self.files {
                encoder.text(&file.path).u64(file.bytes);
                encoder.option(file.digest.as_ref(), |encoder, digest| {
                    encoder.digest(digest);
                });
                // An unreadable file that becomes readable is a change even at the same size.
                encoder.text(&file.problem);
            }
        })
    }

    /// Where a file of the tree is.
    pub fn absolute(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

/// An ignore file of `folder` that is a pipe, socket or device. The walk would open it, and wait for
/// ever or never come to its end.
fn endless_ignore_file(folder: &Path) -> Option<PathBuf> {
    let paths = [".gitignore", ".ignore"].map(|name| folder.join(name));
    paths
        .into_iter()
        .find(|path| fs_err::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()))
}

/// Whether an entry is a folder that must not be entered; says why.
fn is_endless(entry: &ignore::DirEntry) -> bool {
    let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
    let found = is_folder.then(|| endless_ignore_file(entry.path())).flatten();
    if let Some(path) = &found {
        let folder = entry.path().display();
        tracing::warn!("left out of the tree: {folder}, whose {} is not a regular file", path.display());
    }
    found.is_some()
}

fn list(root: &Path, rules: &TreeRules, exclude: &Path) -> Result<Vec<PathBuf>> {
    let mut overrides = OverrideBuilder::new(root);
    for pattern in &rules.ignore {
        let glob = |source| Error::Glob { pattern: pattern.clone(), source };
        overrides.add(&format!("!{pattern}")).map_err(glob)?;
    }
    let overrides =
        overrides.build().map_err(|source| Error::Glob { pattern: rules.ignore.join(", "), source })?;
    let exclude = exclude.canonicalize().unwrap_or_else(|_| exclude.to_owned());
    let walk = WalkBuilder::new(root)
        .hidden(!rules.include_hidden)
        // Only what lies in the tree decides: a user's global ignore file would make the same
        // tree give other artifacts on another machine.
        .git_global(false)
        .git_exclude(false)
        .parents(false)
        .require_git(false)
        .overrides(overrides)
        .follow_links(false)
        .filter_entry(move |entry| {
            let version_control = matches!(entry.file_name().to_str(), Some(".git" | ".hg" | ".svn"));
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let inside_store = is_folder && entry.path().canonicalize().is_ok_and(|path| path == exclude);
            !version_control && !inside_store && !is_endless(entry)
        })
        .build();
    let mut paths = Vec::new();
    for entry in walk {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                paths.push(entry.into_path());
            }
            Ok(_) => {}
            Err(error) => left_out(root, error)?,
        }
    }
    Ok(paths)
}

/// Accepts that an entry is left out, if it would be left out every time: a folder that may not be
/// entered, or that is gone. Too many open files, or a file system that fails, say nothing about the tree.
fn left_out(root: &Path, error: ignore::Error) -> Result<()> {
    let is_root = error.depth() == Some(0);
    let kind = error.io_error().map(std::io::Error::kind);
    if !is_root && kind.is_none_or(is_lasting) {
        tracing::warn!("left out of the tree: {error}");
        return Ok(());
    }
    let path = root.to_owned();
    Err(Error::Walk { path, source: error.into_io_error().unwrap_or_else(|| ErrorKind::Other.into()) })
}

/// Whether an error says something about the file rather than about this moment.
fn is_lasting(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::PermissionDenied
            | ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename
    )
}

fn read_file(
    root: &Path,
    path: &Path,
    max_file_bytes: u64,
    known: &KnownDigests,
) -> Result<Option<(TreeFile, Option<Stamp>)>> {
    let Ok(relative) = path.strip_prefix(root) else { return Ok(None) };
    let Some(relative) = relative.to_str() else {
        tracing::warn!("left out of the tree: {path:?} is not UTF-8");
        return Ok(None);
    };
    let mut file = TreeFile { path: relative.to_owned(), bytes: 0, digest: None, problem: String::new() };
    if let Some((stamp, digest)) = known.0.get(relative)
        && stamp.bytes <= max_file_bytes
        && fs_err::symlink_metadata(path).is_ok_and(|found| Stamp::of(&found) == *stamp)
    {
        (file.bytes, file.digest) = (stamp.bytes, Some(*digest));
        return Ok(Some((file, Some(*stamp))));
    }
    let mut stamp = None;
    let opened = fs_err::File::open(path).and_then(|handle| {
        let found = handle.metadata()?;
        if found.len() > max_file_bytes {
            return Ok((found.len(), None));
        }
        stamp = Some(Stamp::of(&found));
        Digest::of_reader(handle).map(|digest| (found.len(), Some(digest)))
    });
    match opened {
        Ok((bytes, digest)) => {
            file.bytes = bytes;
            file.digest = digest;
            if file.digest.is_none() {
                file.problem = format!("larger than {max_file_bytes} bytes");
            }
        }
        // Only the kind: the full message would name this machine's path.
        Err(error) if is_lasting(error.kind()) => file.problem = error.kind().to_string(),
        Err(source) => return Err(Error::Walk { path: path.to_owned(), source }),
    }
    Ok(Some((file, stamp)))
}
