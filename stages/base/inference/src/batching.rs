//! Whether a model gives the same answers to requests that run at once as to each alone.
//!
//! Batching is where engines go wrong unseen: mistral.rs 0.8.1 continues all sequences of a batch on
//! a CPU with the context of one of them, and the answers read like answers. So nothing is batched
//! before the engine has shown, on the device at hand, that it can.

use std::panic::resume_unwind;

use crate::{GenerateRequest, LanguageModel, Result};

/// Tokens of each answer: enough to leave the common first words, few enough that a near-tie between
/// tokens, which rounding may decide differently in a batch, is unlikely to be met.
const ANSWER_TOKENS: usize = 8;

/// Different in length, as real ones are, and close enough to end up in one batch.
const QUESTIONS: [&str; 4] = [
    "Name a colour.",
    "What is a mesh?",
    "Name a planet of the solar system.",
    "What is the capital of France?",
];

/// Asks each question alone, then several at once.
pub(crate) fn is_sound(model: &dyn LanguageModel, sequences: usize) -> Result<bool> {
    let requests: Vec<_> = QUESTIONS.iter().take(sequences.max(2)).map(|question| ask(question)).collect();
    let alone =
        requests.iter().map(|request| Ok(model.generate(request)?.text)).collect::<Result<Vec<_>>>()?;
    let at_once = std::thread::scope(|scope| {
        let running: Vec<_> =
            requests.iter().map(|request| scope.spawn(|| model.generate(request))).collect();
        running
            .into_iter()
            .map(|thread| Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?.text))
            .collect::<Result<Vec<_>>>()
    })?;
    Ok(alone == at_once)
}

fn ask(question: &str) -> GenerateRequest {
    GenerateRequest {
        system: String::new(),
        user: question.to_owned(),
        max_tokens: ANSWER_TOKENS,
        temperature: 0.0,
        seed: 0,
        schema: None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::*;
    use crate::{Completion, FinishReason, ModelIdentity};

    /// Answers with the question, or, if it mixes, with the last question that had arrived.
    struct Parrot {
        identity: ModelIdentity,
        mixes: bool,
        last: Mutex<String>,
    }

    impl Parrot {
        fn new(mixes: bool) -> Self {
            let identity = ModelIdentity { name: "parrot".to_owned(), digest: String::new() };
            Self { identity, mixes, last: Mutex::default() }
        }
    }

    impl LanguageModel for Parrot {
        fn identity(&self) -> &ModelIdentity {
            &self.identity
        }

        fn context_length(&self) -> usize {
            64
        }

        fn count_tokens(&self, text: &str) -> Result<usize> {
            Ok(text.len())
        }

        fn generate_streaming(
            &self,
            request: &GenerateRequest,
            _on_text: &mut dyn FnMut(&str),
        ) -> Result<Completion> {
            self.last.lock().unwrap().clone_from(&request.user);
            let text = if self.mixes {
                std::thread::sleep(Duration::from_millis(200));
                self.last.lock().unwrap().clone()
            } else {
                request.user.clone()
            };
            Ok(Completion {
                text,
                prompt_tokens: 1,
                completion_tokens: 1,
                seconds: 0.0,
                finish: FinishReason::Stop,
            })
        }
    }

    #[test]
    fn tells_models_that_mix_from_those_that_do_not() {
        assert!(is_sound(&Parrot::new(false), 4).unwrap());
        assert!(!is_sound(&Parrot::new(true), 4).unwrap());
        assert!(!is_sound(&Parrot::new(true), 2).unwrap());
    }
}
