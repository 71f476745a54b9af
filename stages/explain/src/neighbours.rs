//! The graph around an entity, as names for its prompt.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use almanac_tables::{ArtifactRole, Edge, EdgeIndex, EdgeKind, Entity, file_node};

/// Edges by their ends, and entities by their ids.
pub(crate) struct Neighbours<'a> {
    entities: BTreeMap<&'a str, &'a Entity>,
    edges: EdgeIndex<'a>,
}

impl<'a> Neighbours<'a> {
    pub(crate) fn new(entities: &'a [Entity], edges: &'a [Edge], minimum_confidence: f32) -> Self {
        let entities = entities.iter().map(|entity| (entity.id.as_str(), entity)).collect();
        Self { entities, edges: EdgeIndex::new(edges, minimum_confidence) }
    }

    /// Declarations that `definition` implements.
    pub(crate) fn declarations<'b>(&'b self, definition: &'b str) -> &'b [&'a Edge] {
        self.edges.outgoing(EdgeKind::Defines, definition)
    }

    /// Callables that call `entity` or its declaration: those of the product, then those of tests and
    /// the tests that use it through helpers.
    pub(crate) fn callers(&self, entity: &Entity) -> (Vec<String>, Vec<String>) {
        let declarations = self.declarations(&entity.id).iter().map(|edge| edge.target.as_str());
        let nodes: Vec<&str> = std::iter::once(entity.id.as_str()).chain(declarations).collect();
        let edges = |kind| nodes.iter().flat_map(move |id| self.edges.incoming(kind, id).iter().copied());
        let (mut tests, callers): (Vec<&Edge>, Vec<&Edge>) = edges(EdgeKind::Calls).partition(|edge| {
            self.entities.get(edge.source.as_str()).is_some_and(|e| e.role == ArtifactRole::Test)
        });
        tests.extend(edges(EdgeKind::Tests));
        let names = |edges| self.names(entity, edges, |edge: &'a Edge| edge.source.as_str());
        (names(callers), names(tests))
    }

    /// Callables that `entity` calls.
    pub(crate) fn callees(&self, entity: &Entity) -> Vec<String> {
        let edges = self.edges.outgoing(EdgeKind::Calls, &entity.id).to_vec();
        self.names(entity, edges, |edge| edge.target.as_str())
    }

    /// Classes that derive from `entity`.
    pub(crate) fn derived(&self, entity: &Entity) -> Vec<String> {
        let edges = self.edges.incoming(EdgeKind::Inherits, &entity.id).to_vec();
        self.names(entity, edges, |edge| edge.source.as_str())
    }

    /// Files of the tree that the entity's file includes.
    pub(crate) fn includes(&self, entity: &Entity) -> Vec<String> {
        let node = file_node(&entity.path);
        let includes = self.edges.outgoing(EdgeKind::Includes, &node).iter();
        let mut paths: Vec<String> =
            includes.filter_map(|edge| edge.target.strip_prefix("file:")).map(str::to_owned).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// Qualified names at the far end, surest and most frequent first; never the entity's own.
    fn names(
        &self,
        entity: &Entity,
        mut edges: Vec<&'a Edge>,
        end: impl Fn(&'a Edge) -> &'a str,
    ) -> Vec<String> {
        let name = |edge| self.entities.get(end(edge)).map(|entity| entity.qualified_name.as_str());
        edges.sort_by(|a, b| {
            let order = |edge: &Edge| Reverse(edge.count);
            b.confidence.total_cmp(&a.confidence).then(order(a).cmp(&order(b))).then(name(a).cmp(&name(b)))
        });
        let mut seen = BTreeSet::from([entity.qualified_name.as_str()]);
        let names = edges.into_iter().filter_map(name);
        names.filter(|name| seen.insert(name)).map(str::to_owned).collect()
    }
}
