//! Classes, structs, unions and enumerations.

use almanac_language::{Field, Fields};
use almanac_tables::{Access, EntityKind, ReferenceKind};
use tree_sitter::Node;

use crate::cpp::declarations::Item;
use crate::cpp::scope::Scope;
use crate::cpp::{Extractor, named};
use crate::names::one_line;

impl<'a> Extractor<'a> {
    /// A class, struct or union; `name` is given where a typedef names it.
    pub(crate) fn record(&mut self, item: &Item<'a>, scope: &Scope, name: Option<String>, depth: usize) {
        let node = item.node;
        let body = node.field(Field::Body);
        let named_by = node.field(Field::Name);
        let (qualifier, last) = match named_by {
            Some(written) => {
                let (qualifier, last) = self.qualified(written);
                (qualifier, Some(last))
            }
            None => (Vec::new(), None),
        };
        let name = name.or_else(|| last.and_then(|last| self.last_name(last)));
        let (Some(name), true) = (name, body.is_some() || is_forward(item)) else {
            // Members of an unnamed struct or union belong to what is around it.
            if let Some(body) = body {
                self.children(body, scope, depth);
            }
            return;
        };
        let scope = &self.qualified_scope(&qualifier, scope);
        let arguments = last.and_then(|last| last.field(Field::Arguments));
        let specialisation = arguments.map(|node| format!("{name}{}", one_line(self.text(node))));
        let (kind, keyword) = match node.kind() {
            "class_specifier" => (EntityKind::Class, "class"),
            "union_specifier" => (EntityKind::Union, "union"),
            _ => (EntityKind::Struct, "struct"),
        };
        let mut entity = self.entity(kind, &name, item.range(), scope);
        entity.signature = self.head(item, body.map_or(node.end_byte(), |body| body.start_byte()));
        entity.return_type = keyword.to_owned();
        entity.template_parameters = self.template_text(item);
        entity.is_definition = body.is_some();
        let head_end = body.map_or(node.end_byte(), |body| body.start_byte());
        let parts = named(node);
        entity.attributes = self.attributes(item, &parts, entity.start_byte as usize, head_end);
        if parts.iter().any(|child| child.kind() == "virtual_specifier") {
            entity.qualifiers.push("final".to_owned());
        }
        let clause = parts.into_iter().find(|child| child.kind() == "base_class_clause");
        let bases = clause.map(|clause| self.bases(clause)).unwrap_or_default();
        if let Some(clause) = clause {
            let end = body.map_or(clause.end_byte(), |body| body.start_byte());
            entity.parameters = one_line(self.source.slice(clause.start_byte(), end));
        }
        entity.bases = bases.iter().map(|base| base.resolved.clone()).collect();
        let at = self.rows.push(entity);
        for base in bases {
            let name = base.resolved.split('<').next().unwrap_or("").rsplit("::").next().unwrap_or("").trim();
            let reference = self.source.reference(ReferenceKind::Base, name, &base.written, base.start);
            self.rows.refer(Some(at), reference);
        }
        if let Some(body) = body {
            let mut inside = scope.in_class(&name, specialisation, at);
            if kind == EntityKind::Class {
                inside.access = Access::Private;
            }
            self.scopes.push((body.start_byte(), body.end_byte(), inside.clone()));
            self.children(body, &inside, depth);
        }
    }

    fn bases(&self, clause: Node<'_>) -> Vec<Base> {
        let is_type = |node: &Node<'_>| {
            matches!(
                node.kind(),
                "type_identifier" | "qualified_identifier" | "template_type" | "dependent_type" | "decltype"
            )
        };
        named(clause)
            .into_iter()
            .filter(is_type)
            .map(|node| {
                let end = self.end_with_masked(node.end_byte());
                let written = one_line(self.source.slice(node.start_byte(), end));
                let resolved = self.expanded(&written, node.start_byte()).unwrap_or_else(|| written.clone());
                Base { written, resolved, start: node.start_byte() }
            })
            .collect()
    }

    /// End of a node with the macro arguments that were masked right after it.
    fn end_with_masked(&self, end: usize) -> usize {
        if !self.source.text.get(end..).unwrap_or("").trim_start().starts_with('(') {
            return end;
        }
        let rest = self.seen.get(end..).unwrap_or("");
        let next = end + rest.len() - rest.trim_start().len();
        end + self.source.slice(end, next).trim_end().len()
    }

    /// An enumeration and its values; `name` is given where a typedef names it.
    pub(crate) fn enumeration(&mut self, item: &Item<'a>, scope: &Scope, name: Option<String>) {
        let node = item.node;
        let body = node.field(Field::Body);
        if body.is_none() && !is_forward(item) {
            return;
        }
        let written = node.field(Field::Name);
        let qualifier = written.map(|written| self.qualified(written).0).unwrap_or_default();
        let scope = &self.qualified_scope(&qualifier, scope);
        let name = name.or_else(|| self.last_name(written?));
        let mut owner = scope.owner;
        let inside = match &name {
            Some(name) => {
                let mut entity = self.entity(EntityKind::Enum, name, item.range(), scope);
                let head_end = body.map_or(node.end_byte(), |body| body.start_byte());
                entity.signature = self.head(item, head_end);
                entity.return_type = "enum".to_owned();
                entity.is_definition = body.is_some();
                entity.attributes = self.attributes(item, &named(node), entity.start_byte as usize, head_end);
                let scoped = ["class", "struct"]
                    .into_iter()
                    .find(|word| entity.signature.split_whitespace().nth(1) == Some(word));
                entity.qualifiers.extend(scoped.map(str::to_owned));
                let at = self.rows.push(entity);
                owner = Some(at);
                scope.in_class(name, None, at)
            }
            None => scope.clone(),
        };
        let Some(body) = body else { return };
        let mut stack: Vec<Node<'a>> = named(body).into_iter().rev().collect();
        while let Some(node) = stack.pop() {
            if node.kind() != "enumerator" {
                stack.extend(named(node).into_iter().rev());
                continue;
            }
            let Some(value_name) = node.field(Field::Name) else { continue };
            let range = (node.start_byte(), node.end_byte());
            let mut entity = self.entity(EntityKind::Enumerator, self.text(value_name), range, &inside);
            entity.signature = one_line(self.text(node));
            entity.return_type = name.clone().unwrap_or_default();
            entity.class_name = scope.class_name();
            entity.trailing_comment = self.comments.after(self.source.text, node.end_byte());
            if entity.leading_comment.is_empty() {
                entity.leading_comment.clone_from(&entity.trailing_comment);
            }
            self.rows.push(entity);
            if let Some(value) = node.field(Field::Value) {
                self.expression(value, owner, scope);
            }
        }
    }
}

struct Base {
    written: String,
    /// With a macro of this file expanded.
    resolved: String,
    start: usize,
}

/// `class X;` stands alone; `class X* p` names a type.
fn is_forward(item: &Item<'_>) -> bool {
    item.node.parent().is_none_or(|parent| {
        !matches!(
            parent.kind(),
            "declaration"
                | "field_declaration"
                | "parameter_declaration"
                | "type_descriptor"
                | "function_definition"
                | "type_definition"
                | "alias_declaration"
                | "friend_declaration"
                | "template_instantiation"
        )
    })
}
