//! C and C++ (CUDA and HIP included): a syntax tree to entities and references.
//!
//! Declarations are walked first, then the bodies found on the way, so that a body sees the fields
//! of its class wherever in the file they stand. Names and texts are taken from the file; shapes
//! from the tree, which was made of the masked source.

mod bodies;
mod calls;
mod comments;
mod declarations;
mod declarator;
mod functions;
mod generated;
mod known;
mod locals;
mod macros;
mod members;
mod records;
mod scope;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use almanac_language::{CppTree, Grammar, Limits, MacroTable, Stop, parse_cpp};
use almanac_tables::{Entity, EntityKind, Language};
use tree_sitter::Node;

use crate::cpp::bodies::Body;
use crate::cpp::comments::Comments;
use crate::cpp::known::Known;
use crate::cpp::macros::MacroDefinition;
use crate::cpp::scope::Scope;
use crate::names::one_line;
use crate::rows::{Rows, Source};

/// Reads a C-family file; gives the bytes the grammar could not place.
pub(crate) fn read(source: &Source<'_>, limits: Limits, rows: &mut Rows) -> Result<u64, Stop> {
    let table = MacroTable::builtin();
    let grammar = if source.class.language == Language::C { Grammar::C } else { Grammar::Cpp };
    let parsed = parse_cpp(grammar, source.text, table, limits)?;
    let mut extractor = Extractor::new(source, &parsed, table);
    extractor.run(Scope::default());
    extractor.expand_generated(limits);
    rows.entities.append(&mut extractor.rows.entities);
    rows.references.append(&mut extractor.rows.references);
    Ok(parsed.error_bytes)
}

/// Walks one tree.
struct Extractor<'a> {
    source: &'a Source<'a>,
    /// The masked source, of the text's length.
    seen: &'a str,
    tree: &'a CppTree,
    table: &'static MacroTable,
    launches: BTreeSet<usize>,
    comments: Comments,
    known: Known,
    rows: Rows,
    /// Bodies still to be walked.
    bodies: Vec<Body<'a>>,
    /// Types of fields: class (qualified) to field to type.
    fields: BTreeMap<String, BTreeMap<String, String>>,
    macros: Vec<MacroDefinition>,
    /// Calls of the file's own macros that stand for declarations.
    generated: Vec<(usize, usize)>,
    /// Scopes by the bytes they span, for what is expanded later.
    scopes: Vec<(usize, usize, Scope)>,
}

impl<'a> Extractor<'a> {
    fn new(source: &'a Source<'a>, tree: &'a CppTree, table: &'static MacroTable) -> Self {
        Self {
            source,
            seen: str::from_utf8(&tree.source).unwrap_or(source.text),
            tree,
            table,
            launches: tree.launches.iter().copied().collect(),
            comments: Comments::new(source.text),
            known: Known::of(tree.tree.root_node(), source.text),
            rows: Rows::default(),
            bodies: Vec::new(),
            fields: BTreeMap::new(),
            macros: Vec::new(),
            generated: tree.generated.clone(),
            scopes: Vec::new(),
        }
    }

    fn run(&mut self, scope: Scope) {
        let root = self.tree.tree.root_node();
        self.children(root, &scope, 0);
        let mut next = 0;
        while next < self.bodies.len() {
            let body = self.bodies[next].clone();
            self.walk_body(&body);
            next += 1;
        }
    }

    /// Text of a node in the file.
    fn text(&self, node: Node<'_>) -> &'a str {
        self.source.slice(node.start_byte(), node.end_byte())
    }

    /// Masked text on one line.
    fn seen_line(&self, start: usize, end: usize) -> String {
        one_line(self.seen.get(start..end).unwrap_or(""))
    }

    /// An entity in a scope, over a byte range and with the comment before it.
    fn entity(&self, kind: EntityKind, name: &str, range: (usize, usize), scope: &Scope) -> Entity {
        let (start, end) = (self.first_byte(range.0), range.1);
        let mut entity = self.source.entity(kind, name, start, end);
        entity.qualified_name = scope.qualify(name);
        entity.parent = scope.qualified();
        entity.class_name = scope.class_name();
        entity.namespace = scope.namespace();
        entity.leading_comment = self.comments.before(self.source.text, start);
        entity
    }

    /// First byte of a declaration with the annotation macros that were masked before it.
    fn first_byte(&self, start: usize) -> usize {
        let masked = self.seen.get(..start).unwrap_or("").trim_end().len();
        let after_generated =
            self.tree.generated.iter().map(|(_, end)| *end).filter(|end| *end <= start).max();
        let from = masked.max(after_generated.unwrap_or(0));
        let between = self.source.slice(from, start);
        // A conditional that was flattened is no annotation.
        if between.lines().any(|line| line.trim_start().starts_with('#')) {
            return start;
        }
        from + (between.len() - between.trim_start().len())
    }
}

/// Children of a node that have a name in the grammar.
fn named<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

#[cfg(test)]
mod tests;
