//! Functions and methods, declared or defined, in a class or out of it.

use almanac_language::{Field, Fields};
use almanac_tables::EntityKind;
use tree_sitter::Node;

use crate::cpp::bodies::Body;
use crate::cpp::declarations::Item;
use crate::cpp::declarator::{Component, Declared};
use crate::cpp::scope::Scope;
use crate::cpp::{Extractor, named};
use crate::names::{one_line, type_of_head};

impl<'a> Extractor<'a> {
    /// A function with a body, `= default` or `= delete`.
    pub(crate) fn function_definition(&mut self, item: &Item<'a>, scope: &Scope, depth: usize) {
        let node = item.node;
        if let Some(test) = self.test_case(item) {
            let at = self.rows.push(self.test_entity(item, scope, &test));
            self.body(&named(node), None, at, scope, &test.fixture);
            return;
        }
        let declared = node.field(Field::Declarator).and_then(|declarator| self.declared(declarator));
        let declared = self.misread_conversion(node).or(declared);
        let function = declared.as_ref().and_then(|declared| declared.function);
        let (Some(declared), Some(function)) = (declared, function) else {
            // A macro call with a block (`FOREACH(x) { ... }`), or a class the grammar misread.
            self.children(node, scope, depth);
            if let Some(body) = node.field(Field::Body) {
                self.expression(body, scope.owner, scope);
            }
            return;
        };
        if let Some(specifier) = node.field(Field::Type)
            && specifier.field(Field::Body).is_some()
        {
            self.record(&Item::plain(specifier), scope, None, depth);
        }
        let scope = &self.scope_of_function(item, &declared, scope);
        let parts = named(node);
        let clause = |kind: &str| parts.iter().any(|child| child.kind() == kind);
        let has_body = node.field(Field::Body).is_some() || clause("try_statement");
        let is_defaulted = clause("default_method_clause") && !scope.is_class();
        let outside = self.member_scope(&parts, &declared, function, scope);
        let mut entity = self.function_entity(item, &parts, &declared, function, &outside);
        entity.kind = match (outside.is_class(), has_body || is_defaulted) {
            (true, true) => EntityKind::MethodDefinition,
            (true, false) => EntityKind::MethodDeclaration,
            (false, true) => EntityKind::FunctionDefinition,
            (false, false) => EntityKind::FunctionDeclaration,
        };
        entity.is_definition = has_body || is_defaulted;
        let at = self.rows.push(entity);
        self.mention_function(item, function, at, &outside);
        let class = outside.qualified();
        self.body(&parts, Some(function), at, &outside, if outside.is_class() { &class } else { "" });
    }

    /// A function without a body.
    pub(crate) fn function_declaration(
        &mut self,
        item: &Item<'a>,
        scope: &Scope,
        declared: &Declared<'a>,
        function: Node<'a>,
    ) {
        let scope = &self.scope_of_function(item, declared, scope);
        if self.is_macro_call(item, declared, scope) {
            return;
        }
        let parts = named(item.node);
        // `void f() {};` in a class: to the grammar a member with braces for a value.
        let body = parts
            .iter()
            .find(|part| part.kind() == "initializer_list" && part.start_byte() >= function.end_byte());
        let item = &Item { end: body.map_or(item.end, |body| body.end_byte()), ..item.clone() };
        let outside = self.member_scope(&parts, declared, function, scope);
        let mut entity = self.function_entity(item, &parts, declared, function, &outside);
        let is_method = outside.is_class();
        entity.kind = match (is_method, body.is_some()) {
            (true, true) => EntityKind::MethodDefinition,
            (true, false) => EntityKind::MethodDeclaration,
            (false, true) => EntityKind::FunctionDefinition,
            (false, false) => EntityKind::FunctionDeclaration,
        };
        entity.is_definition = body.is_some();
        if !is_method && is_deduction_guide(item, declared, function) {
            entity.kind = EntityKind::DeductionGuide;
        }
        let at = self.rows.push(entity);
        self.mention_function(item, function, at, &outside);
    }

    fn function_entity(
        &self,
        item: &Item<'a>,
        parts: &[Node<'a>],
        declared: &Declared<'a>,
        function: Node<'a>,
        scope: &Scope,
    ) -> almanac_tables::Entity {
        let mut entity = self.entity(EntityKind::FunctionDefinition, &declared.name, item.range(), scope);
        entity.signature = self.function_signature(item, parts, declared, scope);
        entity.return_type = self.return_type(item, declared, function);
        if let Some(list) = parameter_list(function) {
            // As written, but without conditionals and the branches not read here.
            entity.parameters = inner_text(match self.is_kept_as_written(list) {
                true => self.text(list),
                false => self.clean_slice(list.start_byte(), list.end_byte()),
            });
            let parameters = self.parameters(list);
            entity.parameter_names = parameters.names;
            entity.parameter_types = parameters.types;
        }
        entity.template_parameters = self.template_text(item);
        let name = declared.node.start_byte();
        entity.qualifiers = self.function_qualifiers(item, name, function);
        if scope.is_c && !entity.qualifiers.iter().any(|word| word.starts_with("extern")) {
            entity.qualifiers.insert(0, "extern \"C\"".to_owned());
        }
        let body = item.node.field(Field::Body);
        let end = body.map_or(item.node.end_byte(), |body| body.start_byte());
        entity.attributes = self.attributes(item, parts, entity.start_byte as usize, end);
        entity
    }

    /// Scope of a function that may be a friend: the word may stand behind the type.
    fn scope_of_function(&self, item: &Item<'a>, declared: &Declared<'a>, scope: &Scope) -> Scope {
        let is_friend = scope.is_class()
            && self.head_qualifiers(item, declared.node.start_byte()).iter().any(|word| word == "friend");
        if is_friend { scope.around_classes() } else { scope.clone() }
    }

    /// Whether what looks like a member without type is a call of a macro: only constructors,
    /// destructors and conversions have none.
    fn is_macro_call(&self, item: &Item<'a>, declared: &Declared<'a>, scope: &Scope) -> bool {
        scope.is_class()
            && declared.qualifier.is_empty()
            && item.node.field(Field::Type).is_none()
            && !declared.is_conversion
            && !declared.name.starts_with(['~'])
            && !declared.name.starts_with("operator")
            && declared.name != scope.innermost_class()
    }

    /// Head of the function on one line. Inside a specialisation the name is qualified with it, so
    /// that members of two specialisations differ.
    fn function_signature(
        &self,
        item: &Item<'a>,
        parts: &[Node<'a>],
        declared: &Declared<'a>,
        scope: &Scope,
    ) -> String {
        let stops = [
            "compound_statement",
            "field_initializer_list",
            "initializer_list",
            "try_statement",
            "constructor_try_statement",
        ];
        let end = parts
            .iter()
            .find(|child| stops.contains(&child.kind()))
            .map_or(item.node.end_byte(), |child| child.start_byte());
        // The parameters as they are kept beside the signature, macros among them included.
        let list = declared.function.and_then(parameter_list).filter(|list| self.is_kept_as_written(*list));
        if let (Some(list), true) = (list, scope.specialisation().is_none()) {
            let head = self.clean_slice(item.start, list.start_byte());
            let tail = self.clean_slice(list.end_byte(), end);
            let text = one_line(&format!("{head}{}{tail}", self.text(list)));
            return text.trim_end_matches([';', ' ']).to_owned();
        }
        match scope.specialisation().filter(|_| declared.qualifier.is_empty()) {
            Some(class) => {
                let at = declared.node.start_byte();
                let head = self.seen_line(item.start, at);
                let tail = self.head(&Item { start: at, ..item.clone() }, end);
                let space = if head.is_empty() || head.ends_with(['*', '&']) { "" } else { " " };
                format!("{head}{space}{class}::{tail}")
            }
            None => self.head(item, end),
        }
    }

    fn is_kept_as_written(&self, list: Node<'_>) -> bool {
        !self.text(list).contains('#')
    }

    fn return_type(&self, item: &Item<'a>, declared: &Declared<'a>, function: Node<'a>) -> String {
        if declared.is_conversion {
            return declared.name.trim_start_matches("operator").trim().to_owned();
        }
        let trailing = named(function).into_iter().find(|child| child.kind() == "trailing_return_type");
        if let Some(trailing) = trailing {
            let text = self.seen_line(trailing.start_byte(), trailing.end_byte());
            return text.trim_start_matches("->").trim().to_owned();
        }
        type_of_head(self.clean_slice(item.node.start_byte(), function.start_byte()))
    }

    /// Scope of a function: a written qualifier names a class or a namespace.
    fn member_scope(
        &self,
        parts: &[Node<'a>],
        declared: &Declared<'a>,
        function: Node<'a>,
        scope: &Scope,
    ) -> Scope {
        if declared.qualifier.is_empty() {
            return scope.clone();
        }
        let last = declared.qualifier.last().map_or("", |component| component.name.as_str());
        let marks_member = declared.name == last
            || declared.name.starts_with('~')
            || declared.is_conversion
            || matches!(declared.name.as_str(), "operator=" | "operator()" | "operator[]" | "operator->")
            || named(function).iter().any(|child| {
                matches!(child.kind(), "type_qualifier" | "ref_qualifier" | "virtual_specifier")
            })
            || parts.iter().any(|child| child.kind() == "field_initializer_list");
        self.scope_of_qualifier(&declared.qualifier, scope, marks_member)
    }

    /// Scope of a class or variable with a written qualifier.
    pub(crate) fn qualified_scope(&self, qualifier: &[Component], scope: &Scope) -> Scope {
        if qualifier.is_empty() { scope.clone() } else { self.scope_of_qualifier(qualifier, scope, false) }
    }

    /// Splits a qualifier into namespaces and classes, as far as one file tells: template arguments
    /// and classes defined here are certain, then what only a member can have, then capitals.
    fn scope_of_qualifier(&self, qualifier: &[Component], scope: &Scope, marks_member: bool) -> Scope {
        let names: Vec<String> =
            qualifier.iter().map(|component| component.name.clone()).filter(|n| !n.is_empty()).collect();
        let certain = qualifier.iter().filter(|component| !component.name.is_empty()).position(|component| {
            !component.arguments.is_empty() || self.known.classes.contains(&component.name)
        });
        let looks_like_class = |name: &String| {
            !self.known.namespaces.contains(name) && name.starts_with(|c: char| c.is_uppercase())
        };
        let split = certain.unwrap_or_else(|| {
            let capitals = names.iter().rev().take_while(|name| looks_like_class(name)).count();
            let members = capitals.max(usize::from(marks_member));
            names.len() - members.min(names.len())
        });
        scope.in_qualifier(&names[..split], &names[split..])
    }

    /// Queues the body of a callable; `class` is the qualified class whose fields it sees.
    fn body(
        &mut self,
        parts: &[Node<'a>],
        function: Option<Node<'a>>,
        owner: usize,
        scope: &Scope,
        class: &str,
    ) {
        let parameters = function.and_then(parameter_list);
        let parameters = parameters.map(|list| self.parameter_types(list)).unwrap_or_default();
        if let Some(list) = function.and_then(parameter_list) {
            self.default_arguments(list, owner, scope);
        }
        let is_code = |child: &&Node<'a>| {
            matches!(
                child.kind(),
                "compound_statement"
                    | "field_initializer_list"
                    | "try_statement"
                    | "constructor_try_statement"
            )
        };
        for node in parts.iter().filter(is_code) {
            self.bodies.push(Body {
                node: *node,
                owner,
                parameters: parameters.clone(),
                class: class.to_owned(),
                scope: scope.clone(),
            });
        }
    }

    /// Names and types of parameters.
    pub(crate) fn parameter_types(&self, list: Node<'_>) -> Vec<(String, String)> {
        named(list)
            .into_iter()
            .filter_map(|parameter| {
                let declarator = parameter.field(Field::Declarator)?;
                let declared = self.declared(declarator)?;
                let head = self.clean_slice(parameter.start_byte(), declared.node.start_byte());
                Some((declared.name, type_of_head(head)))
            })
            .collect()
    }

    fn default_arguments(&mut self, list: Node<'a>, owner: usize, scope: &Scope) {
        for parameter in named(list) {
            if let Some(value) = parameter.field(Field::DefaultValue) {
                self.expression(value, Some(owner), scope);
            }
        }
    }

    /// A test macro with a body.
    fn test_case(&self, item: &Item<'a>) -> Option<TestCase> {
        let declarator = item.node.field(Field::Declarator)?;
        let start = declarator.start_byte().min(item.node.start_byte());
        let head = self.source.slice(start, item.node.field(Field::Body)?.start_byte());
        let (macro_name, arguments) = head.split_once('(')?;
        let macro_name = macro_name.trim();
        let arguments = arguments.trim_end().trim_end_matches(')');
        if self.table.is_suite_test(macro_name) {
            let parts: Vec<&str> = arguments.split(',').map(str::trim).collect();
            let [suite, name, ..] = parts.as_slice() else { return None };
            let fixture = if matches!(macro_name, "TEST" | "GTEST_TEST") { "" } else { suite };
            return Some(TestCase {
                name: format!("{suite}.{name}"),
                parent: (*suite).to_owned(),
                fixture: fixture.to_owned(),
                signature: one_line(head),
            });
        }
        if self.table.is_named_test(macro_name) {
            let name = match arguments.split('"').nth(1) {
                Some(quoted) => quoted.to_owned(),
                None => arguments.split(',').next().unwrap_or("").trim().to_owned(),
            };
            return Some(TestCase {
                name,
                parent: String::new(),
                fixture: String::new(),
                signature: one_line(head),
            });
        }
        None
    }

    fn test_entity(&self, item: &Item<'a>, scope: &Scope, test: &TestCase) -> almanac_tables::Entity {
        let mut entity = self.entity(EntityKind::TestCase, &test.name, item.range(), scope);
        entity.signature = test.signature.clone();
        entity.class_name = test.fixture.clone();
        if !test.parent.is_empty() {
            entity.parent = scope.qualify(&test.parent);
        }
        entity
    }
}

/// `A(T) -> A<T>;`
fn is_deduction_guide(item: &Item<'_>, declared: &Declared<'_>, function: Node<'_>) -> bool {
    item.node.field(Field::Type).is_none()
        && declared.qualifier.is_empty()
        && named(function).iter().any(|child| child.kind() == "trailing_return_type")
}

struct TestCase {
    name: String,
    parent: String,
    /// Class the test is a member of; empty if none.
    fixture: String,
    signature: String,
}

/// The parameter list of a function declarator or conversion operator.
pub(crate) fn parameter_list(function: Node<'_>) -> Option<Node<'_>> {
    let mut node = function;
    loop {
        if let Some(list) = node.field(Field::Parameters) {
            return Some(list);
        }
        node = node
            .field(Field::Declarator)
            .or_else(|| named(node).into_iter().rev().find(|child| child.kind().contains("declarator")))?;
    }
}

fn inner_text(list: &str) -> String {
    let text = one_line(list);
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    inner.unwrap_or(&text).trim().to_owned()
}
