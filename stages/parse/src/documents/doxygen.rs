//! Doxygen pages kept in files with a code suffix.

use crate::documents::markdown::plain_title;
use crate::documents::{Heading, lines_with_bytes};

const COMMANDS: &[(&str, usize)] = &[
    ("mainpage", 1),
    ("page", 1),
    ("defgroup", 1),
    ("section", 2),
    ("subsection", 3),
    ("subsubsection", 4),
    ("paragraph", 5),
];

/// Headings by command or by `#`, outside `@code` and fences.
pub(crate) fn headings(text: &str) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut code = false;
    // `#` headings count from the command above them.
    let mut base = 1;
    for (start, line) in lines_with_bytes(text) {
        let body = line.trim_start_matches([' ', '\t', '*', '/', '!']);
        let at = start + line.len() - body.len();
        let ends = ["@endcode", "\\endcode", "@endverbatim", "\\endverbatim"];
        let begins = ["@code", "\\code", "@verbatim", "\\verbatim"];
        if ends.iter().any(|mark| body.starts_with(mark)) {
            code = false;
        } else if begins.iter().any(|mark| body.starts_with(mark)) {
            code = true;
        } else if body.starts_with("```") || body.starts_with("~~~") {
            code = !code;
        } else if !code {
            if let Some((level, title)) = command(body) {
                base = level;
                found.push(Heading { title, level, start: at, end: start + line.len() });
            } else if let Some((depth, title)) = hash(body) {
                found.push(Heading { title, level: base + depth, start: at, end: start + line.len() });
            }
        }
    }
    found
}

fn command(body: &str) -> Option<(usize, String)> {
    let rest = body.strip_prefix(['@', '\\'])?;
    let (word, rest) = rest.split_once(char::is_whitespace)?;
    let (name, level) = COMMANDS.iter().find(|(name, _)| *name == word)?;
    let rest = rest.trim();
    if *name == "mainpage" {
        return Some((*level, plain_title(rest))).filter(|(_, title)| !title.is_empty());
    }
    let (label, title) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // A label is an identifier in lower case; `@section Example Usage` has left it out.
    let title = title.trim();
    let has_label = label.starts_with(|c: char| c.is_lowercase()) || title.split(' ').next() == Some(label);
    let has_label = has_label && !title.is_empty();
    let title = if has_label { title } else { rest };
    (!title.is_empty()).then(|| (*level, plain_title(title)))
}

fn hash(body: &str) -> Option<(usize, String)> {
    let depth = body.bytes().take_while(|byte| *byte == b'#').count();
    let title = body.get(depth..)?.strip_prefix(' ')?.trim();
    ((1..=6).contains(&depth) && !title.is_empty()).then(|| (depth, plain_title(title)))
}
