//! `almanac cancel`.

use almanac_slurm::{Run, cancel};
use almanac_stage::GlobalArguments;
use almanac_terminal::ExitStatus;
use clap::Args;
use serde::Serialize;

use crate::project::Project;

/// Options of `cancel`.
#[derive(Debug, Args)]
pub(crate) struct CancelArguments {
    /// Id of the run, or its beginning [default: the newest]
    #[arg(value_name = "RUN")]
    run: Option<String>,
}

/// The object of `--json`.
#[derive(Serialize)]
struct CancelReport<'a> {
    run: &'a str,
    jobs: Vec<String>,
}

pub(crate) fn run(global: &GlobalArguments, arguments: &CancelArguments) -> miette::Result<ExitStatus> {
    let project = Project::open(global, &[])?;
    let store = project.existing_store()?;
    let mut run = Run::find(store, arguments.run.as_deref().unwrap_or_default())?;
    cancel(store, &mut run)?;
    if global.json {
        almanac_terminal::data_json(&CancelReport { run: &run.id, jobs: run.ids() });
    }
    almanac_terminal::status("Cancelled", format!("run {}; finished records are kept", run.id));
    Ok(ExitStatus::Done)
}
