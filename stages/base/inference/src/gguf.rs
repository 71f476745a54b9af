//! A look at the head of GGUF files, so that wrong or damaged ones are refused in plain words before
//! the engine gets them: it answers many with a panic, an endless loop or an absurd allocation.

mod header;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use header::{Header, Value};

use crate::{Error, Result};

/// Most positions times head size: the engine makes two tables of half so many numbers.
const LARGEST_POSITION_TABLE: u64 = 1 << 29;

/// Checks the files of a model, of which the first carries what describes it, against one another
/// and against the architecture that the catalogue names.
pub(crate) fn check(paths: &[PathBuf], architecture: &str) -> Result<()> {
    let mut whole = Header::default();
    for (index, path) in paths.iter().enumerate() {
        let head = header::read(path)?;
        check_identity(&head, index, architecture).map_err(|fault| refused(path, fault))?;
        whole.metadata.extend(head.metadata);
        whole.tensors.extend(head.tensors);
    }
    let Some(first) = paths.first() else { return Ok(()) };
    Described { head: &whole, architecture }.check().map_err(|fault| refused(first, fault))
}

fn refused(path: &Path, fault: String) -> Error {
    Error::Gguf { path: path.to_path_buf(), fault }
}

/// What a file says it is.
fn check_identity(head: &Header, index: usize, expected: &str) -> Result<(), String> {
    match head.metadata.get("general.architecture") {
        Some(Value::Text(found)) if found != expected => {
            Err(format!("it holds architecture `{found}`, the catalogue says `{expected}`"))
        }
        Some(Value::Text(_)) | None if index > 0 => Ok(()),
        Some(Value::Text(_)) => match head.metadata.get("tokenizer.chat_template") {
            Some(Value::Text(template)) if !template.trim().is_empty() => Ok(()),
            _ => Err("it has no chat template, so it is no instruct model".to_owned()),
        },
        _ => Err("it names no architecture".to_owned()),
    }
}

/// All files of a model together.
struct Described<'a> {
    head: &'a Header,
    architecture: &'a str,
}

impl Described<'_> {
    fn check(&self) -> Result<(), String> {
        if self.head.tensors.is_empty() {
            return Err("it holds no tensors".to_owned());
        }
        let layers = self.number("block_count", 1..=10_000)?;
        self.check_layers(layers)?;
        let width = self.number("embedding_length", 1..=1 << 20)?;
        self.check_heads(width)?;
        self.check_vocabulary(width)
    }

    /// Every layer that is announced must be there, and no other.
    fn check_layers(&self, layers: u64) -> Result<(), String> {
        let number = |name: &String| name.strip_prefix("blk.")?.split('.').next()?.parse::<u64>().ok();
        let found: BTreeSet<u64> = self.head.tensors.keys().filter_map(number).collect();
        let is_whole = found.len() as u64 == layers && found.last() == Some(&(layers - 1));
        if is_whole {
            return Ok(());
        }
        Err(format!("it announces {layers} layers and has tensors of {}", found.len()))
    }

    /// The sizes of the attention and of the table of positions.
    fn check_heads(&self, width: u64) -> Result<(), String> {
        let heads = self.number("attention.head_count", 1..=1 << 16)?;
        let shared = self.number("attention.head_count_kv", 1..=1 << 16)?;
        if !heads.is_multiple_of(shared) {
            return Err(format!("{heads} attention heads cannot share {shared} key and value heads"));
        }
        let size = match self.optional("attention.key_length", 1..=1 << 16)? {
            Some(size) => size,
            None if width.is_multiple_of(heads) => width / heads,
            None => return Err(format!("{heads} attention heads cannot divide a width of {width}")),
        };
        self.optional("attention.value_length", 1..=1 << 16)?;
        let turned = self.optional("rope.dimension_count", 1..=size)?.unwrap_or(size);
        let positions = self.number("context_length", 1..=1 << 32)?;
        if positions.saturating_mul(turned) > LARGEST_POSITION_TABLE {
            return Err(format!("a context of {positions} tokens with heads of {turned} fits no memory"));
        }
        for name in ["attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon"] {
            let key = self.key(name);
            match self.head.metadata.get(&key) {
                None => {}
                Some(Value::Float(epsilon)) if (0.0..1.0).contains(epsilon) => {}
                Some(other) => return Err(format!("`{key}` is {other:?}")),
            }
        }
        Ok(())
    }

    /// The vocabulary must have a row for every token.
    fn check_vocabulary(&self, width: u64) -> Result<(), String> {
        let tokens = match self.head.metadata.get("tokenizer.ggml.tokens") {
            Some(Value::List(tokens)) if *tokens > 0 => *tokens,
            _ => return Err("it has no tokenizer".to_owned()),
        };
        for name in ["bos", "eos"] {
            let key = format!("tokenizer.ggml.{name}_token_id");
            if let Some(Value::Unsigned(id)) = self.head.metadata.get(&key)
                && *id >= tokens
            {
                return Err(format!("`{key}` is {id} in a vocabulary of {tokens}"));
            }
        }
        match self.head.tensors.get("token_embd.weight").map(Vec::as_slice) {
            Some([columns, rows]) if *columns == width && *rows >= tokens => Ok(()),
            Some(shape) => Err(format!(
                "`token_embd.weight` has the shape {shape:?}, for a width of {width} and {tokens} tokens"
            )),
            None => Err("it lacks the tensor `token_embd.weight`".to_owned()),
        }
    }

    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.architecture)
    }

    fn number(&self, name: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
        self.optional(name, range)?.ok_or_else(|| format!("it lacks `{}`", self.key(name)))
    }

    fn optional(&self, name: &str, range: RangeInclusive<u64>) -> Result<Option<u64>, String> {
        let key = self.key(name);
        match self.head.metadata.get(&key) {
            None => Ok(None),
            Some(Value::Unsigned(number)) if range.contains(number) => Ok(Some(*number)),
            Some(Value::Unsigned(number)) => {
                Err(format!("`{key}` is {number}, not {} to {}", range.start(), range.end()))
            }
            Some(other) => Err(format!("`{key}` is {other:?}, not a number")),
        }
    }
}
