//! What can be wrong with the macro table.

use miette::Diagnostic;
use thiserror::Error as ThisError;

/// Errors of this crate.
#[derive(Debug, ThisError, Diagnostic)]
pub enum Error {
    /// The macro table is not valid TOML or has unknown keys.
    #[error("macro table {origin} cannot be read")]
    #[diagnostic(
        code(almanac::config),
        help("compare it with config/macros.toml: every key there is a list of macro names")
    )]
    MacroTable {
        /// File or other origin of the table.
        origin: String,
        /// Where and why.
        #[source]
        source: toml::de::Error,
    },
}
