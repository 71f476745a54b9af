//! What can go wrong with a search.

use miette::Diagnostic;
use thiserror::Error;

/// Errors of searching.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// The index refused.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Index(#[from] almanac_lookup::Error),

    /// The question could not be embedded.
    #[error("failed to embed the question")]
    #[diagnostic(
        code(almanac::unavailable),
        help("run `almanac models verify`, or search without vectors (`--set retrieval.dense=false`)")
    )]
    Embed {
        /// Why.
        #[source]
        source: almanac_inference::Error,
    },

    /// The question holds nothing to search for.
    #[error("the question is empty")]
    #[diagnostic(code(almanac::usage), help("ask in words or name a file or symbol"))]
    EmptyQuery,

    /// The budget cannot hold anything.
    #[error("a token budget of {budget} holds no evidence")]
    #[diagnostic(
        code(almanac::usage),
        help("give {least} or more, with --budget or as the setting retrieval.budget_tokens")
    )]
    Budget {
        /// The budget.
        budget: usize,
        /// The smallest that holds some.
        least: usize,
    },
}

impl Error {
    /// Whether another question could be answered all the same.
    pub fn is_of_the_question(&self) -> bool {
        match self {
            Self::EmptyQuery | Self::Embed { .. } => true,
            Self::Index(_) | Self::Budget { .. } => false,
        }
    }
}
