//! Declarators: the name inside and what is declared.

use almanac_language::{Field, Fields};
use tree_sitter::Node;

use crate::cpp::{Extractor, named};

/// A declared name.
#[derive(Debug, Clone)]
pub(crate) struct Declared<'t> {
    /// Scope written before the name.
    pub(crate) qualifier: Vec<Component>,
    /// Unqualified name.
    pub(crate) name: String,
    /// Node of the name, qualifier included.
    pub(crate) node: Node<'t>,
    /// The function declarator around the name, or the conversion operator itself.
    pub(crate) function: Option<Node<'t>>,
    /// Initial value.
    pub(crate) value: Option<Node<'t>>,
    /// Whether the name is a conversion operator.
    pub(crate) is_conversion: bool,
}

/// One part of a qualifier.
#[derive(Debug, Clone)]
pub(crate) struct Component {
    /// Without template arguments.
    pub(crate) name: String,
    /// Template arguments as written, brackets included; empty if none.
    pub(crate) arguments: String,
}

impl<'a> Extractor<'a> {
    /// Unwraps a declarator down to the name; `None` when it declares nothing.
    pub(crate) fn declared<'t>(&self, declarator: Node<'t>) -> Option<Declared<'t>> {
        let mut node = declarator;
        let mut function = None;
        let mut value = None;
        loop {
            match node.kind() {
                "function_declarator" => {
                    function = Some(node);
                    node = node.field(Field::Declarator)?;
                }
                "init_declarator" => {
                    value = node.field(Field::Value);
                    node = node.field(Field::Declarator)?;
                }
                "pointer_declarator" | "array_declarator" => {
                    // A pointer to a function is no function.
                    function = None;
                    node = node.field(Field::Declarator)?;
                }
                "reference_declarator" | "attributed_declarator" | "variadic_declarator" => {
                    function = None;
                    node = inner_declarator(node)?;
                }
                "parenthesized_declarator" => node = inner_declarator(node)?,
                _ => break,
            }
        }
        self.named_declarator(node, function, value)
    }

    fn named_declarator<'t>(
        &self,
        node: Node<'t>,
        function: Option<Node<'t>>,
        value: Option<Node<'t>>,
    ) -> Option<Declared<'t>> {
        let (qualifier, last) = self.qualified(node);
        let is_conversion = last.kind() == "operator_cast";
        let name = self.last_name(last)?;
        let function = if is_conversion { Some(last) } else { function };
        Some(Declared { qualifier, name, node, function, value, is_conversion })
    }

    /// `A<T>::operator B() const`: to the grammar a function `B` that gives back an
    /// `A<T>::operator`.
    pub(crate) fn misread_conversion<'t>(&self, declaration: Node<'t>) -> Option<Declared<'t>> {
        let node = declaration.field(Field::Type).filter(|node| node.kind() == "qualified_identifier")?;
        let (qualifier, last) = self.qualified(node);
        if self.text(last) != "operator" {
            return None;
        }
        let function = self.declared(declaration.field(Field::Declarator)?)?.function?;
        let list = function.field(Field::Parameters)?;
        let name = crate::names::one_line(self.source.slice(last.start_byte(), list.start_byte()));
        Some(Declared { qualifier, name, node, function: Some(function), value: None, is_conversion: true })
    }

    /// Splits `a::B<T>::c` into its qualifier and the node of its last name.
    pub(crate) fn qualified<'t>(&self, node: Node<'t>) -> (Vec<Component>, Node<'t>) {
        let mut qualifier = Vec::new();
        let mut last = node;
        while last.kind() == "qualified_identifier" {
            if let Some(scope) = last.field(Field::Scope) {
                qualifier.push(self.component(scope));
            }
            match last.field(Field::Name) {
                Some(name) => last = name,
                None => break,
            }
        }
        (qualifier, last)
    }

    fn component(&self, node: Node<'_>) -> Component {
        let node = if node.kind() == "dependent_name" {
            named(node).into_iter().next().unwrap_or(node)
        } else {
            node
        };
        let name = node.field(Field::Name).unwrap_or(node);
        let arguments = node.field(Field::Arguments);
        Component {
            name: self.text(name).trim().to_owned(),
            arguments: arguments.map(|node| self.text(node).to_owned()).unwrap_or_default(),
        }
    }

    /// Unqualified name of an identifier-like node.
    pub(crate) fn last_name(&self, node: Node<'_>) -> Option<String> {
        match node.kind() {
            "identifier"
            | "field_identifier"
            | "type_identifier"
            | "namespace_identifier"
            | "primitive_type" => {
                let name = self.text(node).trim();
                (!name.is_empty()).then(|| self.without_spaces(name))
            }
            "destructor_name" => Some(self.without_spaces(self.text(node))),
            "operator_name" => Some(operator_name(self.text(node))),
            "operator_cast" => {
                let end = function_tail(node).map_or(node.end_byte(), |tail| tail.start_byte());
                let text = self.source.slice(node.start_byte(), end);
                Some(crate::names::one_line(text))
            }
            "template_function" | "template_method" | "template_type" => {
                self.last_name(node.field(Field::Name)?)
            }
            "dependent_name" => self.last_name(named(node).into_iter().next()?),
            "qualified_identifier" => self.last_name(self.qualified(node).1),
            _ => None,
        }
    }

    /// Names have no spaces, but an operator hidden from the grammar (`x->operator +=(y)`) may.
    fn without_spaces(&self, name: &str) -> String {
        if name.starts_with("operator") { operator_name(name) } else { name.split_whitespace().collect() }
    }
}

/// `operator +=` as `operator+=`; words keep a space (`operator new`).
fn operator_name(text: &str) -> String {
    let symbol = text.trim_start_matches("operator").trim();
    let is_word = symbol.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.len() > "operator".len() + symbol.len();
    let symbol: String = if is_word {
        format!(" {}", symbol.split_whitespace().collect::<Vec<_>>().join(" "))
    } else {
        symbol.split_whitespace().collect()
    };
    format!("operator{symbol}")
}

/// The parameter part of a conversion operator.
fn function_tail(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node.field(Field::Declarator)?;
    while node.kind() != "abstract_function_declarator" {
        node = node.field(Field::Declarator).or_else(|| named(node).pop())?;
    }
    Some(node)
}

/// The declarator inside one that does not name it with a field.
fn inner_declarator(node: Node<'_>) -> Option<Node<'_>> {
    named(node).into_iter().find(|child| {
        child.kind().ends_with("declarator")
            || matches!(
                child.kind(),
                "identifier"
                    | "field_identifier"
                    | "type_identifier"
                    | "qualified_identifier"
                    | "operator_name"
                    | "destructor_name"
                    | "template_function"
                    | "operator_cast"
            )
    })
}
