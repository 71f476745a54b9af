//! The edges of the graph by kind and end.

use std::collections::BTreeMap;

use crate::{Edge, EdgeKind};

type Ends<'a> = BTreeMap<(EdgeKind, &'a str), Vec<&'a Edge>>;

/// Edges that are certain enough, by kind and end.
#[derive(Debug, Default)]
pub struct EdgeIndex<'a> {
    outgoing: Ends<'a>,
    incoming: Ends<'a>,
}

impl<'a> EdgeIndex<'a> {
    /// Indexes the edges of at least that confidence.
    pub fn new(edges: &'a [Edge], minimum_confidence: f32) -> Self {
        let mut index = Self::default();
        for edge in edges.iter().filter(|edge| edge.confidence >= minimum_confidence) {
            index.outgoing.entry((edge.kind, edge.source.as_str())).or_default().push(edge);
            index.incoming.entry((edge.kind, edge.target.as_str())).or_default().push(edge);
        }
        index
    }

    /// Edges of `kind` that start from `node`, in table order.
    pub fn outgoing<'b>(&'b self, kind: EdgeKind, node: &'b str) -> &'b [&'a Edge] {
        edges(&self.outgoing, kind, node)
    }

    /// Edges of `kind` that lead to `node`, in table order.
    pub fn incoming<'b>(&'b self, kind: EdgeKind, node: &'b str) -> &'b [&'a Edge] {
        edges(&self.incoming, kind, node)
    }
}

fn edges<'a, 'b>(
    ends: &'b BTreeMap<(EdgeKind, &'b str), Vec<&'a Edge>>,
    kind: EdgeKind,
    node: &'b str,
) -> &'b [&'a Edge] {
    ends.get(&(kind, node)).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_found_by_kind_and_end_if_they_are_certain_enough() {
        let edge = |kind, source: &str, target: &str, confidence| Edge {
            kind,
            source: source.into(),
            target: target.into(),
            confidence,
            ..Edge::default()
        };
        let edges = [
            edge(EdgeKind::Calls, "f", "g", 1.0),
            edge(EdgeKind::Calls, "f", "h", 0.5),
            edge(EdgeKind::Calls, "f", "i", 0.4),
            edge(EdgeKind::Includes, "f", "g", 1.0),
        ];
        let index = EdgeIndex::new(&edges, 0.5);
        assert_eq!(index.outgoing(EdgeKind::Calls, "f"), [&edges[0], &edges[1]]);
        assert_eq!(index.incoming(EdgeKind::Calls, "g"), [&edges[0]]);
        assert!(index.incoming(EdgeKind::Calls, "f").is_empty());
    }
}
