//! Heads as they should be and as they should not.

use std::path::{Path, PathBuf};

use candle_core::quantized::gguf_file::{Value as Written, write};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};

use super::check;
use crate::Error;

/// Width, vocabulary and layers of the file under test.
const WIDTH: usize = 64;
const TOKENS: usize = 96;
const LAYERS: u32 = 2;

type Metadata = Vec<(&'static str, Written)>;
type Tensors = Vec<(String, Vec<usize>)>;

fn metadata() -> Metadata {
    let tokens = (0..TOKENS).map(|id| Written::String(format!("t{id}"))).collect();
    vec![
        ("general.architecture", Written::String("llama".to_owned())),
        ("tokenizer.chat_template", Written::String("{{ messages }}".to_owned())),
        ("tokenizer.ggml.tokens", Written::Array(tokens)),
        ("tokenizer.ggml.eos_token_id", Written::U32(2)),
        ("llama.block_count", Written::U32(LAYERS)),
        ("llama.context_length", Written::U32(512)),
        ("llama.embedding_length", Written::U32(WIDTH as u32)),
        ("llama.attention.head_count", Written::U32(4)),
        ("llama.attention.head_count_kv", Written::U32(2)),
        ("llama.attention.layer_norm_rms_epsilon", Written::F32(1e-5)),
        ("llama.rope.dimension_count", Written::U32(16)),
    ]
}

fn tensors() -> Tensors {
    let mut tensors = vec![("token_embd.weight".to_owned(), vec![TOKENS, WIDTH])];
    tensors.extend((0..LAYERS).map(|layer| (format!("blk.{layer}.attn_q.weight"), vec![WIDTH, WIDTH])));
    tensors
}

/// Writes a file with the engine's own writer.
fn written(folder: &Path, metadata: &Metadata, tensors: &Tensors) -> PathBuf {
    let path = folder.join("tiny.gguf");
    let made: Vec<(&str, QTensor)> = tensors
        .iter()
        .map(|(name, shape)| {
            let tensor = Tensor::zeros(shape.as_slice(), DType::F32, &Device::Cpu).unwrap();
            (name.as_str(), QTensor::quantize(&tensor, GgmlDType::Q8_0).unwrap())
        })
        .collect();
    let metadata: Vec<(&str, &Written)> = metadata.iter().map(|(key, value)| (*key, value)).collect();
    let tensors: Vec<(&str, &QTensor)> = made.iter().map(|(name, tensor)| (*name, tensor)).collect();
    write(&mut fs_err::File::create(&path).unwrap(), &metadata, &tensors).unwrap();
    path
}

#[track_caller]
fn fault_of(path: &Path) -> String {
    match check(&[path.to_path_buf()], "llama") {
        Err(Error::Gguf { fault, .. }) => fault,
        other => panic!("not a GGUF fault: {other:?}"),
    }
}

/// The fault of the good file with one key set, or removed.
#[track_caller]
fn with(key: &str, value: Option<Written>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut metadata = metadata();
    let at = metadata.iter().position(|(name, _)| *name == key);
    match (at, value) {
        (Some(at), Some(value)) => metadata[at].1 = value,
        (Some(at), None) => drop(metadata.remove(at)),
        (None, Some(value)) => metadata.push((Box::leak(key.to_owned().into_boxed_str()), value)),
        (None, None) => panic!("no key {key}"),
    }
    fault_of(&written(folder.path(), &metadata, &tensors()))
}

#[test]
fn a_whole_file_passes() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &metadata(), &tensors());
    check(&[path], "llama").unwrap();
}

#[test]
fn what_describes_the_model_must_be_there_and_possible() {
    let number = |number| Some(Written::U32(number));
    for (key, value, words) in [
        ("general.architecture", None, "names no architecture"),
        ("general.architecture", Some(Written::String("mamba".into())), "holds architecture `mamba`"),
        ("tokenizer.chat_template", None, "no chat template"),
        ("tokenizer.ggml.tokens", None, "no tokenizer"),
        ("tokenizer.ggml.eos_token_id", number(96), "is 96 in a vocabulary of 96"),
        ("llama.block_count", None, "lacks `llama.block_count`"),
        ("llama.block_count", number(0), "`llama.block_count` is 0"),
        ("llama.block_count", number(1_000_000), "`llama.block_count` is 1000000"),
        ("llama.block_count", number(9_999), "announces 9999 layers and has tensors of 2"),
        ("llama.block_count", number(1), "announces 1 layers and has tensors of 2"),
        ("llama.embedding_length", number(128), "has the shape [64, 96], for a width of 128"),
        ("llama.embedding_length", Some(Written::String("wide".into())), "not a number"),
        ("llama.attention.head_count", number(0), "`llama.attention.head_count` is 0"),
        ("llama.attention.head_count", number(5), "5 attention heads cannot share 2"),
        ("llama.attention.head_count", number(6), "6 attention heads cannot divide a width of 64"),
        ("llama.attention.head_count_kv", number(0), "head_count_kv` is 0"),
        ("llama.attention.head_count_kv", Some(Written::Array(vec![Written::U32(2)])), "not a number"),
        ("llama.attention.key_length", number(0), "key_length` is 0"),
        ("llama.rope.dimension_count", number(17), "rope.dimension_count` is 17"),
        ("llama.context_length", number(0), "context_length` is 0"),
        ("llama.context_length", number(u32::MAX), "fits no memory"),
        ("llama.attention.layer_norm_rms_epsilon", Some(Written::F32(f32::NAN)), "rms_epsilon` is"),
        ("general.alignment", number(0), "`general.alignment` is"),
    ] {
        let fault = with(key, value);
        assert!(fault.contains(words), "{key}: {fault}");
    }
}

#[test]
fn tensors_must_be_there_and_fit() {
    let folder = tempfile::tempdir().unwrap();
    let fault = |tensors: &Tensors| fault_of(&written(folder.path(), &metadata(), tensors));
    assert_eq!(fault(&Vec::new()), "it holds no tensors");
    assert!(fault(&tensors()[1..].to_vec()).contains("lacks the tensor `token_embd.weight`"));
    let mut small = tensors();
    small[0].1 = vec![TOKENS - 1, WIDTH];
    assert!(fault(&small).contains("[64, 95], for a width of 64 and 96 tokens"));
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.gguf");
    fs_err::write(&path, "not a model, but long enough to be looked at").unwrap();
    assert_eq!(fault_of(&path), "it does not begin with `GGUF`");
    fs_err::write(&path, "").unwrap();
    assert_eq!(fault_of(&path), "it does not begin with `GGUF`");
    for (version, words) in [(1_u32, "version 1"), (9, "version 9"), (3 << 24, "big-endian")] {
        let bytes = [&b"GGUF"[..], &version.to_le_bytes(), &[0; 16]].concat();
        fs_err::write(&path, bytes).unwrap();
        assert!(fault_of(&path).contains(words), "{version}");
    }
}

/// Wherever the file is cut, it is refused, and nothing panics.
#[test]
fn truncated_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &metadata(), &tensors());
    let bytes = fs_err::read(&path).unwrap();
    let mut cuts: Vec<usize> = (0..bytes.len()).step_by(97).collect();
    // 64 x 64 values in Q8_0 are 128 blocks of 34 bytes, the last of them at the end of the file.
    cuts.extend([bytes.len() - 1, bytes.len() - 128 * 34]);
    for cut in cuts {
        fs_err::write(&path, &bytes[..cut]).unwrap();
        let fault = fault_of(&path);
        assert!(fault.contains("truncated") || fault.contains("begin with `GGUF`"), "{cut}: {fault}");
    }
}

/// Each length and count of the head, made larger than any memory, is refused before it is believed.
#[test]
fn absurd_lengths_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), &metadata(), &tensors());
    let bytes = fs_err::read(&path).unwrap();
    let find = |text: &[u8]| bytes.windows(text.len()).position(|window| window == text).unwrap();
    let of_list = find(b"tokenizer.ggml.tokens") + b"tokenizer.ggml.tokens".len() + 8;
    let of_value = find(b"general.architecture") + b"general.architecture".len() + 4;
    let tensor = find(b"token_embd.weight") + b"token_embd.weight".len();
    let (dimension, offset) = (tensor + 4, tensor + 4 + 16 + 4);
    for (name, at) in [
        ("tensor count", 8),
        ("key count", 16),
        ("length of the first key", 24),
        ("length of a text", of_value),
        ("length of a list", of_list),
        ("dimension", dimension),
        ("offset", offset),
    ] {
        for value in [u64::MAX, 1 << 62, 1 << 40, 32 << 30] {
            let mut absurd = bytes.clone();
            absurd[at..at + 8].copy_from_slice(&value.to_le_bytes());
            fs_err::write(&path, &absurd).unwrap();
            let fault = fault_of(&path);
            let said =
                ["truncated", "damaged", "impossible shape", "not aligned", "type number", "dimensions"];
            assert!(said.iter().any(|words| fault.contains(words)), "{name} {value}: {fault}");
        }
    }
    let mut dimensions = bytes.clone();
    dimensions[tensor..tensor + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    fs_err::write(&path, &dimensions).unwrap();
    assert!(fault_of(&path).contains("4294967295 dimensions"));
}

/// Deep nesting would end the engine's reader, which calls itself, by a stack overflow.
#[test]
fn lists_in_lists_have_a_depth() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep.gguf");
    let text = |text: &str| [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
    let level = [&9_u32.to_le_bytes()[..], &1_u64.to_le_bytes()].concat();
    let head = [&b"GGUF"[..], &3_u32.to_le_bytes(), &0_u64.to_le_bytes(), &1_u64.to_le_bytes()].concat();
    let bytes = [head, text("k"), 9_u32.to_le_bytes().to_vec(), level.repeat(100_000)].concat();
    fs_err::write(&path, bytes).unwrap();
    assert!(fault_of(&path).contains("lists deep"));
}
