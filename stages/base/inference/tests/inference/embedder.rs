//! Embedding: known values, independence of company, windows, and architectures.

use std::num::NonZeroUsize;
use std::sync::OnceLock;

use almanac_inference::{CandleEmbedder, EmbedSide, Embedder, EmbedderOptions, Error};

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

#[test]
fn wrong_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    tiny::bert(folder.path());
    let models = tempfile::tempdir().unwrap();
    let load = |architecture: &str, shape: &str| {
        let catalog = tiny::catalog(folder.path(), architecture, shape);
        CandleEmbedder::load(&catalog, "tiny", models.path(), &options(1)).err().expect("loading fails")
    };
    let cause = |error: Error| {
        let source = std::error::Error::source(&error).expect("a cause");
        source.to_string()
    };
    let wider = SHAPE.replace("dimension = 16", "dimension = 32");
    assert!(cause(load("bert", &wider)).contains("vectors of 32, the weights make 16"));
    assert!(cause(load("modernbert", SHAPE)).contains("`modernbert`"));
    assert!(matches!(load("nomic_bert", SHAPE), Error::Load { .. }));
    fs_err::write(folder.path().join("model.safetensors"), "damaged").unwrap();
    assert!(matches!(load("bert", SHAPE), Error::Load { .. }));
    fs_err::remove_file(folder.path().join("tokenizer.json")).unwrap();
    let error = load("bert", SHAPE);
    assert!(error.to_string().contains("tokenizer.json"), "{error}");
}
