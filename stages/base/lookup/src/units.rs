//! What the text index ranks: whole symbols, sections, files and modules.
//!
//! Vectors are over pieces that fit an embedder's window; a text index has no window, so its
//! documents are whole. The list is a function of the rows alone: building and opening compute it
//! alike, and a document's number is its place in the list.

use almanac_tables::{Entity, EntityKind, EntityLevel, RecordStatus};

use crate::Tables;
use crate::names::{file_name, stem};

/// Lines looked at for the comment that opens a file.
const HEAD_LINES: usize = 60;

/// Row a unit stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnitSource {
    /// Place in the entities table.
    Entity(usize),
    /// Place in the files table.
    File(usize),
    /// Place in the summaries table (modules and call chains).
    Summary(usize),
}

/// One document of the text index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// Its row.
    pub source: UnitSource,
}

/// Texts of a unit, by field of the text index.
pub(crate) struct UnitText<'a> {
    pub(crate) path: &'a str,
    pub(crate) symbol: String,
    pub(crate) code: &'a str,
    pub(crate) prose: String,
}

/// Kinds that are found through what encloses them and are no unit of their own.
fn stands_alone(entity: &Entity) -> bool {
    !matches!(
        entity.kind,
        EntityKind::Namespace | EntityKind::Enumerator | EntityKind::Field | EntityKind::Lambda
    )
}

pub(crate) fn list(tables: &Tables) -> Vec<Unit> {
    let entities =
        (0..tables.entities.len()).filter(|&at| stands_alone(&tables.entities[at])).map(UnitSource::Entity);
    let files = (0..tables.files.len())
        .filter(|&at| !tables.text(&tables.files[at].path).is_empty())
        .map(UnitSource::File);
    let summaries = (0..tables.summaries.len())
        .filter(|&at| {
            let summary = &tables.summaries[at];
            match summary.level {
                EntityLevel::Module => summary.status == RecordStatus::Done || !summary.facts.is_empty(),
                EntityLevel::CallChain => summary.status == RecordStatus::Done,
                _ => false,
            }
        })
        .map(UnitSource::Summary);
    entities.chain(files).chain(summaries).map(|source| Unit { source }).collect()
}

pub(crate) fn text<'a>(tables: &'a Tables, unit: &Unit) -> UnitText<'a> {
    match unit.source {
        UnitSource::Entity(at) => entity_text(tables, &tables.entities[at]),
        UnitSource::File(at) => {
            let path = tables.files[at].path.as_str();
            let summary = tables.summary(&almanac_tables::file_node(path));
            let text = tables.text(path);
            let summary = summary.map_or("", |summary| summary.text.as_str());
            UnitText {
                path,
                symbol: stem(file_name(path)).to_owned(),
                code: text,
                prose: format!("{}\n{summary}", head_comment(text)),
            }
        }
        UnitSource::Summary(at) => {
            let summary = &tables.summaries[at];
            UnitText {
                path: &summary.path,
                symbol: summary.title.clone(),
                code: "",
                prose: format!("{}\n{}", summary.text, summary.facts),
            }
        }
    }
}

fn entity_text<'a>(tables: &'a Tables, entity: &'a Entity) -> UnitText<'a> {
    let mut prose = String::new();
    for part in [entity.leading_comment.as_str(), tables.explanation(&entity.id)] {
        if !part.is_empty() {
            prose.push_str(part);
            prose.push('\n');
        }
    }
    let mut symbol = entity.qualified_name.clone();
    for heading in &entity.section_path {
        symbol.push(' ');
        symbol.push_str(heading);
    }
    UnitText { path: &entity.path, symbol, code: entity.slice(tables.text(&entity.path)), prose }
}

/// Comment lines before the first line of code, markers kept: what a file says it is for.
pub(crate) fn head_comment(text: &str) -> String {
    let mut comment = String::new();
    let mut inside_block = false;
    for line in text.lines().take(HEAD_LINES) {
        let trimmed = line.trim();
        let opens = trimmed.starts_with("/*");
        let is_comment = inside_block
            || opens
            || trimmed.starts_with("//")
            || trimmed.starts_with('#') && !trimmed.starts_with("#i") && !trimmed.starts_with("#d");
        if is_comment {
            comment.push_str(trimmed);
            comment.push('\n');
        } else if !(trimmed.is_empty() || trimmed.starts_with("#pragma")) {
            break;
        }
        inside_block = (inside_block || opens) && !trimmed.contains("*/");
    }
    comment
}

#[cfg(test)]
mod tests {
    use super::head_comment;

    #[test]
    fn the_opening_comment_ends_where_code_begins() {
        let text = "//\n// Class Grid\n//   A regular grid.\n\n#ifndef GRID_H\n// inside\n";
        assert_eq!(head_comment(text), "//\n// Class Grid\n//   A regular grid.\n");
        assert_eq!(head_comment("/* one\n two */\nint x; // three\n"), "/* one\ntwo */\n");
        assert_eq!(head_comment("int x;\n// late\n"), "");
    }
}
