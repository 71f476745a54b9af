//! The store: immutable artifacts, append-only ledgers and the refs that name what is current.
//!
//! This crate alone writes Parquet, hashes bytes and renames into the store. It knows rows through
//! the [`Table`] trait and must not know which tables, stages or settings exist.
//!
//! - [`Table`], [`Column`] and the [`table!`] macro: one Rust type is one Parquet schema.
//! - [`Digest`] and [`Encoder`]: the specified byte encoding under every key and content digest.
//! - [`Store`], [`ArtifactWriter`], [`Manifest`]: staging, fsync, manifest last, rename.
//! - [`Ledger`]: records that cost GPU time, each kept once and never thrown away; [`Shard`] says which
//!   of the missing ones a task makes.

mod abandoned;
mod artifact;
mod column;
mod digest;
mod error;
mod files;
mod ledger;
mod manifest;
mod parquet_io;
mod shard;
mod store;
mod table;
mod writer;

pub use abandoned::Owner;
pub use artifact::Artifact;
pub use column::Column;
pub use digest::{Digest, Encoder, FileHasher};
pub use error::Error;
pub use files::{read_json, write_atomically};
pub use ledger::{Ledger, LedgerRecord, LedgerWriter};
pub use manifest::{FileEntry, KeyParts, Manifest, PartEntry, TableEntry};
pub use parquet_io::read_part as read_rows;
pub use shard::Shard;
pub use store::{Ref, STORE_FORMAT, Store};
pub use table::{ColumnDoc, Table};
pub use writer::ArtifactWriter;

/// What [`table!`] and [`symbol_enum!`] expand to needs these names from any crate.
#[doc(hidden)]
pub mod export {
    pub use arrow_array::{ArrayRef, RecordBatch};
    pub use arrow_schema::{DataType, Field, Schema, SchemaRef};
    pub use std::sync::Arc;
}

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
