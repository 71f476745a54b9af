//! LaTeX sectioning commands.

use crate::documents::{Heading, lines_with_bytes};

const COMMANDS: &[(&str, usize)] =
    &[("part", 1), ("chapter", 2), ("section", 3), ("subsection", 4), ("subsubsection", 5), ("paragraph", 6)];
/// Environments whose content is shown as it stands.
const VERBATIM: &[&str] = &["verbatim", "lstlisting", "code", "smallcode", "minted"];

/// Longest title looked for, in characters: a brace nobody closes must not cost the rest of the file.
const LONGEST_TITLE: usize = 1000;

/// Switches that change the font of what follows.
const FONTS: &[&str] =
    &["em", "bf", "it", "tt", "sf", "sl", "rm", "sc", "bfseries", "ttfamily", "itshape", "small", "large"];

pub(crate) fn headings(text: &str) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut verbatim: Option<&str> = None;
    for (start, line) in lines_with_bytes(text) {
        if let Some(name) = verbatim {
            if line.contains(&format!("\\end{{{name}}}")) {
                verbatim = None;
            }
            continue;
        }
        verbatim = VERBATIM.iter().copied().find(|name| {
            line.contains(&format!("\\begin{{{name}}}")) && !line.contains(&format!("\\end{{{name}}}"))
        });
        let body = line.trim_start();
        let at = start + line.len() - body.len();
        if let Some((level, title, length)) = command(&text[at..]).filter(|_| body.starts_with('\\')) {
            found.push(Heading { title, level, start: at, end: at + length });
        }
    }
    found
}

/// A sectioning command at the start of `text`: depth, title and length.
fn command(text: &str) -> Option<(usize, String, usize)> {
    let rest = text.strip_prefix('\\')?;
    let length = rest.find(|c: char| !c.is_ascii_alphabetic())?;
    let (_, level) = COMMANDS.iter().find(|(name, _)| *name == &rest[..length])?;
    let text = paragraph(text);
    let mut open = 1 + length;
    if text[open..].starts_with('*') {
        open += 1;
    }
    open += spaces(&text[open..]);
    if text[open..].starts_with('[') {
        open += text[open..].find(']')? + 1;
        open += spaces(&text[open..]);
    }
    if !text[open..].starts_with('{') {
        return None;
    }
    let mut depth = 0usize;
    let mut escaped = false;
    for (at, c) in text[open..].char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let title = plain_title(&text[open + 1..open + at]);
            return (!title.is_empty()).then_some((*level, title, open + at + 1));
        }
    }
    None
}

/// What may belong to a title: up to a blank line, and no more than the longest title.
fn paragraph(text: &str) -> &str {
    let mut blank = false;
    for (count, (at, c)) in text.char_indices().enumerate() {
        match c {
            _ if count == LONGEST_TITLE => return &text[..at],
            '\n' if blank => return &text[..at],
            '\n' => blank = true,
            _ if !c.is_whitespace() => blank = false,
            _ => {}
        }
    }
    text
}

fn spaces(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

/// A title without commands and braces: `The \texttt{Field} Class` is `The Field Class`.
fn plain_title(title: &str) -> String {
    let mut out = String::new();
    let mut rest = title;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let length = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
                if FONTS.contains(&&rest[..length]) {
                    rest = rest[length..].trim_start();
                    continue;
                }
                // `\ippl` stands for its own name; `\texttt{Field}` for what is in its braces.
                let is_macro = length > 0 && !rest[length..].starts_with('{');
                if is_macro {
                    out.push_str(&rest[..length]);
                }
                rest = &rest[length..];
            }
            '{' | '}' => {}
            '~' => out.push(' '),
            _ => out.push(c),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}
