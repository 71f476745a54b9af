//! The edges between entities: ownership, inheritance and calls.

use almanac_tables::{EdgeKind, EntityKind, Reference, ReferenceKind, Resolution};
use almanac_tables::{file_node, namespace_node};
use rayon::prelude::*;

use crate::TargetCounts;
use crate::calls::{Found, Outcome};
use crate::classes::Classes;
use crate::edges::{EXACT, EdgeSet, confidence_of};
use crate::lookup::{Lookup, Place};
use crate::names::{join, scopes_outward, type_name};
use crate::tree::{Family, Tree};
use crate::types::TypeAnswer;

/// File, namespace, class, function or section owns an entity.
///
/// A file owns what is not inside another entity (namespaces do not count), a namespace module what
/// is directly in the namespace, a class its members wherever they are written, every other entity
/// what is lexically inside it.
pub(crate) fn add_ownership(tree: &Tree<'_>, classes: &Classes, edges: &mut EdgeSet) {
    for at in 0..tree.entities.len() {
        let entity = &tree.entities[at];
        let mut add = |owner: &str| {
            edges.add(EdgeKind::Owns, owner, &entity.id, Resolution::Exact, EXACT);
        };
        let around = tree.facts[at].around;
        let in_namespace = around.is_none_or(|outer| tree.entities[outer].kind == EntityKind::Namespace);
        if let Some(class) = classes.of_member[at] {
            let record = around.filter(|&outer| classes.of_record(outer) == Some(class));
            add(&tree.entities[record.unwrap_or(classes.node(class))].id);
            if in_namespace {
                add(&file_node(&entity.path));
            }
        } else if in_namespace {
            let scope = tree.facts[at].scope.as_str();
            let is_code = tree.facts[at].family == Family::Native;
            let is_namespaced = is_code && around.is_some() && !scope.is_empty();
            if is_namespaced {
                add(&namespace_node(scope));
            }
            if entity.kind != EntityKind::Namespace || around.is_none() {
                add(&file_node(&entity.path));
            }
        } else if let Some(outer) = around {
            add(&tree.entities[outer].id);
        }
    }
}

/// A base class as resolved: record, base and how it was found.
pub(crate) type Base = (usize, usize, Resolution);

/// Resolves the base classes of every record, nearest scope first.
pub(crate) fn find_bases(lookup: &Lookup<'_>, counts: &mut TargetCounts) -> Vec<Base> {
    let tree = lookup.tree;
    let mut bases = Vec::new();
    for at in tree.code_entities().filter(|&at| tree.entities[at].kind.is_record()) {
        let facts = &tree.facts[at];
        let scope = facts.qualified();
        let place = Place { scope: &scope, file: facts.file, entity: Some(at) };
        for written in &tree.entities[at].bases {
            let Some(name) = type_name(written) else { continue };
            match lookup.resolve_type(written, place) {
                TypeAnswer::Class(class) if lookup.classes.node(class) != at => {
                    let qualified = &lookup.classes.get(class).qualified;
                    let is_in_scope =
                        scopes_outward(&scope).any(|outer| join(outer, &name.path) == *qualified);
                    let is_named = qualified.ends_with(&name.path);
                    let resolution = match (is_in_scope, is_named) {
                        (true, _) => Resolution::Exact,
                        (false, true) => Resolution::Unique,
                        (false, false) => Resolution::Scoped,
                    };
                    counts.add(resolution);
                    bases.push((at, lookup.classes.node(class), resolution));
                }
                TypeAnswer::External => counts.external += 1,
                _ => counts.unresolved += 1,
            }
        }
    }
    bases
}

/// Adds the edges of base classes and lets members be found through them.
pub(crate) fn add_bases(tree: &Tree<'_>, bases: &[Base], classes: &mut Classes, edges: &mut EdgeSet) {
    for &(record, base, resolution) in bases {
        let (source, target) = (&tree.entities[record].id, &tree.entities[base].id);
        edges.add(EdgeKind::Inherits, source, target, resolution, confidence_of(resolution));
        classes.add_base(record, base);
    }
}

/// Resolves calls and launches and adds their edges.
pub(crate) fn add_calls(
    lookup: &Lookup<'_>,
    references: &[Reference],
    edges: &mut EdgeSet,
    counts: &mut TargetCounts,
) {
    let is_call = |kind| matches!(kind, ReferenceKind::Call | ReferenceKind::Launch);
    let calls: Vec<&Reference> = references.iter().filter(|reference| is_call(reference.kind)).collect();
    let outcomes: Vec<Outcome> = calls.par_iter().map(|reference| lookup.resolve_call(reference)).collect();
    for (reference, outcome) in calls.into_iter().zip(outcomes) {
        match outcome {
            Outcome::External => counts.external += 1,
            Outcome::Unresolved => counts.unresolved += 1,
            Outcome::Found(found) => add_call(lookup, reference, &found, edges, counts),
        }
    }
}

fn add_call(
    lookup: &Lookup<'_>,
    reference: &Reference,
    found: &Found,
    edges: &mut EdgeSet,
    counts: &mut TargetCounts,
) {
    let candidates = found.entities.len();
    if candidates > lookup.params.max_candidates as usize {
        counts.too_many += 1;
        return;
    }
    let (resolution, confidence) = match candidates {
        1 => (found.resolution, found.confidence),
        several => (Resolution::Ambiguous, 1.0 / several as f32),
    };
    counts.add(resolution);
    let source = match lookup.tree.entity(&reference.entity_id) {
        Some(_) => reference.entity_id.clone(),
        None => file_node(&reference.path),
    };
    for &target in &found.entities {
        let target = &lookup.tree.entities[target].id;
        edges.add(EdgeKind::Calls, &source, target, resolution, confidence);
    }
}
