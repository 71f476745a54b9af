//! Targets: what they are made from, link, are called with, and which of them are tests.

use std::collections::BTreeSet;

use almanac_tables::{EdgeKind, EntityKind};

use super::words::{Word, is_open, items};
use super::{Build, Follower, Link, Place, Step, Target};
use crate::edges::{How, Node, Spot};

/// Words between the sources of a target.
const KEYWORDS: &[&str] = &[
    "PUBLIC",
    "PRIVATE",
    "INTERFACE",
    "STATIC",
    "SHARED",
    "MODULE",
    "OBJECT",
    "WIN32",
    "MACOSX_BUNDLE",
    "EXCLUDE_FROM_ALL",
    "LINK_PUBLIC",
    "LINK_PRIVATE",
    "LINK_INTERFACE_LIBRARIES",
    "debug",
    "optimized",
    "general",
];

impl<'a> Follower<'a, '_> {
    /// Follows a command about targets or definitions.
    pub(super) fn make(&mut self, step: &Step<'a>, list: &[Word<'_>], place: &Place) {
        let given = self.arguments(list);
        let Some((first, rest)) = given.split_first() else { return };
        let spot = self.spot(place, step.line);
        match step.name.as_str() {
            "add_library"
            | "add_executable"
            | "cuda_add_library"
            | "cuda_add_executable"
            | "hip_add_library"
            | "hip_add_executable"
            | "pybind11_add_module"
            | "add_custom_target" => {
                self.add_target(step, first, rest, place);
            }
            "target_sources" => {
                let targets = self.made(first);
                self.add_sources(first, &targets, rest, spot, place);
            }
            "target_link_libraries" | "add_dependencies" => {
                for from in self.made(first) {
                    for to in rest.iter().filter(|word| !KEYWORDS.contains(&word.as_str())) {
                        let to = to.clone();
                        self.links.push(Link { from: from.clone(), to, spot, how: place.how });
                    }
                }
            }
            "add_test"
            | "gtest_discover_tests"
            | "catch_discover_tests"
            | "gtest_add_tests"
            | "doctest_discover_tests" => self.add_test(&given),
            "target_compile_definitions" => {
                let nodes: Vec<Node> = self.made(first).into_iter().map(|target| target.node).collect();
                self.define(&nodes, rest, spot, place);
            }
            "add_compile_definitions" | "add_definitions" => {
                self.define(&[Node::File(spot.file)], &given, spot, place);
            }
            "configure_file" => {
                if let Some(template) = self.file_named(first, place) {
                    let (from, to) = (Node::File(spot.file), Node::File(template));
                    self.edges.add_labelled(
                        EdgeKind::Configures,
                        from,
                        to,
                        place.how,
                        spot,
                        "configure_file",
                    );
                }
            }
            _ => {}
        }
    }

    /// The targets of a name that were made so far.
    fn made(&self, name: &str) -> Vec<Target> {
        let name = self.aliases.get(name).map_or(name, String::as_str);
        self.targets.get(name).cloned().unwrap_or_default()
    }

    fn add_target(&mut self, step: &Step<'_>, name: &str, rest: &[String], place: &Place) {
        if is_open(name) || rest.iter().any(|word| word == "IMPORTED") {
            return;
        }
        let spot = self.spot(place, step.line);
        let is_own = |at: &usize| {
            let entity = &self.tree.entities[*at];
            entity.kind == EntityKind::BuildTarget && entity.name == name
        };
        let target = match step.entity.filter(is_own) {
            Some(at) => Target { node: Node::Entity(at), label: String::new() },
            None => Target { node: Node::File(spot.file), label: name.to_owned() },
        };
        if let [alias, original, ..] = rest
            && alias == "ALIAS"
        {
            self.aliases.insert(name.to_owned(), original.clone());
            let link = Link { from: target, to: original.clone(), spot, how: place.how };
            self.links.push(link);
            return;
        }
        if matches!(target.node, Node::Entity(_)) {
            self.configure(&target.node, place);
        }
        let known = self.targets.entry(name.to_owned()).or_default();
        if !known.iter().any(|one| one.node == target.node) {
            known.push(target.clone());
        }
        if step.name != "add_custom_target" {
            self.add_sources(name, &[target], rest, spot, place);
        }
    }

    fn add_sources(&mut self, name: &str, targets: &[Target], given: &[String], spot: Spot, place: &Place) {
        let condition = self.condition_text(place);
        let words = given.iter().filter(|word| !KEYWORDS.contains(&word.as_str()));
        let found: BTreeSet<usize> =
            words.flat_map(|word| items(word)).filter_map(|item| self.file_named(item, place)).collect();
        for file in found {
            for target in targets {
                let label = if target.label.is_empty() { &condition } else { &target.label };
                let (from, to) = (target.node.clone(), Node::File(file));
                self.edges.add_labelled(EdgeKind::Builds, from, to, place.how, spot, label);
            }
            // A target stands for its sources where it has an entity and is made here itself.
            let is_told = targets.iter().any(|target| {
                matches!(target.node, Node::Entity(at) if self.tree.entities[at].start_line == spot.line
                    && self.tree.facts[at].file == spot.file)
            });
            if !is_told {
                self.configure(&Node::File(file), place);
            }
            self.sources.entry(name.to_owned()).or_default().insert(file);
        }
    }

    /// Marks the targets that a test runs.
    fn add_test(&mut self, given: &[String]) {
        for word in given {
            let program =
                word.strip_prefix("$<TARGET_FILE:").map_or(word.as_str(), |rest| rest.trim_end_matches('>'));
            let name = self.aliases.get(program).map_or(program, String::as_str);
            if self.targets.contains_key(name) {
                self.tested.insert(name.to_owned());
            }
        }
    }

    /// Notes the macros that a command hands to the compiler, and what decides that it does.
    fn define(&mut self, nodes: &[Node], given: &[String], spot: Spot, place: &Place) {
        for word in given.iter().filter(|word| !KEYWORDS.contains(&word.as_str())) {
            // `$<CONDITION:NAME=1>`.
            let word = match word.strip_prefix("$<") {
                Some(inner) => inner.trim_end_matches('>').rsplit(':').next().unwrap_or(""),
                None => word,
            };
            let name = word.strip_prefix("-D").unwrap_or(word).split('=').next().unwrap_or("");
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(is_name) {
                continue;
            }
            let conditions = &self.conditions[place.conditions.min(self.conditions.len())..];
            let options = conditions.iter().flat_map(|condition| &condition.options);
            let deciding = options.filter_map(|option| self.build.options.get(option)).flatten();
            let mut found: Vec<Node> = deciding.map(|&at| Node::Entity(at)).collect();
            found.extend(nodes.iter().cloned());
            let defined = self.build.definitions.entry(name.to_owned()).or_default();
            for node in found {
                if !defined.iter().any(|(known, ..)| *known == node) {
                    defined.push((node, spot, place.how));
                }
            }
        }
    }

    /// Options of the conditions around decide about `node`.
    pub(super) fn configure(&mut self, node: &Node, place: &Place) {
        for condition in &self.conditions[place.conditions.min(self.conditions.len())..] {
            for option in &condition.options {
                let Some(found) = self.build.options.get(option) else { continue };
                for &at in found {
                    let (spot, text) = (condition.spot, condition.text.as_str());
                    let (from, how) = (Node::Entity(at), place.how);
                    self.edges.add_labelled(EdgeKind::Configures, from, node.clone(), how, spot, text);
                }
            }
        }
    }

    /// The condition right around, if it is of this file.
    pub(super) fn condition_text(&self, place: &Place) -> String {
        let own = self.conditions.get(place.conditions..).and_then(<[_]>::last);
        own.map_or_else(String::new, |condition| condition.text.clone())
    }

    /// Adds what only the end tells: links, which may be written before their targets.
    pub(super) fn finish(mut self) -> Build {
        for Link { from, to, spot, how } in std::mem::take(&mut self.links) {
            let found: Vec<Target> = self.made(&to);
            let is_other = |target: &&Target| target.node != from.node && target.label.is_empty();
            let found: Vec<&Target> = found.iter().filter(is_other).collect();
            let how = if found.len() > 1 {
                How::one_of(found.len(), almanac_tables::Resolution::Exact, 1.0)
            } else {
                how
            };
            for target in found {
                let (source, node) = (from.node.clone(), target.node.clone());
                self.edges.add_labelled(EdgeKind::Builds, source, node, how, spot, &from.label);
            }
        }
        let tested = self.tested.iter().filter_map(|name| self.sources.get(name));
        self.build.tested = tested.flatten().copied().collect();
        self.build
    }
}
