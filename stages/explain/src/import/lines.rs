//! The file: JSON lines, plain or compressed.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use almanac_artifact::Digest;
use lzma_rust2::XzReader;
use serde::Deserialize;

/// Longest file that is taken, uncompressed, in bytes: a small one may unpack to anything.
const MOST_BYTES: u64 = 4 << 30;
const XZ: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];

/// What a text is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) enum Level {
    /// A function, method, class, ...
    #[serde(rename = "symbol_level", alias = "function_level")]
    Symbol,
    /// A file.
    #[serde(rename = "file_level")]
    File,
    /// A folder.
    #[serde(rename = "module_level")]
    Module,
    /// A callable with its callers and callees.
    #[serde(rename = "call_chain_level")]
    CallChain,
}

/// One line. Fields that are not known here are left alone.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Line {
    /// Its number, from 1.
    #[serde(skip)]
    pub(super) number: usize,
    /// What it is about.
    pub(super) level: Level,
    /// File relative to the source tree; for a module its folder, after a label and a colon or not.
    pub(super) path: String,
    /// Name of the symbol.
    #[serde(default)]
    pub(super) symbol: String,
    /// Class or namespace the symbol is in.
    #[serde(default)]
    pub(super) parent: String,
    /// Kind of the symbol: `class`, `struct`, `method_definition`, ...
    #[serde(default)]
    pub(super) chunk_type: String,
    /// What made it.
    #[serde(default)]
    pub(super) model: String,
    /// The text.
    pub(super) explanation: String,
}

impl Line {
    /// What it is about, for people.
    pub(super) fn subject(&self) -> String {
        match self.level {
            Level::File | Level::Module => self.path.clone(),
            Level::Symbol | Level::CallChain if self.parent.is_empty() => {
                format!("{} in {}", self.symbol, self.path)
            }
            Level::Symbol | Level::CallChain => format!("{}::{} in {}", self.parent, self.symbol, self.path),
        }
    }
}

/// A file of texts.
#[derive(Debug)]
pub struct File {
    pub(super) lines: Vec<Line>,
    /// Digest of its lines, uncompressed.
    pub(super) digest: Digest,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum Error {
    /// It cannot be read, or its compression is broken.
    #[error("{} cannot be read", path.display())]
    #[diagnostic(
        code(almanac::data),
        help("is it JSON lines, plain or compressed with xz? decompress others and give `-`")
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not there.
    #[error("{} is not there", path.display())]
    #[diagnostic(code(almanac::missing), help("give the path of a file with JSON lines, or `-`"))]
    Absent {
        /// The file.
        path: PathBuf,
    },
    /// It is larger than anything that is taken.
    #[error("{} has more than {MOST_BYTES} bytes", path.display())]
    #[diagnostic(code(almanac::data), help("split it"))]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// A line is no text of this kind.
    #[error("{}:{line}: {source}", path.display())]
    #[diagnostic(
        code(almanac::data),
        help("nothing was imported; `almanac-explain import --help` says what a line has")
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// The line's number.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A text is empty.
    #[error("{}:{line}: the explanation is empty", path.display())]
    #[diagnostic(code(almanac::data), help("nothing was imported; take the line out"))]
    Empty {
        /// The file.
        path: PathBuf,
        /// The line's number.
        line: usize,
    },
}

/// Reads all lines of a file, or of the standard input for `-`.
///
/// # Errors
/// A file with a fault is not taken at all.
pub fn read(path: &Path) -> Result<File, Error> {
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => Error::Absent { path: path.to_owned() },
        _ => Error::Read { path: path.to_owned(), source },
    };
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(fs_err::File::open(path).map_err(failed)?)
    };
    let mut input = BufReader::new(input);
    let is_xz = input.fill_buf().map_err(failed)?.starts_with(&XZ);
    let plain: Box<dyn Read> = if is_xz { Box::new(XzReader::new(input, true)) } else { Box::new(input) };
    let mut bytes = Vec::new();
    plain.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Error::TooLarge { path: path.to_owned() });
    }
    parse(path, &bytes)
}

fn parse(path: &Path, bytes: &[u8]) -> Result<File, Error> {
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let line: Line = serde_json::from_slice(text).map_err(|source| Error::Line {
            path: path.to_owned(),
            line: number,
            source,
        })?;
        if line.explanation.trim().is_empty() {
            return Err(Error::Empty { path: path.to_owned(), line: number });
        }
        lines.push(Line { number, ..line });
    }
    Ok(File { lines, digest: Digest::of_bytes(bytes) })
}
