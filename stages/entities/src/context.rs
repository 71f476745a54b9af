//! The rows the stage reads, indexed by what its prompts ask for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use almanac_inference::first_sentence;
use almanac_tables::{
    Edge, EdgeIndex, EdgeKind, Entity, EntityKind, EntityLevel, Explanation, File, Module, Rank,
    RecordStatus, Text,
};

use crate::Params;

/// The rows the stage reads, in table order.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// Files of the tree.
    pub files: &'a [File],
    /// Their texts.
    pub texts: &'a [Text],
    /// Their entities.
    pub entities: &'a [Entity],
    /// The graph.
    pub edges: &'a [Edge],
    /// Folders and namespaces.
    pub modules: &'a [Module],
    /// How central nodes are.
    pub ranks: &'a [Rank],
    /// Explanations of symbols.
    pub explanations: &'a [Explanation],
}

/// Longest one-line gist of a text, in bytes.
const GIST: usize = 220;

/// Indexes over [`Sources`].
pub(crate) struct Context<'a> {
    pub(crate) params: &'a Params,
    pub(crate) files: BTreeMap<&'a str, &'a File>,
    texts: BTreeMap<&'a str, &'a str>,
    entities: BTreeMap<&'a str, &'a Entity>,
    by_file: BTreeMap<&'a str, Vec<&'a Entity>>,
    scores: BTreeMap<&'a str, f64>,
    explanations: BTreeMap<&'a str, &'a str>,
    edges: EdgeIndex<'a>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(sources: &Sources<'a>, params: &'a Params) -> Self {
        let mut by_file: BTreeMap<&str, Vec<&Entity>> = BTreeMap::new();
        for entity in sources.entities {
            by_file.entry(&entity.path).or_default().push(entity);
        }
        let explained = |row: &&Explanation| row.status == RecordStatus::Done;
        Self {
            params,
            files: sources.files.iter().map(|file| (file.path.as_str(), file)).collect(),
            texts: sources.texts.iter().map(|text| (text.path.as_str(), text.text.as_str())).collect(),
            entities: sources.entities.iter().map(|entity| (entity.id.as_str(), entity)).collect(),
            by_file,
            scores: sources.ranks.iter().map(|rank| (rank.node.as_str(), rank.score)).collect(),
            explanations: sources
                .explanations
                .iter()
                .filter(explained)
                .map(|row| (row.entity_id.as_str(), row.text.as_str()))
                .collect(),
            edges: EdgeIndex::new(sources.edges, params.minimum_confidence),
        }
    }

    /// How central a node is; 0 where the graph does not say.
    pub(crate) fn score(&self, node: &str) -> f64 {
        self.scores.get(node).copied().unwrap_or(0.0)
    }

    /// Text of a file; empty if it was not read.
    pub(crate) fn text(&self, path: &str) -> &'a str {
        self.texts.get(path).copied().unwrap_or("")
    }

    pub(crate) fn entity(&self, id: &str) -> Option<&'a Entity> {
        self.entities.get(id).copied()
    }

    /// All entities of a file, in source order.
    pub(crate) fn entities_of(&self, path: &str) -> &[&'a Entity] {
        self.by_file.get(path).map_or(&[], Vec::as_slice)
    }

    /// Symbols of a file that tell what it is for: types first, then callables, then the rest;
    /// overloads and members of enumerations once.
    pub(crate) fn telling_symbols(&self, path: &str) -> Vec<&'a Entity> {
        let mut symbols: Vec<(u8, &Entity)> = self
            .entities_of(path)
            .iter()
            .filter_map(|entity| Some((telling_order(entity)?, *entity)))
            .collect();
        symbols.sort_by_key(|(order, entity)| (*order, entity.start_byte));
        let mut names = BTreeSet::new();
        symbols.retain(|(_, entity)| names.insert(&entity.qualified_name));
        symbols.into_iter().map(|(_, entity)| entity).collect()
    }

    /// What an entity does, in one line: from its explanation, or from its comment.
    pub(crate) fn gist(&self, entity: &Entity) -> String {
        match self.explanations.get(entity.id.as_str()) {
            Some(text) => gist(text),
            None => comment_gist(&entity.leading_comment),
        }
    }

    /// Sources of the edges of `kind` that lead to `node`.
    pub(crate) fn sources_of(&self, kind: EdgeKind, node: &str) -> Vec<&'a Edge> {
        ordered(self.edges.incoming(kind, node), |edge| &edge.source)
    }

    /// Targets of the edges of `kind` that start from `node`.
    pub(crate) fn targets_of(&self, kind: EdgeKind, node: &str) -> Vec<&'a Edge> {
        ordered(self.edges.outgoing(kind, node), |edge| &edge.target)
    }
}

/// What a generated text says first: the first sentence of its first line, which tells the role. A line
/// too short to tell anything is a heading, and what follows belongs to it.
pub(crate) fn gist(text: &str) -> String {
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default();
    sentence(if first.len() < HEADING { text } else { first })
}

const HEADING: usize = 12;

/// The first sentence of a text, without the label that prompts ask for.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let text = LABELS.iter().find_map(|label| text.strip_prefix(label)).unwrap_or(text);
    first_sentence(text, GIST)
}

/// The first sentence of a comment: of its `@brief` where it has one, else of what stands before the
/// first of the other commands.
fn comment_gist(comment: &str) -> String {
    let brief = BRIEF.iter().find_map(|command| Some(comment.split_once(command)?.1));
    let text = brief.unwrap_or(comment).trim_start();
    let starts_command = |at: &usize| *at == 0 || text[..*at].ends_with(char::is_whitespace);
    let end = text.match_indices(['@', '\\']).map(|(at, _)| at).find(starts_command);
    sentence(&text[..end.unwrap_or(text.len())])
}

const BRIEF: [&str; 2] = ["@brief", "\\brief"];
const LABELS: [&str; 2] = ["Role:", "Workflow:"];

/// Surest and most frequent first; never by rank, which moves with edits elsewhere.
fn ordered<'a>(edges: &[&'a Edge], end: impl Fn(&'a Edge) -> &'a String) -> Vec<&'a Edge> {
    let mut edges = edges.to_vec();
    edges.sort_by(|a, b| {
        let rest = |edge: &'a Edge| (Reverse(edge.count), end(edge));
        b.confidence.total_cmp(&a.confidence).then_with(|| rest(a).cmp(&rest(b)))
    });
    edges
}

fn telling_order(entity: &Entity) -> Option<u8> {
    if entity.level != EntityLevel::Symbol {
        return None;
    }
    let documented = !entity.leading_comment.is_empty();
    match entity.kind {
        EntityKind::Class | EntityKind::Struct | EntityKind::Union => entity.is_definition.then_some(0),
        EntityKind::Concept | EntityKind::Enum => Some(1),
        EntityKind::BuildTarget | EntityKind::BuildFunction => Some(1),
        kind if kind.is_callable() && entity.is_definition => Some(2),
        kind if kind.is_callable() => Some(3),
        EntityKind::Macro | EntityKind::Alias | EntityKind::Variable | EntityKind::BuildOption => {
            documented.then_some(4)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_told_by_its_role() {
        assert_eq!(gist("solves the system\nIterates until it converges."), "solves the system");
        assert_eq!(gist("Role: solves it. More.\nHow: so."), "solves it. More.");
        assert_eq!(gist("Role:\nsolves the system. More."), "solves the system.");
    }

    #[test]
    fn a_comment_is_told_by_its_brief() {
        for (comment, expected) in [
            (
                "@struct randn\n@brief Functor for normal numbers.\n@tparam T type",
                "Functor for normal numbers.",
            ),
            ("Solves the system\n@param b right-hand side", "Solves the system"),
            ("\\brief mail to a@b.ch now\n\\return none", "mail to a@b.ch now"),
            ("@param x nothing else", ""),
        ] {
            assert_eq!(comment_gist(comment), expected);
        }
    }
}
