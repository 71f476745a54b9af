//! Namespaces, written or opened by a macro.

use almanac_language::{Field, Fields, Opened};
use almanac_tables::EntityKind;
use tree_sitter::Node;

use crate::cpp::Extractor;
use crate::cpp::scope::Scope;

impl<'a> Extractor<'a> {
    pub(crate) fn namespace(&mut self, node: Node<'a>, scope: &Scope, depth: usize) {
        let Some(body) = node.field(Field::Body) else { return };
        let written = node.field(Field::Name).map(|name| self.text(name));
        let names = written.map(|name| self.code.macros().namespace_names(name)).unwrap_or_default();
        let (outer, last) = match names.split_last() {
            Some((last, outer)) => (scope.in_qualifier(outer, &[]), last.as_str()),
            None => (scope.clone(), "(anonymous)"),
        };
        let mut entity =
            self.entity(EntityKind::Namespace, last, (node.start_byte(), node.end_byte()), &outer);
        entity.signature = self.seen_line(node.start_byte(), body.start_byte());
        if entity.signature.starts_with("inline") {
            entity.qualifiers.push("inline".to_owned());
        }
        let owner = self.rows.push(entity);
        let inside = scope.in_namespace(&names, owner);
        self.scopes.push((body.start_byte(), body.end_byte(), inside.clone()));
        self.children(body, &inside, depth);
    }

    pub(crate) fn namespace_alias(&mut self, node: Node<'a>, scope: &Scope) {
        let Some(name) = node.field(Field::Name) else { return };
        let mut entity =
            self.entity(EntityKind::Alias, self.text(name), (node.start_byte(), node.end_byte()), scope);
        entity.signature =
            self.seen_line(node.start_byte(), node.end_byte()).trim_end_matches(';').to_owned();
        self.rows.push(entity);
    }

    /// What a macro opens where a block begins.
    pub(crate) fn opened_at(&self, node: Node<'_>) -> Option<Vec<Opened>> {
        let opened = &self.tree.masked.opened;
        if opened.is_empty() || !matches!(node.kind(), "namespace_definition" | "compound_statement") {
            return None;
        }
        let at = opened.binary_search_by_key(&node.start_byte(), |(start, _)| *start).ok()?;
        Some(opened[at].1.clone())
    }

    /// A block that a macro opens, with as many namespaces as it says.
    pub(crate) fn opened_block(&mut self, node: Node<'a>, opened: &[Opened], scope: &Scope, depth: usize) {
        let body = node.field(Field::Body).unwrap_or(node);
        let name = self.source.slice(node.start_byte(), body.end_byte());
        let length = name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len());
        let by = &name[..length];
        let mut inside = scope.clone();
        for one in opened {
            inside = match one {
                Opened::Linkage => inside.with_c_linkage(),
                // The names of what it holds are the same without it.
                Opened::Inline(names) if names.is_empty() => inside,
                Opened::Inline(names) => self.opened_namespace(node, names, "inline ", by, &inside),
                Opened::Namespace(names) => self.opened_namespace(node, names, "", by, &inside),
            };
        }
        self.scopes.push((body.start_byte(), body.end_byte(), inside.clone()));
        self.children(body, &inside, depth);
    }

    fn opened_namespace(
        &mut self,
        node: Node<'a>,
        names: &[String],
        word: &str,
        by: &str,
        scope: &Scope,
    ) -> Scope {
        let (outer, last) = match names.split_last() {
            Some((last, outer)) => (scope.in_qualifier(outer, &[]), last.as_str()),
            None => (scope.clone(), "(anonymous)"),
        };
        let mut entity =
            self.entity(EntityKind::Namespace, last, (node.start_byte(), node.end_byte()), &outer);
        entity.signature = format!("{word}namespace {}", names.join("::")).trim_end().to_owned();
        entity.qualifiers.extend(word.split_whitespace().map(str::to_owned));
        entity.generated_by = by.to_owned();
        let owner = self.rows.push(entity);
        scope.in_namespace(names, owner)
    }
}
