//! `almanac-index`: chunks and vectors to the searchable store.
//!
//! What the files are and how they are read back is `almanac-lookup`'s. This stage must not know
//! either, nor any model.

use std::process::ExitCode;

use almanac_catalog::INDEX;
use almanac_lookup::{Tables, build, use_threads};
use almanac_stage::{Context, Counts, Implementation, Outcome, Output};

fn main() -> ExitCode {
    almanac_stage::main(&INDEX, Implementation::without_model(run))
}

fn run(context: &Context, output: &mut Output) -> miette::Result<Outcome> {
    let tables = Tables {
        files: context.read("sources")?,
        texts: context.read("sources")?,
        entities: context.read("sources")?,
        edges: context.read("graph")?,
        modules: context.read("graph")?,
        ranks: context.read("graph")?,
        explanations: context.read("explanations")?,
        summaries: context.read("summaries")?,
        chunks: context.read("embeddings")?,
    };
    let embeddings = context.read("embeddings")?;
    use_threads(context.threads());
    build(&tables, &embeddings, output.folder())?;
    let total = tables.chunks.len() as u64;
    Ok(Outcome::Complete(Counts { total, generated: total, ..Counts::default() }))
}
