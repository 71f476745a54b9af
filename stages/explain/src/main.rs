//! `almanac-explain`: explanations of symbols, most important first.

use std::process::ExitCode;

use almanac_catalog::EXPLAIN;
use almanac_explain::{Params, Plan, Sources};
use almanac_generation::{ConfiguredModels, Session};
use almanac_stage::{Context, Implementation, Outcome, Output};

fn main() -> ExitCode {
    almanac_stage::main(&EXPLAIN, Implementation { run, model: ConfiguredModels::digest })
}

fn run(context: &Context, output: &mut Output) -> miette::Result<Outcome> {
    let params: Params = context.params()?;
    let session = Session::open(context, EXPLAIN.name)?;
    let template = session.prompt(&params.prompt)?;
    let sources = Sources {
        entities: &context.read("sources")?,
        texts: &context.read("sources")?,
        edges: &context.read("graph")?,
        ranks: &context.read("graph")?,
    };
    let plan = Plan::new(&sources, &template, session.model(), &params)?;
    let generated = session.generate(Some(plan.record_keys()), |tools| {
        Ok(plan.generate(tools.most, tools.model, tools.ledger, tools.limits, tools.progress)?)
    })?;
    if let Some(outcome) = session.interruption(&generated) {
        return Ok(outcome);
    }
    let rows = plan.project(generated.ledger());
    let outcome = session.outcome(&generated, rows.iter().map(|row| row.status));
    output.write(rows)?;
    Ok(outcome)
}
