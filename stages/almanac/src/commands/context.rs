//! `almanac context`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use almanac_context::{ContextSettings, Package, ParseParams, Snapshot, View, Workspace, assemble};
use almanac_retrieval::estimate_tokens;
use almanac_stage::{GlobalArguments, within};
use almanac_terminal::ExitStatus;
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;

/// Options of `context`.
#[derive(Debug, Args)]
pub(crate) struct ContextArguments {
    /// The task: an issue or a change request, in words
    task: Option<String>,
    /// Source tree; with --commit, its repository (bare or not)
    #[arg(long, value_name = "DIR")]
    source: PathBuf,
    /// Read this commit from git objects, not the working tree
    #[arg(long)]
    commit: Option<String>,
    /// File of JSON lines {"id", "query", "commit"?}; one result a line, in one process
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    batch: Option<PathBuf>,
    /// Most tokens of the package [default: context.budget_tokens]
    #[arg(long, value_name = "TOKENS", value_parser = within("context.budget_tokens"))]
    budget: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Line {
    id: Value,
    query: String,
    commit: Option<String>,
}

#[derive(Serialize)]
struct Answered<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    #[serde(flatten)]
    package: &'a Package,
    seconds: f64,
}

#[derive(Serialize)]
struct Refused<'a> {
    id: &'a Value,
    line: usize,
    error: String,
}

/// A tree that tasks are asked of, with everything read of it so far.
pub(crate) struct Session {
    source: PathBuf,
    settings: ContextSettings,
    params: ParseParams,
    workspace: Workspace,
    view: Option<(Option<String>, View)>,
}

impl Session {
    /// A tree to ask tasks of.
    pub(crate) fn open(global: &GlobalArguments, source: &Path) -> miette::Result<Self> {
        let arguments = ContextArguments {
            task: None,
            source: source.to_owned(),
            commit: None,
            batch: None,
            budget: None,
        };
        Self::new(global, &arguments)
    }

    /// The same with the tree as it is now, and another budget.
    pub(crate) fn fresh(&mut self, budget: usize) -> &mut Self {
        self.view = None;
        self.settings.budget_tokens = budget;
        self
    }

    fn new(global: &GlobalArguments, arguments: &ContextArguments) -> miette::Result<Self> {
        let settings = global.settings(&[])?;
        let mut own: ContextSettings = settings.section("context")?;
        if let Some(budget) = arguments.budget {
            own.budget_tokens = usize::try_from(budget).unwrap_or(usize::MAX);
        }
        Ok(Self {
            source: arguments.source.clone(),
            settings: own,
            params: settings.section("parse.params")?,
            workspace: Workspace::new(),
            view: None,
        })
    }

    pub(crate) fn assemble(&mut self, task: &str, commit: Option<&str>) -> almanac_context::Result<Package> {
        let known = self.view.as_ref().is_some_and(|(known, _)| known.as_deref() == commit);
        if !known {
            let (rules, most) = (&self.params.tree, self.settings.history);
            let snapshot = match commit {
                Some(commit) => Snapshot::of_commit(&self.source, commit, rules, most)?,
                None => Snapshot::of_tree(&self.source, rules, most)?,
            };
            let view = self.workspace.view(Rc::new(snapshot), &self.settings)?;
            self.view = Some((commit.map(str::to_owned), view));
        }
        let Some((_, view)) = &self.view else { return Err(almanac_context::Error::EmptyTask) };
        assemble(task, &self.workspace, view, &self.settings, &self.params, &estimate_tokens)
    }
}

pub(crate) fn run(global: &GlobalArguments, arguments: &ContextArguments) -> miette::Result<ExitStatus> {
    let mut session = Session::new(global, arguments)?;
    if let Some(path) = &arguments.batch {
        return batch(&mut session, arguments, path);
    }
    let task = arguments.task.as_deref().ok_or(Error::NoQuery)?;
    let started = Instant::now();
    let package = session.assemble(task, arguments.commit.as_deref())?;
    let seconds = started.elapsed().as_secs_f64();
    if global.json {
        almanac_terminal::data_json(&Answered { id: None, package: &package, seconds });
    } else {
        almanac_terminal::data(&package.context);
        almanac_terminal::note(format!(
            "{} tokens, {} files of {} ranked, {seconds:.2} s",
            package.context_tokens,
            package.cards.len(),
            package.files.len()
        ));
    }
    Ok(ExitStatus::Done)
}

/// Answers line by line; one that cannot be answered is said in its place.
fn batch(session: &mut Session, arguments: &ContextArguments, path: &Path) -> miette::Result<ExitStatus> {
    let file = fs_err::File::open(path).map_err(|source| Error::NoBatchFile { path: path.into(), source })?;
    let (mut lines, mut refused) = (0, 0);
    for (at, line) in BufReader::new(file).lines().enumerate() {
        let text = line.map_err(|source| Error::BatchFile { path: path.into(), source })?;
        if text.trim().is_empty() {
            continue;
        }
        lines += 1;
        let line: Line = match serde_json::from_str(&text) {
            Ok(line) => line,
            Err(error) => {
                refused += 1;
                refuse(&Value::Null, at + 1, &format!("not {{\"id\": …, \"query\": …}}: {error}"));
                continue;
            }
        };
        let started = Instant::now();
        let commit = line.commit.as_deref().or(arguments.commit.as_deref());
        match session.assemble(&line.query, commit) {
            Ok(package) => {
                let seconds = started.elapsed().as_secs_f64();
                almanac_terminal::data_json(&Answered { id: Some(&line.id), package: &package, seconds });
            }
            Err(error) if error.is_of_the_task() => {
                refused += 1;
                refuse(&line.id, at + 1, &error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
    }
    if refused > 0 {
        return Err(Error::BatchLines { path: path.to_owned(), refused, lines }.into());
    }
    Ok(ExitStatus::Done)
}

fn refuse(id: &Value, line: usize, error: &str) {
    almanac_terminal::data_json(&Refused { id, line, error: error.to_owned() });
}
