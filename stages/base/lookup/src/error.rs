//! What can go wrong with the search index.

use std::path::{Path, PathBuf};

use almanac_artifact::{Digest, Store};
use miette::Diagnostic;
use thiserror::Error;

/// Errors of building and opening the search index.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// The store refused.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Artifact(#[from] almanac_artifact::Error),

    /// What a store holds for searching is damaged.
    #[error("artifact `{artifact}` of store {} is damaged", store.display())]
    #[diagnostic(code(almanac::data))]
    DamagedStore {
        /// The artifact.
        artifact: String,
        /// The store.
        store: PathBuf,
        /// Whether it is out of the way, and what to run.
        #[help]
        hint: &'static str,
        /// How it shows.
        #[source]
        source: Box<Error>,
    },

    /// The file system refused.
    #[error("failed to {action} {}", path.display())]
    #[diagnostic(
        code(almanac::io),
        help("check permissions, free space and quota; nothing that was committed is lost")
    )]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },

    /// FAISS refused.
    #[error("failed to {action} vector index {}", path.display())]
    #[diagnostic(
        code(almanac::data),
        help(
            "the file is damaged or was written by another version; run `almanac build` to write it again, no record is generated twice"
        )
    )]
    Vectors {
        /// What was attempted.
        action: &'static str,
        /// The index file.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: faiss::error::Error,
    },

    /// Tantivy refused.
    #[error("failed to {action} text index {}", path.display())]
    #[diagnostic(
        code(almanac::data),
        help(
            "the files are damaged or were written by another version; run `almanac build` to write them again, no record is generated twice"
        )
    )]
    Text {
        /// What was attempted.
        action: &'static str,
        /// The index folder.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: tantivy::TantivyError,
    },

    /// A file of the index is not there.
    #[error("{} is missing", path.display())]
    #[diagnostic(code(almanac::missing), help("run `almanac build` to write the index again"))]
    MissingFile {
        /// The file.
        path: PathBuf,
    },

    /// The index has another format.
    #[error("{} has format {found}, this program reads format {expected}", path.display())]
    #[diagnostic(code(almanac::data), help("run `almanac build` to bring the store up to date"))]
    Format {
        /// The file.
        path: PathBuf,
        /// Format in the store.
        found: u32,
        /// Format of this program.
        expected: u32,
    },

    /// A file of the index does not say what it should.
    #[error("{} is damaged: {detail}", path.display())]
    #[diagnostic(
        code(almanac::data),
        help("run `almanac build` to write the index again, no record is generated twice")
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found and what was expected.
        detail: String,
    },

    /// The index was built from other rows than those it is opened with.
    #[error("{} does not belong to the rows of this store: {detail}", path.display())]
    #[diagnostic(code(almanac::data), help("run `almanac build` to bring the index up to date"))]
    OtherRows {
        /// The index.
        path: PathBuf,
        /// What was found and what was expected.
        detail: String,
    },

    /// Vectors of unlike length.
    #[error("vector of {what} has {found} dimensions, the others have {expected}")]
    #[diagnostic(
        code(almanac::data),
        help(
            "all vectors must come from one embedding model; run `almanac build` to embed again with the configured one"
        )
    )]
    Dimension {
        /// Chunk id, or `the query`.
        what: String,
        /// Its length.
        found: usize,
        /// Length of the indexed vectors.
        expected: usize,
    },

    /// A vector that is not made of finite numbers.
    #[error("vector of chunk {chunk} holds a value that is not finite")]
    #[diagnostic(
        code(almanac::data),
        help("the embedding model gave a broken vector; run `almanac models verify`, then `almanac build`")
    )]
    NotFinite {
        /// The chunk.
        chunk: String,
    },

    /// A vector for a chunk that is not there.
    #[error("{count} embeddings have no chunk, the first is {chunk}")]
    #[diagnostic(
        code(almanac::data),
        help("chunks and embeddings come from different runs; run `almanac build`")
    )]
    UnknownChunk {
        /// How many.
        count: usize,
        /// The first.
        chunk: String,
    },

    /// A path FAISS cannot take.
    #[error("path {} is not valid UTF-8", path.display())]
    #[diagnostic(code(almanac::usage), help("put the store into a folder with a UTF-8 name"))]
    PathEncoding {
        /// The path.
        path: PathBuf,
    },

    /// The index holds no vectors but vectors were asked for.
    #[error("the index holds no vectors")]
    #[diagnostic(
        code(almanac::missing),
        help(
            "run the embed stage with an embedding model, or search without vectors (`--set retrieval.dense=false`)"
        )
    )]
    NoVectors,

    /// The contents file could not be formed.
    #[error("failed to describe the contents of the index")]
    #[diagnostic(code(almanac::bug), help("please report this"))]
    Describe {
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

/// After the artifact was moved away.
const SET_ASIDE: &str = "it was set aside: run `almanac build --source TREE` with this store to make it anew; nothing is generated twice";
/// Where nothing can be moved.
const LEFT: &str = "it is left as it is: run `almanac build --verify --source TREE` where this store can be written, or copy the store again";

impl Error {
    /// Whether an artifact of the store does not hold what it should, so that rebuilding mends it.
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Artifact(error) => error.is_damage(),
            Self::DamagedStore { .. }
            | Self::Vectors { .. }
            | Self::Text { .. }
            | Self::MissingFile { .. }
            | Self::Damaged { .. }
            | Self::OtherRows { .. } => true,
            Self::Io { .. }
            | Self::Format { .. }
            | Self::Dimension { .. }
            | Self::NotFinite { .. }
            | Self::UnknownChunk { .. }
            | Self::PathEncoding { .. }
            | Self::NoVectors
            | Self::Describe { .. } => false,
        }
    }

    /// Says which artifact of a store is damaged, after setting it aside where that is possible.
    pub(crate) fn set_aside(self, store: &Store, artifact: &str, key: &Digest) -> Self {
        let of_another_version = matches!(self, Self::Artifact(almanac_artifact::Error::TableVersion { .. }));
        if !self.is_damage() || of_another_version || matches!(self, Self::DamagedStore { .. }) {
            return self;
        }
        let moved = store.set_aside_if_damaged(artifact, key);
        self.in_store(store, artifact, moved)
    }

    pub(crate) fn in_store(self, store: &Store, artifact: &str, moved: bool) -> Self {
        Self::DamagedStore {
            artifact: artifact.to_owned(),
            store: store.root().to_owned(),
            hint: if moved { SET_ASIDE } else { LEFT },
            source: Box::new(self),
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| {
            if source.kind() == std::io::ErrorKind::NotFound && action == "read" {
                Self::MissingFile { path }
            } else {
                Self::Io { action, path, source }
            }
        }
    }

    pub(crate) fn text(action: &'static str, path: &Path) -> impl FnOnce(tantivy::TantivyError) -> Self {
        let path = path.to_owned();
        move |source| Self::Text { action, path, source }
    }

    pub(crate) fn vectors(action: &'static str, path: &Path) -> impl FnOnce(faiss::error::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Vectors { action, path, source }
    }
}
