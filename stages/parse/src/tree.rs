//! Many files to rows, with those whose content is the same taken over from an earlier run.

use std::collections::BTreeMap;
use std::io;

use almanac_tables::{Entity, File, FileStatus, Language, Reference, Text};
use rayon::prelude::*;

use crate::{Error, ParseParams, ParseRun, ParsedFile, Result, parse_file, settle_roles, unread_file};

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
        Self { files: grouped }
    }

    fn take(&mut self, input: &TreeInput) -> Option<ParsedFile> {
        let same = |parsed: &ParsedFile| {
            // A file may have been unreadable with the digest it has now.
            // What ran out of time on a busy machine may be parsed now; what was refused for another
            // reason is refused again, which costs little.
            let is_prose =
                matches!(parsed.file.language, Language::Text | Language::Markdown | Language::Rst);
            let was_defeated =
                parsed.file.status == FileStatus::Text && !is_prose && !parsed.file.status_reason.is_empty();
            let was_read =
                !matches!(parsed.file.status, FileStatus::Unreadable | FileStatus::TooLarge) && !was_defeated;
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
    /// Files taken over.
    pub reused: u64,
    /// Files read in this run.
    pub parsed: u64,
}

/// Parses files in parallel; the result is in path order, whatever the number of threads.
pub fn parse_all(inputs: Vec<ParseInput>, params: &ParseParams, run: ParseRun) -> Result<Vec<ParsedFile>> {
    let pool = pool(run)?;
    let mut parsed: Vec<ParsedFile> = pool.install(|| {
        inputs.par_iter().map(|input| parse_file(&input.path, &input.bytes, params, run)).collect()
    });
    parsed.sort_by(|a, b| a.file.path.cmp(&b.file.path));
    settle_roles(&mut parsed);
    Ok(parsed)
}

/// Reads a tree: `load` gives the bytes of a path. A file that cannot be loaded gives a row that
/// says so. Rows of `previous` are taken over where path and content are the same; they must come
/// from the same parameters and the same revision of this stage.
pub fn parse_tree(
    inputs: &[TreeInput],
    load: &(dyn Fn(&str) -> io::Result<Vec<u8>> + Sync),
    mut previous: Previous,
    params: &ParseParams,
    run: ParseRun,
) -> Result<TreeRows> {
    let (mut parsed, mut to_read) = (Vec::with_capacity(inputs.len()), Vec::new());
    for input in inputs {
        match (&input.problem, previous.take(input)) {
            (Some((status, reason)), _) => {
                parsed.push(unread_file(&input.path, input.bytes, &input.digest, *status, reason));
            }
            (None, Some(same)) => parsed.push(same),
            (None, None) => to_read.push(input),
        }
    }
    let reused = parsed.iter().filter(|parsed| parsed.text.is_some()).count() as u64;
    drop(previous);
    let read: Vec<ParsedFile> = pool(run)?.install(|| {
        to_read
            .par_iter()
            .map(|input| match load(&input.path) {
                Ok(bytes) => parse_file(&input.path, &bytes, params, run),
                Err(error) => {
                    unread_file(&input.path, input.bytes, "", FileStatus::Unreadable, &error.to_string())
                }
            })
            .collect()
    });
    let count = read.len() as u64;
    parsed.extend(read);
    parsed.sort_by(|a, b| a.file.path.cmp(&b.file.path));
    settle_roles(&mut parsed);
    let mut rows = TreeRows { reused, parsed: count, ..TreeRows::default() };
    for ParsedFile { file, text, entities, references } in parsed {
        rows.files.push(file);
        rows.texts.extend(text);
        rows.entities.extend(entities);
        rows.references.extend(references);
    }
    Ok(rows)
}

fn pool(run: ParseRun) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(run.threads)
        .stack_size(STACK)
        .thread_name(|at| format!("parse-{at}"))
        .build()
        .map_err(|source| Error::Threads { threads: run.threads, source })
}
