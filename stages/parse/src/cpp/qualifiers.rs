//! What is said about a declaration beside its name and type: specifiers, qualifiers, attributes.

use almanac_language::{Field, Fields};
use tree_sitter::Node;

use crate::cpp::declarations::Item;
use crate::cpp::functions::parameter_list;
use crate::cpp::{Extractor, named};
use crate::names::one_line;

/// Words before a name that qualify the declaration rather than its type.
const HEAD_WORDS: &[&str] = &[
    "static",
    "inline",
    "virtual",
    "explicit",
    "constexpr",
    "consteval",
    "constinit",
    "extern",
    "friend",
    "mutable",
    "thread_local",
    "register",
];

/// A parameter list as names and types.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    /// Names; empty where there is none.
    pub(crate) names: Vec<String>,
    /// Types as written, without default values.
    pub(crate) types: Vec<String>,
}

impl<'a> Extractor<'a> {
    /// Qualifiers of a function, in the order in which they are written.
    pub(crate) fn function_qualifiers(
        &self,
        item: &Item<'a>,
        name: usize,
        function: Node<'a>,
    ) -> Vec<String> {
        let mut words = self.head_qualifiers(item, name);
        if let Some(list) = parameter_list(function)
            && let Some(owner) = list.parent()
        {
            let behind = named(owner).into_iter().filter(|child| child.start_byte() >= list.end_byte());
            words.extend(behind.filter_map(|child| match child.kind() {
                "type_qualifier" | "ref_qualifier" | "noexcept" | "virtual_specifier" | "throw_specifier" => {
                    Some(one_line(self.text(child)))
                }
                _ => None,
            }));
        }
        words.extend(self.definition_word(item, function).map(str::to_owned));
        words
    }

    /// `default`, `delete` or `pure`, where that stands for a body.
    fn definition_word(&self, item: &Item<'a>, function: Node<'a>) -> Option<&'static str> {
        if item.node.field(Field::Body).is_some() {
            return None;
        }
        // From the text: outside a class the grammar is not shown `= delete`.
        let tail = self.source.slice(function.end_byte(), item.end.max(function.end_byte()));
        let value = one_line(tail);
        match value
            .trim_start_matches(|c: char| c != '=')
            .trim_start_matches('=')
            .trim_end_matches(';')
            .trim()
        {
            "default" => Some("default"),
            "delete" => Some("delete"),
            "0" => Some("pure"),
            _ => None,
        }
    }

    /// Specifiers before a name.
    pub(crate) fn head_qualifiers(&self, item: &Item<'a>, name: usize) -> Vec<String> {
        let mut words: Vec<String> = item.words.iter().map(|word| (*word).to_owned()).collect();
        let head = self.source.slice(item.node.start_byte(), name);
        for word in outer_words(head) {
            if HEAD_WORDS.contains(&word) && !words.iter().any(|known| known == word) {
                words.push(word.to_owned());
            }
        }
        words
    }

    /// Attributes and annotation macros of a declaration up to byte `end`, as written.
    /// `parts` are the node's children.
    pub(crate) fn attributes(
        &self,
        item: &Item<'a>,
        parts: &[Node<'a>],
        start: usize,
        end: usize,
    ) -> Vec<String> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        let annotations = &self.tree.masked.annotations;
        let first = annotations.partition_point(|(from, _)| *from < start);
        found.extend(annotations[first..].iter().take_while(|(from, _)| *from < end));
        let is_attribute = |child: &Node<'_>| {
            matches!(
                child.kind(),
                "attribute_declaration"
                    | "attribute_specifier"
                    | "alignas_qualifier"
                    | "ms_declspec_modifier"
            )
        };
        // Most code has none: one look at the text saves a walk over the nodes.
        if found.is_empty() && !may_have_attributes(self.source.slice(start, end)) {
            return Vec::new();
        }
        let mut nodes = parts.to_vec();
        nodes.extend(item.node.field(Field::Type).map(named).unwrap_or_default());
        nodes.extend(item.node.field(Field::Declarator).map(named).unwrap_or_default());
        found.extend(
            nodes.iter().filter(|node| is_attribute(node)).map(|node| (node.start_byte(), node.end_byte())),
        );
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|(from, to)| one_line(self.source.slice(from, to))).collect()
    }

    /// Names and types of a parameter list, `...` included.
    pub(crate) fn parameters(&self, list: Node<'_>) -> Parameters {
        let mut parameters = Parameters::default();
        let mut cursor = list.walk();
        for child in list.children(&mut cursor) {
            match child.kind() {
                "..." => {
                    parameters.names.push(String::new());
                    parameters.types.push("...".to_owned());
                }
                "parameter_declaration"
                | "optional_parameter_declaration"
                | "variadic_parameter_declaration" => {
                    let (name, type_text) = self.parameter(child);
                    parameters.names.push(name);
                    parameters.types.push(type_text);
                }
                _ => {}
            }
        }
        // `f(void)` has none.
        if parameters.types == ["void"] { Parameters::default() } else { parameters }
    }

    fn parameter(&self, node: Node<'_>) -> (String, String) {
        let declarator = node.field(Field::Declarator);
        let end = node
            .field(Field::DefaultValue)
            .map_or(node.end_byte(), |value| declarator.map_or(value.start_byte(), |node| node.end_byte()));
        let declared = declarator.and_then(|declarator| self.declared(declarator));
        match declared {
            Some(declared) => {
                let before = self.clean_slice(node.start_byte(), declared.node.start_byte());
                let after = self.clean_slice(declared.node.end_byte(), end);
                (declared.name, one_line(&format!("{before} {after}")))
            }
            None => {
                let text = one_line(self.clean_slice(node.start_byte(), end));
                (String::new(), text.trim_end_matches(['=', ' ']).to_owned())
            }
        }
    }
}

fn may_have_attributes(text: &str) -> bool {
    text.contains("[[") || text.contains("__") || text.contains("alignas")
}

/// Words of a text outside brackets.
fn outer_words(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    text.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_')).filter_map(move |part| {
        let word = part.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '_'));
        let outside = depth == 0;
        match part[word.len()..].chars().next() {
            Some('<' | '(' | '[') => depth += 1,
            Some('>' | ')' | ']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        (outside && !word.is_empty()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_brackets_do_not_count() {
        let words: Vec<&str> =
            outer_words("static A<const inline_t, (int)> explicit(true) inline ").collect();
        assert_eq!(words, ["static", "A", "explicit", "inline"]);
    }
}
