//! `almanac-explain`: explanations of symbols, most important first.

use std::process::ExitCode;

use almanac_catalog::EXPLAIN;
use almanac_explain::{Params, Plan, Sources, import};
use almanac_generation::{ConfiguredModels, RowState, Session};
use almanac_stage::{Context, Implementation, Outcome, Output};
use almanac_tables::{Explanation, Imported, RecordStatus};

fn main() -> ExitCode {
    almanac_stage::main(
        &EXPLAIN,
        Implementation { run, model: ConfiguredModels::digest, import: Some(import::run) },
    )
}

fn run(context: &Context, output: &mut Output) -> miette::Result<Outcome> {
    let mut params: Params = context.params()?;
    let session = Session::open(context, EXPLAIN.name)?;
    params.context_tokens = session.context_tokens(params.context_tokens)?;
    let template = session.prompt(&params.prompt, params.format)?;
    let sources = Sources {
        entities: &context.read("sources")?,
        texts: &context.read("sources")?,
        edges: &context.read("graph")?,
        ranks: &context.read("graph")?,
    };
    let imported = if params.imported { context.imported()? } else { Imported::none() };
    let plan = Plan::new(&sources, &template, session.model(), &params, &imported)?;
    let generated = session.generate(Some(plan.record_keys()), |tools| {
        Ok(plan.generate(tools.most, tools.model, tools.ledger, tools.limits, tools.progress)?)
    })?;
    if let Some(outcome) = session.interruption(&generated) {
        return Ok(outcome);
    }
    let rows = plan.project(generated.ledger());
    let before = context.previous_rows::<Explanation>().into_iter();
    let before = before.filter(|row| matches!(row.status, RecordStatus::Done | RecordStatus::Failed));
    let before = before.map(|row| (row.entity_id, row.record_key)).collect();
    let states = rows.iter().map(|row| RowState {
        subject: &row.entity_id,
        status: row.status,
        record_key: &row.record_key,
        poorly_grounded: row.poorly_grounded,
    });
    let outcome = session.outcome(&generated, &before, states);
    output.write(rows)?;
    Ok(outcome)
}
