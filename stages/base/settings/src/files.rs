//! The files of `config/`: those compiled in, and the user's.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{DEFAULT_PROFILE, Error, Origin, Result};

/// `config/defaults.toml`.
pub(crate) const DEFAULTS: &str = include_str!("../../../../config/defaults.toml");

/// `config/ranges.toml`.
pub(crate) const RANGES: &str = include_str!("../../../../config/ranges.toml");

const MODELS: &str = include_str!("../../../../config/models.toml");

/// The shipped profiles: name and text.
pub const SHIPPED_PROFILES: &[(&str, &str)] =
    &[("quickstart", include_str!("../../../../config/profiles/quickstart.toml"))];

const PROMPTS: [(&str, &str); 7] = [
    ("general", include_str!("../../../../config/prompts/general.md")),
    ("file_level", include_str!("../../../../config/prompts/file_level.md")),
    ("file_level_fallback", include_str!("../../../../config/prompts/file_level_fallback.md")),
    ("module_level", include_str!("../../../../config/prompts/module_level.md")),
    ("call_chain", include_str!("../../../../config/prompts/call_chain.md")),
    ("retrieval_answer", include_str!("../../../../config/prompts/retrieval_answer.md")),
    ("retrieval_answer_v2", include_str!("../../../../config/prompts/retrieval_answer_v2.md")),
];

/// Modes of the shipped prompts.
pub const PROMPT_MODES: [&str; PROMPTS.len()] = {
    let mut modes = [""; PROMPTS.len()];
    let mut index = 0;
    while index < PROMPTS.len() {
        modes[index] = PROMPTS[index].0;
        index += 1;
    }
    modes
};

/// A prompt, unrendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFile {
    /// Mode, also the file's stem.
    pub mode: String,
    /// Text of the file.
    pub text: String,
    /// Where it was read from.
    pub origin: FileOrigin,
}

/// Where a file of configuration was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOrigin {
    /// Compiled in.
    Shipped,
    /// The user's.
    Path(PathBuf),
}

impl fmt::Display for FileOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shipped => write!(f, "shipped"),
            Self::Path(path) => write!(f, "{}", path.display()),
        }
    }
}

/// The user's configuration folder: the flag's, else the variable's.
pub(crate) fn config_dir(flag: Option<PathBuf>, variable: Option<PathBuf>) -> Result<Option<PathBuf>> {
    match flag.or(variable) {
        Some(path) if !path.is_dir() => Err(Error::NoConfigFolder { path }),
        dir => Ok(dir),
    }
}

/// Text of a profile; the user's takes the place of a shipped one of the same name.
pub(crate) fn profile(name: &str, config_dir: Option<&Path>) -> Result<(String, Origin)> {
    let origin = |path| Origin::Profile { name: name.to_owned(), path };
    if is_plain_name(name)
        && let Some((text, path)) = read_in(config_dir, &format!("profiles/{name}.toml"))?
    {
        return Ok((text, origin(Some(path))));
    }
    match SHIPPED_PROFILES.iter().find(|(shipped, _)| *shipped == name) {
        Some((_, text)) => Ok(((*text).to_owned(), origin(None))),
        None => {
            Err(Error::UnknownProfile { name: name.to_owned(), known: profile_names(config_dir).join(", ") })
        }
    }
}

fn profile_names(config_dir: Option<&Path>) -> Vec<String> {
    let mut names = vec![DEFAULT_PROFILE.to_owned()];
    names.extend(SHIPPED_PROFILES.iter().map(|(name, _)| (*name).to_owned()));
    // Only a list for a message: a folder that cannot be read adds nothing to it.
    let folder = config_dir.map(|dir| dir.join("profiles"));
    for entry in folder.iter().filter_map(|folder| fs_err::read_dir(folder).ok()).flatten().flatten() {
        let name = entry.file_name();
        if let Some(stem) = name.to_str().and_then(|name| name.strip_suffix(".toml")) {
            names.push(stem.to_owned());
        }
    }
    names[1..].sort();
    names.dedup();
    names
}

/// Text of the local file, if there is one.
pub(crate) fn local(config_dir: Option<&Path>) -> Result<Option<(String, Origin)>> {
    let file = read_in(config_dir, "local.toml")?;
    Ok(file.map(|(text, path)| (text, Origin::Local { path })))
}

/// Text of a prompt.
pub(crate) fn prompt(mode: &str, config_dir: Option<&Path>) -> Result<PromptFile> {
    let own = if is_plain_name(mode) { read_in(config_dir, &format!("prompts/{mode}.md"))? } else { None };
    let shipped = PROMPTS.iter().find(|(shipped, _)| *shipped == mode);
    let (text, origin) = match (own, shipped) {
        (Some((text, path)), _) => (text, FileOrigin::Path(path)),
        (None, Some((_, text))) => ((*text).to_owned(), FileOrigin::Shipped),
        (None, None) => {
            return Err(Error::UnknownPrompt { mode: mode.to_owned(), known: PROMPT_MODES.join(", ") });
        }
    };
    if text.trim().is_empty() {
        return Err(Error::EmptyPrompt { mode: mode.to_owned(), origin });
    }
    Ok(PromptFile { mode: mode.to_owned(), text, origin })
}

/// Text of `models.toml`.
pub(crate) fn models(config_dir: Option<&Path>) -> Result<(String, FileOrigin)> {
    Ok(match read_in(config_dir, "models.toml")? {
        Some((text, path)) => (text, FileOrigin::Path(path)),
        None => (MODELS.to_owned(), FileOrigin::Shipped),
    })
}

/// Whether a name given by the user can be part of a path without leaving its folder.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn read_in(config_dir: Option<&Path>, relative: &str) -> Result<Option<(String, PathBuf)>> {
    let Some(path) = config_dir.map(|dir| dir.join(relative)) else {
        return Ok(None);
    };
    let bytes = match fs_err::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Read { path, source }),
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some((text, path))),
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let before = &error.as_bytes()[..offset];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            Err(Error::NotUtf8 { path, offset, line })
        }
    }
}
