//! From a task in words to the files it touches, from the tree as it is (DeepDiscovery, section III).
//!
//! [`Snapshot`] is a working tree or a commit, with the history before it; [`Workspace`] turns its files
//! into searchable units, each content once; [`assemble`] locates anchors, follows relations from them and
//! packs cards and source under a hard token budget. [`Cache`] keeps what was read for the next call. It
//! works without a store and a model: what a store says of files is handed in as [`Explained`]. The crate must not know who asks, nor how a result is printed; it runs `git` for
//! what only git knows.

mod bm25;
mod cache;
mod cards;
mod compress;
mod error;
mod explained;
mod facts;
mod git;
mod history;
mod locate;
mod package;
mod promote;
mod relate;
mod settings;
mod sheet;
mod snapshot;
mod state;
mod symbols;
mod units;
mod words;
mod workspace;

pub use almanac_parse::ParseParams;
pub use cache::Cache;
pub use compress::Granularity;
pub use error::Error;
pub use explained::{Explained, Explanation};
pub use package::{
    Anchor, Answer, Detail, EntityCard, FileCard, LeftOut, Means, Neighbour, Omitted, Package, RelationCard,
    assemble,
};
pub use settings::{ContextSettings, Parts, Promotion, Propagation, Signals};
pub use sheet::TokenCounter;
pub use snapshot::Snapshot;
pub use state::{State, StoreState};
pub use workspace::{View, Workspace};

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
