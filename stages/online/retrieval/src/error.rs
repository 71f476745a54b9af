//! What can go wrong with a search.

use miette::Diagnostic;
use thiserror::Error;

/// Errors of searching.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// The index refused.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Index(#[from] almanac_index::Error),

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
    #[diagnostic(code(almanac::usage), help("set retrieval.budget_tokens to 200 or more"))]
    Budget {
        /// The budget.
        budget: usize,
    },
}
