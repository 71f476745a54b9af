//! The six stages.

use almanac_tables::{
    Chunk, Edge, Embedding, Entity, Explanation, File, Module, Rank, Reference, Summary, Text,
};

use crate::{Identity, StageSpec, TableSpec};

const FILES: TableSpec = TableSpec::of::<File>("sources");
const TEXTS: TableSpec = TableSpec::of::<Text>("sources");
const ENTITY_ROWS: TableSpec = TableSpec::of::<Entity>("sources");
const REFERENCES: TableSpec = TableSpec::of::<Reference>("sources");
const EDGES: TableSpec = TableSpec::of::<Edge>("graph");
const MODULES: TableSpec = TableSpec::of::<Module>("graph");
const RANKS: TableSpec = TableSpec::of::<Rank>("graph");
const EXPLANATIONS: TableSpec = TableSpec::of::<Explanation>("explanations");
const SUMMARIES: TableSpec = TableSpec::of::<Summary>("summaries");
const CHUNKS: TableSpec = TableSpec::of::<Chunk>("embeddings");
const EMBEDDINGS: TableSpec = TableSpec::of::<Embedding>("embeddings");

/// Sources to files, entities and references.
pub const PARSE: StageSpec = StageSpec {
    name: "parse",
    artifact: "sources",
    revision: 1,
    summary: "read the source tree into files, entities and references",
    reads: &[],
    writes: &[FILES, TEXTS, ENTITY_ROWS, REFERENCES],
    identities: &[Identity::SourceTree, Identity::Grammars],
    ledger: None,
    partial: false,
};

/// References to edges, modules and ranks.
pub const GRAPH: StageSpec = StageSpec {
    name: "graph",
    artifact: "graph",
    revision: 1,
    summary: "resolve references into edges, group files into modules, rank nodes",
    reads: &[FILES, ENTITY_ROWS, REFERENCES],
    writes: &[EDGES, MODULES, RANKS],
    identities: &[],
    ledger: None,
    partial: false,
};

/// Entities to explanations.
pub const EXPLAIN: StageSpec = StageSpec {
    name: "explain",
    artifact: "explanations",
    revision: 1,
    summary: "explain symbols with a language model, most important first",
    reads: &[FILES, TEXTS, ENTITY_ROWS, EDGES, RANKS],
    writes: &[EXPLANATIONS],
    identities: &[
        Identity::Model { setting: "explain.params.model", fallback: "models.llm" },
        Identity::Prompt { setting: "explain.params.prompt" },
    ],
    ledger: Some("explanations"),
    partial: true,
};

/// Explanations to summaries of files, modules and call chains.
pub const ENTITIES: StageSpec = StageSpec {
    name: "entities",
    artifact: "summaries",
    revision: 1,
    summary: "summarise files, modules and call chains with a language model",
    reads: &[FILES, TEXTS, ENTITY_ROWS, EDGES, MODULES, RANKS, EXPLANATIONS],
    writes: &[SUMMARIES],
    identities: &[
        Identity::Model { setting: "entities.params.model", fallback: "models.llm" },
        Identity::Prompt { setting: "entities.params.file_prompt" },
        Identity::Prompt { setting: "entities.params.file_fallback_prompt" },
        Identity::Prompt { setting: "entities.params.module_prompt" },
        Identity::Prompt { setting: "entities.params.call_chain_prompt" },
    ],
    ledger: Some("summaries"),
    partial: true,
};

/// Entities and texts to chunks and vectors.
pub const EMBED: StageSpec = StageSpec {
    name: "embed",
    artifact: "embeddings",
    revision: 1,
    summary: "form retrievable chunks and embed them",
    reads: &[FILES, TEXTS, ENTITY_ROWS, EXPLANATIONS, SUMMARIES],
    writes: &[CHUNKS, EMBEDDINGS],
    identities: &[Identity::Model { setting: "embed.params.model", fallback: "models.embedder" }],
    ledger: Some("embeddings"),
    partial: true,
};

/// Chunks and vectors to the searchable store.
pub const INDEX: StageSpec = StageSpec {
    name: "index",
    artifact: "index",
    revision: 1,
    summary: "build the FAISS and BM25 indexes and fix the tables they belong to",
    reads: &[FILES, TEXTS, ENTITY_ROWS, EDGES, MODULES, RANKS, EXPLANATIONS, SUMMARIES, CHUNKS, EMBEDDINGS],
    writes: &[],
    identities: &[
        Identity::Fixed { name: "faiss", value: "1.12.0" },
        Identity::Fixed { name: "tantivy", value: "0.27.0" },
    ],
    ledger: None,
    partial: false,
};

/// Every stage, in the order they run.
pub const PIPELINE: &[&StageSpec] = &[&PARSE, &GRAPH, &EXPLAIN, &ENTITIES, &EMBED, &INDEX];
