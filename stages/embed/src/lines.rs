//! Source lines of an entity, and their division into parts.

use almanac_tables::{Entity, OutlinePiece};

use crate::token_estimate::{estimate, split_at};

/// A line of a chunk and the source lines it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) text: String,
}

/// The entity's lines; each of `elided`, in source order, is one line with its signature.
pub(crate) fn lines(entity: &Entity, elided: &[&Entity], text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    for piece in entity.outline(elided, text) {
        match piece {
            OutlinePiece::Written { text, line } => push_lines(&mut lines, text, line),
            OutlinePiece::LeftOut(inner) => match lines.last_mut() {
                // The member follows something on its own first line, at least its indentation.
                Some(last) if last.last == inner.start_line => {
                    last.text.push_str(&inner.without_body());
                    last.last = inner.end_line;
                }
                _ => lines.push(Line {
                    first: inner.start_line,
                    last: inner.end_line,
                    text: inner.without_body(),
                }),
            },
        }
    }
    lines
}

/// Appends the lines of `text`, of which the first is `line`; what continues a line joins it.
fn push_lines(lines: &mut Vec<Line>, text: &str, line: u32) {
    for (number, text) in (line..).zip(text.split('\n')) {
        let text = text.strip_suffix('\r').unwrap_or(text);
        match lines.last_mut() {
            Some(last) if last.last == number => last.text.push_str(text),
            _ => lines.push(Line { first: number, last: number, text: text.to_owned() }),
        }
    }
}

/// Divides lines into parts of at most `first` and then `rest` estimated tokens, as even as lines
/// allow.
///
/// Only a line that is longer than a part is itself divided.
pub(crate) fn parts(lines: Vec<Line>, first: usize, rest: usize) -> Vec<Vec<Line>> {
    let (first, rest) = (first.max(1), rest.max(1));
    let lines: Vec<Line> = lines.into_iter().flat_map(|line| pieces(line, first.min(rest))).collect();
    let mut left: usize = lines.iter().map(|line| estimate(&line.text)).sum();
    let mut parts = Vec::new();
    let mut part: Vec<Line> = Vec::new();
    let (mut size, mut limit, mut goal) = (0, first, first_goal(left, first, rest));
    for line in lines {
        let tokens = estimate(&line.text);
        if !part.is_empty() && tokens > 0 && (size >= goal || size + tokens > limit) {
            parts.push(std::mem::take(&mut part));
            (size, limit) = (0, rest);
            goal = left.div_ceil(left.div_ceil(rest));
        }
        size += tokens;
        left -= tokens;
        part.push(line);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// Tokens the first part aims at: an even share, as far as its own limit allows.
fn first_goal(total: usize, first: usize, rest: usize) -> usize {
    if total <= first {
        return total;
    }
    let others = (total - first).div_ceil(rest);
    first.min(total.div_ceil(others + 1))
}

/// A line over `limit` estimated tokens in pieces.
fn pieces(line: Line, limit: usize) -> Vec<Line> {
    let mut pieces = Vec::new();
    let mut rest = line.text.as_str();
    while estimate(rest) > limit {
        let (head, tail) = rest.split_at(split_at(rest, limit));
        pieces.push(Line { text: head.to_owned(), ..line });
        rest = tail.trim_start();
    }
    if pieces.is_empty() || !rest.is_empty() {
        pieces.push(Line { text: rest.to_owned(), ..line });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spanning(text: &str, from: &str, to: &str, signature: &str) -> Entity {
        let start = text.find(from).unwrap();
        let end = start + text[start..].find(to).unwrap() + to.len();
        let line = |at: usize| text[..at].matches('\n').count() as u32 + 1;
        Entity {
            start_byte: start as u64,
            end_byte: end as u64,
            start_line: line(start),
            end_line: line(end),
            signature: signature.into(),
            ..Entity::default()
        }
    }

    const CLASS: &str =
        "// one\nclass Grid {\n  int size() const\n  {\n    return n_m;\n  }\n\n  int n_m;\n};\n";

    #[test]
    fn lines_keep_their_numbers_around_what_is_elided() {
        let class = spanning(CLASS, "class Grid", "\n}", "class Grid");
        let size = spanning(CLASS, "int size", "  }", "int size() const");
        let told = |lines: Vec<Line>| -> Vec<(u32, u32, String)> {
            lines.into_iter().map(|line| (line.first, line.last, line.text)).collect()
        };
        let expected = [
            (2, 2, "class Grid {"),
            (3, 6, "  int size() const { ... }"),
            (7, 7, ""),
            (8, 8, "  int n_m;"),
            (9, 9, "}"),
        ];
        let expected = expected.map(|(first, last, text)| (first, last, text.to_owned()));
        assert_eq!(told(lines(&class, &[&size], CLASS)), expected);
        assert_eq!(lines(&class, &[], CLASS).len(), 8);
    }

    #[test]
    fn parts_are_even_and_lose_nothing() {
        let source: Vec<Line> =
            (100..200).map(|n| Line { first: n, last: n, text: format!("statement number {n};") }).collect();
        // Seven tokens a line.
        for (first, rest, count) in [(35, 140, 6), (140, 140, 5), (700, 700, 1), (7, 21, 34)] {
            let parts = parts(source.clone(), first, rest);
            assert_eq!(parts.len(), count, "{first} {rest}");
            let size = |part: &Vec<Line>| part.iter().map(|line| estimate(&line.text)).sum::<usize>();
            assert!(size(&parts[0]) <= first);
            assert!(parts.iter().all(|part| size(part) <= rest));
            let joined: String = parts.concat().into_iter().map(|line| line.text).collect();
            let all: String = source.iter().map(|line| line.text.clone()).collect();
            assert_eq!(joined.replace(' ', ""), all.replace(' ', ""));
        }
    }

    #[test]
    fn a_line_over_the_limit_is_cut_between_words() {
        let line = Line { first: 7, last: 7, text: "alpha beta gamma delta".into() };
        let texts: Vec<String> = parts(vec![line], 4, 4).concat().into_iter().map(|l| l.text).collect();
        assert_eq!(texts, ["alpha beta", "gamma delta"]);
    }
}
