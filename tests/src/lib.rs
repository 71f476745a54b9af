//! End-to-end tests: the real binaries on real code, with the real small models.
//!
//! This library is the bench the tests work on: a copy of the fixture library, a store, and the
//! binaries of the same build. It must not know how any stage works.

mod bench;
mod fixture_store;

pub use bench::{Bench, Run, binary, repository_root};
pub use fixture_store::{RECORDS, built_bench};
