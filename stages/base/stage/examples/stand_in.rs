//! A stage that does as little as the tests of the frame need: with `ALMANAC_TEST_WORK=quick` it
//! writes one file, with `blind` it works without ever looking up, with `minding` until a signal.
//! `ALMANAC_TEST_LEDGER` makes it a stage that keeps records.

use std::process::ExitCode;
use std::time::Duration;

use almanac_catalog::StageSpec;
use almanac_stage::{Context, Counts, Implementation, Outcome, Output};

/// Named after a stage, for its settings.
static IN_ONE_PIECE: StageSpec = StageSpec {
    name: "graph",
    artifact: "graph",
    revision: 1,
    summary: "stands in for a stage",
    reads: &[],
    writes: &[],
    identities: &[],
    ledger: None,
    partial: false,
    levels: &[],
};

static WITH_LEDGER: StageSpec = StageSpec {
    name: "explain",
    artifact: "explanations",
    ledger: Some("explanations"),
    partial: true,
    levels: &[],
    ..IN_ONE_PIECE
};

fn main() -> ExitCode {
    let spec = if std::env::var_os("ALMANAC_TEST_LEDGER").is_some() { &WITH_LEDGER } else { &IN_ONE_PIECE };
    almanac_stage::main(spec, Implementation::without_model(run))
}

fn run(context: &Context, output: &mut Output) -> miette::Result<Outcome> {
    let counts = Counts { total: 5, failed: 2, ..Counts::default() };
    fs_err::write(output.folder().join("data"), [7; 1000]).expect("the staging folder is there");
    match std::env::var("ALMANAC_TEST_WORK").as_deref() {
        Ok("quick") => return Ok(Outcome::Complete(counts)),
        Ok("minding") => {
            while !context.is_interrupted() {
                std::thread::sleep(Duration::from_millis(10));
            }
            return Ok(Outcome::Interrupted(counts));
        }
        _ => {}
    }
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}
