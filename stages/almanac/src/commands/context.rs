//! `almanac context`.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use almanac_context::{
    Answer, Cache, ContextSettings, Explained, Means, ParseParams, Snapshot, View, Workspace, assemble,
};
use almanac_generation::TokenCounting;
use almanac_settings::environment;
use almanac_stage::{GlobalArguments, within};
use almanac_terminal::ExitStatus;
use clap::Args;

use super::batch::{self, Outcome, Query};
use crate::error::Error;
use crate::explained;
use crate::project::{AskedStore, Project};

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
    /// File of JSON lines {"id", "query", "commit"?}; one result a line, in one process; `-` is standard
    /// input. A line that is no query gives {"id", "line", "error"}, and exit code 65 at the end
    #[arg(long, value_name = "FILE", conflicts_with = "task")]
    batch: Option<PathBuf>,
    /// Most tokens of the package [default: context.budget_tokens]
    #[arg(long, value_name = "TOKENS", value_parser = within("context.budget_tokens"))]
    budget: Option<u64>,
    #[command(flatten)]
    asked: AskedStore,
}

/// A tree that tasks are asked of, with everything read of it so far.
pub(crate) struct Session {
    source: PathBuf,
    settings: ContextSettings,
    params: ParseParams,
    counting: TokenCounting,
    explained: Option<Explained>,
    cache: Cache,
    workspace: Workspace,
    view: Option<(Option<String>, View)>,
}

impl Session {
    /// A tree to ask tasks of, with what a store says of its files.
    pub(crate) fn open(
        global: &GlobalArguments,
        source: &Path,
        store: Option<&Project>,
    ) -> miette::Result<Self> {
        Self::with(global, source, None, store.map(explained_by).transpose()?)
    }

    /// The same with the tree as it is now, and another budget.
    pub(crate) fn fresh(&mut self, budget: usize) -> &mut Self {
        self.view = None;
        self.settings.budget_tokens = budget;
        self
    }

    fn new(global: &GlobalArguments, arguments: &ContextArguments) -> miette::Result<Self> {
        // A store takes part where it is named; one that happens to lie here may be of another tree.
        let asked = &arguments.asked;
        let is_named = asked.is_bundle() || global.store.is_some() || environment::store_dir().is_some();
        let explained = if is_named { Some(explained_by(&Project::asked(global, asked)?)?) } else { None };
        Self::with(global, &arguments.source, arguments.budget, explained)
    }

    fn with(
        global: &GlobalArguments,
        source: &Path,
        budget: Option<u64>,
        explained: Option<Explained>,
    ) -> miette::Result<Self> {
        let settings = global.settings(&[])?;
        let mut own: ContextSettings = settings.section("context")?;
        if let Some(budget) = budget {
            own.budget_tokens = usize::try_from(budget).unwrap_or(usize::MAX);
        }
        let counting = TokenCounting::of_contexts(&settings)?;
        let params: ParseParams = settings.section("parse.params")?;
        let cache = match environment::cache_dir().filter(|_| own.cache_mib > 0) {
            Some(folder) => {
                let folder = folder.join("almanac").join("context");
                Cache::of(&folder, source, &format!("{params:?}"), own.cache_mib << 20)
            }
            None => Cache::off(),
        };
        Ok(Self {
            source: source.to_owned(),
            settings: own,
            params,
            counting,
            explained,
            workspace: Workspace::of_cache(&cache),
            cache,
            view: None,
        })
    }

    pub(crate) fn answer(&mut self, task: &str, commit: Option<&str>) -> almanac_context::Result<Answer> {
        let started = Instant::now();
        let known = self.view.as_ref().is_some_and(|(known, _)| known.as_deref() == commit);
        if !known {
            let (rules, most) = (&self.params.tree, self.settings.history);
            let snapshot = match commit {
                Some(commit) => Snapshot::of_commit(&self.source, commit, rules, most, &self.cache)?,
                None => Snapshot::of_tree(&self.source, rules, most, &self.cache)?,
            };
            let view = self.workspace.view(Rc::new(snapshot), &self.settings)?;
            self.view = Some((commit.map(str::to_owned), view));
        }
        let Some((_, view)) = &self.view else { return Err(almanac_context::Error::EmptyTask) };
        let count = |text: &str| self.counting.count(text);
        let means = Means {
            settings: &self.settings,
            params: &self.params,
            count: &count,
            tokenizer: self.counting.name(),
            explained: self.explained.as_ref(),
        };
        let mut package = assemble(task, &self.workspace, view, &means)?;
        if let Some(problem) = self.counting.problem() {
            package.state.diagnostics.push(format!("tokens are approximated: {problem}"));
        }
        Ok(Answer { package, seconds: started.elapsed().as_secs_f64() })
    }

    /// Keeps what was read for the next call.
    pub(crate) fn keep(&mut self) {
        if let Some((_, view)) = &self.view {
            self.workspace.keep(view, &self.cache);
        }
    }
}

fn explained_by(project: &Project) -> miette::Result<Explained> {
    explained::read(project.existing_store()?, &project.asked_profile)
}

pub(crate) fn run(global: &GlobalArguments, arguments: &ContextArguments) -> miette::Result<ExitStatus> {
    let mut session = Session::new(global, arguments)?;
    if let Some(path) = &arguments.batch {
        return batch::run(path, || {
            Ok(move |query: &Query| {
                let commit = query.commit.as_deref().or(arguments.commit.as_deref());
                let known = session.view.is_some();
                match session.answer(&query.query, commit) {
                    Ok(answer) => {
                        // Of many commits the first is kept, not each.
                        if !known || commit.is_none() {
                            session.keep();
                        }
                        Ok(Outcome::Answer(answer))
                    }
                    Err(error) if error.is_of_the_task() => Ok(Outcome::refusal(&error)),
                    Err(error) => Err(error.into()),
                }
            })
        });
    }
    let task = arguments.task.as_deref().ok_or(Error::NoQuery)?;
    let answer = session.answer(task, arguments.commit.as_deref())?;
    for diagnostic in &answer.package.state.diagnostics {
        almanac_terminal::warning(diagnostic);
    }
    if global.json {
        almanac_terminal::data_json(&answer);
        session.keep();
        return Ok(ExitStatus::Done);
    }
    let package = &answer.package;
    almanac_terminal::data(&package.context);
    almanac_terminal::note(format!(
        "{}: {} tokens by {}, {} files of {} ranked, {:.2} s",
        package.state.summary(),
        package.context_tokens,
        package.tokenizer,
        package.cards.len(),
        package.files.len(),
        answer.seconds
    ));
    session.keep();
    Ok(ExitStatus::Done)
}
