//! Every table of the store, once.
//!
//! A table is one Rust type here; its columns are named nowhere else. [`EdgeIndex`] and
//! [`Entity::outline`] are the two ways to read rows that several stages share. The crate knows what rows
//! mean and must not know where they are kept, who computes them or how they are used.

mod answer;
mod chunks;
mod edge_index;
mod graph;
mod imported;
mod kinds;
mod outline;
mod records;
mod sources;

pub use answer::Answer;
pub use chunks::{Chunk, Embedding};
pub use edge_index::EdgeIndex;
pub use graph::{Edge, Module, Rank, Resolved, file_node, folder_node, namespace_node};
pub use imported::{Imported, preferred};
pub use kinds::{
    Access, ArtifactRole, EdgeKind, EntityKind, EntityLevel, FileStatus, Language, ModuleKind, RecordStatus,
    ReferenceKind, ReferenceOutcome, Resolution, SourceType,
};
pub use outline::OutlinePiece;
pub use records::{EmbeddingRecord, Explanation, GenerationRecord, GenerationRecordV1, Saying, Summary};
pub use sources::{Entity, File, Local, Reference, Text};
