//! The `almanac` command: plans and runs the pipeline, looks into the store, answers from it.
//!
//! Each file of `commands` parses one verb's options, calls an operation of another crate and
//! prints. Stages run as child processes: this binary must not depend on a stage crate.

mod budget;
mod children;
mod commands;
mod error;
mod explained;
mod knowledge;
mod project;

use std::process::ExitCode;

fn main() -> ExitCode {
    almanac_terminal::main(commands::run)
}
