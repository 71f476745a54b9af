//! Chat models on mistral.rs.

mod engine;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mistralrs::core::Pipeline;
use mistralrs::{
    Constraint, Model, Request, RequestBuilder, RequestLike as _, Response, SamplingParams, TextMessageRole,
};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::Sender;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;

use crate::engine_panics::{contain, last_words};
use crate::error::Cause;
use crate::models::{ModelCatalog, ModelRole};
use crate::sampling::SeededNoise;
use crate::{
    Completion, Error, FinishReason, GenerateRequest, LanguageModel, ModelIdentity, Result, batching, device,
    models,
};

/// How often whoever waits for the engine looks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(100);

/// How long an engine that ends may take to close what it listens at.
const ENDING: Duration = Duration::from_secs(1);

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
        let paths = engine::verified_files(entry, models_dir)?;
        let identity = models::identity(entry, models_dir)?;
        let failed = |source: Cause| Error::Load { name: name.to_owned(), source };
        let sequences = if device::IS_CPU { 1 } else { options.sequences.get() };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(|error| failed(error.into()))?;
        let folder = entry.folder(models_dir);
        // The engine answers some damaged files with a panic.
        let loaded = contain(|| {
            let (engine, pipeline) = runtime.block_on(engine::start(entry, &folder, &paths, sequences))?;
            let (context_length, count) = {
                let pipeline = runtime.block_on(pipeline.lock());
                let count = engine::token_counter(&*pipeline).ok_or("the model has no tokenizer")?;
                (pipeline.get_metadata().max_seq_len, count)
            };
            Ok((engine, pipeline, context_length, count))
        });
        let (engine, pipeline, context_length, count) = loaded.map_err(failed)?;
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
        // A chat template that does not render would fail every request.
        model.prompt_tokens(&try_out()).map_err(|error| failed(error.into()))?;
        if sequences > 1 && !batching::is_sound(&model, sequences)? {
            tracing::warn!(model = name, "batches change answers, so one is generated at a time");
            model.turns.forget_permits(sequences - 1);
        }
        Ok(model)
    }

    /// Tokens of the request's prompt as rendered by the model's chat template.
    pub fn prompt_tokens(&self, request: &GenerateRequest) -> Result<usize> {
        self.prompt_tokens_until(request, &AtomicBool::new(false))
    }

    fn prompt_tokens_until(&self, request: &GenerateRequest, interrupted: &AtomicBool) -> Result<usize> {
        let messages = messages(request).messages_ref().to_vec();
        // The engine holds the pipeline while it computes a step.
        let pipeline = self.wait(self.pipeline.lock(), interrupted)?;
        contain(|| {
            let processor = pipeline.get_processor();
            let (tokens, _) =
                processor.process(&*pipeline, messages, true, true, Some(false), None, Vec::new())?;
            Ok(tokens.len())
        })
        .map_err(|source| Error::Tokenize { name: self.identity.name.clone(), source })
    }

    /// Waits for the engine, but not on after `interrupted` is set.
    fn wait<T>(&self, work: impl Future<Output = T>, interrupted: &AtomicBool) -> Result<T> {
        self.runtime.block_on(async {
            let mut work = std::pin::pin!(work);
            loop {
                if interrupted.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted { name: self.identity.name.clone() });
                }
                if let Ok(done) = timeout(LOOK, work.as_mut()).await {
                    return Ok(done);
                }
            }
        })
    }

    fn failed(&self, source: Cause) -> Error {
        Error::Generate { name: self.identity.name.clone(), source }
    }

    /// One generation, when its turn comes.
    fn answer(
        &self,
        request: &GenerateRequest,
        on_text: &mut dyn FnMut(&str),
        interrupted: &AtomicBool,
    ) -> Result<Completion> {
        let _turn =
            self.wait(self.turns.acquire(), interrupted)?.map_err(|error| self.failed(error.into()))?;
        let started = Instant::now();
        let prompt_tokens = self.prompt_tokens_until(request, interrupted)?;
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
            Answer::default()
        } else {
            let constrained = with_constraint(with_sampling(messages(request), request), request);
            self.stream(constrained, request.schema.is_some(), on_text, interrupted)?
        };
        Ok(Completion {
            text: answer.text,
            prompt_tokens,
            completion_tokens: answer.tokens,
            seconds: started.elapsed().as_secs_f64(),
            finish: answer.finish,
        })
    }

    /// Takes the answer from the engine piece by piece. When it is interrupted, the stream is dropped,
    /// and the engine gives the sequence up when it has its next token. So it is when an answer that
    /// `is_json` is whole: which token ends it then is not for every tokenizer what ends a turn.
    fn stream(
        &self,
        request: RequestBuilder,
        is_json: bool,
        on_text: &mut dyn FnMut(&str),
        interrupted: &AtomicBool,
    ) -> Result<Answer> {
        // Where an engine has died, this starts another.
        let opened = contain(|| {
            let requests = self.engine.inner().get_sender(None)?;
            let stream = self.runtime.block_on(self.engine.stream_chat_request(request))?;
            Ok((requests, stream))
        });
        let (requests, mut stream) = opened.map_err(|error| self.failed(error))?;
        let mut answer = Answer::default();
        loop {
            let chunk = match self.wait(stream.next(), interrupted)? {
                Some(Response::Chunk(chunk)) => chunk,
                Some(Response::InternalError(error) | Response::ValidationError(error)) => {
                    return Err(self.failed(error));
                }
                Some(Response::ModelError(message, _)) => return Err(self.failed(message.into())),
                Some(_) => return Err(self.failed("the engine answered out of turn".into())),
                None => return self.ended_without_a_word(answer, &requests, interrupted),
            };
            let Some(choice) = chunk.choices.into_iter().next() else {
                continue;
            };
            answer.tokens += 1;
            if let Some(text) = choice.delta.content.filter(|text| !text.is_empty()) {
                on_text(&text);
                answer.text.push_str(&text);
            }
            if let Some(usage) = chunk.usage {
                answer.tokens = usage.completion_tokens;
            }
            match choice.finish_reason.as_deref() {
                None | Some("length") if is_json && is_whole(&answer.text) => {
                    answer.finish = FinishReason::Stop;
                    return Ok(answer);
                }
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

    /// The engine closed the stream and gave no reason. Either it died, or the last token ended
    /// inside a character: it then has no text to send, and sends nothing at all.
    fn ended_without_a_word(
        &self,
        answer: Answer,
        requests: &Sender<Request>,
        interrupted: &AtomicBool,
    ) -> Result<Answer> {
        // A timer begins in the runtime or not at all, hence the block.
        let closed = async { timeout(ENDING, requests.closed()).await };
        let has_died = self.wait(closed, interrupted)?.is_ok();
        if !has_died {
            return Ok(answer);
        }
        Err(self.failed(match last_words() {
            Some(words) => format!("the engine panicked: {words}").into(),
            None => "the engine stopped".into(),
        }))
    }
}

/// What the engine gave; cut off unless it says that the model ended it.
struct Answer {
    text: String,
    tokens: usize,
    finish: FinishReason,
}

impl Default for Answer {
    fn default() -> Self {
        Self { text: String::new(), tokens: 0, finish: FinishReason::Length }
    }
}

impl LanguageModel for MistralModel {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn context_length(&self) -> usize {
        self.context_length
    }

    fn count_tokens(&self, text: &str) -> Result<usize> {
        contain(|| (self.count)(text))
            .map_err(|source| Error::Tokenize { name: self.identity.name.clone(), source })
    }

    fn generate_streaming(
        &self,
        request: &GenerateRequest,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Completion> {
        self.answer(request, on_text, &AtomicBool::new(false))
    }

    fn generate_until(&self, request: &GenerateRequest, interrupted: &AtomicBool) -> Result<Completion> {
        self.answer(request, &mut |_| {}, interrupted)
    }
}

/// The shortest request.
fn try_out() -> GenerateRequest {
    GenerateRequest {
        system: String::new(),
        user: "A word.".to_owned(),
        max_tokens: 1,
        temperature: 0.0,
        seed: 0,
        schema: None,
    }
}

fn messages(request: &GenerateRequest) -> RequestBuilder {
    // A model that can think aloud is told not to: nobody reads it, and it costs tokens.
    let mut builder = RequestBuilder::new().enable_thinking(false);
    if !request.system.is_empty() {
        builder = builder.add_message(TextMessageRole::System, &request.system);
    }
    builder.add_message(TextMessageRole::User, &request.user)
}

/// Whether `text` is a whole JSON object.
fn is_whole(text: &str) -> bool {
    text.trim_end().ends_with('}') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Tokens that would break the schema are never taken.
fn with_constraint(builder: RequestBuilder, request: &GenerateRequest) -> RequestBuilder {
    match &request.schema {
        Some(schema) => builder.set_constraint(Constraint::JsonSchema(schema.as_ref().clone())),
        None => builder,
    }
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
