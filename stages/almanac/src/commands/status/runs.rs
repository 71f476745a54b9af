//! The newest run record of each stage.

use almanac_artifact::{Owner, Store, read_json};
use almanac_catalog::PIPELINE;
use almanac_stage::{RunRecord, RunState};

/// The newest record of each stage, in pipeline order.
pub(crate) fn latest(store: &Store) -> miette::Result<Vec<RunRecord>> {
    let folder = store.run_record("");
    let mut names: Vec<String> = match fs_err::read_dir(&folder) {
        Ok(entries) => entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name.ends_with(".json") && !name.starts_with('.'))
            .collect(),
        // A store without runs has no such folder.
        Err(_) => Vec::new(),
    };
    // Names begin with the time, so this is newest first.
    names.sort_by(|a, b| b.cmp(a));
    let mut latest = Vec::new();
    for stage in PIPELINE {
        // Time, stage, host and process; a host's name may hold a stage's.
        if let Some(name) = names.iter().find(|name| name.split('-').nth(1) == Some(stage.name)) {
            match read_json::<RunRecord>(&folder.join(name), "run record") {
                Ok(record) => latest.extend(record),
                // Half a record or another version's says nothing; the store is judged without it.
                Err(error) if error.is_damage() => almanac_terminal::warning(&error),
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(latest)
}

/// State of a run in a few words. A run that says it is running and whose process is gone, on
/// this machine, was killed.
pub(crate) fn describe(run: &RunRecord) -> String {
    let word = match run.state {
        RunState::Running if is_gone(run) => "killed",
        RunState::Running => "running",
        RunState::Done => "done",
        RunState::Waiting => "waits for other shards",
        RunState::Blocked => "to be run again after other shards",
        RunState::Interrupted => "interrupted",
        RunState::Failed => "failed",
    };
    if run.shard.is_empty() { word.to_owned() } else { format!("{word} ({})", run.shard) }
}

fn is_gone(run: &RunRecord) -> bool {
    Owner::named(&run.owner).is_some_and(|owner| owner.is_gone())
}
