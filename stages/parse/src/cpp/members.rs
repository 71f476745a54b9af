//! Variables, constants, data members and lambdas bound to a name.

use almanac_language::{Field, Fields};
use almanac_tables::EntityKind;
use tree_sitter::Node;

use crate::cpp::bodies::Body;
use crate::cpp::calls::arguments_of;
use crate::cpp::declarations::{Item, VALUE_SHOWN};
use crate::cpp::declarator::Declared;
use crate::cpp::scope::Scope;
use crate::cpp::{Extractor, named};
use crate::names::{one_line, shortened, type_of_head};

impl<'a> Extractor<'a> {
    /// A variable at namespace level or a data member. `first` is the first declarator of the
    /// declaration: what stands before it is shared by all.
    pub(crate) fn variable(
        &mut self,
        item: &Item<'a>,
        scope: &Scope,
        first: Node<'a>,
        declarator: Node<'a>,
        declared: &Declared<'a>,
    ) {
        let value = declared.value.or_else(|| default_value(item.node, declarator));
        if let Some(lambda) = value.filter(|value| value.kind() == "lambda_expression") {
            let class = if scope.is_class() { scope.qualified() } else { String::new() };
            self.bound_lambda(item.range(), declared, lambda, scope, &class);
            return;
        }
        let outside = self.qualified_scope(&declared.qualifier, scope);
        let head = self.clean_slice(item.start, first.start_byte());
        let kind = if outside.is_class() { EntityKind::Field } else { EntityKind::Variable };
        let mut entity = self.entity(kind, &declared.name, item.range(), &outside);
        let shown_end =
            value.map_or(declarator.end_byte(), |value| value.end_byte()).max(declarator.end_byte());
        let shown = self.clean_slice(declarator.start_byte(), shown_end);
        entity.signature = shortened(&one_line(&format!("{head} {shown}")), 2 * VALUE_SHOWN);
        entity.template_parameters = self.template_text(item);
        let type_head = self.clean_slice(item.node.start_byte(), first.start_byte());
        let marks = self.clean_slice(declarator.start_byte(), declared.node.start_byte());
        entity.return_type = type_of_head(&format!("{type_head}{marks}"));
        entity.trailing_comment = self.comments.after(self.source.text, item.end);
        if entity.leading_comment.is_empty() {
            entity.leading_comment.clone_from(&entity.trailing_comment);
        }
        entity.qualifiers = self.head_qualifiers(item, first.start_byte());
        entity.attributes = self.attributes(item, &named(item.node), entity.start_byte as usize, shown_end);
        let words: Vec<&str> = type_head.split_whitespace().collect();
        entity.is_definition = if scope.is_class() {
            !words.contains(&"static")
                || words.contains(&"inline")
                || words.contains(&"constexpr")
                || value.is_some()
        } else {
            !words.contains(&"extern") || value.is_some()
        };
        if scope.is_class() {
            let fields = self.fields.entry(scope.qualified()).or_default();
            fields.insert(declared.name.clone(), entity.return_type.clone());
        }
        let at = self.rows.push(entity);
        if let Some(written) = item.node.field(Field::Type) {
            // A class's members are what it is made of; a variable stands for itself.
            let owner = if scope.is_class() { scope.owner } else { Some(at) };
            self.mention(written, owner, &outside);
        }
        if let Some(value) = value {
            let owner = if scope.is_class() { scope.owner } else { Some(at) };
            if matches!(value.kind(), "argument_list" | "initializer_list")
                && let Some(written) = item.node.field(Field::Type)
            {
                self.constructor_call(written, &arguments_of(value), owner);
            }
            self.expression(value, owner, &outside);
        }
    }

    /// `auto f = [](int i) { ... };`: callable under its name, below the function around it.
    pub(crate) fn bound_lambda(
        &mut self,
        range: (usize, usize),
        declared: &Declared<'a>,
        lambda: Node<'a>,
        scope: &Scope,
        class: &str,
    ) -> usize {
        let mut entity = self.entity(EntityKind::Lambda, &declared.name, range, scope);
        let body = lambda.field(Field::Body);
        let head_end = body.map_or(lambda.end_byte(), |body| body.start_byte());
        entity.signature = self.seen_line(range.0, head_end);
        let list = lambda.field(Field::Declarator).and_then(crate::cpp::functions::parameter_list);
        if let Some(list) = list {
            let text = one_line(self.text(list));
            entity.parameters = text.trim_start_matches('(').trim_end_matches(')').trim().to_owned();
            let parameters = self.parameters(list);
            entity.parameter_names = parameters.names;
            entity.parameter_types = parameters.types;
        }
        let at = self.rows.push(entity);
        if let Some(node) = body {
            let parameters = list.map(|list| self.parameter_types(list)).unwrap_or_default();
            let scope = scope.clone();
            self.bodies.push(Body { node, owner: at, parameters, class: class.to_owned(), scope });
        }
        at
    }
}

/// The default value that follows a field's declarator.
fn default_value<'t>(declaration: Node<'t>, declarator: Node<'t>) -> Option<Node<'t>> {
    let values = declaration.fields(Field::DefaultValue);
    let next = declaration
        .fields(Field::Declarator)
        .into_iter()
        .map(|node| node.start_byte())
        .find(|start| *start > declarator.start_byte())
        .unwrap_or(usize::MAX);
    values.into_iter().find(|value| value.start_byte() >= declarator.end_byte() && value.start_byte() < next)
}
