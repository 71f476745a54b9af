//! All jobs of a run into the queue, or none.

use std::path::{Path, PathBuf};

use almanac_artifact::{Store, write_atomically};

use crate::claim::Claim;
use crate::error::Broken;
use crate::journal::{Run, RunOutcome};
use crate::script::{Script, render};
use crate::{Error, Result, Slurm};

/// Runs that are asked whether they are still at work; older ones are over.
const RUNS_ASKED: usize = 20;

/// What a submission needs.
pub struct Submission<'a> {
    /// The store.
    pub store: &'a Store,
    /// What the scripts share.
    pub shared: Script<'a>,
    /// The cluster.
    pub slurm: Slurm,
}

/// Scripts of a run, each with the path it is saved at.
pub fn scripts(shared: &Script<'_>, run: &Run) -> Result<Vec<(PathBuf, String)>> {
    let folder = run.folder(&shared.store).join("scripts");
    let path = |name: &str| folder.join(format!("{name}.sbatch"));
    run.jobs.iter().map(|job| Ok((path(&job.name), render(shared, run, job)?))).collect()
}

/// Saves the scripts and submits them, each after what it waits for. `before_jobs` is called when all
/// is written and nothing is in the queue yet.
///
/// Nothing is in the queue when this fails, or the error names what may be.
pub fn submit(
    submission: &Submission<'_>,
    run: &mut Run,
    before_jobs: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let store = submission.store;
    let claim = Claim::take(store, &run.profile)?;
    refuse_beside_another(store, &run.profile)?;
    let scripts = scripts(&submission.shared, run)?;
    write(store, run, &scripts)?;
    before_jobs()?;
    for (place, (script, _)) in scripts.iter().enumerate() {
        let submitted = submit_one(submission, run, place, script);
        // Written after each, so that a killed submission leaves the ids.
        if let Err(error) = submitted.and_then(|()| run.save(store)) {
            return Err(roll_back(submission, run, error));
        }
    }
    run.outcome = RunOutcome::Submitted;
    if let Err(error) = run.save(store) {
        return Err(roll_back(submission, run, error));
    }
    drop(claim);
    Ok(())
}

fn write(store: &Store, run: &Run, scripts: &[(PathBuf, String)]) -> Result<()> {
    let folder = run.folder(store.root());
    for name in ["scripts", "logs", "tasks"] {
        let path = folder.join(name);
        fs_err::create_dir_all(&path).map_err(Error::io("create", &path))?;
    }
    for (path, text) in scripts {
        write_atomically(path, text.as_bytes())?;
    }
    run.save(store)
}

fn submit_one(submission: &Submission<'_>, run: &mut Run, place: usize, script: &Path) -> Result<()> {
    let after: Vec<String> = run.jobs[place]
        .after
        .iter()
        .filter_map(|name| run.jobs.iter().find(|job| job.name == *name)?.id.clone())
        .collect();
    run.jobs[place].id = Some(submission.slurm.sbatch(script, &after)?);
    Ok(())
}

/// Takes back what is in the queue. By name too: a submission without an answer may have been one.
fn roll_back(submission: &Submission<'_>, run: &mut Run, error: Error) -> Error {
    let store = submission.store;
    let cancelled = submission.slurm.cancel(&run.ids(), &run.queue_names());
    let hint = match cancelled {
        Ok(()) => {
            run.outcome = RunOutcome::Broken;
            miette::Diagnostic::help(&error).map_or_else(String::new, |help| format!("{help}; "))
                + "none of its jobs is in the queue"
        }
        Err(_) => format!(
            "jobs {} may be in the queue: `almanac cancel {}` removes them",
            if run.ids().is_empty() { "of this run".to_owned() } else { run.ids().join(", ") },
            run.id
        ),
    };
    // The error that is told matters more than one of the file about it.
    let _ = run.save(store);
    Broken { run: run.id.clone(), hint, cause: Box::new(error) }.into()
}

/// Two runs at once would make the same records twice.
fn refuse_beside_another(store: &Store, profile: &str) -> Result<()> {
    let others = Run::all(store).into_iter().take(RUNS_ASKED).filter(|other| {
        other.profile == profile && matches!(other.outcome, RunOutcome::Submitted | RunOutcome::Planned)
    });
    for other in others {
        let queue = Slurm::new(&other.clusters).queue(&other.queue_names())?;
        let jobs = queue.iter().filter(|task| task.is_alive() && !task.is_hopeless()).count();
        if jobs > 0 {
            return Err(Error::Busy { run: other.id, profile: other.profile, jobs });
        }
    }
    Ok(())
}

/// Ends every job of a run. Finished records stay.
pub fn cancel(store: &Store, run: &mut Run) -> Result<()> {
    let without_id = run.jobs.iter().filter(|job| job.id.is_none());
    let names: Vec<String> = without_id.map(|job| job.queue_name(&run.id)).collect();
    Slurm::new(&run.clusters).cancel(&run.ids(), &names)?;
    run.outcome = RunOutcome::Cancelled;
    run.save(store)
}
