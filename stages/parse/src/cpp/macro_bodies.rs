//! What the bodies of macros call: whoever uses the macro calls it too.
//!
//! The references are the macro's own, with its parameters as written; what they mean is told where
//! the macro is used. A body that ends with the name of a function, such as `#define check ns::check`,
//! calls that with whatever the macro is given: `...` stands for the arguments.

use std::collections::HashMap;

use almanac_language::{Classification, CppSource, Define, Grammar};
use almanac_tables::{EntityKind, Language, Reference, ReferenceKind};

use crate::cpp::Extractor;
use crate::cpp::scope::Scope;
use crate::rows::Source;

/// Longest body that is read, in bytes; a longer one is a table.
const LONGEST_BODY: usize = 8 * 1024;

/// Words that end a body and are no names.
const KEYWORDS: &[&str] = &[
    "auto",
    "bool",
    "break",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "double",
    "else",
    "export",
    "extern",
    "false",
    "final",
    "float",
    "inline",
    "int",
    "long",
    "mutable",
    "noexcept",
    "nullptr",
    "override",
    "private",
    "protected",
    "public",
    "register",
    "return",
    "short",
    "signed",
    "static",
    "struct",
    "this",
    "true",
    "typename",
    "unsigned",
    "virtual",
    "void",
    "volatile",
];

impl Extractor<'_> {
    /// References owned by macros: the calls in their bodies, and the name that a body ends with.
    pub(crate) fn macro_bodies(&mut self) {
        let entities = self.rows.entities.iter().enumerate();
        let macros = entities.filter(|(_, entity)| entity.kind == EntityKind::Macro);
        let owners: HashMap<u64, usize> = macros.map(|(at, entity)| (entity.end_byte, at)).collect();
        for define in self.defines.iter().filter(|define| !define.is_guard) {
            let Some(&owner) = owners.get(&(define.end as u64)) else { continue };
            for reference in self.called_by(define) {
                self.rows.refer(Some(owner), reference);
            }
        }
    }

    fn called_by(&self, define: &Define) -> Vec<Reference> {
        if define.body.len() > LONGEST_BODY || self.watch.check().is_err() {
            return Vec::new();
        }
        let mut references = Vec::new();
        if let Some(path) = final_name(&define.body).filter(|_| define.parameters.is_none()) {
            let name = path.rsplit("::").next().unwrap_or(path);
            let mut reference = self.source.reference(ReferenceKind::Call, name, path, define.start);
            reference.argument_list = "...".to_owned();
            references.push(reference);
        }
        if has_call(&define.body) {
            references.extend(self.calls_in(define));
        }
        references
    }

    /// Reads the body as the statements of a function, with the parameters as they are called.
    fn calls_in(&self, define: &Define) -> Vec<Reference> {
        let parameters: Vec<&str> =
            define.parameters.iter().flatten().map(|name| name.trim_end_matches("...").trim()).collect();
        let arguments: Vec<&str> =
            parameters.iter().map(|name| if name.is_empty() { "__VA_ARGS__" } else { name }).collect();
        let list = arguments.join(", ");
        let Some(body) = define.expand(define.parameters.as_ref().map(|_| list.as_str())) else {
            return Vec::new();
        };
        let text = format!("void f() {{ {body}; }}");
        let class = Classification { language: Language::Cpp, ..self.source.class };
        let source = Source::new(self.source.path, &text, class, self.source.role);
        let code = CppSource::new(&text, self.code.macros());
        let Ok(tree) = code.parse(Grammar::Cpp, 0, self.watch) else { return Vec::new() };
        let mut inner = Extractor::new(&source, &code, &tree, &[], self.watch);
        inner.run(Scope::default());
        let is_call = |reference: &Reference| {
            matches!(reference.kind, ReferenceKind::Call | ReferenceKind::Construct | ReferenceKind::Launch)
        };
        let mut calls: Vec<Reference> =
            inner.rows.references.into_iter().map(|(_, reference)| reference).filter(is_call).collect();
        for call in &mut calls {
            call.start_byte = define.start as u64;
            call.line = self.source.lines.line(define.start);
        }
        calls
    }
}

/// Whether a name with arguments stands in a body.
fn has_call(body: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '>';
    body.match_indices(['(', '{']).any(|(at, _)| body[..at].trim_end().ends_with(is_word))
}

/// The name that a body ends with: what a call of the macro calls.
fn final_name(body: &str) -> Option<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let length: usize = body.chars().rev().take_while(|c| is_part(*c)).map(char::len_utf8).sum();
    let (before, last) = body.split_at(body.len() - length);
    let name = last.trim_start_matches(':');
    let may_begin = [';', '?', ':', ',', '}', '{', '&', '|', '=', '!', ')', '('];
    let before = before.trim_end();
    let is_plain = before.is_empty() || before.ends_with(may_begin) || last.starts_with(':');
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_') && !name.ends_with(':');
    (is_name && is_plain && !KEYWORDS.contains(&name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_may_end_with_the_name_that_is_called() {
        for (body, expected) in [
            ("check", Some("check")),
            ("ns::detail::check", Some("ns::detail::check")),
            ("first(1); second", Some("second")),
            ("true ? (void)0 : print", Some("print")),
            ("a.print", None),
            ("static inline", None),
            ("inline", None),
            ("3", None),
            ("f(x)", None),
            ("", None),
        ] {
            assert_eq!(final_name(body), expected, "{body}");
        }
        assert!(has_call("a = f (x)") && !has_call("(a) * (b)") && !has_call("a"));
    }
}
