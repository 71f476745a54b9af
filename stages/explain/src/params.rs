//! Settings that decide what is explained and how.

use almanac_inference::{AnswerFormat, Sampling};
use almanac_tables::{ArtifactRole, EntityKind};
use serde::Deserialize;

/// `[explain.params]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Kinds of entity that are explained.
    pub kinds: Vec<EntityKind>,
    /// Shorter entities are not.
    pub minimum_characters: usize,
    /// Entities in files of these roles are not.
    pub skip_roles: Vec<ArtifactRole>,
    /// Prompt mode.
    pub prompt: String,
    /// Whether explanations are JSON of the prompt's schema or free text.
    pub format: AnswerFormat,
    /// Model; empty for the project's.
    pub model: String,
    /// Longest explanation, in tokens.
    pub max_tokens: usize,
    /// Prompt and explanation together, in tokens.
    pub context_tokens: usize,
    /// Most names in one fact, such as callers.
    pub names_per_fact: usize,
    /// Edges that are less certain are no facts, from 0 to 1.
    pub minimum_confidence: f32,
    /// Whether imported explanations stand in for what has none of its own.
    pub imported: bool,
    /// How answers are sampled.
    pub sampling: Sampling,
}
