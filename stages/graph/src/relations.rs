//! The edges between entities that declarations tell: ownership, inheritance, overriding.

use rustc_hash::FxHashMap;

use almanac_tables::{EdgeKind, EntityKind, Reference, ReferenceKind, ReferenceOutcome, Resolution};

use crate::classes::{ClassId, Classes};
use crate::edges::{EdgeSet, How, Node, Spot, confidence_of};
use crate::lookup::Lookup;
use crate::names::tokens;
use crate::outcomes::Outcomes;
use crate::syntax::{TypeText, Written};
use crate::tree::{Family, Tree};
use crate::types::Base;

/// Where an entity starts.
pub(crate) fn spot_of(tree: &Tree<'_>, at: usize) -> Spot {
    Spot { file: tree.facts[at].file, line: tree.entities[at].start_line }
}

/// File, namespace, class, function or section owns an entity.
///
/// A file owns what is not inside another entity (namespaces do not count), a namespace module what
/// is directly in the namespace, a class its members wherever they are written, every other entity
/// what is lexically inside it.
pub(crate) fn add_ownership(tree: &Tree<'_>, classes: &Classes<'_>, edges: &mut EdgeSet) {
    for at in 0..tree.entities.len() {
        let facts = &tree.facts[at];
        let mut add = |owner: Node| {
            edges.add(EdgeKind::Owns, owner, Node::Entity(at), How::EXACT, spot_of(tree, at));
        };
        let file = facts.has_file().then_some(Node::File(facts.file));
        let around = facts.around;
        let in_namespace = around.is_none_or(|outer| tree.entities[outer].kind == EntityKind::Namespace);
        if let Some(class) = classes.of_member[at] {
            let record = around.filter(|&outer| classes.of_record(outer) == Some(class));
            add(Node::Entity(record.unwrap_or(classes.node(class))));
            if in_namespace {
                file.into_iter().for_each(add);
            }
        } else if in_namespace {
            let is_code = facts.family == Family::Native;
            if is_code && around.is_some() && !facts.scope.is_empty() {
                add(Node::Namespace(facts.scope.clone()));
            }
            if tree.entities[at].kind != EntityKind::Namespace || around.is_none() {
                file.into_iter().for_each(add);
            }
        } else if let Some(outer) = around {
            add(Node::Entity(outer));
        }
    }
}

/// A base class as resolved.
pub(crate) struct FoundBase {
    record: usize,
    /// Which of the record's bases.
    nth: usize,
    /// The base, or whether it is of another library.
    target: Result<usize, bool>,
    how: How,
    spot: Spot,
}

/// Resolves the base classes of every record, nearest scope first.
pub(crate) fn find_bases(
    lookup: &Lookup<'_>,
    references: &[Reference],
    outcomes: &mut Outcomes,
) -> Vec<FoundBase> {
    let tree = lookup.tree;
    let mut lines: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for reference in references.iter().filter(|one| one.kind == ReferenceKind::Base) {
        lines.entry(&reference.entity_id).or_default().push(reference.line);
    }
    let mut found = Vec::new();
    for at in tree.code_entities().filter(|&at| tree.entities[at].kind.is_record()) {
        let entity = &tree.entities[at];
        for (nth, written) in entity.bases.iter().enumerate() {
            let text = TypeText::read(written);
            let Written::Named(path) = &text.base else { continue };
            let spot = match lines.get(entity.id.as_str()).and_then(|lines| lines.get(nth)) {
                Some(&line) => Spot { file: tree.facts[at].file, line },
                None => spot_of(tree, at),
            };
            let ty = lookup.type_of(&text, &lookup.place_of(at), 0);
            let (target, how) = match &ty.base {
                Base::Class(one) if lookup.named_record(one) != at => {
                    let resolution = lookup.how_named(at, one.class, path);
                    (Ok(lookup.named_record(one)), How::one_of(1, resolution, confidence_of(resolution)))
                }
                Base::Class(..) => continue,
                base => (Err(matches!(base, Base::External(..))), How::EXACT),
            };
            let outcome = match target {
                Ok(_) => ReferenceOutcome::from_resolution(how.resolution),
                Err(true) => ReferenceOutcome::External,
                Err(false) if matches!(ty.base, Base::Parameter(_)) => ReferenceOutcome::Dynamic,
                Err(false) => ReferenceOutcome::Unresolved,
            };
            outcomes.count(ReferenceKind::Base, outcome);
            found.push(FoundBase { record: at, nth, target, how, spot });
        }
    }
    found
}

impl Lookup<'_> {
    /// Whether a class is found by scope from an entity, or by its name alone.
    fn how_named(&self, from: usize, class: ClassId, path: &crate::syntax::PathText<'_>) -> Resolution {
        let qualified = &self.classes.get(class).qualified;
        let plain = path.plain();
        let is_other = !(qualified == &plain || qualified.ends_with(&format!("::{plain}")));
        let is_in_scope = self
            .scopes
            .chain(self.scopes.inside(self.tree, from))
            .any(|scope| crate::names::join(self.scopes.path(scope), &plain) == *qualified);
        // Another name is an alias, which scopes led to.
        if is_in_scope || is_other { Resolution::Exact } else { Resolution::Name }
    }
}

/// Adds the edges of base classes and lets members be found through them.
pub(crate) fn add_bases<'a>(
    tree: &Tree<'a>,
    bases: &[FoundBase],
    classes: &mut Classes<'a>,
    edges: &mut EdgeSet,
) {
    for base in bases {
        match base.target {
            Ok(target) => {
                let (source, target_node) = (Node::Entity(base.record), Node::Entity(target));
                edges.add(EdgeKind::Inherits, source, target_node, base.how, base.spot);
                let text = TypeText::read(&tree.entities[base.record].bases[base.nth]);
                classes.add_base(base.record, target, text);
            }
            Err(is_external) => classes.add_foreign_base(base.record, is_external),
        }
    }
}

/// Member functions that override a virtual one of a base, by name, parameters and constness.
pub(crate) fn add_overrides(lookup: &Lookup<'_>, edges: &mut EdgeSet) {
    let tree = lookup.tree;
    for (number, class) in lookup.classes.all.iter().enumerate() {
        if class.bases.is_empty() {
            continue;
        }
        let mut names: Vec<&String> = class.members.keys().collect();
        names.sort();
        for name in names {
            for &at in &class.members[name] {
                let is_method = tree.entities[at].kind.is_callable() && lookup.symbols.with(at)[0] == at;
                if is_method && !lookup.is_constructor(at) {
                    add_override(lookup, ClassId(number), name, at, edges);
                }
            }
        }
    }
}

fn add_override(lookup: &Lookup<'_>, class: ClassId, name: &str, at: usize, edges: &mut EdgeSet) {
    let tree = lookup.tree;
    let is_destructor = name.starts_with('~');
    let same = |one: usize, other: usize| {
        let (one, other) = (&tree.facts[one], &tree.facts[other]);
        let types = |facts: &crate::tree::Facts<'_>| -> Vec<Vec<String>> {
            facts.parameters.iter().map(|parameter| parameter.type_tokens.clone()).collect()
        };
        one.is_const == other.is_const && types(one) == types(other)
    };
    let says_override = lookup.symbols.with(at).iter().any(|&one| {
        tokens(&tree.entities[one].signature).iter().any(|word| matches!(*word, "override" | "final"))
    });
    for base in &lookup.classes.with_bases(class)[1..] {
        let wanted = if is_destructor { format!("~{}", lookup.classes.name(*base)) } else { name.to_owned() };
        let Some(members) = lookup.classes.get(*base).members.get(&wanted) else { continue };
        let mut callables: Vec<usize> = members
            .iter()
            .copied()
            .filter(|&one| tree.entities[one].kind.is_callable() && lookup.is_virtual(one))
            .map(|one| lookup.symbols.with(one)[0])
            .collect();
        callables.dedup();
        let exact = callables.iter().copied().find(|&one| is_destructor || same(at, one));
        // Types may be spelt differently; `override` says that one is meant.
        let alike = || {
            let count = tree.facts[at].parameters.len();
            let mut likely =
                callables.iter().copied().filter(|&one| tree.facts[one].parameters.len() == count);
            let first = likely.next().filter(|_| says_override);
            first.filter(|_| likely.next().is_none())
        };
        let (target, how) = match (exact, alike()) {
            (Some(target), _) => (target, How::EXACT),
            (None, Some(target)) => (target, How::one_of(1, Resolution::Exact, 0.9)),
            (None, None) => continue,
        };
        edges.add(EdgeKind::Overrides, Node::Entity(at), Node::Entity(target), how, spot_of(tree, at));
        return;
    }
}

/// Specialisations and the primary template they belong to.
pub(crate) fn add_specialisations(tree: &Tree<'_>, classes: &Classes<'_>, edges: &mut EdgeSet) {
    for class in &classes.all {
        let primary = class.entities[0];
        for &other in &class.entities[1..] {
            if classes.is_specialisation(tree, other) && !classes.is_specialisation(tree, primary) {
                let (source, target) = (Node::Entity(other), Node::Entity(primary));
                edges.add(EdgeKind::Specialises, source, target, How::EXACT, spot_of(tree, other));
            }
        }
    }
}
