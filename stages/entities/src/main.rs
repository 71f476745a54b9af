//! `almanac-entities`: summaries of files, modules and call chains.

use std::process::ExitCode;

use almanac_catalog::ENTITIES;
use almanac_entities::{Params, Plan, Prompts, Sources};
use almanac_generation::{ConfiguredModels, RowState, Session};
use almanac_stage::{Context, Implementation, Outcome, Output};
use almanac_tables::{EntityLevel, Imported, RecordStatus, Summary};

fn main() -> ExitCode {
    almanac_stage::main(&ENTITIES, Implementation { run, model: ConfiguredModels::digest, import: None })
}

fn run(context: &Context, output: &mut Output) -> miette::Result<Outcome> {
    let mut params: Params = context.params()?;
    let session = Session::open(context, ENTITIES.name)?;
    params.context_tokens = session.context_tokens(params.context_tokens)?;
    let prompt = |mode: &str| session.prompt(mode, params.format);
    let prompts = Prompts {
        file: prompt(&params.file_prompt)?,
        file_fallback: prompt(&params.file_fallback_prompt)?,
        module: prompt(&params.module_prompt)?,
        call_chain: prompt(&params.call_chain_prompt)?,
    };
    let sources = Sources {
        files: &context.read("sources")?,
        texts: &context.read("sources")?,
        entities: &context.read("sources")?,
        edges: &context.read("graph")?,
        modules: &context.read("graph")?,
        ranks: &context.read("graph")?,
        explanations: &context.read("explanations")?,
    };
    let imported = if params.imported { context.imported()? } else { Imported::none() };
    let plan = Plan::new(&sources, &prompts, session.model(), &params, &imported);
    let plan = match context.level() {
        Some("files") => plan.only(EntityLevel::File),
        Some("modules") => plan.only(EntityLevel::Module),
        Some(_) => plan.only(EntityLevel::CallChain),
        None => plan,
    };
    let generated = session.generate(None, |tools| {
        Ok(plan.generate(tools.most, tools.model, tools.ledger, tools.limits, tools.progress)?)
    })?;
    if let Some(outcome) = session.interruption(&generated) {
        return Ok(outcome);
    }
    if context.level().is_some() {
        return Ok(session.share_outcome(&generated));
    }
    let rows = plan.project(generated.ledger())?;
    let before = context.previous_rows::<Summary>().into_iter();
    let before = before.filter(|row| matches!(row.status, RecordStatus::Done | RecordStatus::Failed));
    let before = before.map(|row| (row.id, row.record_key)).collect();
    let states = rows.iter().map(|row| RowState {
        subject: &row.id,
        status: row.status,
        record_key: &row.record_key,
        poorly_grounded: row.poorly_grounded,
    });
    let outcome = session.outcome(&generated, &before, states);
    output.write(rows)?;
    Ok(outcome)
}
