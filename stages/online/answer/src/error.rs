//! What can go wrong with an answer.

use miette::Diagnostic;
use thiserror::Error;

/// Errors of answering.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// The prompt file is not valid.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Prompt(#[from] almanac_inference::PromptError),

    /// The model failed.
    #[error("failed to generate an answer with model `{model}`")]
    #[diagnostic(
        code(almanac::unavailable),
        help("run `almanac models verify`, or choose another model with `--set answer.model=NAME`")
    )]
    Generate {
        /// The model.
        model: String,
        /// Why.
        #[source]
        source: almanac_inference::Error,
    },

    /// The model ended its answer before it said anything.
    #[error("model `{model}` returned no text in {tokens} tokens")]
    #[diagnostic(
        code(almanac::unavailable),
        help(
            "ask in other words, raise answer.max_tokens if the model thinks before it answers, or choose another with `--set answer.model=NAME`"
        )
    )]
    NoText {
        /// The model.
        model: String,
        /// Tokens it generated, none of which is text.
        tokens: usize,
    },

    /// Question and instructions alone fill the window.
    #[error("model `{model}` has {context} tokens, the question and the answer alone need {needed}")]
    #[diagnostic(
        code(almanac::config),
        help(
            "raise answer.context_tokens, lower answer.max_tokens, or choose a model with a longer context"
        )
    )]
    NoRoom {
        /// The model.
        model: String,
        /// Tokens of its window that may be used.
        context: usize,
        /// Tokens needed without any evidence.
        needed: usize,
    },
}
