//! What the build decides about code: conditionals of the preprocessor and the options, targets and
//! build files that define the macros they ask for.

use std::collections::BTreeSet;

use almanac_tables::{EdgeKind, Reference, ReferenceKind, Resolution};

use crate::cmake::Build;
use crate::edges::{EdgeSet, How, Node, Spot, confidence_of};
use crate::tree::Tree;

/// Adds an edge from what decides a macro to each entity, or file, whose code depends on it.
pub(crate) fn add_guards(tree: &Tree<'_>, references: &[Reference], build: &Build, edges: &mut EdgeSet) {
    let guards = || references.iter().filter(|reference| reference.kind == ReferenceKind::Guard);
    let is_template = |reference: &&Reference| {
        let directive = reference.written.strip_prefix('#').map_or("", str::trim_start);
        directive.starts_with("cmakedefine")
    };
    let templated: BTreeSet<&str> =
        guards().filter(is_template).map(|reference| reference.name.as_str()).collect();
    for guard in guards() {
        let Some(file) = tree.file(&guard.path) else { continue };
        let node = tree.entity(&guard.entity_id).map_or(Node::File(file), Node::Entity);
        let spot = Spot { file, line: guard.line };
        let name = guard.name.as_str();
        let defined = build.definitions.get(name);
        // An option of the same name that nobody hands to the compiler may be meant all the same.
        let is_passed = defined.is_some() || templated.contains(name);
        let resolution = if is_passed { Resolution::Exact } else { Resolution::Name };
        let mut add = |source: Node, how: How| {
            edges.add_labelled(EdgeKind::Configures, source, node.clone(), how, spot, &guard.written);
        };
        let options = build.options.get(name).map_or(&[][..], Vec::as_slice);
        for &option in options {
            add(Node::Entity(option), How::one_of(1, resolution, confidence_of(resolution)));
        }
        for (source, _, how) in defined.into_iter().flatten() {
            if !matches!(source, Node::Entity(at) if options.contains(at)) {
                add(source.clone(), *how);
            }
        }
    }
}
