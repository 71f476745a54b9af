//! The searchable store: exact vectors (FAISS), BM25 over whole symbols, sections and files
//! (tantivy), and look-ups by file, symbol and module name (paper 3.2.5 and 3.2.6).
//!
//! [`build`] turns the rows of the earlier stages into files, the same bytes for the same rows.
//! [`SearchIndex`] opens those files together with the rows in one call and answers the exact and
//! ranked look-ups that retrieval is made of. The index stage writes and what is online reads through
//! this crate alone. It must not know what a question means, which results are shown, or any model.

mod analyze;
mod build;
mod error;
mod frozen;
mod guard;
mod lexical;
mod names;
mod search;
mod tables;
mod threads;
mod units;
mod vectors;

pub use analyze::{Analyzer, identifier_parts, is_stop_word, words};
pub use build::{CONTENTS_FILE, Contents, LEXICAL_FOLDER, VECTORS_FILE, build};
pub use error::Error;
pub use lexical::{FieldBoosts, WeightedTerm};
pub use search::{Check, ChunkHit, SearchIndex, UnitHit};
pub use tables::Tables;
pub use threads::use_threads;
pub use units::{Unit, UnitSource};

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
