//! The words of a CMake command, and what is made of them with the variables filled in.

/// Longest text a variable may hold, in bytes.
pub(super) const LONGEST_VALUE: usize = 1 << 18;

/// Variables inside the names of variables.
const DEPTH: usize = 8;

/// Longest name of a variable, in bytes.
const LONGEST_NAME: usize = 500;

/// A word as written, without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    /// Whether it stays one item whatever is in it.
    pub(super) is_quoted: bool,
}

/// Splits the argument list of a command. Parentheses are words of their own.
pub(super) fn words(list: &str) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    // Brackets that nothing closes need not be looked for again.
    let mut unclosed: Vec<usize> = Vec::new();
    while let Some(first) = list[at..].chars().next() {
        let rest = &list[at..];
        let (word, length) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            '#' => (None, comment(rest, &mut unclosed)),
            '"' => {
                let end = closing_quote(rest);
                (Some(Word { text: &rest[1..end], is_quoted: true }), (end + 1).min(rest.len()))
            }
            '(' | ')' => (Some(Word { text: &rest[..1], is_quoted: false }), 1),
            _ => match bracket(rest, &mut unclosed) {
                Some((open, end, length)) => (Some(Word { text: &rest[open..end], is_quoted: true }), length),
                None => {
                    let length = unquoted(rest);
                    (Some(Word { text: &rest[..length], is_quoted: false }), length)
                }
            },
        };
        found.extend(word);
        at += length.max(1);
    }
    found
}

fn comment(rest: &str, unclosed: &mut Vec<usize>) -> usize {
    match bracket(&rest[1..], unclosed) {
        Some((.., length)) => length + 1,
        None => rest.find('\n').unwrap_or(rest.len()),
    }
}

/// Byte of the quote that closes the one at the start.
fn closing_quote(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    rest.len()
}

/// `[=[text]=]` at the start: where its text begins and ends, and its length.
fn bracket(rest: &str, unclosed: &mut Vec<usize>) -> Option<(usize, usize, usize)> {
    let equals = rest.strip_prefix('[')?.bytes().take_while(|byte| *byte == b'=').count();
    let open = equals + 2;
    rest.get(..open).filter(|head| head.ends_with('['))?;
    if unclosed.contains(&equals) {
        return None;
    }
    let close = format!("]{}]", "=".repeat(equals));
    match rest[open..].find(&close) {
        Some(length) => Some((open, open + length, open + length + close.len())),
        None => {
            unclosed.push(equals);
            None
        }
    }
}

fn unquoted(rest: &str) -> usize {
    let mut escaped = false;
    let mut quoted = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | ')' | '#' => return at,
            _ if c.is_whitespace() => return at,
            _ => {}
        }
    }
    rest.len()
}

/// Fills in variables; one that nobody knows stays as it is written. Gives at most
/// [`LONGEST_VALUE`] bytes.
pub(super) fn filled<'v>(text: &str, value: &dyn Fn(&str) -> Option<&'v str>) -> String {
    // Most words name no variable.
    if !text.bytes().any(|byte| matches!(byte, b'$' | b'\\')) {
        return text.to_owned();
    }
    fill(text, value, DEPTH)
}

fn fill<'v>(text: &str, value: &dyn Fn(&str) -> Option<&'v str>, depth: usize) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['$', '\\']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(escaped) = rest.strip_prefix('\\') {
            let c = escaped.chars().next();
            out.extend(c);
            rest = &escaped[c.map_or(0, char::len_utf8)..];
            continue;
        }
        let Some(end) = rest.strip_prefix("${").and_then(closing_brace).filter(|_| depth > 0) else {
            out.push('$');
            rest = &rest[1..];
            continue;
        };
        let name = fill(&rest[2..end + 2], value, depth - 1);
        match value(&name) {
            Some(text) if out.len() + text.len() <= LONGEST_VALUE => out.push_str(text),
            _ => {
                out.push_str("${");
                out.push_str(&name);
                out.push('}');
            }
        }
        rest = &rest[end + 3..];
    }
    out.push_str(rest);
    out.truncate(floor(&out, LONGEST_VALUE));
    out
}

fn floor(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Byte of the brace that closes one before `text`.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().take(LONGEST_NAME).enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a text still asks for a variable or for what only the generator knows.
pub(super) fn is_open(text: &str) -> bool {
    text.contains('$')
}

/// The items of a list.
pub(super) fn items(list: &str) -> impl Iterator<Item = &str> {
    list.split(';').filter(|item| !item.is_empty())
}

/// `base/path` without `.` and `..`; `None` when it leaves the tree.
pub(super) fn below(base: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

/// Whether a name fits a pattern of `*` and `?`.
pub(super) fn fits(name: &str, pattern: &str) -> bool {
    let (name, pattern) = (name.as_bytes(), pattern.as_bytes());
    let (mut at, mut with) = (0, 0);
    // Where the last star stood and what it took.
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match pattern.get(with) {
            Some(b'*') => {
                star = Some((with, at));
                with += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[at] => {
                at += 1;
                with += 1;
            }
            _ => match &mut star {
                Some((back, taken)) => {
                    *taken += 1;
                    (at, with) = (*taken, *back + 1);
                }
                None => return false,
            },
        }
    }
    pattern[with..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_cmake_splits_them() {
        let found = words("name \"a b;c\" # comment\n  [[raw ]] x${Y}\\ z (NOT A)");
        let shown: Vec<(&str, bool)> = found.iter().map(|word| (word.text, word.is_quoted)).collect();
        let expected = [
            ("name", false),
            ("a b;c", true),
            ("raw ", true),
            ("x${Y}\\ z", false),
            ("(", false),
            ("NOT", false),
            ("A", false),
            (")", false),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_is_not_closed_costs_no_more_than_its_length() {
        for piece in ["[[ ", "#[=[ ", "${", "\"", "( "] {
            let text = piece.repeat(100_000);
            let found = words(&text);
            let filled: usize = found.iter().map(|word| filled(word.text, &|_| None).len()).sum();
            assert!(filled <= text.len(), "{piece}");
        }
    }

    #[test]
    fn variables_are_filled_in_and_unknown_ones_stay() {
        let value = |name: &str| match name {
            "A" => Some("one"),
            "B_one" => Some("two"),
            _ => None,
        };
        assert_eq!(filled("${A}/${B_${A}}/${C}/$<X:${A}>", &value), "one/two/${C}/$<X:one>");
        assert_eq!(filled("a\\ b ${open", &value), "a b ${open");
    }

    #[test]
    fn patterns_take_any_stretch() {
        assert!(fits("Field.cpp", "*.cpp") && fits("a.b.c", "a*c") && fits("abc", "a?c"));
        assert!(!fits("Field.cppx", "*.cpp") && !fits("ab", "a?c"));
    }
}
