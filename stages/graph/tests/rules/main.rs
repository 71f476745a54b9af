//! Each rule of resolution on rows written by hand, so that the right edges are known.

mod builds;
mod calls;
mod defaults;
mod documents;
mod files;
mod ranks;
mod rows;
mod symbols;
mod templates;
