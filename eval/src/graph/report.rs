//! The tables.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use crate::error::Error;
use crate::graph::calls;
use crate::graph::definitions;
use crate::graph::tally::{Comparison, Mismatch, Tally};

/// What was measured on one corpus.
#[derive(Debug, Serialize)]
pub(crate) struct CorpusReport {
    pub(crate) name: String,
    pub(crate) about: String,
    /// Files and lines that the compiler read.
    pub(crate) files: usize,
    pub(crate) definitions: Vec<Row>,
    pub(crate) definitions_unjudged: usize,
    pub(crate) calls: Vec<Row>,
    pub(crate) calls_unjudged: usize,
}

/// One row: a construct.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) tally: Tally,
    pub(crate) precision: Option<f64>,
    pub(crate) recall: Option<f64>,
}

const DEFINITION_ROWS: &[&str] = &[
    definitions::ALL,
    definitions::NAME_AND_LINE,
    "function",
    "free",
    "member",
    "overload",
    "template",
    "out-of-line",
    "operator",
    "constructor",
    "destructor",
    "conversion",
    "virtual",
    "macro",
    "lambda",
    "class, struct, union",
    "enumeration",
    "(function declared)",
    "(alias)",
    "(enumerator)",
    "(variable, data member)",
    "(macro)",
];

const CALL_ROWS: &[&str] = &[
    calls::ALL,
    calls::UNAMBIGUOUS,
    calls::IN_SIGHT,
    calls::NO_MACROS,
    calls::SETTLED,
    "free",
    "member",
    "overload",
    "template",
    "out-of-line",
    "operator",
    "constructor",
    "virtual",
    "macro",
    "lambda",
    "launch",
    "dependent",
];

/// Rows of one comparison in the order of the table.
fn rows(comparison: &Comparison, names: &[&str]) -> Vec<Row> {
    let row = |name: &&str| {
        let tally = comparison.rows.get(*name).copied()?;
        Some(Row { name: (*name).to_owned(), tally, precision: tally.precision(), recall: tally.recall() })
    };
    names.iter().filter_map(row).collect()
}

impl CorpusReport {
    pub(crate) fn new(
        name: &str,
        about: &str,
        files: usize,
        definitions: &Comparison,
        calls: &Comparison,
    ) -> Self {
        Self {
            name: name.to_owned(),
            about: about.to_owned(),
            files,
            definitions: rows(definitions, DEFINITION_ROWS),
            definitions_unjudged: definitions.unjudged,
            calls: rows(calls, CALL_ROWS),
            calls_unjudged: calls.unjudged,
        }
    }
}

const HEAD: &str = "# Results\n\n\
    Made by `almanac-eval graph`; [README.md](README.md) says what is counted. Each cell holds precision / recall \
    and, in brackets, how many are in the truth; `·` where nothing was said or asked.\n\n";

/// The whole document.
pub(crate) fn markdown(reports: &[CorpusReport]) -> String {
    let mut text = HEAD.to_owned();
    for (title, pick) in [
        ("Definitions", (|report| &report.definitions) as fn(&CorpusReport) -> &Vec<Row>),
        ("Call edges", |report| &report.calls),
    ] {
        let _ = writeln!(text, "## {title}\n");
        summary(&mut text, reports, pick);
        constructs(&mut text, reports, pick);
    }
    text
}

/// One line a corpus, and the mean.
fn summary(text: &mut String, reports: &[CorpusReport], pick: fn(&CorpusReport) -> &Vec<Row>) {
    let _ =
        writeln!(text, "| corpus | files read | in the truth | precision | recall |\n|---|--:|--:|--:|--:|");
    let mut means = [Vec::new(), Vec::new()];
    for report in reports {
        let Some(all) = pick(report).iter().find(|row| row.name == "all") else { continue };
        let wanted = all.tally.wanted;
        let (precision, recall) = (share(all.precision), share(all.recall));
        let _ = writeln!(text, "| {} | {} | {wanted} | {precision} | {recall} |", report.name, report.files);
        means[0].extend(all.precision);
        means[1].extend(all.recall);
    }
    let mean =
        |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let _ = writeln!(
        text,
        "| **mean** | | | **{}** | **{}** |\n",
        share(mean(&means[0])),
        share(mean(&means[1]))
    );
}

/// Precision / recall of each construct in each corpus.
fn constructs(text: &mut String, reports: &[CorpusReport], pick: fn(&CorpusReport) -> &Vec<Row>) {
    let order = [DEFINITION_ROWS, CALL_ROWS]
        .into_iter()
        .find(|rows| reports.iter().any(|report| pick(report).iter().any(|row| row.name == rows[1])));
    let names = reports.iter().map(|report| report.name.as_str()).collect::<Vec<_>>().join(" | ");
    let _ = writeln!(text, "| precision / recall (in the truth) | {names} |");
    let _ = writeln!(text, "|---|{}", "--:|".repeat(reports.len()));
    for name in order.into_iter().flatten() {
        let cells: Vec<String> = reports
            .iter()
            .map(|report| pick(report).iter().find(|row| row.name == *name).map_or_else(String::new, cell))
            .collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
        }
    }
    text.push('\n');
}

fn cell(row: &Row) -> String {
    format!("{} / {} ({})", share(row.precision), share(row.recall), row.tally.wanted)
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "·".to_owned(), |value| format!("{value:.3}"))
}

/// Writes differences as a table with tabs.
pub(crate) fn write_mismatches(path: &Path, rows: &[Mismatch]) -> Result<(), Error> {
    let mut text = "place\texpected\tfound\tconstructs\n".to_owned();
    for row in rows {
        let _ = writeln!(text, "{}:{}\t{}\t{}\t{}", row.path, row.line, row.expected, row.found, row.tags);
    }
    fs_err::write(path, text).map_err(|source| Error::Copy { path: path.to_owned(), source })
}
