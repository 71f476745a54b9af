//! Embedding: known values, independence of company, windows, and architectures.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use almanac_inference::{CandleEmbedder, EmbedSide, Embedder, EmbedderOptions, Error};
use candle_core::{DType, Device, Tensor};
use miette::Diagnostic as _;
use serde_json::{Value, json};

use crate::{models_dir, shipped, tiny};

const CONJUGATE: &str = "The conjugate gradient method solves symmetric positive definite systems.";
const SCATTER: &str = "void scatter(Field& f, const ParticleAttrib<Vector<T, Dim>>& pp);";

const SHAPE: &str = "[model.embedding]\ndimension = 16\nmax_tokens = 64\npooling = \"mean\"\n\
    normalise = true\ndocument_prefix = \"search_document: \"\nquery_prefix = \"search_query: \"\n";

fn options(threads: usize) -> EmbedderOptions {
    EmbedderOptions { threads: NonZeroUsize::new(threads).unwrap(), memory_bytes: 64 << 20 }
}

fn minilm() -> &'static CandleEmbedder {
    static LOADED: OnceLock<CandleEmbedder> = OnceLock::new();
    LOADED.get_or_init(|| {
        CandleEmbedder::load(&shipped(), "all-minilm-l6-v2", &models_dir(), &options(2))
            .expect("run `almanac models get all-minilm-l6-v2` first")
    })
}

fn embed(model: &CandleEmbedder, texts: &[&str]) -> Vec<Vec<f32>> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    model.embed(&texts, EmbedSide::Document).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Values of ../reference/minilm.py, which writes BERT out in numpy in double precision.
#[test]
fn known_values() {
    let long = "word ".repeat(400);
    let texts = [CONJUGATE, SCATTER, "", &long];
    let vectors = embed(minilm(), &texts);
    let expected = [
        [-0.092700, -0.054665, 0.017806, 0.034384, 0.031674],
        [0.053237, -0.001132, 0.024729, 0.016414, 0.032767],
        [-0.118838, 0.048299, -0.002548, 0.035949, -0.015717],
        [-0.008124, -0.095586, -0.038673, -0.075985, 0.015241],
    ];
    for ((vector, expected), text) in vectors.iter().zip(expected).zip(texts) {
        assert_eq!(vector.len(), 384);
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-6);
        for (index, expected) in [0, 1, 2, 100, 383].into_iter().zip(expected) {
            let found = vector[index];
            assert!(
                (found - expected).abs() < 1e-5,
                "component {index} of {text:.20}: {found}, not {expected}"
            );
        }
    }
}

#[test]
fn meaning_is_near() {
    let vectors = embed(
        minilm(),
        &["Which iterative solver is for positive definite matrices?", CONJUGATE, "Bananas are yellow."],
    );
    let (near, far) = (cosine(&vectors[0], &vectors[1]), cosine(&vectors[0], &vectors[2]));
    assert!(near > far + 0.2, "{near} and {far}");
}

/// The vectors of a store must not depend on which texts a run happened to embed together.
#[test]
fn company_and_threads_change_nothing() {
    let model = minilm();
    let texts: Vec<String> =
        (0..24).map(|index| format!("{CONJUGATE} {}", "mesh ".repeat(index * 7 % 23))).collect();
    let together = model.embed(&texts, EmbedSide::Document).unwrap();
    let alone: Vec<Vec<f32>> = texts
        .iter()
        .flat_map(|text| model.embed(std::slice::from_ref(text), EmbedSide::Document).unwrap())
        .collect();
    assert_eq!(together, alone);
    let mut reversed = texts.clone();
    reversed.reverse();
    let mut backwards = model.embed(&reversed, EmbedSide::Document).unwrap();
    backwards.reverse();
    assert_eq!(together, backwards);
    for threads in [1, 5] {
        let other =
            CandleEmbedder::load(&shipped(), "all-minilm-l6-v2", &models_dir(), &options(threads)).unwrap();
        assert_eq!(together, other.embed(&texts, EmbedSide::Document).unwrap());
    }
}

#[test]
fn counts_like_word_piece() {
    let model = minilm();
    // Numbers of ../reference/minilm.py.
    for (text, pieces) in [(CONJUGATE, 13), (SCATTER, 26), ("", 0)] {
        assert_eq!(model.count_tokens(text).unwrap(), pieces, "{text}");
    }
    assert_eq!(model.count_tokens(&"word ".repeat(400)).unwrap(), 400);
    assert_eq!((model.dimension(), model.max_tokens()), (384, 256));
    assert_eq!(model.identity().name, "all-minilm-l6-v2");
}

#[test]
fn truncates_at_tokens_of_the_original() {
    let model = minilm();
    let check = |text: &str, limit: usize, expected: &str| {
        assert_eq!(model.truncate(text, limit).unwrap(), expected);
        assert!(model.count_tokens(expected).unwrap() <= limit);
    };
    // Pieces by the vocabulary: the con ##ju ##gate gradient, a + b, gr ##o ##ße el ##an end.
    check("The Conjugate  gradient", 2, "The Con");
    check("The Conjugate  gradient", 4, "The Conjugate");
    check("The Conjugate  gradient", 5, "The Conjugate  gradient");
    check("a+b", 2, "a+");
    check("a+b", 0, "");
    check("", 3, "");
    // Case and accents are folded by the tokenizer and whole in the original.
    check("Größe Élan end", 1, "Gr");
    check("Größe Élan end", 3, "Größe");
    check("Größe Élan end", 4, "Größe Él");
    check("中文字", 2, "中文");
    let long = "word ".repeat(400);
    let cut = model.truncate(&long, 254).unwrap();
    assert_eq!(model.count_tokens(cut).unwrap(), 254);
    // 254 and two special tokens are the window, so the rest was not seen.
    assert_eq!(embed(model, &[&long]), embed(model, &[cut]));
}

#[test]
fn no_texts_no_vectors() {
    assert!(minilm().embed(&[], EmbedSide::Query).unwrap().is_empty());
}

#[test]
fn bert_of_random_weights() {
    let folder = tempfile::tempdir().unwrap();
    tiny::bert(folder.path());
    let shape = SHAPE.replace("\"mean\"", "\"cls\"").replace("true", "false");
    let catalog = tiny::catalog(folder.path(), "bert", &shape);
    let models = tempfile::tempdir().unwrap();
    let model = CandleEmbedder::load(&catalog, "tiny", models.path(), &options(2)).unwrap();
    let vectors = embed(&model, &["mesh field", "field mesh", "mesh field"]);
    assert_eq!(vectors[0].len(), 16);
    assert_eq!(vectors[0], vectors[2]);
    assert_ne!(vectors[0], vectors[1]);
    // Layer normalisation leaves a norm of 4 in 16 dimensions, which nothing has scaled to one.
    assert!((cosine(&vectors[0], &vectors[0]) - 16.0).abs() < 1e-2);
}

#[test]
fn nomic_bert_of_random_weights() {
    let folder = tempfile::tempdir().unwrap();
    tiny::nomic_bert(folder.path());
    let models = tempfile::tempdir().unwrap();
    let catalog = tiny::catalog(folder.path(), "nomic_bert", SHAPE);
    let model = CandleEmbedder::load(&catalog, "tiny", models.path(), &options(2)).unwrap();
    let texts = ["mesh field particle".to_owned()];
    let document = model.embed(&texts, EmbedSide::Document).unwrap().remove(0);
    let query = model.embed(&texts, EmbedSide::Query).unwrap().remove(0);
    assert_ne!(document, query);
    assert!((cosine(&document, &document) - 1.0).abs() < 1e-6);

    // The prefix is nothing but text before the text.
    let bare = SHAPE.replace("search_document: ", "").replace("search_query: ", "");
    let catalog = tiny::catalog(folder.path(), "nomic_bert", &bare);
    let bare = CandleEmbedder::load(&catalog, "tiny", models.path(), &options(1)).unwrap();
    let by_hand = embed(&bare, &["search_query: mesh field particle"]).remove(0);
    assert_eq!(query, by_hand);
    assert_ne!(model.identity().digest, bare.identity().digest);
}

/// A tiny model in a folder, for tests that damage it.
struct Damaged {
    folder: tempfile::TempDir,
    models: tempfile::TempDir,
}

impl Damaged {
    fn bert() -> Self {
        let damaged = Self { folder: tempfile::tempdir().unwrap(), models: tempfile::tempdir().unwrap() };
        tiny::bert(damaged.folder.path());
        damaged
    }

    fn nomic() -> Self {
        let damaged = Self { folder: tempfile::tempdir().unwrap(), models: tempfile::tempdir().unwrap() };
        tiny::nomic_bert(damaged.folder.path());
        damaged
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// Sets a key of a JSON file; null removes it.
    fn set(&self, file: &str, key: &str, value: Value) -> &Self {
        let mut document: Value =
            serde_json::from_str(&fs_err::read_to_string(self.path(file)).unwrap()).unwrap();
        match value {
            Value::Null => drop(document.as_object_mut().unwrap().remove(key)),
            value => document[key] = value,
        }
        fs_err::write(self.path(file), document.to_string()).unwrap();
        self
    }

    /// Writes the weights anew with one tensor changed.
    fn tensor(&self, name: &str, change: impl Fn(&Tensor) -> Tensor) -> &Self {
        let path = self.path("model.safetensors");
        let mut tensors = candle_core::safetensors::load(&path, &Device::Cpu).unwrap();
        let changed = change(&tensors[name]);
        tensors.insert(name.to_owned(), changed);
        candle_core::safetensors::save(&tensors, &path).unwrap();
        self
    }

    fn load(&self, architecture: &str, shape: &str) -> Result<CandleEmbedder, Error> {
        let catalog = tiny::catalog(self.folder.path(), architecture, shape);
        CandleEmbedder::load(&catalog, "tiny", self.models.path(), &options(1))
    }

    /// The cause of a refusal, which is one of bad data.
    #[track_caller]
    fn cause(&self, architecture: &str, shape: &str) -> String {
        let error = self.load(architecture, shape).err().expect("loading fails");
        assert!(matches!(error, Error::Load { .. }), "{error}");
        assert_eq!(error.code().unwrap().to_string(), "almanac::data");
        std::error::Error::source(&error).expect("a cause").to_string()
    }
}

#[test]
fn wrong_files_are_named() {
    let damaged = Damaged::bert();
    let wider = SHAPE.replace("dimension = 16", "dimension = 32");
    assert!(damaged.cause("bert", &wider).contains("vectors of 32, the weights make 16"));
    assert!(damaged.cause("modernbert", SHAPE).contains("`modernbert`"));
    assert!(damaged.cause("nomic_bert", SHAPE).contains("lacks `n_embd`"));
    fs_err::remove_file(damaged.path("tokenizer.json")).unwrap();
    let error = damaged.load("bert", SHAPE).err().expect("loading fails");
    assert!(error.to_string().contains("tokenizer.json"), "{error}");
    assert_eq!(error.code().unwrap().to_string(), "almanac::unavailable");
}

#[test]
fn configs_that_no_model_has_are_refused() {
    for (key, value, words) in [
        ("hidden_size", json!(0), "`hidden_size` in `config.json` is 0"),
        ("hidden_size", json!(32), "shape mismatch"),
        ("hidden_size", Value::Null, "hidden_size"),
        ("num_attention_heads", json!(0), "`num_attention_heads` in `config.json` is 0"),
        ("num_attention_heads", json!(3), "3 attention heads cannot divide a width of 16"),
        ("num_hidden_layers", json!(1_000_000_000), "is 1000000000"),
        ("num_hidden_layers", json!(3), "layer.2"),
        ("num_hidden_layers", json!("two"), "is \"two\""),
        ("intermediate_size", json!(1_u64 << 40), "is 1099511627776"),
        ("max_position_embeddings", json!(1_u64 << 40), "is 1099511627776"),
        ("max_position_embeddings", json!(32), "shape mismatch"),
        ("vocab_size", json!(11), "shape mismatch"),
        ("type_vocab_size", json!(0), "shape mismatch"),
        ("hidden_act", json!("swish"), "swish"),
    ] {
        let cause = Damaged::bert().set("config.json", key, value.clone()).cause("bert", SHAPE);
        assert!(cause.contains(words), "{key} {value}: {cause}");
    }
    for (key, value, words) in [
        ("n_head", json!(0), "`n_head` in `config.json` is 0"),
        ("n_embd", Value::Null, "lacks `n_embd`"),
        ("n_positions", json!(1_u64 << 30), "is 1073741824"),
    ] {
        let cause = Damaged::nomic().set("config.json", key, value.clone()).cause("nomic_bert", SHAPE);
        assert!(cause.contains(words), "{key} {value}: {cause}");
    }
    let damaged = Damaged::bert();
    for text in ["", "<html>please log in</html>", "[]", "{", "\u{0}\u{0}"] {
        fs_err::write(damaged.path("config.json"), text).unwrap();
        assert!(damaged.cause("bert", SHAPE).contains("config.json"), "{text}");
    }
}

#[test]
fn weights_that_are_damaged_are_refused() {
    let damaged = Damaged::bert();
    let bytes = fs_err::read(damaged.path("model.safetensors")).unwrap();
    let mut cuts = vec![0, 7, 8, 9, 200];
    cuts.extend([bytes.len() / 2, bytes.len() - 1]);
    for cut in cuts {
        fs_err::write(damaged.path("model.safetensors"), &bytes[..cut]).unwrap();
        let cause = damaged.cause("bert", SHAPE);
        assert!(cause.contains("`model.safetensors` is damaged"), "{cut}: {cause}");
    }
    // A header of more bytes than there is memory.
    let absurd = [&u64::MAX.to_le_bytes()[..], &bytes[8..]].concat();
    fs_err::write(damaged.path("model.safetensors"), absurd).unwrap();
    assert!(damaged.cause("bert", SHAPE).contains("`model.safetensors` is damaged"));

    let words = "embeddings.word_embeddings.weight";
    let integers = Damaged::bert();
    integers.tensor(words, |tensor| tensor.to_dtype(DType::I64).unwrap());
    assert!(integers.cause("bert", SHAPE).contains("is of type I64"), "{}", integers.cause("bert", SHAPE));
    let turned = Damaged::bert();
    turned.tensor(words, |tensor| tensor.t().unwrap().contiguous().unwrap());
    assert!(turned.cause("bert", SHAPE).contains("shape mismatch"));
    let not_a_number = Damaged::bert();
    not_a_number.tensor(words, |tensor| (tensor * f64::NAN).unwrap());
    assert!(not_a_number.cause("bert", SHAPE).contains("not finite"));
    // Half precision is another way to write the same weights.
    let half = Damaged::bert();
    half.tensor(words, |tensor| tensor.to_dtype(DType::F16).unwrap());
    assert_eq!(embed(&half.load("bert", SHAPE).unwrap(), &["mesh"])[0].len(), 16);
}

#[test]
fn tokenizers_that_are_damaged_or_of_another_model_are_refused() {
    let damaged = Damaged::bert();
    let text = fs_err::read_to_string(damaged.path("tokenizer.json")).unwrap();
    for cut in [0, 1, text.len() / 2, text.len() - 1] {
        fs_err::write(damaged.path("tokenizer.json"), &text[..cut]).unwrap();
        assert!(damaged.cause("bert", SHAPE).contains("`tokenizer.json` is damaged"), "{cut}");
    }
    for replaced in [r#"{"version":"1.0"}"#, r#"{"version":"1.0","model":{"type":"None"}}"#] {
        fs_err::write(damaged.path("tokenizer.json"), replaced).unwrap();
        assert!(damaged.cause("bert", SHAPE).contains("`tokenizer.json` is damaged"), "{replaced}");
    }
    // A token that the weights have no vector for.
    let more = text.replace("\"particle\":11", "\"particle\":11,\"halo\":12");
    assert_ne!(more, text);
    fs_err::write(damaged.path("tokenizer.json"), more).unwrap();
    assert!(damaged.cause("bert", SHAPE).contains("a token 12, the weights have vectors of 12 tokens"));
    // A window that the special tokens fill: nothing is left of any text, which is no panic.
    fs_err::write(damaged.path("tokenizer.json"), &text).unwrap();
    for window in [1, 2] {
        let narrow = SHAPE.replace("max_tokens = 64", &format!("max_tokens = {window}"));
        match damaged.load("bert", &narrow) {
            Ok(model) => assert_eq!(embed(&model, &["mesh field", "particle"])[0].len(), 16),
            Err(error) => assert!(matches!(error, Error::Load { .. }), "{error}"),
        }
    }
}

#[test]
fn an_interrupted_call_begins_no_further_text() {
    let texts: Vec<String> = (0..6).map(|index| format!("{CONJUGATE} {index}")).collect();
    let vectors = |interrupted| {
        minilm().embed_until(&texts, EmbedSide::Document, &AtomicBool::new(interrupted)).unwrap()
    };
    assert_eq!(vectors(true), vec![None; 6]);
    let there: Vec<Vec<f32>> = vectors(false).into_iter().flatten().collect();
    assert_eq!(there, minilm().embed(&texts, EmbedSide::Document).unwrap());
}
