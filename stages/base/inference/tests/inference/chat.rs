//! Generation: real answers, repeatability, limits, and refusals.

use fs_err as fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use almanac_inference::models::ModelCatalog;
use almanac_inference::{ChatOptions, Error, FinishReason, GenerateRequest, LanguageModel, MistralModel};
use candle_core::quantized::gguf_file::{Value as Written, write};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};
use miette::Diagnostic as _;
use serde_json::{Value, json};

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
        schema: None,
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

/// Thousands of tokens would take minutes: only an engine that is given up at once lets this end.
#[test]
fn a_generation_that_is_interrupted_is_given_up() {
    let model = smollm();
    let before = model.generate(&ask("What is the capital of France?", 40)).unwrap().text;
    let long = ask(&"Tell a very long story about a mesh. ".repeat(20), 6000);
    let interrupted = AtomicBool::new(false);
    let error = std::thread::scope(|scope| {
        let running = scope.spawn(|| model.generate_until(&long, &interrupted).unwrap_err());
        // Another one waits for its turn, and is given up as well.
        let waiting = scope.spawn(|| model.generate_until(&long, &interrupted).unwrap_err());
        std::thread::sleep(Duration::from_millis(500));
        interrupted.store(true, Ordering::Relaxed);
        assert!(matches!(waiting.join().unwrap(), Error::Interrupted { .. }));
        running.join().unwrap()
    });
    assert!(matches!(error, Error::Interrupted { .. }), "{error}");
    assert_eq!(error.code().unwrap().to_string(), "almanac::retry");
    let already = model.generate_until(&ask("Hello", 5), &interrupted).unwrap_err();
    assert!(matches!(already, Error::Interrupted { .. }), "{already}");
    // The engine goes on, and says what it said.
    assert_eq!(model.generate(&ask("What is the capital of France?", 40)).unwrap().text, before);
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

/// The engine would divide by zero, allocate for ever, or panic on most of these.
#[test]
fn safetensors_with_impossible_configs_are_refused() {
    for (key, value, words) in [
        ("num_attention_heads", json!(0), "`num_attention_heads` in `config.json` is 0"),
        ("num_attention_heads", json!(5), "5 attention heads cannot divide a width of 32"),
        ("num_key_value_heads", json!(0), "`num_key_value_heads` in `config.json` is 0"),
        ("num_hidden_layers", json!(1_000_000_000), "is 1000000000"),
        ("max_position_embeddings", json!(1_u64 << 40), "is 1099511627776"),
        ("hidden_size", json!(0), "`hidden_size` in `config.json` is 0"),
        ("num_hidden_layers", json!(3), "layers.2"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        tiny::llama(folder.path());
        let path = folder.path().join("config.json");
        let mut config: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        config[key] = value.clone();
        fs::write(&path, config.to_string()).unwrap();
        let cause = refused_folder(folder.path());
        assert!(cause.contains(words), "{key} {value}: {cause}");
    }
    let folder = tempfile::tempdir().unwrap();
    tiny::llama(folder.path());
    fs::write(folder.path().join("config.json"), "<html>").unwrap();
    assert!(refused_folder(folder.path()).contains("config.json"));
    tiny::llama(folder.path());
    let weights = folder.path().join("model.safetensors");
    let bytes = fs::read(&weights).unwrap();
    fs::write(&weights, &bytes[..bytes.len() / 2]).unwrap();
    refused_folder(folder.path());
    tiny::llama(folder.path());
    fs::write(folder.path().join("tokenizer.json"), "{").unwrap();
    refused_folder(folder.path());
}

/// Why the model in `folder` is refused, as one of bad data.
#[track_caller]
fn refused_folder(folder: &Path) -> String {
    let models = tempfile::tempdir().unwrap();
    let catalog = tiny::catalog(folder, "llama", "");
    let error =
        MistralModel::load(&catalog, "tiny", models.path(), &options(1)).err().expect("loading fails");
    assert!(matches!(error, Error::Load { .. }), "{error}");
    assert_eq!(error.code().unwrap().to_string(), "almanac::data");
    std::error::Error::source(&error).expect("a cause").to_string()
}

/// Heads that pass every check and lack what the engine wants: whatever it does, it is an error.
#[test]
fn a_panic_of_the_engine_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.gguf");
    let keys: [(&str, Written); 10] = [
        ("general.architecture", Written::String("llama".to_owned())),
        ("tokenizer.chat_template", Written::String("{{ messages }}".to_owned())),
        // No texts, though a list of the right length.
        ("tokenizer.ggml.tokens", Written::Array(vec![Written::U32(7); 32])),
        ("tokenizer.ggml.model", Written::String("gpt2".to_owned())),
        ("llama.block_count", Written::U32(1)),
        ("llama.context_length", Written::U32(64)),
        ("llama.embedding_length", Written::U32(32)),
        ("llama.attention.head_count", Written::U32(2)),
        ("llama.attention.head_count_kv", Written::U32(2)),
        ("split.count", Written::String("many".to_owned())),
    ];
    let keys: Vec<(&str, &Written)> = keys.iter().map(|(key, value)| (*key, value)).collect();
    let tensor = Tensor::zeros((32, 32), DType::F32, &Device::Cpu).unwrap();
    let tensor = QTensor::quantize(&tensor, GgmlDType::Q8_0).unwrap();
    let tensors = [("token_embd.weight", &tensor), ("blk.0.attn_q.weight", &tensor)];
    write(&mut fs::File::create(&path).unwrap(), &keys, &tensors).unwrap();
    let models = folder.path().join("models");
    let error =
        MistralModel::load(&local(&path, ""), "mine", &models, &options(1)).err().expect("loading fails");
    assert!(matches!(error, Error::Load { .. }), "{error}");
    let cause = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(cause.starts_with("the engine panicked"), "{cause}");
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
