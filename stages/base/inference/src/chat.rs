//! Chat models on mistral.rs.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use mistralrs::core::Pipeline;
use mistralrs::{
    DeviceMapSetting, GgufModelBuilder, MemoryGpuConfig, Model, PagedAttentionMetaBuilder, RequestBuilder,
    RequestLike as _, Response, SamplingParams, TextMessageRole, TextModelBuilder, TokenSource,
    model_builder_trait,
};
use tokio::runtime::Runtime;
use tokio::sync::{Mutex, Semaphore};

use crate::error::{Cause, panic_cause};
use crate::models::{ModelCatalog, ModelEntry, ModelFormat, ModelRole};
use crate::sampling::SeededNoise;
use crate::{
    Completion, Error, FinishReason, GenerateRequest, LanguageModel, ModelIdentity, Result, batching, device,
    gguf, models,
};

/// Share of a GPU's memory that is given to the model and its key-value cache.
const GPU_MEMORY_SHARE: f32 = 0.9;

/// Above this many bytes the time it takes to check them is worth a line in the log.
const LARGE_MODEL: u64 = 1 << 30;

/// How a chat model runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatOptions {
    /// Generations at once; further callers wait in order. What makes an array job on a GPU fast, at
    /// the price of last bits: the shape of a batch decides the order of additions, so that a near-tie
    /// between two tokens may fall the other way. On a CPU it is always one: there batching gains an
    /// eighth, and mistral.rs 0.8.1 mixes up the sequences of a batch.
    pub sequences: NonZeroUsize,
}

type Shared = Arc<Mutex<dyn Pipeline>>;
type Count = Box<dyn Fn(&str) -> Result<usize, Cause> + Send + Sync>;

/// A chat model in this process, from GGUF or safetensors.
///
/// Greedy when the temperature is zero, otherwise sampled from the request's seed. Nothing is kept
/// between requests: an answer depends on the model and the request.
pub struct MistralModel {
    identity: ModelIdentity,
    context_length: usize,
    engine: Model,
    pipeline: Shared,
    count: Count,
    turns: Semaphore,
    /// Only waits for the engine, which has a thread of its own.
    runtime: Runtime,
}

impl MistralModel {
    /// Verifies the files of the model `name` and loads it.
    pub fn load(
        catalog: &ModelCatalog,
        name: &str,
        models_dir: &Path,
        options: &ChatOptions,
    ) -> Result<Self> {
        let entry = catalog.get_as(name, ModelRole::Llm)?;
        let started = Instant::now();
        let paths = verified_files(entry, models_dir)?;
        let identity = models::identity(entry, models_dir)?;
        let failed = |source: Cause| Error::Load { name: name.to_owned(), source };
        let sequences = if device::IS_CPU { 1 } else { options.sequences.get() };
        let runtime =
            tokio::runtime::Builder::new_current_thread().build().map_err(|error| failed(error.into()))?;
        let folder = entry.folder(models_dir);
        // The engine answers some damaged files with a panic.
        let (engine, pipeline) =
            catch_unwind(AssertUnwindSafe(|| runtime.block_on(start(entry, &folder, &paths, sequences))))
                .map_err(|payload| failed(panic_cause(payload.as_ref())))?
                .map_err(failed)?;
        let (context_length, count) = {
            let pipeline = runtime.block_on(pipeline.lock());
            let count =
                token_counter(&*pipeline).ok_or_else(|| failed("the model has no tokenizer".into()))?;
            (pipeline.get_metadata().max_seq_len, count)
        };
        tracing::info!(model = name, seconds = started.elapsed().as_secs_f64(), "model loaded");
        let model = Self {
            identity,
            context_length: context_length.min(entry.context_length),
            engine,
            pipeline,
            count,
            turns: Semaphore::new(sequences),
            runtime,
        };
        if sequences > 1 && !batching::is_sound(&model, sequences)? {
            tracing::warn!(model = name, "batches change answers, so one is generated at a time");
            model.turns.forget_permits(sequences - 1);
        }
        Ok(model)
    }

    /// Tokens of the request's prompt as rendered by the model's chat template.
    pub fn prompt_tokens(&self, request: &GenerateRequest) -> Result<usize> {
        let messages = messages(request).messages_ref().to_vec();
        let pipeline = self.runtime.block_on(self.pipeline.lock());
        let rendered =
            pipeline.get_processor().process(&*pipeline, messages, true, true, Some(false), None, Vec::new());
        match rendered {
            Ok((tokens, _)) => Ok(tokens.len()),
            Err(error) => Err(Error::Tokenize { name: self.identity.name.clone(), source: error.into() }),
        }
    }

    fn failed(&self, source: Cause) -> Error {
        Error::Generate { name: self.identity.name.clone(), source }
    }

    /// Takes the answer from the engine piece by piece.
    fn stream(&self, request: RequestBuilder, on_text: &mut dyn FnMut(&str)) -> Result<Answer> {
        let mut stream = self
            .runtime
            .block_on(self.engine.stream_chat_request(request))
            .map_err(|error| self.failed(error.into()))?;
        let mut answer = Answer { text: String::new(), tokens: 0, finish: FinishReason::Length };
        loop {
            let chunk = match self.runtime.block_on(stream.next()) {
                Some(Response::Chunk(chunk)) => chunk,
                Some(Response::InternalError(error) | Response::ValidationError(error)) => {
                    return Err(self.failed(error));
                }
                Some(Response::ModelError(message, _)) => return Err(self.failed(message.into())),
                Some(_) => return Err(self.failed("the engine answered out of turn".into())),
                None => return Err(self.failed("the engine stopped".into())),
            };
            let Some(choice) = chunk.choices.into_iter().next() else {
                continue;
            };
            if let Some(text) = choice.delta.content.filter(|text| !text.is_empty()) {
                on_text(&text);
                answer.text.push_str(&text);
            }
            if let Some(usage) = chunk.usage {
                answer.tokens = usage.completion_tokens;
            }
            match choice.finish_reason.as_deref() {
                None => {}
                Some("stop") => {
                    answer.finish = FinishReason::Stop;
                    return Ok(answer);
                }
                Some("length") => return Ok(answer),
                Some(other) => {
                    return Err(self.failed(format!("generation ended with `{other}`").into()));
                }
            }
        }
    }
}

/// What the engine gave.
struct Answer {
    text: String,
    tokens: usize,
    finish: FinishReason,
}

impl LanguageModel for MistralModel {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn context_length(&self) -> usize {
        self.context_length
    }

    fn count_tokens(&self, text: &str) -> Result<usize> {
        (self.count)(text).map_err(|source| Error::Tokenize { name: self.identity.name.clone(), source })
    }

    fn generate_streaming(
        &self,
        request: &GenerateRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Completion> {
        let _turn = self.runtime.block_on(self.turns.acquire()).map_err(|error| self.failed(error.into()))?;
        let started = Instant::now();
        let prompt_tokens = self.prompt_tokens(request)?;
        if prompt_tokens + request.max_tokens > self.context_length {
            return Err(Error::ContextOverflow {
                name: self.identity.name.clone(),
                prompt: prompt_tokens,
                answer: request.max_tokens,
                limit: self.context_length,
            });
        }
        // The engine takes a limit of zero for none.
        let answer = if request.max_tokens == 0 {
            Answer { text: String::new(), tokens: 0, finish: FinishReason::Length }
        } else {
            self.stream(with_sampling(messages(request), request), on_text)?
        };
        Ok(Completion {
            text: answer.text,
            prompt_tokens,
            completion_tokens: answer.tokens,
            seconds: started.elapsed().as_secs_f64(),
            finish: answer.finish,
        })
    }
}

/// Paths of the model's weights, after everything was checked that can be without the engine.
fn verified_files(entry: &ModelEntry, models_dir: &Path) -> Result<Vec<PathBuf>> {
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
        models::verify(entry, models_dir)?.into_iter().map(|file| folder.join(file.name)).collect();
    if entry.format == ModelFormat::Gguf {
        check_gguf(entry, &paths)?;
    }
    Ok(paths)
}

/// The first file of a split model carries what describes it.
fn check_gguf(entry: &ModelEntry, paths: &[PathBuf]) -> Result<()> {
    for (index, path) in paths.iter().enumerate() {
        let head = gguf::read_head(path)?;
        let fault = match head.architecture {
            Some(found) if found != entry.architecture => {
                Some(format!("it holds architecture `{found}`, the catalogue says `{}`", entry.architecture))
            }
            None if index == 0 => Some("it names no architecture".to_owned()),
            _ if index == 0 && !head.has_chat_template => {
                Some("it has no chat template, so it is no instruct model".to_owned())
            }
            _ => None,
        };
        if let Some(fault) = fault {
            return Err(Error::Gguf { path: path.clone(), fault });
        }
    }
    Ok(())
}

/// Loads the weights and starts the engine's thread.
async fn start(
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
fn token_counter(pipeline: &dyn Pipeline) -> Option<Count> {
    let tokenizer = pipeline.tokenizer()?;
    Some(Box::new(move |text| Ok(tokenizer.encode_fast(text, false)?.len())))
}

fn messages(request: &GenerateRequest) -> RequestBuilder {
    // A model that can think aloud is told not to: nobody reads it, and it costs tokens.
    let mut builder = RequestBuilder::new().enable_thinking(false);
    if !request.system.is_empty() {
        builder = builder.add_message(TextMessageRole::System, &request.system);
    }
    builder.add_message(TextMessageRole::User, &request.user)
}

/// The engine always takes the largest logit; see [`SeededNoise`] for temperatures above zero.
fn with_sampling(builder: RequestBuilder, request: &GenerateRequest) -> RequestBuilder {
    let builder = builder.set_sampling(SamplingParams {
        temperature: Some(0.0),
        top_k: None,
        max_len: Some(request.max_tokens),
        ..SamplingParams::deterministic()
    });
    if request.temperature > 0.0 {
        builder.add_logits_processor(Arc::new(SeededNoise {
            temperature: request.temperature,
            seed: request.seed,
        }))
    } else {
        builder
    }
}
