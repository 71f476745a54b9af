//! `almanac config [--origin]`.

use almanac_stage::GlobalArguments;
use almanac_terminal::{ExitStatus, Table};
use clap::Args;

/// Options of `config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// Show where each value came from, and what a number may be
    #[arg(long)]
    origin: bool,
    /// Only keys that begin with this
    #[arg(value_name = "PREFIX")]
    prefix: Option<String>,
}

pub(crate) fn run(global: &GlobalArguments, arguments: &ConfigArguments) -> miette::Result<ExitStatus> {
    let settings = global.settings(&[])?;
    let prefix = arguments.prefix.as_deref().unwrap_or_default();
    let shown: Vec<_> =
        settings.origins().into_iter().filter(|setting| setting.key.starts_with(prefix)).collect();
    if global.json {
        almanac_terminal::data_json(&shown);
        return Ok(ExitStatus::Done);
    }
    if arguments.origin {
        let mut table = Table::new(["setting", "value", "origin", "allowed"]);
        for setting in shown {
            let allowed = setting.allowed.unwrap_or_default();
            table.row([setting.key, setting.value, setting.origin.to_string(), allowed]);
        }
        table.print();
    } else {
        for setting in shown {
            almanac_terminal::data_line(&format!("{} = {}", setting.key, setting.value));
        }
    }
    Ok(ExitStatus::Done)
}
