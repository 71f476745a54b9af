//! Markdown headings: `#` and underlined, outside code fences, front matter and comments.

use crate::documents::{Heading, lines_with_bytes};
use crate::names::shortened;

/// Longest title kept, in characters.
const LONGEST_TITLE: usize = 1000;

pub(crate) fn headings(text: &str) -> Vec<Heading> {
    let lines = lines_with_bytes(text);
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    let mut comment = false;
    // Inside a list item or quote, whose last line no ruler underlines.
    let mut contained = false;
    let mut at = front_matter_end(&lines);
    while at < lines.len() {
        let (start, line) = lines[at];
        at += 1;
        if let Some(mark) = fence {
            if is_fence_end(line, mark) {
                fence = None;
            }
            continue;
        }
        if comment || line.trim_start().starts_with("<!--") {
            comment = !line.contains("-->");
            continue;
        }
        fence = fence_mark(line);
        if fence.is_some() {
            continue;
        }
        contained = !line.trim().is_empty() && (contained || opens_container(line));
        let heading = match atx(line) {
            Some((level, title)) => Some((level, title, start + line.len())),
            None => lines.get(at).and_then(|(under_start, under)| {
                let level = underline(under)?;
                (is_paragraph(line) && !contained).then(|| {
                    at += 1;
                    (level, line, under_start + under.len())
                })
            }),
        };
        if let Some((level, title, end)) = heading {
            contained = false;
            let title = plain_title(title);
            // A mark or an image alone names nothing.
            if !title.is_empty() {
                found.push(Heading { title, level, start, end });
            }
        }
    }
    found
}

fn front_matter_end(lines: &[(usize, &str)]) -> usize {
    if lines.first().is_none_or(|(_, line)| line.trim_end() != "---") {
        return 0;
    }
    lines.iter().skip(1).position(|(_, line)| line.trim_end() == "---").map_or(0, |at| at + 2)
}

/// The fence a line opens: three or more backticks or tildes.
fn fence_mark(line: &str) -> Option<&str> {
    let body = line.trim_start();
    let c = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = body.chars().take_while(|next| *next == c).count();
    // A backtick fence has no backtick after it: that would be code inside a line.
    let inline = c == '`' && body[length..].contains('`');
    (length >= 3 && !inline).then(|| &body[..length])
}

fn is_fence_end(line: &str, mark: &str) -> bool {
    let body = line.trim();
    body.starts_with(mark) && body.chars().all(|c| mark.starts_with(c))
}

/// `## Title ##` and its depth.
fn atx(line: &str) -> Option<(usize, &str)> {
    let body = line.trim_start_matches(' ');
    if line.len() - body.len() > 3 {
        return None;
    }
    let level = body.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &body[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    let closed = title.trim_end_matches('#');
    let title = if closed.is_empty() || closed.ends_with([' ', '\t']) { closed.trim_end() } else { title };
    Some((level, title))
}

/// Depth of a heading underlined by this line.
fn underline(line: &str) -> Option<usize> {
    let body = line.trim();
    let of = |c: char| !body.is_empty() && body.chars().all(|next| next == c);
    match () {
        () if line.starts_with("    ") => None,
        () if of('=') => Some(1),
        () if of('-') && body.len() >= 2 => Some(2),
        () => None,
    }
}

fn is_paragraph(line: &str) -> bool {
    let body = line.trim_start();
    !body.is_empty()
        && line.len() - body.len() < 4
        && !body.starts_with(['|', '#', '=', '<'])
        && !["---", "***"].iter().any(|mark| body.starts_with(mark))
}

/// Whether a line begins a list item or a quote.
fn opens_container(line: &str) -> bool {
    let body = line.trim_start();
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let after = match digits {
        0 => body.strip_prefix(['-', '*', '+']),
        1..=9 => body[digits..].strip_prefix(['.', ')']),
        _ => None,
    };
    body.starts_with('>') || after.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// A title without anchors, links, emphasis and code marks.
pub(crate) fn plain_title(title: &str) -> String {
    let title = match title.rfind("{#") {
        Some(at) if title.trim_end().ends_with('}') => &title[..at],
        _ => title,
    };
    let title = shortened(title.trim(), LONGEST_TITLE);
    let mut out = String::new();
    let mut rest = title.as_str();
    while let Some(c) = rest.chars().next() {
        let image = rest.strip_prefix('!').filter(|rest| rest.starts_with('['));
        let link = image.unwrap_or(rest).strip_prefix('[').and_then(|inner| inner.split_once("]("));
        if let Some((label, target)) = link
            && let Some((_, after)) = target.split_once(')')
        {
            out.push_str(label);
            rest = after;
            continue;
        }
        if !matches!(c, '*' | '`') {
            out.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    out.trim().to_owned()
}
