//! The models that the settings name, without which no caller gets along.

use std::path::{Path, PathBuf};

use almanac_settings::Settings;

use crate::models::ModelCatalog;
use crate::{ModelIdentity, Result};

/// The catalogue in force and the folder of its files.
pub struct ConfiguredModels {
    catalog: ModelCatalog,
    folder: PathBuf,
}

impl ConfiguredModels {
    /// Reads `models.toml`; touches no model file.
    pub fn load(settings: &Settings) -> miette::Result<Self> {
        let (text, origin) = settings.models_text()?;
        let catalog = ModelCatalog::parse(&text, &origin.to_string())?;
        Ok(Self { catalog, folder: settings.models_dir()? })
    }

    /// The catalogue.
    pub fn catalog(&self) -> &ModelCatalog {
        &self.catalog
    }

    /// Folder of model files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Name and digest of a model, without reading weights whose digest is declared.
    pub fn identity(&self, name: &str) -> Result<ModelIdentity> {
        self.catalog.identity(name, &self.folder)
    }
}

/// The model a setting names, or the one its fallback names when it is empty.
pub fn model_name(settings: &Settings, setting: &str, fallback: &str) -> almanac_settings::Result<String> {
    let name: String = settings.section(setting)?;
    if name.is_empty() { settings.section(fallback) } else { Ok(name) }
}
