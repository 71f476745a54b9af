//! Collecting edges: one per kind, source and target, with the first reference behind it, whatever
//! the order they are found in.

use rustc_hash::FxHashMap;

use almanac_tables::{Edge, EdgeKind, Resolution, file_node, folder_node, namespace_node};

use crate::tree::Tree;

/// Confidence in a pair of files or names that only nearness tells.
pub(crate) const NEAR: f32 = 0.8;

/// Confidence in a single target, by how it was found.
pub(crate) fn confidence_of(resolution: Resolution) -> f32 {
    match resolution {
        Resolution::Exact => 1.0,
        Resolution::Receiver => 0.95,
        Resolution::Overloads => 0.9,
        Resolution::Name => 0.5,
    }
}

/// A node of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Entity(usize),
    File(usize),
    Folder(String),
    Namespace(String),
}

/// How a target was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct How {
    pub(crate) resolution: Resolution,
    pub(crate) confidence: f32,
    /// Targets the reference may mean.
    pub(crate) candidates: u32,
}

impl How {
    pub(crate) const EXACT: Self = Self { resolution: Resolution::Exact, confidence: 1.0, candidates: 1 };

    /// One of several targets that were found the same way.
    pub(crate) fn one_of(candidates: usize, resolution: Resolution, confidence: f32) -> Self {
        let is_sure = candidates < 2;
        let resolution = match resolution {
            Resolution::Name => Resolution::Name,
            _ if is_sure => resolution,
            _ => Resolution::Overloads,
        };
        let confidence = if is_sure { confidence } else { confidence / candidates as f32 };
        Self { resolution, confidence, candidates: candidates as u32 }
    }
}

/// Where the reference behind an edge stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) file: usize,
    pub(crate) line: u32,
}

#[derive(Debug)]
struct Evidence {
    how: How,
    spot: Spot,
    count: u32,
    label: String,
}

/// Edges found so far.
#[derive(Debug, Default)]
pub(crate) struct EdgeSet {
    edges: FxHashMap<(EdgeKind, Node, Node), Evidence>,
}

impl EdgeSet {
    /// Adds one reference; the best way an edge was found wins and references are counted.
    pub(crate) fn add(&mut self, kind: EdgeKind, source: Node, target: Node, how: How, spot: Spot) {
        self.add_labelled(kind, source, target, how, spot, "");
    }

    /// The same with a label; that of the first reference is kept.
    pub(crate) fn add_labelled(
        &mut self,
        kind: EdgeKind,
        source: Node,
        target: Node,
        how: How,
        spot: Spot,
        label: &str,
    ) {
        let new = || Evidence { how, spot, count: 0, label: label.to_owned() };
        let entry = self.edges.entry((kind, source, target)).or_insert_with(new);
        entry.count += 1;
        let rank = |how: &How| (how.resolution, how.candidates);
        if rank(&how) < rank(&entry.how) {
            entry.how = how;
        } else if rank(&how) == rank(&entry.how) {
            entry.how.confidence = entry.how.confidence.max(how.confidence);
        }
        if spot < entry.spot || (spot == entry.spot && !label.is_empty() && entry.label.is_empty()) {
            entry.spot = spot;
            entry.label = label.to_owned();
        }
    }

    /// The edges of a kind found so far, in no order.
    pub(crate) fn of_kind(&self, kind: EdgeKind) -> impl Iterator<Item = (&Node, &Node, How, Spot)> {
        let wanted = self.edges.iter().filter(move |((one, ..), _)| *one == kind);
        wanted.map(|((_, source, target), evidence)| (source, target, evidence.how, evidence.spot))
    }

    /// The edges in table order.
    pub(crate) fn into_rows(self, tree: &Tree<'_>) -> Vec<Edge> {
        let name = |node: &Node| match node {
            Node::Entity(at) => tree.entities[*at].id.clone(),
            Node::File(at) => file_node(&tree.files[*at].path),
            Node::Folder(path) => folder_node(path),
            Node::Namespace(path) => namespace_node(path),
        };
        let mut rows: Vec<Edge> = self
            .edges
            .into_iter()
            .map(|((kind, source, target), Evidence { how, spot, count, label })| Edge {
                kind,
                source: name(&source),
                target: name(&target),
                resolution: how.resolution,
                confidence: how.confidence,
                candidates: how.candidates,
                path: tree.files.get(spot.file).map(|file| file.path.clone()).unwrap_or_default(),
                line: spot.line,
                count,
                label,
            })
            .collect();
        // No two edges have the same kind and ends.
        rows.sort_unstable_by(|one, other| {
            (one.kind, &one.source, &one.target).cmp(&(other.kind, &other.source, &other.target))
        });
        rows
    }
}
