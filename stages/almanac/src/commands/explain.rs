//! `almanac explain`: what the store knows of one symbol or file.

mod portrait;

use almanac_stage::{GlobalArguments, within};
use almanac_terminal::ExitStatus;
use clap::Args;

pub(crate) use portrait::portrait;

use crate::knowledge::Knowledge;
use crate::project::{AskedStore, Project};

/// Options of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// A symbol (`fillHalo`, `Field::fillHalo`) or a file (`src/Field/Field.hpp`, `Field.hpp`)
    name: String,
    /// Most tokens of the answer [default: retrieval.budget_tokens]
    #[arg(long, value_name = "TOKENS", value_parser = within("retrieval.budget_tokens"))]
    budget: Option<u64>,
    #[command(flatten)]
    asked: AskedStore,
}

pub(crate) fn run(global: &GlobalArguments, arguments: &ExplainArguments) -> miette::Result<ExitStatus> {
    let project = Project::asked(global, &arguments.asked)?;
    let knowledge = Knowledge::open_without_vectors(&project)?;
    let found = portrait(&knowledge.index, &arguments.name)?;
    if global.json {
        almanac_terminal::data_json(&found);
        return Ok(ExitStatus::Done);
    }
    let budget = arguments.budget.and_then(|budget| usize::try_from(budget).ok());
    almanac_terminal::data(&found.text(budget.unwrap_or(knowledge.settings.budget_tokens)));
    Ok(ExitStatus::Done)
}
