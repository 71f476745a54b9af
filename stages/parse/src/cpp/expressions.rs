//! Expressions in one form, so that what an object is can be followed from file to file.
//!
//! Every operator is a call (`operator+(a, b)`), parentheses and comments are gone, a lambda is
//! `[]`, and what is too long or too deep, or has no type of its own, is `?`. Only names, member
//! accesses, calls, indexing, casts and literals are left to read.

use almanac_language::{Field, Fields};
use tree_sitter::Node;

use crate::cpp::Extractor;
use crate::cpp::calls::{arguments_of, misread_arguments};
use crate::names::one_line;

/// Bytes after which the rest of an expression is `?`.
const LONGEST: usize = 200;
/// Depth below which an expression is `?`.
const DEEPEST: usize = 12;
/// Links of `out << a << b` that are followed to `out`.
const LONGEST_STREAM: usize = 64;
/// Longest literal text kept: the label of a kernel, the name of a field.
const LONGEST_TEXT: usize = 48;
/// Longest template argument list kept.
const LONGEST_ARGUMENTS: usize = 100;

impl<'a> Extractor<'a> {
    /// An expression in the one form.
    pub(crate) fn form(&self, node: Node<'a>) -> String {
        let mut out = String::new();
        self.render(node, &mut out, 0);
        out
    }

    /// Expressions in the one form, separated by commas.
    pub(crate) fn forms(&self, nodes: &[Node<'a>]) -> String {
        let mut out = String::new();
        self.render_list(nodes, &mut out, 0);
        out
    }

    fn render_list(&self, nodes: &[Node<'a>], out: &mut String, depth: usize) {
        let start = out.len();
        for (at, node) in nodes.iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            // A long list still has as many elements.
            match out.len() - start > LONGEST {
                true => out.push('?'),
                false => self.render(*node, out, depth),
            }
        }
    }

    fn render(&self, node: Node<'a>, out: &mut String, depth: usize) {
        if depth > DEEPEST || out.len() > LONGEST {
            out.push('?');
            return;
        }
        let depth = depth + 1;
        match node.kind() {
            "identifier"
            | "field_identifier"
            | "this"
            | "qualified_identifier"
            | "template_function"
            | "template_method"
            | "dependent_name"
            | "type_identifier"
            | "template_type"
            | "primitive_type"
            | "destructor_name"
            | "operator_name" => out.push_str(&self.name_text(node)),
            "true" | "false" => out.push_str("true"),
            "null" => out.push_str("nullptr"),
            "number_literal" => out.push_str(number(self.text(node))),
            "string_literal" | "raw_string_literal" | "concatenated_string" => {
                out.push_str(&literal_text(self.text(node)));
            }
            "char_literal" => out.push_str("' '"),
            "sizeof_expression" | "alignof_expression" | "offsetof_expression" => out.push_str("0u"),
            "parenthesized_expression" | "parameter_pack_expansion" | "subscript_argument_list" => {
                self.first(node, out, depth);
            }
            // `Foo x(a)` read as a function that takes an `a`.
            "parameter_declaration" => self.render_misread(node, out, depth),
            "comma_expression" => self.field(node, Field::Right, out, depth),
            "field_expression" => self.render_member(node, out, depth),
            "call_expression" => self.render_call(node, out, depth),
            "subscript_expression" => self.render_subscript(node, out, depth),
            "binary_expression" | "assignment_expression" => self.render_binary(node, out, depth),
            "unary_expression" | "pointer_expression" | "update_expression" => {
                self.render_unary(node, out, depth);
            }
            "conditional_expression" => self.render_conditional(node, out, depth),
            "cast_expression" => self.render_cast(node, out, depth),
            "new_expression" => self.render_new(node, out),
            "compound_literal_expression" => self.render_braces(node, out, depth),
            "initializer_list" => out.push_str("{}"),
            "lambda_expression" => out.push_str("[]"),
            _ => out.push('?'),
        }
    }

    /// A name as written, on one line; template arguments that are too long are left out.
    fn name_text(&self, node: Node<'a>) -> String {
        let text = self.text(node);
        let is_plain = text.bytes().all(|byte| !byte.is_ascii_whitespace() && byte != b'/');
        let text = if is_plain { text.to_owned() } else { one_line(text) };
        match text.find('<') {
            Some(at) if text.len() > LONGEST_ARGUMENTS && !text.contains("operator") => {
                text.rsplit_once(">::").map_or_else(|| text[..at].to_owned(), |(_, last)| last.to_owned())
            }
            _ => text,
        }
    }

    fn first(&self, node: Node<'a>, out: &mut String, depth: usize) {
        match crate::cpp::named(node).into_iter().find(|child| child.kind() != "comment") {
            Some(inner) => self.render(inner, out, depth),
            None => out.push('?'),
        }
    }

    fn field(&self, node: Node<'a>, field: Field, out: &mut String, depth: usize) {
        match node.field(field) {
            Some(inner) => self.render(inner, out, depth),
            None => out.push('?'),
        }
    }

    fn render_member(&self, node: Node<'a>, out: &mut String, depth: usize) {
        self.field(node, Field::Argument, out, depth);
        out.push_str(self.accessor(node));
        match node.field(Field::Field) {
            Some(field) => out.push_str(&self.name_text(field)),
            None => out.push('?'),
        }
    }

    /// `.` or `->` of a member access.
    pub(crate) fn accessor(&self, node: Node<'a>) -> &'static str {
        let operator = node.field(Field::Operator).map(|node| self.text(node));
        if operator == Some("->") { "->" } else { "." }
    }

    fn render_call(&self, node: Node<'a>, out: &mut String, depth: usize) {
        self.field(node, Field::Function, out, depth);
        out.push('(');
        let list = node.field(Field::Arguments).map(arguments_of).unwrap_or_default();
        self.render_list(&list, out, depth);
        out.push(')');
    }

    fn render_misread(&self, node: Node<'a>, out: &mut String, depth: usize) {
        self.field(node, Field::Type, out, depth);
        match (misread_arguments(node), node.field(Field::Declarator)) {
            (Some(list), _) => {
                out.push('(');
                self.render_list(&arguments_of(list), out, depth);
                out.push(')');
            }
            // `a & b`, `a * b`.
            (None, Some(_)) => out.push('?'),
            (None, None) => {}
        }
    }

    fn render_subscript(&self, node: Node<'a>, out: &mut String, depth: usize) {
        self.field(node, Field::Argument, out, depth);
        out.push('[');
        let list = node.field(Field::Indices).map(arguments_of).unwrap_or_default();
        self.render_list(&list, out, depth);
        out.push(']');
    }

    fn render_binary(&self, node: Node<'a>, out: &mut String, depth: usize) {
        let operator = node.field(Field::Operator).map_or("", |node| self.text(node));
        let Some(mut left) = node.field(Field::Left) else {
            out.push('?');
            return;
        };
        // `out << a << b` is as deep as it is long, and is what `out` is.
        if matches!(operator, "<<" | ">>") {
            for _ in 0..LONGEST_STREAM {
                let is_same = left.kind() == "binary_expression"
                    && left.field(Field::Operator).is_some_and(|node| self.text(node) == operator);
                match left.field(Field::Left).filter(|_| is_same) {
                    Some(inner) => left = inner,
                    None => break,
                }
            }
        }
        out.push_str("operator");
        out.push_str(operator);
        out.push('(');
        self.render(left, out, depth);
        out.push_str(", ");
        self.field(node, Field::Right, out, depth);
        out.push(')');
    }

    fn render_unary(&self, node: Node<'a>, out: &mut String, depth: usize) {
        let operator = node.field(Field::Operator).map_or("", |node| self.text(node));
        out.push_str("operator");
        out.push_str(operator);
        out.push('(');
        self.field(node, Field::Argument, out, depth);
        out.push_str(if is_postfix(node) { ", 0)" } else { ")" });
    }

    fn render_conditional(&self, node: Node<'a>, out: &mut String, depth: usize) {
        out.push_str("operator?(");
        self.field(node, Field::Consequence, out, depth);
        out.push_str(", ");
        self.field(node, Field::Alternative, out, depth);
        out.push(')');
    }

    fn render_cast(&self, node: Node<'a>, out: &mut String, depth: usize) {
        out.push_str("static_cast<");
        self.type_text(node, out);
        out.push_str(">(");
        self.field(node, Field::Value, out, depth);
        out.push(')');
    }

    fn render_new(&self, node: Node<'a>, out: &mut String) {
        out.push_str("static_cast<");
        self.type_text(node, out);
        out.push_str("*>(0)");
    }

    fn render_braces(&self, node: Node<'a>, out: &mut String, depth: usize) {
        self.type_text(node, out);
        out.push('{');
        let list = node.field(Field::Value).map(arguments_of).unwrap_or_default();
        self.render_list(&list, out, depth);
        out.push('}');
    }

    fn type_text(&self, node: Node<'a>, out: &mut String) {
        let text = node.field(Field::Type).map(|node| one_line(self.text(node)));
        out.push_str(&text.unwrap_or_default());
    }
}

/// Whether an operator follows its operand.
pub(crate) fn is_postfix(node: Node<'_>) -> bool {
    let start = |field: Field| node.field(field).map(|node| node.start_byte());
    node.kind() == "update_expression" && start(Field::Argument) < start(Field::Operator)
}

/// A number of the same type.
fn number(text: &str) -> &'static str {
    let lower = text.to_ascii_lowercase();
    let is_hexadecimal = lower.starts_with("0x");
    let is_real = lower.contains('.') || (!is_hexadecimal && lower.contains('e')) || lower.contains('p');
    let ends_with = |suffix: &str| lower.ends_with(suffix);
    match (is_real, is_hexadecimal) {
        _ if text.contains('_') => "?",
        (true, false) if ends_with("f") => "0.f",
        (true, _) => "0.",
        _ if ends_with("ull") || ends_with("llu") || ends_with("ul") || ends_with("lu") => "0ul",
        _ if ends_with("l") => "0l",
        _ if ends_with("u") => "0u",
        _ => "0",
    }
}

/// A text literal; the text itself only where it is short and simple.
fn literal_text(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inner {
        Some(inner) if inner.len() <= LONGEST_TEXT && !inner.contains(['"', '\\', '\n']) => text.to_owned(),
        _ => "\"\"".to_owned(),
    }
}
