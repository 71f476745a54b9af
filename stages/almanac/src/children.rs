//! Stage binaries as child processes.

use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use almanac_catalog::StageSpec;
use rustix::process::{Pid, Signal, kill_process};

use crate::error::Error;

/// Path of a stage's binary: beside this one.
pub(crate) fn binary(stage: &StageSpec) -> Result<PathBuf, Error> {
    let own =
        std::env::current_exe().map_err(|source| Error::Child { path: PathBuf::from("almanac"), source })?;
    let path = own.with_file_name(format!("{}{}", stage.binary(), std::env::consts::EXE_SUFFIX));
    if path.is_file() { Ok(path) } else { Err(Error::NoBinary { path }) }
}

/// Runs a stage to its end and gives its exit code. A signal to this process is handed on, so
/// that the stage flushes and exits 75 before this process does.
pub(crate) fn run_stage(
    stage: &StageSpec,
    arguments: &[String],
    interrupted: &AtomicBool,
) -> Result<u8, Error> {
    let path = binary(stage)?;
    let failed = |source| Error::Child { path: path.clone(), source };
    let mut child = Command::new(&path)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let status = wait(&mut child, interrupted).map_err(failed)?;
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        // What it had flushed is safe, so it may be repeated.
        almanac_terminal::warning(format!(
            "stage {} was ended by signal {signal}; finished records are kept, run the build again",
            stage.name
        ));
        return Ok(almanac_terminal::ExitStatus::Retry.code());
    }
    const SECOND_INTERRUPT: i32 = 130;
    match status.code() {
        Some(SECOND_INTERRUPT) => Ok(almanac_terminal::ExitStatus::Retry.code()),
        code => Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
    }
}

fn wait(child: &mut Child, interrupted: &AtomicBool) -> std::io::Result<ExitStatus> {
    let mut told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupted.load(Ordering::Relaxed) && !told {
            told = true;
            if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                // It may have ended meanwhile, which the next look sees.
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
