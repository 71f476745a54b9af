//! Macro definitions of a file, and their expansion where a declaration hides in one.

use almanac_tables::EntityKind;
use tree_sitter::Node;

use crate::cpp::Extractor;
use crate::cpp::declarations::VALUE_SHOWN;
use crate::names::{one_line, shortened};

/// A `#define` of the file.
#[derive(Debug, Clone)]
pub(crate) struct MacroDefinition {
    name: String,
    /// Parameter names; `None` for an object-like macro.
    parameters: Option<Vec<String>>,
    body: String,
    start: usize,
}

impl<'a> Extractor<'a> {
    pub(crate) fn macro_definition(&mut self, node: Node<'a>) {
        let Some(name_node) = node.child_by_field_name("name") else { return };
        let name = self.text(name_node).trim();
        let value = node.child_by_field_name("value").map(|value| self.text(value)).unwrap_or("");
        let parameters = node.child_by_field_name("parameters").map(|list| self.text(list));
        if value.trim().is_empty()
            && parameters.is_none()
            && is_include_guard(node, self.text(name_node), self)
        {
            return;
        }
        let end = node.start_byte() + self.text(node).trim_end().len();
        let scope = crate::cpp::scope::Scope::default();
        let mut entity = self.entity(EntityKind::Macro, name, (node.start_byte(), end), &scope);
        let body = joined(value);
        let inner = parameters.map(|text| one_line(text.trim_start_matches('(').trim_end_matches(')')));
        let head = match &inner {
            Some(list) => format!("#define {name}({list})"),
            None => format!("#define {name}"),
        };
        let shown = one_line(&body);
        entity.signature = if inner.is_none() && !shown.is_empty() {
            shortened(&format!("{head} {shown}"), VALUE_SHOWN)
        } else {
            head
        };
        entity.parameters = inner.clone().unwrap_or_default();
        self.rows.push(entity);
        self.macros.push(MacroDefinition {
            name: name.to_owned(),
            parameters: inner.map(|list| {
                list.split(',').map(|name| name.trim().to_owned()).filter(|n| !n.is_empty()).collect()
            }),
            body,
            start: node.start_byte(),
        });
    }

    /// The text of a macro call, `NAME(arguments)` or `NAME`, with the file's own definition put in.
    pub(crate) fn expanded(&self, call: &str) -> Option<String> {
        let (name, arguments) = match call.split_once('(') {
            Some((name, rest)) => (name.trim(), Some(rest.trim_end().strip_suffix(')')?)),
            None => (call.trim(), None),
        };
        let definition = self.definition(name, usize::MAX)?;
        Some(one_line(&definition.substitute(arguments)?))
    }

    /// The last definition of a macro before byte `before`, else the first after it.
    pub(crate) fn definition(&self, name: &str, before: usize) -> Option<&MacroDefinition> {
        let mut named = self.macros.iter().filter(|definition| definition.name == name);
        let last = named.clone().rfind(|definition| definition.start < before);
        last.or_else(|| named.next())
    }
}

impl MacroDefinition {
    /// The body with arguments in place of parameters.
    pub(crate) fn substitute(&self, arguments: Option<&str>) -> Option<String> {
        let Some(parameters) = &self.parameters else {
            return arguments.is_none().then(|| self.body.clone());
        };
        let arguments = split_arguments(arguments?);
        if arguments.len() < parameters.len() {
            return None;
        }
        let value = |word: &str| {
            let at = parameters.iter().position(|parameter| parameter == word)?;
            Some(arguments[at].trim())
        };
        Some(replace_words(&self.body, value))
    }
}

/// Puts values in place of words; `##` pastes, `#x` quotes.
fn replace_words<'v>(body: &str, value: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if length > 0 {
            let word = &rest[..length];
            match value(word) {
                Some(text) if out.ends_with('#') => {
                    out.pop();
                    out.push('"');
                    out.push_str(text);
                    out.push('"');
                }
                Some(text) => out.push_str(text),
                None => out.push_str(word),
            }
            rest = &rest[length..];
        } else if let Some(after) = rest.strip_prefix("##") {
            out.truncate(out.trim_end().len());
            rest = after.trim_start();
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// Arguments of a macro call, split at commas outside parentheses; brackets and braces do not count
/// for the preprocessor.
fn split_arguments(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    let mut start = 0;
    let mut arguments = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                arguments.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    arguments.push(&text[start..]);
    arguments
}

/// A macro body without line continuations.
fn joined(value: &str) -> String {
    value.lines().map(|line| line.trim_end().trim_end_matches('\\').trim_end()).collect::<Vec<_>>().join("\n")
}

/// `#ifndef X` directly above `#define X`.
fn is_include_guard(node: Node<'_>, name: &str, extractor: &Extractor<'_>) -> bool {
    node.parent().is_some_and(|parent| {
        let guards = |guard: Node<'_>| extractor.text(guard).trim() == name.trim();
        parent.kind() == "preproc_ifdef" && parent.child_by_field_name("name").is_some_and(guards)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_take_arguments_paste_and_quote() {
        let definition = MacroDefinition {
            name: "M".to_owned(),
            parameters: Some(vec!["fun".to_owned(), "op".to_owned()]),
            body: "T fun ## _all() { log(#fun); return op; }".to_owned(),
            start: 0,
        };
        assert_eq!(
            definition.substitute(Some("Sum, max(a, b)")).as_deref(),
            Some("T Sum_all() { log(\"Sum\"); return max(a, b); }")
        );
        assert_eq!(definition.substitute(Some("one")), None);
        assert_eq!(definition.substitute(None), None);
    }
}
