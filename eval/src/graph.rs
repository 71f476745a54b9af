//! `almanac-eval graph`: what parse and graph say, against what a compiler sees.
//!
//! The truth comes from `eval/truth/`, a program of its own; this part prepares the trees, runs the
//! stages and compares. `eval/graph/README.md` says what is counted.

mod calls;
mod corpora;
mod definitions;
mod found;
mod names;
mod report;
mod tally;
mod truth;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::Command;

use almanac_artifact::Digest;
use almanac_terminal::ExitStatus;
use clap::Args;

use crate::error::Error;
use crate::graph::corpora::{Corpora, Corpus, Folders, files_below, prepare, run};
use crate::graph::found::Found;
use crate::graph::report::{CorpusReport, markdown, write_mismatches};
use crate::graph::truth::Truth;

/// Options of `graph`.
#[derive(Debug, Args)]
pub(crate) struct GraphArguments {
    /// Only this corpus; repeatable [default: all]
    #[arg(long, value_name = "NAME")]
    corpus: Vec<String>,
    /// Where trees, stores and truths are kept
    #[arg(long, value_name = "DIR", default_value = "graph-evaluation")]
    work: PathBuf,
    /// Folder with almanac-parse and almanac-graph [default: this program's]
    #[arg(long, value_name = "DIR")]
    bin: Option<PathBuf>,
    /// Top of the repository, where eval/graph/corpora.toml is
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/.."))]
    repository: PathBuf,
    /// Write the differences here, one table for each corpus and kind
    #[arg(long, value_name = "DIR")]
    mismatches: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Measures every corpus that is asked for and prints the tables.
pub(crate) fn measure(arguments: &GraphArguments) -> miette::Result<ExitStatus> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folders = Folders { repository: absolute(&arguments.repository), work: absolute(&arguments.work) };
    let corpora = Corpora::read(&folders.evaluation().join("corpora.toml"))?;
    for name in &arguments.corpus {
        if !corpora.corpus.iter().any(|corpus| corpus.name == *name) {
            return Err(Error::NoCorpus { name: name.clone() }.into());
        }
    }
    let mut reports = Vec::new();
    for corpus in &corpora.corpus {
        if arguments.corpus.is_empty() || arguments.corpus.contains(&corpus.name) {
            almanac_terminal::status("measuring", &corpus.name);
            reports.push(measure_one(corpus, &corpora, &folders, arguments)?);
        }
    }
    if arguments.json {
        almanac_terminal::data_json(&reports);
    } else {
        almanac_terminal::data(markdown(&reports).trim_end());
    }
    Ok(ExitStatus::Done)
}

fn measure_one(
    corpus: &Corpus,
    corpora: &Corpora,
    folders: &Folders,
    arguments: &GraphArguments,
) -> miette::Result<CorpusReport> {
    prepare(corpus, folders)?;
    let truth = Truth::read(&extract(corpus, corpora, folders)?)?;
    let found = Found::read(&build(corpus, folders, arguments.bin.as_deref())?)?;
    let definitions = definitions::compare(&truth, &found);
    let calls = calls::compare(&truth, &found);
    if let Some(folder) = &arguments.mismatches {
        fs_err::create_dir_all(folder).map_err(|source| Error::Copy { path: folder.clone(), source })?;
        for (what, comparison) in [("definitions", &definitions), ("calls", &calls)] {
            let file = |kind: &str| folder.join(format!("{}.{what}.{kind}.tsv", corpus.name));
            write_mismatches(&file("missing"), &comparison.missing)?;
            write_mismatches(&file("wrong"), &comparison.wrong)?;
        }
    }
    Ok(CorpusReport::new(&corpus.name, &corpus.about, truth.files.len(), &definitions, &calls))
}

/// The truth of a corpus; made anew only when the extractor, the flags or a source changed.
fn extract(corpus: &Corpus, corpora: &Corpora, folders: &Folders) -> Result<PathBuf, Error> {
    let tree = folders.tree(corpus);
    let drivers = folders.evaluation().join("drivers");
    let unit = |file: PathBuf, own: &[String]| {
        let flags: Vec<String> =
            corpus.flags.iter().chain(own).map(|flag| folders.flag(flag, corpus)).collect();
        serde_json::json!({ "file": file, "flags": flags })
    };
    let units: Vec<serde_json::Value> = corpus
        .units
        .iter()
        .map(|file| unit(tree.join(file), &[]))
        .chain(corpus.drivers.iter().map(|driver| unit(drivers.join(&driver.file), &driver.flags)))
        .collect();
    let description = serde_json::json!({
        "root": tree, "clang": corpora.clang, "units": units,
    });
    let extractor = folders.repository.join("eval/truth");
    let key = Digest::of(|encoder| {
        encoder.text(&description.to_string());
        for folder in [&extractor, &tree, &drivers] {
            for (path, bytes) in files_below(folder) {
                encoder.text(&path).bytes(&bytes);
            }
        }
    });
    let output = folders.of(corpus).join(format!("truth-{}.jsonl", key.short()));
    if output.is_file() {
        return Ok(output);
    }
    let write = |path: &Path, text: String| {
        fs_err::write(path, text).map_err(|source| Error::Copy { path: path.to_owned(), source })
    };
    let request = folders.of(corpus).join("request.json");
    write(&request, format!("{description:#}\n"))?;
    let unfinished = output.with_extension("unfinished");
    run(Command::new("python3").arg("-B").arg(extractor.join("extract.py")).args([&request, &unfinished]))
        .map_err(|what| Error::Extractor { corpus: corpus.name.clone(), what })?;
    fs_err::rename(&unfinished, &output).map_err(|source| Error::Copy { path: output.clone(), source })?;
    Ok(output)
}

/// Runs parse and graph on a corpus; gives the store. It is always a new one: a stage under work may
/// give other rows under the same key.
fn build(corpus: &Corpus, folders: &Folders, bin: Option<&Path>) -> Result<PathBuf, Error> {
    let own = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    let bin = bin.map(Path::to_owned).or(own).unwrap_or_default();
    let store = folders.of(corpus).join("store");
    if store.exists() {
        fs_err::remove_dir_all(&store).map_err(|source| Error::Copy { path: store.clone(), source })?;
    }
    let stage = |name: &str, arguments: &[&str]| {
        let mut command = Command::new(bin.join(name));
        command.arg("run").args(arguments).arg("--store").arg(&store).args(["-q", "--no-progress"]);
        run(&mut command).map_err(|what| Error::Stage { stage: name.to_owned(), what })
    };
    let tree = folders.tree(corpus);
    stage("almanac-parse", &["--source", &tree.to_string_lossy()])?;
    stage("almanac-graph", &[])?;
    Ok(store)
}
