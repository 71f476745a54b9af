//! `almanac search`.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use almanac_retrieval::SearchResult;
use almanac_stage::GlobalArguments;
use almanac_terminal::ExitStatus;
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::knowledge::Knowledge;
use crate::project::Project;

/// Options of `search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    /// The question
    query: Option<String>,
    /// File of JSON lines {"id", "query"}; one result a line, in one process; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    batch: Option<PathBuf>,
    /// Most tokens of the context [default: retrieval.budget_tokens]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// Show why each chunk is there and what was left out
    #[arg(long)]
    debug: bool,
}

#[derive(Deserialize)]
struct BatchQuery {
    id: serde_json::Value,
    query: String,
}

/// A result with the id of its question.
#[derive(Serialize)]
struct BatchResult<'a> {
    id: serde_json::Value,
    query: &'a str,
    intent: &'a almanac_retrieval::Intent,
    files: &'a [String],
    chunks: &'a [almanac_retrieval::ContextChunk],
    context: &'a str,
    context_tokens: usize,
    evidence: bool,
    seconds: f64,
}

pub(crate) fn run(global: &GlobalArguments, arguments: &SearchArguments) -> miette::Result<ExitStatus> {
    let project = Project::open(global, &[])?;
    if let Some(batch) = &arguments.batch {
        return run_batch(&project, arguments, batch);
    }
    let query = arguments.query.as_deref().ok_or(Error::NoQuery)?;
    let knowledge = Knowledge::open(&project)?;
    let found = knowledge.search(query, arguments.budget, None)?;
    if global.json {
        almanac_terminal::data_json(&found);
    } else {
        print(&found, arguments.debug);
    }
    Ok(ExitStatus::Done)
}

fn run_batch(project: &Project, arguments: &SearchArguments, batch: &Path) -> miette::Result<ExitStatus> {
    let queries = read_batch(batch)?;
    let knowledge = Knowledge::open(project)?;
    for BatchQuery { id, query } in queries {
        let found = knowledge.search(&query, arguments.budget, None)?;
        almanac_terminal::data_json(&BatchResult {
            id,
            query: &found.query,
            intent: &found.intent,
            files: &found.files,
            chunks: &found.chunks,
            context: &found.context,
            context_tokens: found.context_tokens,
            evidence: found.evidence,
            seconds: found.seconds,
        });
    }
    Ok(ExitStatus::Done)
}

/// Every query of the file; a bad line fails before any work is done.
fn read_batch(path: &Path) -> Result<Vec<BatchQuery>, Error> {
    let failed = |source| Error::BatchFile { path: path.to_owned(), source };
    let reader: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::io::BufReader::new(fs_err::File::open(path).map_err(failed)?))
    };
    let mut queries = Vec::new();
    for (number, line) in reader.lines().enumerate() {
        let line = line.map_err(failed)?;
        if line.trim().is_empty() {
            continue;
        }
        let query = serde_json::from_str(&line);
        queries.push(query.map_err(|source| Error::BatchLine {
            path: path.to_owned(),
            line: number + 1,
            source,
        })?);
    }
    Ok(queries)
}

fn print(found: &SearchResult, debug: bool) {
    for chunk in &found.chunks {
        let place = if chunk.path.is_empty() {
            chunk.symbol.clone()
        } else {
            format!("{}:{}-{}  {}", chunk.path, chunk.start_line, chunk.end_line, chunk.symbol)
        };
        almanac_terminal::data(&format!("{:>2}  {place}", chunk.rank));
        if debug {
            almanac_terminal::data(&format!(
                "      score {:.4}, {} tokens: {}",
                chunk.score,
                chunk.tokens,
                chunk.reasons.join("; ")
            ));
        }
    }
    if debug {
        for dropped in &found.dropped {
            almanac_terminal::data(&format!(
                "left out: {} {} ({})",
                dropped.path, dropped.symbol, dropped.reason
            ));
        }
    }
    if !found.evidence {
        almanac_terminal::data(
            "nothing in this codebase speaks of what was asked; these are the nearest things",
        );
    }
    almanac_terminal::note(format!(
        "{} tokens of context, {:.2} s; --json prints the context itself",
        found.context_tokens, found.seconds
    ));
}
