//! Tasks and the files their changes touched: runs `almanac context`'s library over git objects.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use almanac_context::{
    Cache, ContextSettings, Means, Package, ParseParams, Signals, Snapshot, Workspace, assemble,
};
use almanac_generation::TokenCounting;
use almanac_settings::Settings;
use almanac_stage::GlobalArguments;
use almanac_terminal::{ExitStatus, Table};
use clap::Args;
use serde::Deserialize;

use crate::error::Error;

/// Ranks at which the lists are scored.
const AT: [usize; 2] = [10, 20];

/// Options of `tasks`.
#[derive(Debug, Args)]
pub(crate) struct TasksArguments {
    #[command(flatten)]
    global: GlobalArguments,
    /// JSON lines {id, repo, base_commit, query, query_source, leak, gold_files: [{path}]}
    tasks: PathBuf,
    /// Repository of a name in the tasks, bare or not: NAME=DIR
    #[arg(long, value_name = "NAME=DIR", required = true)]
    git: Vec<String>,
    /// Also turn off each part of [context.parts] and print what is lost
    #[arg(long)]
    ablate: bool,
}

#[derive(Debug, Clone, Deserialize)]
struct Task {
    id: String,
    repo: String,
    base_commit: String,
    query: String,
    #[serde(default)]
    query_source: String,
    #[serde(default)]
    leak: bool,
    gold_files: Vec<GoldFile>,
    #[serde(default)]
    date: String,
}

#[derive(Debug, Clone, Deserialize)]
struct GoldFile {
    path: String,
}

/// What was found for one task.
struct Outcome {
    task: Task,
    package: Package,
    seconds: f64,
}

impl Outcome {
    fn hits(&self, most: usize) -> usize {
        let listed: HashSet<&str> = self.package.files.iter().take(most).map(String::as_str).collect();
        self.task.gold_files.iter().filter(|gold| listed.contains(gold.path.as_str())).count()
    }

    fn packed(&self) -> usize {
        let cards: HashSet<&str> = self.package.cards.iter().map(|card| card.path.as_str()).collect();
        self.task.gold_files.iter().filter(|gold| cards.contains(gold.path.as_str())).count()
    }
}

pub(crate) fn measure(arguments: &TasksArguments) -> miette::Result<ExitStatus> {
    let settings = arguments.global.settings(&[])?;
    let tasks = read(&arguments.tasks)?;
    let repositories: BTreeMap<&str, &Path> = arguments
        .git
        .iter()
        .filter_map(|pair| pair.split_once('=').map(|(name, folder)| (name, Path::new(folder))))
        .collect();
    let own: ContextSettings = settings.section("context")?;
    let mut table = Table::new(HEADER).right(1..HEADER.len());
    let outcomes = run(&tasks, &repositories, &settings, &own)?;
    rows(&mut table, &outcomes);
    let baseline = run(&tasks, &repositories, &settings, &whole_files(&own))?;
    row(&mut table, "baseline: BM25 over whole files", &baseline.iter().collect::<Vec<_>>());
    if arguments.ablate {
        for (name, changed) in ablations(&own) {
            let outcomes = run(&tasks, &repositories, &settings, &changed)?;
            row(&mut table, &format!("without {name}"), &outcomes.iter().collect::<Vec<_>>());
        }
    }
    table.print();
    Ok(ExitStatus::Done)
}

fn read(path: &Path) -> Result<Vec<Task>, Error> {
    let text =
        fs_err::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let mut tasks = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let failed = |source| Error::Result { path: path.to_owned(), line: at + 1, source };
        tasks.push(serde_json::from_str(line).map_err(failed)?);
    }
    // Neighbouring commits share most contents.
    tasks.sort_by(|a: &Task, b: &Task| (&a.repo, &a.date, &a.id).cmp(&(&b.repo, &b.date, &b.id)));
    Ok(tasks)
}

fn run(
    tasks: &[Task],
    repositories: &BTreeMap<&str, &Path>,
    settings: &Settings,
    own: &ContextSettings,
) -> miette::Result<Vec<Outcome>> {
    let params: ParseParams = settings.section("parse.params")?;
    let counting = TokenCounting::of_contexts(settings)?;
    let count = |text: &str| counting.count(text);
    let mut outcomes = Vec::new();
    let mut workspace = (String::new(), Workspace::new());
    for task in tasks {
        let Some(folder) = repositories.get(task.repo.as_str()) else { continue };
        if workspace.0 != task.repo {
            workspace = (task.repo.clone(), Workspace::new());
        }
        let started = Instant::now();
        let snapshot =
            Snapshot::of_commit(folder, &task.base_commit, &params.tree, own.history, &Cache::off())?;
        let view = workspace.1.view(Rc::new(snapshot), own)?;
        let means = Means {
            settings: own,
            params: &params,
            count: &count,
            tokenizer: counting.name(),
            explained: None,
        };
        let package = assemble(&task.query, &workspace.1, &view, &means)?;
        let seconds = started.elapsed().as_secs_f64();
        outcomes.push(Outcome { task: task.clone(), package, seconds });
    }
    Ok(outcomes)
}

/// BM25 over whole files and nothing else: no other signal, no relation, no prior of roles.
fn whole_files(own: &ContextSettings) -> ContextSettings {
    let mut changed = own.clone();
    changed.anchors = 0;
    changed.role_factors.clear();
    let file = own.signals.file.max(1.0);
    changed.signals = Signals { file, unit: 0.0, path: 0.0, mention: 0.0, messages: 0.0, activity: 0.0 };
    changed
}

/// One part off at a time, as in Table III of the paper.
fn ablations(own: &ContextSettings) -> Vec<(&'static str, ContextSettings)> {
    let with = |change: fn(&mut ContextSettings)| {
        let mut changed = own.clone();
        change(&mut changed);
        changed
    };
    vec![
        ("explicit", with(|s| s.parts.explicit = false)),
        ("implicit", with(|s| s.parts.implicit = false)),
        ("organisational", with(|s| s.parts.organisational = false)),
        ("metadata first", with(|s| s.parts.metadata_first = false)),
        ("compression", with(|s| s.parts.compression = false)),
        ("relations", with(|s| s.anchors = 0)),
        ("finer units", with(|s| s.signals.unit = 0.0)),
        ("paths", with(|s| s.signals.path = 0.0)),
        ("mentions", with(|s| s.signals.mention = 0.0)),
        ("messages", with(|s| s.signals.messages = 0.0)),
        ("activity", with(|s| s.signals.activity = 0.0)),
    ]
}

const HEADER: [&str; 11] =
    ["tasks", "n", "FRR@10", "MR@10", "MP@10", "FRR@20", "MR@20", "packed FRR", "cards", "tokens", "s"];

fn rows(table: &mut Table, outcomes: &[Outcome]) {
    row(table, "all", &outcomes.iter().collect::<Vec<_>>());
    let mut groups: BTreeMap<String, Vec<&Outcome>> = BTreeMap::new();
    for outcome in outcomes {
        groups.entry(format!("repository {}", outcome.task.repo)).or_default().push(outcome);
        groups.entry(format!("source {}", outcome.task.query_source)).or_default().push(outcome);
        let leak = if outcome.task.leak { "a gold stem in the query" } else { "no gold stem in the query" };
        groups.entry(leak.to_owned()).or_default().push(outcome);
    }
    for (name, group) in groups {
        row(table, &name, &group);
    }
}

fn row(table: &mut Table, name: &str, outcomes: &[&Outcome]) {
    let n = outcomes.len().max(1) as f64;
    let gold: usize = outcomes.iter().map(|outcome| outcome.task.gold_files.len()).sum();
    let share = |found: usize, of: usize| found as f64 / of.max(1) as f64;
    let full = |found: &dyn Fn(&Outcome) -> usize| {
        outcomes.iter().filter(|outcome| found(outcome) == outcome.task.gold_files.len()).count() as f64 / n
    };
    let mean = |of: &dyn Fn(&Outcome) -> f64| outcomes.iter().map(|outcome| of(outcome)).sum::<f64>() / n;
    let hits = |most: usize| outcomes.iter().map(|outcome| outcome.hits(most)).sum::<usize>();
    let listed: usize = outcomes.iter().map(|outcome| outcome.package.files.len().min(AT[0])).sum();
    let mut cells = vec![name.to_owned(), outcomes.len().to_string()];
    let shares = [
        full(&|outcome| outcome.hits(AT[0])),
        share(hits(AT[0]), gold),
        share(hits(AT[0]), listed),
        full(&|outcome| outcome.hits(AT[1])),
        share(hits(AT[1]), gold),
        full(&Outcome::packed),
    ];
    cells.extend(shares.iter().map(|share| format!("{share:.3}")));
    cells.push(format!("{:.1}", mean(&|outcome| outcome.package.cards.len() as f64)));
    cells.push(format!("{:.0}", mean(&|outcome| outcome.package.context_tokens as f64)));
    cells.push(format!("{:.2}", mean(&|outcome| outcome.seconds)));
    table.row(cells);
}
