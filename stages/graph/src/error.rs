//! What can go wrong before a graph is built; building itself cannot fail.

/// Failure of this crate.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum Error {
    /// A setting is outside its range.
    #[error("setting `graph.params.{setting}` is {value}, it must be {wanted}")]
    #[diagnostic(
        code(almanac::config),
        help("correct the value; `almanac config --origin` shows where it comes from")
    )]
    Setting {
        /// Setting below `graph.params`.
        setting: &'static str,
        /// Value found.
        value: f64,
        /// Values allowed.
        wanted: &'static str,
    },
}
