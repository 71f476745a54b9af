//! The exact vector index: FAISS, flat, squared L2 distance (paper 3.2.6).

use std::path::{Path, PathBuf};

use faiss::index::flat::FlatIndexImpl;
use faiss::index::io::{read_index, write_index};
use faiss::{ConcurrentIndex, Index};

use crate::guard::guarded;
use crate::{Error, Result};

/// Vectors by number, as written.
pub(crate) struct VectorIndex {
    path: PathBuf,
    index: FlatIndexImpl,
    dimension: usize,
    count: usize,
}

impl VectorIndex {
    /// Writes `vectors` (row-major, `dimension` values each) to `path`.
    pub(crate) fn write(path: &Path, vectors: &[f32], dimension: usize) -> Result<()> {
        let mut index = FlatIndexImpl::new_l2(dimension as u32).map_err(Error::vectors("create", path))?;
        index.add(vectors).map_err(Error::vectors("fill", path))?;
        write_index(&index, utf8(path)?).map_err(Error::vectors("write", path))
    }

    /// Opens `path`, which must hold `count` vectors of `dimension` values.
    pub(crate) fn open(path: &Path, dimension: usize, count: usize) -> Result<Self> {
        guarded(path, || Self::open_file(path, dimension, count))
    }

    fn open_file(path: &Path, dimension: usize, count: usize) -> Result<Self> {
        let index = read_index(utf8(path)?)
            .and_then(|index| index.into_flat())
            .map_err(Error::vectors("open", path))?;
        let found = (index.d() as usize, index.ntotal() as usize);
        if found != (dimension, count) {
            let detail =
                format!("{} vectors of {} dimensions, expected {count} of {dimension}", found.1, found.0);
            return Err(Error::Damaged { path: path.to_owned(), detail });
        }
        Ok(Self { path: path.to_owned(), index, dimension, count })
    }

    /// Number and squared distance of the `k` nearest, nearest first; ties by number.
    pub(crate) fn nearest(&self, vector: &[f32], k: usize) -> Result<Vec<(usize, f32)>> {
        let k = k.min(self.count);
        if k == 0 {
            return Ok(Vec::new());
        }
        let found = guarded(&self.path, || {
            self.index.search(vector, k).map_err(Error::vectors("search", &self.path))
        })?;
        let mut hits: Vec<(usize, f32)> = found
            .labels
            .iter()
            .zip(&found.distances)
            .filter_map(|(label, &distance)| Some((label.get()? as usize, distance)))
            .filter(|&(number, _)| number < self.count)
            .collect();
        hits.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        Ok(hits)
    }

    /// Squared distance of vector `number` to `vector`.
    pub(crate) fn distance(&self, number: usize, vector: &[f32]) -> f32 {
        let start = number * self.dimension;
        let stored = &self.index.xb()[start..start + self.dimension];
        stored.iter().zip(vector).map(|(a, b)| (a - b) * (a - b)).sum()
    }
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| Error::PathEncoding { path: path.to_owned() })
}
