//! `almanac ask`.

use std::cell::Cell;

use almanac_answer::{Answer, AnswerSettings, answer, context_budget};
use almanac_inference::{IS_CPU, LanguageModel};
use almanac_stage::{GlobalArguments, within};
use almanac_terminal::ExitStatus;
use clap::Args;
use serde::Serialize;

use crate::knowledge::{Knowledge, answering_model};
use crate::project::{AskedStore, Project};

/// Options of `ask`.
#[derive(Debug, Args)]
pub(crate) struct AskArguments {
    #[command(flatten)]
    asked: AskedStore,
    /// The question
    question: String,
    /// Most tokens of evidence [default: retrieval.budget_tokens, on a processor at most answer.processor_budget_tokens]
    #[arg(long, value_name = "TOKENS", value_parser = within("retrieval.budget_tokens"))]
    budget: Option<u64>,
    /// Print the context that the model sees, too
    #[arg(long)]
    debug: bool,
}

/// The object of `--json`.
#[derive(Serialize)]
struct AskReport<'a> {
    query: &'a str,
    model: &'a str,
    #[serde(rename = "text")]
    answer: &'a str,
    sources: &'a [almanac_answer::Source],
    unsupported: &'a [String],
    files: &'a [String],
    context_tokens: usize,
    prompt_tokens: usize,
    completion_tokens: usize,
    cut: bool,
    seconds: f64,
}

pub(crate) fn run(global: &GlobalArguments, arguments: &AskArguments) -> miette::Result<ExitStatus> {
    let project = Project::asked(global, &arguments.asked)?;
    let settings: AnswerSettings = project.settings.section("answer")?;
    let prompt = project.settings.prompt(&settings.prompt)?;
    let knowledge = Knowledge::open(&project)?;
    let name = answering_model(&project.settings)?;
    almanac_terminal::status("Loading", &name);
    let model = project.models.language_model(&name, 1)?;
    let question = &arguments.question;
    let wanted = arguments.budget.and_then(|budget| usize::try_from(budget).ok());
    let wanted = wanted.unwrap_or_else(|| settings.budget_here(knowledge.settings.budget_tokens));
    let budget = context_budget(&model, &prompt.text, question, &settings)?.min(wanted);
    // An error of the tokenizer here would have shown in `context_budget`.
    let count = |text: &str| model.count_tokens(text).unwrap_or(text.len());
    let found = knowledge.search(question, Some(budget), Some(&count))?;
    if arguments.debug {
        almanac_terminal::note(&found.context);
    }
    almanac_terminal::status(
        "Reading",
        format!("{} tokens of {} files", found.context_tokens, found.files.len()),
    );
    if IS_CPU && found.evidence && !global.json {
        // On a processor the first word takes a while: what it will rest on can be read meanwhile.
        for chunk in found.chunks.iter().filter(|chunk| !chunk.path.is_empty()) {
            almanac_terminal::note(format!(
                "{}:{}-{}  {}",
                chunk.path, chunk.start_line, chunk.end_line, chunk.symbol
            ));
        }
    }
    let streamed = Cell::new(false);
    let mut on_text = |piece: &str| {
        if !global.json {
            streamed.set(true);
            almanac_terminal::data_piece(piece);
        }
    };
    let answered = answer(&knowledge.index, &found, &model, &prompt.text, &settings, &mut on_text)?;
    if global.json {
        almanac_terminal::data_json(&AskReport {
            query: question,
            model: &name,
            answer: &answered.text,
            sources: &answered.sources,
            unsupported: &answered.unsupported,
            files: &found.files,
            context_tokens: found.context_tokens,
            prompt_tokens: answered.prompt_tokens,
            completion_tokens: answered.completion_tokens,
            cut: answered.cut,
            seconds: answered.seconds,
        });
    } else {
        if streamed.get() {
            almanac_terminal::data("");
        }
        print_sources(&answered);
    }
    Ok(ExitStatus::Done)
}

fn print_sources(answered: &Answer) {
    if answered.cut {
        almanac_terminal::note("the answer was cut at answer.max_tokens");
    }
    almanac_terminal::data("\nSources:");
    for source in &answered.sources {
        let mark = if source.cited { "cited" } else { "read" };
        almanac_terminal::data_line(&format!(
            "  {}:{}-{} ({mark})",
            source.path, source.start_line, source.end_line
        ));
    }
    for unsupported in &answered.unsupported {
        almanac_terminal::data_line(&format!("  not in the sources: {unsupported}"));
    }
    if answered.prompt_tokens > 0 {
        almanac_terminal::note(format!(
            "{} tokens read, {} written in {:.1} s",
            answered.prompt_tokens, answered.completion_tokens, answered.seconds
        ));
    }
}
