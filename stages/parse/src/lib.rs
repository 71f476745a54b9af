//! Parse stage: a source tree to files, texts, entities and references.
//!
//! Reads the tree; writes `files`, `texts`, `entities` and `references` (paper 3.2.1 and 3.2.2).
//! [`FileReader::read`] is a pure function of path, bytes, parameters and the tree's macros, so rows are taken over from an
//! earlier run wherever a file's content is the same ([`parse_tree`]). The crate must not know how
//! names are resolved across files, nor where rows are kept. Bump the stage's revision when the
//! same file may give other rows.

mod cmake;
mod cpp;
mod documents;
mod error;
mod file;
mod fortran;
mod names;
mod params;
mod python;
mod roles;
mod rows;
mod script;
mod surroundings;
mod tree;

pub use error::Error;
pub use file::{FileReader, ParsedFile, ReadSettings, unread_file};
pub use params::{ParseParams, ParseRun};
pub use roles::settle_roles;
pub use surroundings::Surroundings;
pub use tree::{ParseInput, Previous, TreeInput, TreeRows, parse_all, parse_tree};

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use almanac_freshness::tree::TreeRules;
    use almanac_language::Watch;

    use crate::{ParseParams, ParseRun};

    pub(crate) static CALM: AtomicBool = AtomicBool::new(false);

    /// Steps that no test runs out of.
    pub(crate) fn watch() -> Watch<'static> {
        Watch::start(params(2000).limits(), &CALM)
    }

    pub(crate) const RUN: ParseRun = ParseRun { threads: 2 };

    pub(crate) fn params(max_chunk_size: usize) -> ParseParams {
        let tree = TreeRules { max_file_bytes: 1 << 20, ignore: Vec::new(), include_hidden: true };
        ParseParams { max_chunk_size, max_file_steps: 100_000_000, tree }
    }
}
