//! Languages: what a file is, what part it plays, and how its syntax tree is had.
//!
//! The crate knows file names, grammars and the macros that hide C++ from a grammar. It must not
//! know entities, stages or the store, and reads no files: everything is a function of a path and
//! its content, so the same file is read the same way everywhere.
//!
//! - [`Classification`]: path → language and kind of source.
//! - [`decode`]: bytes → text, or the reason why they are none.
//! - [`path_role`], [`content_role`]: the part a file plays in its project.
//! - [`parse`]: syntax trees.
//! - [`CppSource`]: C and C++ trees, with masked macros ([`MacroTable`], [`TreeMacros`]) and with the
//!   branches of conditionals read side by side or in rounds.

mod branches;
mod classify;
mod content;
mod cpp;
mod defines;
mod enclosed;
mod error;
mod expand;
mod fields;
mod grammar;
mod known;
mod lexer;
mod lines;
mod macros;
mod mask;
mod role;
mod scan;
mod scopes;
mod tree_macros;
mod vocabulary;

pub use classify::{Classification, is_comment_page};
pub use content::{Content, decode};
pub use cpp::{CppSource, CppTree, Score, error_places, functions};
pub use defines::{Define, defines};
pub use enclosed::{Directives, EnclosedInclude, ScopePart, directives, enclosed_includes};
pub use error::Error;
pub use fields::{Field, Fields};
pub use grammar::{Grammar, Limits, Stop, Watch, parse};
pub use known::KnownNames;
pub use lexer::comments;
pub use lines::LineIndex;
pub use macros::{MACROS_TOML, MacroAction, MacroTable};
pub use mask::Masked;
pub use role::{PathRole, content_role, path_role};
pub use scopes::Opened;
pub use tree_macros::TreeMacros;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
