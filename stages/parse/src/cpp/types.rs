//! Types named in signatures and members.

use std::collections::BTreeSet;

use almanac_language::{Field, Fields};
use almanac_tables::ReferenceKind;
use tree_sitter::Node;

use crate::cpp::declarations::Item;
use crate::cpp::functions::parameter_list;
use crate::cpp::scope::Scope;
use crate::cpp::{Extractor, named};
use crate::names::one_line;

impl<'a> Extractor<'a> {
    /// Types of a function's result and parameters.
    pub(crate) fn mention_function(&mut self, item: &Item<'a>, function: Node<'a>, at: usize, scope: &Scope) {
        let mut nodes: Vec<Node<'a>> = item.node.field(Field::Type).into_iter().collect();
        if let Some(list) = parameter_list(function) {
            nodes.extend(named(list).into_iter().filter_map(|parameter| parameter.field(Field::Type)));
        }
        nodes.extend(named(function).into_iter().filter(|child| child.kind() == "trailing_return_type"));
        self.mention_all(&nodes, Some(at), scope);
    }

    /// Types inside one type.
    pub(crate) fn mention(&mut self, node: Node<'a>, owner: Option<usize>, scope: &Scope) {
        self.mention_all(&[node], owner, scope);
    }

    /// Each named type once, template arguments included; template parameters, built-in types and
    /// the standard library name nothing in a tree.
    fn mention_all(&mut self, nodes: &[Node<'a>], owner: Option<usize>, scope: &Scope) {
        let mut seen = BTreeSet::new();
        let mut stack: Vec<Node<'a>> = nodes.iter().rev().copied().collect();
        while let Some(node) = stack.pop() {
            match node.kind() {
                "type_identifier" => self.mention_name(node, node, owner, scope, &mut seen),
                "template_type" => {
                    self.mention_name(node, node, owner, scope, &mut seen);
                    stack.extend(node.field(Field::Arguments));
                }
                "qualified_identifier" => {
                    let (_, last) = self.qualified(node);
                    self.mention_name(node, last, owner, scope, &mut seen);
                    stack.extend(template_arguments(node).into_iter().rev());
                }
                "field_declaration_list" | "enumerator_list" | "compound_statement" => {}
                _ => stack.extend(named(node).into_iter().rev()),
            }
        }
    }

    fn mention_name(
        &mut self,
        node: Node<'a>,
        last: Node<'a>,
        owner: Option<usize>,
        scope: &Scope,
        seen: &mut BTreeSet<String>,
    ) {
        let Some(name) = self.last_name(last) else { return };
        let written = one_line(self.text(node));
        let head = written.split(['<', ':']).next().unwrap_or("");
        let is_parameter = scope.is_template_parameter(head);
        if is_parameter || head == "std" || !seen.insert(written.clone()) {
            return;
        }
        let reference = self.source.reference(ReferenceKind::Type, &name, &written, node.start_byte());
        self.rows.refer(owner, reference);
    }
}

/// Template argument lists anywhere in a qualified name.
fn template_arguments(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        if node.kind() == "template_argument_list" {
            found.push(node);
        } else {
            stack.extend(named(node));
        }
    }
    found.sort_by_key(|node| node.start_byte());
    found
}
