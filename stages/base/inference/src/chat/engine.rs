//! From the files of a model to a running engine.

use std::path::{Path, PathBuf};

use mistralrs::core::Pipeline;
use mistralrs::{
    DeviceMapSetting, GgufModelBuilder, MemoryGpuConfig, Model, PagedAttentionMetaBuilder, TextModelBuilder,
    TokenSource, model_builder_trait,
};

use super::{Count, Shared};
use crate::error::Cause;
use crate::hub_config::HubConfig;
use crate::models::{ModelEntry, ModelFormat};
use crate::{Error, Result, device, gguf, models};

/// Share of a GPU's memory that is given to the model and its key-value cache.
const GPU_MEMORY_SHARE: f32 = 0.9;

/// Above this many bytes the time it takes to check them is worth a line in the log.
const LARGE_MODEL: u64 = 1 << 30;

/// Paths of the model's weights, after everything was checked that can be without the engine.
pub(super) fn verified_files(entry: &ModelEntry, models_dir: &Path) -> Result<Vec<PathBuf>> {
    let folder = entry.folder(models_dir);
    let bytes: u64 = models::files(entry, models_dir)?
        .iter()
        .filter_map(|file| fs_err::metadata(folder.join(&file.name)).ok())
        .map(|metadata| metadata.len())
        .sum();
    if bytes > LARGE_MODEL {
        tracing::info!(model = entry.name, bytes, "checking the digests of a large model");
    }
    let paths: Vec<_> =
        models::check(entry, models_dir)?.into_iter().map(|file| folder.join(file.name)).collect();
    match entry.format {
        ModelFormat::Gguf => gguf::check(&paths, &entry.architecture)?,
        ModelFormat::Safetensors => {
            let config = folder.join("config.json");
            if !config.is_file() {
                return Err(models::missing(entry, &config));
            }
            HubConfig::read(&config).map_err(|source| Error::Load { name: entry.name.clone(), source })?;
        }
    }
    Ok(paths)
}

/// Loads the weights and starts the engine's thread.
pub(super) async fn start(
    entry: &ModelEntry,
    folder: &Path,
    paths: &[PathBuf],
    sequences: usize,
) -> Result<(Model, Shared), Cause> {
    let (pipeline, scheduler, config) = match entry.format {
        ModelFormat::Gguf => {
            let names: Vec<String> = paths
                .iter()
                .filter_map(|path| Some(path.strip_prefix(folder).ok()?.display().to_string()))
                .collect();
            let mut builder = GgufModelBuilder::new(folder.display(), names)
                .with_token_source(TokenSource::None)
                .with_prefix_cache_n(None)
                .with_max_num_seqs(sequences);
            builder = if device::IS_CPU {
                builder.with_force_cpu().with_device_mapping(DeviceMapSetting::dummy())
            } else {
                builder.with_paged_attn(paged_attention()?)
            };
            model_builder_trait::build_gguf_pipeline(builder).await?
        }
        ModelFormat::Safetensors => {
            let mut builder = TextModelBuilder::new(folder.display())
                .with_token_source(TokenSource::None)
                .with_prefix_cache_n(None)
                .with_max_num_seqs(sequences);
            builder = if device::IS_CPU {
                builder.with_force_cpu().with_device_mapping(DeviceMapSetting::dummy())
            } else {
                builder.with_paged_attn(paged_attention()?)
            };
            model_builder_trait::build_text_pipeline(builder).await?
        }
    };
    let shared: Shared = pipeline.clone();
    let engine = model_builder_trait::build_model_from_pipeline(pipeline, scheduler, config).await;
    Ok((engine, shared))
}

/// The key-value cache of a GPU, in pages; where there is no such thing the engine ignores it.
fn paged_attention() -> Result<mistralrs::PagedAttentionConfig, Cause> {
    Ok(PagedAttentionMetaBuilder::default()
        .with_gpu_memory(MemoryGpuConfig::Utilization(GPU_MEMORY_SHARE))
        .build()?)
}

/// The engine's tokenizer is of another version than the workspace's, so its type stays in here.
pub(super) fn token_counter(pipeline: &dyn Pipeline) -> Option<Count> {
    let tokenizer = pipeline.tokenizer()?;
    Some(Box::new(move |text| Ok(tokenizer.encode_fast(text, false)?.len())))
}
