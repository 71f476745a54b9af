//! What the embed stage writes: the retrievable chunks and their vectors (paper 3.2.5).

use almanac_artifact::table;

use crate::{ArtifactRole, EntityKind, EntityLevel, SourceType};

table! {
    /// A retrievable record.
    pub struct Chunk in "chunks", version 1, sorted by (path, start_line, end_line, id) {
        /// Stable id: 20 hexadecimal digits over subject, part and text.
        id: String,
        /// Entity id, or the summary's id.
        subject: String,
        /// Level.
        level: EntityLevel,
        /// Kind of the entity or summary.
        kind: EntityKind,
        /// File; empty for a module.
        path: String,
        /// File name with extension; last component for a module.
        file_name: String,
        /// File name without extension.
        base_name: String,
        /// Symbol, section title, file, module or callable.
        symbol: String,
        /// Qualified name.
        qualified_name: String,
        /// Enclosing scope or module.
        parent: String,
        /// First line, from 1; 0 for a module.
        start_line: u32,
        /// Last line, inclusive.
        end_line: u32,
        /// Interface, implementation, documentation, ...
        source_type: SourceType,
        /// Part its file plays in the project.
        role: ArtifactRole,
        /// Which piece of the subject this is, from 0.
        part: u32,
        /// Number of pieces.
        parts: u32,
        /// The structured text that is embedded, before truncation.
        text: String,
        /// Generated explanation inside `text`; empty when there is none.
        explanation: String,
    }
}

table! {
    /// Vector of a chunk.
    pub struct Embedding in "embeddings", version 1, sorted by (chunk_id) {
        /// Chunk.
        chunk_id: String,
        /// Vector in the model's dimensions.
        vector: Vec<f32>,
    }
}
