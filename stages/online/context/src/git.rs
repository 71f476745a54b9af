//! What only git knows: files of a commit, and the history before it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "core.quotepath=off"]).env("GIT_OPTIONAL_LOCKS", "0");
    command
}

fn output(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let failed = |source| Error::NoGit { folder: folder.to_owned(), source };
    let run = git(folder).args(arguments).stdin(Stdio::null()).output().map_err(failed)?;
    if run.status.success() {
        return Ok(run.stdout);
    }
    let message = String::from_utf8_lossy(&run.stderr);
    let message = message.lines().next().unwrap_or("no message").to_owned();
    Err(Error::Git { command: arguments[0].to_owned(), folder: folder.to_owned(), message })
}

/// Full id of a commit by any of its names.
pub(crate) fn resolve(folder: &Path, commit: &str) -> Result<String> {
    let wanted = format!("{commit}^{{commit}}");
    let found = output(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]);
    let id = found.map_err(|error| match error {
        Error::Git { command, folder, .. } => {
            Error::Git { command, folder, message: format!("there is no commit `{commit}`") }
        }
        error => error,
    })?;
    Ok(String::from_utf8_lossy(&id).trim().to_owned())
}

/// A file of a commit.
pub(crate) struct Listed {
    pub(crate) path: String,
    pub(crate) blob: String,
    pub(crate) bytes: u64,
}

/// Regular files of a commit, in path order.
pub(crate) fn files(folder: &Path, commit: &str) -> Result<Vec<Listed>> {
    let listed = output(folder, &["ls-tree", "-r", "-l", "-z", "--full-tree", commit])?;
    let mut files = Vec::new();
    for entry in listed.split(|byte| *byte == 0) {
        let Ok(entry) = std::str::from_utf8(entry) else { continue };
        let Some((about, path)) = entry.split_once('\t') else { continue };
        let mut about = about.split_whitespace();
        let (mode, kind) = (about.next(), about.next());
        let (Some(blob), Some(bytes)) = (about.next(), about.next()) else { continue };
        if kind == Some("blob") && mode != Some("120000") {
            let bytes = bytes.parse().unwrap_or(u64::MAX);
            files.push(Listed { path: path.to_owned(), blob: blob.to_owned(), bytes });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Calls `take` with the content of every blob, in order.
pub(crate) fn contents(folder: &Path, blobs: &[&str], mut take: impl FnMut(usize, Vec<u8>)) -> Result<()> {
    if blobs.is_empty() {
        return Ok(());
    }
    let failed = |source| Error::NoGit { folder: folder.to_owned(), source };
    let mut child = git(folder)
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let (mut asked, answers) = (child.stdin.take(), child.stdout.take());
    let request = blobs.join("\n") + "\n";
    let result = std::thread::scope(|scope| {
        // Asked from another thread: git stops reading while its answers are not taken.
        scope.spawn(move || asked.take().map(|mut asked| asked.write_all(request.as_bytes())));
        let Some(answers) = answers else { return Ok(()) };
        let mut answers = BufReader::with_capacity(1 << 20, answers);
        for at in 0..blobs.len() {
            let mut header = String::new();
            answers.read_line(&mut header).map_err(failed)?;
            let size = header.split_whitespace().nth(2).and_then(|size| size.parse::<usize>().ok());
            let Some(size) = size else { continue };
            let mut content = vec![0; size + 1];
            answers.read_exact(&mut content).map_err(failed)?;
            content.pop();
            take(at, content);
        }
        Ok(())
    });
    let _ = child.wait();
    result
}

/// State of a working tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// Commit that is checked out; `None` before the first one.
    pub(crate) commit: Option<String>,
    /// Paths that differ from it, new ones included.
    pub(crate) changed: usize,
}

/// Commit and changes of the working tree below `folder`; an error outside of a repository.
pub(crate) fn head(folder: &Path) -> Result<Head> {
    let arguments =
        ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames", "--", "."];
    let status = output(folder, &arguments)?;
    let mut head = Head::default();
    for entry in status.split(|byte| *byte == 0).map(String::from_utf8_lossy) {
        match entry.strip_prefix("# branch.oid ") {
            Some(commit) => head.commit = (commit != "(initial)").then(|| commit.to_owned()),
            None if entry.is_empty() || entry.starts_with('#') => {}
            None => head.changed += 1,
        }
    }
    Ok(head)
}

/// A past change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) message: String,
    pub(crate) paths: Vec<String>,
}

/// The last changes up to a commit, newest first; merges are left out. Paths are those below `folder`.
pub(crate) fn changes(folder: &Path, commit: &str, most: usize) -> Result<Vec<Change>> {
    let most = format!("--max-count={most}");
    let arguments = [
        "log",
        &most,
        "--no-merges",
        "--no-renames",
        "--name-only",
        "-z",
        "--relative",
        "--format=%x01%B%x02",
        "--end-of-options",
        commit,
    ];
    let log = String::from_utf8_lossy(&output(folder, &arguments)?).into_owned();
    let mut changes = Vec::new();
    for entry in log.split('\u{1}').skip(1) {
        let (message, paths) = entry.split_once('\u{2}').unwrap_or((entry, ""));
        let paths = paths.split('\0').map(|path| path.trim_start_matches('\n'));
        let paths: Vec<String> = paths.filter(|path| !path.is_empty()).map(str::to_owned).collect();
        changes.push(Change { message: message.to_owned(), paths });
    }
    Ok(changes)
}
