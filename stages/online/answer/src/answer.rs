//! Prompt, generation, checks.

use almanac_inference::{FinishReason, GenerateRequest, IS_CPU, LanguageModel, PromptTemplate};
use almanac_lookup::SearchIndex;
use almanac_retrieval::SearchResult;
use serde::{Deserialize, Serialize};

use crate::citations::check;
use crate::{Error, Result};

/// Tokens of a chat template around system and user message, at most.
const TEMPLATE_TOKENS: usize = 64;
/// Least room for evidence worth a prompt.
const SMALLEST_EVIDENCE: usize = 200;
/// Nearest things named when there is no evidence.
const NEAREST: usize = 3;

/// `[answer]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerSettings {
    /// Prompt mode.
    pub prompt: String,
    /// Model; empty for the default one.
    pub model: String,
    /// Most tokens of the answer.
    pub max_tokens: usize,
    /// Sampling temperature; 0 takes the likeliest token.
    pub temperature: f64,
    /// Most tokens of prompt and answer together.
    pub context_tokens: usize,
    /// Most tokens of evidence where the model runs on a processor, which reads slowly.
    pub processor_budget_tokens: usize,
}

impl AnswerSettings {
    /// Most tokens of evidence for a model that runs here, of the `budget` for retrieval.
    pub fn budget_here(&self, budget: usize) -> usize {
        if IS_CPU { self.processor_budget_tokens.min(budget) } else { budget }
    }
}

/// A place the answer rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Source {
    /// File, relative to the source tree.
    pub path: String,
    /// First line, from 1.
    pub start_line: usize,
    /// Last line, inclusive.
    pub end_line: usize,
    /// Whether the answer cites it; the others were seen and not cited.
    pub cited: bool,
}

/// An answer with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The text, as generated.
    pub text: String,
    /// Cited places first, in order of the text, then evidence that was not cited.
    pub sources: Vec<Source>,
    /// Citations and names in the text that the evidence does not hold, with the reason.
    pub unsupported: Vec<String>,
    /// Tokens of the prompt; 0 when no model was asked.
    pub prompt_tokens: usize,
    /// Tokens generated; 0 when no model was asked.
    pub completion_tokens: usize,
    /// Whether the model had more to say than it was given room for.
    pub cut: bool,
    /// Wall time of the generation in seconds.
    pub seconds: f64,
}

/// Tokens of evidence that fit beside the instructions, the question and the answer; the budget
/// to search with.
///
/// # Errors
/// A prompt that is not valid, a failing tokenizer, or a window too small.
pub fn context_budget(
    model: &dyn LanguageModel,
    prompt: &str,
    question: &str,
    settings: &AnswerSettings,
) -> Result<usize> {
    let template = PromptTemplate::parse(&settings.prompt, prompt)?;
    let user = render(&template, question, "")?;
    let failed = |source| Error::Generate { model: model.identity().name.clone(), source };
    let fixed =
        model.count_tokens(template.system()).map_err(failed)? + model.count_tokens(&user).map_err(failed)?;
    let window = model.context_length().min(settings.context_tokens);
    let needed = fixed + TEMPLATE_TOKENS + settings.max_tokens;
    match window.checked_sub(needed) {
        Some(room) if room >= SMALLEST_EVIDENCE => Ok(room),
        _ => Err(Error::NoRoom {
            model: model.identity().name.clone(),
            context: window,
            needed: needed + SMALLEST_EVIDENCE,
        }),
    }
}

/// Answers from `found`, handing each piece of text to `on_text` as it appears.
///
/// When the store does not hold what is asked about, no model is asked and the answer says so,
/// with the nearest things there are.
///
/// # Errors
/// A prompt that is not valid, a failing model, or one that says nothing.
pub fn answer(
    index: &SearchIndex,
    found: &SearchResult,
    model: &dyn LanguageModel,
    prompt: &str,
    settings: &AnswerSettings,
    on_text: &mut dyn FnMut(&str),
) -> Result<Answer> {
    let template = PromptTemplate::parse(&settings.prompt, prompt)?;
    if !found.evidence {
        let answer = not_here(found);
        on_text(&answer.text);
        return Ok(answer);
    }
    let request = GenerateRequest {
        system: template.system().to_owned(),
        user: render(&template, &found.query, &found.context)?,
        max_tokens: settings.max_tokens,
        temperature: settings.temperature,
        seed: 0,
        schema: None,
    };
    let completion = model
        .generate_streaming(&request, on_text)
        .map_err(|source| Error::Generate { model: model.identity().name.clone(), source })?;
    if completion.text.trim().is_empty() {
        let model = model.identity().name.clone();
        return Err(Error::NoText { model, tokens: completion.completion_tokens });
    }
    let checked = check(index, found, &completion.text);
    Ok(Answer {
        text: completion.text,
        sources: checked.sources,
        unsupported: checked.unsupported,
        prompt_tokens: completion.prompt_tokens,
        completion_tokens: completion.completion_tokens,
        cut: completion.finish == FinishReason::Length,
        seconds: completion.seconds,
    })
}

#[derive(Serialize)]
struct Facts<'a> {
    question: &'a str,
    context: &'a str,
}

fn render(template: &PromptTemplate, question: &str, context: &str) -> Result<String> {
    Ok(template.render(question, &Facts { question, context })?)
}

fn not_here(found: &SearchResult) -> Answer {
    let mut text = "This is not in this codebase".to_owned();
    if !found.unknown_words.is_empty() {
        let words: Vec<String> = found.unknown_words.iter().map(|word| format!("`{word}`")).collect();
        text.push_str(&format!(": no file contains {}", words.join(" or ")));
    }
    text.push('.');
    let nearest = found.chunks.iter().filter(|chunk| !chunk.path.is_empty()).take(NEAREST);
    let sources: Vec<Source> = nearest
        .clone()
        .map(|chunk| Source {
            path: chunk.path.clone(),
            start_line: chunk.start_line,
            end_line: chunk.end_line,
            cited: true,
        })
        .collect();
    let named: Vec<String> =
        nearest.map(|chunk| format!("`{}` ({}:{})", chunk.symbol, chunk.path, chunk.start_line)).collect();
    if !named.is_empty() {
        text.push_str(&format!(" The nearest things there are: {}.", named.join(", ")));
    }
    Answer {
        text,
        sources,
        unsupported: Vec::new(),
        prompt_tokens: 0,
        completion_tokens: 0,
        cut: false,
        seconds: 0.0,
    }
}
