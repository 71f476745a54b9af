//! What is asked of a model, and the key of its answer.

use std::sync::Arc;

use almanac_artifact::Digest;
use serde::{Deserialize, Serialize};

use crate::{ModelIdentity, PromptTemplate};

/// Bumped when the same prompt, model and sampling would be asked in another way.
const RECORD_FORMAT: u32 = 1;

/// How answers are sampled; part of every record key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// Temperature of the first attempt; zero is greedy.
    pub temperature: f64,
    /// Temperature of the later attempts.
    pub retry_temperature: f64,
    /// Seed of the first attempt; each later one adds one.
    pub seed: u64,
    /// Attempts before a record is kept as failed.
    pub attempts: u32,
}

/// One wanted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerationJob {
    /// What it is about, for people.
    pub subject: String,
    /// Prompt mode.
    pub prompt: String,
    /// System message.
    pub system: Arc<str>,
    /// User message.
    pub user: String,
    /// Limit on generated tokens.
    pub max_tokens: usize,
    /// Digest of everything that decides the text.
    pub record_key: String,
}

impl GenerationJob {
    /// Asks `model` about `subject`; of the prompt's and the setting's token limit the smaller counts.
    pub fn new(
        subject: &str,
        template: &PromptTemplate,
        user: String,
        max_tokens: usize,
        model: &ModelIdentity,
        sampling: &Sampling,
    ) -> Self {
        let max_tokens = max_tokens.min(template.max_tokens());
        let Sampling { temperature, retry_temperature, seed, attempts } = sampling;
        let record_key = Digest::of(|encoder| {
            encoder
                .u32(RECORD_FORMAT)
                .digest(&template.signature())
                .text(&user)
                .text(&model.digest)
                .length(max_tokens)
                .f64(*temperature)
                .f64(*retry_temperature)
                .u64(*seed)
                .u32(*attempts);
        });
        Self {
            subject: subject.to_owned(),
            prompt: template.mode().to_owned(),
            system: template.shared_system(),
            user,
            max_tokens,
            record_key: record_key.to_string(),
        }
    }
}
