use std::path::PathBuf;

use miette::Diagnostic;

use crate::{FileOrigin, Origin};

/// What can be wrong with settings.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[non_exhaustive]
pub enum Error {
    /// A key or table that `config/defaults.toml` does not have.
    #[error("unknown setting `{key}` from {origin}")]
    #[diagnostic(code(almanac::config))]
    UnknownKey {
        /// The key as written.
        key: String,
        /// Who set it.
        origin: Origin,
        /// The nearest keys, or where to look.
        #[help]
        hint: String,
    },

    /// A value of another type than the default's, or one that the reader of the setting
    /// refuses.
    #[error("`{key}` from {origin} is {found}, where {expected} is expected")]
    #[diagnostic(
        code(almanac::config),
        help("see `{key}` in config/defaults.toml for what it means and the form it takes")
    )]
    WrongValue {
        /// The setting.
        key: String,
        /// Its value as TOML text, and the type where that is what is wrong.
        found: String,
        /// Who set it.
        origin: Origin,
        /// What would be right.
        expected: String,
    },

    /// Two settings that exclude each other.
    #[error(
        "`{key}` from {origin} is {value}, which is not less than `{than}` ({bound} from {bound_origin})"
    )]
    #[diagnostic(
        code(almanac::config),
        help("lower the first or raise the second; config/defaults.toml says what they mean")
    )]
    NotLess {
        /// The setting that must be less.
        key: String,
        /// Its value.
        value: String,
        /// Who set it.
        origin: Origin,
        /// The setting it must be less than.
        than: String,
        /// Its value.
        bound: String,
        /// Who set that.
        bound_origin: Origin,
    },

    /// A configuration file that is not TOML.
    #[error("{origin}, line {line}: {reason}")]
    #[diagnostic(code(almanac::config), help("correct the line; the file is TOML"))]
    Syntax {
        /// The file.
        origin: Origin,
        /// Line, from 1.
        line: usize,
        /// What the parser says.
        reason: String,
    },

    /// A `--set` without a key and a value.
    #[error("`--set {text}` is not of the form key=value")]
    #[diagnostic(code(almanac::usage), help("write for example --set explain.run.max_seconds=60"))]
    Assignment {
        /// The argument.
        text: String,
    },

    /// An `ALMANAC_*` variable that means nothing.
    #[error("unknown environment variable {variable}")]
    #[diagnostic(code(almanac::config))]
    UnknownVariable {
        /// The variable.
        variable: String,
        /// The nearest variables, or how they are named.
        #[help]
        hint: String,
    },

    /// An `ALMANAC_*` variable that is not UTF-8.
    #[error("environment variable {variable} is not UTF-8")]
    #[diagnostic(code(almanac::config), help("unset it, or give it another value"))]
    NotUnicode {
        /// The variable, with what cannot be read replaced.
        variable: String,
    },

    /// A profile nobody ships or wrote.
    #[error("unknown profile `{name}`")]
    #[diagnostic(
        code(almanac::config),
        help("known profiles: {known}; one of your own is <config>/profiles/{name}.toml")
    )]
    UnknownProfile {
        /// The profile.
        name: String,
        /// The profiles there are.
        known: String,
    },

    /// A configuration folder that is not there.
    #[error("configuration folder {} does not exist", path.display())]
    #[diagnostic(
        code(almanac::config),
        help("give an existing folder with --config or ALMANAC_CONFIG, or neither")
    )]
    NoConfigFolder {
        /// The folder.
        path: PathBuf,
    },

    /// A configuration file that cannot be read.
    #[error("configuration file {} could not be read", path.display())]
    #[diagnostic(code(almanac::io), help("check that it is a file and that you may read it"))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },

    /// A configuration file that is not text.
    #[error("configuration file {} is not UTF-8: byte {offset}, in line {line}", path.display())]
    #[diagnostic(
        code(almanac::config),
        help("write the file in UTF-8, such as with `iconv -t UTF-8`, or correct that byte")
    )]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// First byte that is wrong, from 0.
        offset: usize,
        /// Its line, from 1.
        line: usize,
    },

    /// A prompt mode without a file.
    #[error("unknown prompt `{mode}`")]
    #[diagnostic(
        code(almanac::config),
        help("shipped prompts: {known}; one of your own is <config>/prompts/{mode}.md")
    )]
    UnknownPrompt {
        /// The mode.
        mode: String,
        /// The modes there are.
        known: String,
    },

    /// A prompt file without text.
    #[error("prompt `{mode}` is empty ({origin})")]
    #[diagnostic(code(almanac::config), help("write the prompt, or remove the file to use the shipped one"))]
    EmptyPrompt {
        /// The mode.
        mode: String,
        /// The file.
        origin: FileOrigin,
    },

    /// Neither the setting nor the environment says where models go.
    #[error("no folder for models: models.dir is empty and HOME is not set")]
    #[diagnostic(code(almanac::config), help("set models.dir, or the variable ALMANAC_MODELS"))]
    NoHome,

    /// A table asked for by the program that the defaults lack.
    #[error("config/defaults.toml has no `{section}`")]
    #[diagnostic(code(almanac::bug))]
    MissingSection {
        /// The table.
        section: String,
    },

    /// The defaults and the program disagree about the fields of a table.
    #[error("config/defaults.toml and the program disagree about `{section}`: {reason}")]
    #[diagnostic(code(almanac::bug))]
    Unreadable {
        /// The table.
        section: String,
        /// How they disagree.
        reason: String,
    },
}
