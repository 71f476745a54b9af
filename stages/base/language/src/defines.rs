//! `#define`s: what a macro stands for.

use crate::lexer::{Lexer, TokenKind};
use crate::scan::{DirectiveKind, Scan, directive_parts};

/// A macro definition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Define {
    /// Name.
    pub name: String,
    /// Parameter names, the last one `...` if there may be more; `None` for an object-like macro.
    pub parameters: Option<Vec<String>>,
    /// Replacement, continuation lines joined by line breaks, without comments.
    pub body: String,
    /// First byte of the directive.
    pub start: usize,
    /// Byte past the directive, final spaces and comments left out.
    pub end: usize,
    /// Whether it is there to include a file once.
    pub is_guard: bool,
}

impl Define {
    /// Reads a `#define` line; `None` when it defines nothing.
    fn read(text: &str, start: usize) -> Option<Self> {
        let (word, rest) = directive_parts(text.as_bytes());
        let at = text.len() - rest.len();
        let rest = text.get(at..).filter(|_| word == b"define")?;
        let head = rest.trim_start();
        let length = head.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(head.len());
        if length == 0 {
            return None;
        }
        let (name, after) = head.split_at(length);
        let (parameters, body) = match after.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((list, body)) => (Some(parameters(list)), body),
            None => (None, after),
        };
        let body = joined(body);
        let end = start + without_final_comment(text).len();
        Some(Self { name: name.to_owned(), parameters, body, start, end, is_guard: false })
    }

    /// The body with arguments in place of parameters; `None` when they do not fit.
    pub fn expand(&self, arguments: Option<&str>) -> Option<String> {
        let Some(parameters) = &self.parameters else {
            return arguments.is_none().then(|| self.body.clone());
        };
        let text = arguments?;
        let mut arguments = split_arguments(text);
        let is_open = parameters.last().is_some_and(|last| last.ends_with("..."));
        let named = parameters.len() - usize::from(is_open);
        if arguments.len() < named || (parameters.is_empty() && !text.trim().is_empty()) {
            return None;
        }
        // What is left over belongs to `...`.
        let rest = if is_open && arguments.len() > named {
            let from = arguments[named].as_ptr() as usize - text.as_ptr() as usize;
            arguments.truncate(named);
            text[from..].trim()
        } else {
            ""
        };
        let open_name = parameters.last().map_or("", |last| last.trim_end_matches("...").trim());
        let value = |word: &str| {
            if is_open && (word == "__VA_ARGS__" || (!open_name.is_empty() && word == open_name)) {
                return Some(rest);
            }
            let at = parameters.iter().take(named).position(|parameter| parameter == word)?;
            Some(arguments[at].trim())
        };
        Some(replace_words(&self.body, value))
    }
}

/// The macros a text defines, in order.
pub fn defines(text: &str) -> Vec<Define> {
    defines_of(text, &Scan::of(text.as_bytes()))
}

pub(crate) fn defines_of(text: &str, scan: &Scan) -> Vec<Define> {
    let mut found: Vec<Define> = Vec::new();
    let mut guard = None;
    // Elsewhere an empty definition is a default, such as that of an annotation.
    let first = scan.directives.iter().position(|one| {
        one.code_before > 0 || !directive_parts(&text.as_bytes()[one.start..one.end]).0.starts_with(b"pragma")
    });
    for (at, directive) in scan.directives.iter().enumerate() {
        let line = text.get(directive.start..directive.end).unwrap_or("");
        if directive.kind == DirectiveKind::Define
            && let Some(mut define) = Define::read(line, directive.start)
        {
            define.is_guard = guard == Some(define.name.as_str()) && define.body.is_empty();
            found.push(define);
        }
        let (word, condition) = directive_parts(line.as_bytes());
        let may_be_guard = word == b"ifndef" && Some(at) == first && directive.code_before == 0;
        guard = may_be_guard.then(|| line[line.len() - condition.len()..].trim());
    }
    found
}

fn parameters(list: &str) -> Vec<String> {
    let names = list.split(',').map(|name| name.replace('\\', " ").trim().to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

/// A body without line continuations and comments.
fn joined(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut at = 0;
    if body.contains("/*") || body.contains("//") {
        for (start, end) in comments_inside(body) {
            out.push_str(&body[at..start]);
            // A comment up to the end of the line may have eaten the continuation.
            let ends_line = body[start..end].starts_with("//");
            out.push_str(if ends_line { "" } else { " " });
            at = end;
        }
    }
    out.push_str(&body[at..]);
    let lines = out.lines().map(|line| line.trim_end().trim_end_matches('\\').trim_end());
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// A directive without a comment at its end and the spaces before it.
fn without_final_comment(text: &str) -> &str {
    let body = text.trim_end();
    match comments_inside(body).last() {
        Some((start, end)) if end == body.len() => body[..start].trim_end(),
        _ => body,
    }
}

/// Byte ranges of the comments inside a directive.
fn comments_inside(text: &str) -> impl Iterator<Item = (usize, usize)> {
    Lexer::inside_directive(text.as_bytes())
        .filter(|token| token.kind == TokenKind::Comment)
        .map(|token| (token.start, token.end))
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
pub(crate) fn split_arguments(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    let mut start = 0;
    let mut arguments = Vec::new();
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote.is_some() => escaped = true,
            '"' | '\'' if quote.is_none() => quote = Some(c),
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Define {
        let mut found = defines(text);
        assert_eq!(found.len(), 1, "{text}");
        found.remove(0)
    }

    #[test]
    fn definitions_are_read_over_lines_and_without_comments() {
        let text = "#  define SUM(a, b) \\\n  ((a) + /* both */ \\\n   (b)) // done\nint x;\n";
        let define = one(text);
        assert_eq!(define.parameters, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(define.body, "((a) +\n   (b))");
        assert_eq!(
            &text[define.start..define.end],
            "#  define SUM(a, b) \\\n  ((a) + /* both */ \\\n   (b))"
        );
        let object = one("#define LIMIT (3)\n");
        assert_eq!((object.parameters, object.body.as_str()), (None, "(3)"));
        assert!(defines("#define\n#undef X\n").is_empty());
    }

    #[test]
    fn include_guards_are_told() {
        let found = defines("#ifndef A_H\n#define A_H\n#ifndef B\n#define B 1\n#endif\n#define C\n#endif\n");
        let guards: Vec<bool> = found.iter().map(|define| define.is_guard).collect();
        assert_eq!(guards, [true, false, false]);
        let default = defines("#pragma once\n#include <a>\n#ifndef LIB_INLINE\n#define LIB_INLINE\n#endif\n");
        assert!(!default[0].is_guard);
    }

    #[test]
    fn bodies_take_arguments_paste_and_quote() {
        let define = one("#define M(fun, op) T fun ## _all() { log(#fun); return op; }\n");
        assert_eq!(
            define.expand(Some("Sum, max(a, b)")).as_deref(),
            Some("T Sum_all() { log(\"Sum\"); return max(a, b); }")
        );
        assert_eq!(define.expand(Some("one")), None);
        assert_eq!(define.expand(None), None);
    }

    #[test]
    fn further_arguments_go_where_the_dots_are() {
        let define = one("#define CALL(f, ...) f(__VA_ARGS__);\n");
        assert_eq!(define.expand(Some("g, 1, \"a,b\"")).as_deref(), Some("g(1, \"a,b\");"));
        assert_eq!(define.expand(Some("g")).as_deref(), Some("g();"));
        let named = one("#define LIST(name, args...) int name[] = {args};\n");
        assert_eq!(named.expand(Some("v, 1, 2")).as_deref(), Some("int v[] = {1, 2};"));
        assert_eq!(one("#define F() int f();\n").expand(Some("")).as_deref(), Some("int f();"));
    }
}
