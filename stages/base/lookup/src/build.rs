//! Rows to index files.

use std::collections::BTreeMap;
use std::path::Path;

use almanac_tables::{Chunk, Embedding};
use serde::{Deserialize, Serialize};

use crate::lexical;
use crate::vectors::VectorIndex;
use crate::{Analyzer, Error, Result, Tables, units};

/// Description of the index files, inside their folder.
pub const CONTENTS_FILE: &str = "contents.json";
/// The vector index; absent when no chunk has a vector.
pub const VECTORS_FILE: &str = "vectors.faiss";
/// Folder of the text index.
pub const LEXICAL_FOLDER: &str = "bm25";

/// Format of the files; bumped when analysis, units or layout change.
const FORMAT: u32 = 1;

/// What an index holds, to check the files against the rows they are opened with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// Format of the files.
    pub format: u32,
    /// Chunks the vectors were numbered by.
    pub chunks: usize,
    /// Places of chunks that have no vector, rising; usually none.
    pub chunks_without_vector: Vec<usize>,
    /// Vectors.
    pub vectors: usize,
    /// Values in a vector; 0 without vectors.
    pub dimension: usize,
    /// Documents of the text index.
    pub units: usize,
    /// Size in bytes of each file, by path inside the folder.
    pub files: BTreeMap<String, u64>,
}

impl Contents {
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(CONTENTS_FILE);
        let bytes = fs_err::read(&path).map_err(Error::io("read", &path))?;
        let contents: Self = serde_json::from_slice(&bytes)
            .map_err(|error| Error::Damaged { path: path.clone(), detail: error.to_string() })?;
        if contents.format != FORMAT {
            return Err(Error::Format { path, found: contents.format, expected: FORMAT });
        }
        Ok(contents)
    }

    /// Checks that every file is there and has its length.
    pub(crate) fn check_files(&self, folder: &Path) -> Result<()> {
        for (file, &bytes) in &self.files {
            let path = folder.join(file);
            let found = fs_err::metadata(&path).map_err(Error::io("read", &path))?.len();
            if found != bytes {
                let detail = format!("{found} bytes, expected {bytes}");
                return Err(Error::Damaged { path, detail });
            }
        }
        Ok(())
    }
}

/// Writes vector and text index over `tables` and `embeddings` into `folder`, which must exist
/// and be empty. The same rows give the same bytes.
///
/// # Errors
/// A vector of another length than the first, with a value that is not finite, or of an unknown
/// chunk; a full or read-only file system.
pub fn build(tables: &Tables, embeddings: &[Embedding], folder: &Path) -> Result<Contents> {
    let placed = place(&tables.chunks, embeddings)?;
    if placed.dimension > 0 {
        VectorIndex::write(&folder.join(VECTORS_FILE), &placed.values, placed.dimension)?;
    }
    let lexical_folder = folder.join(LEXICAL_FOLDER);
    fs_err::create_dir_all(&lexical_folder).map_err(Error::io("create", &lexical_folder))?;
    let units = units::list(tables);
    let texts = units.iter().map(|unit| units::text(tables, unit));
    lexical::write(&lexical_folder, &Analyzer::default(), texts)?;
    let contents = Contents {
        format: FORMAT,
        chunks: tables.chunks.len(),
        vectors: tables.chunks.len() - placed.missing.len(),
        chunks_without_vector: placed.missing,
        dimension: placed.dimension,
        units: units.len(),
        files: sizes(folder)?,
    };
    let path = folder.join(CONTENTS_FILE);
    let mut bytes = serde_json::to_vec_pretty(&contents).map_err(|source| Error::Describe { source })?;
    bytes.push(b'\n');
    fs_err::write(&path, bytes).map_err(Error::io("write", &path))?;
    Ok(contents)
}

/// Vectors in the order of their chunks.
struct Placed {
    values: Vec<f32>,
    dimension: usize,
    missing: Vec<usize>,
}

fn place(chunks: &[Chunk], embeddings: &[Embedding]) -> Result<Placed> {
    let dimension = embeddings.first().map_or(0, |embedding| embedding.vector.len());
    let mut by_chunk: BTreeMap<&str, &[f32]> = BTreeMap::new();
    for Embedding { chunk_id, vector } in embeddings {
        if vector.len() != dimension || dimension == 0 {
            return Err(Error::Dimension {
                what: format!("chunk {chunk_id}"),
                found: vector.len(),
                expected: dimension.max(1),
            });
        }
        if vector.iter().any(|value| !value.is_finite()) {
            return Err(Error::NotFinite { chunk: chunk_id.clone() });
        }
        by_chunk.insert(chunk_id, vector);
    }
    let mut values = Vec::with_capacity(embeddings.len() * dimension);
    let mut missing = Vec::new();
    for (at, chunk) in chunks.iter().enumerate() {
        match by_chunk.remove(chunk.id.as_str()) {
            Some(vector) => values.extend_from_slice(vector),
            None => missing.push(at),
        }
    }
    if let Some(&chunk) = by_chunk.keys().next() {
        return Err(Error::UnknownChunk { count: by_chunk.len(), chunk: chunk.to_owned() });
    }
    Ok(Placed { values, dimension, missing })
}

fn sizes(folder: &Path) -> Result<BTreeMap<String, u64>> {
    let mut sizes = BTreeMap::new();
    for (prefix, folder) in
        [(String::new(), folder.to_owned()), (format!("{LEXICAL_FOLDER}/"), folder.join(LEXICAL_FOLDER))]
    {
        for entry in fs_err::read_dir(&folder).map_err(Error::io("list", &folder))? {
            let entry = entry.map_err(Error::io("list", &folder))?;
            let metadata = entry.metadata().map_err(Error::io("inspect", &entry.path()))?;
            if metadata.is_file() {
                let name = entry.file_name().to_string_lossy().into_owned();
                sizes.insert(format!("{prefix}{name}"), metadata.len());
            }
        }
    }
    Ok(sizes)
}
