//! Splits a stretch of text into pieces no longer than a limit, at the best boundary there is.

/// Byte ranges of pieces of `text[start..end]`, each at most `most` characters long, without blank
/// ends. A piece ends at a blank line if there is one in its last two thirds, else at a line end,
/// else after a sentence, else between words, else anywhere: a long line is cut, never dropped.
pub(crate) fn split(text: &str, start: usize, end: usize, most: usize) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let (mut at, mut end) = (start, end);
    while let Some((from, to)) = trimmed(text, at, end) {
        end = to;
        let rest = &text[from..to];
        let cut = match rest.char_indices().nth(most) {
            None => rest.len(),
            Some((window, _)) => boundary(rest, window),
        };
        // Comment marks and rulers alone are no text.
        let piece = trimmed(text, from, from + cut);
        pieces.extend(piece.filter(|(start, end)| text[*start..*end].contains(char::is_alphanumeric)));
        at = from + cut;
    }
    pieces
}

/// The range without blank lines and spaces at its ends; indentation of its first line is kept.
fn trimmed(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let slice = text.get(start..end)?;
    let body = slice.trim_start();
    if body.is_empty() {
        return None;
    }
    let lead = slice.len() - body.len();
    let begins_line = start == 0 || text[..start].ends_with('\n');
    let indent = slice[..lead].rfind('\n').map_or(if begins_line { 0 } else { lead }, |line| line + 1);
    Some((start + indent, start + slice.trim_end().len()))
}

/// Where to cut `rest` at or before byte `window`.
fn boundary(rest: &str, window: usize) -> usize {
    let head = &rest[..window];
    let least = floor_boundary(rest, window / 3);
    let tail = &head[least..];
    let blank = blank_line(tail).map(|at| least + at);
    let line = || tail.rfind('\n').map(|at| least + at + 1);
    let sentence = || {
        let ends = [". ", "! ", "? ", "; ", ".) "];
        ends.iter().filter_map(|mark| tail.rfind(mark).map(|at| least + at + mark.len())).max()
    };
    let word = || head.rfind(char::is_whitespace).filter(|at| *at > 0);
    blank.or_else(line).or_else(sentence).or_else(word).unwrap_or(window)
}

/// Byte past the last blank line.
fn blank_line(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut last = None;
    let mut break_at: Option<usize> = None;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' => {
                if break_at.is_some() {
                    last = Some(at + 1);
                }
                break_at = Some(at);
            }
            b' ' | b'\t' | b'\r' => {}
            _ => break_at = None,
        }
    }
    last
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, most: usize, expected: &[&str]) {
        let pieces: Vec<&str> = split(text, 0, text.len(), most).iter().map(|(s, e)| &text[*s..*e]).collect();
        assert_eq!(pieces, expected);
        assert!(pieces.iter().all(|piece| piece.chars().count() <= most));
    }

    #[test]
    fn paragraphs_then_lines_then_sentences_then_words() {
        check("short", 10, &["short"]);
        check("one two\n\nthree\nfour five", 16, &["one two", "three\nfour five"]);
        check("aaaa bbbb\ncccc dddd\neeee", 20, &["aaaa bbbb\ncccc dddd", "eeee"]);
        check("One is here. Two is there. Three", 28, &["One is here. Two is there.", "Three"]);
        check("alpha beta gamma", 11, &["alpha beta", "gamma"]);
        check("abcdefghij", 4, &["abcd", "efgh", "ij"]);
    }

    #[test]
    fn characters_count_and_are_never_cut() {
        check("ééééé üüüüü", 6, &["ééééé", "üüüüü"]);
        check("ßßßß", 3, &["ßßß", "ß"]);
    }

    #[test]
    fn blank_ends_go_and_indentation_stays() {
        check("\n\n  - item\n    more\n\n", 40, &["  - item\n    more"]);
        check(" \n\t\n", 10, &[]);
        check("/**\n * ---\n", 40, &[]);
    }
}
