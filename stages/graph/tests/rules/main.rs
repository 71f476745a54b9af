//! Each rule of resolution on rows written by hand, so that the right edges are known.

mod calls;
mod defaults;
mod files;
mod ranks;
mod rows;
mod symbols;
