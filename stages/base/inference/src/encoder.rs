//! The architectures that turn token ids into vectors.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::{bert, nomic_bert};

use crate::error::Cause;

/// A loaded encoder.
pub(crate) struct Encoder {
    network: Network,
    device: Device,
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
        let config = fs_err::read_to_string(config)?;
        let mut tensors = HashMap::new();
        for path in weights {
            tensors.extend(candle_core::safetensors::load(path, device)?);
        }
        let weights = VarBuilder::from_tensors(tensors, DType::F32, device);
        match architecture {
            "bert" => {
                let config: bert::Config = serde_json::from_str(&config)?;
                Ok(Self {
                    network: Network::Bert(bert::BertModel::load(weights, &config)?),
                    device: device.clone(),
                    hidden: config.hidden_size,
                    heads: config.num_attention_heads,
                    inner: config.intermediate_size,
                    positions: config.max_position_embeddings,
                })
            }
            "nomic_bert" => {
                let config: nomic_bert::Config = serde_json::from_str(&config)?;
                Ok(Self {
                    network: Network::NomicBert(nomic_bert::NomicBertModel::load(weights, &config)?),
                    device: device.clone(),
                    hidden: config.n_embd,
                    heads: config.n_head,
                    inner: config.n_inner,
                    positions: config.n_positions,
                })
            }
            other => Err(format!("architecture `{other}` is not one of `bert` and `nomic_bert`").into()),
        }
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
