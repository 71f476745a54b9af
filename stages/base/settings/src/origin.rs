use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// Where a value came from, in rising order of precedence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum Origin {
    /// `config/defaults.toml`, compiled in.
    Default,
    /// A profile.
    Profile {
        /// Name of the profile.
        name: String,
        /// Its file; none for a shipped profile.
        path: Option<PathBuf>,
    },
    /// `<config dir>/local.toml`.
    Local {
        /// The file.
        path: PathBuf,
    },
    /// An environment variable.
    Environment {
        /// Its name.
        variable: String,
    },
    /// `--set`.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(f, "default"),
            Self::Profile { name, path: None } => write!(f, "profile {name}"),
            Self::Profile { path: Some(path), .. } | Self::Local { path } => {
                write!(f, "{}", path.display())
            }
            Self::Environment { variable } => write!(f, "{variable}"),
            Self::Flag => write!(f, "--set"),
        }
    }
}
