//! What can go wrong with models.

use std::path::PathBuf;

use miette::Diagnostic;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A cause that came from another library.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// An error of the model catalogue, of fetching, or of running a model.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[non_exhaustive]
pub enum Error {
    /// The catalogue is not TOML of the expected form.
    #[error("model catalogue `{origin}` is not valid")]
    #[diagnostic(code(almanac::config), help("compare the entry with those in config/models.toml"))]
    Catalog {
        /// Where the text came from.
        origin: String,
        /// What the parser says.
        #[source]
        source: Box<toml::de::Error>,
    },

    /// An entry of the catalogue contradicts itself.
    #[error("model `{name}` in `{origin}`: {fault}")]
    #[diagnostic(code(almanac::config), help("compare the entry with those in config/models.toml"))]
    Entry {
        /// Where the text came from.
        origin: String,
        /// Name of the model.
        name: String,
        /// What is wrong with it.
        fault: String,
    },

    /// No such model in the catalogue.
    #[error("no model named `{name}`")]
    #[diagnostic(code(almanac::config), help("known models: {known}"))]
    UnknownModel {
        /// The name asked for.
        name: String,
        /// The names there are, comma-separated.
        known: String,
    },

    /// A model is used for what it is not.
    #[error("model `{name}` has role {role}, not {wanted}")]
    #[diagnostic(code(almanac::config), help("`almanac models list` shows the role of each model"))]
    WrongRole {
        /// Name of the model.
        name: String,
        /// Its role.
        role: &'static str,
        /// The role asked for.
        wanted: &'static str,
    },

    /// A file of a model is not there.
    #[error("model `{name}` lacks `{path}`")]
    #[diagnostic(code(almanac::unavailable), help("{hint}"))]
    MissingFile {
        /// Name of the model.
        name: String,
        /// The file.
        path: PathBuf,
        /// How the file is had.
        hint: String,
    },

    /// A file of a model is too long or too short.
    #[error("`{path}` has {found} bytes, model `{name}` declares {expected}")]
    #[diagnostic(code(almanac::data), help("run `almanac models get {name}` to replace it"))]
    WrongSize {
        /// Name of the model.
        name: String,
        /// The file.
        path: PathBuf,
        /// Bytes declared.
        expected: u64,
        /// Bytes found.
        found: u64,
    },

    /// A file of a model has other contents than declared.
    #[error("SHA-256 of `{path}` is {found}, model `{name}` declares {expected}")]
    #[diagnostic(
        code(almanac::data),
        help("run `almanac models get {name}` to replace it; a model of your own needs its own name")
    )]
    WrongDigest {
        /// Name of the model.
        name: String,
        /// The file.
        path: PathBuf,
        /// Digest declared, hexadecimal.
        expected: String,
        /// Digest found, hexadecimal.
        found: String,
    },

    /// A model that lies at a path of the user's cannot be fetched.
    #[error("model `{name}` is read from `{path}` and is not fetched")]
    #[diagnostic(code(almanac::usage), help("put its files there by hand"))]
    NotFetchable {
        /// Name of the model.
        name: String,
        /// Where it lies.
        path: PathBuf,
    },

    /// Another process fetches the same model.
    #[error("model `{name}` is being fetched by another process")]
    #[diagnostic(code(almanac::retry), help("wait for it to end, then try again"))]
    FetchBusy {
        /// Name of the model.
        name: String,
    },

    /// A program that fetches could not be started.
    #[error("cannot start `{program}` to fetch `{what}`")]
    #[diagnostic(
        code(almanac::unavailable),
        help("install it, or copy the model's folder from a machine that has it")
    )]
    Program {
        /// The program.
        program: PathBuf,
        /// The package or address.
        what: String,
        /// Why it did not start.
        #[source]
        source: std::io::Error,
    },

    /// A program that fetches failed.
    #[error("fetching `{what}` failed: {message}")]
    #[diagnostic(code(almanac::unavailable), help("{hint}"))]
    Fetch {
        /// The package or address.
        what: String,
        /// Last line the program printed.
        message: String,
        /// What to do.
        hint: String,
    },

    /// A fetched package is damaged or holds other files.
    #[error("package `{path}` cannot be unpacked")]
    #[diagnostic(code(almanac::data), help("delete it and fetch again"))]
    Package {
        /// The package.
        path: PathBuf,
        /// What the reader says.
        #[source]
        source: Cause,
    },

    /// A GGUF file cannot be used.
    #[error("`{path}` is not a usable GGUF file: {fault}")]
    #[diagnostic(code(almanac::data), help("check the path, or fetch the model again"))]
    Gguf {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: String,
    },

    /// A model cannot be loaded.
    #[error("model `{name}` cannot be loaded")]
    #[diagnostic(
        code(almanac::data),
        help(
            "run `almanac models verify {name}`; if it passes, the format or architecture is not supported"
        )
    )]
    Load {
        /// Name of the model.
        name: String,
        /// What the engine says.
        #[source]
        source: Cause,
    },

    /// A request leaves no room for its answer.
    #[error("prompt of {prompt} tokens and answer of {answer} exceed the {limit} tokens of model `{name}`")]
    #[diagnostic(
        code(almanac::data),
        help("shorten the prompt or the answer, or choose a model with a longer context")
    )]
    ContextOverflow {
        /// Name of the model.
        name: String,
        /// Tokens of the rendered prompt.
        prompt: usize,
        /// Tokens the answer may have.
        answer: usize,
        /// Tokens there are.
        limit: usize,
    },

    /// Generation failed.
    #[error("model `{name}` failed to generate")]
    #[diagnostic(
        code(almanac::unavailable),
        help("out of memory is the usual cause; try a smaller model or fewer sequences at once")
    )]
    Generate {
        /// Name of the model.
        name: String,
        /// What the engine says.
        #[source]
        source: Cause,
    },

    /// A generation was given up because the run was interrupted.
    #[error("generation with model `{name}` was interrupted")]
    #[diagnostic(code(almanac::retry), help("what was finished before is kept; run it again"))]
    Interrupted {
        /// Name of the model.
        name: String,
    },

    /// A text cannot be tokenised.
    #[error("model `{name}` cannot tokenise the text")]
    #[diagnostic(
        code(almanac::data),
        help("run `almanac models verify {name}`: the tokenizer may be damaged")
    )]
    Tokenize {
        /// Name of the model.
        name: String,
        /// What the tokenizer says.
        #[source]
        source: Cause,
    },

    /// Embedding failed.
    #[error("model `{name}` failed to embed")]
    #[diagnostic(
        code(almanac::unavailable),
        help("out of memory is the usual cause; lower the memory bound of embedding")
    )]
    Embed {
        /// Name of the model.
        name: String,
        /// What the engine says.
        #[source]
        source: Cause,
    },

    /// A file cannot be read or written; the source names it.
    #[error("model files cannot be read or written")]
    #[diagnostic(code(almanac::io), help("check permissions and free space of the models directory"))]
    Io(#[source] std::io::Error),
}

impl From<std::io::Error> for Error {
    fn from(source: std::io::Error) -> Self {
        Self::Io(source)
    }
}
