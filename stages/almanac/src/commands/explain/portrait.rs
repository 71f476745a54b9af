//! One symbol or file with its explanation, its source and its neighbours in the graph.

use std::collections::BTreeSet;

use almanac_lookup::SearchIndex;
use almanac_tables::{Edge, EdgeKind, Entity, RecordStatus, file_node};
use serde::Serialize;

use crate::budget::within_budget;
use crate::error::Error;

/// Neighbours of one kind that are listed.
const MOST_NEIGHBOURS: usize = 40;
/// Names that are offered for one that is not there.
const SUGGESTIONS: usize = 5;

/// Where something stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Place {
    /// Qualified name, or the path of a file.
    name: String,
    path: String,
    line: u32,
}

/// Neighbours of one kind.
#[derive(Debug, Serialize)]
pub(crate) struct Neighbours {
    /// What they are to it: `callers`, `callees`, ...
    relation: &'static str,
    places: Vec<Place>,
    /// More of them, that are not listed.
    left_out: usize,
}

/// What is known of one symbol or file.
#[derive(Debug, Serialize)]
pub(crate) struct Portrait {
    name: String,
    kind: String,
    path: String,
    start_line: u32,
    end_line: u32,
    signature: String,
    /// Explanation or summary; empty where there is none.
    explanation: String,
    /// What made it.
    model: String,
    /// Lines of the source, each after its number.
    source: String,
    neighbours: Vec<Neighbours>,
    /// Others of the same name.
    others: Vec<Place>,
}

/// Finds a symbol or file by the name people give it.
pub(crate) fn portrait(index: &SearchIndex, name: &str) -> Result<Portrait, Error> {
    let name = name.trim();
    if name.starts_with('/') || name.split('/').any(|part| part == "..") {
        return Err(Error::OutsideTree { name: name.to_owned() });
    }
    let mut symbols: Vec<&Entity> =
        index.entities_named(name).into_iter().map(|at| &index.tables().entities[at]).collect();
    symbols
        .sort_by_key(|entity| (!is_listed(entity), !entity.is_definition, &entity.path, entity.start_line));
    if let Some((first, others)) = symbols.split_first() {
        return Ok(of_symbol(index, first, others));
    }
    let files = index.files_named(name);
    if let Some((first, others)) = files.split_first() {
        return Ok(of_file(index, *first, others));
    }
    Err(Error::NoSuchName { name: name.to_owned(), similar: similar(index, name) })
}

fn of_symbol(index: &SearchIndex, entity: &Entity, others: &[&Entity]) -> Portrait {
    let tables = index.tables();
    let row = tables.explanations.binary_search_by(|row| row.entity_id.as_str().cmp(&entity.id));
    let row = row.ok().map(|at| &tables.explanations[at]).filter(|row| row.status == RecordStatus::Done);
    let text = tables.text(&entity.path);
    // Calls may be bound to the declaration of what they mean.
    let mut nodes = BTreeSet::from([entity.id.clone()]);
    let own = nodes.clone();
    for edge in tables.edges.iter().filter(|edge| edge.kind == EdgeKind::Defines) {
        if edge.source == entity.id {
            nodes.insert(edge.target.clone());
        } else if edge.target == entity.id {
            nodes.insert(edge.source.clone());
        }
    }
    let into = |kinds, relation| neighbours(index, relation, kinds, &nodes, End::Source);
    let out = |kinds, relation| neighbours(index, relation, kinds, &nodes, End::Target);
    let found = [
        into(&[EdgeKind::Calls, EdgeKind::Launches][..], "callers"),
        out(&[EdgeKind::Calls, EdgeKind::Launches][..], "callees"),
        out(&[EdgeKind::Inherits], "base classes"),
        into(&[EdgeKind::Inherits], "derived classes"),
        out(&[EdgeKind::Overrides], "overrides"),
        into(&[EdgeKind::Overrides], "overridden by"),
        neighbours(index, "members", &[EdgeKind::Owns], &own, End::Target),
        into(&[EdgeKind::Tests], "tests"),
        into(&[EdgeKind::Documents], "documented in"),
    ];
    Portrait {
        name: entity.qualified_name.clone(),
        kind: entity.kind.to_string(),
        path: entity.path.clone(),
        start_line: entity.start_line,
        end_line: entity.end_line,
        signature: entity.signature.clone(),
        explanation: row.map_or_else(String::new, |row| row.text.clone()),
        model: row.map_or_else(String::new, |row| row.model.clone()),
        source: numbered(text, entity.start_line, entity.end_line),
        neighbours: found.into_iter().filter(|found| !found.places.is_empty()).collect(),
        others: others.iter().map(|other| place(other)).collect(),
    }
}

fn of_file(index: &SearchIndex, at: usize, others: &[usize]) -> Portrait {
    let tables = index.tables();
    let file = &tables.files[at];
    let node = file_node(&file.path);
    let summary = tables.summaries.binary_search_by(|row| row.id.as_str().cmp(&node)).ok();
    let summary =
        summary.map(|at| &tables.summaries[at]).filter(|summary| summary.status == RecordStatus::Done);
    let nodes = BTreeSet::from([node]);
    let symbols = tables.entities[index.entities_in(at)].iter().filter(|entity| is_listed(entity));
    let symbols: Vec<Place> = symbols.map(place).collect();
    let left_out = symbols.len().saturating_sub(MOST_NEIGHBOURS);
    let found = [
        Neighbours {
            relation: "symbols",
            places: symbols.into_iter().take(MOST_NEIGHBOURS).collect(),
            left_out,
        },
        neighbours(index, "includes", &[EdgeKind::Includes], &nodes, End::Target),
        neighbours(index, "included by", &[EdgeKind::Includes], &nodes, End::Source),
        neighbours(index, "built by", &[EdgeKind::Builds], &nodes, End::Source),
        neighbours(index, "tests", &[EdgeKind::Tests], &nodes, End::Source),
    ];
    let last = file.lines.max(1);
    Portrait {
        name: file.path.clone(),
        kind: "file".to_owned(),
        path: file.path.clone(),
        start_line: 1,
        end_line: last,
        signature: String::new(),
        explanation: summary.map_or_else(String::new, |row| row.text.clone()),
        model: summary.map_or_else(String::new, |row| row.model.clone()),
        source: numbered(tables.text(&file.path), 1, last),
        neighbours: found.into_iter().filter(|found| !found.places.is_empty()).collect(),
        others: others
            .iter()
            .map(|at| &tables.files[*at].path)
            .map(|path| Place { name: path.clone(), path: path.clone(), line: 1 })
            .collect(),
    }
}

/// Whether it is something that a file's list of symbols shows: a callable or a class.
fn is_listed(entity: &Entity) -> bool {
    entity.kind.is_callable() || entity.kind.is_record()
}

/// Which end of an edge a neighbour is at.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Source,
    Target,
}

fn neighbours(
    index: &SearchIndex,
    relation: &'static str,
    kinds: &[EdgeKind],
    nodes: &BTreeSet<String>,
    end: End,
) -> Neighbours {
    let far = |edge: &Edge| match end {
        End::Source if nodes.contains(&edge.target) => Some(edge.source.clone()),
        End::Target if nodes.contains(&edge.source) => Some(edge.target.clone()),
        _ => None,
    };
    let edges = index.tables().edges.iter().filter(|edge| kinds.contains(&edge.kind));
    let ends: BTreeSet<String> = edges.filter_map(far).filter(|node| !nodes.contains(node)).collect();
    let mut places: Vec<Place> = ends.iter().filter_map(|node| place_of_node(index, node)).collect();
    places.sort();
    places.dedup();
    let left_out = places.len().saturating_sub(MOST_NEIGHBOURS);
    places.truncate(MOST_NEIGHBOURS);
    Neighbours { relation, places, left_out }
}

fn place_of_node(index: &SearchIndex, node: &str) -> Option<Place> {
    if let Some(path) = node.strip_prefix("file:") {
        return Some(Place { name: path.to_owned(), path: path.to_owned(), line: 1 });
    }
    index.entity(node).map(|at| place(&index.tables().entities[at]))
}

fn place(entity: &Entity) -> Place {
    Place { name: entity.qualified_name.clone(), path: entity.path.clone(), line: entity.start_line }
}

/// Lines of a text, each after its number.
fn numbered(text: &str, first: u32, last: u32) -> String {
    let lines = (1..).zip(text.lines()).skip(first.saturating_sub(1) as usize);
    lines
        .take_while(|(number, _)| *number <= last)
        .map(|(number, line)| format!("{number:>5}  {line}\n"))
        .collect()
}

/// Names of symbols that are nearly this one.
fn similar(index: &SearchIndex, name: &str) -> Vec<String> {
    const NEAR: f64 = 0.75;
    let last = name.rsplit("::").next().unwrap_or(name).to_lowercase();
    let mut scored: Vec<(f64, &str)> = Vec::new();
    let mut seen = BTreeSet::new();
    for entity in &index.tables().entities {
        if is_listed(entity) && seen.insert(entity.name.as_str()) {
            let score = strsim::jaro_winkler(&last, &entity.name.to_lowercase());
            if score >= NEAR {
                scored.push((score, &entity.qualified_name));
            }
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.into_iter().take(SUGGESTIONS).map(|(_, name)| name.to_owned()).collect()
}

impl Portrait {
    /// File it is in.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// For people and models, in at most `budget` tokens (four characters each): what comes last is cut,
    /// and that is said.
    pub(crate) fn text(&self, budget: usize) -> String {
        let mut text =
            format!("{} ({})\n{}:{}-{}\n", self.name, self.kind, self.path, self.start_line, self.end_line);
        if !self.signature.is_empty() {
            text.push_str(&format!("{}\n", self.signature));
        }
        if !self.others.is_empty() {
            text.push_str("\nOthers of this name: ");
            let others: Vec<String> = self
                .others
                .iter()
                .take(MOST_NEIGHBOURS)
                .map(|other| format!("{}:{}", other.path, other.line))
                .collect();
            text.push_str(&others.join(", "));
            text.push('\n');
        }
        if !self.explanation.is_empty() {
            text.push_str(&format!("\nExplanation ({}):\n{}\n", self.model, self.explanation));
        }
        for found in &self.neighbours {
            text.push_str(&format!("\n{}:\n", found.relation));
            for place in &found.places {
                text.push_str(&format!("  {} {}:{}\n", place.name, place.path, place.line));
            }
            if found.left_out > 0 {
                text.push_str(&format!("  and {} more\n", found.left_out));
            }
        }
        text.push_str(&format!("\nSource:\n{}", self.source));
        within_budget(text, budget)
    }
}
