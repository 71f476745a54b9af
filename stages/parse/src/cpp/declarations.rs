//! Walks declarations: what stands at namespace and class level.

use almanac_language::{Field, Fields};
use almanac_tables::{Access, EntityKind};
use tree_sitter::Node;

use crate::cpp::scope::Scope;
use crate::cpp::{Extractor, named};
use crate::names::{shortened, type_of_head};

/// Depth of declarations inside declarations that is followed. Real code stays below twenty.
const DEPTH: usize = 150;
/// Longest initial value shown in the signature of a variable, in characters.
pub(crate) const VALUE_SHOWN: usize = 120;

/// A declaration with what is wrapped around it.
#[derive(Debug, Clone)]
pub(crate) struct Item<'t> {
    pub(crate) node: Node<'t>,
    /// First byte, of the outermost template header or `friend`.
    pub(crate) start: usize,
    /// Byte past the end of the outermost wrapper.
    pub(crate) end: usize,
    /// Template parameter lists, outermost first.
    pub(crate) templates: Vec<Node<'t>>,
    /// Qualifiers that stand outside the node.
    pub(crate) words: Vec<&'static str>,
}

impl<'t> Item<'t> {
    pub(crate) fn plain(node: Node<'t>) -> Self {
        Self {
            node,
            start: node.start_byte(),
            end: node.end_byte(),
            templates: Vec::new(),
            words: Vec::new(),
        }
    }

    /// Byte past the declaration without a final `;`.
    pub(crate) fn range(&self) -> (usize, usize) {
        (self.start, self.end)
    }
}

impl<'a> Extractor<'a> {
    /// Walks all children of a node that is a list of declarations.
    pub(crate) fn children(&mut self, node: Node<'a>, scope: &Scope, depth: usize) {
        if depth > DEPTH {
            return;
        }
        let mut with_access = None;
        for child in named(node) {
            if self.watch.check().is_err() {
                return;
            }
            if child.kind() == "access_specifier" {
                // As the grammar sees it: the word may be a macro.
                let word = self.seen.get(child.byte_range()).unwrap_or("");
                let access = match word.trim_end_matches(|c: char| !c.is_alphanumeric()) {
                    "private" => Access::Private,
                    "protected" => Access::Protected,
                    _ => Access::Public,
                };
                with_access = Some(scope.with_access(access));
                continue;
            }
            self.declaration(&Item::plain(child), with_access.as_ref().unwrap_or(scope), depth + 1);
        }
    }

    pub(crate) fn declaration(&mut self, item: &Item<'a>, scope: &Scope, depth: usize) {
        let node = item.node;
        if self.tree.masked.instantiations.binary_search(&node.start_byte()).is_ok() {
            return self.instantiation(node, scope);
        }
        if let Some(opened) = self.opened_at(node) {
            return self.opened_block(node, &opened, scope, depth);
        }
        match node.kind() {
            "expression_statement" | "declaration" | "field_declaration" if self.is_generator_call(node) => {
                let end = node.start_byte() + self.text(node).trim_end_matches([';', ' ', '\n']).len();
                self.generated.push((node.start_byte(), end));
            }
            "namespace_definition" => self.namespace(node, scope, depth),
            "namespace_alias_definition" => self.namespace_alias(node, scope),
            "using_declaration" => self.using(node, scope.owner),
            "template_declaration" => self.template(item, scope, depth),
            "linkage_specification" => self.linkage(node, scope, depth),
            "friend_declaration" => self.friend(item, scope, depth),
            "class_specifier" | "struct_specifier" | "union_specifier" => {
                self.record(item, scope, None, depth);
            }
            "enum_specifier" => self.enumeration(item, scope, None),
            "function_definition" => self.function_definition(item, scope, depth),
            "declaration" | "field_declaration" => self.variables_and_functions(item, scope, depth),
            "alias_declaration" => self.alias(item, scope),
            "type_definition" => self.typedef(item, scope, depth),
            "concept_definition" => self.concept(item, scope),
            "expression_statement" | "compound_statement" => self.stray_code(node, scope),
            "translation_unit"
            | "declaration_list"
            | "field_declaration_list"
            | "ERROR"
            | "preproc_if"
            | "preproc_ifdef"
            | "preproc_else"
            | "preproc_elif"
            | "preproc_elifdef" => {
                self.children(node, scope, depth);
            }
            _ => {}
        }
    }

    fn template(&mut self, item: &Item<'a>, scope: &Scope, depth: usize) {
        let mut templates = item.templates.clone();
        templates.extend(item.node.field(Field::Parameters));
        let names = templates.last().map(|list| self.template_names(*list)).unwrap_or_default();
        let scope = scope.with_templates(names);
        for node in named(item.node) {
            let inner = Item { node, templates: templates.clone(), ..item.clone() };
            match node.kind() {
                "template_parameter_list" | "requires_clause" | "comment" => {}
                _ => self.declaration(&inner, &scope, depth + 1),
            }
        }
    }

    /// Names of the parameters in a template parameter list.
    fn template_names(&self, list: Node<'_>) -> Vec<String> {
        named(list)
            .into_iter()
            .filter_map(|parameter| {
                let inner = match parameter.kind() {
                    "template_template_parameter_declaration" => named(parameter).pop()?,
                    _ => parameter,
                };
                let name = inner.field(Field::Name).or_else(|| inner.field(Field::Declarator));
                let name =
                    name.or_else(|| named(inner).into_iter().find(|n| n.kind() == "type_identifier"))?;
                let text = self.text(name);
                Some(text.trim_start_matches(['.', '&', '*', ' ']).to_owned())
            })
            .collect()
    }

    fn linkage(&mut self, node: Node<'a>, scope: &Scope, depth: usize) {
        let Some(body) = node.field(Field::Body) else { return };
        if body.kind() == "declaration_list" {
            self.children(body, &scope.with_c_linkage(), depth);
        } else {
            let words = vec!["extern \"C\""];
            self.declaration(&Item { node: body, words, ..Item::plain(node) }, scope, depth + 1);
        }
    }

    /// `template class A<int>;` names the class it is made of.
    fn instantiation(&mut self, node: Node<'a>, scope: &Scope) {
        let specifier = node.field(Field::Type).unwrap_or(node);
        if let Some(name) = specifier.field(Field::Name) {
            self.mention(name, scope.owner, scope);
        }
    }

    /// A friend function belongs to the namespace around the class; a friend class is named.
    fn friend(&mut self, item: &Item<'a>, scope: &Scope, depth: usize) {
        let outside = scope.around_classes();
        for node in named(item.node) {
            match node.kind() {
                "declaration" | "function_definition" => {
                    let mut inner = Item { node, ..item.clone() };
                    inner.words.push("friend");
                    self.declaration(&inner, &outside, depth + 1);
                }
                "class_specifier" | "struct_specifier" | "union_specifier" => {
                    if let Some(name) = node.field(Field::Name) {
                        self.mention(name, scope.owner, scope);
                    }
                }
                "type_identifier" | "qualified_identifier" | "template_type" => {
                    self.mention(node, scope.owner, scope);
                }
                _ => {}
            }
        }
    }

    /// `int a, f(int);`, a member, or a class with a variable of its type.
    fn variables_and_functions(&mut self, item: &Item<'a>, scope: &Scope, depth: usize) {
        let node = item.node;
        if let Some(specifier) = node.field(Field::Type) {
            self.type_inside(specifier, item, scope, depth);
        }
        let declarators = node.fields(Field::Declarator);
        let Some(first) = declarators.first().copied() else { return };
        for declarator in declarators {
            let declared = self.misread_conversion(node).or_else(|| self.declared(declarator));
            let Some(declared) = declared else { continue };
            match declared.function {
                Some(function) => self.function_declaration(item, scope, &declared, function),
                None => self.variable(item, scope, first, declarator, &declared),
            }
        }
    }

    /// A class or enumeration defined where its type is used.
    fn type_inside(&mut self, specifier: Node<'a>, item: &Item<'a>, scope: &Scope, depth: usize) {
        if specifier.field(Field::Body).is_none() {
            return;
        }
        let inner = Item { node: specifier, end: specifier.end_byte(), ..item.clone() };
        match specifier.kind() {
            "class_specifier" | "struct_specifier" | "union_specifier" => {
                self.record(&inner, scope, None, depth)
            }
            "enum_specifier" => self.enumeration(&inner, scope, None),
            _ => {}
        }
    }

    fn alias(&mut self, item: &Item<'a>, scope: &Scope) {
        let Some(name) = item.node.field(Field::Name) else { return };
        let mut entity = self.entity(EntityKind::Alias, self.text(name), item.range(), scope);
        entity.signature = self.head(item, item.node.end_byte());
        entity.template_parameters = self.template_text(item);
        let target = item.node.field(Field::Type);
        entity.return_type =
            target.map(|node| self.seen_line(node.start_byte(), node.end_byte())).unwrap_or_default();
        let at = self.rows.push(entity);
        if let Some(target) = target {
            self.mention(target, Some(at), scope);
        }
    }

    fn typedef(&mut self, item: &Item<'a>, scope: &Scope, depth: usize) {
        let node = item.node;
        let declarators = node.fields(Field::Declarator);
        let first = declarators.first().and_then(|declarator| self.declared(*declarator));
        if let Some(specifier) = node.field(Field::Type)
            && specifier.field(Field::Body).is_some()
        {
            // `typedef struct { ... } Name;` is the C way to name a class.
            let unnamed = specifier.field(Field::Name).is_none();
            let name = first.filter(|_| unnamed).map(|declared| declared.name);
            let inner = Item { node: specifier, ..item.clone() };
            if specifier.kind() == "enum_specifier" {
                self.enumeration(&inner, scope, name);
            } else {
                self.record(&inner, scope, name, depth);
            }
            if unnamed {
                return;
            }
        }
        for declarator in declarators {
            let Some(declared) = self.declared(declarator) else { continue };
            let mut entity = self.entity(EntityKind::Alias, &declared.name, item.range(), scope);
            entity.signature = shortened(&self.head(item, node.end_byte()), 4 * VALUE_SHOWN);
            entity.return_type = type_of_head(&self.seen_line(node.start_byte(), declarator.start_byte()));
            let at = self.rows.push(entity);
            if let Some(target) = node.field(Field::Type) {
                self.mention(target, Some(at), scope);
            }
        }
    }

    fn concept(&mut self, item: &Item<'a>, scope: &Scope) {
        let Some(name) = item.node.field(Field::Name) else { return };
        let mut entity = self.entity(EntityKind::Concept, self.text(name), item.range(), scope);
        entity.signature = self.head(item, name.end_byte());
        entity.template_parameters = self.template_text(item);
        let at = self.rows.push(entity);
        let mut cursor = item.node.walk();
        let value = item.node.named_children(&mut cursor).last();
        if let Some(value) = value.filter(|value| value.id() != name.id()) {
            self.expression(value, Some(at), scope);
        }
    }

    /// A statement where a declaration should be: a macro call, or what a grammar error left over.
    fn stray_code(&mut self, node: Node<'a>, scope: &Scope) {
        self.expression(node, scope.owner, scope);
    }

    /// A declaration's text on one line, up to byte `end`, without final punctuation.
    pub(crate) fn head(&self, item: &Item<'_>, end: usize) -> String {
        self.seen_line(item.start, end).trim_end_matches([';', ' ']).to_owned()
    }

    /// Template parameter lists as written, outermost first.
    pub(crate) fn template_text(&self, item: &Item<'_>) -> String {
        let lists: Vec<String> =
            item.templates.iter().map(|list| crate::names::one_line(self.text(*list))).collect();
        lists.join(" ")
    }
}
