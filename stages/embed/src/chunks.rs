//! Entities and summaries to chunks.

use std::collections::{BTreeMap, BTreeSet};

use almanac_artifact::{Digest, Table};
use almanac_tables::{
    ArtifactRole, Chunk, Entity, EntityKind, EntityLevel, Explanation, File, RecordStatus, SourceType,
    Summary, Text,
};

use crate::Params;
use crate::data::Readable;
use crate::lines::{Line, lines, parts};
use crate::own::{Place, places};
use crate::structured_text::{CODE, FACTS, Sections, TEXT, head, without_labels};
use crate::token_estimate::estimate;

/// The rows the stage reads, in table order.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// Files of the tree.
    pub files: &'a [File],
    /// Their texts.
    pub texts: &'a [Text],
    /// Their entities.
    pub entities: &'a [Entity],
    /// Explanations of symbols.
    pub explanations: &'a [Explanation],
    /// Summaries of files, modules and call chains.
    pub summaries: &'a [Summary],
}

/// All chunks of a tree, in table order.
pub fn chunk_all(sources: &Sources<'_>, params: &Params) -> Vec<Chunk> {
    let mut explanations = BTreeMap::new();
    for row in sources.explanations.iter().filter(|row| row.status == RecordStatus::Done) {
        explanations.insert(row.entity_id.as_str(), row.text.as_str());
    }
    let explained: BTreeSet<&str> = explanations.keys().copied().collect();
    let mut by_file: BTreeMap<&str, Vec<&Entity>> = BTreeMap::new();
    for entity in sources.entities {
        by_file.entry(&entity.path).or_default().push(entity);
    }
    let mut chunks = Vec::new();
    for text in sources.texts {
        let Some(entities) = by_file.get_mut(text.path.as_str()) else { continue };
        if let Some(first) = entities.first() {
            let readable = Readable::of(first, &text.text, params);
            entities.retain(|entity| !readable.leaves_out(entity));
        }
        // An outer entity comes before what it begins with.
        entities.sort_by_key(|entity| (entity.start_byte, std::cmp::Reverse(entity.end_byte)));
        let places = places(entities, &text.text, &explained, params);
        let file = FileChunks { text: &text.text, entities, places, explanations: &explanations, params };
        file.chunks(&mut chunks);
    }
    summary_chunks(sources, &mut chunks);
    chunks.sort_by(Chunk::compare);
    chunks
}

struct FileChunks<'a> {
    text: &'a str,
    entities: &'a [&'a Entity],
    places: Vec<Place>,
    explanations: &'a BTreeMap<&'a str, &'a str>,
    params: &'a Params,
}

impl<'a> FileChunks<'a> {
    fn chunks(&self, chunks: &mut Vec<Chunk>) {
        let mut group: Vec<&Entity> = Vec::new();
        for (at, (&entity, place)) in self.entities.iter().zip(&self.places).enumerate() {
            if *place == Place::Grouped && !self.fits_group(&group, entity) {
                self.group_chunk(&std::mem::take(&mut group), chunks);
            }
            match place {
                Place::Own => {
                    self.group_chunk(&std::mem::take(&mut group), chunks);
                    self.own_chunks(at, entity, chunks);
                }
                Place::Grouped => group.push(entity),
                Place::Enclosed => {}
            }
        }
        self.group_chunk(&group, chunks);
    }

    /// An entity alone, in as many parts as it needs.
    fn own_chunks(&self, at: usize, entity: &'a Entity, chunks: &mut Vec<Chunk>) {
        let explanation = self.explanations.get(entity.id.as_str()).copied().unwrap_or("");
        let elided = if entity.kind.is_record() { self.elided(at, entity) } else { Vec::new() };
        let sections = Sections {
            head: entity_head(entity, &entity.qualified_name),
            explanation: without_labels(explanation),
            comment: without_labels(&entity.leading_comment),
            label: body_label(entity),
            body: String::new(),
        };
        let lines = lines(entity, &elided, self.text);
        for (lines, sections, part, count) in self.parts(lines, sections) {
            chunks.push(symbol_chunk(entity, sections, &lines, part, count));
        }
    }

    /// Divides `lines` so that each part fits a chunk; what is in `sections` leaves them the rest of
    /// the first part, at least half, and the later parts have its head alone.
    fn parts(&self, lines: Vec<Line>, sections: Sections) -> Vec<(Vec<Line>, Sections, usize, usize)> {
        let half = self.params.chunk_tokens / 2;
        let rest = self.params.chunk_tokens.saturating_sub(estimate(&sections.head)).max(half);
        let prose = estimate(&sections.explanation) + estimate(&sections.comment);
        let first = rest.saturating_sub(prose).max(half.min(rest));
        let parts = parts(lines, first, rest);
        let count = parts.len();
        let with_body = |(part, lines): (usize, Vec<Line>)| {
            let mut sections = sections.clone();
            if part > 0 {
                sections.explanation.clear();
                sections.comment.clear();
            }
            sections.body = joined(&lines);
            (lines, sections, part, count)
        };
        parts.into_iter().enumerate().map(with_body).collect()
    }

    /// Members inside the record at `at` that have chunks of their own.
    fn elided(&self, at: usize, record: &Entity) -> Vec<&'a Entity> {
        let inside = self.entities[at + 1..].iter().zip(&self.places[at + 1..]);
        inside
            .take_while(|(inner, _)| inner.start_byte < record.end_byte)
            .filter(|(inner, place)| {
                **place == Place::Own
                    && inner.is_definition
                    && (inner.kind.is_callable() || inner.kind.is_record())
            })
            .map(|(inner, _)| *inner)
            .collect()
    }

    fn fits_group(&self, group: &[&Entity], entity: &Entity) -> bool {
        let Some(last) = group.last() else { return true };
        let size: usize = group.iter().chain([&entity]).map(|e| estimate(e.slice(self.text))).sum();
        last.level == entity.level && last.parent == entity.parent && size <= self.params.chunk_tokens / 2
    }

    /// Small neighbours together; the first of them is the subject.
    fn group_chunk(&self, group: &[&Entity], chunks: &mut Vec<Chunk>) {
        let Some(first) = group.first() else { return };
        let mut all: Vec<Line> = Vec::new();
        for entity in group {
            for line in lines(entity, &[], self.text) {
                match all.last_mut() {
                    Some(last) if last.last >= line.first => {
                        last.text.push(' ');
                        last.text.push_str(&line.text);
                        last.last = line.last;
                    }
                    _ => all.push(line),
                }
            }
        }
        let names: Vec<&str> = group.iter().map(|entity| entity.name.as_str()).collect();
        let comments: Vec<&str> = group.iter().map(|entity| entity.leading_comment.as_str()).collect();
        let sections = Sections {
            head: entity_head(first, &names.join(", ")),
            comment: without_labels(&comments.join("\n")),
            label: body_label(first),
            ..Sections::default()
        };
        for (lines, sections, part, count) in self.parts(all, sections) {
            let mut chunk = symbol_chunk(first, sections, &lines, part, count);
            chunk.symbol = names.join(", ");
            chunks.push(chunk);
        }
    }
}

fn entity_head(entity: &Entity, symbol: &str) -> String {
    let section_path = entity.section_path.join(" > ");
    head(&entity.path, symbol, entity.kind.as_str(), &entity.parent, &section_path)
}

fn body_label(entity: &Entity) -> &'static str {
    if entity.kind.is_document() { TEXT } else { CODE }
}

fn joined(lines: &[Line]) -> String {
    lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn symbol_chunk(entity: &Entity, sections: Sections, lines: &[Line], part: usize, parts: usize) -> Chunk {
    let (file_name, base_name) = names(&entity.path);
    let text = sections.compose();
    let part = u32::try_from(part).unwrap_or(u32::MAX);
    Chunk {
        id: chunk_id(&entity.id, part, &text),
        subject: entity.id.clone(),
        level: entity.level,
        kind: entity.kind,
        path: entity.path.clone(),
        file_name: file_name.to_owned(),
        base_name: base_name.to_owned(),
        symbol: entity.name.clone(),
        qualified_name: entity.qualified_name.clone(),
        parent: entity.parent.clone(),
        start_line: lines.iter().map(|line| line.first).min().unwrap_or(entity.start_line),
        end_line: lines.iter().map(|line| line.last).max().unwrap_or(entity.end_line),
        source_type: entity.source_type,
        role: entity.role,
        part,
        parts: u32::try_from(parts).unwrap_or(u32::MAX),
        text,
        explanation: sections.explanation,
    }
}

fn chunk_id(subject: &str, part: u32, text: &str) -> String {
    Digest::of(|encoder| {
        encoder.text(subject).u32(part).text(text);
    })
    .hex(20)
}

/// File name, and file name without extension.
fn names(path: &str) -> (&str, &str) {
    let file_name = path.rsplit('/').next().unwrap_or(path);
    let stem = file_name.rsplit_once('.').map_or(file_name, |(stem, _)| stem);
    (file_name, if stem.is_empty() { file_name } else { stem })
}

/// One chunk a summary, with its facts where no text was generated and beside it where one was. The
/// facts of a call chain alone say what the chunk of its symbol and the graph say, so they have none.
fn summary_chunks(sources: &Sources<'_>, chunks: &mut Vec<Chunk>) {
    let files: BTreeMap<&str, &File> = sources.files.iter().map(|file| (file.path.as_str(), file)).collect();
    let entities: BTreeMap<&str, &Entity> =
        sources.entities.iter().map(|entity| (entity.id.as_str(), entity)).collect();
    let tells = |summary: &&Summary| summary.level != EntityLevel::CallChain || !summary.text.is_empty();
    for summary in sources.summaries.iter().filter(tells) {
        let callable = summary.id.strip_prefix("chain:").and_then(|id| entities.get(id)).copied();
        chunks.push(summary_chunk(summary, callable, &files));
    }
}

fn summary_chunk(summary: &Summary, callable: Option<&Entity>, files: &BTreeMap<&str, &File>) -> Chunk {
    let kind = match summary.level {
        EntityLevel::Module => EntityKind::ModuleSummary,
        EntityLevel::CallChain => EntityKind::CallChainSummary,
        _ => EntityKind::FileSummary,
    };
    let file = files.get(summary.path.as_str()).copied();
    let parent = callable.map_or(summary.module.as_str(), |callable| callable.parent.as_str());
    let sections = Sections {
        head: head(&summary.path, &summary.title, kind.as_str(), parent, ""),
        explanation: without_labels(&summary.text),
        comment: String::new(),
        label: FACTS,
        body: summary.facts.clone(),
    };
    let text = sections.compose();
    let of_module = summary.level == EntityLevel::Module;
    let (file_name, base_name) = names(if of_module { &summary.title } else { &summary.path });
    let (start_line, end_line) = match (callable, file) {
        (Some(callable), _) => (callable.start_line, callable.end_line),
        (None, Some(file)) => (1.min(file.lines), file.lines),
        (None, None) => (0, 0),
    };
    let (source_type, role) = match file {
        Some(file) => (file.source_type, file.role),
        None => most_common(summary, files),
    };
    Chunk {
        id: chunk_id(&summary.id, 0, &text),
        subject: summary.id.clone(),
        level: summary.level,
        kind,
        path: summary.path.clone(),
        file_name: file_name.to_owned(),
        base_name: if of_module { file_name } else { base_name }.to_owned(),
        symbol: callable.map_or(&summary.title, |callable| &callable.name).clone(),
        qualified_name: callable.map_or(&summary.title, |callable| &callable.qualified_name).clone(),
        parent: parent.to_owned(),
        start_line,
        end_line,
        source_type,
        role,
        part: 0,
        parts: 1,
        text,
        explanation: sections.explanation,
    }
}

/// Type and role of most of a module's files; the first in declared order among equals.
fn most_common(summary: &Summary, files: &BTreeMap<&str, &File>) -> (SourceType, ArtifactRole) {
    let mut counts: BTreeMap<(SourceType, ArtifactRole), usize> = BTreeMap::new();
    for file in summary.members.iter().filter_map(|path| files.get(path.as_str())) {
        *counts.entry((file.source_type, file.role)).or_default() += 1;
    }
    let most = counts.into_iter().rev().max_by_key(|(_, count)| *count);
    most.map_or_else(Default::default, |(pair, _)| pair)
}
