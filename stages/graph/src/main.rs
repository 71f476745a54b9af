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
    let (references, others) = rayon::join(
        || context.read("sources"),
        || {
            Ok::<_, miette::Report>((
                context.read("sources")?,
                context.read("sources")?,
                context.read("sources")?,
            ))
        },
    );
    let references: Vec<Reference> = references?;
    let (files, entities, locals): (Vec<File>, Vec<Entity>, Vec<Local>) = others?;
    let sources = Sources { files: &files, entities: &entities, references: &references, locals: &locals };
    let rows = build(sources, &params);
    let total = rows.edges.len() as u64;
    let output = &*output;
    let (edges, others) = rayon::join(
        || output.write_beside(rows.edges),
        || {
            output.write_beside(rows.ranks)?;
            output.write_beside(rows.modules)?;
            output.write_beside(rows.outcomes.rows())
        },
    );
    edges.and(others)?;
    Ok(Outcome::Complete(Counts { total, generated: total, ..Counts::default() }))
}
