//! A store in one file that can be carried to another machine: made, checked and opened.
//!
//! A bundle is a zstd-compressed tar of `manifest.json` and, below `store/`, a store that holds one
//! profile's current artifacts. This crate must not know how a question is answered: an opened
//! bundle is a store like any other.

mod create;
mod error;
mod manifest;
mod open;
#[cfg(test)]
mod tests;
mod unpack;

pub use create::{Created, create};
pub use error::{Error, Result};
pub use manifest::{BUNDLE_FORMAT, Manifest, Member};
pub use open::{Opened, open, verify};
pub use unpack::Limits;
