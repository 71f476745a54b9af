//! Every number retrieval depends on, from `[retrieval]`.

use std::collections::BTreeMap;

use almanac_lookup::FieldBoosts;
use almanac_tables::ArtifactRole;
use serde::Deserialize;

/// `[retrieval]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetrievalSettings {
    /// Whether every byte of the index is read and its digest compared when it is opened.
    pub verify_index: bool,
    /// Most tokens of the context, headers included.
    pub budget_tokens: usize,
    /// Most words of a question that are looked at.
    pub max_query_words: usize,
    /// Candidates taken from each ranked list.
    pub candidate_k: usize,
    /// Whether exact names of files, symbols and modules are looked up.
    pub exact_names: bool,
    /// Whether the text index is used.
    pub lexical: bool,
    /// Whether vectors are used when an embedder is there.
    pub dense: bool,
    /// Whether the graph adds chunks.
    pub structural: bool,
    /// Whether files that primary chunks include add chunks.
    pub supplementary: bool,
    /// Whether a file brings its header or implementation along.
    pub pairs: bool,
    /// Weights of the ranked lists.
    pub weights: Weights,
    /// Weights of the fields of the text index.
    pub boosts: FieldBoosts,
    /// What is selected.
    pub selection: SelectionSettings,
    /// Factor on the score of a chunk by the role of its file; 1 where a role is not named.
    pub role_factors: BTreeMap<ArtifactRole, f64>,
}

/// `[retrieval.weights]`: reciprocal rank fusion, `weight / (rank_constant + rank)`, rank from 1.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Added to every rank.
    pub rank_constant: f64,
    /// BM25 over symbols and sections.
    pub lexical: f64,
    /// BM25 over whole files, given to what is in them.
    pub lexical_file: f64,
    /// Vectors.
    pub dense: f64,
    /// Exact names.
    pub exact: f64,
    /// Share of its file's fused score that a symbol gets.
    pub file: f64,
    /// Share of a file's second best symbol in the file's score; its square for the third.
    pub next: f64,
    /// Most that a file gains, as a factor over 1, by holding all the words of the question, each
    /// by its rarity.
    pub coverage: f64,
    /// Most that centrality in the graph adds, as a factor over 1.
    pub centrality: f64,
    /// Factor on declarations without a body.
    pub declaration: f64,
}

/// `[retrieval.selection]`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectionSettings {
    /// Most chunks of one file.
    pub file_cap: usize,
    /// Most share of the budget for one chunk; longer ones are cut by statements.
    pub chunk_share: f64,
    /// Share of the best file's score below which a file is no evidence.
    pub file_floor: f64,
    /// Share of the best score of its file below which a chunk is no evidence.
    pub relative_floor: f64,
    /// Most files that primary chunks come from.
    pub files: usize,
    /// Share of the budget that primary chunks get first.
    pub primary_share: f64,
    /// Room of each next file against the one before.
    pub decay: f64,
    /// Supplementary chunks.
    pub supplementary: usize,
    /// Structural chunks by mode (paper, section 3.3.4).
    pub structural_minimal: usize,
    /// For questions about usage.
    pub structural_api_usage: usize,
    /// For most questions.
    pub structural_balanced: usize,
    /// For questions about flow and workflow.
    pub structural_broad: usize,
    /// Characters of an explanation that are shown.
    pub explanation_characters: usize,
}
