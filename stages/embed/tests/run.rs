//! The window and the runner, over an embedder that counts words.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use almanac_artifact::Shard;
use almanac_embed::{
    EmbedCounts, EmbedLimits, Prepared, VectorIdentity, embed_missing, embedding_text, left_of_all, prepare,
    project,
};
use almanac_inference::{EmbedSide, Embedder, FlushPolicy, ModelIdentity, OpenLedger, Result};
use almanac_tables::{Chunk, EmbeddingRecord};

/// One token a word; a vector of the number of words and of letters.
struct Words {
    identity: ModelIdentity,
    seen: Mutex<Vec<Vec<String>>>,
    interrupt_after: usize,
    /// Texts of the first batch that are embedded before it is interrupted.
    interrupt_within: Option<usize>,
    /// Batch, counted from 1, whose vectors are no numbers.
    breaks_at: usize,
    interrupted: AtomicBool,
}

impl Words {
    fn new() -> Self {
        Self {
            identity: ModelIdentity { name: "words".into(), digest: "d".into() },
            seen: Mutex::default(),
            interrupt_after: usize::MAX,
            interrupt_within: None,
            breaks_at: usize::MAX,
            interrupted: AtomicBool::new(false),
        }
    }
}

impl Embedder for Words {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn dimension(&self) -> usize {
        2
    }

    fn max_tokens(&self) -> usize {
        48
    }

    fn count_tokens(&self, text: &str) -> Result<usize> {
        Ok(text.split_whitespace().count())
    }

    fn truncate<'a>(&self, text: &'a str, max_tokens: usize) -> Result<&'a str> {
        let mut end = 0;
        for word in text.split_whitespace().take(max_tokens) {
            end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
        }
        Ok(&text[..end])
    }

    fn embed(&self, texts: &[String], _side: EmbedSide) -> Result<Vec<Vec<f32>>> {
        let mut seen = self.seen.lock().unwrap();
        seen.push(texts.to_vec());
        if seen.len() >= self.interrupt_after {
            self.interrupted.store(true, Ordering::Relaxed);
        }
        let broken = if seen.len() >= self.breaks_at { f32::NAN } else { 1.0 };
        let vector = |text: &String| vec![text.split_whitespace().count() as f32 * broken, text.len() as f32];
        Ok(texts.iter().map(vector).collect())
    }

    fn embed_until(
        &self,
        texts: &[String],
        side: EmbedSide,
        interrupted: &AtomicBool,
    ) -> Result<Vec<Option<Vec<f32>>>> {
        let mut vectors: Vec<_> = self.embed(texts, side)?.into_iter().map(Some).collect();
        if let Some(kept) = self.interrupt_within {
            interrupted.store(true, Ordering::Relaxed);
            vectors[kept..].fill(None);
        }
        Ok(vectors)
    }
}

fn words(word: &str, count: usize) -> String {
    vec![word; count].join(" ")
}

fn chunk(explanation: usize, comment: usize, code: usize) -> Chunk {
    let mut text = "File: a.h\nSymbol: f".to_owned();
    for (label, word, count) in [
        ("Generated Explanation:", "why", explanation),
        ("Comment:", "note", comment),
        ("Code:", "code", code),
    ] {
        if count > 0 {
            text.push_str(&format!("\n{label}\n{}", words(word, count)));
        }
    }
    Chunk { id: format!("{explanation}-{comment}-{code}"), text, ..Chunk::default() }
}

/// Words of explanation, comment and code that are embedded.
fn kept(chunk: &Chunk, embedder: &dyn Embedder) -> (usize, usize, usize) {
    let text = embedding_text(chunk, embedder, usize::MAX).unwrap();
    assert!(text.split_whitespace().count() <= 40, "{text}");
    assert!(text.starts_with("File: a.h\nSymbol: f\n"));
    let count = |word| text.split_whitespace().filter(|found| *found == word).count();
    (count("why"), count("note"), count("code"))
}

#[test]
fn code_is_never_dropped_for_prose() {
    let embedder = Words::new();
    // The window is 48 less 8 in reserve; head 4, labels 2, 1 and 1.
    assert_eq!(kept(&chunk(10, 5, 15), &embedder), (10, 5, 15));
    assert_eq!(kept(&chunk(500, 0, 15), &embedder), (18, 0, 15));
    assert_eq!(kept(&chunk(500, 0, 500), &embedder), (13, 0, 20));
    assert_eq!(kept(&chunk(0, 0, 500), &embedder), (0, 0, 35));
    assert_eq!(kept(&chunk(5, 0, 500), &embedder), (5, 0, 28));
    assert_eq!(kept(&chunk(500, 4, 20), &embedder), (8, 4, 20));
    assert_eq!(kept(&chunk(500, 500, 20), &embedder), (6, 6, 20));
    assert_eq!(kept(&chunk(0, 500, 10), &embedder), (0, 24, 10));
}

fn prepared(embedder: &Words) -> Vec<Prepared> {
    let chunks: Vec<Chunk> = (1..=9).map(|count| chunk(0, 0, count % 7 + 1)).collect();
    prepare(&chunks, embedder, &vector_identity(""), &params(), &AtomicBool::new(false)).unwrap()
}

fn vector_identity(prefix: &str) -> VectorIdentity {
    VectorIdentity { model_digest: "d".into(), prefix: prefix.into() }
}

fn params() -> almanac_embed::Params {
    let defaults: toml::Table = include_str!("../../../config/defaults.toml").parse().unwrap();
    let _: almanac_embed::RunSettings = defaults["embed"]["run"].clone().try_into().unwrap();
    defaults["embed"]["params"].clone().try_into().unwrap()
}

fn ledger(folder: &Path) -> OpenLedger<EmbeddingRecord> {
    let policy = FlushPolicy { records: 3, interval: Duration::from_secs(60) };
    OpenLedger::open(folder, policy).unwrap()
}

fn run(embedder: &Words, folder: &Path, shard: Shard, most: usize) -> EmbedCounts {
    let limits = EmbedLimits { shard, deadline: None, most, batch: 2, interrupted: &embedder.interrupted };
    let prepared = prepared(embedder);
    embed_missing(&prepared, embedder, &mut ledger(folder), &limits, &mut |_| {}).unwrap()
}

#[test]
fn each_text_is_embedded_once_longest_first() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = Words::new();
    let counts = run(&embedder, folder.path(), Shard::WHOLE, usize::MAX);
    // Nine chunks have seven texts.
    assert_eq!((counts.wanted, counts.embedded, counts.left), (7, 7, 0));
    let lengths: Vec<usize> = embedder.seen.lock().unwrap().concat().iter().map(String::len).collect();
    assert!(lengths.is_sorted_by(|a, b| a > b), "{lengths:?}");
    let again = Words::new();
    let counts = run(&again, folder.path(), Shard::WHOLE, usize::MAX);
    assert_eq!((counts.reused, counts.embedded), (7, 0));
    assert!(again.seen.lock().unwrap().is_empty());
    let rows = project(&prepared(&again), ledger(folder.path()).finish(false).unwrap());
    assert_eq!(rows.len(), 7, "chunks of one id are one row");
    assert!(rows.is_sorted_by(|a, b| a.chunk_id < b.chunk_id));
    assert_eq!(rows[0].vector[0], 6.0);
}

#[test]
fn interrupted_limited_and_sharded_runs_end_with_the_same_vectors() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(&Words::new(), whole.path(), Shard::WHOLE, usize::MAX);
    let stopped = Words { interrupt_after: 1, ..Words::new() };
    let counts = run(&stopped, parts.path(), Shard::WHOLE, usize::MAX);
    assert_eq!((counts.embedded, counts.left), (2, 5));
    let limited = run(&Words::new(), parts.path(), Shard::WHOLE, 3);
    assert_eq!(limited.wanted, 3);
    let mut embedded = counts.embedded + limited.embedded;
    for number in [3, 1, 2] {
        embedded += run(&Words::new(), parts.path(), Shard { number, count: 3 }, usize::MAX).embedded;
    }
    assert_eq!(embedded, 7);
    let rows = |folder: &Path| project(&prepared(&Words::new()), ledger(folder).finish(false).unwrap());
    assert_eq!(rows(whole.path()), rows(parts.path()));
}

#[test]
fn an_embedder_that_breaks_costs_nothing_that_was_finished() {
    let folder = tempfile::tempdir().unwrap();
    let broken = Words { breaks_at: 2, ..Words::new() };
    let interrupted = AtomicBool::new(false);
    let shard = Shard::WHOLE;
    let limits = EmbedLimits { shard, deadline: None, most: usize::MAX, batch: 2, interrupted: &interrupted };
    // Two records of a batch are fewer than the three that the policy flushes.
    let result = embed_missing(&prepared(&broken), &broken, &mut ledger(folder.path()), &limits, &mut |_| {});
    assert!(matches!(result, Err(almanac_embed::Error::NotFinite { .. })));
    let counts = run(&Words::new(), folder.path(), Shard::WHOLE, usize::MAX);
    assert_eq!((counts.reused, counts.embedded), (2, 5));
}

#[test]
fn a_batch_that_is_interrupted_keeps_the_vectors_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let stopped = Words { interrupt_within: Some(1), ..Words::new() };
    let counts = run(&stopped, folder.path(), Shard::WHOLE, usize::MAX);
    assert_eq!((counts.embedded, counts.left), (1, 6));
    let counts = run(&Words::new(), folder.path(), Shard::WHOLE, usize::MAX);
    assert_eq!((counts.reused, counts.embedded), (1, 6));
    let chunks = [chunk(0, 0, 3), chunk(0, 0, 4)];
    let interrupted = AtomicBool::new(true);
    let prepared = prepare(&chunks, &Words::new(), &vector_identity(""), &params(), &interrupted);
    assert!(prepared.unwrap().is_empty(), "nor is any text made ready");
}

#[test]
fn the_last_shard_knows_that_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let prepared = prepared(&Words::new());
    let left = |most| left_of_all(&prepared, ledger(folder.path()).records(), most);
    assert_eq!((left(usize::MAX), left(4)), (7, 4));
    run(&Words::new(), folder.path(), Shard { number: 2, count: 2 }, 4);
    assert_eq!((left(usize::MAX), left(4)), (5, 2));
    run(&Words::new(), folder.path(), Shard { number: 1, count: 2 }, 4);
    assert_eq!((left(usize::MAX), left(4)), (3, 0), "a limit leaves nothing either");
}

#[test]
fn keys_know_text_model_and_prefix() {
    let embedder = Words::new();
    let key = |chunk: Chunk, identity: &VectorIdentity| {
        let never = AtomicBool::new(false);
        prepare(&[chunk], &embedder, identity, &params(), &never).unwrap().remove(0).record_key
    };
    let base = key(chunk(0, 0, 3), &vector_identity(""));
    assert_eq!(base, key(Chunk { id: "other".into(), ..chunk(0, 0, 3) }, &vector_identity("")));
    assert_ne!(base, key(chunk(0, 0, 4), &vector_identity("")));
    assert_ne!(base, key(chunk(0, 0, 3), &vector_identity("search_document: ")));
    let other = VectorIdentity { model_digest: "e".into(), ..vector_identity("") };
    assert_ne!(base, key(chunk(0, 0, 3), &other));
    // What the window cuts off decides nothing.
    let prefix = vector_identity("");
    assert_eq!(key(chunk(0, 0, 500), &prefix), key(chunk(0, 0, 501), &prefix));
}
