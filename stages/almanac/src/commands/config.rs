//! `almanac config [--origin]`.

use almanac_settings::Origin;
use almanac_stage::GlobalArguments;
use almanac_terminal::{ExitStatus, Table};
use clap::Args;
use serde::Serialize;
use serde_json::Value;

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

/// One setting in the list of `--json`.
#[derive(Serialize)]
struct Shown {
    key: String,
    value: Value,
    origin: Origin,
    /// What the number may be, in words.
    allowed: Option<String>,
}

/// A value for the table, whose columns are as wide as their widest cell; it is whole without
/// `--origin`.
fn shortened(value: String) -> String {
    const WIDEST: usize = 48;
    match value.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value,
    }
}

pub(crate) fn run(global: &GlobalArguments, arguments: &ConfigArguments) -> miette::Result<ExitStatus> {
    let settings = global.settings(&[])?;
    let prefix = arguments.prefix.as_deref().unwrap_or_default();
    let shown: Vec<_> =
        settings.origins().into_iter().filter(|setting| setting.key.starts_with(prefix)).collect();
    if shown.is_empty() {
        // Names the nearest key.
        settings.section::<Value>(prefix)?;
    }
    if global.json {
        let values = shown.into_iter().map(|setting| {
            let value = settings.section(&setting.key)?;
            Ok(Shown { key: setting.key, value, origin: setting.origin, allowed: setting.allowed })
        });
        almanac_terminal::data_json(&values.collect::<almanac_settings::Result<Vec<_>>>()?);
        return Ok(ExitStatus::Done);
    }
    if arguments.origin {
        let mut table = Table::new(["setting", "value", "origin", "allowed"]);
        for setting in shown {
            let allowed = setting.allowed.unwrap_or_default();
            table.row([setting.key, shortened(setting.value), setting.origin.to_string(), allowed]);
        }
        table.print();
    } else {
        for setting in shown {
            almanac_terminal::data_line(&format!("{} = {}", setting.key, setting.value));
        }
    }
    Ok(ExitStatus::Done)
}
