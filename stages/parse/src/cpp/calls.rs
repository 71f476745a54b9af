//! Calls, launches, constructions and operators, with what they are made on as an expression.

use almanac_language::{Field, Fields};
use almanac_tables::{Reference, ReferenceKind};
use tree_sitter::Node;

use crate::cpp::bodies::Frame;
use crate::cpp::expressions::is_postfix;
use crate::cpp::{Extractor, named};
use crate::names::one_line;

/// What looks like a call of a function and is none.
const KEYWORDS: &[&str] = &[
    "static_cast",
    "dynamic_cast",
    "reinterpret_cast",
    "const_cast",
    "decltype",
    "typeid",
    "defined",
    "alignas",
    "noexcept",
    "__attribute__",
];

/// Operands of a chain of operators that are looked at to tell what it is.
const LONGEST_CHAIN: usize = 32;

impl<'a> Extractor<'a> {
    pub(crate) fn call(&mut self, node: Node<'a>, frame: &mut Frame, next: &mut Vec<Node<'a>>) {
        let Some(function) = node.field(Field::Function) else {
            next.extend(named(node));
            return;
        };
        let arguments = node.field(Field::Arguments);
        let list = arguments.map(arguments_of).unwrap_or_default();
        next.extend(callee_parts(function));
        next.extend(list.iter().copied());
        let Some(mut reference) = self.callee(function) else { return };
        reference.arguments = list.len() as u32;
        reference.argument_list = self.forms(&list);
        let is_kernel = arguments.is_some_and(|list| self.launches.contains(&list.start_byte()));
        let is_launch = is_kernel || self.is_launch(&reference.name, &list, frame);
        if is_launch {
            reference.kind = ReferenceKind::Launch;
        }
        self.rows.refer(frame.owner, reference);
        for argument in list {
            self.handed_over(argument, frame);
        }
    }

    /// `Foo x(f(a))` read as a function that takes a function: `f(a)` is a call.
    pub(crate) fn misread_call(&mut self, node: Node<'a>, frame: &Frame, next: &mut Vec<Node<'a>>) {
        let (Some(function), Some(list)) = (node.field(Field::Type), misread_arguments(node)) else {
            return;
        };
        let Some(name) = self.last_name(function) else { return };
        let list = arguments_of(list);
        let written = one_line(self.text(function));
        let mut reference =
            self.source.reference(ReferenceKind::Call, &name, &written, function.start_byte());
        reference.arguments = list.len() as u32;
        reference.argument_list = self.forms(&list);
        self.rows.refer(frame.owner, reference);
        next.extend(list);
    }

    /// The callee of a call expression; `None` for a lambda called on the spot and for casts.
    fn callee(&self, function: Node<'a>) -> Option<Reference> {
        let (name_node, receiver) = match function.kind() {
            "field_expression" => (function.field(Field::Field)?, function.field(Field::Argument)),
            "identifier" | "qualified_identifier" | "template_function" | "dependent_name" => {
                (function, None)
            }
            "call_expression" | "subscript_expression" => {
                return Some(self.operator_on("operator()", "()", function, function.end_byte()));
            }
            _ => return None,
        };
        let name = self.last_name(name_node)?;
        if KEYWORDS.contains(&name.as_str()) {
            return None;
        }
        let written = one_line(self.text(name_node));
        let mut reference =
            self.source.reference(ReferenceKind::Call, &name, &written, name_node.start_byte());
        if let Some(receiver) = receiver {
            reference.receiver = self.form(receiver) + self.accessor(function);
        }
        Some(reference)
    }

    /// The call of a member operator on an object.
    fn operator_on(&self, name: &str, written: &str, object: Node<'a>, at: usize) -> Reference {
        let mut reference = self.source.reference(ReferenceKind::Call, name, written, at);
        reference.receiver = self.form(object) + ".";
        reference
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

    /// A local lambda handed over is called.
    fn handed_over(&mut self, argument: Node<'a>, frame: &Frame) {
        let at = argument.start_byte();
        if argument.kind() == "identifier"
            && let text = self.text(argument)
            && let Some(count) = frame.locals.lambda(text, at)
        {
            let mut call = self.source.reference(ReferenceKind::Call, text, text, at);
            call.arguments = count;
            self.rows.refer(frame.owner, call);
        }
    }

    /// `new Foo(a)` and `Foo{a}`.
    pub(crate) fn construction(&mut self, node: Node<'a>, frame: &mut Frame, next: &mut Vec<Node<'a>>) {
        let list = node.field(Field::Arguments).or_else(|| node.field(Field::Value));
        if let Some(written) = node.field(Field::Type) {
            let arguments = list.map(arguments_of).unwrap_or_default();
            self.constructor_call(written, &arguments, frame.owner);
        }
        next.extend(list);
        next.extend(node.field(Field::Placement));
    }

    /// An object of a written type is made from arguments.
    pub(crate) fn constructor_call(
        &mut self,
        written: Node<'a>,
        arguments: &[Node<'a>],
        owner: Option<usize>,
    ) {
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
        let mut reference = self.source.reference(ReferenceKind::Construct, &name, &text, node.start_byte());
        reference.arguments = arguments.len() as u32;
        reference.argument_list = self.forms(arguments);
        self.rows.refer(owner, reference);
    }

    /// An operator, where one of its operands may be an object of a class.
    pub(crate) fn operator(&mut self, node: Node<'a>, frame: &Frame) {
        let Some(operands) = self.operands(node) else { return };
        if !operands.iter().any(|operand| self.may_be_object(*operand, frame)) {
            return;
        }
        let (symbol, at) = match node.field(Field::Operator) {
            Some(operator) => (self.text(operator), operator.start_byte()),
            None => ("[]", operands[0].end_byte()),
        };
        let name = format!("operator{symbol}");
        let mut reference = self.source.reference(ReferenceKind::Call, &name, symbol, at);
        reference.arguments = operands.len() as u32;
        reference.argument_list = self.forms(&operands);
        if is_postfix(node) {
            reference.arguments += 1;
            reference.argument_list.push_str(", 0");
        }
        self.rows.refer(frame.owner, reference);
    }

    /// What an operator that a class may define works on; `None` for the others.
    fn operands(&self, node: Node<'a>) -> Option<Vec<Node<'a>>> {
        let operator = node.field(Field::Operator).map_or("", |node| self.text(node));
        let fields: &[Field] = match node.kind() {
            _ if matches!(operator, "&&" | "||" | "and" | "or" | "not") => return None,
            "pointer_expression" if operator == "&" => return None,
            "binary_expression" | "assignment_expression" => &[Field::Left, Field::Right],
            "unary_expression" | "pointer_expression" | "update_expression" => &[Field::Argument],
            "subscript_expression" => {
                let object = node.field(Field::Argument)?;
                let indices = node.field(Field::Indices).map(arguments_of).unwrap_or_default();
                return Some(std::iter::once(object).chain(indices).collect());
            }
            _ => return None,
        };
        fields.iter().map(|field| node.field(*field)).collect()
    }

    /// Whether an expression may be an object of a class: what is certainly a number, a pointer or a
    /// value of a template parameter's type has no operators to be found.
    pub(crate) fn may_be_object(&self, node: Node<'a>, frame: &Frame) -> bool {
        let mut node = node;
        for _ in 0..LONGEST_CHAIN {
            let operator = node.field(Field::Operator).map_or("", |node| self.text(node));
            let inner = match node.kind() {
                "number_literal"
                | "string_literal"
                | "raw_string_literal"
                | "concatenated_string"
                | "char_literal"
                | "true"
                | "false"
                | "null"
                | "sizeof_expression"
                | "alignof_expression"
                | "new_expression"
                | "this"
                | "lambda_expression"
                | "initializer_list" => return false,
                "identifier" => return self.name_may_be_object(node, frame),
                "field_expression" => return self.field_may_be_object(node, frame),
                "cast_expression" => {
                    let text = node.field(Field::Type).map_or("", |node| self.text(node));
                    return type_may_be_object(text, frame);
                }
                "call_expression" => {
                    let function = node.field(Field::Function);
                    return function.is_none_or(|function| self.call_may_give_object(function, frame));
                }
                "binary_expression" => match operator {
                    "==" | "!=" | "<" | ">" | "<=" | ">=" | "&&" | "||" | "and" | "or" => return false,
                    _ => {
                        let right = node.field(Field::Right);
                        if right.is_some_and(|right| !is_deep(right) && self.may_be_object(right, frame)) {
                            return true;
                        }
                        node.field(Field::Left)
                    }
                },
                "unary_expression" if operator == "!" => return false,
                "pointer_expression" if operator == "&" => return false,
                "unary_expression" | "update_expression" => node.field(Field::Argument),
                "assignment_expression" => node.field(Field::Left),
                "conditional_expression" => node.field(Field::Consequence),
                "parenthesized_expression" => named(node).into_iter().find(|child| child.kind() != "comment"),
                "subscript_expression" | "pointer_expression" => {
                    let argument = node.field(Field::Argument);
                    match argument.filter(|argument| argument.kind() == "identifier") {
                        Some(name) => return self.element_may_be_object(name, frame),
                        None => return true,
                    }
                }
                _ => return true,
            };
            let Some(next) = inner else { return true };
            node = next;
        }
        // A sum that long is one of numbers.
        false
    }

    fn name_may_be_object(&self, node: Node<'a>, frame: &Frame) -> bool {
        let name = self.text(node);
        match self.type_of_name(name, node.start_byte(), frame) {
            Some(text) => type_may_be_object(text, frame),
            // A constant or a value passed to a template.
            None => {
                let is_constant = name.bytes().all(|byte| !byte.is_ascii_lowercase());
                !is_constant && !frame.scope.is_template_parameter(name)
            }
        }
    }

    /// Whether a field of the class around is not known to be something else than an object.
    pub(crate) fn field_is_object(&self, name: &str, frame: &Frame) -> bool {
        let fields = self.fields.get(&frame.class);
        fields.and_then(|fields| fields.get(name)).is_none_or(|text| type_may_be_object(text, frame))
    }

    fn field_may_be_object(&self, node: Node<'a>, frame: &Frame) -> bool {
        let is_own = node.field(Field::Argument).is_some_and(|object| object.kind() == "this");
        let field = node.field(Field::Field).filter(|_| is_own);
        field.is_none_or(|field| self.field_is_object(self.text(field), frame))
    }

    /// What a name points to or holds many of.
    fn element_may_be_object(&self, node: Node<'a>, frame: &Frame) -> bool {
        let Some(text) = self.type_of_name(self.text(node), node.start_byte(), frame) else { return true };
        match text.trim_end().strip_suffix('*') {
            Some(pointee) => type_may_be_object(pointee, frame),
            None => type_may_be_object(text, frame),
        }
    }

    fn call_may_give_object(&self, function: Node<'a>, frame: &Frame) -> bool {
        if function.kind() == "primitive_type" {
            return false;
        }
        let is_cast = function.kind() == "template_function"
            && self.last_name(function).is_some_and(|name| name.ends_with("_cast"));
        let Some(list) = function.field(Field::Arguments).filter(|_| is_cast) else { return true };
        let text = self.text(list).trim_start_matches('<').trim_end_matches('>');
        type_may_be_object(text, frame)
    }

    /// Type of a local or of a field of the class around, as far as the file shows it.
    fn type_of_name<'s>(&'s self, name: &str, at: usize, frame: &'s Frame) -> Option<&'s str> {
        let local = frame.locals.type_of(name, at);
        local.or_else(|| self.fields.get(&frame.class)?.get(name).map(String::as_str))
    }
}

/// Whether an operand is itself a long expression, whose type the other operand may tell.
fn is_deep(node: Node<'_>) -> bool {
    matches!(node.kind(), "binary_expression" | "conditional_expression")
}

/// Whether objects of a type as written may have operators; a type that is not shown may.
fn type_may_be_object(text: &str, frame: &Frame) -> bool {
    const PLAIN: &[&str] = &[
        "void",
        "bool",
        "char",
        "short",
        "int",
        "long",
        "float",
        "double",
        "signed",
        "unsigned",
        "size_t",
        "ptrdiff_t",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
        "intptr_t",
        "uintptr_t",
        "wchar_t",
        "std",
        "const",
        "volatile",
        "typename",
    ];
    let is_pointer = text.trim_end().trim_end_matches("const").trim_end().ends_with('*');
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let is_plain = |word: &str| PLAIN.contains(&word) || frame.scope.is_template_parameter(word);
    let is_shown = words.clone().next().is_some();
    !is_shown || !(is_pointer || words.all(is_plain))
}

/// Arguments of a call that was read as the type of a parameter.
pub(crate) fn misread_arguments(node: Node<'_>) -> Option<Node<'_>> {
    let declarator = node.field(Field::Declarator)?;
    let is_call = declarator.kind() == "abstract_function_declarator";
    declarator.field(Field::Parameters).filter(|_| is_call)
}

/// Arguments without comments.
pub(crate) fn arguments_of(list: Node<'_>) -> Vec<Node<'_>> {
    named(list).into_iter().filter(|node| node.kind() != "comment").collect()
}

/// What of a callee may hold further calls: the receiver, or a lambda called on the spot.
fn callee_parts(function: Node<'_>) -> Option<Node<'_>> {
    match function.kind() {
        "field_expression" => function.field(Field::Argument),
        "identifier" | "qualified_identifier" | "template_function" | "dependent_name" => None,
        _ => Some(function),
    }
}
