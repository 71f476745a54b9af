//! The crate through its public interface. One binary, because linking the engine is what costs.
//!
//! Tests of real models need `smollm2-135m-instruct` and `all-minilm-l6-v2` and fail without them:
//! run `almanac models get smollm2-135m-instruct all-minilm-l6-v2` first. `ALMANAC_MODELS` names
//! their directory where it is not the default.

mod catalog;
mod chat;
mod embedder;
mod fetch;
mod folder;
mod structured;
mod tiny;

use std::path::PathBuf;

use almanac_inference::models::ModelCatalog;

/// The catalogue that is shipped.
const SHIPPED: &str = include_str!("../../../../../config/models.toml");

/// The catalogue that is shipped, parsed.
fn shipped() -> ModelCatalog {
    ModelCatalog::parse(SHIPPED, "config/models.toml").unwrap()
}

/// Where the real models are.
fn models_dir() -> PathBuf {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    variable("ALMANAC_MODELS").unwrap_or_else(|| {
        variable("XDG_CACHE_HOME")
            .unwrap_or_else(|| variable("HOME").expect("a home directory").join(".cache"))
            .join("almanac/models")
    })
}
