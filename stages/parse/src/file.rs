//! One file to rows.

use std::panic::{AssertUnwindSafe, catch_unwind};

use almanac_artifact::Digest;
use almanac_language::{
    Classification, Content, Limits, PathRole, Stop, content_role, decode, is_comment_page, path_role,
};
use almanac_tables::{ArtifactRole, Entity, File, FileStatus, Language, Reference, SourceType, Text};

use crate::rows::{Rows, Source};
use crate::{ParseParams, ParseRun, cmake, cpp, documents, python};

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
}

/// Reads a file. The same path, bytes and parameters give the same rows; a file that defeats its
/// parser, even by a panic, still gives its text in blocks, and its row says why.
pub fn parse_file(path: &str, bytes: &[u8], params: &ParseParams, run: ParseRun) -> ParsedFile {
    let class = Classification::of(path);
    let digest = Digest::of_bytes(bytes).to_string();
    match decode(bytes) {
        Content::Binary { reason } => {
            unread_file(path, bytes.len() as u64, &digest, FileStatus::Binary, &reason)
        }
        Content::Text { text, lossy } => {
            let class = class.refined(path, &text);
            let mut parsed = read_text(path, &text, class, params, run);
            parsed.file.content_digest = digest;
            parsed.file.bytes = bytes.len() as u64;
            parsed.file.lossy = lossy;
            parsed.text = Some(Text { path: path.to_owned(), text });
            parsed
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
    Document,
    Page,
    Blocks,
}

fn read_text(
    path: &str,
    text: &str,
    class: Classification,
    params: &ParseParams,
    run: ParseRun,
) -> ParsedFile {
    let is_page = class.is_c_family() && is_comment_page(text);
    let class = if is_page {
        Classification { language: Language::Markdown, source_type: SourceType::Documentation }
    } else {
        class
    };
    let role = match content_role(class, text) {
        // A template says so for what is made of it.
        Some(ArtifactRole::Generated) if path.ends_with(".in") => role_by_path(path, class),
        // A folder of copied code needs no other word; prose is never code that was copied.
        Some(role) if role_by_path(path, class) != ArtifactRole::Vendored => role,
        _ if is_page => ArtifactRole::Documentation,
        _ => role_by_path(path, class),
    };
    let source = Source::new(path, text, class, role);
    let mut file = file_row(path, class, role);
    file.lines = source.lines.count(text);
    let mut rows = Rows::default();
    let outcome = read_rows(&source, reading(class, is_page), params, run.limits(), &mut rows);
    match outcome {
        Ok(errors) => {
            file.error_bytes = errors;
            file.status = FileStatus::Parsed;
        }
        Err(reason) => {
            rows = Rows::default();
            file.status = FileStatus::Text;
            file.status_reason = reason;
        }
    }
    let reading = reading(class, is_page);
    if reading == Reading::Blocks {
        file.status = FileStatus::Text;
    }
    // A source without entities is text at least.
    let is_code = matches!(reading, Reading::Cpp | Reading::Python | Reading::Cmake);
    let defeated = file.status == FileStatus::Text;
    if defeated || (is_code && rows.entities.is_empty()) {
        let limit = if role == ArtifactRole::Data { DATA_BLOCKS } else { usize::MAX };
        let count = documents::read_blocks(&source, params.max_chunk_size, limit, &mut rows);
        if count > limit && file.status_reason.is_empty() {
            file.status_reason = format!("data: {limit} of {count} blocks are kept");
        }
    }
    let (entities, references) = rows.finish();
    ParsedFile { file, text: None, entities, references }
}

fn reading(class: Classification, is_page: bool) -> Reading {
    match (class.language, class.source_type) {
        _ if is_page => Reading::Page,
        (Language::Cpp | Language::C | Language::Cuda | Language::Hip, _) => Reading::Cpp,
        (Language::Cmake, _) => Reading::Cmake,
        (Language::Python, _) => Reading::Python,
        (Language::Markdown | Language::Rst, _) | (Language::Text, SourceType::Documentation) => {
            Reading::Document
        }
        (Language::Text, _) => Reading::Blocks,
    }
}

/// Runs the reader; the error is the reason why there are no rows.
fn read_rows(
    source: &Source<'_>,
    reading: Reading,
    params: &ParseParams,
    limits: Limits,
    rows: &mut Rows,
) -> Result<u64, String> {
    let most = params.max_chunk_size;
    // A reader that panics must not lose the run: its file is read as text instead.
    let outcome = catch_unwind(AssertUnwindSafe(|| match reading {
        Reading::Cpp => cpp::read(source, limits, rows),
        Reading::Cmake => cmake::read(source, most, limits, rows),
        Reading::Python => python::read(source, most, limits, rows),
        Reading::Document => {
            documents::read(source, most, rows);
            Ok::<u64, Stop>(0)
        }
        Reading::Page => {
            documents::read_page(source, most, rows);
            Ok(0)
        }
        Reading::Blocks => Ok(0),
    }));
    match outcome {
        Ok(Ok(errors)) => Ok(errors),
        Ok(Err(stop)) => Err(stop.to_string()),
        Err(panic) => {
            let message = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                .unwrap_or_default();
            Err(format!("parser failed: {message}"))
        }
    }
}
