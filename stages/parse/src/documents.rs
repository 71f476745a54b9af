//! Documents: sections under headings, split where they are longer than a chunk (paper 3.2.2).

mod doxygen;
mod keyed;
mod markdown;
mod mentions;
mod restructured;
mod split;
mod tex;

use std::ops::Range;

use almanac_language::{Grammar, Stop, Watch};
use almanac_tables::{EntityKind, Language};

pub(crate) use crate::documents::keyed::grammar as keyed_grammar;
use crate::documents::mentions::Markup;
pub(crate) use crate::documents::mentions::read_presets;
use crate::documents::split::split;
use crate::rows::{Rows, Source};

/// A heading found by one of the scanners.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Heading {
    /// Title without markup.
    title: String,
    /// Depth, from 1.
    level: usize,
    /// First byte of the heading.
    start: usize,
    /// Byte past the heading, where its text begins.
    end: usize,
}

/// Reads a document by its headings. `most` is the longest chunk, in characters.
pub(crate) fn read(source: &Source<'_>, most: usize, rows: &mut Rows) {
    let (headings, markup) = match source.class.language {
        Language::Markdown => (markdown::headings(source.text), Markup::Markdown),
        Language::Rst => (restructured::headings(source.text), Markup::Restructured),
        _ if source.path.ends_with(".tex") => (tex::headings(source.text), Markup::Tex),
        _ => (Vec::new(), Markup::Plain),
    };
    sections(source, &headings, most, rows);
    mentions::read(source, markup, rows);
}

/// Reads a Doxygen page with a code suffix.
pub(crate) fn read_page(source: &Source<'_>, most: usize, rows: &mut Rows) {
    sections(source, &doxygen::headings(source.text), most, rows);
    mentions::read(source, Markup::Page, rows);
}

/// Reads JSON, YAML or TOML by its keys, and gives the bytes the grammar could not place.
pub(crate) fn read_keyed(
    source: &Source<'_>,
    grammar: Grammar,
    most: usize,
    watch: &Watch<'_>,
    rows: &mut Rows,
) -> Result<u64, Stop> {
    let (headings, error_bytes) = keyed::headings(source.text, grammar, most, watch)?;
    sections(source, &headings, most, rows);
    Ok(error_bytes)
}

/// Reads any text as blocks named after the file. At most `limit` blocks are kept; gives how many
/// there are.
pub(crate) fn read_blocks(source: &Source<'_>, most: usize, limit: usize, rows: &mut Rows) -> usize {
    let pieces = split(source.text, 0, source.text.len(), most);
    let count = pieces.len();
    for (at, (start, end)) in pieces.into_iter().take(limit).enumerate() {
        let name = numbered(source.file_name(), at, count);
        let mut entity = source.entity(EntityKind::TextBlock, &name, start, end);
        entity.signature = source.file_name().to_owned();
        rows.push(entity);
    }
    count
}

/// Text blocks over `ranges` of a file of which the rest is named entities, numbered through.
pub(crate) fn read_between(source: &Source<'_>, ranges: &[Range<usize>], most: usize, rows: &mut Rows) {
    let pieces: Vec<(usize, usize)> =
        ranges.iter().flat_map(|range| split(source.text, range.start, range.end, most)).collect();
    for (at, (start, end)) in pieces.iter().enumerate() {
        let name = numbered(source.file_name(), at, pieces.len());
        let mut entity = source.entity(EntityKind::TextBlock, &name, *start, *end);
        source.file_name().clone_into(&mut entity.signature);
        rows.push(entity);
    }
}

fn sections(source: &Source<'_>, headings: &[Heading], most: usize, rows: &mut Rows) {
    let preamble_end = headings.first().map_or(source.text.len(), |heading| heading.start);
    let pieces = split(source.text, 0, preamble_end, most);
    let count = pieces.len();
    for (at, (start, end)) in pieces.into_iter().enumerate() {
        let name = numbered(source.file_name(), at, count);
        let mut entity = source.entity(EntityKind::TextBlock, &name, start, end);
        entity.signature = source.file_name().to_owned();
        rows.push(entity);
    }
    let mut above: Vec<&Heading> = Vec::new();
    for (at, heading) in headings.iter().enumerate() {
        above.retain(|outer| outer.level < heading.level);
        let end = headings.get(at + 1).map_or(source.text.len(), |next| next.start);
        // A heading right above the next one is a section too: its words must be found.
        section(source, heading, &above, end, most, rows);
        above.push(heading);
    }
}

fn section(
    source: &Source<'_>,
    heading: &Heading,
    above: &[&Heading],
    end: usize,
    most: usize,
    rows: &mut Rows,
) {
    let path: Vec<String> = above.iter().map(|outer| outer.title.clone()).collect();
    let pieces = split(source.text, heading.start, end, most);
    let count = pieces.len();
    for (at, (start, end)) in pieces.into_iter().enumerate() {
        let name = numbered(&heading.title, at, count);
        let mut entity = source.entity(EntityKind::Section, &name, start, end);
        let mut names = path.clone();
        names.push(name);
        entity.qualified_name = names.join(" > ");
        entity.parent = path.last().cloned().unwrap_or_default();
        entity.signature = heading.title.clone();
        entity.section_path = path.clone();
        rows.push(entity);
    }
}

/// `title`, or `title_1`, `title_2`, ... for the pieces of a section that was split.
fn numbered(title: &str, at: usize, count: usize) -> String {
    if count > 1 { format!("{title}_{}", at + 1) } else { title.to_owned() }
}

/// Lines with the byte at which each begins, line breaks left out.
fn lines_with_bytes(text: &str) -> Vec<(usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let start = at;
            at += line.len();
            (start, line.trim_end_matches(['\n', '\r']))
        })
        .collect()
}

#[cfg(test)]
mod tests;
