//! The two streams. Nothing here panics or is lost when a stream goes away.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// Standard output, or what stands in for it in a test.
pub(crate) struct Output {
    state: Mutex<State>,
}

struct State {
    stream: Box<dyn Write + Send>,
    closed: bool,
    failure: Option<io::Error>,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").finish_non_exhaustive()
    }
}

impl Output {
    pub(crate) fn stdout() -> Self {
        Self::to(Box::new(io::stdout()))
    }

    fn to(stream: Box<dyn Write + Send>) -> Self {
        Self { state: Mutex::new(State { stream, closed: false, failure: None }) }
    }

    pub(crate) fn write_line(&self, text: &str) {
        self.with(|stream| {
            stream.write_all(text.as_bytes())?;
            if text.ends_with('\n') { Ok(()) } else { stream.write_all(b"\n") }
        });
    }

    pub(crate) fn write_piece(&self, piece: &str) {
        self.with(|stream| {
            stream.write_all(piece.as_bytes())?;
            stream.flush()
        });
    }

    /// Keeps the first failure; nothing is written after it.
    pub(crate) fn fail(&self, error: io::Error) {
        self.with(|_| Err(error));
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closed
    }

    /// Writes out what is buffered and tells whether all output arrived. Output that nobody
    /// wanted any more counts as arrived.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.with(|stream| stream.flush());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.failure.take().map_or(Ok(()), Err)
    }

    fn with(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return;
        }
        if let Err(error) = write(&mut state.stream) {
            state.closed = true;
            if error.kind() != io::ErrorKind::BrokenPipe {
                state.failure = Some(error);
            }
        }
    }
}

/// Writes to standard error. Where that is not possible there is nobody left to tell.
pub(crate) fn write_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_stops_reading_is_no_failure() {
        let output = Output::to(Box::new(Failing(io::ErrorKind::BrokenPipe)));
        output.write_line("x");
        output.write_line("y");
        assert!(output.is_closed());
        assert!(output.finish().is_ok());
    }

    #[test]
    fn a_full_disk_is_a_failure() {
        let output = Output::to(Box::new(Failing(io::ErrorKind::StorageFull)));
        output.write_line("x");
        let failure = output.finish().expect_err("the output was lost");
        assert_eq!(failure.kind(), io::ErrorKind::StorageFull);
    }
}
