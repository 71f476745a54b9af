//! `almanac-parse`: a source tree to files, texts, entities and references.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use almanac_artifact::{Artifact, Digest};
use almanac_catalog::PARSE;
use almanac_freshness::tree::TreeFile;
use almanac_parse::{Error, ParseParams, ParseRun, Previous, ReadSettings, TreeInput, parse_tree};
use almanac_stage::{Context, Counts, Implementation, Outcome, Output};
use almanac_tables::FileStatus;

/// Trees of syntax and tables of names are many small pieces: allocating is a good part of the work.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    almanac_stage::main(&PARSE, Implementation::without_model(run))
}

fn run(context: &Context, output: &mut Output) -> miette::Result<Outcome> {
    let params: ParseParams = context.params()?;
    params.check()?;
    let tree = context.tree()?;
    let inputs: Vec<TreeInput> =
        tree.files.iter().map(|file| input(file, params.tree.max_file_bytes)).collect();
    // Rows depend on the files alone: a changed tree is what reuse is for.
    let previous = match context.reusable_previous(output.parts(), &["tree"]) {
        Some(artifact) => previous_rows(artifact).unwrap_or_else(|error| {
            almanac_terminal::warning(format!("earlier rows cannot be taken over: {error}"));
            Previous::default()
        }),
        None => Previous::default(),
    };
    // Rows must be those of the digests in the key: a tree that changes meanwhile gives none.
    let changed = Mutex::new(None);
    let digests: BTreeMap<&str, Option<Digest>> =
        tree.files.iter().map(|file| (file.path.as_str(), file.digest)).collect();
    let load = |path: &str| {
        let loaded = fs_err::read(tree.absolute(path));
        let found = loaded.as_deref().ok().map(Digest::of_bytes);
        if found != digests.get(path).copied().flatten() {
            *changed.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_owned());
        }
        loaded
    };
    let run = ParseRun { threads: context.threads() };
    let settings = ReadSettings { params: &params, run, interrupted: context.interrupted() };
    let rows = match parse_tree(&inputs, &load, previous, settings) {
        Err(Error::Interrupted) => return Ok(Outcome::Interrupted(Counts::default())),
        rows => rows?,
    };
    if let Some(path) = changed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(Error::TreeChanged { path }.into());
    }
    let failed = rows.files.iter().filter(|file| file.status == FileStatus::Unreadable).count() as u64;
    let counts = Counts {
        total: rows.files.len() as u64,
        reused: rows.reused,
        generated: rows.parsed,
        failed,
        ..Counts::default()
    };
    let output = &*output;
    let (texts, others) = rayon::join(
        || output.write_beside(rows.texts).and_then(|()| output.write_beside(rows.entities)),
        || {
            output.write_beside(rows.references)?;
            output.write_beside(rows.files)?;
            output.write_beside(rows.locals)
        },
    );
    texts.and(others)?;
    Ok(Outcome::Complete(counts))
}

fn previous_rows(artifact: &Artifact) -> almanac_artifact::Result<Previous> {
    Ok(Previous::new(
        artifact.read()?,
        artifact.read()?,
        artifact.read()?,
        artifact.read()?,
        artifact.read()?,
    ))
}

fn input(file: &TreeFile, max_file_bytes: u64) -> TreeInput {
    let problem = file.digest.is_none().then(|| {
        let too_large = file.bytes > max_file_bytes;
        let status = if too_large { FileStatus::TooLarge } else { FileStatus::Unreadable };
        (status, file.problem.clone())
    });
    TreeInput {
        path: file.path.clone(),
        bytes: file.bytes,
        digest: file.digest.map(|digest| digest.to_string()).unwrap_or_default(),
        problem,
    }
}
