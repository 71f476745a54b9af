//! Settings that decide what is summarised and how.

use almanac_inference::{AnswerFormat, PromptTemplate, Sampling};
use almanac_tables::ArtifactRole;
use serde::Deserialize;

/// How file summaries are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum FileStrategy {
    /// One a file, from its symbols and their explanations; from its text where it has none.
    #[serde(rename = "unified_whole_file_with_fallback_v1")]
    UnifiedWholeFileWithFallback,
    /// No file summaries.
    #[serde(rename = "none")]
    None,
}

/// How module summaries are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum ModuleStrategy {
    /// One a folder, from the summaries of its files and folders.
    #[serde(rename = "module_entities_from_descendant_files_v1")]
    FromDescendantFiles,
    /// No module summaries.
    #[serde(rename = "none")]
    None,
}

/// How call-chain summaries are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum CallChainStrategy {
    /// One a callable definition with at least one direct caller or callee.
    #[serde(rename = "direct_call_neighborhood_v1")]
    DirectCallNeighborhood,
    /// No call-chain summaries.
    #[serde(rename = "none")]
    None,
}

/// How a limit on the number of summaries is shared among the levels, as parts of the sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordShares {
    /// Part of file summaries.
    pub file: usize,
    /// Part of module summaries.
    pub module: usize,
    /// Part of call-chain summaries.
    pub call_chain: usize,
}

/// `[entities.params]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How file summaries are made.
    pub file_level_entity_strategy: FileStrategy,
    /// How module summaries are made.
    pub module_level_entity_strategy: ModuleStrategy,
    /// How call-chain summaries are made.
    pub call_chain_entity_strategy: CallChainStrategy,
    /// Prompt mode of a file with symbols.
    pub file_prompt: String,
    /// Prompt mode of a file without.
    pub file_fallback_prompt: String,
    /// Prompt mode of a module.
    pub module_prompt: String,
    /// Prompt mode of a call chain.
    pub call_chain_prompt: String,
    /// Whether summaries are JSON of the prompts' schemas or free text.
    pub format: AnswerFormat,
    /// Model; empty for the project's.
    pub model: String,
    /// Longest summary, in tokens.
    pub max_tokens: usize,
    /// Prompt and summary together, in tokens.
    pub context_tokens: usize,
    /// No text is generated for what lies in files of these roles.
    pub skip_roles: Vec<ArtifactRole>,
    /// Most names in one fact, such as included files.
    pub names_per_fact: usize,
    /// Edges that are less certain are no facts, from 0 to 1.
    pub minimum_confidence: f32,
    /// How a limit on the number of summaries is shared.
    pub record_shares: RecordShares,
    /// Whether imported summaries stand in for what has none of its own.
    pub imported: bool,
    /// How answers are sampled.
    pub sampling: Sampling,
}

/// The prompt of each level.
#[derive(Debug, Clone)]
pub struct Prompts {
    /// A file with symbols.
    pub file: PromptTemplate,
    /// A file without.
    pub file_fallback: PromptTemplate,
    /// A module.
    pub module: PromptTemplate,
    /// A call chain.
    pub call_chain: PromptTemplate,
}
