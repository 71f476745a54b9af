//! Who built an artifact, when and from which commit: beside the manifest, never in a key.

use std::path::Path;
use std::process::Command;

use serde::Serialize;

use crate::RunRecord;

/// Contents of `provenance.json`.
#[derive(Debug, Serialize)]
pub(crate) struct Provenance {
    version: &'static str,
    run: String,
    started: String,
    host: String,
    job: String,
    commit: Option<String>,
    dirty: Option<bool>,
}

impl Provenance {
    pub(crate) fn of(record: &RunRecord, source: Option<&Path>) -> Self {
        let commit = source.and_then(|tree| git(tree, &["rev-parse", "HEAD"]));
        // An unknown commit has no dirty state.
        let dirty = commit.as_ref().and(source).and_then(|tree| {
            git(tree, &["status", "--porcelain", "--untracked-files=no"]).map(|text| !text.is_empty())
        });
        Self {
            version: env!("CARGO_PKG_VERSION"),
            run: record.id.clone(),
            started: record.started.clone(),
            host: record.host.clone(),
            job: record.job.clone(),
            commit,
            dirty,
        }
    }
}

/// Output of a git command in `tree`; `None` without git or outside a repository.
fn git(tree: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(tree).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
