//! Calls, launches and constructions, with the receiver and its type where the file shows it.

use almanac_tables::{Reference, ReferenceKind};
use tree_sitter::Node;

use crate::cpp::bodies::Frame;
use crate::cpp::{Extractor, named};
use crate::names::{one_line, pointee, receiver_type, shortened};

/// Longest receiver expression kept, in characters.
const RECEIVER_SHOWN: usize = 160;
/// Depth to which types of `a.b.c` are followed.
const RECEIVER_DEPTH: usize = 4;

impl<'a> Extractor<'a> {
    pub(crate) fn call(&mut self, node: Node<'a>, frame: &mut Frame, next: &mut Vec<Node<'a>>) {
        let Some(function) = node.child_by_field_name("function") else {
            next.extend(named(node));
            return;
        };
        let arguments = node.child_by_field_name("arguments");
        let list = arguments.map(arguments_of).unwrap_or_default();
        next.extend(callee_parts(function));
        next.extend(list.iter().copied());
        let Some(mut reference) = self.callee(function, frame) else { return };
        reference.arguments = list.len() as u32;
        let is_kernel = arguments.is_some_and(|list| self.launches.contains(&list.start_byte()));
        let is_launch = is_kernel || self.is_launch(&reference.name, &list, frame);
        if is_launch {
            reference.kind = ReferenceKind::Launch;
        }
        self.rows.refer(frame.owner, reference);
        for argument in list {
            self.handed_over(argument, is_launch && !is_kernel, frame);
        }
    }

    /// The callee of a call expression; `None` for a lambda called on the spot and for casts.
    fn callee(&self, function: Node<'a>, frame: &Frame) -> Option<Reference> {
        let (name_node, receiver) = match function.kind() {
            "field_expression" => {
                (function.child_by_field_name("field")?, function.child_by_field_name("argument"))
            }
            "identifier" | "qualified_identifier" | "template_function" | "dependent_name" => {
                (function, None)
            }
            _ => return None,
        };
        let name = self.last_name(name_node)?;
        if matches!(
            name.as_str(),
            "static_cast" | "dynamic_cast" | "reinterpret_cast" | "const_cast" | "decltype" | "typeid"
        ) {
            return None;
        }
        let written = one_line(self.text(name_node));
        let mut reference =
            self.source.reference(ReferenceKind::Call, &name, &written, name_node.start_byte());
        if let Some(receiver) = receiver {
            reference.receiver = shortened(&one_line(self.text(receiver)), RECEIVER_SHOWN);
            let through_pointer =
                self.source.slice(receiver.end_byte(), name_node.start_byte()).contains("->");
            let found = self.receiver_type(receiver, frame, RECEIVER_DEPTH);
            reference.receiver_type = match pointee(&found).filter(|_| through_pointer) {
                Some(inner) => receiver_type(inner),
                None => receiver_type(&found),
            };
        }
        Some(reference)
    }

    /// A function known to run what it is handed, being handed something to run.
    fn is_launch(&self, name: &str, arguments: &[Node<'a>], frame: &Frame) -> bool {
        let runs = |argument: &Node<'a>| {
            argument.kind() == "lambda_expression"
                || (argument.kind() == "identifier"
                    && frame.locals.lambda(self.text(*argument), argument.start_byte()).is_some())
        };
        let is_parallel = name.starts_with("parallel_") || name.starts_with("Parallel");
        self.table.is_launcher(name) && (is_parallel || arguments.iter().any(runs))
    }

    /// A local lambda handed over is called; an object handed to a launcher has its `operator()` called.
    fn handed_over(&mut self, argument: Node<'a>, is_launch: bool, frame: &Frame) {
        let text = one_line(self.text(argument));
        let at = argument.start_byte();
        let mut reference = match argument.kind() {
            "identifier" if let Some(count) = frame.locals.lambda(&text, at) => {
                let mut call = self.source.reference(ReferenceKind::Call, &text, &text, at);
                call.arguments = count;
                self.rows.refer(frame.owner, call);
                return;
            }
            "identifier" | "pointer_expression" | "call_expression" | "compound_literal_expression"
                if is_launch =>
            {
                self.source.reference(ReferenceKind::Call, "operator()", "operator()", at)
            }
            _ => return,
        };
        let type_text = receiver_type(&self.receiver_type(argument, frame, RECEIVER_DEPTH));
        let names_class =
            type_text.rsplit("::").next().is_some_and(|last| last.starts_with(|c: char| c.is_uppercase()));
        if names_class {
            reference.receiver = shortened(&text, RECEIVER_SHOWN);
            reference.receiver_type = type_text;
            reference.arguments = 1;
            self.rows.refer(frame.owner, reference);
        }
    }

    /// `new Foo(a)` and `Foo{a}`.
    pub(crate) fn construction(&mut self, node: Node<'a>, frame: &mut Frame, next: &mut Vec<Node<'a>>) {
        let list = node.child_by_field_name("arguments").or_else(|| node.child_by_field_name("value"));
        if let Some(written) = node.child_by_field_name("type") {
            self.constructor_call(written, list.map_or(0, |list| arguments_of(list).len()), frame);
        }
        next.extend(list);
        next.extend(node.child_by_field_name("placement"));
    }

    pub(crate) fn constructor_call(&mut self, written: Node<'a>, arguments: usize, frame: &Frame) {
        let node = if written.kind() == "dependent_type" {
            named(written).into_iter().next().unwrap_or(written)
        } else {
            written
        };
        if !matches!(node.kind(), "type_identifier" | "template_type" | "qualified_identifier") {
            return;
        }
        let Some(name) = self.last_name(node) else { return };
        let text = one_line(self.text(node));
        let mut reference = self.source.reference(ReferenceKind::Call, &name, &text, node.start_byte());
        reference.arguments = arguments as u32;
        self.rows.refer(frame.owner, reference);
    }

    /// Type of an object expression as the file shows it, pointers and references included.
    fn receiver_type(&self, node: Node<'a>, frame: &Frame, depth: usize) -> String {
        let deeper = |node: Node<'a>| match depth {
            0 => String::new(),
            _ => self.receiver_type(node, frame, depth - 1),
        };
        match node.kind() {
            "this" => frame.class.clone(),
            "identifier" => self.type_of_name(self.text(node), node.start_byte(), frame),
            "parenthesized_expression" => named(node).into_iter().next().map(deeper).unwrap_or_default(),
            "pointer_expression" => {
                let found = node.child_by_field_name("argument").map(deeper).unwrap_or_default();
                pointee(&receiver_type(&found)).map(str::to_owned).unwrap_or(found)
            }
            "field_expression" => self.type_of_field(node, frame, depth),
            _ => self.type_of_value(node, frame),
        }
    }

    fn type_of_name(&self, name: &str, at: usize, frame: &Frame) -> String {
        if let Some(found) = frame.locals.type_of(name, at) {
            return found.to_owned();
        }
        self.fields.get(&frame.class).and_then(|fields| fields.get(name)).cloned().unwrap_or_default()
    }

    /// `this->x` and `a.x` where the class of `a` is in this file.
    fn type_of_field(&self, node: Node<'a>, frame: &Frame, depth: usize) -> String {
        let (Some(object), Some(field)) =
            (node.child_by_field_name("argument"), node.child_by_field_name("field"))
        else {
            return String::new();
        };
        if depth == 0 {
            return String::new();
        }
        let class = match object.kind() {
            "this" => frame.class.clone(),
            _ => {
                let found = receiver_type(&self.receiver_type(object, frame, depth - 1));
                let found = pointee(&found).map(receiver_type).unwrap_or(found);
                let bare = found.split('<').next().unwrap_or("").to_owned();
                let scoped = frame.scope.namespace();
                let candidates = [bare.clone(), crate::names::join([scoped.as_str(), bare.as_str()])];
                candidates.into_iter().find(|class| self.fields.contains_key(class)).unwrap_or_default()
            }
        };
        self.fields.get(&class).and_then(|fields| fields.get(self.text(field))).cloned().unwrap_or_default()
    }

    /// Type of a value that names it: casts, constructions, `make_shared<T>`.
    pub(crate) fn type_of_value(&self, node: Node<'a>, frame: &Frame) -> String {
        match node.kind() {
            "new_expression" | "compound_literal_expression" => {
                node.child_by_field_name("type").map(|node| one_line(self.text(node))).unwrap_or_default()
            }
            "identifier" => self.type_of_name(self.text(node), node.start_byte(), frame),
            "this" => frame.class.clone(),
            "pointer_expression" => node
                .child_by_field_name("argument")
                .filter(|argument| argument.kind() == "this")
                .map(|_| frame.class.clone())
                .unwrap_or_default(),
            "call_expression" => node
                .child_by_field_name("function")
                .map(|function| self.type_of_call(function))
                .unwrap_or_default(),
            _ => String::new(),
        }
    }

    fn type_of_call(&self, function: Node<'a>) -> String {
        if !matches!(function.kind(), "identifier" | "qualified_identifier" | "template_function") {
            return String::new();
        }
        let written = one_line(self.text(function));
        let (_, last) = self.qualified(function);
        let name = self.last_name(last).unwrap_or_default();
        let argument = || {
            let list = last.child_by_field_name("arguments")?;
            Some(one_line(self.text(named(list).into_iter().next()?)))
        };
        match name.as_str() {
            "make_shared"
            | "make_unique"
            | "static_cast"
            | "dynamic_cast"
            | "reinterpret_cast"
            | "const_cast"
            | "static_pointer_cast"
            | "dynamic_pointer_cast" => argument().unwrap_or_default(),
            // By convention only types begin with a capital where functions are called.
            _ if name.starts_with(|c: char| c.is_uppercase()) && self.known.classes.contains(&name) => {
                written
            }
            _ if last.kind() == "template_function" && name.starts_with(|c: char| c.is_uppercase()) => {
                written
            }
            _ => String::new(),
        }
    }
}

/// Arguments without comments.
fn arguments_of(list: Node<'_>) -> Vec<Node<'_>> {
    named(list).into_iter().filter(|node| node.kind() != "comment").collect()
}

/// What of a callee may hold further calls: the receiver, or a lambda called on the spot.
fn callee_parts(function: Node<'_>) -> Option<Node<'_>> {
    match function.kind() {
        "field_expression" => function.child_by_field_name("argument"),
        "identifier" | "qualified_identifier" | "template_function" | "dependent_name" => None,
        _ => Some(function),
    }
}
