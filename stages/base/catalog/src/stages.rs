//! The six stages.

use almanac_tables::{
    Chunk, Edge, Embedding, Entity, Explanation, File, Local, Module, Rank, Reference, Resolved, Summary,
    Text,
};

use crate::{Identity, StageSpec, TableSpec};

const FILES: TableSpec = TableSpec::of::<File>("sources");
const TEXTS: TableSpec = TableSpec::of::<Text>("sources");
const ENTITY_ROWS: TableSpec = TableSpec::of::<Entity>("sources");
const REFERENCES: TableSpec = TableSpec::of::<Reference>("sources");
const LOCALS: TableSpec = TableSpec::of::<Local>("sources");
const EDGES: TableSpec = TableSpec::of::<Edge>("graph");
const MODULES: TableSpec = TableSpec::of::<Module>("graph");
const RANKS: TableSpec = TableSpec::of::<Rank>("graph");
const RESOLVED: TableSpec = TableSpec::of::<Resolved>("graph");
const EXPLANATIONS: TableSpec = TableSpec::of::<Explanation>("explanations");
const SUMMARIES: TableSpec = TableSpec::of::<Summary>("summaries");
const CHUNKS: TableSpec = TableSpec::of::<Chunk>("embeddings");
const EMBEDDINGS: TableSpec = TableSpec::of::<Embedding>("embeddings");

const MISTRAL: Identity = Identity::Library { name: "mistralrs", version: "0.8.1" };
const TEXT_RECORD: Identity = Identity::Format { name: "text record", version: 2 };
const VECTOR_RECORD: Identity = Identity::Format { name: "vector record", version: 1 };

/// Sources to files, entities and references.
pub const PARSE: StageSpec = StageSpec {
    name: "parse",
    artifact: "sources",
    revision: 4,
    summary: "read the source tree into files, entities and references",
    reads: &[],
    writes: &[FILES, TEXTS, ENTITY_ROWS, REFERENCES, LOCALS],
    identities: &[Identity::SourceTree, Identity::Grammars],
    ledger: None,
    partial: false,
    levels: &[],
};

/// References to edges, modules and ranks.
pub const GRAPH: StageSpec = StageSpec {
    name: "graph",
    artifact: "graph",
    revision: 3,
    summary: "resolve references into edges, group files into modules, rank nodes",
    reads: &[FILES, ENTITY_ROWS, REFERENCES, LOCALS],
    writes: &[EDGES, MODULES, RANKS, RESOLVED],
    identities: &[],
    ledger: None,
    partial: false,
    levels: &[],
};

/// Entities to explanations.
pub const EXPLAIN: StageSpec = StageSpec {
    name: "explain",
    artifact: "explanations",
    revision: 2,
    summary: "explain symbols with a language model, most important first",
    reads: &[FILES, TEXTS, ENTITY_ROWS, EDGES, RANKS],
    writes: &[EXPLANATIONS],
    identities: &[
        Identity::Model { setting: "explain.params.model", fallback: "models.llm" },
        Identity::Prompt { setting: "explain.params.prompt" },
        Identity::Imported,
        MISTRAL,
        TEXT_RECORD,
    ],
    ledger: Some("explanations"),
    partial: true,
    levels: &[],
};

/// Explanations to summaries of files, modules and call chains.
pub const ENTITIES: StageSpec = StageSpec {
    name: "entities",
    artifact: "summaries",
    revision: 2,
    summary: "summarise files, modules and call chains with a language model",
    reads: &[FILES, TEXTS, ENTITY_ROWS, EDGES, MODULES, RANKS, EXPLANATIONS],
    writes: &[SUMMARIES],
    identities: &[
        Identity::Model { setting: "entities.params.model", fallback: "models.llm" },
        Identity::Prompt { setting: "entities.params.file_prompt" },
        Identity::Prompt { setting: "entities.params.file_fallback_prompt" },
        Identity::Prompt { setting: "entities.params.module_prompt" },
        Identity::Prompt { setting: "entities.params.call_chain_prompt" },
        Identity::Imported,
        MISTRAL,
        TEXT_RECORD,
    ],
    ledger: Some("summaries"),
    partial: true,
    levels: &["files", "modules", "call_chains"],
};

/// Entities and texts to chunks and vectors.
pub const EMBED: StageSpec = StageSpec {
    name: "embed",
    artifact: "embeddings",
    revision: 3,
    summary: "form retrievable chunks and embed them",
    reads: &[FILES, TEXTS, ENTITY_ROWS, EXPLANATIONS, SUMMARIES],
    writes: &[CHUNKS, EMBEDDINGS],
    identities: &[
        Identity::Model { setting: "embed.params.model", fallback: "models.embedder" },
        Identity::Library { name: "candle-core", version: "0.10.2" },
        Identity::Library { name: "candle-nn", version: "0.10.2" },
        Identity::Library { name: "candle-transformers", version: "0.10.2" },
        Identity::Library { name: "tokenizers", version: "0.22.2" },
        VECTOR_RECORD,
    ],
    ledger: Some("embeddings"),
    partial: true,
    levels: &[],
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
        // Bundles the C++ library.
        Identity::Library { name: "faiss-sys", version: "0.7.0" },
        Identity::Library { name: "tantivy", version: "0.27.0" },
        Identity::Format { name: "index", version: 1 },
    ],
    ledger: None,
    partial: false,
    levels: &[],
};

/// Every stage, in the order they run.
pub const PIPELINE: &[&StageSpec] = &[&PARSE, &GRAPH, &EXPLAIN, &ENTITIES, &EMBED, &INDEX];
