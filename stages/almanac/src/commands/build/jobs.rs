//! `--jobs`: the records of a stage in several processes of this machine, in the steps in which
//! `almanac submit` makes them on a cluster: the tasks of a level side by side, the next level, a commit.

use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

use almanac_catalog::StageSpec;
use almanac_settings::environment;

use crate::children::{Process, run_side_by_side, run_stage};
use crate::error::Error;

/// Runs a stage, its records in `jobs` processes where it has records, and gives its exit code.
pub(super) fn run(
    stage: &StageSpec,
    arguments: &[String],
    jobs: NonZeroUsize,
    interrupted: &AtomicBool,
) -> Result<u8, Error> {
    if jobs.get() == 1 || !stage.partial {
        return run_stage(stage, arguments, interrupted);
    }
    let levels = if stage.levels.is_empty() { &[""][..] } else { stage.levels };
    for level in levels {
        let code = run_side_by_side(stage, &tasks(arguments, level, jobs), interrupted)?;
        if code != 0 {
            return Ok(code);
        }
    }
    run_stage(stage, &with(arguments, &["--commit-only"]), interrupted)
}

/// The tasks of a level, each with its share of the records and of the machine.
fn tasks(arguments: &[String], level: &str, jobs: NonZeroUsize) -> Vec<Process> {
    let shares = environment::shares(jobs).into_iter().enumerate();
    let task = |(place, variables): (usize, Vec<(&'static str, String)>)| {
        let shard = format!("{}/{jobs}", place + 1);
        let mut words = with(arguments, &["--shard", &shard]);
        // Bars of several processes would write over each other.
        if !words.iter().any(|word| word == "--no-progress") {
            words.push("--no-progress".to_owned());
        }
        if !level.is_empty() {
            words = with(&words, &["--level", level]);
        }
        Process { arguments: words, variables }
    };
    shares.map(task).collect()
}

fn with(arguments: &[String], more: &[&str]) -> Vec<String> {
    arguments.iter().cloned().chain(more.iter().map(|word| (*word).to_owned())).collect()
}
