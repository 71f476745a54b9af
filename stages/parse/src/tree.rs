//! Many files to rows, with those whose content is the same taken over from an earlier run.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use almanac_language::{Classification, Content, decode};
use almanac_tables::{Entity, File, FileStatus, Local, Reference, Text};
use rayon::prelude::*;

use crate::file::macros_digest;
use crate::{
    Error, FileReader, ParseRun, ParsedFile, ReadSettings, Result, Surroundings, settle_roles, unread_file,
};

/// Stack of a parser thread: real code nests deeper than the usual two megabytes allow in places.
const STACK: usize = 16 * 1024 * 1024;

/// A file whose bytes are at hand.
#[derive(Debug, Clone)]
pub struct ParseInput {
    /// Path relative to the tree, with `/`.
    pub path: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// A file of the tree, not read yet.
#[derive(Debug, Clone)]
pub struct TreeInput {
    /// Path relative to the tree, with `/`.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Digest of the content, hexadecimal; empty if the file is not to be read.
    pub digest: String,
    /// Why it is not to be read: too large, unreadable.
    pub problem: Option<(FileStatus, String)>,
}

/// Rows of an earlier run over the same tree with the same parameters and revision.
#[derive(Debug, Default)]
pub struct Previous {
    files: BTreeMap<String, ParsedFile>,
}

impl Previous {
    /// Groups rows by file.
    pub fn new(
        files: Vec<File>,
        texts: Vec<Text>,
        entities: Vec<Entity>,
        references: Vec<Reference>,
        locals: Vec<Local>,
    ) -> Self {
        let mut grouped: BTreeMap<String, ParsedFile> = files
            .into_iter()
            .map(|file| (file.path.clone(), ParsedFile { file, ..ParsedFile::default() }))
            .collect();
        for text in texts {
            if let Some(parsed) = grouped.get_mut(&text.path) {
                parsed.text = Some(text);
            }
        }
        for entity in entities {
            if let Some(parsed) = grouped.get_mut(&entity.path) {
                parsed.entities.push(entity);
            }
        }
        for reference in references {
            if let Some(parsed) = grouped.get_mut(&reference.path) {
                parsed.references.push(reference);
            }
        }
        for local in locals {
            if let Some(parsed) = grouped.get_mut(&local.path) {
                parsed.locals.push(local);
            }
        }
        Self { files: grouped }
    }

    /// Rows of a file whose content is the same and was read.
    fn take(&mut self, input: &TreeInput) -> Option<ParsedFile> {
        let same = |parsed: &ParsedFile| {
            // A file may have been unreadable with the digest it has now.
            let was_read = !matches!(parsed.file.status, FileStatus::Unreadable | FileStatus::TooLarge);
            was_read && !input.digest.is_empty() && parsed.file.content_digest == input.digest
        };
        self.files.get(&input.path).is_some_and(same).then(|| self.files.remove(&input.path))?
    }
}

/// The stage's tables, each in its declared order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreeRows {
    /// Files.
    pub files: Vec<File>,
    /// Texts of files that were read.
    pub texts: Vec<Text>,
    /// Entities.
    pub entities: Vec<Entity>,
    /// References.
    pub references: Vec<Reference>,
    /// Variables inside functions.
    pub locals: Vec<Local>,
    /// Files taken over.
    pub reused: u64,
    /// Files read in this run.
    pub parsed: u64,
}

/// Parses files in parallel; the result is in path order, whatever the number of threads.
pub fn parse_all(inputs: &[ParseInput], settings: ReadSettings<'_>) -> Result<Vec<ParsedFile>> {
    let mut inputs: Vec<&ParseInput> = inputs.iter().collect();
    inputs.sort_by(|a, b| a.path.cmp(&b.path));
    let mut parsed: Vec<ParsedFile> = pool(settings.run)?.install(|| {
        let surroundings =
            Surroundings::of(&inputs, |input| &input.path, |input| code_in(&input.path, &input.bytes));
        let reader = FileReader { settings, surroundings: &surroundings };
        inputs.par_iter().map(|input| reader.read(&input.path, &input.bytes)).collect::<Result<_>>()
    })?;
    settle_roles(&mut parsed);
    Ok(parsed)
}

/// A file on its way to its rows.
enum Stage {
    /// Listed, not read.
    Unread(Box<ParsedFile>),
    /// Rows of an earlier run over the same content.
    Same(Box<ParsedFile>),
    /// Content.
    Loaded(Vec<u8>),
}

/// Reads a tree: `load` gives the bytes of a path. A file that cannot be loaded gives a row that
/// says so. Rows of `previous` are taken over where path, content, the macros it uses and the scopes
/// it is included in are the same; they must come from the same parameters and the same revision of
/// this stage.
pub fn parse_tree(
    inputs: &[TreeInput],
    load: &(dyn Fn(&str) -> io::Result<Vec<u8>> + Sync),
    mut previous: Previous,
    settings: ReadSettings<'_>,
) -> Result<TreeRows> {
    let mut inputs: Vec<(&TreeInput, Option<ParsedFile>)> =
        inputs.iter().map(|input| (input, previous.take(input))).collect();
    inputs.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
    drop(previous);
    let (mut parsed, reused, read) = pool(settings.run)?.install(|| {
        let files: Vec<(&TreeInput, Stage)> =
            inputs.into_par_iter().map(|(input, same)| (input, loaded(input, same, load))).collect();
        let surroundings =
            Surroundings::of(&files, |(input, _)| &input.path, |(input, file)| code_of(&input.path, file));
        let reader = FileReader { settings, surroundings: &surroundings };
        let rows = files.into_par_iter().map(|(input, file)| finished(input, file, load, reader));
        let rows = rows.collect::<Result<Vec<(ParsedFile, Origin)>>>()?;
        let count = |wanted: Origin| rows.iter().filter(|(_, origin)| *origin == wanted).count() as u64;
        let (reused, read) = (count(Origin::Earlier), count(Origin::Read));
        Ok((rows.into_iter().map(|(parsed, _)| parsed).collect::<Vec<_>>(), reused, read))
    })?;
    settle_roles(&mut parsed);
    let mut rows = TreeRows { reused, parsed: read, ..TreeRows::default() };
    for ParsedFile { file, text, entities, references, locals } in parsed {
        rows.files.push(file);
        rows.texts.extend(text);
        rows.entities.extend(entities);
        rows.references.extend(references);
        rows.locals.extend(locals);
    }
    Ok(rows)
}

fn loaded(
    input: &TreeInput,
    same: Option<ParsedFile>,
    load: &(dyn Fn(&str) -> io::Result<Vec<u8>> + Sync),
) -> Stage {
    if let Some((status, reason)) = &input.problem {
        let row = unread_file(&input.path, input.bytes, &input.digest, *status, reason);
        return Stage::Unread(Box::new(row));
    }
    match same {
        Some(parsed) => Stage::Same(Box::new(parsed)),
        None => load(&input.path)
            .map_or_else(|error| Stage::Unread(Box::new(unreadable(input, &error))), Stage::Loaded),
    }
}

fn unreadable(input: &TreeInput, error: &io::Error) -> ParsedFile {
    unread_file(&input.path, input.bytes, "", FileStatus::Unreadable, &error.to_string())
}

/// Where the rows of a file come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Listed,
    Earlier,
    Read,
}

fn finished(
    input: &TreeInput,
    file: Stage,
    load: &(dyn Fn(&str) -> io::Result<Vec<u8>> + Sync),
    reader: FileReader<'_>,
) -> Result<(ParsedFile, Origin)> {
    let bytes = match file {
        Stage::Unread(row) => {
            // A file that was to be read and could not be counts as tried.
            let origin = if input.problem.is_some() { Origin::Listed } else { Origin::Read };
            return Ok((*row, origin));
        }
        Stage::Same(parsed) => {
            let Some(text) = &parsed.text else { return Ok((*parsed, Origin::Listed)) };
            let class =
                Classification { language: parsed.file.language, source_type: parsed.file.source_type };
            if macros_digest(class, &input.path, &text.text, reader.surroundings) == parsed.file.macros_digest
            {
                return Ok((*parsed, Origin::Earlier));
            }
            match load(&input.path) {
                Ok(bytes) => bytes,
                Err(error) => return Ok((unreadable(input, &error), Origin::Read)),
            }
        }
        Stage::Loaded(bytes) => bytes,
    };
    Ok((reader.read(&input.path, &bytes)?, Origin::Read))
}

/// The text of a file, if it is C or C++.
fn code_of<'t>(path: &str, file: &'t Stage) -> Option<Cow<'t, str>> {
    match file {
        Stage::Unread(_) => None,
        Stage::Same(parsed) => {
            let text = parsed.text.as_ref()?;
            let class = Classification::of(path).refined(path, &text.text);
            class.is_c_family().then_some(Cow::Borrowed(text.text.as_str()))
        }
        Stage::Loaded(bytes) => code_in(path, bytes),
    }
}

/// The same, of a file that is not read yet.
fn code_in<'t>(path: &str, bytes: &[u8]) -> Option<Cow<'t, str>> {
    let class = Classification::of(path);
    if !class.is_c_family() && !class.may_be_code(path) {
        return None;
    }
    match decode(bytes) {
        Content::Text { text, .. } => class.refined(path, &text).is_c_family().then_some(Cow::Owned(text)),
        Content::Binary { .. } => None,
    }
}

fn pool(run: ParseRun) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(run.threads)
        .stack_size(STACK)
        .thread_name(|at| format!("parse-{at}"))
        .build()
        .map_err(|source| Error::Threads { threads: run.threads, source })
}
