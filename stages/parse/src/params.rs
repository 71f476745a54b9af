//! Settings of the stage.

use almanac_freshness::tree::TreeRules;
use almanac_language::Limits;
use serde::Deserialize;

use crate::{Error, Result};

/// Least size of a document chunk, in characters.
const LEAST_CHUNK_SIZE: usize = 40;
/// Depth of brackets inside brackets above which a file is read as text.
const NESTING: usize = 1000;

/// `[parse.params]`: decides the rows, hashed into the stage key.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParseParams {
    /// Longest document chunk, in characters (paper's `max_chunk_size`).
    pub max_chunk_size: usize,
    /// Steps that a single file may take before it is read as text.
    pub max_file_steps: u64,
    /// Which files belong to the tree; the tree is scanned with them before the stage runs.
    pub tree: TreeRules,
}

impl ParseParams {
    /// Checks ranges.
    pub fn check(&self) -> Result<()> {
        if self.max_chunk_size < LEAST_CHUNK_SIZE {
            return Err(Error::ChunkSize { value: self.max_chunk_size, least: LEAST_CHUNK_SIZE });
        }
        Ok(())
    }

    /// Bounds on the work of one file.
    pub(crate) fn limits(&self) -> Limits {
        Limits { steps: self.max_file_steps, nesting: NESTING }
    }
}

/// What decides how fast, never the rows.
#[derive(Debug, Clone, Copy)]
pub struct ParseRun {
    /// Threads.
    pub threads: usize,
}
