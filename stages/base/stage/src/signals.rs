//! SIGTERM, SIGUSR1 and SIGINT: stop taking work, flush, exit 75.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use almanac_terminal::ExitStatus;
use rustix::process::{Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::{Error, Result};

/// How long a stage that keeps records may take to come back after a signal, before it is ended
/// with what it has flushed. Schedulers kill half a minute after SIGTERM (Slurm's KillWait).
pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// How often a process that is to end looks whether it may.
const LOOK: Duration = Duration::from_millis(20);

/// Signals that ask this process to stop. SIGTERM comes with preemption, SIGUSR1 before the
/// walltime ends. A second SIGINT ends the process at once, for a person who does not want to wait.
///
/// A signal sets the flag. It also ends the process with exit code 75 from a thread of its own,
/// at once, until [`Interruption::hold`] says that the process will end by itself: work such as the
/// parse of one large file has no place to look at a flag.
pub struct Interruption {
    flag: Arc<AtomicBool>,
    ending: Arc<Mutex<Ending>>,
}

/// How the process is ended.
struct Ending {
    /// Time after the signal; `None`: not at all.
    grace: Option<Duration>,
    /// Called before.
    last_words: Box<dyn FnMut() + Send>,
}

impl Interruption {
    /// Watches for signals from now on.
    pub fn watch() -> Result<Self> {
        let failed = |source| Error::Signal { source };
        let flag = Arc::new(AtomicBool::new(false));
        let ending = Ending { grace: Some(Duration::ZERO), last_words: Box::new(|| {}) };
        let interruption = Self { flag: Arc::clone(&flag), ending: Arc::new(Mutex::new(ending)) };
        signal_hook::flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&flag)).map_err(failed)?;
        for signal in [SIGINT, SIGTERM, SIGUSR1] {
            signal_hook::flag::register(signal, Arc::clone(&flag)).map_err(failed)?;
        }
        // A file beyond `ulimit -f` is then an error of writing, which has words.
        signal_hook::flag::register(SIGXFSZ, Arc::default()).map_err(failed)?;
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1]).map_err(failed)?;
        let ending = Arc::clone(&interruption.ending);
        let wait = move || {
            if signals.forever().next().is_some() {
                end(&ending, Instant::now());
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map_err(failed)?;
        Ok(interruption)
    }

    /// Set by a signal: take no new work.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }

    /// From now on a signal ends the process only `grace` later, after `last_words`.
    pub(crate) fn allow(&self, grace: Duration, last_words: impl FnMut() + Send + 'static) {
        *lock(&self.ending) = Ending { grace: Some(grace), last_words: Box::new(last_words) };
    }

    /// From now on a signal does no more than set the flag.
    pub fn hold(&self) {
        // The thread that ends the process keeps the lock, so nothing happens after its last words.
        lock(&self.ending).grace = None;
    }
}

fn lock(ending: &Mutex<Ending>) -> MutexGuard<'_, Ending> {
    ending.lock().unwrap_or_else(PoisonError::into_inner)
}

fn end(ending: &Mutex<Ending>, asked: Instant) {
    loop {
        let mut ending = lock(ending);
        if ending.grace.is_some_and(|grace| asked.elapsed() >= grace) {
            (ending.last_words)();
            // Not `std::process::exit`: other threads are inside C++ libraries whose globals it
            // would take apart.
            signal_hook::low_level::exit(ExitStatus::Retry.code().into());
        }
        drop(ending);
        std::thread::sleep(LOOK);
    }
}

/// Ends this stage when the driver that started it is gone, so that a driver killed alone leaves no
/// stage that generates beside the next build's. A stage started by hand or by Slurm is not bound.
pub(crate) fn end_with_parent(parent: u32) {
    // Only what cannot happen fails here: SIGTERM is a valid signal, and so is our own id.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    // It may have gone before it could be watched.
    let is_here = getppid().map(Pid::as_raw_nonzero).is_some_and(|id| id.get().unsigned_abs() == parent);
    if !is_here {
        let _ = kill_process(getpid(), Signal::TERM);
    }
}
