//! One submission at a time for a store and profile.

use std::path::{Path, PathBuf};

use almanac_artifact::{Owner, Store};
use almanac_settings::environment::host_name;

use crate::{Error, Result};

/// File in the claim's folder: who has it, for people, and its signature.
const OWNER: &str = "owner";

/// A folder that exists while a submission is under way: making a folder either succeeds or finds it
/// there, on network file systems too. Jobs know nothing of it.
pub(crate) struct Claim {
    path: PathBuf,
    owner: String,
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
            let owner = owner_of(&path);
            if !is_gone(&owner) {
                let owner = owner.lines().next().unwrap_or("unknown").to_owned();
                return Err(Error::Claimed { owner, path });
            }
            put_aside(&path, &owner)?;
        }
        Err(Error::Claimed { owner: "unknown".to_owned(), path })
    }

    fn sign(path: PathBuf) -> Result<Self> {
        let host = host_name().unwrap_or_default();
        let owner = format!("process {} on {host}\n{}\n", std::process::id(), Owner::signature());
        let claim = Self { path, owner };
        let file = claim.path.join(OWNER);
        fs_err::write(&file, &claim.owner).map_err(Error::io("write", &file))?;
        Ok(claim)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // What cannot be removed names itself to the next submission.
        if owner_of(&self.path) == self.owner {
            let _ = fs_err::remove_dir_all(&self.path);
        }
    }
}

fn owner_of(claim: &Path) -> String {
    fs_err::read_to_string(claim.join(OWNER)).unwrap_or_default()
}

/// Whether the owner ran on this machine and is gone. In doubt it is not.
fn is_gone(owner: &str) -> bool {
    owner.lines().nth(1).and_then(Owner::named).is_some_and(|owner| owner.is_gone())
}

/// Removes the claim of a process that is gone. Of several that find it one moves it away; one that
/// has moved somebody's new claim puts it back.
fn put_aside(claim: &Path, dead: &str) -> Result<()> {
    let aside = claim.with_extension(Owner::signature());
    match fs_err::rename(claim, &aside) {
        Ok(()) if owner_of(&aside) == dead => {
            fs_err::remove_dir_all(&aside).map_err(Error::io("remove", &aside))
        }
        Ok(()) => fs_err::rename(&aside, claim).map_err(Error::io("put back", claim)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io("rename", claim)(error)),
    }
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
        // As if its process had been killed and nobody had asked how it ended.
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let own = std::process::id();
        let dead = second.owner.replace(&format!("_{own}_"), &format!("_{}_", child.id()));
        fs_err::write(second.path.join("owner"), dead).unwrap();
        let third = loop {
            match Claim::take(&store, "default") {
                Ok(claim) => break claim,
                Err(_) => std::thread::yield_now(),
            }
        };
        // What is no longer its own stays.
        drop(second);
        assert!(matches!(Claim::take(&store, "default"), Err(Error::Claimed { .. })));
        drop(third);
        assert!(Claim::take(&store, "default").is_ok());
        child.wait().unwrap();
    }
}
