//! `almanac-eval`: measures what `almanac` finds: retrieval and task contexts against gold sets, parse and
//! graph against a compiler, the parser against the plain grammar.
//!
//! Of retrieval it sees questions, gold files and facts, and results; of the graph the rows of a store.
//! It must not know how any of them works.

mod error;
mod gold;
mod graph;
mod score;
mod speed;
mod syntax;
mod tasks;

use std::path::PathBuf;
use std::process::ExitCode;

use almanac_stage::{parse_arguments, require_processor};
use almanac_terminal::{ExitStatus, Table};
use clap::{CommandFactory, Parser, Subcommand};

use gold::{Question, ResultLine, read_questions, read_results};
use score::{Scores, score};

/// Measure retrieval against gold sets
#[derive(Debug, Parser)]
#[command(name = "almanac-eval")]
struct Eval {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print a question set as input for `almanac search --batch`
    Questions {
        /// JSON list of {id, category, question, gold_files, acceptable_files, facts}
        gold: PathBuf,
    },
    /// Count what the parser cannot place in source trees, plain and as the parse stage reads them
    Syntax {
        /// Source trees, each as FOLDER or NAME=FOLDER
        #[arg(required = true)]
        trees: Vec<String>,
        /// Name this many files with most bytes in ERROR nodes
        #[arg(long, default_value_t = 0)]
        worst: usize,
        /// Show this many lines of each that begin with an error
        #[arg(long, default_value_t = 3)]
        lines: usize,
        /// Print what the grammar sees of this file of the first tree, a FOLDER, and nothing else
        #[arg(long, value_name = "PATH")]
        show: Option<String>,
    },
    /// Time parse and graph against the bare C++ grammar over the same files
    Speed {
        /// Source trees
        #[arg(required = true)]
        trees: Vec<String>,
        /// Runs of each; medians are shown
        #[arg(long, default_value_t = 5)]
        runs: usize,
    },
    /// Compare definitions and calls of the graph with what a compiler sees, on code that compiles here
    Graph(graph::GraphArguments),
    /// Run the context of tasks over git objects and score it against the files their changes touched
    Tasks(tasks::TasksArguments),
    /// Score results of `almanac search --batch` against a question set
    Score {
        /// The question set
        gold: PathBuf,
        /// JSON lines {id, files, context, seconds}
        results: PathBuf,
        /// One line a category, too
        #[arg(long)]
        per_category: bool,
        /// Name the gold files and facts that were missed
        #[arg(long)]
        misses: bool,
        /// Cut each context to this many tokens (of four characters) first
        #[arg(long, value_name = "TOKENS")]
        max_tokens: Option<usize>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    almanac_terminal::main(|| {
        require_processor()?;
        let eval: Eval = match parse_arguments(Eval::command()) {
            Ok(eval) => eval,
            Err(status) => return Ok(status),
        };
        match eval.verb {
            Verb::Questions { gold } => {
                for question in read_questions(&gold)? {
                    let line = serde_json::json!({ "id": question.id, "query": question.question });
                    almanac_terminal::data_json(&line);
                }
            }
            Verb::Syntax { trees, show: Some(path), .. } => {
                let folder = trees.first().map(std::path::Path::new).unwrap_or(std::path::Path::new("."));
                almanac_terminal::data(&syntax::show(folder, &path)?);
            }
            Verb::Syntax { trees, worst, lines, show: None } => {
                let corpora =
                    trees.iter().map(|tree| syntax::measure(tree)).collect::<miette::Result<Vec<_>>>()?;
                syntax::print(&corpora, worst, lines);
            }
            Verb::Speed { trees, runs } => {
                let costs = trees
                    .iter()
                    .map(|tree| speed::measure(tree, runs))
                    .collect::<miette::Result<Vec<_>>>()?;
                speed::print(&costs);
            }
            Verb::Graph(arguments) => return graph::measure(&arguments),
            Verb::Tasks(arguments) => return tasks::measure(&arguments),
            Verb::Score { gold, results, per_category, misses, max_tokens, json } => {
                let questions = read_questions(&gold)?;
                let results = read_results(&results)?;
                let scores = score(&questions, &results, max_tokens);
                if json {
                    almanac_terminal::data_json(&scores);
                } else {
                    print(&scores, per_category, misses);
                }
            }
        }
        Ok(ExitStatus::Done)
    })
}

fn print(scores: &Scores, per_category: bool, misses: bool) {
    let header = ["set", "n", "FRR", "pair FRR", "MR", "MP", "facts", "tokens", "p50 ms"];
    let mut table = Table::new(header).right(1..header.len());
    let categories = scores.categories.iter().filter(|_| per_category);
    for line in std::iter::once(&scores.all).chain(categories) {
        let shares = [line.frr, line.pair_frr, line.micro_recall, line.micro_precision, line.facts];
        let mut cells = vec![line.name.clone(), line.questions.to_string()];
        cells.extend(shares.iter().map(|share| format!("{share:.3}")));
        cells.push(format!("{:.0}", line.context_tokens));
        cells.push(line.median_seconds.map(|s| format!("{:.0}", s * 1e3)).unwrap_or_default());
        table.row(cells);
    }
    table.print();
    for missed in scores.missed.iter().filter(|_| misses) {
        almanac_terminal::data(&format!("{} files {:?} facts {:?}", missed.id, missed.files, missed.facts));
    }
}
