//! SIGTERM, SIGUSR1 and SIGINT: stop taking work, flush, exit 75.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};

use crate::{Error, Result};

/// A flag that a signal sets. SIGTERM comes with preemption, SIGUSR1 before the walltime ends.
/// A second SIGINT ends the process at once, for a person who does not want to wait.
pub fn interrupted_flag() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&flag))
        .map_err(|source| Error::Signal { source })?;
    for signal in [SIGINT, SIGTERM, SIGUSR1] {
        signal_hook::flag::register(signal, Arc::clone(&flag)).map_err(|source| Error::Signal { source })?;
    }
    Ok(flag)
}

/// Ends this stage when the driver that started it is gone, so that a driver killed alone leaves no
/// stage that generates beside the next build's. A stage started by hand or by Slurm is not bound.
pub(crate) fn end_with_parent() {
    // Only what cannot happen fails here: SIGTERM is a valid signal.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
}
