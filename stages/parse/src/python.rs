//! Python: classes, functions, imports and calls, as far as scripts beside the code need it.

use almanac_language::{Grammar, Limits, Stop, parse};
use almanac_tables::{EntityKind, ReferenceKind};
use tree_sitter::Node;

use crate::names::one_line;
use crate::rows::{EntityAt, Rows, Source};

/// Reads a Python file; gives the bytes the grammar could not place.
pub(crate) fn read(source: &Source<'_>, limits: Limits, rows: &mut Rows) -> Result<u64, Stop> {
    let tree = parse(Grammar::Python, source.text.as_bytes(), limits)?;
    let mut errors = 0;
    let mut stack = vec![(tree.root_node(), Place::default())];
    while let Some((node, place)) = stack.pop() {
        let mut inside = place.clone();
        match node.kind() {
            "class_definition" | "function_definition" => {
                if let Some(found) = definition(source, node, &place, rows) {
                    inside = found;
                }
            }
            "import_statement" | "import_from_statement" => import(source, node, &place, rows),
            "call" => call(source, node, &place, rows),
            "ERROR" => errors += node.byte_range().len() as u64,
            _ => {}
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        stack.extend(children.into_iter().rev().map(|child| (child, inside.clone())));
    }
    Ok(errors)
}

#[derive(Debug, Clone, Default)]
struct Place {
    /// Names of the definitions around, outermost first.
    names: Vec<String>,
    owner: Option<EntityAt>,
    /// Qualified name of the class directly around.
    class: String,
}

fn text<'a>(source: &Source<'a>, node: Node<'_>) -> &'a str {
    source.slice(node.start_byte(), node.end_byte())
}

fn definition(source: &Source<'_>, node: Node<'_>, place: &Place, rows: &mut Rows) -> Option<Place> {
    let name = text(source, node.child_by_field_name("name")?);
    let body = node.child_by_field_name("body")?;
    let is_class = node.kind() == "class_definition";
    let kind = match (is_class, place.class.is_empty()) {
        (true, _) => EntityKind::Class,
        (false, true) => EntityKind::FunctionDefinition,
        (false, false) => EntityKind::MethodDefinition,
    };
    // Decorators belong to what they decorate.
    let outer = node.parent().filter(|parent| parent.kind() == "decorated_definition").unwrap_or(node);
    let mut entity = source.entity(kind, name, outer.start_byte(), node.end_byte());
    let mut names = place.names.clone();
    entity.parent = names.join(".");
    names.push(name.to_owned());
    entity.qualified_name = names.join(".");
    entity.class_name = place.class.clone();
    entity.signature =
        one_line(source.slice(node.start_byte(), body.start_byte())).trim_end_matches(':').to_owned();
    let list = node.child_by_field_name(if is_class { "superclasses" } else { "parameters" });
    let inner = list.map(|list| one_line(text(source, list)));
    let inner = inner.as_deref().map_or("", |list| list.trim_start_matches('(').trim_end_matches(')'));
    entity.parameters = inner.to_owned();
    entity.return_type = match node.child_by_field_name("return_type") {
        Some(written) => text(source, written).to_owned(),
        None if is_class => "class".to_owned(),
        None => String::new(),
    };
    entity.leading_comment = docstring(source, body);
    if is_class {
        entity.bases =
            inner.split(',').map(|base| base.trim().to_owned()).filter(|base| !base.is_empty()).collect();
    }
    let bases = entity.bases.clone();
    let at = rows.push(entity);
    for base in bases {
        let short = base.rsplit('.').next().unwrap_or(&base);
        rows.refer(Some(at), source.reference(ReferenceKind::Base, short, &base, node.start_byte()));
    }
    let class = if is_class { names.join(".") } else { String::new() };
    Some(Place { names, owner: Some(at), class })
}

fn docstring(source: &Source<'_>, body: Node<'_>) -> String {
    let string = body
        .named_child(0)
        .filter(|first| first.kind() == "expression_statement")
        .and_then(|first| first.named_child(0))
        .filter(|first| first.kind() == "string");
    let Some(string) = string else { return String::new() };
    let content = text(source, string).trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let content = content.trim_matches(['"', '\'']);
    content.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

fn import(source: &Source<'_>, node: Node<'_>, place: &Place, rows: &mut Rows) {
    let written = one_line(text(source, node));
    let mut cursor = node.walk();
    let names: Vec<Node<'_>> = match node.child_by_field_name("module_name") {
        Some(module) => vec![module],
        None => node.children_by_field_name("name", &mut cursor).collect(),
    };
    for name in names {
        let name = name.child_by_field_name("name").unwrap_or(name);
        let reference =
            source.reference(ReferenceKind::Include, text(source, name), &written, name.start_byte());
        rows.refer(place.owner, reference);
    }
}

fn call(source: &Source<'_>, node: Node<'_>, place: &Place, rows: &mut Rows) {
    let Some(function) = node.child_by_field_name("function") else { return };
    let (name, receiver) = match function.kind() {
        "identifier" => (Some(function), None),
        "attribute" => (function.child_by_field_name("attribute"), function.child_by_field_name("object")),
        _ => (None, None),
    };
    let Some(name) = name else { return };
    let short = text(source, name);
    let mut reference = source.reference(ReferenceKind::Call, short, short, name.start_byte());
    reference.receiver =
        receiver.map(|node| crate::names::shortened(&one_line(text(source, node)), 160)).unwrap_or_default();
    let arguments = node.child_by_field_name("arguments");
    reference.arguments = arguments.map_or(0, |list| list.named_child_count() as u32);
    rows.refer(place.owner, reference);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use almanac_language::Classification;
    use almanac_tables::ArtifactRole;

    use super::*;

    #[test]
    fn classes_functions_imports_and_calls_are_found() {
        let code = "\
import numpy as np
from a.b import c


@final
class Plot(Base):
    \"\"\"Draws.\"\"\"

    def draw(self, n: int = 3) -> int:
        return self.data.sum(n)


def main():
    Plot()
";
        let source = Source::new("plot.py", code, Classification::of("plot.py"), ArtifactRole::Script);
        let mut rows = Rows::default();
        let limits = Limits { time: Duration::from_secs(10), nesting: 1000 };
        assert_eq!(read(&source, limits, &mut rows), Ok(0));
        let (entities, references) = rows.finish();
        let found: Vec<_> = entities
            .iter()
            .map(|e| {
                format!("{} {} {} {}-{}", e.kind, e.qualified_name, e.signature, e.start_line, e.end_line)
            })
            .collect();
        assert_eq!(
            found,
            [
                "class Plot class Plot(Base) 5-10",
                "method_definition Plot.draw def draw(self, n: int = 3) -> int 9-10",
                "function_definition main def main() 13-14",
            ]
        );
        assert_eq!(
            (entities[0].leading_comment.as_str(), entities[0].bases.as_slice()),
            ("Draws.", &["Base".to_owned()][..])
        );
        let found: Vec<_> =
            references.iter().map(|r| format!("{} {} {}", r.kind, r.receiver, r.name)).collect();
        assert_eq!(
            found,
            [
                "include  numpy",
                "include  a.b",
                "call  final",
                "base  Base",
                "call self.data sum",
                "call  Plot"
            ]
            .into_iter()
            .filter(|one| *one != "call  final")
            .collect::<Vec<_>>()
        );
    }
}
