//! `almanac plan`.

mod work;

use std::path::PathBuf;

use almanac_catalog::PIPELINE;
use almanac_freshness::{Gaps, Plan, Reason, StagePlan, State};
use almanac_stage::GlobalArguments;
use almanac_terminal::{ExitStatus, Table};
use clap::Args;
use serde::Serialize;

use super::build::TextLimits;
use crate::project::Project;
use work::StageWork;

/// Options of `plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// Source tree to compare with; without it only settings, models and artifacts are compared
    #[arg(long, value_name = "TREE")]
    source: Option<PathBuf>,
    #[command(flatten)]
    limits: TextLimits,
    /// Read every byte of every artifact, not only its length
    #[arg(long)]
    verify: bool,
    /// Exit with 10 when something would run
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(global: &GlobalArguments, arguments: &PlanArguments) -> miette::Result<ExitStatus> {
    let assignments = arguments.limits.assignments();
    let project = Project::open(global, &assignments)?;
    let tree = arguments.source.as_deref().map(|source| project.scan(source)).transpose()?;
    let verified: Vec<&str> = PIPELINE.iter().filter(|_| arguments.verify).map(|stage| stage.name).collect();
    let plan = project.plan(tree.as_ref(), &[], &verified, Gaps::Fill)?;
    let work = work::of(global, &project, &assignments, &plan, tree.as_ref());
    if global.json {
        almanac_terminal::data_json(&Report { plan: &plan, work: &work });
    } else {
        print(&plan, &work);
    }
    let stale = arguments.check && !plan.is_fresh();
    Ok(if stale { ExitStatus::Stale } else { ExitStatus::Done })
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    plan: &'a Plan,
    /// What the stages with a language model would make.
    work: &'a [StageWork],
}

fn print(plan: &Plan, work: &[StageWork]) {
    let mut table = Table::new(["stage", "state", "why"]);
    for stage in &plan.stages {
        table.row([stage.stage.to_owned(), state_word(stage).to_owned(), why(stage)]);
    }
    table.print();
    for stage in work {
        almanac_terminal::data_line(&stage.line());
    }
    almanac_terminal::data(&summary(plan));
}

/// State in a word, with gaps said.
pub(crate) fn state_word(stage: &StagePlan) -> &'static str {
    match stage.state {
        State::Fresh if stage.complete => "fresh",
        State::Fresh => "fresh, with gaps",
        State::Stale => "stale",
        State::Pending => "pending",
    }
}

/// All reasons in one line.
pub(crate) fn why(stage: &StagePlan) -> String {
    stage.reasons.iter().map(Reason::to_string).collect::<Vec<_>>().join("; ")
}

fn summary(plan: &Plan) -> String {
    let count = |state| plan.stages.iter().filter(|stage| stage.state == state).count();
    let (stale, pending) = (count(State::Stale), count(State::Pending));
    if stale + pending == 0 {
        "nothing to run".to_owned()
    } else {
        format!("{stale} to run, {pending} waiting for what they write")
    }
}
