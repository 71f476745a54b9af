//! `almanac models list|get|verify`.

use almanac_generation::ConfiguredModels;
use almanac_inference::models::ModelCatalog;
use almanac_inference::models::{FetchOutcome, FetchPrograms, ModelState, ModelStatus};
use almanac_stage::GlobalArguments;
use almanac_terminal::{ExitStatus, Progress, Table, format};
use clap::{Args, Subcommand};
use serde::Serialize;

/// Options of `models`.
#[derive(Debug, Args)]
pub(crate) struct ModelsArguments {
    #[command(subcommand)]
    action: ModelsAction,
}

#[derive(Debug, Subcommand)]
enum ModelsAction {
    /// Show every model of models.toml and whether it is here
    List,
    /// Fetch models and check their digests
    Get {
        /// Names, as in `models list`; none: the two that the settings name
        names: Vec<String>,
    },
    /// Read every file of these models and compare digests
    Verify {
        /// Names; none: every model that is here
        names: Vec<String>,
    },
}

#[derive(Serialize)]
struct ModelLine<'a> {
    name: &'a str,
    role: &'a str,
    state: &'a str,
    detail: String,
    bytes: Option<u64>,
    folder: String,
}

/// One model of `get` or `verify`, with `--json`.
#[derive(Serialize)]
struct DoneLine<'a> {
    name: &'a str,
    outcome: &'static str,
    files: usize,
    pinned: bool,
    folder: String,
}

pub(crate) fn run(global: &GlobalArguments, arguments: &ModelsArguments) -> miette::Result<ExitStatus> {
    let settings = global.settings(&[])?;
    let models = ConfiguredModels::load(&settings)?;
    match &arguments.action {
        ModelsAction::List => list(global, &models),
        ModelsAction::Get { names } if names.is_empty() => {
            let defaults = [settings.section("models.llm")?, settings.section("models.embedder")?];
            get(global, &models, &defaults)
        }
        ModelsAction::Get { names } => get(global, &models, names),
        ModelsAction::Verify { names } => verify(global, &models, names),
    }
}

fn state_words(state: &ModelState) -> (&'static str, String) {
    match state {
        ModelState::Missing => ("missing", String::new()),
        ModelState::Incomplete { missing } => ("incomplete", format!("no {}", missing.join(", "))),
        ModelState::WrongSize { file, expected, found } => {
            ("wrong size", format!("{file}: {found} bytes, expected {expected}"))
        }
        ModelState::WrongDigest { file } => ("wrong digest", file.clone()),
        ModelState::Present => ("present", String::new()),
        ModelState::Verified => ("verified", String::new()),
    }
}

fn list(global: &GlobalArguments, models: &ConfiguredModels) -> miette::Result<ExitStatus> {
    let statuses: Vec<ModelStatus> = models.catalog().list(models.folder()?)?;
    if global.json {
        let lines: Vec<ModelLine<'_>> = statuses
            .iter()
            .map(|status| {
                let (state, detail) = state_words(&status.state);
                ModelLine {
                    name: &status.name,
                    role: status.role.as_str(),
                    state,
                    detail,
                    bytes: status.size,
                    folder: status.folder.to_string_lossy().into_owned(),
                }
            })
            .collect();
        almanac_terminal::data_json(&lines);
        return Ok(ExitStatus::Done);
    }
    let mut table = Table::new(["model", "role", "size", "state"]).right([2]);
    for status in &statuses {
        let (state, detail) = state_words(&status.state);
        let size = status.size.map(format::bytes).unwrap_or_default();
        let state = if detail.is_empty() { state.to_owned() } else { format!("{state}: {detail}") };
        table.row([status.name.clone(), status.role.as_str().to_owned(), size, state]);
    }
    table.print();
    Ok(ExitStatus::Done)
}

fn get(global: &GlobalArguments, models: &ConfiguredModels, names: &[String]) -> miette::Result<ExitStatus> {
    let catalog: &ModelCatalog = models.catalog();
    for name in names {
        let progress = Progress::start(&format!("fetch {name}"), None, "parts");
        let mut done = 0;
        let outcome = catalog.fetch(name, models.folder()?, &FetchPrograms::default(), &mut |now| {
            progress.set_message(&now.what);
            progress.advance((now.done - done) as u64);
            done = now.done;
        });
        progress.finish();
        let (word, outcome) = match outcome? {
            FetchOutcome::Present => ("Present", "present"),
            FetchOutcome::Fetched => ("Fetched", "fetched"),
        };
        almanac_terminal::status(word, name);
        if global.json {
            let entry = catalog.get(name)?;
            almanac_terminal::data_json(&DoneLine {
                name,
                outcome,
                files: entry.files.len(),
                pinned: entry.is_pinned(),
                folder: entry.folder(models.folder()?).to_string_lossy().into_owned(),
            });
        }
    }
    Ok(ExitStatus::Done)
}

fn verify(
    global: &GlobalArguments,
    models: &ConfiguredModels,
    names: &[String],
) -> miette::Result<ExitStatus> {
    let catalog = models.catalog();
    let mut names = names.to_vec();
    if names.is_empty() {
        let present = catalog.list(models.folder()?)?.into_iter();
        names =
            present.filter(|status| status.state != ModelState::Missing).map(|status| status.name).collect();
    }
    for name in &names {
        let files = catalog.verify(name, models.folder()?)?;
        let pinned = files.iter().all(|file| file.pinned);
        let note = if pinned { "" } else { " (no digest is declared; see models.toml)" };
        almanac_terminal::status("Verified", format!("{name}: {} files{note}", files.len()));
        if global.json {
            almanac_terminal::data_json(&DoneLine {
                name,
                outcome: "verified",
                files: files.len(),
                pinned,
                folder: catalog.get(name)?.folder(models.folder()?).to_string_lossy().into_owned(),
            });
        }
    }
    Ok(ExitStatus::Done)
}
