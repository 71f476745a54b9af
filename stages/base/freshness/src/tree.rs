//! The source tree by content.

use std::path::{Path, PathBuf};

use almanac_artifact::Digest;
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use rayon::prelude::*;
use serde::Deserialize;

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
        if !root.is_dir() {
            return Err(Error::NoTree { path: root.to_owned() });
        }
        let paths = list(root, rules, exclude)?;
        let mut files: Vec<TreeFile> =
            paths.par_iter().filter_map(|path| read_file(root, path, rules.max_file_bytes)).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        if files.is_empty() {
            return Err(Error::EmptyTree { path: root.to_owned() });
        }
        Ok(Self { root: root.to_owned(), files })
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
            let inside_store = entry.path().canonicalize().is_ok_and(|path| path == exclude);
            !version_control && !inside_store
        })
        .build();
    let mut paths = Vec::new();
    for entry in walk {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                paths.push(entry.into_path());
            }
            Ok(_) => {}
            Err(error) => tracing::warn!("left out of the tree: {error}"),
        }
    }
    Ok(paths)
}

fn read_file(root: &Path, path: &Path, max_file_bytes: u64) -> Option<TreeFile> {
    let relative = path.strip_prefix(root).ok()?;
    let Some(relative) = relative.to_str() else {
        tracing::warn!("left out of the tree: {} is not UTF-8", path.display());
        return None;
    };
    let mut file = TreeFile { path: relative.to_owned(), bytes: 0, digest: None, problem: String::new() };
    let opened = fs_err::File::open(path).and_then(|handle| {
        let bytes = handle.metadata()?.len();
        if bytes > max_file_bytes {
            return Ok((bytes, None));
        }
        Digest::of_reader(handle).map(|digest| (bytes, Some(digest)))
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
        Err(error) => file.problem = error.kind().to_string(),
    }
    Some(file)
}
