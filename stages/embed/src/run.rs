//! Embeds what a ledger lacks, each text once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use almanac_artifact::{Digest, Ledger, Shard};
use almanac_inference::{EmbedSide, Embedder, OpenLedger};
use almanac_tables::{Chunk, Embedding, EmbeddingRecord};
use serde::Serialize;

use crate::{Error, Params, Result, embedding_text};

/// Bumped when the same text and model would give another vector.
const RECORD_FORMAT: u32 = 1;

/// What decides a vector beside its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorIdentity {
    /// Digest of the embedder's files.
    pub model_digest: String,
    /// What the embedder puts before a document.
    pub prefix: String,
}

/// A chunk's text as it is embedded, with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// Chunk.
    pub chunk_id: String,
    /// Digest of everything that decides the vector.
    pub record_key: String,
    /// Text in the embedder's window.
    pub text: String,
}

/// Fits every chunk into the embedder's window, in the order given; once `interrupted` is set, no more.
pub fn prepare(
    chunks: &[Chunk],
    embedder: &dyn Embedder,
    identity: &VectorIdentity,
    params: &Params,
    interrupted: &AtomicBool,
) -> Result<Vec<Prepared>> {
    let window = match params.max_chunk_tokens {
        0 => embedder.max_tokens(),
        tokens => tokens,
    };
    let prepare = |chunk: &Chunk| {
        let text = embedding_text(chunk, embedder, window)?;
        let record_key = Digest::of(|encoder| {
            let VectorIdentity { model_digest, prefix } = identity;
            encoder.u32(RECORD_FORMAT).text(model_digest).text(prefix).text(&text);
        });
        let record_key = record_key.to_string();
        Ok(Prepared { chunk_id: chunk.id.clone(), record_key, text })
    };
    chunks.iter().take_while(|_| !interrupted.load(Ordering::Relaxed)).map(prepare).collect()
}

/// What bounds a run.
#[derive(Debug, Clone, Copy)]
pub struct EmbedLimits<'a> {
    /// Part of the work to take.
    pub shard: Shard,
    /// When no more work is taken.
    pub deadline: Option<Instant>,
    /// Vectors to have, those of earlier runs included.
    pub most: usize,
    /// Texts handed to the embedder at once.
    pub batch: usize,
    /// Set from outside: no further text is embedded.
    pub interrupted: &'a AtomicBool,
}

/// What a run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct EmbedCounts {
    /// Distinct texts wanted of this task.
    pub wanted: usize,
    /// There already.
    pub reused: usize,
    /// Embedded now.
    pub embedded: usize,
    /// Not taken: time was over or the run was interrupted.
    pub left: usize,
}

/// State of a run, after each batch.
#[derive(Debug, Clone, Copy)]
pub struct EmbedProgress {
    /// Texts embedded now.
    pub done: usize,
    /// Texts to embed in this call.
    pub total: usize,
}

/// Embeds those of this task's texts that the ledger lacks, longest first, and flushes it.
pub fn embed_missing(
    prepared: &[Prepared],
    embedder: &dyn Embedder,
    ledger: &mut OpenLedger<EmbeddingRecord>,
    limits: &EmbedLimits<'_>,
    progress: &mut dyn FnMut(EmbedProgress),
) -> Result<EmbedCounts> {
    let mut counts = EmbedCounts::default();
    let mut missing = Vec::new();
    for (position, text) in distinct(prepared).into_iter().take(limits.most).enumerate() {
        if !limits.shard.owns(position) {
            continue;
        }
        counts.wanted += 1;
        match ledger.get(&text.record_key) {
            Some(_) => counts.reused += 1,
            None => missing.push(text),
        }
    }
    // Texts of one length pad nothing; the longest first shows at once whether memory suffices.
    missing.sort_by_key(|text| std::cmp::Reverse(text.text.len()));
    counts.left = missing.len();
    progress(EmbedProgress { done: 0, total: missing.len() });
    let mut result = Ok(());
    for batch in missing.chunks(limits.batch.max(1)) {
        let is_over = limits.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_over || limits.interrupted.load(Ordering::Relaxed) {
            break;
        }
        match embed_batch(batch, embedder, limits.interrupted) {
            Ok(records) => {
                for record in records {
                    ledger.put(record)?;
                    counts.embedded += 1;
                    counts.left -= 1;
                }
            }
            Err(error) => {
                result = Err(error);
                break;
            }
        }
        progress(EmbedProgress { done: counts.embedded, total: missing.len() });
    }
    // Also what was finished before the embedder failed.
    ledger.flush()?;
    result.map(|()| counts)
}

/// Texts of the first `most` that no task has embedded yet.
pub fn left_of_all(prepared: &[Prepared], ledger: &Ledger<EmbeddingRecord>, most: usize) -> usize {
    let wanted = distinct(prepared).into_iter().take(most);
    wanted.filter(|text| ledger.get(&text.record_key).is_none()).count()
}

/// One of the chunks that share a text, in order.
fn distinct(prepared: &[Prepared]) -> Vec<&Prepared> {
    let mut keys = BTreeSet::new();
    prepared.iter().filter(|text| keys.insert(&text.record_key)).collect()
}

/// The records of a batch; not all of them when it was interrupted.
fn embed_batch(
    batch: &[&Prepared],
    embedder: &dyn Embedder,
    interrupted: &AtomicBool,
) -> Result<Vec<EmbeddingRecord>> {
    let texts: Vec<String> = batch.iter().map(|text| text.text.clone()).collect();
    let vectors = embedder.embed_until(&texts, EmbedSide::Document, interrupted)?;
    let model = || embedder.identity().name.clone();
    if vectors.len() != texts.len() {
        let (expected, found) = (texts.len(), vectors.len());
        return Err(Error::VectorCount { model: model(), expected, found });
    }
    let record = |(text, vector): (&&Prepared, Vec<f32>)| {
        if vector.iter().all(|value| value.is_finite()) {
            Ok(EmbeddingRecord { record_key: text.record_key.clone(), vector })
        } else {
            Err(Error::NotFinite { model: model(), chunk: text.chunk_id.clone() })
        }
    };
    let there = batch.iter().zip(vectors).filter_map(|(text, vector)| Some((text, vector?)));
    there.map(record).collect()
}

/// The vectors there are, in table order. A chunk whose vector is missing has no row.
pub fn project(prepared: &[Prepared], mut ledger: Ledger<EmbeddingRecord>) -> Vec<Embedding> {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for text in prepared {
        *uses.entry(&text.record_key).or_default() += 1;
    }
    let mut rows: BTreeMap<&str, Embedding> = BTreeMap::new();
    for text in prepared {
        let key = text.record_key.as_str();
        let left = uses.get_mut(key).map_or(0, |left| {
            *left -= 1;
            *left
        });
        // The vectors are most of what is in memory: none is there twice that need not be.
        let vector = if left > 0 {
            ledger.get(key).map(|record| record.vector.clone())
        } else {
            ledger.take(key).map(|record| record.vector)
        };
        if let Some(vector) = vector {
            rows.insert(&text.chunk_id, Embedding { chunk_id: text.chunk_id.clone(), vector });
        }
    }
    rows.into_values().collect()
}
