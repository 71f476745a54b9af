//! Stage binaries as child processes.

use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use almanac_catalog::StageSpec;
use rustix::process::{Pid, Signal, kill_process};

use crate::error::Error;

/// How often the processes are looked after.
const LOOK: Duration = Duration::from_millis(20);

/// Path of a stage's binary: beside this one.
pub(crate) fn binary(stage: &StageSpec) -> Result<PathBuf, Error> {
    let own =
        std::env::current_exe().map_err(|source| Error::Child { path: PathBuf::from("almanac"), source })?;
    let path = own.with_file_name(format!("{}{}", stage.binary(), std::env::consts::EXE_SUFFIX));
    if path.is_file() { Ok(path) } else { Err(Error::NoBinary { path }) }
}

/// One process to start: a stage's arguments, and variables besides those of this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Process {
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// Runs a stage to its end and gives its exit code. A signal to this process is handed on, so
/// that the stage flushes and exits 75 before this process does.
pub(crate) fn run_stage(
    stage: &StageSpec,
    arguments: &[String],
    interrupted: &AtomicBool,
) -> Result<u8, Error> {
    let process = Process { arguments: arguments.to_vec(), variables: Vec::new() };
    run_side_by_side(stage, &[process], interrupted)
}

/// Runs several processes of a stage at once to their ends. When one fails, the others are told to
/// stop: what they finish is kept. Gives 0, else the code of the first failure.
pub(crate) fn run_side_by_side(
    stage: &StageSpec,
    processes: &[Process],
    interrupted: &AtomicBool,
) -> Result<u8, Error> {
    let path = binary(stage)?;
    let failed = |source| Error::Child { path: path.clone(), source };
    let mut children: Vec<Child> = Vec::new();
    let mut not_started = None;
    for process in processes {
        let started = Command::new(&path)
            .args(&process.arguments)
            .envs(process.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        match started {
            Ok(child) => children.push(child),
            Err(source) => {
                not_started = Some(source);
                break;
            }
        }
    }
    let code = wait_for_all(stage, &mut children, interrupted, not_started.is_some()).map_err(failed)?;
    not_started.map_or(Ok(code), |source| Err(failed(source)))
}

/// The exit code of a stage's process, where being ended by a signal counts as interrupted.
fn code_of(stage: &StageSpec, status: ExitStatus) -> u8 {
    const SECOND_INTERRUPT: i32 = 130;
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        // What it had flushed is safe, so it may be repeated.
        almanac_terminal::warning(format!(
            "stage {} was ended by signal {signal}; finished records are kept, run the build again",
            stage.name
        ));
        return almanac_terminal::ExitStatus::Retry.code();
    }
    match status.code() {
        Some(SECOND_INTERRUPT) => almanac_terminal::ExitStatus::Retry.code(),
        code => code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1),
    }
}

fn wait_for_all(
    stage: &StageSpec,
    children: &mut [Child],
    interrupted: &AtomicBool,
    is_failing: bool,
) -> std::io::Result<u8> {
    let mut codes: Vec<Option<u8>> = vec![None; children.len()];
    let mut first_failure = None;
    let mut told = false;
    loop {
        for (child, code) in children.iter_mut().zip(&mut codes).filter(|(_, code)| code.is_none()) {
            if let Some(status) = child.try_wait()? {
                let ended = code_of(stage, status);
                *code = Some(ended);
                if ended != 0 && first_failure.is_none() {
                    first_failure = Some(ended);
                }
            }
        }
        if codes.iter().all(Option::is_some) {
            return Ok(first_failure.unwrap_or(0));
        }
        let stop = is_failing || first_failure.is_some() || interrupted.load(Ordering::Relaxed);
        if stop && !told {
            told = true;
            for (child, _) in children.iter().zip(&codes).filter(|(_, code)| code.is_none()) {
                if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    // It may have ended meanwhile, which the next look sees.
                    let _ = kill_process(pid, Signal::TERM);
                }
            }
        }
        std::thread::sleep(LOOK);
    }
}
