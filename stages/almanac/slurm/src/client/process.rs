//! A program with a time-out.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::{Error, Result};

/// How a program ended.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) is_success: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs a program to its end, or kills it when it takes too long.
pub(super) fn run(program: &'static str, arguments: &[&str], timeout: Duration) -> Result<Ended> {
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => Error::NotInstalled { program },
        _ => Error::Program { program, source },
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    // Read while it runs: a full pipe would stop it.
    let stdout = child.stdout.take().map(read_all);
    let stderr = child.stderr.take().map(read_all);
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if started.elapsed() > timeout {
            // It may end at this very moment, which is as good.
            let _ = child.kill();
            let _ = child.wait();
            return Err(Error::NoAnswer { program, seconds: timeout.as_secs() });
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = |reader: Option<JoinHandle<Vec<u8>>>| {
        let bytes = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(Ended { is_success: status.success(), stdout: text(stdout), stderr: text(stderr) })
}

fn read_all(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is all there is to tell.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_ended_and_said() {
        let error = run("sleep", &["60"], Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error, Error::NoAnswer { .. }), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = run("no-such-program-of-slurm", &[], Duration::from_secs(1)).unwrap_err();
        assert!(matches!(error, Error::NotInstalled { .. }), "{error}");
    }

    #[test]
    fn more_output_than_a_pipe_holds_is_read() {
        let ended = run("seq", &["1", "100000"], Duration::from_secs(30)).unwrap();
        assert!(ended.is_success);
        assert_eq!(ended.stdout.lines().count(), 100_000);
    }
}
