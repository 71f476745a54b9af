//! The two small traits that everything above inference is written against.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::Result;

/// What decides a model's output, for keys and records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelIdentity {
    /// Name in `models.toml`.
    pub name: String,
    /// Digest over the digests of the model's files.
    pub digest: String,
}

/// One generation.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerateRequest {
    /// System message; empty for none.
    pub system: String,
    /// User message.
    pub user: String,
    /// Limit on generated tokens.
    pub max_tokens: usize,
    /// Sampling temperature; zero is greedy.
    pub temperature: f64,
    /// Seed of the sampler, without effect when greedy.
    pub seed: u64,
    /// JSON schema that the answer is forced to keep; `None` for free text.
    pub schema: Option<Arc<serde_json::Value>>,
}

/// Why generation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// The model ended its answer.
    Stop,
    /// The token limit was reached.
    Length,
}

/// A generated text.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The text.
    pub text: String,
    /// Tokens of the rendered prompt.
    pub prompt_tokens: usize,
    /// Tokens generated.
    pub completion_tokens: usize,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Why it ended.
    pub finish: FinishReason,
}

/// A chat model in this process.
pub trait LanguageModel: Send + Sync {
    /// Name and digest.
    fn identity(&self) -> &ModelIdentity;
    /// Tokens of prompt and answer together.
    fn context_length(&self) -> usize;
    /// Tokens of `text` by the model's own tokenizer, without chat template.
    fn count_tokens(&self, text: &str) -> Result<usize>;
    /// Generates, handing each piece of text to `on_text` as it appears.
    fn generate_streaming(
        &self,
        request: &GenerateRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Completion>;
    /// Generates.
    fn generate(&self, request: &GenerateRequest) -> Result<Completion> {
        self.generate_streaming(request, &mut |_| {})
    }
    /// Generates, and gives up with [`crate::Error::Interrupted`] soon after `interrupted` is set. A model
    /// that answers at once need not look.
    fn generate_until(&self, request: &GenerateRequest, interrupted: &AtomicBool) -> Result<Completion> {
        let _ = interrupted;
        self.generate(request)
    }
}

/// Which side of the search a text is on; models prefix the two differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedSide {
    /// A chunk.
    Document,
    /// A question.
    Query,
}

/// A text embedding model in this process.
pub trait Embedder: Send + Sync {
    /// Name and digest.
    fn identity(&self) -> &ModelIdentity;
    /// Length of a vector.
    fn dimension(&self) -> usize;
    /// Tokens a text may have, special tokens and prefix included.
    fn max_tokens(&self) -> usize;
    /// Tokens of `text`, without special tokens and prefix.
    fn count_tokens(&self, text: &str) -> Result<usize>;
    /// `text` cut to its first `max_tokens` tokens, at a token boundary of the original text.
    fn truncate<'a>(&self, text: &'a str, max_tokens: usize) -> Result<&'a str>;
    /// One vector of unit length a text, in the order given. Texts over the window are cut.
    fn embed(&self, texts: &[String], side: EmbedSide) -> Result<Vec<Vec<f32>>>;
    /// Like [`Self::embed`], but begins no further text once `interrupted` is set; the texts that were
    /// not embedded have no vector. A model that answers at once need not look.
    fn embed_until(
        &self,
        texts: &[String],
        side: EmbedSide,
        interrupted: &AtomicBool,
    ) -> Result<Vec<Option<Vec<f32>>>> {
        let _ = interrupted;
        Ok(self.embed(texts, side)?.into_iter().map(Some).collect())
    }
}
