//! What C++ refers to: sources read by the parse stage and resolved by the graph stage.

mod kinds;
mod picolib;
mod source;
