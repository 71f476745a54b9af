//! Rendering evidence as the text a model sees (paper 3.4 and 3.5).

use std::collections::BTreeMap;

use almanac_lookup::{SearchIndex, UnitSource};
use almanac_tables::{EdgeKind, Entity, EntityLevel};

use crate::RetrievalSettings;
use crate::excerpt::{Excerpt, Region, Source, dedent, excerpt};
use crate::query::Signals;
use crate::search::{Role, TokenCounter};

/// Comment lines above a symbol that are shown with it.
const COMMENT_LINES: usize = 30;
/// A block that begins this near the top of its file shows the file's comment anyway.
const HEAD_LINES: usize = 4;
/// Characters of a file's opening comment that are shown.
const HEAD_CHARACTERS: usize = 240;
/// Names in a list of relations.
const RELATED_NAMES: usize = 6;

/// Lines of each file that the context holds already.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    lines: BTreeMap<String, Vec<(usize, usize)>>,
}

impl Shown {
    pub(crate) fn add(&mut self, path: &str, ranges: &[(usize, usize)]) {
        self.lines.entry(path.to_owned()).or_default().extend(ranges);
    }

    /// Share of the lines `first..=last` that are shown, from 0 to 1.
    pub(crate) fn share(&self, path: &str, first: usize, last: usize) -> f64 {
        let Some(ranges) = self.lines.get(path) else { return 0.0 };
        let inside = |line: &usize| ranges.iter().any(|&(from, to)| (from..=to).contains(line));
        let shown = (first..=last).filter(inside).count();
        shown as f64 / (last + 1 - first).max(1) as f64
    }

    fn regions(&self, path: &str) -> impl Iterator<Item = Region> + '_ {
        let ranges = self.lines.get(path).into_iter().flatten();
        ranges.map(|&(first, last)| Region { first, last, shown: true })
    }

    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.lines.contains_key(path)
    }
}

/// One rendered piece of evidence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub(crate) path: String,
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
    pub(crate) symbol: String,
    pub(crate) kind: String,
    pub(crate) level: EntityLevel,
    pub(crate) body: String,
    pub(crate) kept: Vec<(usize, usize)>,
    pub(crate) cut: bool,
}

impl Block {
    /// The text with its number and role.
    pub(crate) fn text(&self, number: usize, role: Role) -> String {
        let place = if self.path.is_empty() {
            "module".to_owned()
        } else {
            format!("{}:{}-{}", self.path, self.first_line, self.last_line)
        };
        format!("[{number}] {role} {place} {} {}\n{}", self.kind, self.symbol, self.body)
    }
}

/// Renders units for one question.
pub(crate) struct Renderer<'a> {
    pub(crate) index: &'a SearchIndex,
    pub(crate) settings: &'a RetrievalSettings,
    pub(crate) count: TokenCounter<'a>,
    importance: BTreeMap<String, f32>,
}

impl<'a> Renderer<'a> {
    pub(crate) fn new(
        index: &'a SearchIndex,
        settings: &'a RetrievalSettings,
        count: TokenCounter<'a>,
        signals: &Signals,
    ) -> Self {
        let known = signals.known.iter();
        let importance = known.map(|known| (known.term.clone(), known.importance)).collect();
        Self { index, settings, count, importance }
    }

    /// How much each line matters: the question's rarer words in it, each once.
    fn weights(&self, lines: &[&str]) -> Vec<f32> {
        let weight = |mut terms: Vec<String>| {
            terms.sort();
            terms.dedup();
            terms.iter().filter_map(|term| self.importance.get(term)).sum()
        };
        self.index.analyzer().prose_terms_of_lines(lines).into_iter().map(weight).collect()
    }

    /// Renders `source` in at most `limit` tokens; `None` when nothing useful fits.
    pub(crate) fn render(&self, source: UnitSource, limit: usize, shown: &Shown) -> Option<Block> {
        match source {
            UnitSource::Entity(at) => self.render_entity(at, limit, shown),
            UnitSource::File(at) => self.render_file(at, limit, shown),
            UnitSource::Summary(at) => self.render_summary(at, limit),
        }
    }

    /// Lines an entity is shown with: its own and the comment above it.
    pub(crate) fn lines_of(&self, entity: &Entity) -> (usize, usize) {
        let text = self.index.tables().text(&entity.path);
        let start = entity.start_line.max(1) as usize;
        let above: Vec<&str> = text.lines().take(start - 1).collect();
        let comments = above
            .iter()
            .rev()
            .take(COMMENT_LINES)
            .take_while(|line| {
                let line = line.trim_start();
                line.starts_with("//")
                    || line.starts_with('*')
                    || line.starts_with("/*")
                    || (line.starts_with('#') && entity.language == almanac_tables::Language::Cmake)
            })
            .count();
        let comments = if entity.kind.is_document() { 0 } else { comments };
        (start - comments, entity.end_line as usize)
    }

    /// What a file says it is for, once a file, without licence texts.
    fn file_comment(&self, path: &str, first: usize, shown: &Shown) -> String {
        let comment = self.index.head_comment(path);
        if first <= HEAD_LINES || shown.has_file(path) || comment.is_empty() {
            return String::new();
        }
        format!("file: {}\n", clip(&comment, HEAD_CHARACTERS))
    }

    fn render_entity(&self, at: usize, limit: usize, shown: &Shown) -> Option<Block> {
        let tables = self.index.tables();
        let entity = &tables.entities[at];
        let (first, last) = self.lines_of(entity);
        let mut head = self.file_comment(&entity.path, first, shown);
        if let Some(around) = self.index.enclosing(at) {
            let around = &tables.entities[around];
            if !around.kind.is_document() {
                head.push_str(&format!("inside: {}\n", one_line(&around.signature, &around.name)));
            }
        }
        let explanation = tables.explanation(&entity.id);
        head.push_str(&self.explanation(explanation));
        head.push_str(&self.relations(&entity.id));
        let regions = self.regions(&entity.path, first, last, Some(at), shown);
        let excerpt = self.cut(&entity.path, (first, last), &regions, limit, &head)?;
        Some(Block {
            path: entity.path.clone(),
            first_line: first,
            last_line: last,
            symbol: if entity.kind.is_document() {
                section_title(entity)
            } else {
                entity.qualified_name.clone()
            },
            kind: entity.kind.to_string(),
            level: entity.level,
            body: format!("{head}{}", excerpt.text),
            kept: excerpt.kept,
            cut: excerpt.cut,
        })
    }

    fn render_file(&self, at: usize, limit: usize, shown: &Shown) -> Option<Block> {
        let tables = self.index.tables();
        let path = &tables.files[at].path;
        let last = tables.text(path).lines().count();
        let summary = tables.summary(&almanac_tables::file_node(path));
        let head = self.explanation(summary.map_or("", |summary| &summary.text));
        let regions = self.regions(path, 1, last, None, shown);
        let excerpt = self.cut(path, (1, last), &regions, limit, &head)?;
        Some(Block {
            path: path.clone(),
            first_line: 1,
            last_line: last,
            symbol: path.rsplit('/').next().unwrap_or(path).to_owned(),
            kind: "file".to_owned(),
            level: EntityLevel::File,
            body: format!("{head}{}", excerpt.text),
            kept: excerpt.kept,
            cut: excerpt.cut,
        })
    }

    fn render_summary(&self, at: usize, limit: usize) -> Option<Block> {
        let summary = &self.index.tables().summaries[at];
        let text = if summary.text.is_empty() { &summary.facts } else { &summary.text };
        let body = format!("{}\n", clip(text, self.settings.selection.explanation_characters * 3));
        (!text.is_empty() && (self.count)(&body) <= limit).then(|| Block {
            path: summary.path.clone(),
            first_line: 0,
            last_line: 0,
            symbol: summary.title.clone(),
            kind: "summary".to_owned(),
            level: summary.level,
            body,
            kept: Vec::new(),
            cut: false,
        })
    }

    fn cut(
        &self,
        path: &str,
        (first, last): (usize, usize),
        regions: &[Region],
        limit: usize,
        head: &str,
    ) -> Option<Excerpt> {
        let text = self.index.tables().text(path);
        let lines: Vec<&str> = text.lines().skip(first - 1).take(last + 1 - first).collect();
        let lines = dedent(&lines);
        let weights = self.weights(&lines);
        let limit = limit.checked_sub((self.count)(head))?;
        let source = Source { lines: &lines, first_line: first, weights: &weights, regions, limit };
        excerpt(&source, self.count)
    }

    /// Bodies inside the lines that may be left out, and what is shown already.
    fn regions(
        &self,
        path: &str,
        first: usize,
        last: usize,
        own: Option<usize>,
        shown: &Shown,
    ) -> Vec<Region> {
        let tables = self.index.tables();
        let mut regions: Vec<Region> = shown.regions(path).collect();
        let Some(file) = tables.file(path) else { return regions };
        for at in self.index.entities_in(file) {
            let entity = &tables.entities[at];
            let lines = (entity.start_line as usize, entity.end_line as usize);
            let inside = lines.0 >= first && lines.1 <= last && Some(at) != own;
            if inside && entity.kind.is_callable() && entity.is_definition {
                regions.push(self.body(entity));
            }
        }
        regions
    }

    /// Lines after the one that opens the body, up to the one before the last.
    fn body(&self, entity: &Entity) -> Region {
        let text = entity.slice(self.index.tables().text(&entity.path));
        let opening = text.lines().position(|line| line.contains('{')).unwrap_or(0);
        let start = entity.end_line as usize + 1 - text.lines().count().max(1);
        let first = start + opening + 1;
        Region { first, last: (entity.end_line as usize).saturating_sub(1), shown: false }
    }

    fn explanation(&self, text: &str) -> String {
        let limit = self.settings.selection.explanation_characters;
        if text.is_empty() || limit == 0 {
            return String::new();
        }
        format!("explanation: {}\n", clip(text, limit))
    }

    fn relations(&self, id: &str) -> String {
        let mut lines = String::new();
        for (label, nodes) in [
            ("bases", self.index.targets(id, EdgeKind::Inherits)),
            ("calls", self.index.targets(id, EdgeKind::Calls)),
            ("called by", self.index.sources(id, EdgeKind::Calls)),
        ] {
            let mut names: Vec<&str> = nodes
                .iter()
                .filter(|(_, confidence)| *confidence >= 0.5)
                .filter_map(|(node, _)| self.index.entity(node))
                .map(|at| self.index.tables().entities[at].qualified_name.as_str())
                .collect();
            names.dedup();
            if !names.is_empty() {
                names.truncate(RELATED_NAMES);
                lines.push_str(&format!("{label}: {}\n", names.join(", ")));
            }
        }
        lines
    }
}

fn section_title(entity: &Entity) -> String {
    let mut title = entity.section_path.join(" > ");
    if !title.ends_with(&entity.name) {
        if !title.is_empty() {
            title.push_str(" > ");
        }
        title.push_str(&entity.name);
    }
    title
}

fn one_line<'a>(signature: &'a str, name: &'a str) -> &'a str {
    signature.lines().next().filter(|line| !line.is_empty()).unwrap_or(name)
}

/// The first `limit` characters, cut at a blank, on one line.
pub(crate) fn clip(text: &str, limit: usize) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if folded.chars().count() <= limit {
        return folded;
    }
    let cut: String = folded.chars().take(limit).collect();
    let end = cut.rfind(' ').unwrap_or(cut.len());
    format!("{} …", &cut[..end])
}
