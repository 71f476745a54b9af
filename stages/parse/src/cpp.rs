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
mod directives;
mod expressions;
mod functions;
mod generated;
mod locals;
mod macro_bodies;
mod macros;
mod members;
mod namespaces;
mod qualifiers;
mod records;
mod scope;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use almanac_language::{CppSource, CppTree, Define, Grammar, KnownNames, MacroTable, Stop, Watch};
use almanac_tables::{Entity, EntityKind, Language};
use tree_sitter::{Node, TreeCursor};

use crate::Surroundings;
use crate::cpp::bodies::Body;
use crate::cpp::comments::Comments;
use crate::cpp::generated::Expansion;
use crate::cpp::scope::Scope;
use crate::names::one_line;
use crate::rows::{Rows, Source};

/// Reads a C-family file; gives the bytes the grammar could not place. On `Err` no row was pushed.
pub(crate) fn read(
    source: &Source<'_>,
    surroundings: &Surroundings,
    watch: &Watch<'_>,
    rows: &mut Rows,
) -> Result<u64, Stop> {
    let grammar = if source.class.language == Language::C { Grammar::C } else { Grammar::Cpp };
    let code = CppSource::new(source.text, &surroundings.macros);
    let defines = code.defines();
    let parsed = code.parse(grammar, 0, watch)?;
    let later = (1..code.rounds())
        .map(|round| Ok((round, code.parse(grammar, round, watch)?)))
        .collect::<Result<Vec<(usize, CppTree)>, Stop>>()?;
    let mut found = Rows::default();
    for (at, scope) in Scope::all_around(surroundings.around(source.path)).into_iter().enumerate() {
        let mut extractor = Extractor::new(source, &code, &parsed, &defines, watch);
        if at == 0 {
            extractor.directives();
        }
        extractor.run(scope.clone());
        extractor.expand_generated();
        for (round, parsed) in &later {
            let mut other = Extractor::new(source, &code, parsed, &defines, watch);
            other.run(scope.clone());
            other.expand_generated();
            extractor.rows.adopt(other.rows, &code.fresh(*round));
        }
        extractor.guards();
        if at == 0 {
            extractor.macro_bodies();
        }
        found.append(extractor.rows);
    }
    // The walks stop where the clock runs out; what they have by then is not the file.
    watch.check()?;
    rows.append(found);
    Ok(parsed.score.error_bytes)
}

/// Walks one tree.
struct Extractor<'a> {
    source: &'a Source<'a>,
    /// The masked source, of the text's length.
    seen: &'a str,
    /// The text without directives and annotations, of the same length.
    clean: &'a str,
    tree: &'a CppTree,
    code: &'a CppSource<'a>,
    table: &'static MacroTable,
    watch: &'a Watch<'a>,
    launches: BTreeSet<usize>,
    comments: Comments<'a>,
    known: KnownNames,
    rows: Rows,
    /// Reused by walks: a new one for each node would cost as much as the node.
    cursor: TreeCursor<'a>,
    /// Bodies still to be walked.
    bodies: Vec<Body<'a>>,
    /// Types of fields: class (qualified) to field to type.
    fields: BTreeMap<String, BTreeMap<String, String>>,
    /// Macros this file defines, in order.
    defines: &'a [Define],
    /// Calls of the file's own macros that stand for declarations.
    generated: Vec<(usize, usize)>,
    /// Scopes by the bytes they span, for what is expanded later.
    scopes: Vec<(usize, usize, Scope)>,
    /// Scope of the file.
    top: Scope,
    expansion: Expansion,
}

impl<'a> Extractor<'a> {
    fn new(
        source: &'a Source<'a>,
        code: &'a CppSource<'a>,
        tree: &'a CppTree,
        defines: &'a [Define],
        watch: &'a Watch<'a>,
    ) -> Self {
        Self {
            source,
            seen: str::from_utf8(&tree.masked.bytes).unwrap_or(source.text),
            clean: str::from_utf8(&tree.masked.text).unwrap_or(source.text),
            tree,
            code,
            table: MacroTable::builtin(),
            watch,
            launches: tree.masked.launches.iter().copied().collect(),
            comments: Comments::new(code.comments()),
            known: code.known_names(),
            rows: Rows::default(),
            cursor: tree.tree.walk(),
            bodies: Vec::new(),
            fields: BTreeMap::new(),
            defines,
            generated: tree.masked.declarations.clone(),
            scopes: Vec::new(),
            top: Scope::default(),
            expansion: Expansion::default(),
        }
    }

    fn run(&mut self, scope: Scope) {
        let root = self.tree.tree.root_node();
        self.top = scope.clone();
        let members = self.expansion.call.and_then(|_| generated::members(root, &scope));
        self.children(members.unwrap_or(root), &scope, 0);
        let mut next = 0;
        while next < self.bodies.len() && self.watch.check().is_ok() {
            let body = self.bodies[next].clone();
            self.walk_body(&body);
            next += 1;
        }
    }

    /// Adds the children of a node that have a name in the grammar.
    fn extend_named(&mut self, node: Node<'a>, out: &mut Vec<Node<'a>>) {
        if node.named_child_count() > 0 {
            out.extend(node.named_children(&mut self.cursor));
        }
    }

    /// Text of a node in the file.
    fn text(&self, node: Node<'_>) -> &'a str {
        self.source.slice(node.start_byte(), node.end_byte())
    }

    /// Text without annotations, on one line.
    fn seen_line(&self, start: usize, end: usize) -> String {
        one_line(self.clean_slice(start, end))
    }

    /// Text without annotations.
    fn clean_slice(&self, start: usize, end: usize) -> &'a str {
        self.clean.get(start..end).unwrap_or("")
    }

    /// An entity in a scope, over a byte range and with the comment before it.
    fn entity(&self, kind: EntityKind, name: &str, range: (usize, usize), scope: &Scope) -> Entity {
        let (start, end) = (self.first_byte(range.0), range.1);
        let mut entity = self.source.entity(kind, name, start, end);
        entity.qualified_name = scope.qualify(name);
        entity.parent = scope.qualified();
        entity.class_name = scope.class_name();
        entity.namespace = scope.namespace();
        entity.access = scope.access;
        entity.leading_comment = self.comments.before(self.source.text, start);
        entity
    }

    /// First byte of a declaration with the annotation macros that were masked before it; comments
    /// may stand between them.
    fn first_byte(&self, start: usize) -> usize {
        let annotations = &self.tree.masked.annotations;
        let last = annotations.partition_point(|(_, end)| *end <= start);
        let mut first = start;
        for (from, to) in annotations[..last].iter().rev() {
            if !self.comments.is_blank_between(self.source.text, *to, first) {
                break;
            }
            first = *from;
        }
        first
    }
}

/// Children of a node that have a name in the grammar.
fn named<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    if node.named_child_count() == 0 {
        return Vec::new();
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

#[cfg(test)]
mod tests;
