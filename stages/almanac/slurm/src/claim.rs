//! One submission at a time for a store and profile.

use std::path::{Path, PathBuf};

use almanac_artifact::Store;
use almanac_settings::environment::host_name;

use crate::{Error, Result};

/// A folder that exists while a submission is under way: making a folder either succeeds or finds it
/// there, on network file systems too. Jobs know nothing of it.
pub(crate) struct Claim {
    path: PathBuf,
}

impl Claim {
    /// Takes the claim, or says who has it.
    pub(crate) fn take(store: &Store, profile: &str) -> Result<Self> {
        let path = store.run_record(&format!(".submit-{profile}"));
        let runs = store.run_record("");
        fs_err::create_dir_all(&runs).map_err(Error::io("create", &runs))?;
        // A second look after a claim whose process is gone was removed.
        for _ in 0..2 {
            match fs_err::create_dir(&path) {
                Ok(()) => return Self::sign(path),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("create", &path)(error)),
            }
            let owner = fs_err::read_to_string(path.join("owner")).unwrap_or_default();
            if !is_gone(&owner) {
                let owner = if owner.is_empty() { "unknown".to_owned() } else { owner.trim().to_owned() };
                return Err(Error::Claimed { owner, path });
            }
            fs_err::remove_dir_all(&path).map_err(Error::io("remove", &path))?;
        }
        Err(Error::Claimed { owner: "unknown".to_owned(), path })
    }

    fn sign(path: PathBuf) -> Result<Self> {
        let claim = Self { path };
        let owner = claim.path.join("owner");
        let text = format!("process {} on {}\n", std::process::id(), host_name().unwrap_or_default());
        fs_err::write(&owner, text).map_err(Error::io("write", &owner))?;
        Ok(claim)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // What cannot be removed names itself to the next submission.
        let _ = fs_err::remove_dir_all(&self.path);
    }
}

/// Whether the owner ran on this machine and is gone. In doubt it is not.
fn is_gone(owner: &str) -> bool {
    let words: Vec<&str> = owner.split_whitespace().collect();
    let ["process", process, "on", host] = words[..] else { return false };
    host_name().as_deref() == Some(host) && !Path::new("/proc").join(process).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_at_a_time_and_a_dead_one_is_passed_over() {
        let folder = tempfile::TempDir::new().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let first = Claim::take(&store, "default").unwrap();
        assert!(matches!(Claim::take(&store, "default"), Err(Error::Claimed { .. })));
        assert!(Claim::take(&store, "other").is_ok());
        drop(first);
        let second = Claim::take(&store, "default").unwrap();
        // As if its process had been killed.
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let dead = format!("process {} on {}\n", child.id(), host_name().unwrap());
        fs_err::write(second.path.join("owner"), dead).unwrap();
        assert!(Claim::take(&store, "default").is_ok());
    }
}
