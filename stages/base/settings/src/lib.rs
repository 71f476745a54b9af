//! Every setting of the project: where it comes from, what it is, and who set it.
//!
//! Values are layered in rising order: `config/defaults.toml` (compiled in), a profile, the local
//! file, `ALMANAC_*` variables, `--set`. The defaults fix which keys exist and which type each
//! has, so every table read from [`Settings`] is complete and a misspelt key never passes.
//! `config/ranges.toml` (compiled in) says what each number may be. This crate alone reads files of
//! configuration and the environment.
//!
//! It must not know what any setting means: stages deserialise their own tables.

pub mod environment;
mod error;
mod files;
mod layer;
mod origin;
mod ranges;
mod schema;
mod suggestion;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use figment::Figment;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::layer::Layer;
use crate::ranges::Ranges;
use crate::schema::Schema;

pub use crate::error::Error;
pub use crate::files::{FileOrigin, PROMPT_MODES, PromptFile, SHIPPED_PROFILES};
pub use crate::origin::Origin;
pub use crate::ranges::{Range, range_of};

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Name of the profile in force when none is asked for.
pub const DEFAULT_PROFILE: &str = "default";

/// What the command line says about settings.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// `--profile`; none or `default`: no profile.
    pub profile: Option<String>,
    /// `--config`; none: `ALMANAC_CONFIG`, else the compiled-in files only.
    pub config_dir: Option<PathBuf>,
    /// Each `--set key=value`, later ones winning.
    pub set: Vec<String>,
}

/// One resolved setting, as `almanac config --origin` lists it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// Dotted key.
    pub key: String,
    /// Value as TOML text.
    pub value: String,
    /// Where the value came from.
    pub origin: Origin,
    /// What the number may be, in words; none for what is no number.
    pub allowed: Option<String>,
}

/// The resolved settings.
#[derive(Debug, Clone)]
pub struct Settings {
    profile: String,
    config_dir: Option<PathBuf>,
    figment: Figment,
    resolved: toml::Table,
    origins: BTreeMap<String, Origin>,
    ranges: Ranges,
}

impl Settings {
    /// Reads and checks every layer.
    pub fn load(sources: &Sources) -> Result<Self> {
        let variables = environment::settings_variables()?;
        let schema = Schema::new(files::DEFAULTS, files::RANGES)?;
        Self::resolve(&schema, sources, &variables, environment::config_dir())
    }

    fn resolve(
        schema: &Schema,
        sources: &Sources,
        variables: &[(String, String)],
        config_variable: Option<PathBuf>,
    ) -> Result<Self> {
        let config_dir = files::config_dir(sources.config_dir.clone(), config_variable)?;
        let profile = sources.profile.as_deref().unwrap_or(DEFAULT_PROFILE);

        let mut layers = vec![schema.as_layer()];
        if profile != DEFAULT_PROFILE {
            let (text, origin) = files::profile(profile, config_dir.as_deref())?;
            layers.push(Layer::from_file(&text, origin, schema)?);
        }
        if let Some((text, origin)) = files::local(config_dir.as_deref())? {
            layers.push(Layer::from_file(&text, origin, schema)?);
        }
        for (variable, value) in variables {
            layers.push(Layer::from_variable(variable, value, schema)?);
        }
        for assignment in &sources.set {
            layers.push(Layer::from_flag(assignment, schema)?);
        }

        let mut origins = BTreeMap::new();
        let mut figment = Figment::new();
        for layer in layers {
            for key in layer.keys() {
                origins.insert(key.to_owned(), layer.origin().clone());
            }
            figment = figment.merge(layer);
        }
        let resolved = figment.extract().map_err(|error| Error::Unreadable {
            section: "the settings".to_owned(),
            reason: error.to_string(),
        })?;
        let ranges = schema.ranges().clone();
        let settings = Self { profile: profile.to_owned(), config_dir, figment, resolved, origins, ranges };
        settings.check_orders()?;
        Ok(settings)
    }

    /// Refuses settings that are each in their range and exclude each other.
    fn check_orders(&self) -> Result<()> {
        let number = |key: &str| {
            let value = self.value(key)?;
            value.as_float().or_else(|| Some(value.as_integer()? as f64))
        };
        for less in &self.ranges.less {
            let (Some(value), Some(bound)) = (number(&less.key), number(&less.than)) else { continue };
            if value >= bound {
                let origin = |key: &str| self.origin(key).cloned().unwrap_or(Origin::Default);
                return Err(Error::NotLess {
                    key: less.key.clone(),
                    value: value.to_string(),
                    origin: origin(&less.key),
                    than: less.than.clone(),
                    bound: bound.to_string(),
                    bound_origin: origin(&less.than),
                });
            }
        }
        Ok(())
    }

    /// Name of the profile in force, [`DEFAULT_PROFILE`] when none was asked for.
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// Folder of the user's configuration, if there is one.
    pub fn config_dir(&self) -> Option<&Path> {
        self.config_dir.as_deref()
    }

    /// Deserialises the table (or single value) at a dotted key, such as `explain.params`.
    ///
    /// An error names the key, its value, where the value came from and what was expected.
    pub fn section<T: DeserializeOwned>(&self, key: &str) -> Result<T> {
        let value =
            self.figment.find_value(key).map_err(|_| Error::MissingSection { section: key.to_owned() })?;
        value.deserialize().map_err(|error| self.explain(key, &error))
    }

    /// Value at a dotted key.
    pub fn value(&self, key: &str) -> Option<&toml::Value> {
        let mut parts = key.split('.');
        let mut value = self.resolved.get(parts.next()?)?;
        for part in parts {
            value = value.as_table()?.get(part)?;
        }
        Some(value)
    }

    /// The complete `[<stage>.params]` table: what the stage key hashes.
    pub fn params(&self, stage: &str) -> Result<toml::Table> {
        let section = format!("{stage}.params");
        match self.value(&section) {
            Some(toml::Value::Table(table)) => Ok(table.clone()),
            _ => Err(Error::MissingSection { section }),
        }
    }

    /// Where the value at a dotted key came from; none for a table or an unknown key.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.origins.get(key)
    }

    /// Every setting with its value and origin, sorted by key.
    pub fn origins(&self) -> Vec<Setting> {
        let mut settings = Vec::with_capacity(self.origins.len());
        for (key, origin) in &self.origins {
            let value = self.value(key).map(ToString::to_string).unwrap_or_default();
            let allowed = self.ranges.of(key).map(|range| range.to_string());
            settings.push(Setting { key: key.clone(), value, origin: origin.clone(), allowed });
        }
        settings
    }

    /// The prompt of a mode: the shipped one, or `<config dir>/prompts/<mode>.md`, which may
    /// also add modes of its own.
    pub fn prompt(&self, mode: &str) -> Result<PromptFile> {
        files::prompt(mode, self.config_dir())
    }

    /// Text of `models.toml`: the shipped one, or `<config dir>/models.toml`.
    pub fn models_text(&self) -> Result<(String, FileOrigin)> {
        files::models(self.config_dir())
    }

    /// Folder of model files: `models.dir`, else `$XDG_CACHE_HOME/almanac/models`. A leading
    /// `~/` stands for the home folder.
    pub fn models_dir(&self) -> Result<PathBuf> {
        let dir: String = self.section("models.dir")?;
        if dir.is_empty() {
            let cache = environment::cache_dir().ok_or(Error::NoHome)?;
            return Ok(cache.join("almanac").join("models"));
        }
        match dir.strip_prefix("~/") {
            Some(rest) => Ok(environment::home_dir().ok_or(Error::NoHome)?.join(rest)),
            None => Ok(PathBuf::from(dir)),
        }
    }

    /// Says what is wrong with a value that its reader refused.
    fn explain(&self, section: &str, error: &figment::Error) -> Error {
        use figment::error::Kind;

        let expected = match &error.kind {
            Kind::InvalidType(_, expected) | Kind::InvalidValue(_, expected) => {
                schema::describe_expected(expected)
            }
            Kind::UnknownVariant(_, known) => format!("one of {}", known.join(", ")),
            Kind::Message(message) => message.clone(),
            // The defaults and the reading program disagree about the fields of a table.
            other => {
                return Error::Unreadable { section: section.to_owned(), reason: other.to_string() };
            }
        };
        let key = [&[section.to_owned()], error.path.as_slice()].concat().join(".");
        // An element of a list is reported as its list, which is what the user wrote.
        let known = std::iter::successors(Some(key.as_str()), |key| Some(key.rsplit_once('.')?.0))
            .find(|key| self.origins.contains_key(*key))
            .unwrap_or(&key);
        Error::WrongValue {
            key: known.to_owned(),
            found: self.value(known).map(ToString::to_string).unwrap_or_default(),
            origin: self.origins.get(known).cloned().unwrap_or(Origin::Default),
            expected,
        }
    }
}

#[cfg(test)]
mod tests;
