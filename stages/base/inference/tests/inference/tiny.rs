//! Models of a few kilobytes with random weights, to prove that a path loads and runs.

use fs_err as fs;
use std::collections::HashMap;
use std::path::Path;

use almanac_inference::models::ModelCatalog;
use candle_core::{DType, Device, Tensor};
use candle_nn::{VarBuilder, VarMap};
use candle_transformers::models::{bert, nomic_bert};
use serde_json::{Value, json};

const WORDS: [&str; 12] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "search", "_", "document", "query", ":", "mesh", "field", "particle",
];

/// A tokenizer of whole words that puts `[CLS]` before and `[SEP]` after a text.
fn tokenizer() -> Value {
    let vocabulary: serde_json::Map<String, Value> =
        WORDS.iter().enumerate().map(|(id, word)| ((*word).to_owned(), json!(id))).collect();
    let special = |id: usize| {
        json!({"id": id, "content": WORDS[id], "single_word": false, "lstrip": false,
            "rstrip": false, "normalized": false, "special": true})
    };
    json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [special(0), special(1), special(2), special(3)],
        "normalizer": null,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": null,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    })
}

fn write_json(folder: &Path, name: &str, value: &Value) {
    fs::write(folder.join(name), value.to_string()).unwrap();
}

/// A BERT of two layers, 16 dimensions, 64 positions.
pub(crate) fn bert(folder: &Path) {
    let config = json!({
        "vocab_size": 12, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 32, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
        "max_position_embeddings": 64, "type_vocab_size": 2, "initializer_range": 0.02,
        "layer_norm_eps": 1e-12, "pad_token_id": 0, "model_type": "bert"
    });
    let variables = VarMap::new();
    let weights = VarBuilder::from_varmap(&variables, DType::F32, &Device::Cpu);
    let parsed: bert::Config = serde_json::from_value(config.clone()).unwrap();
    bert::BertModel::load(weights, &parsed).unwrap();
    variables.save(folder.join("model.safetensors")).unwrap();
    write_json(folder, "config.json", &config);
    write_json(folder, "tokenizer.json", &tokenizer());
}

/// A nomic-bert of two layers, 16 dimensions, 64 positions.
pub(crate) fn nomic_bert(folder: &Path) {
    let config = json!({
        "vocab_size": 12, "n_embd": 16, "n_head": 2, "n_layer": 2, "n_inner": 32,
        "n_positions": 64, "type_vocab_size": 2, "layer_norm_epsilon": 1e-12,
        "rotary_emb_fraction": 1.0, "rotary_emb_base": 1000, "rotary_emb_interleaved": false,
        "qkv_proj_bias": false, "mlp_fc1_bias": false, "mlp_fc2_bias": false,
        "activation_function": "swiglu", "prenorm": false, "model_type": "nomic_bert"
    });
    let variables = VarMap::new();
    let weights = VarBuilder::from_varmap(&variables, DType::F32, &Device::Cpu);
    let parsed: nomic_bert::Config = serde_json::from_value(config.clone()).unwrap();
    nomic_bert::NomicBertModel::load(weights, &parsed).unwrap();
    variables.save(folder.join("model.safetensors")).unwrap();
    write_json(folder, "config.json", &config);
    write_json(folder, "tokenizer.json", &tokenizer());
}

/// A llama of two layers as the hub has it, with a chat template and a context of 64.
pub(crate) fn llama(folder: &Path) {
    let mut tokenizer = tokenizer();
    // The engine needs to know how tokens become bytes.
    tokenizer["decoder"] = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
        "use_regex": true});
    llama_with(folder, &tokenizer, WORDS.len(), 64, ["[CLS]", "[SEP]", "[UNK]"]);
}

/// The same with a token for each byte, so that it can write anything, and a context of 4096.
pub(crate) fn llama_of_bytes(folder: &Path) {
    // How byte-level tokenizers write bytes that are not printable.
    let is_itself = |byte: &u32| matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    let mut others = 0x100_u32..;
    let written = (0..=0xff_u32).map(|byte| if is_itself(&byte) { byte } else { others.next().unwrap() });
    let names = ["<unk>".to_owned(), "<pad>".to_owned(), "<s>".to_owned(), "</s>".to_owned()];
    let bytes = written.map(|code| char::from_u32(code).unwrap().to_string());
    let vocabulary: Vec<String> = names.into_iter().chain(bytes).collect();
    let special = |id: usize| {
        json!({"id": id, "content": vocabulary[id], "single_word": false, "lstrip": false,
            "rstrip": false, "normalized": false, "special": true})
    };
    let ids: serde_json::Map<String, Value> =
        vocabulary.iter().enumerate().map(|(id, token)| (token.clone(), json!(id))).collect();
    let byte_level = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
        "use_regex": true});
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [special(0), special(1), special(2), special(3)],
        "normalizer": null, "pre_tokenizer": byte_level, "post_processor": null, "decoder": byte_level,
        "model": {"type": "BPE", "vocab": ids, "merges": [], "unk_token": "<unk>"}
    });
    llama_with(folder, &tokenizer, vocabulary.len(), 4096, ["<s>", "</s>", "<unk>"]);
}

/// `marks` begin a text, end it, and stand for what is unknown; the first two have the ids 2 and 3.
fn llama_with(folder: &Path, tokenizer: &Value, vocabulary: usize, positions: usize, marks: [&str; 3]) {
    let (hidden, inner) = (32, 64);
    let config = json!({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
        "hidden_size": hidden, "intermediate_size": inner, "vocab_size": vocabulary,
        "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "max_position_embeddings": positions,
        "tie_word_embeddings": false, "bos_token_id": 2, "eos_token_id": 3,
        "torch_dtype": "float32"
    });
    let mut tensors = HashMap::new();
    let mut add = |name: String, shape: &[usize]| {
        let tensor = if name.contains("norm") {
            Tensor::ones(shape, DType::F32, &Device::Cpu)
        } else {
            Tensor::randn(0_f32, 0.2, shape, &Device::Cpu)
        };
        tensors.insert(name, tensor.unwrap());
    };
    add("model.embed_tokens.weight".to_owned(), &[vocabulary, hidden]);
    add("lm_head.weight".to_owned(), &[vocabulary, hidden]);
    add("model.norm.weight".to_owned(), &[hidden]);
    for layer in 0..2 {
        let layer = format!("model.layers.{layer}");
        for part in ["q", "k", "v", "o"] {
            add(format!("{layer}.self_attn.{part}_proj.weight"), &[hidden, hidden]);
        }
        add(format!("{layer}.mlp.gate_proj.weight"), &[inner, hidden]);
        add(format!("{layer}.mlp.up_proj.weight"), &[inner, hidden]);
        add(format!("{layer}.mlp.down_proj.weight"), &[hidden, inner]);
        add(format!("{layer}.input_layernorm.weight"), &[hidden]);
        add(format!("{layer}.post_attention_layernorm.weight"), &[hidden]);
    }
    candle_core::safetensors::save(&tensors, folder.join("model.safetensors")).unwrap();
    write_json(folder, "config.json", &config);
    write_json(folder, "tokenizer.json", tokenizer);
    write_json(
        folder,
        "tokenizer_config.json",
        &json!({
            "bos_token": marks[0], "eos_token": marks[1], "unk_token": marks[2],
            "chat_template": "{% for message in messages %}{{ message['content'] }} {% endfor %}"
        }),
    );
}

/// A catalogue of one model, `tiny`, that lies in `folder`.
pub(crate) fn catalog(folder: &Path, architecture: &str, embedding: &str) -> ModelCatalog {
    catalog_with(folder, architecture, 64, embedding)
}

/// The same, with another context.
pub(crate) fn catalog_with(
    folder: &Path,
    architecture: &str,
    context: usize,
    embedding: &str,
) -> ModelCatalog {
    let role = if embedding.is_empty() { "llm" } else { "embedder" };
    let text = format!(
        "[[model]]\nname = \"tiny\"\nrole = \"{role}\"\nformat = \"safetensors\"\n\
         architecture = \"{architecture}\"\ncontext_length = {context}\nlicense = \"CC0-1.0\"\n\
         path = {:?}\n{embedding}",
        folder.to_str().unwrap()
    );
    ModelCatalog::parse(&text, "test.toml").unwrap()
}
