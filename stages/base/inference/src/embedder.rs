//! Text embeddings on candle.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::encoder::Encoder;
use crate::engine_panics::contain;
use crate::error::Cause;
use crate::models::{EmbeddingShape, ModelCatalog, ModelFormat, ModelRole, Pooling};
use crate::tokens::Tokens;
use crate::{EmbedSide, Embedder, Error, ModelIdentity, Result, device, models};

/// How an embedder runs; nothing here changes a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbedderOptions {
    /// Threads on a CPU.
    pub threads: NonZeroUsize,
    /// Bytes that forward passes may hold at once, weights not counted; one text always runs.
    pub memory_bytes: u64,
}

/// A BERT-like encoder with its tokenizer.
///
/// On a CPU each text is one forward pass on one thread and texts run beside each other, so a vector
/// is the same bit for bit whatever it is embedded with and however many threads there are. On a GPU
/// texts of the same number of tokens share a pass; vectors may then differ in the last bits.
pub struct CandleEmbedder {
    identity: ModelIdentity,
    shape: EmbeddingShape,
    tokens: Tokens,
    encoder: Encoder,
    /// Pools of one thread each: candle splits a matrix product over the pool it is called in, and
    /// work of two texts must not be mixed on one stack.
    pools: Vec<ThreadPool>,
    memory: MemoryGate,
}

/// A text to embed.
struct Job {
    /// Place in the caller's order.
    index: usize,
    ids: Vec<u32>,
}

impl CandleEmbedder {
    /// Verifies the files of the embedder `name` and loads it.
    pub fn load(
        catalog: &ModelCatalog,
        name: &str,
        models_dir: &Path,
        options: &EmbedderOptions,
    ) -> Result<Self> {
        let entry = catalog.get_as(name, ModelRole::Embedder)?;
        let failed = |source: Cause| Error::Load { name: name.to_owned(), source };
        let shape = entry
            .embedding
            .clone()
            .ok_or_else(|| failed("the catalogue says nothing about its vectors".into()))?;
        if entry.format != ModelFormat::Safetensors {
            return Err(failed("embedders are read from safetensors only".into()));
        }
        models::check(entry, models_dir)?;
        let identity = models::identity(entry, models_dir)?;
        let folder = entry.folder(models_dir);
        let weights: Vec<_> = models::files(entry, models_dir)?
            .into_iter()
            .filter(|file| file.name.ends_with(".safetensors"))
            .map(|file| folder.join(file.name))
            .collect();
        for needed in ["config.json", "tokenizer.json"] {
            if !folder.join(needed).is_file() {
                return Err(models::missing(entry, &folder.join(needed)));
            }
        }
        if weights.is_empty() {
            return Err(models::missing(entry, &folder.join("model.safetensors")));
        }
        let loaded = contain(|| {
            let device = device::device()?;
            let encoder = Encoder::load(&entry.architecture, &folder.join("config.json"), &weights, &device)?;
            let tokens = Tokens::load(&folder.join("tokenizer.json"), shape.max_tokens)?;
            check_shape(&shape, &encoder, &tokens)?;
            Ok((encoder, tokens))
        });
        let (encoder, tokens) = loaded.map_err(failed)?;
        let pools = (0..options.threads.get())
            .map(|_| ThreadPoolBuilder::new().num_threads(1).build())
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|error| failed(error.into()))?;
        let memory = MemoryGate::new(options.memory_bytes);
        let embedder = Self { identity, shape, tokens, encoder, pools, memory };
        // What fits together by its numbers may still not work; better known now than in the middle.
        contain(|| embedder.try_out()).map_err(failed)?;
        Ok(embedder)
    }

    /// Embeds a short text.
    fn try_out(&self) -> Result<(), Cause> {
        let job = Job { index: 0, ids: self.tokens.ids("A word.")? };
        let vectors = self.embed_batch(std::slice::from_ref(&job))?;
        match vectors.first().map(Vec::len) {
            Some(length) if length == self.shape.dimension => Ok(()),
            found => Err(format!("a text got {found:?} numbers, not {}", self.shape.dimension).into()),
        }
    }

    /// Longest first, so that no thread is left alone with a long text at the end.
    fn jobs(&self, texts: &[String], side: EmbedSide) -> Result<Vec<Job>> {
        let prefix = match side {
            EmbedSide::Document => &self.shape.document_prefix,
            EmbedSide::Query => &self.shape.query_prefix,
        };
        let mut jobs = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            let ids = contain(|| {
                if prefix.is_empty() {
                    self.tokens.ids(text)
                } else {
                    self.tokens.ids(&format!("{prefix}{text}"))
                }
            });
            jobs.push(Job { index, ids: ids.map_err(|source| self.tokenize_error(source))? });
        }
        jobs.sort_by(|a, b| b.ids.len().cmp(&a.ids.len()).then(a.index.cmp(&b.index)));
        Ok(jobs)
    }

    /// Vectors of jobs that all have the same number of tokens.
    fn embed_batch(&self, jobs: &[Job]) -> Result<Vec<Vec<f32>>, Cause> {
        let ids: Vec<&[u32]> = jobs.iter().map(|job| job.ids.as_slice()).collect();
        let hidden = self.encoder.forward(&ids)?;
        let pooled = match self.shape.pooling {
            Pooling::Mean => hidden.mean(1)?,
            Pooling::Cls => hidden.narrow(1, 0, 1)?.squeeze(1)?,
        };
        let mut vectors = pooled.to_vec2::<f32>()?;
        for vector in &mut vectors {
            if vector.iter().any(|component| !component.is_finite()) {
                return Err("a vector has components that are not finite".into());
            }
            if self.shape.normalise {
                scale_to_unit(vector);
            }
        }
        Ok(vectors)
    }

    fn tokenize_error(&self, source: Cause) -> Error {
        Error::Tokenize { name: self.identity.name.clone(), source }
    }
}

impl Embedder for CandleEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn dimension(&self) -> usize {
        self.shape.dimension
    }

    fn max_tokens(&self) -> usize {
        self.shape.max_tokens
    }

    fn count_tokens(&self, text: &str) -> Result<usize> {
        self.tokens.count(text).map_err(|source| self.tokenize_error(source))
    }

    fn truncate<'a>(&self, text: &'a str, max_tokens: usize) -> Result<&'a str> {
        self.tokens.truncate(text, max_tokens).map_err(|source| self.tokenize_error(source))
    }

    fn embed(&self, texts: &[String], side: EmbedSide) -> Result<Vec<Vec<f32>>> {
        let never = AtomicBool::new(false);
        Ok(self.embed_until(texts, side, &never)?.into_iter().flatten().collect())
    }

    fn embed_until(
        &self,
        texts: &[String],
        side: EmbedSide,
        interrupted: &AtomicBool,
    ) -> Result<Vec<Option<Vec<f32>>>> {
        let jobs = self.jobs(texts, side)?;
        let batches = batches(&jobs, |count, length| {
            count == 1 || (!device::IS_CPU && self.encoder.working_bytes(count, length) <= self.memory.limit)
        });
        let next = AtomicUsize::new(0);
        let finished = Mutex::new(Vec::with_capacity(batches.len()));
        let work = || {
            while let Some(range) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                if interrupted.load(Ordering::Relaxed) {
                    return;
                }
                let jobs = &jobs[range.clone()];
                let length = jobs.first().map_or(0, |job| job.ids.len());
                let _held = self.memory.enter(self.encoder.working_bytes(jobs.len(), length));
                let vectors = contain(|| self.embed_batch(jobs));
                let has_failed = vectors.is_err();
                finished.lock().unwrap_or_else(PoisonError::into_inner).push((range.start, vectors));
                if has_failed {
                    next.store(batches.len(), Ordering::Relaxed);
                }
            }
        };
        let workers = if device::IS_CPU { self.pools.len() } else { 1 };
        std::thread::scope(|scope| {
            for pool in self.pools.iter().take(workers.min(batches.len())) {
                scope.spawn(move || pool.install(work));
            }
        });
        let finished = finished.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut ordered = vec![None; texts.len()];
        for (start, vectors) in finished {
            let vectors =
                vectors.map_err(|source| Error::Embed { name: self.identity.name.clone(), source })?;
            for (job, vector) in jobs[start..].iter().zip(vectors) {
                ordered[job.index] = Some(vector);
            }
        }
        Ok(ordered)
    }
}

/// Splits jobs, sorted by length, into runs of equal length that `fits` accepts.
fn batches(jobs: &[Job], fits: impl Fn(usize, usize) -> bool) -> Vec<Range<usize>> {
    let mut batches = Vec::new();
    let mut start = 0;
    for end in 1..=jobs.len() {
        let length = jobs[start].ids.len();
        let goes_on =
            jobs.get(end).is_some_and(|job| job.ids.len() == length && fits(end + 1 - start, length));
        if !goes_on {
            batches.push(start..end);
            start = end;
        }
    }
    batches
}

/// The catalogue's numbers and the tokenizer's against those of the weights.
fn check_shape(shape: &EmbeddingShape, encoder: &Encoder, tokens: &Tokens) -> Result<(), String> {
    if let Some(id) = tokens.highest_id()
        && id as usize >= encoder.vocabulary()
    {
        return Err(format!(
            "the tokenizer has a token {id}, the weights have vectors of {} tokens",
            encoder.vocabulary()
        ));
    }
    if shape.dimension != encoder.hidden() {
        return Err(format!(
            "the catalogue declares vectors of {}, the weights make {}",
            shape.dimension,
            encoder.hidden()
        ));
    }
    if shape.max_tokens > encoder.positions() {
        return Err(format!(
            "the catalogue declares a window of {} tokens, the weights allow {}",
            shape.max_tokens,
            encoder.positions()
        ));
    }
    Ok(())
}

fn scale_to_unit(vector: &mut [f32]) {
    let squares: f64 = vector.iter().map(|component| f64::from(*component).powi(2)).sum();
    if squares > 0.0 {
        let scale = 1.0 / squares.sqrt();
        for component in vector {
            *component = (f64::from(*component) * scale) as f32;
        }
    }
}

/// Lets work in while its memory fits.
struct MemoryGate {
    limit: u64,
    held: Mutex<u64>,
    freed: Condvar,
}

/// Gives its bytes back when dropped.
struct Held<'a> {
    gate: &'a MemoryGate,
    bytes: u64,
}

impl MemoryGate {
    fn new(limit: u64) -> Self {
        Self { limit, held: Mutex::new(0), freed: Condvar::new() }
    }

    /// Waits until `bytes` fit beside what is held, or nothing is held.
    fn enter(&self, bytes: u64) -> Held<'_> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        while *held > 0 && *held + bytes > self.limit {
            held = self.freed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        *held += bytes;
        Held { gate: self, bytes }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        *self.gate.held.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.gate.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(lengths: &[usize]) -> Vec<Job> {
        lengths.iter().enumerate().map(|(index, length)| Job { index, ids: vec![0; *length] }).collect()
    }

    #[test]
    fn batches_hold_one_length_and_fit() {
        let jobs = jobs(&[9, 9, 9, 5, 4, 4]);
        assert_eq!(batches(&jobs, |count, _| count <= 2), [0..2, 2..3, 3..4, 4..6]);
        assert_eq!(batches(&jobs, |_, _| true), [0..3, 3..4, 4..6]);
        assert_eq!(batches(&jobs, |count, _| count == 1).len(), 6);
        assert!(batches(&[], |_, _| true).is_empty());
    }

    #[test]
    fn a_text_over_the_limit_still_runs() {
        let gate = MemoryGate::new(10);
        let held = gate.enter(25);
        assert_eq!(*gate.held.lock().unwrap(), 25);
        drop(held);
        assert_eq!(*gate.held.lock().unwrap(), 0);
    }

    #[test]
    fn unit_length_and_zero() {
        let mut vector = vec![3.0, 4.0];
        scale_to_unit(&mut vector);
        assert_eq!(vector, [0.6, 0.8]);
        let mut zero = vec![0.0, 0.0];
        scale_to_unit(&mut zero);
        assert_eq!(zero, [0.0, 0.0]);
    }
}
