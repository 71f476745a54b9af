//! Generation: real answers, repeatability, limits, and refusals.

use fs_err as fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::OnceLock;

use almanac_inference::models::ModelCatalog;
use almanac_inference::{ChatOptions, Error, FinishReason, GenerateRequest, LanguageModel, MistralModel};
use miette::Diagnostic as _;

use crate::{models_dir, shipped, tiny};

fn options(sequences: usize) -> ChatOptions {
    ChatOptions { sequences: NonZeroUsize::new(sequences).unwrap() }
}

fn smollm() -> &'static MistralModel {
    static LOADED: OnceLock<MistralModel> = OnceLock::new();
    LOADED.get_or_init(|| {
        MistralModel::load(&shipped(), "smollm2-135m-instruct", &models_dir(), &options(1))
            .expect("run `almanac models get smollm2-135m-instruct` first")
    })
}

fn ask(user: &str, max_tokens: usize) -> GenerateRequest {
    GenerateRequest {
        system: "You answer in one short sentence.".to_owned(),
        user: user.to_owned(),
        max_tokens,
        temperature: 0.0,
        seed: 0,
    }
}

/// llama.cpp gives the same text for this prompt, also greedily: 28 tokens of prompt, 7 of answer and
/// the end mark.
#[test]
fn answers() {
    let mut pieces = Vec::new();
    let request = ask("What is the capital of France?", 40);
    let completion = smollm().generate_streaming(&request, &mut |text| pieces.push(text.to_owned())).unwrap();
    assert_eq!(completion.text, "The capital of France is Paris.");
    assert_eq!(completion.text, pieces.concat());
    assert!(pieces.len() > 1);
    assert_eq!(completion.finish, FinishReason::Stop);
    assert_eq!(completion.prompt_tokens, 28);
    assert_eq!(completion.completion_tokens, 8);
    assert!(completion.seconds > 0.0);
}

/// Counts of llama.cpp for the same file.
#[test]
fn counts_tokens() {
    let model = smollm();
    for (text, tokens) in [
        ("Hello world", 2),
        ("void scatter(Field& f, const ParticleAttrib<Vector<T, Dim>>& pp);", 21),
        ("  two  spaces\n\tand a tab", 9),
        ("for (int i = 0; i < 10; ++i) { sum += a[i] * b[i]; }", 31),
        ("naïve café – Größe 中文 🙂", 12),
        ("", 0),
    ] {
        assert_eq!(model.count_tokens(text).unwrap(), tokens, "{text}");
    }
    assert_eq!(model.context_length(), 8192);
    assert_eq!(model.identity().name, "smollm2-135m-instruct");
}

/// Three callers at once, with as many sequences in the engine as `model` was loaded with.
fn beside(model: &MistralModel, requests: &[GenerateRequest]) -> Vec<String> {
    std::thread::scope(|scope| {
        let running: Vec<_> =
            requests.iter().map(|request| scope.spawn(|| model.generate(request).unwrap().text)).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn same_request_same_answer_whatever_ran_before_or_beside() {
    let requests =
        ["Name a colour.", "What is a mesh?", "Name a planet of the solar system."].map(|user| ask(user, 12));
    let alone = requests.each_ref().map(|request| smollm().generate(request).unwrap().text);
    assert_eq!(beside(smollm(), &requests), alone);
    // Asking for more at once must not let the engine mix them up.
    let batching =
        MistralModel::load(&shipped(), "smollm2-135m-instruct", &models_dir(), &options(3)).unwrap();
    assert_eq!(beside(&batching, &requests), alone);
}

#[test]
fn seed_decides_what_is_sampled() {
    let model = smollm();
    let sample = |seed| {
        let request = GenerateRequest { temperature: 1.5, seed, ..ask("Tell me something.", 10) };
        model.generate(&request).unwrap().text
    };
    let first = sample(1);
    assert_ne!(first, sample(2));
    assert_eq!(first, sample(1));
}

#[test]
fn stops_at_the_limit() {
    let model = smollm();
    let request = ask("Count from one to one hundred.", 5);
    let completion = model.generate(&request).unwrap();
    assert_eq!(completion.finish, FinishReason::Length);
    assert_eq!(completion.completion_tokens, 5);
    let none = model.generate(&ask("Hello", 0)).unwrap();
    assert_eq!((none.text.as_str(), none.finish), ("", FinishReason::Length));
    assert_eq!(none.completion_tokens, 0);
}

#[test]
fn refuses_what_does_not_fit() {
    let model = smollm();
    let error = model.generate(&ask("Hello", 8192)).unwrap_err();
    let Error::ContextOverflow { prompt, answer, limit, .. } = error else { panic!("{error}") };
    assert_eq!((answer, limit), (8192, 8192));
    assert_eq!(prompt, model.prompt_tokens(&ask("Hello", 1)).unwrap());
    let error = model.generate(&ask(&"word ".repeat(9000), 1)).unwrap_err();
    assert!(matches!(error, Error::ContextOverflow { .. }), "{error}");
    // The engine goes on.
    assert!(model.generate(&ask("Hello", 2)).is_ok());
}

#[test]
fn safetensors_of_random_weights() {
    let folder = tempfile::tempdir().unwrap();
    tiny::llama(folder.path());
    let catalog = tiny::catalog(folder.path(), "llama", "");
    let models = tempfile::tempdir().unwrap();
    let model = MistralModel::load(&catalog, "tiny", models.path(), &options(1)).unwrap();
    assert_eq!(model.context_length(), 64);
    assert_eq!(model.count_tokens("mesh field").unwrap(), 2);
    let request = GenerateRequest { system: String::new(), ..ask("mesh field particle", 6) };
    let first = model.generate(&request).unwrap();
    assert_eq!(first.prompt_tokens, 5);
    assert!(first.completion_tokens <= 6);
    assert_eq!(first.text, model.generate(&request).unwrap().text);
    let error = model.generate(&ask("mesh", 64)).unwrap_err();
    assert!(matches!(error, Error::ContextOverflow { limit: 64, .. }), "{error}");
}

fn local(path: &Path, digest: &str) -> ModelCatalog {
    let text = format!(
        "[[model]]\nname = \"mine\"\nrole = \"llm\"\nformat = \"gguf\"\narchitecture = \"llama\"\n\
         context_length = 8\nlicense = \"MIT\"\npath = {:?}\n{digest}",
        path.to_str().unwrap()
    );
    ModelCatalog::parse(&text, "test.toml").unwrap()
}

#[test]
fn refuses_wrong_files_before_the_engine_sees_them() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    let load = |catalog: &ModelCatalog| {
        MistralModel::load(catalog, "mine", &models, &options(1)).err().expect("loading fails")
    };
    let path = folder.path().join("mine.gguf");
    let error = load(&local(&path, ""));
    assert!(matches!(error, Error::MissingFile { .. }), "{error}");
    assert_eq!(error.code().unwrap().to_string(), "almanac::unavailable");

    fs::write(&path, "<html>please log in</html>, as a proxy answers").unwrap();
    let error = load(&local(&path, ""));
    assert!(error.to_string().contains("does not begin with `GGUF`"), "{error}");
    assert_eq!(error.code().unwrap().to_string(), "almanac::data");

    let entry = shipped();
    let real = models_dir().join("smollm2-135m-instruct");
    let real = real.join(&entry.get("smollm2-135m-instruct").unwrap().files[0].name);
    let bytes = fs::read(real).expect("run `almanac models get smollm2-135m-instruct` first");
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let error = load(&local(&path, ""));
    assert!(error.to_string().contains("is truncated"), "{error}");

    // Whole, but not the pinned one.
    fs::write(&path, &bytes).unwrap();
    let pinned = format!("files = [{{ name = \"mine.gguf\", sha256 = \"{:064}\" }}]\n", 0);
    let error = load(&local(&path, &pinned));
    assert!(matches!(error, Error::WrongDigest { .. }), "{error}");

    let error = MistralModel::load(&shipped(), "all-minilm-l6-v2", &models, &options(1))
        .err()
        .expect("loading fails");
    assert!(matches!(error, Error::WrongRole { .. }), "{error}");
}
