//! The verbs.

mod ask;
mod batch;
mod build;
mod bundle;
mod cancel;
mod completions;
mod config;
mod context;
mod explain;
mod mcp;
mod models;
mod plan;
mod search;
mod status;
mod submit;

use almanac_stage::{GlobalArguments, parse_arguments, require_processor};
use almanac_terminal::ExitStatus;
use clap::{CommandFactory, Parser, Subcommand};

/// Turn a scientific C++ codebase into a knowledge store and answer questions from it
///
/// The store is built in six stages (parse, graph, explain, entities, embed, index). Each runs
/// only when what it depends on has changed. Answers cite `path:line`.
#[derive(Debug, Parser)]
#[command(name = "almanac")]
struct Almanac {
    #[command(flatten)]
    global: GlobalArguments,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Bring the store up to date: run what is stale and say why
    Build(build::BuildArguments),
    /// Show what a build would run and why, without running it
    Plan(plan::PlanArguments),
    /// Show what the store holds: stages, counts, gaps, last runs, and runs on a cluster
    Status(status::StatusArguments),
    /// Build on a Slurm cluster: submit what is stale, as jobs that wait for one another
    Submit(submit::SubmitArguments),
    /// End a run on a cluster; finished records are kept
    Cancel(cancel::CancelArguments),
    /// Find the source that answers a question
    Search(search::SearchArguments),
    /// Answer a question from the store, with sources
    Ask(ask::AskArguments),
    /// Show one symbol or file: its explanation, source, callers, callees and other neighbours
    Explain(explain::ExplainArguments),
    /// Find the files a change touches, from the tree as it is, and pack them under a token budget
    Context(context::ContextArguments),
    /// Serve coding agents over the Model Context Protocol
    Mcp(mcp::McpArguments),
    /// Put a store into one file, or check and open such a file
    Bundle(bundle::BundleArguments),
    /// List, fetch or verify models
    Models(models::ModelsArguments),
    /// Print the settings in force
    Config(config::ConfigArguments),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArguments),
}

pub(crate) fn run() -> miette::Result<ExitStatus> {
    require_processor()?;
    let command: Almanac = match parse_arguments(Almanac::command()) {
        Ok(command) => command,
        Err(status) => return Ok(status),
    };
    command.global.start_terminal();
    let global = &command.global;
    match &command.verb {
        Verb::Build(arguments) => build::run(global, arguments),
        Verb::Plan(arguments) => plan::run(global, arguments),
        Verb::Status(arguments) => status::run(global, arguments),
        Verb::Submit(arguments) => submit::run(global, arguments),
        Verb::Cancel(arguments) => cancel::run(global, arguments),
        Verb::Search(arguments) => search::run(global, arguments),
        Verb::Ask(arguments) => ask::run(global, arguments),
        Verb::Explain(arguments) => explain::run(global, arguments),
        Verb::Mcp(arguments) => mcp::run(global, arguments),
        Verb::Context(arguments) => context::run(global, arguments),
        Verb::Bundle(arguments) => bundle::run(global, arguments),
        Verb::Models(arguments) => models::run(global, arguments),
        Verb::Config(arguments) => config::run(global, arguments),
        Verb::Completions(arguments) => completions::run(arguments),
    }
}

/// The command line as clap sees it, for completions.
fn command_line() -> clap::Command {
    Almanac::command()
}
