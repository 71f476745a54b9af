//! The architectures that turn token ids into vectors.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::{bert, nomic_bert};

use crate::error::Cause;
use crate::hub_config::HubConfig;

/// A loaded encoder.
pub(crate) struct Encoder {
    network: Network,
    device: Device,
    vocabulary: usize,
    hidden: usize,
    heads: usize,
    inner: usize,
    positions: usize,
}

enum Network {
    Bert(bert::BertModel),
    NomicBert(nomic_bert::NomicBertModel),
}

impl Encoder {
    /// Loads `config.json` and the weights; `architecture` is as in the model catalogue.
    pub(crate) fn load(
        architecture: &str,
        config: &Path,
        weights: &[PathBuf],
        device: &Device,
    ) -> Result<Self, Cause> {
        let config = HubConfig::read(config)?;
        let weights = Weights::read(weights, device)?;
        match architecture {
            "bert" => {
                let config: bert::Config = serde_json::from_str(config.text())?;
                Ok(Self {
                    network: Network::Bert(weights.load(|weights| bert::BertModel::load(weights, &config))?),
                    device: device.clone(),
                    vocabulary: config.vocab_size,
                    hidden: config.hidden_size,
                    heads: config.num_attention_heads,
                    inner: config.intermediate_size,
                    positions: config.max_position_embeddings,
                })
            }
            "nomic_bert" => {
                // The engine's own type would take the sizes of another model.
                config.require(&["vocab_size", "n_embd", "n_head", "n_layer", "n_inner", "n_positions"])?;
                let config: nomic_bert::Config = serde_json::from_str(config.text())?;
                Ok(Self {
                    network: Network::NomicBert(
                        weights.load(|weights| nomic_bert::NomicBertModel::load(weights, &config))?,
                    ),
                    device: device.clone(),
                    vocabulary: config.vocab_size,
                    hidden: config.n_embd,
                    heads: config.n_head,
                    inner: config.n_inner,
                    positions: config.n_positions,
                })
            }
            other => Err(format!("architecture `{other}` is not one of `bert` and `nomic_bert`").into()),
        }
    }

    /// Tokens there are vectors for.
    pub(crate) fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// Length of a vector.
    pub(crate) fn hidden(&self) -> usize {
        self.hidden
    }

    /// Tokens the position embeddings allow.
    pub(crate) fn positions(&self) -> usize {
        self.positions
    }

    /// Last hidden states, `[texts, tokens, hidden]`, of texts that all have the same number of tokens.
    ///
    /// Nothing is padded, so nothing is masked and no text depends on its neighbours' lengths.
    pub(crate) fn forward(&self, texts: &[&[u32]]) -> candle_core::Result<Tensor> {
        let length = texts.first().map_or(0, |ids| ids.len());
        let ids = texts.concat();
        let ids = Tensor::from_vec(ids, (texts.len(), length), &self.device)?;
        match &self.network {
            Network::Bert(model) => model.forward(&ids, &ids.zeros_like()?, None),
            Network::NomicBert(model) => model.forward(&ids, None, None),
        }
    }

    /// Bytes a forward pass holds at its widest, roughly: scores of all heads three times over
    /// (product, masked, softmax) beside the feed-forward layer twice and six hidden states.
    pub(crate) fn working_bytes(&self, texts: usize, length: usize) -> u64 {
        let attention = 3 * self.heads * length * length;
        let layer = length * (2 * self.inner + 6 * self.hidden);
        (4 * texts * (attention + layer)) as u64
    }
}

/// The tensors of a model.
struct Weights {
    floats: VarBuilder<'static>,
    /// Names and types of the tensors that hold no real numbers, such as a list of positions.
    others: Vec<(String, DType)>,
}

impl Weights {
    fn read(paths: &[PathBuf], device: &Device) -> Result<Self, Cause> {
        let mut tensors = HashMap::new();
        for path in paths {
            let name = path.file_name().unwrap_or_default().display();
            let read = candle_core::safetensors::load(path, device);
            tensors.extend(read.map_err(|error| format!("`{name}` is damaged: {error}"))?);
        }
        let is_float = |kind| matches!(kind, DType::F16 | DType::BF16 | DType::F32 | DType::F64);
        let mut others = Vec::new();
        tensors.retain(|name, tensor: &mut Tensor| {
            let kept = is_float(tensor.dtype());
            if !kept {
                others.push((name.clone(), tensor.dtype()));
            }
            kept
        });
        Ok(Self { floats: VarBuilder::from_tensors(tensors, DType::F32, device), others })
    }

    /// Makes a network of the tensors; one that lacks what it needs says so.
    fn load<T>(self, make: impl FnOnce(VarBuilder<'static>) -> candle_core::Result<T>) -> Result<T, Cause> {
        make(self.floats).map_err(|error| {
            let message = error.to_string();
            match self.others.iter().find(|(name, _)| message.contains(name.as_str())) {
                Some((name, kind)) => {
                    format!("tensor `{name}` is of type {kind:?}, not of real numbers").into()
                }
                None => error.into(),
            }
        })
    }
}
