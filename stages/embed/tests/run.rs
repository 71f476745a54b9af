//! The window and the runner, over an embedder that counts words.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use almanac_embed::{
    EmbedCounts, EmbedLimits, Prepared, VectorIdentity, embed_missing, embedding_text, prepare, project,
};
use almanac_inference::{EmbedSide, Embedder, FlushPolicy, ModelIdentity, OpenLedger, Result, Shard};
use almanac_tables::{Chunk, EmbeddingRecord};

/// One token a word; a vector of the number of words and of letters.
struct Words {
    identity: ModelIdentity,
    seen: Mutex<Vec<Vec<String>>>,
    interrupt_after: usize,
    interrupted: AtomicBool,
}

impl Words {
    fn new() -> Self {
        Self {
            identity: ModelIdentity { name: "words".into(), digest: "d".into() },
            seen: Mutex::default(),
            interrupt_after: usize::MAX,
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
        let vector = |text: &String| vec![text.split_whitespace().count() as f32, text.len() as f32];
        Ok(texts.iter().map(vector).collect())
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
    prepare(&chunks, embedder, &vector_identity(""), &params()).unwrap()
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
    let rows = project(&prepared(&again), ledger(folder.path()).records());
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
    for index in [2, 0, 1] {
        embedded += run(&Words::new(), parts.path(), Shard { index, count: 3 }, usize::MAX).embedded;
    }
    assert_eq!(embedded, 7);
    let rows = |folder: &Path| project(&prepared(&Words::new()), ledger(folder).records());
    assert_eq!(rows(whole.path()), rows(parts.path()));
}

#[test]
fn keys_know_text_model_and_prefix() {
    let embedder = Words::new();
    let key = |chunk: Chunk, identity: &VectorIdentity| {
        prepare(&[chunk], &embedder, identity, &params()).unwrap().remove(0).record_key
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
