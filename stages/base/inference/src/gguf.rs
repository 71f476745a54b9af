//! A look at the head of a GGUF file, so that a wrong or damaged one is refused in plain words
//! before the engine gets it.

use std::io::{BufReader, Read as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use candle_core::quantized::gguf_file::Content;

use crate::{Error, Result};

/// What the head of a file says.
#[derive(Debug)]
pub(crate) struct GgufHead {
    /// `general.architecture`.
    pub(crate) architecture: Option<String>,
    /// Whether a chat template is inside.
    pub(crate) has_chat_template: bool,
}

/// Reads the head and checks that the file is as long as it says.
pub(crate) fn read_head(path: &Path) -> Result<GgufHead> {
    let fault = |fault: String| Error::Gguf { path: path.to_path_buf(), fault };
    let mut file = fs_err::File::open(path)?;
    let length = file.metadata()?.len();
    let mut magic = [0; 4];
    if length < 24 || file.read_exact(&mut magic).is_err() || &magic != b"GGUF" {
        return Err(fault("it does not begin with `GGUF`".to_owned()));
    }
    let mut reader = BufReader::with_capacity(1 << 20, fs_err::File::open(path)?);
    // A damaged length makes the reader ask for absurd amounts of memory, which panics.
    let content = catch_unwind(AssertUnwindSafe(|| Content::read(&mut reader)))
        .map_err(|_| fault("its head is damaged".to_owned()))?
        .map_err(|error| fault(format!("its head cannot be read ({error})")))?;
    let needed = needed_length(&content);
    if length < needed {
        return Err(fault(format!("it is truncated, {length} of {needed} bytes are there")));
    }
    let text = |key: &str| content.metadata.get(key).and_then(|value| value.to_string().ok()).cloned();
    Ok(GgufHead {
        architecture: text("general.architecture"),
        has_chat_template: text("tokenizer.chat_template").is_some(),
    })
}

/// Where the last tensor ends.
fn needed_length(content: &Content) -> u64 {
    content
        .tensor_infos
        .values()
        .map(|tensor| {
            let dtype = tensor.ggml_dtype;
            let blocks = tensor.shape.elem_count() / dtype.block_size();
            content
                .tensor_data_offset
                .saturating_add(tensor.offset)
                .saturating_add((blocks * dtype.type_size()) as u64)
        })
        .max()
        .unwrap_or(content.tensor_data_offset)
}

#[cfg(test)]
mod tests {
    use candle_core::quantized::gguf_file::{Value, write};
    use candle_core::quantized::{GgmlDType, QTensor};
    use candle_core::{DType, Device, Tensor};

    use super::*;

    fn fault(path: &Path) -> String {
        match read_head(path) {
            Err(Error::Gguf { fault, .. }) => fault,
            other => panic!("not a GGUF fault: {other:?}"),
        }
    }

    fn written(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("tiny.gguf");
        let tensor = Tensor::zeros((32, 32), DType::F32, &Device::Cpu).unwrap();
        let tensor = QTensor::quantize(&tensor, GgmlDType::Q8_0).unwrap();
        let architecture = Value::String("llama".to_owned());
        let mut file = fs_err::File::create(&path).unwrap();
        write(&mut file, &[("general.architecture", &architecture)], &[("token_embd.weight", &tensor)])
            .unwrap();
        path
    }

    #[test]
    fn reads_a_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let head = read_head(&written(folder.path())).unwrap();
        assert_eq!(head.architecture.as_deref(), Some("llama"));
        assert!(!head.has_chat_template);
    }

    #[test]
    fn refuses_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.gguf");
        fs_err::write(&path, "not a model, but long enough to be looked at").unwrap();
        assert_eq!(fault(&path), "it does not begin with `GGUF`");
        fs_err::write(&path, "").unwrap();
        assert_eq!(fault(&path), "it does not begin with `GGUF`");
    }

    #[test]
    fn refuses_truncated_weights() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let bytes = fs_err::read(&path).unwrap();
        // 32 x 32 values in Q8_0 are 32 blocks of 34 bytes.
        fs_err::write(&path, &bytes[..bytes.len() - 100]).unwrap();
        let cut = bytes.len() - 100;
        assert_eq!(fault(&path), format!("it is truncated, {cut} of {} bytes are there", bytes.len()));
    }

    #[test]
    fn refuses_a_damaged_head() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let bytes = fs_err::read(&path).unwrap();
        fs_err::write(&path, &bytes[..60]).unwrap();
        assert!(fault(&path).starts_with("its head"));
        // The length of the first key, made larger than any memory.
        let mut absurd = bytes;
        absurd[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        fs_err::write(&path, &absurd).unwrap();
        assert!(fault(&path).starts_with("its head"));
    }
}
