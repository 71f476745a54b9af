//! `almanac-graph`: references to edges, modules and ranks.

use std::process::ExitCode;

use almanac_catalog::GRAPH;
use almanac_graph::{GraphParams, build};
use almanac_stage::{Context, Counts, Implementation, Outcome, Output};

fn main() -> ExitCode {
    almanac_stage::main(&GRAPH, Implementation::without_model(run))
}

fn run(context: &Context, output: &mut Output) -> miette::Result<Outcome> {
    let params: GraphParams = context.params()?;
    params.check()?;
    let files = context.read("sources")?;
    let entities = context.read("sources")?;
    let references = context.read("sources")?;
    let rows = build(&files, &entities, &references, &params);
    let total = rows.edges.len() as u64;
    output.write(rows.edges)?;
    output.write(rows.modules)?;
    output.write(rows.ranks)?;
    Ok(Outcome::Complete(Counts { total, generated: total, ..Counts::default() }))
}
