//! What changes the meaning of code around it: `using`, and conditionals of the preprocessor.

use std::collections::BTreeSet;

use almanac_tables::{Entity, EntityKind, ReferenceKind};
use tree_sitter::Node;

use crate::cpp::{Extractor, named};
use crate::names::{one_line, shortened};

/// Entities named for one conditional; a file whole inside one is not listed entity by entity.
const GUARDED: usize = 32;

/// Longest directive kept, in characters.
const LONGEST_DIRECTIVE: usize = 200;

/// A conditional: the names in its condition and what it spans.
#[derive(Debug, PartialEq, Eq)]
struct Conditional {
    names: Vec<String>,
    /// The directive as written.
    written: String,
    start: usize,
    end: usize,
}

impl<'a> Extractor<'a> {
    /// `using namespace a;` and `using a::f;`.
    pub(crate) fn using(&mut self, node: Node<'a>, owner: Option<usize>) {
        let Some(name) = named(node).into_iter().find(|child| child.kind() != "comment") else { return };
        let Some(last) = self.last_name(name) else { return };
        let path = one_line(self.text(name));
        let text = self.text(node);
        let words: Vec<&str> = text.split_whitespace().take(2).collect();
        let written = if words.get(1) == Some(&"namespace") { format!("namespace {path}") } else { path };
        let reference = self.source.reference(ReferenceKind::Using, &last, &written, node.start_byte());
        self.rows.refer(owner, reference);
    }

    /// One reference for each name in a condition and entity that depends on it: the function around
    /// the conditional, else what it holds, else the file.
    pub(crate) fn guards(&mut self) {
        for conditional in conditionals(self.source.text) {
            let owners = self.guarded(&conditional);
            for name in &conditional.names {
                let written = conditional.written.as_str();
                let reference = self.source.reference(ReferenceKind::Guard, name, written, conditional.start);
                if owners.is_empty() {
                    self.rows.refer(None, reference.clone());
                }
                for owner in &owners {
                    self.rows.refer(Some(*owner), reference.clone());
                }
            }
        }
    }

    fn guarded(&self, conditional: &Conditional) -> Vec<usize> {
        let (start, end) = (conditional.start as u64, conditional.end as u64);
        let entities = || {
            let all = self.rows.entities.iter().enumerate();
            all.filter(|(_, entity)| entity.kind != EntityKind::Namespace && entity.kind != EntityKind::Macro)
        };
        let length = |(_, entity): &(usize, &Entity)| entity.end_byte - entity.start_byte;
        let around = entities().filter(|(_, entity)| entity.start_byte <= start && end <= entity.end_byte);
        if let Some((at, _)) = around.min_by_key(length) {
            return vec![at];
        }
        let inside: Vec<(usize, &Entity)> =
            entities().filter(|(_, entity)| start <= entity.start_byte && entity.end_byte <= end).collect();
        let is_outermost = |one: &Entity| {
            !inside.iter().any(|(_, other)| {
                let holds = other.start_byte <= one.start_byte && one.end_byte <= other.end_byte;
                holds && (other.start_byte, other.end_byte) != (one.start_byte, one.end_byte)
            })
        };
        if inside.len() > GUARDED * GUARDED {
            return Vec::new();
        }
        let outermost: Vec<usize> =
            inside.iter().filter(|(_, entity)| is_outermost(entity)).map(|(at, _)| *at).collect();
        if outermost.len() > GUARDED { Vec::new() } else { outermost }
    }
}

/// The branches of a text's conditionals, include guards left out.
fn conditionals(text: &str) -> Vec<Conditional> {
    let mut found = Vec::new();
    let mut open: Vec<(Vec<String>, usize)> = Vec::new();
    let mut start = 0;
    let mut guard: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let Some(directive) = line.trim_start().strip_prefix('#').map(str::trim_start) else { continue };
        let length = directive.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(directive.len());
        let (word, condition) = directive.split_at(length);
        match word {
            "if" | "ifdef" | "ifndef" => {
                guard = (word == "ifndef").then(|| condition.trim());
                open.push((names(condition), at));
                continue;
            }
            "define" if guard.is_some_and(|name| condition.split_whitespace().next() == Some(name)) => {
                if let Some((names, _)) = open.last_mut() {
                    names.clear();
                }
            }
            "else" | "elif" | "elifdef" | "elifndef" | "endif" => {
                let Some((mut names_before, from)) = open.pop() else { continue };
                if !names_before.is_empty() {
                    let (names, written) = (names_before.clone(), directive_at(text, from));
                    found.push(Conditional { names, written, start: from, end: at });
                }
                if word != "endif" {
                    names_before.extend(names(condition));
                    let mut seen = BTreeSet::new();
                    names_before.retain(|name| seen.insert(name.clone()));
                    open.push((names_before, at));
                }
            }
            // In a template: a macro that an option of the build defines, or does not.
            "cmakedefine" => {
                let condition = condition.strip_prefix("01").unwrap_or(condition);
                let names: Vec<String> = names(condition).into_iter().take(1).collect();
                if !names.is_empty() {
                    found.push(Conditional { names, written: directive_at(text, at), start: at, end: at });
                }
            }
            _ => {}
        }
        guard = None;
    }
    found
}

/// The directive that begins a line, in one line and without the comment after it.
fn directive_at(text: &str, at: usize) -> String {
    let line = text[at..].lines().next().unwrap_or("");
    let code = line.split("//").next().unwrap_or("").split("/*").next().unwrap_or("");
    let words: Vec<&str> = code.split_whitespace().collect();
    shortened(&words.join(" "), LONGEST_DIRECTIVE)
}

/// Names in a condition, each once; those of compilers say nothing about a project.
fn names(condition: &str) -> Vec<String> {
    let code = condition.split("//").next().unwrap_or("").split("/*").next().unwrap_or("");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut names: Vec<String> = Vec::new();
    for word in code.split(|c: char| !is_word(c)) {
        let is_name = word.starts_with(|c: char| c.is_alphabetic() || c == '_') && !word.starts_with("__");
        if is_name && word != "defined" && !names.iter().any(|name| name == word) {
            names.push(word.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditionals_are_read_with_their_branches_and_without_include_guards() {
        let text = "#ifndef A_H\n#define A_H\n#ifdef GPU\nint a;\n#elif defined(MPI) && !defined(GPU)\nint b;\n\
                    #else // neither\nint c;\n#endif\n#if __cplusplus > 201703L\n#endif\n#endif\n";
        let found: Vec<(String, &str)> = conditionals(text)
            .into_iter()
            .map(|one| (one.names.join(" "), text[one.start..one.end].lines().nth(1).unwrap_or("")))
            .collect();
        let expected = [("GPU", "int a;"), ("GPU MPI", "int b;"), ("GPU MPI", "int c;")];
        assert_eq!(found, expected.map(|(names, line)| (names.to_owned(), line)));
    }

    #[test]
    fn directives_are_kept_as_written_and_templates_say_what_they_define() {
        let text = "#cmakedefine HAVE_MPI @X@\n#cmakedefine01  HAVE_GPU\n#  if  defined( A ) // why\n#else\n#endif\n";
        let found: Vec<(String, String)> =
            conditionals(text).into_iter().map(|one| (one.names.join(" "), one.written)).collect();
        let expected = [
            ("HAVE_MPI", "#cmakedefine HAVE_MPI @X@"),
            ("HAVE_GPU", "#cmakedefine01 HAVE_GPU"),
            ("A", "# if defined( A )"),
            ("A", "#else"),
        ];
        assert_eq!(found, expected.map(|(names, written)| (names.to_owned(), written.to_owned())));
    }
}
