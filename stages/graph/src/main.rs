//! `almanac-graph`: references to edges, modules and ranks.

use std::process::ExitCode;

use almanac_catalog::GRAPH;
use almanac_graph::{GraphParams, Sources, build};
use almanac_stage::{Context, Counts, Implementation, Outcome, Output};
use almanac_tables::{Entity, File, Local, Reference};

/// Trees of syntax and tables of names are many small pieces: allocating is a good part of the work.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    almanac_stage::main(&GRAPH, Implementation::without_model(run))
}

fn run(context: &Context, output: &mut Output) -> miette::Result<Outcome> {
    let params: GraphParams = context.params()?;
    params.check()?;
    let files: Vec<File> = context.read("sources")?;
    let entities: Vec<Entity> = context.read("sources")?;
    let references: Vec<Reference> = context.read("sources")?;
    let locals: Vec<Local> = context.read("sources")?;
    let sources = Sources { files: &files, entities: &entities, references: &references, locals: &locals };
    let rows = build(sources, &params);
    let total = rows.edges.len() as u64;
    output.write(rows.edges)?;
    output.write(rows.modules)?;
    output.write(rows.ranks)?;
    output.write(rows.outcomes.rows())?;
    Ok(Outcome::Complete(Counts { total, generated: total, ..Counts::default() }))
}
