//! `almanac completions SHELL`.

use almanac_terminal::ExitStatus;
use clap::Args;
use clap_complete::Shell;

/// Options of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Shell to complete for
    shell: Shell,
}

pub(crate) fn run(arguments: &CompletionsArguments) -> miette::Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::command_line(), "almanac", &mut script);
    almanac_terminal::data(&String::from_utf8_lossy(&script));
    Ok(ExitStatus::Done)
}
