//! Collecting edges: one per kind, source and target, whatever the order they are found in.

use std::collections::BTreeMap;

use almanac_tables::{Edge, EdgeKind, Resolution};

/// Confidence of a target found through names, paths or one exact rule.
pub(crate) const EXACT: f32 = 1.0;
/// Confidence of a target found by scope, receiver or reachability.
pub(crate) const SCOPED: f32 = 0.95;
/// Confidence of the only target of that name.
pub(crate) const UNIQUE: f32 = 0.8;
/// Confidence of the only member of that name when the receiver's type is unknown.
pub(crate) const UNIQUE_MEMBER: f32 = 0.5;

/// Confidence that goes with an unambiguous resolution.
pub(crate) fn confidence_of(resolution: Resolution) -> f32 {
    match resolution {
        Resolution::Exact => EXACT,
        Resolution::Scoped => SCOPED,
        Resolution::Unique => UNIQUE,
        Resolution::Ambiguous => 0.0,
    }
}

/// Edges found so far.
#[derive(Debug, Default)]
pub(crate) struct EdgeSet {
    edges: BTreeMap<(EdgeKind, String, String), (Resolution, f32, u32)>,
}

impl EdgeSet {
    /// Adds one reference; the best resolution of an edge wins and references are counted.
    pub(crate) fn add(
        &mut self,
        kind: EdgeKind,
        source: &str,
        target: &str,
        resolution: Resolution,
        confidence: f32,
    ) {
        let key = (kind, source.to_owned(), target.to_owned());
        let entry = self.edges.entry(key).or_insert((resolution, confidence, 0));
        entry.0 = entry.0.min(resolution);
        entry.1 = entry.1.max(confidence);
        entry.2 += 1;
    }

    /// The edges in table order.
    pub(crate) fn into_rows(self) -> Vec<Edge> {
        self.edges
            .into_iter()
            .map(|((kind, source, target), (resolution, confidence, count))| Edge {
                kind,
                source,
                target,
                resolution,
                confidence,
                count,
            })
            .collect()
    }
}
