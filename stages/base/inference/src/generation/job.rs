//! What is asked of a model, and the key of its answer.

use std::sync::Arc;

use almanac_artifact::Digest;
use serde::{Deserialize, Serialize};

use crate::{AnswerSchema, ModelIdentity, PromptTemplate, expected_tokens};

/// Bumped when the same prompt, model and sampling would be asked in another way.
const RECORD_FORMAT: u32 = 2;

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
    /// An answer of whose names a smaller share occurs in its prompt, from 0 to 1, is asked for once more
    /// with these names, and kept as it then is.
    pub minimum_grounding: f64,
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
    /// Schema of the answer; `None` for free text.
    pub schema: Option<AnswerSchema>,
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
        let Sampling { temperature, retry_temperature, seed, attempts, minimum_grounding } = sampling;
        let schema = template.schema();
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
                .u32(*attempts)
                .f64(*minimum_grounding);
            if let Some(schema) = schema {
                schema.encode(encoder, max_tokens);
            }
        });
        Self {
            subject: subject.to_owned(),
            prompt: template.mode().to_owned(),
            system: template.shared_system(),
            user,
            max_tokens,
            schema,
            record_key: record_key.to_string(),
        }
    }

    /// Tokens the prompt probably has.
    pub fn expected_prompt_tokens(&self) -> u64 {
        (expected_tokens(&self.system) + expected_tokens(&self.user)) as u64
    }

    /// Tokens the answer probably has, where nothing was measured: few use up their limit.
    pub fn expected_completion_tokens(&self) -> u64 {
        self.max_tokens as u64 * 2 / 3
    }
}
