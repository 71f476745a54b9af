//! What the parse and graph stages say about a tree, read from a store.

use std::collections::HashMap;
use std::path::Path;

use almanac_artifact::Store;
use almanac_settings::DEFAULT_PROFILE;
use almanac_tables::{Edge, EdgeKind, Entity, EntityKind};

use crate::graph::names;
use crate::graph::truth::Truth;

/// Entities and the edges between them.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) entities: Vec<Entity>,
    /// Calls, launches and expansions of macros.
    pub(crate) edges: Vec<Edge>,
    by_id: HashMap<String, usize>,
    /// Path to entities that can be called, in order.
    callable: HashMap<String, Vec<usize>>,
}

/// What an entity is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    Function,
    Record,
    Enum,
    Lambda,
    Declaration,
    Alias,
    Enumerator,
    Data,
    Macro,
}

impl Found {
    pub(crate) fn read(store: &Path) -> miette::Result<Self> {
        let store = Store::open(store)?;
        let sources = store.current(DEFAULT_PROFILE, "sources", "parse")?;
        let graph = store.current(DEFAULT_PROFILE, "graph", "graph")?;
        let edges: Vec<Edge> = graph.read()?;
        let is_call =
            |edge: &Edge| matches!(edge.kind, EdgeKind::Calls | EdgeKind::Launches | EdgeKind::Expands);
        Ok(Self::new(sources.read()?, edges.into_iter().filter(is_call).collect()))
    }

    pub(crate) fn new(entities: Vec<Entity>, edges: Vec<Edge>) -> Self {
        let mut found = Self { entities, edges, ..Self::default() };
        for (at, entity) in found.entities.iter().enumerate() {
            found.by_id.insert(entity.id.clone(), at);
            if entity.kind.is_callable() {
                found.callable.entry(entity.path.clone()).or_default().push(at);
            }
        }
        found
    }

    pub(crate) fn entity(&self, id: &str) -> Option<&Entity> {
        self.by_id.get(id).map(|&at| &self.entities[at])
    }

    /// The named function a callable stands in: itself, or what is around a lambda.
    pub(crate) fn function_around<'a>(&'a self, entity: &'a Entity) -> &'a Entity {
        if entity.kind != EntityKind::Lambda {
            return entity;
        }
        let around = self.callable.get(&entity.path).into_iter().flatten().map(|&at| &self.entities[at]);
        around
            .filter(|outer| outer.kind != EntityKind::Lambda)
            .filter(|outer| outer.start_byte <= entity.start_byte && entity.end_byte <= outer.end_byte)
            .min_by_key(|outer| outer.end_byte - outer.start_byte)
            .unwrap_or(entity)
    }

    /// Symbols of the truth that an entity stands for.
    pub(crate) fn symbols(&self, entity: &Entity, truth: &Truth) -> Vec<usize> {
        let last = names::last(&comparable_name(entity, truth));
        truth.declared_at(&entity.path, &last, entity.start_line)
    }
}

/// Whether an edge is one of several that a reference may mean.
pub(crate) fn is_ambiguous(edge: &Edge) -> bool {
    edge.candidates > 1
}

/// Qualified name under the rules of [`names`].
pub(crate) fn comparable_name(entity: &Entity, truth: &Truth) -> String {
    match entity.kind {
        EntityKind::TestCase => format!("{}_Test::TestBody", entity.name.replace('.', "_")),
        EntityKind::Enumerator => names::last(&entity.name),
        _ => names::qualified(&entity.qualified_name, &truth.inline_namespaces),
    }
}

/// What an entity is counted as; nothing for what the truth does not list.
pub(crate) fn group(entity: &Entity) -> Option<Group> {
    match entity.kind {
        EntityKind::FunctionDefinition | EntityKind::MethodDefinition | EntityKind::TestCase => {
            Some(Group::Function)
        }
        EntityKind::FunctionDeclaration | EntityKind::MethodDeclaration => Some(Group::Declaration),
        EntityKind::Class | EntityKind::Struct | EntityKind::Union if entity.is_definition => {
            Some(Group::Record)
        }
        EntityKind::Enum if entity.is_definition => Some(Group::Enum),
        EntityKind::Lambda => Some(Group::Lambda),
        EntityKind::Alias => Some(Group::Alias),
        EntityKind::Enumerator => Some(Group::Enumerator),
        EntityKind::Variable | EntityKind::Field => Some(Group::Data),
        EntityKind::Macro => Some(Group::Macro),
        _ => None,
    }
}
