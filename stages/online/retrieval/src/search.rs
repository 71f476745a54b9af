//! The search itself and what it returns.

use std::fmt;
use std::time::Instant;

use almanac_inference::{EmbedSide, Embedder};
use almanac_lookup::SearchIndex;
use almanac_tables::EntityLevel;
use serde::Serialize;

use crate::fuse::{Fused, Source, fuse};
use crate::query::{Signals, beginning, read};
use crate::select::{Selected, select};
use crate::{Error, Intent, Result, RetrievalSettings};

/// Counts the tokens of a text.
pub type TokenCounter<'a> = &'a dyn Fn(&str) -> usize;

/// Smallest budget that can hold evidence.
const SMALLEST_BUDGET: usize = 100;
/// Share of the words that carry meaning which must occur somewhere in the store.
const KNOWN_SHARE: f64 = 0.34;

/// Part a chunk plays (paper 3.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Found by the question.
    Primary,
    /// Related to a primary chunk by the graph.
    Structural,
    /// From files that primary chunks refer to.
    Supplementary,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Primary => "primary",
            Self::Structural => "structural",
            Self::Supplementary => "supplementary",
        })
    }
}

/// One piece of evidence, as it stands in the context.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContextChunk {
    /// Place in the context, from 1.
    pub rank: usize,
    /// Part it plays.
    pub role: Role,
    /// File, relative to the source tree; empty for a module.
    pub path: String,
    /// First line, from 1; 0 for a module.
    pub start_line: usize,
    /// Last line, inclusive.
    pub end_line: usize,
    /// Qualified name, headings, or file name.
    pub symbol: String,
    /// Kind of the symbol.
    pub kind: String,
    /// Level of the chunk.
    pub level: EntityLevel,
    /// Fused score.
    pub score: f64,
    /// Tokens it takes.
    pub tokens: usize,
    /// Line ranges whose text is shown; less than start to end when it was cut.
    pub shown: Vec<(usize, usize)>,
    /// Whether lines were left out.
    pub cut: bool,
    /// Why it is here.
    pub reasons: Vec<String>,
}

/// A candidate that is not in the context.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DroppedChunk {
    /// File.
    pub path: String,
    /// Symbol.
    pub symbol: String,
    /// Fused score.
    pub score: f64,
    /// Why it was dropped.
    pub reason: &'static str,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchResult {
    /// The question as asked.
    pub query: String,
    /// What kind of question it is.
    pub intent: Intent,
    /// Files of the evidence, best first, each once.
    pub files: Vec<String>,
    /// The evidence, in the order of the context.
    pub chunks: Vec<ContextChunk>,
    /// The text a model would see.
    pub context: String,
    /// Its tokens, by the counter handed in.
    pub context_tokens: usize,
    /// Words of the question that occur nowhere in the store.
    pub unknown_words: Vec<String>,
    /// Words at the end of the question that were not looked at, because it has more than
    /// `retrieval.max_query_words`.
    pub words_left_out: usize,
    /// Whether the store holds what the question is about; if not, the chunks are the nearest
    /// there is.
    pub evidence: bool,
    /// Candidates that were left out, best first.
    pub dropped: Vec<DroppedChunk>,
    /// Wall time in seconds.
    pub seconds: f64,
}

/// Characters over four, rounded up: close to what code costs where no tokenizer is at hand.
pub fn estimate_tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

/// Finds the evidence for `question`.
///
/// Without an embedder, or in a store without vectors, exact names and BM25 carry the search.
/// `count_tokens` should be the answering model's; the context never exceeds the budget by it.
///
/// # Errors
/// An empty question, a budget too small for evidence, a failing embedder or damaged index.
pub fn search(
    index: &SearchIndex,
    embedder: Option<&dyn Embedder>,
    question: &str,
    settings: &RetrievalSettings,
    count_tokens: TokenCounter<'_>,
) -> Result<SearchResult> {
    let start = Instant::now();
    let question = question.trim();
    if question.is_empty() {
        return Err(Error::EmptyQuery);
    }
    if settings.budget_tokens < SMALLEST_BUDGET {
        return Err(Error::Budget { budget: settings.budget_tokens, least: SMALLEST_BUDGET });
    }
    let (asked, words_left_out) = beginning(question, settings.max_query_words);
    let signals = read(index, asked)?;
    let vector = match embedder.filter(|_| settings.dense && index.vectors().is_some()) {
        Some(embedder) => Some(embed(index, embedder, asked, &signals)?),
        None => None,
    };
    let fused = fuse(index, &signals, vector.as_deref(), settings)?;
    let selected = select(index, &signals, &fused, settings, count_tokens)?;
    Ok(SearchResult {
        query: question.to_owned(),
        intent: signals.intent,
        evidence: has_evidence(&signals, &fused, &selected),
        files: selected.files,
        chunks: selected.chunks,
        context: selected.context,
        context_tokens: selected.tokens,
        unknown_words: signals.unknown,
        words_left_out,
        dropped: selected.dropped,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// The question dressed like a chunk (paper, listing 9); the answering model sees it plain.
fn dressed(index: &SearchIndex, question: &str, signals: &Signals) -> String {
    let tables = index.tables();
    let mut text = String::new();
    let names: Vec<&str> =
        signals.files.iter().filter_map(|&file| tables.files[file].path.rsplit('/').next()).collect();
    if !names.is_empty() {
        text.push_str(&format!("File: {}\n", names.join(", ")));
    }
    let symbols: Vec<&str> = signals.symbols.iter().map(|symbol| symbol.written.as_str()).collect();
    if !symbols.is_empty() {
        text.push_str(&format!("Symbol: {}\n", symbols.join(", ")));
    }
    text.push_str(&format!("Intent: {}\nQuestion: {question}\n", signals.intent));
    text
}

fn embed(
    index: &SearchIndex,
    embedder: &dyn Embedder,
    question: &str,
    signals: &Signals,
) -> Result<Vec<f32>> {
    let text = dressed(index, question, signals);
    let vectors = embedder.embed(&[text], EmbedSide::Query).map_err(|source| Error::Embed { source })?;
    Ok(vectors.into_iter().next().unwrap_or_default())
}

/// A question whose words hardly occur and that names nothing in the store is not about it.
fn has_evidence(signals: &Signals, fused: &Fused, selected: &Selected) -> bool {
    if selected.chunks.is_empty() {
        return false;
    }
    let named = fused.candidates.iter().any(|candidate| {
        candidate
            .sources
            .iter()
            .any(|source| matches!(source, Source::FileName | Source::SymbolName | Source::ModuleName))
    });
    let known = signals.content_words.saturating_sub(signals.unknown.len());
    named || known as f64 >= KNOWN_SHARE * signals.content_words.max(1) as f64
}
