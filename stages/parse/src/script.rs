//! What CMake and Python files have in common: a walk over a tree of any depth, `#` comments, and
//! the text between the named entities.

use std::ops::Range;

use almanac_language::{Stop, Watch};
use tree_sitter::{Node, Tree};

/// Visits the nodes of a tree in source order; `visit` says whether to look inside. Gives the bytes
/// inside ERROR nodes. By cursor: depth of the tree must not become depth of calls.
pub(crate) fn walk<'t>(
    tree: &'t Tree,
    watch: &Watch<'_>,
    mut visit: impl FnMut(Node<'t>) -> bool,
) -> Result<u64, Stop> {
    let mut error_bytes = 0;
    let mut error_end = 0;
    let mut cursor = tree.walk();
    loop {
        watch.check()?;
        let node = cursor.node();
        if node.is_error() && node.start_byte() >= error_end {
            error_end = node.end_byte();
            error_bytes += (node.end_byte() - node.start_byte()) as u64;
        }
        if visit(node) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Ok(error_bytes);
            }
        }
    }
}

/// The `#` lines right before `at`: first byte and text without markers.
pub(crate) fn comment_before(text: &str, at: usize) -> (usize, String) {
    let mut start = text[..at].rfind('\n').map_or(0, |before| before + 1);
    if !text[start..at].trim().is_empty() {
        return (at, String::new());
    }
    let mut lines = Vec::new();
    while let Some(end) = start.checked_sub(1) {
        let line_start = text[..end].rfind('\n').map_or(0, |before| before + 1);
        let line = text[line_start..end].trim();
        // An interpreter line is no comment on what follows.
        let Some(comment) = line.strip_prefix('#').filter(|comment| !comment.starts_with('!')) else { break };
        lines.push(comment.trim_start_matches('#').trim());
        start = line_start;
    }
    lines.reverse();
    lines.retain(|line| line.contains(char::is_alphanumeric) && !line.starts_with("cmake-format:"));
    (start, lines.join("\n"))
}

/// Ranges of a file that outermost entities and the comments before them take.
#[derive(Default)]
pub(crate) struct Taken {
    ranges: Vec<Range<usize>>,
}

impl Taken {
    /// Takes a range; ranges come in source order.
    pub(crate) fn take(&mut self, range: Range<usize>) {
        self.ranges.push(range);
    }

    /// What is left of a file of this length.
    pub(crate) fn gaps(&self, length: usize) -> Vec<Range<usize>> {
        let mut gaps = Vec::with_capacity(self.ranges.len() + 1);
        let mut at = 0;
        for taken in &self.ranges {
            gaps.push(at..taken.start.max(at));
            at = taken.end.max(at);
        }
        gaps.push(at..length);
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_right_above_belong_to_what_follows() {
        let above = |text: &str| comment_before(text, text.find("def").unwrap_or_default()).1;
        assert_eq!(above("#!/bin/sh\n# One.\n# ---\n## Two.\ndef f"), "One.\nTwo.");
        assert_eq!(above("# far away\n\ndef f"), "");
        assert_eq!(above("x = 1 # of x\ndef f"), "");
        assert_eq!(comment_before("a # b", 2), (2, String::new()));
    }

    #[test]
    fn gaps_are_what_is_between() {
        let mut taken = Taken::default();
        taken.take(2..4);
        taken.take(3..6);
        assert_eq!(taken.gaps(9), [0..2, 4..4, 6..9]);
    }
}
