//! Python: functions, classes and methods, imports and calls.
//!
//! The statements between them become text blocks; scripts are often nothing else.

use std::ops::Range;

use almanac_language::{Grammar, Stop, Watch, parse};
use almanac_tables::{EntityKind, ReferenceKind};
use tree_sitter::Node;

use crate::documents;
use crate::names::shortened;
use crate::rows::{EntityAt, Rows, Source};
use crate::script::{Taken, comment_before, walk};

/// Longest receiver of a call, in characters; a chain of calls holds every call before it.
const LONGEST_RECEIVER: usize = 160;

/// Reads a Python file and gives the bytes the grammar could not place.
pub(crate) fn read(
    source: &Source<'_>,
    max_chunk_size: usize,
    watch: &Watch<'_>,
    rows: &mut Rows,
) -> Result<u64, Stop> {
    let tree = parse(Grammar::Python, source.text.as_bytes(), watch)?;
    let mut reader = Reader { source, rows, scopes: Vec::new(), taken: Taken::default(), decorated: None };
    let error_bytes = walk(&tree, watch, |node| {
        reader.visit(node);
        true
    })?;
    let gaps = reader.taken.gaps(source.text.len());
    let before = rows.entities.len();
    documents::read_between(source, &gaps, max_chunk_size, rows);
    let first_block = rows.entities.get_mut(before);
    if let (Some(block), Some(text)) = (first_block, docstring(source, tree.root_node())) {
        block.leading_comment = text;
    }
    Ok(error_bytes)
}

struct Reader<'a, 'r> {
    source: &'a Source<'a>,
    rows: &'r mut Rows,
    /// Functions and classes being walked, outermost first, and where they end.
    scopes: Vec<(EntityAt, usize)>,
    /// Ranges of outermost entities with the comments before them.
    taken: Taken,
    /// Decorators and definition, until the definition is reached.
    decorated: Option<Range<usize>>,
}

impl<'a> Reader<'a, '_> {
    fn visit(&mut self, node: Node<'a>) {
        while self.scopes.last().is_some_and(|(_, end)| node.start_byte() >= *end) {
            self.scopes.pop();
        }
        match node.kind() {
            "decorated_definition" => self.decorated = Some(node.byte_range()),
            "function_definition" | "class_definition" => self.definition(node),
            "import_statement" => self.import(node),
            "import_from_statement" => self.import_from(node),
            "call" => self.call(node),
            _ => {}
        }
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        self.source.slice(node.start_byte(), node.end_byte())
    }

    fn field(&self, node: Node<'a>, field: &str) -> &'a str {
        node.child_by_field_name(field).map_or("", |child| self.text(child))
    }

    fn definition(&mut self, node: Node<'a>) {
        let name = self.field(node, "name");
        // A decorator whose definition is broken must not pass to the next one.
        let decorated = self.decorated.take().filter(|range| range.end >= node.end_byte());
        let whole = decorated.unwrap_or_else(|| node.byte_range());
        if name.is_empty() {
            return;
        }
        let enclosing = self.scopes.last().map(|(at, _)| &self.rows.entities[*at]);
        let is_class = node.kind() == "class_definition";
        let kind = match enclosing {
            _ if is_class => EntityKind::Class,
            Some(entity) if entity.kind == EntityKind::Class => EntityKind::MethodDefinition,
            _ => EntityKind::FunctionDefinition,
        };
        let (comment_start, comment) = comment_before(self.source.text, whole.start);
        // A block's end may take in line breaks.
        let end = whole.start + self.source.slice(whole.start, whole.end).trim_end().len();
        let mut entity = self.source.entity(kind, name, whole.start, end);
        if let Some(enclosing) = enclosing {
            entity.parent = enclosing.qualified_name.clone();
            entity.qualified_name = format!("{}.{name}", enclosing.qualified_name);
            if kind == EntityKind::MethodDefinition {
                entity.class_name = enclosing.qualified_name.clone();
            }
        }
        let head_end = node.child_by_field_name("body").map_or(end, |body| body.start_byte());
        let head = self.source.slice(node.start_byte(), head_end);
        entity.signature = on_one_line(head).trim_end_matches(':').trim_end().to_owned();
        let bases = self.bases(node);
        entity.return_type =
            if is_class { "class".to_owned() } else { on_one_line(self.field(node, "return_type")) };
        entity.parameters = self.parameters(node, is_class);
        entity.bases = bases.iter().map(|base| on_one_line(self.text(*base))).collect();
        let doc = node.child_by_field_name("body").and_then(|body| docstring(self.source, body));
        entity.leading_comment = [Some(comment).filter(|comment| !comment.is_empty()), doc]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n");
        if self.scopes.is_empty() {
            self.taken.take(comment_start..end);
        }
        let at = self.rows.push(entity);
        for base in bases {
            self.refer(ReferenceKind::Base, self.text(base), base.start_byte(), Some(at));
        }
        self.scopes.push((at, whole.end));
    }

    fn parameters(&self, node: Node<'a>, is_class: bool) -> String {
        let written = self.field(node, if is_class { "superclasses" } else { "parameters" });
        let inner = written.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        on_one_line(inner.unwrap_or(written))
    }

    /// Base classes of a class; keyword arguments such as `metaclass=` are none.
    fn bases(&self, node: Node<'a>) -> Vec<Node<'a>> {
        let Some(list) = node.child_by_field_name("superclasses") else { return Vec::new() };
        let mut cursor = list.walk();
        list.named_children(&mut cursor)
            .filter(|child| matches!(child.kind(), "identifier" | "attribute" | "subscript"))
            .collect()
    }

    fn owner(&self) -> Option<EntityAt> {
        self.scopes.last().map(|(at, _)| *at)
    }

    fn refer(&mut self, kind: ReferenceKind, written: &str, at: usize, owner: Option<EntityAt>) {
        let name = match kind {
            ReferenceKind::Include => written,
            _ => {
                let plain = written.split('[').next().unwrap_or(written);
                plain.rsplit('.').next().unwrap_or(plain).trim()
            }
        };
        let reference = self.source.reference(kind, name, written, at);
        self.rows.refer(owner, reference);
    }

    fn import(&mut self, node: Node<'a>) {
        let mut cursor = node.walk();
        let modules: Vec<Node<'a>> = node.children_by_field_name("name", &mut cursor).collect();
        for module in modules {
            let module = module.child_by_field_name("name").unwrap_or(module);
            self.refer(ReferenceKind::Include, self.text(module), module.start_byte(), self.owner());
        }
    }

    /// `from .a import b` asks for `.a`; `from . import b` for `.b`.
    fn import_from(&mut self, node: Node<'a>) {
        let Some(module) = node.child_by_field_name("module_name") else { return };
        let written = self.text(module);
        if !written.chars().all(|c| c == '.') {
            self.refer(ReferenceKind::Include, written, module.start_byte(), self.owner());
            return;
        }
        let mut cursor = node.walk();
        let names: Vec<Node<'a>> = node.children_by_field_name("name", &mut cursor).collect();
        for name in names {
            let name = name.child_by_field_name("name").unwrap_or(name);
            let written = format!("{written}{}", self.text(name));
            self.refer(ReferenceKind::Include, &written, name.start_byte(), self.owner());
        }
    }

    fn call(&mut self, node: Node<'a>) {
        let Some(callee) = node.child_by_field_name("function") else { return };
        let (name, receiver) = match callee.kind() {
            "identifier" => (self.text(callee), ""),
            "attribute" => (self.field(callee, "attribute"), self.field(callee, "object")),
            _ => return,
        };
        // `f(x)(y).g()`: a receiver that spans lines names nothing.
        let receiver = if receiver.contains('\n') { "" } else { receiver };
        let receiver = shortened(receiver, LONGEST_RECEIVER);
        let written = if receiver.is_empty() { name.to_owned() } else { format!("{receiver}.{name}") };
        let mut reference = self.source.reference(ReferenceKind::Call, name, &written, callee.start_byte());
        if !receiver.is_empty() {
            reference.receiver = receiver + ".";
        }
        reference.arguments = node.child_by_field_name("arguments").map_or(0, |list| match list.kind() {
            "argument_list" => {
                let mut cursor = list.walk();
                list.named_children(&mut cursor).filter(|child| child.kind() != "comment").count() as u32
            }
            // `sum(x for x in y)`
            _ => 1,
        });
        let owner = self.owner();
        self.rows.refer(owner, reference);
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The string a module's or a body's first statement is, as text.
fn docstring(source: &Source<'_>, body: Node<'_>) -> Option<String> {
    let mut cursor = body.walk();
    let first = body.named_children(&mut cursor).find(|child| child.kind() != "comment")?;
    let string = first.named_child(0).filter(|_| first.kind() == "expression_statement")?;
    if string.kind() != "string" {
        return None;
    }
    let written = source.slice(string.start_byte(), string.end_byte());
    let written = written.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let written = written.trim_matches(['"', '\'']);
    let lines: Vec<&str> = written.lines().map(str::trim).collect();
    Some(lines.join("\n").trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use almanac_language::Classification;
    use almanac_tables::{ArtifactRole, Entity, Reference};

    use super::*;

    fn rows(text: &str) -> (Vec<Entity>, Vec<Reference>) {
        let class = Classification::of("tools/plot.py");
        let source = Source::new("tools/plot.py", text, class, ArtifactRole::Script);
        let mut rows = Rows::default();
        assert_eq!(read(&source, 2000, &crate::tests::watch(), &mut rows).expect("tree"), 0, "{text}");
        rows.finish()
    }

    const SCRIPT: &str = r#"#!/usr/bin/env python3
"""Plots things."""
import os, numpy.linalg as la
from .loader import load
from . import model

# Reads a file.
def read(path: str, *, strict=False) -> list[str]:
    """Lines of it."""
    return open(path).read().split(sep="\n")


class Plot(Base, abc.Other, metaclass=Meta):
    @staticmethod
    def of(x):
        return Plot(x)

    def draw(self):
        self.clear()
        def inner():
            return la.norm(1, 2)

if __name__ == "__main__":
    read("a")
"#;

    #[test]
    fn functions_classes_and_methods() {
        let (entities, _) = rows(SCRIPT);
        let found: Vec<_> =
            entities.iter().map(|e| (e.kind, e.qualified_name.as_str(), e.start_line, e.end_line)).collect();
        assert_eq!(
            found,
            [
                (EntityKind::TextBlock, "plot.py_1", 1, 5),
                (EntityKind::FunctionDefinition, "read", 8, 10),
                (EntityKind::Class, "Plot", 13, 21),
                (EntityKind::MethodDefinition, "Plot.of", 14, 16),
                (EntityKind::MethodDefinition, "Plot.draw", 18, 21),
                (EntityKind::FunctionDefinition, "Plot.draw.inner", 20, 21),
                (EntityKind::TextBlock, "plot.py_2", 23, 24),
            ]
        );
        assert_eq!(entities[0].leading_comment, "Plots things.");
        let read = &entities[1];
        assert_eq!(read.signature, "def read(path: str, *, strict=False) -> list[str]");
        assert_eq!(read.parameters, "path: str, *, strict=False");
        assert_eq!(read.return_type, "list[str]");
        assert_eq!(read.leading_comment, "Reads a file.\nLines of it.");
        assert_eq!(entities[2].bases, ["Base", "abc.Other"]);
        assert_eq!(entities[3].class_name, "Plot");
    }

    #[test]
    fn operators_and_type_arguments_are_kept() {
        let (entities, _) =
            rows("class Map(Generic[K, V], metaclass=M):\n    def half(self, a=b//c): pass\n");
        assert_eq!(entities[0].bases, ["Generic[K, V]"]);
        assert_eq!(entities[1].signature, "def half(self, a=b//c)");
        assert_eq!(entities[1].parameters, "self, a=b//c");
    }

    #[test]
    fn long_chains_of_calls_have_short_receivers() {
        let (_, references) = rows(&format!("x{}\n", ".step(1)".repeat(200)));
        assert_eq!(references.len(), 200);
        assert!(references.iter().all(|call| call.receiver.chars().count() <= LONGEST_RECEIVER + 3));
    }

    #[test]
    fn imports_bases_and_calls() {
        let (entities, references) = rows(SCRIPT);
        let of = |kind| references.iter().filter(move |reference| reference.kind == kind);
        let imports: Vec<_> = of(ReferenceKind::Include).map(|r| r.name.as_str()).collect();
        assert_eq!(imports, ["os", "numpy.linalg", ".loader", ".model"]);
        let bases: Vec<_> = of(ReferenceKind::Base).map(|r| (r.name.as_str(), r.written.as_str())).collect();
        assert_eq!(bases, [("Base", "Base"), ("Other", "abc.Other")]);
        let calls: Vec<_> =
            of(ReferenceKind::Call).map(|r| (r.name.as_str(), r.receiver.as_str(), r.arguments)).collect();
        let expected = [
            ("split", "open(path).read().", 1),
            ("read", "open(path).", 0),
            ("open", "", 1),
            ("Plot", "", 1),
            ("clear", "self.", 0),
            ("norm", "la.", 2),
            ("read", "", 1),
        ];
        assert_eq!(calls, expected);
        let clear = of(ReferenceKind::Call).find(|r| r.name == "clear").expect("call");
        assert_eq!(clear.line, 19);
        assert_eq!(clear.entity_id, entities[4].id);
        assert!(references.last().is_some_and(|last| last.entity_id.is_empty()));
    }
}
