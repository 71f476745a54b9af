//! `almanac search`.

use std::path::{Path, PathBuf};

use almanac_retrieval::SearchResult;
use almanac_stage::{GlobalArguments, within};
use almanac_terminal::ExitStatus;
use clap::Args;

use super::batch::{self, Outcome, Query};
use crate::error::Error;
use crate::knowledge::Knowledge;
use crate::project::{AskedStore, Project};

/// Options of `search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    #[command(flatten)]
    asked: AskedStore,
    /// The question
    query: Option<String>,
    /// File of JSON lines {"id", "query"}; one result a line, in one process; `-` is standard input.
    /// A line that is no query gives {"id", "line", "error"}, and exit code 65 at the end
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    batch: Option<PathBuf>,
    /// Most tokens of the context [default: retrieval.budget_tokens]
    #[arg(long, value_name = "TOKENS", value_parser = within("retrieval.budget_tokens"))]
    budget: Option<u64>,
    /// Show why each chunk is there and what was left out
    #[arg(long, conflicts_with = "batch")]
    debug: bool,
    /// Print the context that a model would see, in place of the list
    #[arg(long, conflicts_with_all = ["batch", "debug"])]
    context: bool,
}

impl SearchArguments {
    fn budget(&self) -> Option<usize> {
        // A range that fits any machine's words bounds it.
        self.budget.and_then(|budget| usize::try_from(budget).ok())
    }
}

pub(crate) fn run(global: &GlobalArguments, arguments: &SearchArguments) -> miette::Result<ExitStatus> {
    let project = Project::asked(global, &arguments.asked)?;
    if let Some(batch) = &arguments.batch {
        return answer_batch(&project, arguments, batch);
    }
    let query = arguments.query.as_deref().ok_or(Error::NoQuery)?;
    let knowledge = Knowledge::open(&project)?;
    let found = knowledge.search(query, arguments.budget(), None)?;
    if global.json {
        almanac_terminal::data_json(&found);
    } else {
        print(&found, arguments);
    }
    Ok(ExitStatus::Done)
}

fn answer_batch(project: &Project, arguments: &SearchArguments, path: &Path) -> miette::Result<ExitStatus> {
    batch::run(path, || {
        let knowledge = Knowledge::open(project)?;
        Ok(move |query: &Query| match knowledge.search(&query.query, arguments.budget(), None) {
            Ok(found) => Ok(Outcome::Answer(found)),
            Err(error) if error.is_of_the_question() => Ok(Outcome::refusal(&error)),
            Err(error) => Err(error.into()),
        })
    })
}

fn print(found: &SearchResult, arguments: &SearchArguments) {
    if !found.evidence {
        almanac_terminal::data(
            "nothing in this codebase speaks of what was asked; these are the nearest things",
        );
    }
    if !found.unknown_words.is_empty() {
        almanac_terminal::note(format!("not in this codebase: {}", found.unknown_words.join(", ")));
    }
    if arguments.context {
        almanac_terminal::data(&found.context);
        return;
    }
    let debug = arguments.debug;
    for chunk in &found.chunks {
        let place = if chunk.path.is_empty() {
            chunk.symbol.clone()
        } else {
            format!("{}:{}-{}  {}", chunk.path, chunk.start_line, chunk.end_line, chunk.symbol)
        };
        almanac_terminal::data_line(&format!("{:>2}  {place}", chunk.rank));
        if debug {
            almanac_terminal::data_line(&format!(
                "      score {:.4}, {} tokens: {}",
                chunk.score,
                chunk.tokens,
                chunk.reasons.join("; ")
            ));
        }
    }
    if debug {
        for dropped in &found.dropped {
            almanac_terminal::data_line(&format!(
                "left out: {} {} ({})",
                dropped.path, dropped.symbol, dropped.reason
            ));
        }
    }
    almanac_terminal::note(format!(
        "{} tokens of context, {:.2} s; --context prints it",
        found.context_tokens, found.seconds
    ));
}
