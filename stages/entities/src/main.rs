//! `almanac-entities`: summaries of files, modules and call chains.

use std::process::ExitCode;

use almanac_catalog::ENTITIES;
use almanac_entities::{Params, Plan, Prompts, Sources};
use almanac_generation::{ConfiguredModels, Session};
use almanac_stage::{Context, Implementation, Outcome, Output};
use almanac_tables::EntityLevel;

fn main() -> ExitCode {
    almanac_stage::main(&ENTITIES, Implementation { run, model: ConfiguredModels::digest })
}

fn run(context: &Context, output: &mut Output) -> miette::Result<Outcome> {
    let params: Params = context.params()?;
    let session = Session::open(context, ENTITIES.name)?;
    let prompts = Prompts {
        file: session.prompt(&params.file_prompt)?,
        file_fallback: session.prompt(&params.file_fallback_prompt)?,
        module: session.prompt(&params.module_prompt)?,
        call_chain: session.prompt(&params.call_chain_prompt)?,
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
    let plan = Plan::new(&sources, &prompts, session.model(), &params);
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
    let outcome = session.outcome(&generated, rows.iter().map(|row| row.status));
    output.write(rows)?;
    Ok(outcome)
}
