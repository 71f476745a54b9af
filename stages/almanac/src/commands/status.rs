//! `almanac status`: one screen about a store.

mod cluster;
mod counts;
mod paper;
mod resolved;
mod runs;

use std::path::{Path, PathBuf};
use std::time::Duration;

use almanac_artifact::Store;
use almanac_freshness::{Gaps, Plan};
use almanac_slurm::RunProgress;
use almanac_stage::{GlobalArguments, RunRecord};
use almanac_terminal::{ExitStatus, Table, format};
use clap::Args;
use serde::Serialize;

use super::plan::{state_word, why};
use crate::project::Project;
use counts::{Counts, Coverage};
use paper::Comparison;

/// Options of `status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// Source tree to compare with; without it the store is judged by itself
    #[arg(long, value_name = "TREE")]
    source: Option<PathBuf>,
    /// Show the runs on a cluster alone, again and again until they are over
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "10")]
    watch: Option<u64>,
}

/// Everything `status` knows; also the object of `--json`.
#[derive(Serialize)]
struct Status {
    store: String,
    profile: String,
    plan: Plan,
    counts: Counts,
    coverage: Vec<Coverage>,
    paper: Vec<Comparison>,
    runs: Vec<RunRecord>,
    cluster: Vec<RunProgress>,
}

pub(crate) fn run(global: &GlobalArguments, arguments: &StatusArguments) -> miette::Result<ExitStatus> {
    let project = Project::open(global, &[])?;
    let store = project.existing_store()?;
    if let Some(seconds) = arguments.watch {
        watch(global, store, Duration::from_secs(seconds.max(1)));
        return Ok(ExitStatus::Done);
    }
    let status = collect(&project, store, arguments.source.as_deref())?;
    if global.json {
        almanac_terminal::data_json(&status);
    } else {
        print(&status);
    }
    Ok(ExitStatus::Done)
}

/// The state of a store in a few lines, for a reader that has little room.
pub(crate) fn summary(project: &Project, source: Option<&Path>) -> miette::Result<String> {
    let status = collect(project, project.existing_store()?, source)?;
    let mut text = format!("Store {}, profile {}\n", status.store, status.profile);
    for stage in &status.plan.stages {
        text.push_str(&format!("  {}: {} {}\n", stage.stage, state_word(stage), why(stage)));
    }
    for (name, count) in status.counts.lines() {
        text.push_str(&format!("  {name}: {count}\n"));
    }
    for line in &status.coverage {
        text.push_str(&format!(
            "  texts of {}: {} done, {} missing, {} failed, {} poorly grounded\n",
            line.level, line.done, line.missing, line.failed, line.poorly_grounded
        ));
    }
    Ok(text)
}

fn collect(project: &Project, store: &Store, source: Option<&Path>) -> miette::Result<Status> {
    let tree = source.map(|source| project.scan(source)).transpose()?;
    let plan = project.plan(tree.as_ref(), &[], &[], Gaps::Show)?;
    let profile = project.settings.profile().to_owned();
    let (counts, coverage) = counts::read(store, &profile, &plan)?;
    Ok(Status {
        store: store.root().to_string_lossy().into_owned(),
        paper: paper::compare(&counts),
        profile,
        plan,
        counts,
        coverage,
        runs: runs::latest(store)?,
        cluster: cluster::runs(store),
    })
}

/// Shows the runs on a cluster until none is at work, or nobody reads on.
fn watch(global: &GlobalArguments, store: &Store, interval: Duration) {
    loop {
        let runs = cluster::runs(store);
        if global.json {
            almanac_terminal::data_json(&runs);
        } else if runs.is_empty() {
            almanac_terminal::data("nothing was submitted for this store");
        } else {
            cluster::print(&runs);
        }
        if runs.iter().all(|run| run.is_over) || almanac_terminal::is_output_closed() {
            return;
        }
        std::thread::sleep(interval);
    }
}

fn print(status: &Status) {
    almanac_terminal::data_line(&format!("store {} · profile {}", status.store, status.profile));
    almanac_terminal::data("");
    print_stages(status);
    print_counts(&status.counts);
    resolved::print(&status.counts.resolved);
    if !status.coverage.is_empty() {
        almanac_terminal::data("");
        let heads = ["generated texts", "done", "missing", "failed", "poorly grounded", "names grounded"];
        let mut table = Table::new(heads).right([1, 2, 3, 4, 5]);
        for line in &status.coverage {
            let numbers = [line.done, line.missing, line.failed, line.poorly_grounded].map(format::count);
            let share = line.grounding.map_or_else(String::new, |share| format!("{:.0} %", share * 100.0));
            table.row([vec![line.level.clone()], numbers.to_vec(), vec![share]].concat());
        }
        table.print();
        for failure in status.coverage.iter().flat_map(|line| &line.failures) {
            almanac_terminal::data_line(&format!("  failed: {failure}"));
        }
        for names in status.coverage.iter().flat_map(|line| &line.made_up) {
            almanac_terminal::data_line(&format!("  poorly grounded: {names}"));
        }
    }
    if !status.paper.is_empty() {
        almanac_terminal::data("");
        let mut table =
            Table::new(["against the paper (IPPL)", "paper", "here", "why they differ"]).right([1, 2]);
        for line in &status.paper {
            table.row([
                line.what.to_owned(),
                format::count(line.paper),
                format::count(line.here),
                line.why.to_owned(),
            ]);
        }
        table.print();
    }
    cluster::print(&status.cluster);
}

fn print_stages(status: &Status) {
    let mut table = Table::new(["stage", "state", "last run", "took", "memory", "why"]).right([3, 4]);
    for stage in &status.plan.stages {
        let run = status.runs.iter().find(|run| run.stage == stage.stage);
        let (last, took, memory) = run.map_or_else(Default::default, |run| {
            (runs::describe(run), format!("{:.1} s", run.seconds), format::bytes(run.peak_memory_bytes))
        });
        table.row([stage.stage.to_owned(), state_word(stage).to_owned(), last, took, memory, why(stage)]);
    }
    table.print();
    for run in status.runs.iter().filter(|run| !run.error.is_empty()) {
        almanac_terminal::data_line(&format!("  {} failed: {}", run.stage, run.error));
    }
}

fn print_counts(counts: &Counts) {
    almanac_terminal::data("");
    let mut table = Table::new(["contents", "count"]).right([1]);
    for (name, count) in counts.lines() {
        table.row([name.to_owned(), format::count(count)]);
    }
    table.print();
    if counts.source_bytes > 0 {
        let share = counts.error_bytes as f64 * 100.0 / counts.source_bytes as f64;
        almanac_terminal::data(&format!(
            "{share:.2} % of {} of code lie in syntax errors of the grammar",
            format::bytes(counts.source_bytes)
        ));
    }
    for file in &counts.unread {
        almanac_terminal::data_line(&format!("  not read: {file}"));
    }
}
