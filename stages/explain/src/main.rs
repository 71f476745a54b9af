//! `almanac-explain`: explanations of symbols, most important first.

use std::process::ExitCode;

use almanac_artifact::{Ledger, Store};
use almanac_catalog::{EXPLAIN, GRAPH, PARSE};
use almanac_explain::import::{Known, Report, read, records};
use almanac_explain::{Params, Plan, Sources};
use almanac_generation::{ConfiguredModels, RowState, Session};
use almanac_stage::{Context, GlobalArguments, Implementation, ImportArguments, Outcome, Output};
use almanac_tables::{Explanation, GenerationRecord, Imported, RecordStatus};

fn main() -> ExitCode {
    almanac_stage::main(
        &EXPLAIN,
        Implementation { run, model: ConfiguredModels::digest, import: Some(import) },
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

/// `almanac-explain import`: texts of a file into the store's ledger of imported ones.
fn import(global: &GlobalArguments, arguments: &ImportArguments) -> miette::Result<()> {
    let settings = global.settings(&[])?;
    let store = Store::open(&global.store_folder()?)?;
    let file = read(&arguments.file)?;
    let sources = store.current(settings.profile(), PARSE.artifact, PARSE.name)?;
    let graph = store.current(settings.profile(), GRAPH.artifact, GRAPH.name)?;
    let known = Known {
        files: &sources.read()?,
        texts: &sources.read()?,
        entities: &sources.read()?,
        modules: &graph.read()?,
    };
    let ledger: Ledger<GenerationRecord> = store.ledger(Imported::LEDGER)?;
    let (records, report) = records(&file, &known, &ledger);
    let mut writer = ledger.writer();
    records.into_iter().for_each(|record| writer.append(record));
    writer.finish()?;
    if global.json {
        almanac_terminal::data_json(&report);
    }
    tell(&report);
    Ok(())
}

fn tell(report: &Report) {
    const SHOWN: usize = 5;
    let Report { lines, added, present, unmatched } = report;
    for line in unmatched.iter().take(SHOWN) {
        almanac_terminal::note(format!("line {}, {}: {}", line.line, line.subject, line.reason));
    }
    if unmatched.len() > SHOWN {
        let more = unmatched.len() - SHOWN;
        almanac_terminal::note(format!("and {more} more lines were not used; --json lists them"));
    }
    let then = if *added > 0 { "; `almanac build` takes them up" } else { "" };
    let unused = unmatched.len();
    almanac_terminal::status(
        "Imported",
        format!("{added} texts of {lines} lines, {present} were there, {unused} match nothing{then}"),
    );
}
