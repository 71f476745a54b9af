//! Models with random weights that load in no time: what is tested is the path, not the prose.

use std::io::Write;
use std::path::Path;

use serde_json::{Map, Value, json};

const WORDS: [&str; 12] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "mesh", "field", "particle", "solver", "the", "of", "and", "halo"];
const POSITIONS: usize = 2048;
/// Most tokens of a text to embed.
const WINDOW: usize = 256;

/// Width and depth of a language model.
struct Size {
    hidden: usize,
    inner: usize,
    layers: usize,
}

/// Writes a configuration folder whose catalogue has the language models `tiny` and `slow` (about
/// half a second a text) and the embedder `tiny-embedder`.
pub(crate) fn write(config: &Path) {
    let folder = |name: &str| {
        let folder = config.join(name);
        fs_err::create_dir_all(&folder).unwrap();
        folder
    };
    let (tiny, slow, embedder) = (folder("tiny"), folder("slow"), folder("tiny-embedder"));
    llama(&tiny, &Size { hidden: 32, inner: 64, layers: 2 });
    llama(&slow, &Size { hidden: 384, inner: 1024, layers: 12 });
    bert(&embedder);
    let language_model = |name: &str, path: &Path| {
        format!(
            "[[model]]\nname = \"{name}\"\nrole = \"llm\"\nformat = \"safetensors\"\narchitecture = \"llama\"\n\
             context_length = {POSITIONS}\nlicense = \"CC0-1.0\"\npath = {path:?}\n\n"
        )
    };
    let catalog = language_model("tiny", &tiny)
        + &language_model("slow", &slow)
        + &format!(
            "[[model]]\nname = \"tiny-embedder\"\nrole = \"embedder\"\nformat = \"safetensors\"\n\
             architecture = \"bert\"\ncontext_length = {WINDOW}\nlicense = \"CC0-1.0\"\npath = {embedder:?}\n\n\
             [model.embedding]\ndimension = 16\nmax_tokens = {WINDOW}\npooling = \"mean\"\nnormalise = true\n\
             document_prefix = \"\"\nquery_prefix = \"\"\n"
        );
    fs_err::write(config.join("models.toml"), catalog).unwrap();
}

/// Settings that name them. They know a dozen words and no brace, so their texts are free.
pub(crate) fn settings(language_model: &str) -> [String; 8] {
    let set = |value: &str| ["--set".to_owned(), value.to_owned()];
    let [a, b] = set(&format!("models.llm={language_model}"));
    let [c, d] = set("models.embedder=tiny-embedder");
    let [e, f] = set("explain.params.format=text");
    let [g, h] = set("entities.params.format=text");
    [a, b, c, d, e, f, g, h]
}

/// Tensors in the order they are written.
#[derive(Default)]
struct Weights {
    header: Map<String, Value>,
    data: Vec<u8>,
    state: u64,
}

impl Weights {
    fn add(&mut self, name: &str, shape: &[usize]) {
        let start = self.data.len();
        let is_scale =
            name.contains("norm.weight") || name.contains("LayerNorm.weight") || name.contains("layernorm");
        for _ in 0..shape.iter().product() {
            self.state =
                self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let uniform = (self.state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5;
            let value: f32 = if is_scale { 1.0 } else { uniform * 0.6 };
            self.data.extend(value.to_le_bytes());
        }
        let entry = json!({"dtype": "F32", "shape": shape, "data_offsets": [start, self.data.len()]});
        self.header.insert(name.to_owned(), entry);
    }

    fn save(self, folder: &Path) {
        let mut header = Value::Object(self.header).to_string().into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut file = fs_err::File::create(folder.join("model.safetensors")).unwrap();
        file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
        file.write_all(&header).unwrap();
        file.write_all(&self.data).unwrap();
    }
}

fn write_json(folder: &Path, name: &str, value: &Value) {
    fs_err::write(folder.join(name), value.to_string()).unwrap();
}

/// A tokenizer of whole words.
fn tokenizer() -> Value {
    let vocabulary: Map<String, Value> =
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

fn llama(folder: &Path, size: &Size) {
    let Size { hidden, inner, layers } = *size;
    let config = json!({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
        "hidden_size": hidden, "intermediate_size": inner, "vocab_size": WORDS.len(),
        "num_hidden_layers": layers, "num_attention_heads": 2, "num_key_value_heads": 2,
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "max_position_embeddings": POSITIONS,
        "tie_word_embeddings": false, "bos_token_id": 2, "eos_token_id": 3, "torch_dtype": "float32"
    });
    let mut weights = Weights::default();
    weights.add("model.embed_tokens.weight", &[WORDS.len(), hidden]);
    weights.add("lm_head.weight", &[WORDS.len(), hidden]);
    weights.add("model.norm.weight", &[hidden]);
    for layer in 0..layers {
        let layer = format!("model.layers.{layer}");
        for part in ["q", "k", "v", "o"] {
            weights.add(&format!("{layer}.self_attn.{part}_proj.weight"), &[hidden, hidden]);
        }
        weights.add(&format!("{layer}.mlp.gate_proj.weight"), &[inner, hidden]);
        weights.add(&format!("{layer}.mlp.up_proj.weight"), &[inner, hidden]);
        weights.add(&format!("{layer}.mlp.down_proj.weight"), &[hidden, inner]);
        weights.add(&format!("{layer}.input_layernorm.weight"), &[hidden]);
        weights.add(&format!("{layer}.post_attention_layernorm.weight"), &[hidden]);
    }
    weights.save(folder);
    write_json(folder, "config.json", &config);
    let mut tokenizer = tokenizer();
    // The engine needs to know how tokens become bytes.
    tokenizer["decoder"] =
        json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
    write_json(folder, "tokenizer.json", &tokenizer);
    let chat = "{% for message in messages %}{{ message['content'] }} {% endfor %}";
    write_json(
        folder,
        "tokenizer_config.json",
        &json!({"bos_token": "[CLS]", "eos_token": "[SEP]", "unk_token": "[UNK]", "chat_template": chat}),
    );
}

fn bert(folder: &Path) {
    let (hidden, inner, layers) = (16, 32, 2);
    let config = json!({
        "vocab_size": WORDS.len(), "hidden_size": hidden, "num_hidden_layers": layers,
        "num_attention_heads": 2, "intermediate_size": inner, "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1, "max_position_embeddings": WINDOW, "type_vocab_size": 2,
        "initializer_range": 0.02, "layer_norm_eps": 1e-12, "pad_token_id": 0, "model_type": "bert"
    });
    let mut weights = Weights::default();
    weights.add("embeddings.word_embeddings.weight", &[WORDS.len(), hidden]);
    weights.add("embeddings.position_embeddings.weight", &[WINDOW, hidden]);
    weights.add("embeddings.token_type_embeddings.weight", &[2, hidden]);
    let mut pair = |name: &str, shape: &[usize]| {
        weights.add(&format!("{name}.weight"), shape);
        weights.add(&format!("{name}.bias"), &shape[..1]);
    };
    pair("embeddings.LayerNorm", &[hidden]);
    for layer in 0..layers {
        let layer = format!("encoder.layer.{layer}");
        for part in ["query", "key", "value"] {
            pair(&format!("{layer}.attention.self.{part}"), &[hidden, hidden]);
        }
        pair(&format!("{layer}.attention.output.dense"), &[hidden, hidden]);
        pair(&format!("{layer}.attention.output.LayerNorm"), &[hidden]);
        pair(&format!("{layer}.intermediate.dense"), &[inner, hidden]);
        pair(&format!("{layer}.output.dense"), &[hidden, inner]);
        pair(&format!("{layer}.output.LayerNorm"), &[hidden]);
    }
    weights.save(folder);
    write_json(folder, "config.json", &config);
    write_json(folder, "tokenizer.json", &tokenizer());
}
