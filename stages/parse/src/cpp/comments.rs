//! Comments that belong to declarations.

/// The comments of a file, in order.
pub(crate) struct Comments<'a> {
    ranges: &'a [(usize, usize)],
}

impl<'a> Comments<'a> {
    /// Over the byte ranges of comments, in order.
    pub(crate) fn new(ranges: &'a [(usize, usize)]) -> Self {
        Self { ranges }
    }

    /// The comment right before byte `at`, markers removed; empty if there is none.
    ///
    /// Line comments on consecutive lines are one comment. A Doxygen comment may be one blank line
    /// away; others may not, since they would rather head a group or the file.
    pub(crate) fn before(&self, text: &str, at: usize) -> String {
        let mut last = self.ranges.partition_point(|(_, end)| *end <= at);
        let mut below = at;
        let mut found: Vec<(usize, usize)> = Vec::new();
        while let Some(index) = last.checked_sub(1) {
            let (start, end) = self.ranges[index];
            let comment = &text[start..end];
            let allowed = if found.is_empty() && is_doxygen(comment) { 2 } else { 1 };
            // From below: the comment may be a whole file away.
            let gap = text[end..below].bytes().rev();
            let is_near = gap.clone().all(|byte| byte.is_ascii_whitespace())
                && gap.filter(|byte| *byte == b'\n').count() <= allowed;
            if !is_near || is_trailing(comment) || !begins_line(text, start) {
                break;
            }
            found.push((start, end));
            below = start;
            last = index;
        }
        if found.last().is_some_and(|(start, end)| is_file_header(text, *start, *end)) {
            found.pop();
        }
        let cleaned: Vec<String> = found
            .iter()
            .rev()
            .map(|(start, end)| clean(&text[*start..*end]))
            .filter(|c| !c.is_empty())
            .collect();
        cleaned.join("\n")
    }

    /// Whether nothing but comments and blanks stands between two bytes.
    pub(crate) fn is_blank_between(&self, text: &str, start: usize, end: usize) -> bool {
        let first = self.ranges.partition_point(|(_, close)| *close <= start);
        let mut at = start;
        for (open, close) in self.ranges[first..].iter().take_while(|(open, _)| *open < end) {
            if !text.get(at..*open).unwrap_or("").trim().is_empty() {
                return false;
            }
            at = *close;
        }
        text.get(at.min(end)..end).unwrap_or("").trim().is_empty()
    }

    /// The comment after byte `at` on the same line (`int x;  ///< what x is`).
    pub(crate) fn after(&self, text: &str, at: usize) -> String {
        let next = self.ranges.partition_point(|(start, _)| *start < at);
        match self.ranges.get(next) {
            Some((start, end)) if text[at..*start].chars().all(|c| matches!(c, ' ' | '\t' | ';' | ',')) => {
                clean(&text[*start..*end])
            }
            _ => String::new(),
        }
    }
}

fn is_doxygen(comment: &str) -> bool {
    ["///", "//!", "/**", "/*!"].iter().any(|mark| comment.starts_with(mark))
}

/// Marked as belonging to what stands before it.
fn is_trailing(comment: &str) -> bool {
    ["///<", "//!<", "/**<", "/*!<"].iter().any(|mark| comment.starts_with(mark))
}

fn begins_line(text: &str, start: usize) -> bool {
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    text[line..start].trim().is_empty()
}

/// At the top of the file and about the file: licence, `@file`.
fn is_file_header(text: &str, start: usize, end: usize) -> bool {
    let about = ["@file", "\\file", "opyright", "SPDX-", "icense"];
    text[..start].trim().is_empty() && about.iter().any(|word| text[start..end].contains(word))
}

/// A comment without markers, rulers and the space around.
pub(crate) fn clean(comment: &str) -> String {
    let block = comment.starts_with("/*");
    let body = if block {
        let body = comment.trim_start_matches("/*").trim_start_matches(['*', '!', '<']);
        body.strip_suffix("*/").unwrap_or(body)
    } else {
        comment
    };
    let mut lines: Vec<&str> = body
        .lines()
        .map(|line| {
            let line = line.trim();
            let line = if block {
                line.trim_start_matches('*')
            } else {
                line.trim_start_matches('/').trim_start_matches(['!', '<'])
            };
            line.strip_prefix(' ').unwrap_or(line).trim_end()
        })
        .map(|line| if is_ruler(line) { "" } else { line })
        .collect();
    while lines.first().is_some_and(|line| line.trim().is_empty()) {
        lines.remove(0);
    }
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    lines.join("\n")
}

fn is_ruler(line: &str) -> bool {
    line.len() >= 3 && line.chars().all(|c| matches!(c, '-' | '=' | '*' | '/' | '#' | '~' | '_' | '+' | ' '))
}

#[cfg(test)]
mod tests {
    use almanac_language::comments;

    use super::*;

    fn check(text: &str, expected: &str) {
        let at = text.find("int x").expect("the declaration");
        assert_eq!(Comments::new(&comments(text)).before(text, at), expected, "{text}");
    }

    #[test]
    fn comments_right_before_belong_to_what_follows() {
        check("/** Sum.\n * @param n count\n */\nint x;", "Sum.\n@param n count");
        check("// one\n// two\nint x;", "one\ntwo");
        check("/// far away\n\nint x;", "far away");
        check("// a group\n\nint x;", "");
        check("int y;  // about y\nint x;", "");
        check("int y;\n///< about y\nint x;", "");
        check("//////////\n// title\n//////////\nint x;", "title");
        check("// Copyright 2020\n// Licensed\nint x;", "Licensed");
        check("/* Copyright me */\nint x;", "");
        check("/*!\n   Indented text\n     code\n*/\nint x;", "Indented text\ncode");
    }

    #[test]
    fn a_comment_on_the_line_belongs_to_what_stands_before() {
        let text = "int x;  //!< how many\nint y; // next";
        assert_eq!(Comments::new(&comments(text)).after(text, 5), "how many");
        let text = "int x;\n// next";
        assert_eq!(Comments::new(&comments(text)).after(text, 5), "");
    }
}
