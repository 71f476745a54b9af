//! What killed processes leave behind, and how to be certain that nobody works on it any more.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::{Digest, Store};

/// Age at which what another machine has left goes: no run lasts that long.
const LONGEST_RUN: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Part of a name that no other process uses, on any host of a shared file system: host (for
/// people), machine, process, time and a counter.
pub(crate) fn unique_suffix() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let host: String = host.chars().filter(char::is_ascii_alphanumeric).take(24).collect();
    let owner = Owner {
        machine: machine().unwrap_or("unknown").to_owned(),
        process: std::process::id(),
        began: now(),
    };
    let Owner { machine, process, began } = owner;
    format!("{host}_{machine}_{process}_{began:x}_{}", COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// The running kernel and the namespace of process ids: where these are the same, a process id
/// means the same process. A host's name would not do: containers and reboots share it.
fn machine() -> Option<&'static str> {
    static MACHINE: OnceLock<Option<String>> = OnceLock::new();
    let machine = MACHINE.get_or_init(|| {
        let boot = fs_err::read("/proc/sys/kernel/random/boot_id").ok()?;
        let namespace = fs_err::read_link("/proc/self/ns/pid").ok()?;
        let digest = Digest::of(|encoder| {
            encoder.bytes(&boot).bytes(namespace.as_os_str().as_encoded_bytes());
        });
        Some(digest.hex(8))
    });
    machine.as_deref()
}

/// Nanoseconds since 1970.
fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_nanos())
}

/// A process that works on something, as a name or a file says.
#[derive(Debug, PartialEq, Eq)]
pub struct Owner {
    machine: String,
    process: u32,
    began: u128,
}

impl Owner {
    /// This process, in words that no other process on any host writes and [`Owner::named`] reads.
    pub fn signature() -> String {
        unique_suffix()
    }

    /// Who wrote a [`signature`](Self::signature).
    pub fn named(signature: &str) -> Option<Self> {
        Self::in_name(Path::new(signature))
    }

    /// The owner in a name that holds a [`unique_suffix`].
    pub(crate) fn in_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        name.split(['-', '.']).find_map(|part| {
            let [_, machine, process, began, _] = part.split('_').collect::<Vec<_>>()[..] else {
                return None;
            };
            Some(Self {
                machine: machine.to_owned(),
                process: process.parse().ok()?,
                began: u128::from_str_radix(began, 16).ok()?,
            })
        })
    }

    /// Whether its process ran on this machine and is gone. A process id that has been given out
    /// again makes this false, never wrongly true.
    pub fn is_gone(&self) -> bool {
        let process = i32::try_from(self.process).ok().and_then(Pid::from_raw);
        let is_gone = |process| test_kill_process(process) == Err(Errno::SRCH) || is_zombie(self.process);
        machine() == Some(self.machine.as_str()) && process.is_some_and(is_gone)
    }

    fn is_older_than(&self, age: Duration) -> bool {
        now().saturating_sub(self.began) > age.as_nanos()
    }
}

/// Whether a process has ended and nobody has asked how, as orphans in a container do for ever.
fn is_zombie(process: u32) -> bool {
    let stat = fs_err::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The state follows the name, which is in parentheses and may hold some itself.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
}

impl Store {
    /// Removes the staging folders and temporary files of runs that were killed: of this machine's
    /// when their process is gone, of others' after a month.
    pub fn sweep(&self) {
        for path in self.unfinished() {
            let left = Owner::in_name(&path)
                .is_some_and(|owner| owner.is_gone() || owner.is_older_than(LONGEST_RUN));
            if !left {
                continue;
            }
            let removed =
                if path.is_dir() { fs_err::remove_dir_all(&path) } else { fs_err::remove_file(&path) };
            // Another run may sweep at the same time; what cannot be removed costs space only.
            if let Err(error) = removed {
                tracing::debug!("not swept: {error}");
            }
        }
    }

    /// Everything in the store that is not finished: it has no name of its own yet.
    fn unfinished(&self) -> Vec<PathBuf> {
        let root = self.root();
        let mut folders = vec![root.to_owned(), root.join("runs")];
        for parent in ["refs", "ledger"] {
            folders.extend(entries(&root.join(parent)));
        }
        let hidden =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let files = folders.iter().flat_map(|folder| entries(folder)).filter(hidden);
        entries(&root.join(".staging")).into_iter().chain(files).collect()
    }
}

/// Paths in a folder; none when it cannot be listed.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(machine: &str, process: u32) -> Owner {
        Owner { machine: machine.to_owned(), process, began: now() }
    }

    #[test]
    fn a_name_tells_its_owner() {
        let suffix = unique_suffix();
        for name in [
            format!("sources-{suffix}"),
            format!(".graph.json.{suffix}"),
            format!("{suffix}-00003.v1.parquet"),
        ] {
            let found = Owner::in_name(Path::new(&name)).unwrap();
            assert_eq!((found.process, found.machine.as_str()), (std::process::id(), machine().unwrap()));
        }
        for name in ["sources", "a_b_c_d_e", "explanations-host-4711-18ab-0", "part_0_1"] {
            assert_eq!(Owner::in_name(Path::new(name)), None, "{name}");
        }
        assert_ne!(suffix, unique_suffix());
    }

    #[test]
    fn only_a_process_of_this_machine_is_known_to_be_gone() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(!owner(machine().unwrap(), child.id()).is_gone());
        child.kill().unwrap();
        // Ended, and not waited for.
        while !is_zombie(child.id()) {
            std::thread::yield_now();
        }
        assert!(owner(machine().unwrap(), child.id()).is_gone());
        child.wait().unwrap();
        assert!(owner(machine().unwrap(), child.id()).is_gone());
        assert!(!owner("0000beef", child.id()).is_gone());
        assert!(!owner(machine().unwrap(), std::process::id()).is_gone());
        // Process 1 is somebody else's, and there.
        assert!(!owner(machine().unwrap(), 1).is_gone());
    }
}
