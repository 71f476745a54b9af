//! What can go wrong when embedding.

/// Errors of the embed stage; each is told by the part that met it.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum Error {
    /// The embedder failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Model(#[from] almanac_inference::Error),

    /// The ledger could not be written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Ledger(#[from] almanac_artifact::Error),

    /// The embedder gave fewer or other vectors than it was asked for.
    #[error("embedder `{model}` gave {found} vectors for {expected} texts")]
    #[diagnostic(code(almanac::bug), help("please report this"))]
    VectorCount {
        /// Model name.
        model: String,
        /// Texts given.
        expected: usize,
        /// Vectors returned.
        found: usize,
    },

    /// A vector holds a value that is no number.
    #[error("embedder `{model}` gave a vector that is not finite for chunk `{chunk}`")]
    #[diagnostic(
        code(almanac::data),
        help("run `almanac models verify {model}`: the weights may be damaged")
    )]
    NotFinite {
        /// Model name.
        model: String,
        /// Chunk id.
        chunk: String,
    },
}
