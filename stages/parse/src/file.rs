//! One file to rows.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use almanac_artifact::Digest;
use almanac_language::{
    Classification, Content, Grammar, PathRole, Stop, Watch, content_role, decode, is_comment_page, path_role,
};
use almanac_tables::{ArtifactRole, Entity, File, FileStatus, Language, Local, Reference, SourceType, Text};

use crate::rows::{Rows, Source};
use crate::{Error, ParseParams, ParseRun, Result, Surroundings, cmake, cpp, documents, fortran, python};

/// Blocks kept of a file of data: enough to say what it holds.
const DATA_BLOCKS: usize = 4;

/// The rows of one file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParsedFile {
    /// The file.
    pub file: File,
    /// Its text; `None` for a file that was not read.
    pub text: Option<Text>,
    /// What it declares, in table order.
    pub entities: Vec<Entity>,
    /// What it names, in table order.
    pub references: Vec<Reference>,
    /// Variables inside its functions, in table order.
    pub locals: Vec<Local>,
}

/// What every file of a run is read with.
#[derive(Debug, Clone, Copy)]
pub struct ReadSettings<'a> {
    /// What decides the rows.
    pub params: &'a ParseParams,
    /// Bounds on the work.
    pub run: ParseRun,
    /// Set by a signal: leave the file where it is.
    pub interrupted: &'a AtomicBool,
}

/// Reads files of one tree, one at a time, on any thread.
#[derive(Debug, Clone, Copy)]
pub struct FileReader<'a> {
    /// How.
    pub settings: ReadSettings<'a>,
    /// What the rest of the tree says about each file.
    pub surroundings: &'a Surroundings,
}

impl FileReader<'_> {
    /// Reads a file. The same path, bytes, parameters and surroundings give the same rows; a file that
    /// defeats its parser, even by a panic, still gives its text in blocks, and its row says why. The one error
    /// is an interruption.
    pub fn read(&self, path: &str, bytes: &[u8]) -> Result<ParsedFile> {
        let class = Classification::of(path);
        let digest = Digest::of_bytes(bytes).to_string();
        match decode(bytes) {
            Content::Binary { reason } => {
                Ok(unread_file(path, bytes.len() as u64, &digest, FileStatus::Binary, &reason))
            }
            Content::Text { text, lossy } => {
                let class = class.refined(path, &text);
                let mut parsed = self.read_text(path, &text, class)?;
                parsed.file.content_digest = digest;
                parsed.file.bytes = bytes.len() as u64;
                parsed.file.lossy = lossy;
                parsed.text = Some(Text { path: path.to_owned(), text });
                Ok(parsed)
            }
        }
    }
}

/// The row of a file that is listed but not read.
pub fn unread_file(path: &str, bytes: u64, digest: &str, status: FileStatus, reason: &str) -> ParsedFile {
    let class = Classification::of(path);
    let file = File {
        content_digest: digest.to_owned(),
        bytes,
        status,
        status_reason: reason.to_owned(),
        ..file_row(path, class, role_by_path(path, class))
    };
    ParsedFile { file, ..ParsedFile::default() }
}

/// Role by path alone; code whose folders say nothing counts as the product until the whole tree
/// is known.
pub(crate) fn role_by_path(path: &str, class: Classification) -> ArtifactRole {
    match path_role(path, class) {
        PathRole::Decided(role) => role,
        PathRole::Unplaced => ArtifactRole::Library,
    }
}

fn file_row(path: &str, class: Classification, role: ArtifactRole) -> File {
    File {
        path: path.to_owned(),
        language: class.language,
        source_type: class.source_type,
        role,
        folder: path.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned(),
        ..File::default()
    }
}

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    Cpp,
    Cmake,
    Python,
    Fortran,
    Document,
    Page,
    Keyed(Grammar),
    Blocks,
}

impl FileReader<'_> {
    fn read_text(&self, path: &str, text: &str, class: Classification) -> Result<ParsedFile> {
        let is_page = class.is_c_family() && is_comment_page(text);
        let class = if is_page {
            Classification { language: Language::Markdown, source_type: SourceType::Documentation }
        } else {
            class
        };
        let role = role_of(path, text, class, is_page);
        let source = Source::new(path, text, class, role);
        let mut file = file_row(path, class, role);
        file.lines = source.lines.count(text);
        file.macros_digest = macros_digest(class, path, text, self.surroundings);
        let reading = match (reading(class, is_page), documents::keyed_grammar(path, text)) {
            // Of data only a few blocks are kept.
            (Reading::Blocks, Some(grammar)) if role != ArtifactRole::Data => Reading::Keyed(grammar),
            (reading, _) => reading,
        };
        let watch = Watch::start(self.settings.params.limits(), self.settings.interrupted);
        let mut rows = Rows::default();
        match self.read_rows(&source, reading, &watch, &mut rows) {
            Ok(errors) => {
                file.error_bytes = errors;
                file.status = FileStatus::Parsed;
            }
            Err(Failure::Stop(Stop::Interrupted)) => return Err(Error::Interrupted),
            Err(failure) => {
                rows = Rows::default();
                file.status = FileStatus::Text;
                file.status_reason = failure.to_string();
            }
        }
        if reading == Reading::Blocks {
            file.status = FileStatus::Text;
        }
        // A source without entities is text at least.
        let is_code = matches!(
            reading,
            Reading::Cpp | Reading::Python | Reading::Fortran | Reading::Cmake | Reading::Keyed(_)
        );
        let defeated = file.status == FileStatus::Text;
        if defeated || (is_code && rows.entities.is_empty()) {
            let limit = if role == ArtifactRole::Data { DATA_BLOCKS } else { usize::MAX };
            let count =
                documents::read_blocks(&source, self.settings.params.max_chunk_size, limit, &mut rows);
            if count > limit && file.status_reason.is_empty() {
                file.status_reason = format!("data: {limit} of {count} blocks are kept");
            }
        }
        if matches!(source.file_name(), "CMakePresets.json" | "CMakeUserPresets.json") {
            documents::read_presets(&source, &mut rows);
        }
        let locals = rows.take_locals();
        let (entities, references) = rows.finish();
        Ok(ParsedFile { file, text: None, entities, references, locals })
    }
}

/// Digest of what reading a text depends on in other files: macros, and the scopes it is included
/// in; empty where it depends on none.
pub(crate) fn macros_digest(
    class: Classification,
    path: &str,
    text: &str,
    surroundings: &Surroundings,
) -> String {
    if !class.is_c_family() {
        return String::new();
    }
    let used = surroundings.macros.used_by(text);
    let around = surroundings.around(path);
    if used.is_empty() && around.is_empty() {
        return String::new();
    }
    let digest = Digest::of(|encoder| {
        for (name, defines) in used {
            encoder.text(name).u32(defines.len() as u32);
            for define in defines {
                let parameters = define.parameters.as_deref();
                encoder.u32(parameters.map_or(0, |names| 1 + names.len() as u32)).text(&define.body);
                for parameter in parameters.unwrap_or_default() {
                    encoder.text(parameter);
                }
            }
        }
        for scope in around {
            encoder.u32(scope.len() as u32);
            for part in scope {
                encoder.text(&part.name).u32(u32::from(part.is_class));
            }
        }
    });
    digest.hex(20)
}

/// Role of a file as far as it tells by itself.
fn role_of(path: &str, text: &str, class: Classification, is_page: bool) -> ArtifactRole {
    match content_role(class, text) {
        // A template says so for what is made of it.
        Some(ArtifactRole::Generated) if path.ends_with(".in") => role_by_path(path, class),
        // A folder of copied code needs no other word; prose is never code that was copied.
        Some(role) if role_by_path(path, class) != ArtifactRole::Vendored => role,
        _ if is_page => ArtifactRole::Documentation,
        _ => role_by_path(path, class),
    }
}

fn reading(class: Classification, is_page: bool) -> Reading {
    match (class.language, class.source_type) {
        _ if is_page => Reading::Page,
        (Language::Cpp | Language::C | Language::Cuda | Language::Hip, _) => Reading::Cpp,
        (Language::Cmake, _) => Reading::Cmake,
        (Language::Python, _) => Reading::Python,
        (Language::Fortran, _) => Reading::Fortran,
        (Language::Markdown | Language::Rst, _) | (Language::Text, SourceType::Documentation) => {
            Reading::Document
        }
        (Language::Text, _) => Reading::Blocks,
    }
}

/// Why a reader gave no rows.
enum Failure {
    /// It was stopped.
    Stop(Stop),
    /// It panicked.
    Panic(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stop(stop) => write!(f, "{stop}"),
            Self::Panic(message) => write!(f, "parser failed: {message}"),
        }
    }
}

impl FileReader<'_> {
    /// Gives the bytes that could not be placed.
    fn read_rows(
        &self,
        source: &Source<'_>,
        reading: Reading,
        watch: &Watch<'_>,
        rows: &mut Rows,
    ) -> Result<u64, Failure> {
        let most = self.settings.params.max_chunk_size;
        // A reader that panics must not lose the run: its file is read as text instead.
        let outcome = catch_unwind(AssertUnwindSafe(|| match reading {
            Reading::Cpp => cpp::read(source, self.surroundings, watch, rows),
            Reading::Cmake => cmake::read(source, most, watch, rows),
            Reading::Python => python::read(source, most, watch, rows),
            Reading::Fortran => fortran::read(source, most, watch, rows),
            Reading::Document => {
                documents::read(source, most, rows);
                Ok::<u64, Stop>(0)
            }
            Reading::Page => {
                documents::read_page(source, most, rows);
                Ok(0)
            }
            Reading::Keyed(grammar) => documents::read_keyed(source, grammar, most, watch, rows),
            Reading::Blocks => Ok(0),
        }));
        outcome.map(|read| read.map_err(Failure::Stop)).unwrap_or_else(|panic| {
            let message = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                .unwrap_or_default();
            Err(Failure::Panic(message))
        })
    }
}
