//! Walks bodies: locals, lambdas with a name, local classes, and every expression with a call.

use std::collections::BTreeSet;

use almanac_language::{Field, Fields};
use almanac_tables::{EntityKind, Local, ReferenceKind};
use tree_sitter::Node;

use crate::cpp::calls::arguments_of;
use crate::cpp::declarations::Item;
use crate::cpp::declarator::Declared;
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
    /// Types and macros the body has named already.
    named: BTreeSet<String>,
    /// Whether what the first `return` gives is wanted.
    wants_result: bool,
    /// Where the lambda walked last ends.
    lambda_end: usize,
}

impl Frame {
    fn new(owner: Option<usize>, class: String, scope: Scope) -> Self {
        let locals = Locals::default();
        Self { owner, class, scope, locals, named: BTreeSet::new(), wants_result: false, lambda_end: 0 }
    }
}

/// A name that comes into sight.
struct Appears<'n> {
    name: &'n str,
    /// Type as written; empty where it is deduced.
    type_text: String,
    /// What it is deduced from.
    value: String,
    /// Bytes between which it is in sight.
    range: (usize, usize),
}

impl<'a> Extractor<'a> {
    pub(crate) fn walk_body(&mut self, body: &Body<'a>) {
        let mut frame = Frame::new(Some(body.owner), body.class.clone(), body.scope.clone());
        for (name, type_text) in &body.parameters {
            frame.locals.declare(name, type_text, 0, usize::MAX);
        }
        frame.wants_result = self.has_deduced_result(body.owner);
        self.walk(body.node, &mut frame);
    }

    fn has_deduced_result(&self, owner: usize) -> bool {
        let entity = &self.rows.entities[owner];
        match entity.kind {
            EntityKind::Lambda => !entity.signature.contains("->"),
            _ => entity.return_type.split(|c: char| !c.is_alphanumeric()).any(|word| word == "auto"),
        }
    }

    /// Calls of an expression outside any body.
    pub(crate) fn expression(&mut self, node: Node<'a>, owner: Option<usize>, scope: &Scope) {
        let class = if scope.is_class() { scope.qualified() } else { String::new() };
        self.walk(node, &mut Frame::new(owner, class, scope.clone()));
    }

    /// Walks in source order with a stack of its own: `a + b + c + ...` nests as deep as it is long.
    /// Each entry is a node and the end of the block around it.
    fn walk(&mut self, root: Node<'a>, frame: &mut Frame) {
        let mut stack = vec![(root, root.end_byte())];
        let mut next = Vec::new();
        while let Some((node, block)) = stack.pop() {
            if self.watch.check().is_err() {
                return;
            }
            let inner_block = match node.kind() {
                "compound_statement" | "for_statement" | "for_range_loop" | "lambda_expression"
                | "catch_clause" | "if_statement" | "while_statement" | "switch_statement" => node.end_byte(),
                _ => block,
            };
            self.visit(node, frame, inner_block, &mut next);
            stack.extend(next.drain(..).rev().map(|child| (child, inner_block)));
        }
    }

    fn visit(&mut self, node: Node<'a>, frame: &mut Frame, block: usize, next: &mut Vec<Node<'a>>) {
        match node.kind() {
            "call_expression" => self.call(node, frame, next),
            "new_expression" | "compound_literal_expression" => self.construction(node, frame, next),
            "declaration" => self.local_declaration(node, frame, block, next),
            "for_range_loop" => self.loop_over(node, frame, block, next),
            "catch_clause" | "lambda_expression" => {
                if node.kind() == "lambda_expression" {
                    frame.lambda_end = frame.lambda_end.max(node.end_byte());
                }
                self.declare_parameters(node, frame, block);
                next.extend(node.field(Field::Captures));
                next.extend(node.field(Field::Body));
            }
            "lambda_capture_initializer" => self.capture(node, frame, block, next),
            "return_statement" => {
                self.result(node, frame);
                self.extend_named(node, next);
            }
            "field_initializer" => self.initializer(node, frame, next),
            "class_specifier" | "struct_specifier" | "union_specifier" | "enum_specifier" => {
                self.local_type(node, frame);
            }
            "alias_declaration" | "type_definition" => self.local_alias(node, frame, block),
            "using_declaration" => self.using(node, frame.owner),
            "identifier" => self.constant(node, frame),
            "binary_expression"
            | "assignment_expression"
            | "unary_expression"
            | "pointer_expression"
            | "update_expression"
            | "subscript_expression" => {
                self.operator(node, frame);
                self.extend_named(node, next);
            }
            "parameter_declaration" => self.misread_call(node, frame, next),
            "template_argument_list"
            | "type_descriptor"
            | "comment"
            | "string_literal"
            | "preproc_def"
            | "preproc_function_def" => {}
            _ => self.extend_named(node, next),
        }
    }

    /// Types and functions inside a function are its own.
    fn local_type(&mut self, node: Node<'a>, frame: &Frame) {
        let Some(owner) = frame.owner else { return };
        let name = self.rows.entities[owner].name.clone();
        let scope = frame.scope.in_function(&name, owner);
        self.declaration(&Item::plain(node), &scope, 0);
    }

    fn appears(&mut self, frame: &mut Frame, appears: Appears<'_>) {
        let Appears { name, type_text, value, range: (start, end) } = appears;
        frame.locals.declare(name, &type_text, start, end);
        self.rows.locals.push(Local {
            path: self.source.path.to_owned(),
            name: name.to_owned(),
            type_text,
            value,
            start_byte: start as u64,
            end_byte: end as u64,
        });
    }

    fn local_declaration(
        &mut self,
        node: Node<'a>,
        frame: &mut Frame,
        block: usize,
        next: &mut Vec<Node<'a>>,
    ) {
        let written = node.field(Field::Type);
        if let Some(specifier) = written.filter(|node| node.field(Field::Body).is_some()) {
            self.local_type(specifier, frame);
        } else if let Some(written) = written
            && frame.named.insert(self.text(written).to_owned())
        {
            self.mention(written, frame.owner, &frame.scope);
        }
        let declarators = node.fields(Field::Declarator);
        let Some(first) = declarators.first().copied() else { return };
        let head = type_of_head(self.clean_slice(node.start_byte(), first.start_byte()));
        // `if (auto p = f())` has the value beside the declarator.
        let condition = node.field(Field::Value);
        for declarator in declarators {
            let Some(mut declared) = self.declared(declarator) else {
                let value = declarator.field(Field::Value).or(condition);
                self.declare_bindings(declarator, value, frame, block);
                next.extend(value);
                continue;
            };
            declared.value = declared.value.or(condition);
            if let Some(lambda) = declared.value.filter(|value| value.kind() == "lambda_expression") {
                self.local_lambda(node, &declared, lambda, frame, block);
                continue;
            }
            let appears = self.variable_appears(&head, declarator, &declared, block);
            self.appears(frame, appears);
            self.made_from(written, declarator, &declared, frame, next);
        }
    }

    fn variable_appears<'n>(
        &self,
        head: &str,
        declarator: Node<'a>,
        declared: &'n Declared<'a>,
        block: usize,
    ) -> Appears<'n> {
        let between = |start, end| self.clean_slice(start, end);
        let marks = between(declarator.start_byte(), declared.node.start_byte());
        let is_array = between(declared.node.end_byte(), declarator.end_byte()).trim_start().starts_with('[');
        let (type_text, value) = match declared.value {
            Some(value) if is_deduced(head) => (String::new(), self.form(value)),
            _ => (type_of_head(&format!("{head}{marks}{}", if is_array { "*" } else { "" })), String::new()),
        };
        Appears { name: &declared.name, type_text, value, range: (declarator.end_byte(), block) }
    }

    /// `Foo x;`, `Foo x(a, b);` and `Foo x{a};` construct; the grammar may take the second for a
    /// function.
    fn made_from(
        &mut self,
        written: Option<Node<'a>>,
        declarator: Node<'a>,
        declared: &Declared<'a>,
        frame: &Frame,
        next: &mut Vec<Node<'a>>,
    ) {
        let list = declared.value.or_else(|| declared.function.and_then(parameter_list));
        let arguments = match list {
            None if declarator.kind() == "identifier" => Some(Vec::new()),
            Some(list) if matches!(list.kind(), "argument_list" | "initializer_list" | "parameter_list") => {
                Some(arguments_of(list))
            }
            _ => None,
        };
        if let (Some(written), Some(arguments)) = (written, arguments) {
            self.constructor_call(written, &arguments, frame.owner);
        }
        next.extend(list);
    }

    /// Names of `auto [a, b] = ...`.
    fn declare_bindings(
        &mut self,
        declarator: Node<'a>,
        value: Option<Node<'a>>,
        frame: &mut Frame,
        block: usize,
    ) {
        let value = value.map(|value| self.form(value)).unwrap_or_else(|| "?".to_owned());
        self.bindings_of(declarator, &value, frame, block);
    }

    fn bindings_of(&mut self, declarator: Node<'a>, value: &str, frame: &mut Frame, block: usize) {
        let mut stack = vec![declarator];
        while let Some(node) = stack.pop() {
            match node.kind() {
                "structured_binding_declarator" => {
                    for (at, name) in named(node).into_iter().enumerate() {
                        let value = format!("operator part{at}({value})");
                        let range = (node.end_byte(), block);
                        let name = self.text(name);
                        self.appears(frame, Appears { name, type_text: String::new(), value, range });
                    }
                }
                "init_declarator" => stack.extend(node.field(Field::Declarator)),
                "reference_declarator" => stack.extend(named(node)),
                _ => {}
            }
        }
    }

    fn local_lambda(
        &mut self,
        node: Node<'a>,
        declared: &Declared<'a>,
        lambda: Node<'a>,
        frame: &mut Frame,
        block: usize,
    ) {
        let list = lambda.field(Field::Declarator).and_then(parameter_list);
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
    fn loop_over(&mut self, node: Node<'a>, frame: &mut Frame, block: usize, next: &mut Vec<Node<'a>>) {
        let right = node.field(Field::Right);
        next.extend(right);
        next.extend(node.field(Field::Body));
        let Some(declarator) = node.field(Field::Declarator) else { return };
        let element =
            right.map_or_else(|| "?".to_owned(), |right| format!("operator each({})", self.form(right)));
        let Some(declared) = self.declared(declarator) else {
            self.bindings_of(declarator, &element, frame, block);
            return;
        };
        let first = node.field(Field::Type).map_or(declarator.start_byte(), |node| node.start_byte());
        let head = type_of_head(self.clean_slice(first, declared.node.start_byte()));
        let (type_text, value) =
            if is_deduced(&head) { (String::new(), element) } else { (head, String::new()) };
        let range = (declarator.end_byte(), block);
        self.appears(frame, Appears { name: &declared.name, type_text, value, range });
    }

    fn declare_parameters(&mut self, node: Node<'a>, frame: &mut Frame, block: usize) {
        let list = match node.kind() {
            "catch_clause" => node.field(Field::Parameters),
            _ => node.field(Field::Declarator).and_then(parameter_list),
        };
        let Some(list) = list else { return };
        for (at, (name, type_text)) in self.parameter_types(list).into_iter().enumerate() {
            let type_text = if is_deduced(&type_text) { String::new() } else { type_text };
            // One byte each: locals are told apart by where they appear.
            let range = (list.start_byte() + at, block);
            self.appears(frame, Appears { name: &name, type_text, value: String::new(), range });
        }
    }

    /// `[x = f()]`.
    fn capture(&mut self, node: Node<'a>, frame: &mut Frame, block: usize, next: &mut Vec<Node<'a>>) {
        let right = node.field(Field::Right);
        if let (Some(left), Some(right)) = (node.field(Field::Left), right) {
            let value = self.form(right);
            let (name, range) = (self.text(left), (node.end_byte(), block));
            self.appears(frame, Appears { name, type_text: String::new(), value, range });
        }
        next.extend(right);
    }

    /// What a function with a deduced result gives back: what its first `return` says.
    fn result(&mut self, node: Node<'a>, frame: &mut Frame) {
        if !frame.wants_result || node.start_byte() < frame.lambda_end {
            return;
        }
        let Some(value) = named(node).into_iter().find(|child| child.kind() != "comment") else { return };
        frame.wants_result = false;
        let value = self.form(value);
        let range = (node.start_byte(), node.start_byte());
        self.appears(frame, Appears { name: "return", type_text: String::new(), value, range });
    }

    /// `using V = Vector<T>;` and `typedef Vector<T> V;` inside a function.
    fn local_alias(&mut self, node: Node<'a>, frame: &mut Frame, block: usize) {
        let name = node.field(Field::Name).or_else(|| node.field(Field::Declarator));
        let (Some(name), Some(target)) = (name, node.field(Field::Type)) else { return };
        if frame.named.insert(self.text(target).to_owned()) {
            self.mention(target, frame.owner, &frame.scope);
        }
        let end = if node.kind() == "type_definition" { name.start_byte() } else { target.end_byte() };
        let type_text = type_of_head(self.clean_slice(target.start_byte(), end));
        let name = self.text(name).trim_start_matches(['*', '&', ' ']);
        let (value, range) = ("using".to_owned(), (node.end_byte(), block));
        self.appears(frame, Appears { name, type_text, value, range });
    }

    /// A name in capitals may be a macro.
    fn constant(&mut self, node: Node<'a>, frame: &mut Frame) {
        let name = self.text(node);
        if is_capitals(name) && frame.named.insert(name.to_owned()) {
            let reference = self.source.reference(ReferenceKind::Expand, name, name, node.start_byte());
            self.rows.refer(frame.owner, reference);
        }
    }

    /// `: Base<T>(x), field_(y)`: a field, a base or, delegating, the class itself is made.
    fn initializer(&mut self, node: Node<'a>, frame: &mut Frame, next: &mut Vec<Node<'a>>) {
        let children = named(node);
        let Some((name, rest)) = children.split_first() else { return };
        next.extend(rest);
        if name.kind() == "field_identifier" && !self.field_is_object(self.text(*name), frame) {
            return;
        }
        let Some(short) = self.last_name(*name) else { return };
        let written = crate::names::one_line(self.text(*name));
        let mut reference =
            self.source.reference(ReferenceKind::Construct, &short, &written, name.start_byte());
        let arguments = rest.first().map(|list| arguments_of(*list)).unwrap_or_default();
        reference.arguments = arguments.len() as u32;
        reference.argument_list = self.forms(&arguments);
        if name.kind() == "field_identifier" {
            reference.receiver = "this->".to_owned();
        }
        self.rows.refer(frame.owner, reference);
    }
}

/// Whether a type is left to the compiler.
fn is_deduced(head: &str) -> bool {
    head.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "auto") && !head.contains('<')
}

fn is_capitals(name: &str) -> bool {
    name.len() >= 3
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && name.bytes().any(|byte| byte.is_ascii_uppercase())
}
