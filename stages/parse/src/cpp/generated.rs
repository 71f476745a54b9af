//! Functions, classes and members that exist only as calls to a macro of the tree.
//!
//! `DefineSum(Sum, sum)` at namespace level gives a member `Field::sum` that no search for
//! `Field::sum` would find. The call is expanded and read like any other code, calls of other macros
//! in it included; everything it declares is placed where the call stands.

use almanac_language::{Classification, CppSource, Define, Field, Fields, Grammar};
use almanac_tables::{Entity, EntityKind, Language};

use tree_sitter::Node;

use crate::cpp::Extractor;
use crate::cpp::macros::call_parts;
use crate::cpp::scope::Scope;
use crate::rows::{Rows, Source};

/// Calls expanded in one file, those inside others included; a table of thousands of entries is data.
const EXPANDED: usize = 1000;
/// Calls inside calls that are expanded.
const DEPTH: usize = 6;

/// Head of the class around members that are read by themselves.
const MEMBERS: &str = "struct S {\n";

/// How far calls are expanded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expansion {
    /// First byte of the call in the file; `None` outside expansions.
    pub(crate) call: Option<usize>,
    depth: usize,
    /// Calls that may still be expanded.
    left: usize,
}

impl Default for Expansion {
    fn default() -> Self {
        Self { call: None, depth: 0, left: EXPANDED }
    }
}

impl Extractor<'_> {
    /// Reads what the macro calls found by the mask declare.
    pub(crate) fn expand_generated(&mut self) {
        let mut calls = std::mem::take(&mut self.generated);
        calls.sort_unstable();
        calls.dedup();
        for (start, end) in calls {
            if self.expansion.left == 0 || self.watch.check().is_err() {
                return;
            }
            let Some((name, arguments)) = call_parts(self.source.slice(start, end)) else { continue };
            let definitions = self.definitions(name, start);
            // A build that needs none of it defines the macro as nothing.
            let expand = |define: &Define| define.expand(arguments).filter(|code| !code.is_empty());
            let Some(code) = definitions.into_iter().find_map(expand) else { continue };
            let code = self.code.macros().with_pasted_names(&code);
            let scope = self.scope_at(start);
            self.read_expansion(&code, name, (start, end), scope);
        }
    }

    /// `NAME(arguments);` where a declaration should be, `NAME` being a macro that makes some.
    pub(crate) fn is_generator_call(&self, node: Node<'_>) -> bool {
        let Some((name, rest)) = self.text(node).split_once('(') else { return false };
        let name = name.trim_end();
        let is_word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !is_word || !self.code.macros().is_function_like(name) {
            return false;
        }
        let mut depth = 1usize;
        let close = rest.char_indices().find(|(_, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        close.is_some_and(|(at, _)| rest[at + 1..].trim_matches([';', ' ', '\n', '\r', '\t']).is_empty())
    }

    fn scope_at(&self, at: usize) -> Scope {
        self.scopes
            .iter()
            .filter(|(start, end, _)| (*start..*end).contains(&at))
            .min_by_key(|(start, end, _)| end - start)
            .map_or_else(|| self.top.clone(), |(_, _, scope)| scope.clone())
    }

    fn read_expansion(&mut self, code: &str, name: &str, range: (usize, usize), scope: Scope) {
        // The expansion is C++ whatever the file is called.
        let class = Classification { language: Language::Cpp, ..self.source.class };
        // Members are read as such.
        let text = if scope.is_class() { format!("{MEMBERS}{code}\n}};") } else { code.to_owned() };
        let source = Source::new(self.source.path, &text, class, self.source.role);
        let code = CppSource::new(&text, self.code.macros());
        let Ok(tree) = code.parse(Grammar::Cpp, 0, self.watch) else { return };
        let mut inner = Extractor::new(&source, &code, &tree, self.defines, self.watch);
        inner.known.classes.extend(self.known.classes.iter().cloned());
        inner.known.namespaces.extend(self.known.namespaces.iter().cloned());
        inner.expansion = Expansion {
            call: Some(self.expansion.call.unwrap_or(range.0)),
            depth: self.expansion.depth + 1,
            left: self.expansion.left - 1,
        };
        let mut scope = scope;
        scope.owner = None;
        inner.run(scope);
        if inner.expansion.depth < DEPTH {
            inner.expand_generated();
        }
        self.expansion.left = inner.expansion.left;
        let Rows { entities, references, locals: _ } = inner.rows;
        let mut placed = Vec::with_capacity(entities.len());
        for entity in entities {
            let is_kept = entity.kind != EntityKind::Namespace;
            let generated = Entity { generated_by: name.to_owned(), ..entity };
            placed.push(is_kept.then(|| self.place(generated, range)));
        }
        for (owner, mut reference) in references {
            // The rest would hang on the namespace.
            if let Some(Some(owner)) = owner.map(|owner| placed[owner]) {
                reference.start_byte = range.0 as u64;
                reference.line = self.source.lines.line(range.0);
                self.rows.refer(Some(owner), reference);
            }
        }
    }

    /// Gives a generated entity the place of its macro call.
    fn place(&mut self, entity: Entity, (start, end): (usize, usize)) -> usize {
        let at = self.source.entity(entity.kind, &entity.name, start, end);
        self.rows.push(Entity {
            path: at.path,
            start_line: at.start_line,
            end_line: at.end_line,
            start_byte: at.start_byte,
            end_byte: at.end_byte,
            text_digest: at.text_digest,
            language: at.language,
            ..entity
        })
    }
}

/// What is in the class around members that are read by themselves.
pub(crate) fn members<'t>(root: Node<'t>, scope: &Scope) -> Option<Node<'t>> {
    let first = root.named_child(0).filter(|_| scope.is_class())?;
    // An error may have taken the class with it.
    first.field(Field::Body).filter(|body| body.kind() == "field_declaration_list")
}
