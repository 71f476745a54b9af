//! Language models and embedders behind two small traits, and the catalogue of model files.
//!
//! What a caller needs: [`LanguageModel`] and [`Embedder`] ([`model`]), the catalogue that says which
//! files a model consists of and how they are had ([`models`]), and two constructors,
//! [`MistralModel::load`] and [`CandleEmbedder::load`].
//!
//! What generates explanations and summaries stands on them: [`PromptTemplate`], [`PromptBudget`] and
//! [`generate`], which asks a model for what a ledger lacks.
//!
//! What this crate must not know: entities, chunks, stages, settings, the terminal. It reads no
//! environment variable and no configuration file, and it fetches nothing unless
//! [`models::ModelCatalog::fetch`] is called.
//!
//! Outputs are a function of the model's [`ModelIdentity`] and the request alone on one kind of
//! processor: no prefix cache, one generation at a time unless asked otherwise, one text per forward
//! pass on a CPU.

mod answer_schema;
mod batching;
mod chat;
mod device;
mod embedder;
mod encoder;
mod engine_panics;
mod error;
mod generation;
mod gguf;
mod hub_config;
pub mod model;
pub mod models;
mod prompt;
mod prompt_budget;
mod sampling;
mod text_tokenizer;
mod tokens;

pub use answer_schema::AnswerSchema;
pub use chat::{ChatOptions, MistralModel};
pub use device::IS_CPU;
pub use embedder::{CandleEmbedder, EmbedderOptions};
pub use error::{Error, Result};
pub use generation::{
    FlushPolicy, GenerationCounts, GenerationError, GenerationJob, GenerationLimits, GenerationProgress,
    GenerationSettings, LazyModel, OpenLedger, Sampling, Told, generate, names_in,
};
pub use model::{
    Completion, EmbedSide, Embedder, FinishReason, GenerateRequest, LanguageModel, ModelIdentity,
};
pub use prompt::{AnswerFormat, PromptError, PromptTemplate};
pub use prompt_budget::{PromptBudget, clip, estimate_tokens, expected_tokens, first_sentence};
pub use text_tokenizer::TextTokenizer;
