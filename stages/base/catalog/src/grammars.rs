//! Grammar versions, part of the parse stage's key.

/// Crate and version of everything that shapes a syntax tree. A test compares them with
/// `Cargo.lock`, so an update cannot go unnoticed.
pub const GRAMMARS: &[(&str, &str)] = &[
    ("tree-sitter", "0.27.1"),
    ("tree-sitter-c", "0.24.2"),
    ("tree-sitter-cmake", "0.7.6"),
    ("tree-sitter-cpp", "0.23.4"),
    ("tree-sitter-fortran", "0.6.0"),
    ("tree-sitter-json", "0.24.8"),
    ("tree-sitter-python", "0.25.0"),
    ("tree-sitter-toml-ng", "0.7.0"),
    ("tree-sitter-yaml", "0.7.2"),
];
