//! Walks bodies: locals, lambdas with a name, local classes, and every expression with a call.

use almanac_tables::ReferenceKind;
use tree_sitter::Node;

use crate::cpp::declarations::Item;
use crate::cpp::functions::parameter_list;
use crate::cpp::locals::Locals;
use crate::cpp::scope::Scope;
use crate::cpp::{Extractor, named};
use crate::names::type_of_head;

/// A body to walk.
#[derive(Debug, Clone)]
pub(crate) struct Body<'t> {
    pub(crate) node: Node<'t>,
    /// The callable.
    pub(crate) owner: usize,
    /// Names and types of its parameters.
    pub(crate) parameters: Vec<(String, String)>,
    /// Qualified name of the class whose members it sees; empty if none.
    pub(crate) class: String,
    /// Scope the callable stands in.
    pub(crate) scope: Scope,
}

/// What is in force at a node.
pub(crate) struct Frame {
    pub(crate) owner: Option<usize>,
    pub(crate) class: String,
    pub(crate) scope: Scope,
    pub(crate) locals: Locals,
}

impl<'a> Extractor<'a> {
    pub(crate) fn walk_body(&mut self, body: &Body<'a>) {
        let mut frame = Frame {
            owner: Some(body.owner),
            class: body.class.clone(),
            scope: body.scope.clone(),
            locals: Locals::default(),
        };
        for (name, type_text) in &body.parameters {
            frame.locals.declare(name, type_text, 0, usize::MAX);
        }
        self.walk(body.node, &mut frame);
    }

    /// Calls of an expression outside any body.
    pub(crate) fn expression(&mut self, node: Node<'a>, owner: Option<usize>, scope: &Scope) {
        let class = if scope.is_class() { scope.qualified() } else { String::new() };
        let mut frame = Frame { owner, class, scope: scope.clone(), locals: Locals::default() };
        self.walk(node, &mut frame);
    }

    /// Walks in source order with a stack of its own: `a + b + c + ...` nests as deep as it is long.
    /// Each entry is a node and the end of the block around it.
    fn walk(&mut self, root: Node<'a>, frame: &mut Frame) {
        let mut stack = vec![(root, root.end_byte())];
        while let Some((node, block)) = stack.pop() {
            let inner_block = match node.kind() {
                "compound_statement" | "for_statement" | "for_range_loop" | "lambda_expression"
                | "catch_clause" | "if_statement" | "while_statement" | "switch_statement" => node.end_byte(),
                _ => block,
            };
            let mut next = Vec::new();
            match node.kind() {
                "call_expression" => self.call(node, frame, &mut next),
                "new_expression" | "compound_literal_expression" => self.construction(node, frame, &mut next),
                "declaration" => self.local_declaration(node, frame, block, &mut next),
                "for_range_loop" => {
                    self.declare_named(node, frame, inner_block);
                    next.extend(node.child_by_field_name("right"));
                    next.extend(node.child_by_field_name("body"));
                }
                "catch_clause" | "lambda_expression" => {
                    self.declare_parameters(node, frame, inner_block);
                    next.extend(node.child_by_field_name("captures"));
                    next.extend(node.child_by_field_name("body"));
                }
                "field_initializer" => self.initializer(node, frame, &mut next),
                "class_specifier" | "struct_specifier" | "union_specifier" | "enum_specifier" => {
                    self.local_type(node, frame);
                }
                "template_argument_list"
                | "type_descriptor"
                | "comment"
                | "string_literal"
                | "alias_declaration"
                | "type_definition"
                | "using_declaration"
                | "preproc_def"
                | "preproc_function_def" => {}
                _ => next.extend(named(node)),
            }
            stack.extend(next.into_iter().rev().map(|child| (child, inner_block)));
        }
    }

    /// Types and functions inside a function are its own.
    fn local_type(&mut self, node: Node<'a>, frame: &Frame) {
        let Some(owner) = frame.owner else { return };
        let name = self.rows.entities[owner].name.clone();
        let scope = frame.scope.in_function(&name, owner);
        self.declaration(&Item::plain(node), &scope, 0);
    }

    fn local_declaration(
        &mut self,
        node: Node<'a>,
        frame: &mut Frame,
        block: usize,
        next: &mut Vec<Node<'a>>,
    ) {
        let written = node.child_by_field_name("type");
        if let Some(specifier) = written.filter(|node| node.child_by_field_name("body").is_some()) {
            self.local_type(specifier, frame);
        }
        let mut cursor = node.walk();
        let declarators: Vec<Node<'a>> = node.children_by_field_name("declarator", &mut cursor).collect();
        let Some(first) = declarators.first().copied() else { return };
        let head = type_of_head(self.seen.get(node.start_byte()..first.start_byte()).unwrap_or(""));
        for declarator in declarators {
            let Some(declared) = self.declared(declarator) else {
                self.declare_bindings(declarator, frame, block);
                next.extend(declarator.child_by_field_name("value"));
                continue;
            };
            let start = declarator.end_byte();
            if let Some(lambda) = declared.value.filter(|value| value.kind() == "lambda_expression") {
                self.local_lambda(node, &declared, lambda, frame, block);
                continue;
            }
            let marks = self.seen.get(declarator.start_byte()..declared.node.start_byte()).unwrap_or("");
            let type_text = match head.starts_with("auto") || head.contains(" auto") {
                true => declared.value.map(|value| self.type_of_value(value, frame)).unwrap_or_default(),
                false => type_of_head(&format!("{head}{marks}")),
            };
            frame.locals.declare(&declared.name, &type_text, start, block);
            // `Foo x(a, b);` and `Foo x{a};` construct; the grammar may take the first for a function.
            let list = declared.value.or_else(|| declared.function.and_then(parameter_list));
            let constructs = list.filter(|list| {
                matches!(list.kind(), "argument_list" | "initializer_list" | "parameter_list")
            });
            if let (Some(written), Some(list)) = (written, constructs) {
                self.constructor_call(written, named(list).len(), frame);
            }
            match (declared.value, declared.function) {
                (Some(value), _) => next.push(value),
                (None, Some(function)) => next.extend(parameter_list(function)),
                (None, None) => {}
            }
        }
    }

    /// Names of `auto [a, b] = ...`; their types are not in sight.
    fn declare_bindings(&self, declarator: Node<'a>, frame: &mut Frame, block: usize) {
        let mut stack = vec![declarator];
        while let Some(node) = stack.pop() {
            match node.kind() {
                "structured_binding_declarator" => {
                    for name in named(node) {
                        frame.locals.declare(self.text(name), "", node.end_byte(), block);
                    }
                }
                "init_declarator" => stack.extend(node.child_by_field_name("declarator")),
                "reference_declarator" => stack.extend(named(node)),
                _ => {}
            }
        }
    }

    fn local_lambda(
        &mut self,
        node: Node<'a>,
        declared: &crate::cpp::declarator::Declared<'a>,
        lambda: Node<'a>,
        frame: &mut Frame,
        block: usize,
    ) {
        let list = lambda.child_by_field_name("declarator").and_then(parameter_list);
        let count = list.map_or(0, |list| named(list).len()) as u32;
        frame.locals.declare_lambda(&declared.name, count, node.end_byte(), block);
        let Some(owner) = frame.owner else { return };
        let name = self.rows.entities[owner].name.clone();
        let scope = frame.scope.in_function(&name, owner);
        let range = (node.start_byte(), node.end_byte());
        let at = self.bound_lambda(range, declared, lambda, &scope, frame.class.as_str());
        self.rows.entities[at].class_name = self.rows.entities[owner].class_name.clone();
        // What the lambda captures is in sight inside it.
        if let Some(body) = self.bodies.last_mut().filter(|body| body.owner == at) {
            let mut parameters = frame.locals.visible(node.start_byte());
            parameters.append(&mut body.parameters);
            body.parameters = parameters;
        }
    }

    /// `for (auto& x : xs)`.
    fn declare_named(&self, node: Node<'a>, frame: &mut Frame, block: usize) {
        let Some(declarator) = node.child_by_field_name("declarator") else { return };
        match self.declared(declarator) {
            Some(declared) => {
                let first = node
                    .child_by_field_name("type")
                    .map_or(declarator.start_byte(), |node| node.start_byte());
                let head = type_of_head(self.seen.get(first..declared.node.start_byte()).unwrap_or(""));
                let type_text = if head.starts_with("auto") { String::new() } else { head };
                frame.locals.declare(&declared.name, &type_text, declarator.end_byte(), block);
            }
            None => self.declare_bindings(declarator, frame, block),
        }
    }

    fn declare_parameters(&self, node: Node<'a>, frame: &mut Frame, block: usize) {
        let list = match node.kind() {
            "catch_clause" => node.child_by_field_name("parameters"),
            _ => node.child_by_field_name("declarator").and_then(parameter_list),
        };
        let Some(list) = list else { return };
        for (name, type_text) in self.parameter_types(list) {
            let type_text = if type_text.contains("auto") { String::new() } else { type_text };
            frame.locals.declare(&name, &type_text, list.start_byte(), block);
        }
    }

    /// `: Base<T>(x), field_(y)`: a base with template arguments or known as one is a call.
    fn initializer(&mut self, node: Node<'a>, frame: &mut Frame, next: &mut Vec<Node<'a>>) {
        let children = named(node);
        let Some((name, rest)) = children.split_first() else { return };
        let arguments = rest.first().map_or(0, |list| named(*list).len());
        let is_base = name.kind() != "field_identifier" || self.is_base(self.text(*name), frame);
        if is_base && let Some(short) = self.last_name(*name) {
            let written = crate::names::one_line(self.text(*name));
            let mut reference =
                self.source.reference(ReferenceKind::Call, &short, &written, name.start_byte());
            reference.arguments = arguments as u32;
            self.rows.refer(frame.owner, reference);
        }
        next.extend(rest);
    }

    fn is_base(&self, name: &str, frame: &Frame) -> bool {
        let last = |base: &String| {
            base.split('<')
                .next()
                .is_some_and(|base| base.rsplit("::").next().is_some_and(|base| base.trim() == name))
        };
        self.rows.entities.iter().any(|entity| {
            entity.kind.is_record() && entity.qualified_name == frame.class && entity.bases.iter().any(last)
        })
    }
}
