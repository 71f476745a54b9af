//! Names and signatures as text.

use std::borrow::Cow;

/// Code on one line: comments gone, runs of spaces made one, none inside brackets' edges, before
/// commas or around `::`.
pub(crate) fn one_line(text: &str) -> String {
    // Most texts are a name or a type that is on one line already.
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'~')) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let code = without_comments(text);
    let mut chars = code.chars().peekable();
    let mut space = false;
    let mut quote = None;
    while let Some(c) = chars.next() {
        if let Some(open) = quote {
            out.push(c);
            if c == '\\' {
                out.extend(chars.next());
            } else if c == open {
                quote = None;
            }
            continue;
        }
        if c.is_whitespace() {
            space = true;
            continue;
        }
        let glued = out.is_empty()
            || matches!(c, ')' | ',' | ';' | ']')
            || out.ends_with(['(', '['])
            || (c == ':'
                && chars.peek() == Some(&':')
                && out.ends_with(|p: char| p.is_alphanumeric() || p == '_' || p == '>'))
            || (out.ends_with("::") && (c.is_alphanumeric() || c == '_' || c == '~'));
        if space && !glued {
            out.push(' ');
        }
        space = false;
        if matches!(c, '"' | '\'') && !(c == '\'' && out.ends_with(|p: char| p.is_ascii_digit())) {
            quote = Some(c);
        }
        out.push(c);
    }
    out
}

/// Text with C comments replaced by a space.
fn without_comments(text: &str) -> Cow<'_, str> {
    let has_comment = text.as_bytes().windows(2).any(|pair| matches!(pair, b"//" | b"/*"));
    if !has_comment {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (start, end) in almanac_language::comments(text) {
        out.push_str(&text[at..start]);
        out.push(' ');
        at = end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// Words that say how something is declared, not what type it has.
const SPECIFIERS: &[&str] = &[
    "static",
    "inline",
    "virtual",
    "explicit",
    "friend",
    "constexpr",
    "consteval",
    "constinit",
    "extern",
    "typedef",
    "mutable",
    "thread_local",
    "register",
    "__inline",
    "__forceinline",
    "_Noreturn",
    "using",
    "export",
];

/// A declaration's head without specifiers and attributes: the type.
pub(crate) fn type_of_head(head: &str) -> String {
    let mut rest = one_line(head);
    loop {
        let trimmed = rest.trim_start();
        if let Some(attribute) = trimmed.strip_prefix("[[") {
            rest = attribute.split_once("]]").map_or("", |(_, rest)| rest).to_owned();
            continue;
        }
        if let Some(attribute) = trimmed.strip_prefix("__attribute__") {
            rest = attribute.split_once("))").map_or("", |(_, rest)| rest).to_owned();
            continue;
        }
        if let Some(linkage) = trimmed.strip_prefix("extern \"") {
            rest = linkage.split_once('"').map_or("", |(_, rest)| rest).to_owned();
            continue;
        }
        let end = trimmed.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(trimmed.len());
        if !SPECIFIERS.contains(&&trimmed[..end]) {
            // A specifier may follow the type: `int static x`, `double inline f()`.
            let kept: Vec<&str> = trimmed.split(' ').filter(|word| !SPECIFIERS.contains(word)).collect();
            return kept.join(" ");
        }
        rest = trimmed[end..].to_owned();
    }
}

/// Cuts a text at a character boundary and says so.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} …", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Joins scopes and a name with `::`; empty parts are left out.
pub(crate) fn join<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_put_on_one_line() {
        assert_eq!(
            one_line(
                "template <typename T,\n          unsigned Dim>\nvoid Foo<T, Dim>::\n  bar( int a , // the a\n       char c = ')' ) const"
            ),
            "template <typename T, unsigned Dim> void Foo<T, Dim>::bar(int a, char c = ')') const"
        );
        assert_eq!(one_line("T  &operator ()  ( int i )"), "T &operator () (int i)");
        assert_eq!(one_line("a ? b : ::c"), "a ? b : ::c");
        assert_eq!(one_line("int x = 1'000, /* y */ z"), "int x = 1'000, z");
    }

    #[test]
    fn heads_are_reduced_to_types() {
        for (head, expected) in [
            ("static inline const std::string&", "const std::string&"),
            ("[[nodiscard]] virtual T*", "T*"),
            ("extern \"C\" void", "void"),
            ("constexpr", ""),
            ("typename A<T>::value_type", "typename A<T>::value_type"),
        ] {
            assert_eq!(type_of_head(head), expected, "{head}");
        }
    }
}
