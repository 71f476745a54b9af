//! The models that the settings name.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use almanac_inference::models::ModelCatalog;
use almanac_inference::{
    CandleEmbedder, ChatOptions, EmbedderOptions, MistralModel, ModelIdentity, TextTokenizer,
};
use almanac_settings::{Settings, environment};

/// Where models are looked for when no folder is known: a path that Debian keeps from existing.
const NOWHERE: &str = "/nonexistent";
/// Memory assumed where nothing says how much there is.
const SMALL_LAPTOP_BYTES: u64 = 4 << 30;
/// The rest is for tables, ledgers and the operating system's cache of the store.
const EMBEDDER_SHARE: u64 = 4;

/// The catalogue in force and the folder of its files.
pub struct ConfiguredModels {
    catalog: ModelCatalog,
    /// `None` without a home folder, which is an error only for who needs it.
    folder: Option<PathBuf>,
}

impl ConfiguredModels {
    /// Reads `models.toml`; touches no model file.
    pub fn load(settings: &Settings) -> miette::Result<Self> {
        let (text, origin) = settings.models_text()?;
        let catalog = ModelCatalog::parse(&text, &origin.to_string())?;
        let folder = match settings.models_dir() {
            Err(almanac_settings::Error::NoHome) => None,
            other => Some(other?),
        };
        Ok(Self { catalog, folder })
    }

    /// The catalogue.
    pub fn catalog(&self) -> &ModelCatalog {
        &self.catalog
    }

    /// Folder of model files.
    pub fn folder(&self) -> miette::Result<&Path> {
        Ok(self.folder.as_deref().ok_or(almanac_settings::Error::NoHome)?)
    }

    /// Where models are looked for.
    fn place(&self) -> &Path {
        self.folder.as_deref().unwrap_or(Path::new(NOWHERE))
    }

    /// Name and digest of a model, without reading weights whose digest is declared.
    pub fn identity(&self, name: &str) -> miette::Result<ModelIdentity> {
        Ok(self.catalog.identity(name, self.place())?)
    }

    /// The digest alone, as a stage's key wants it.
    pub fn digest(settings: &Settings, name: &str) -> miette::Result<String> {
        Ok(Self::load(settings)?.identity(name)?.digest)
    }

    /// Loads a language model that generates up to `in_flight` texts at once.
    pub fn language_model(&self, name: &str, in_flight: usize) -> almanac_inference::Result<MistralModel> {
        let sequences = NonZeroUsize::new(in_flight).unwrap_or(NonZeroUsize::MIN);
        MistralModel::load(&self.catalog, name, self.place(), &ChatOptions { sequences })
    }

    /// Loads an embedder on `threads` (0 for what the job was given) and a quarter of its memory.
    pub fn embedder(&self, name: &str, threads: usize) -> almanac_inference::Result<CandleEmbedder> {
        let memory = environment::job_memory_bytes().unwrap_or(SMALL_LAPTOP_BYTES);
        let threads = NonZeroUsize::new(threads).unwrap_or_else(environment::job_threads);
        let options = EmbedderOptions { threads, memory_bytes: memory / EMBEDDER_SHARE };
        CandleEmbedder::load(&self.catalog, name, self.place(), &options)
    }

    /// Reads the tokenizer of a model, not its weights.
    pub fn tokenizer(&self, name: &str) -> almanac_inference::Result<TextTokenizer> {
        TextTokenizer::load(&self.catalog, name, self.place())
    }

    /// The name in `setting`, or in `fallback` when that is empty.
    pub fn name(settings: &Settings, setting: &str, fallback: &str) -> miette::Result<String> {
        let name: String = settings.section(setting)?;
        Ok(if name.is_empty() { settings.section(fallback)? } else { name })
    }
}
