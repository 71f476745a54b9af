//! Conditionals of the preprocessor: which can be read with all their branches at once, and which
//! must be read one branch at a time.
//!
//! Where every branch holds whole declarations or statements, the directives alone are left out and
//! all branches are read side by side. Where a branch begins or ends in the middle of something
//! (`#ifdef A` around the head of a function, or inside a list), a tree can hold but one branch; the
//! others are read in further rounds. What stands below `#if 0` is no code.

use crate::lexer::{Token, TokenKind};
use crate::scan::{Directive, DirectiveKind, Scan, directive_parts};

/// Rounds in which branches are read; later branches are not.
const ROUNDS: usize = 4;

/// Byte range.
type Range = (usize, usize);

/// A conditional whose branches must be read one at a time: code ranges of those that hold any.
#[derive(Debug, PartialEq, Eq)]
struct Apart {
    branches: Vec<Range>,
}

/// The conditionals of a text.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    /// Below `#if 0`.
    disabled: Vec<Range>,
    apart: Vec<Apart>,
}

impl Branches {
    pub(crate) fn of(source: &[u8], scan: &Scan) -> Self {
        let mut walk =
            Walk { source, scan, open: Vec::new(), depth: Depth::default(), found: Self::default() };
        let mut at = 0;
        for directive in &scan.directives {
            walk.pass(at, directive.code_before);
            at = directive.code_before;
            walk.directive(directive);
        }
        walk.found
    }

    /// Number of rounds needed to read every branch; at least one.
    pub(crate) fn rounds(&self) -> usize {
        self.apart.iter().map(|apart| apart.branches.len()).max().unwrap_or(1).clamp(1, ROUNDS)
    }

    /// What is left out in a round, in order and possibly one inside another.
    pub(crate) fn dropped(&self, round: usize) -> Vec<Range> {
        let mut dropped = self.disabled.clone();
        for Apart { branches } in &self.apart {
            let kept = round.min(branches.len().saturating_sub(1));
            dropped
                .extend(branches.iter().enumerate().filter(|(at, _)| *at != kept).map(|(_, range)| *range));
        }
        dropped.sort_unstable();
        dropped
    }

    /// What is read in this round for the first time.
    pub(crate) fn fresh(&self, round: usize) -> Vec<Range> {
        let mut fresh: Vec<Range> =
            self.apart.iter().filter_map(|apart| apart.branches.get(round).copied()).collect();
        fresh.sort_unstable();
        fresh
    }
}

/// Brackets open at a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Depth {
    /// `(` and `[`.
    parens: i32,
    braces: i32,
}

struct Open {
    /// Depth at `#if`.
    depth: Depth,
    /// Where the branch being passed begins: byte and code token.
    from: (usize, usize),
    /// Branches with code, and the depth after each.
    branches: Vec<(Range, Depth)>,
    is_apart: bool,
    /// Whether the branch being passed is below `#if 0`.
    is_disabled: bool,
}

struct Walk<'a> {
    source: &'a [u8],
    scan: &'a Scan,
    open: Vec<Open>,
    depth: Depth,
    found: Branches,
}

impl Walk<'_> {
    fn pass(&mut self, from: usize, to: usize) {
        for token in &self.scan.code[from..to] {
            if token.kind == TokenKind::Punctuation {
                match self.source[token.start] {
                    b'(' | b'[' => self.depth.parens += 1,
                    b')' | b']' => self.depth.parens -= 1,
                    b'{' => self.depth.braces += 1,
                    b'}' => self.depth.braces -= 1,
                    _ => {}
                }
            }
        }
    }

    fn directive(&mut self, directive: &Directive) {
        match directive.kind {
            DirectiveKind::If => {
                let cut = self.depth.parens > 0 || !self.is_boundary(directive.code_before);
                self.open.push(Open {
                    depth: self.depth,
                    from: (directive.end, directive.code_before),
                    branches: Vec::new(),
                    is_apart: cut,
                    is_disabled: self.is_zero(directive),
                });
            }
            DirectiveKind::Else => {
                self.close_branch(directive);
                let is_disabled = self.is_zero(directive);
                if let Some(open) = self.open.last_mut() {
                    self.depth = open.depth;
                    open.from = (directive.end, directive.code_before);
                    open.is_disabled = is_disabled;
                }
            }
            DirectiveKind::Endif => {
                self.close_branch(directive);
                let Some(mut open) = self.open.pop() else { return };
                // What leaves no bracket open fits best to the code around.
                open.branches.sort_by_key(|(_, depth)| *depth != open.depth);
                self.depth = open.branches.first().map_or(open.depth, |(_, depth)| *depth);
                if open.is_apart {
                    let branches = open.branches.into_iter().map(|(range, _)| range).collect();
                    self.found.apart.push(Apart { branches });
                }
            }
            _ => {}
        }
    }

    fn close_branch(&mut self, directive: &Directive) {
        let ends_whole = self.is_boundary(directive.code_before);
        let Some(open) = self.open.last_mut() else { return };
        let range = (open.from.0, directive.start);
        let code = &self.scan.code[open.from.1..directive.code_before];
        let Some(first) = code.first() else { return };
        if open.is_disabled {
            self.found.disabled.push(range);
            return;
        }
        let goes_on = matches!(&self.source[first.start..first.end], b"else" | b"," | b"." | b")" | b":");
        open.is_apart |= self.depth != open.depth || !ends_whole || goes_on;
        open.branches.push((range, self.depth));
    }

    /// Whether a declaration or statement may begin at a code token.
    fn is_boundary(&self, at: usize) -> bool {
        let text = |token: &Token| &self.source[token.start..token.end];
        let Some(last) = at.checked_sub(1).and_then(|last| self.scan.code.get(last)) else { return true };
        match text(last) {
            b";" | b"{" | b"}" => true,
            b":" => at < 2 || text(&self.scan.code[at - 2]) != b":",
            b"," => self.is_in_enum(at),
            _ => false,
        }
    }

    /// Whether the brace around a token is that of an enumeration: its list takes conditionals.
    fn is_in_enum(&self, at: usize) -> bool {
        const FAR: usize = 4000;
        let mut depth = 0;
        let tokens = self.scan.code[..at].iter().enumerate().rev().take(FAR);
        for (index, token) in tokens {
            match self.source[token.start] {
                b'}' => depth += 1,
                b'{' if depth > 0 => depth -= 1,
                b'{' => {
                    let head = self.scan.code[..index].iter().rev().take(8);
                    return head
                        .map(|token| &self.source[token.start..token.end])
                        .take_while(|text| !matches!(*text, b";" | b"{" | b"}" | b"(" | b")"))
                        .any(|text| text == b"enum");
                }
                b';' => return false,
                _ => {}
            }
        }
        false
    }

    fn is_zero(&self, directive: &Directive) -> bool {
        let (word, condition) = directive_parts(&self.source[directive.start..directive.end]);
        let condition = condition.trim_ascii();
        let number = condition.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(condition.len());
        let rest = condition[number..].trim_ascii_start();
        let ends = rest.is_empty() || [&b"&&"[..], b"//", b"/*"].iter().any(|mark| rest.starts_with(mark));
        matches!(word, b"if" | b"elif") && &condition[..number] == b"0" && ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, rounds: usize, dropped: &[&str]) {
        let branches = Branches::of(text.as_bytes(), &Scan::of(text.as_bytes()));
        assert_eq!(branches.rounds(), rounds, "{text}");
        let found: Vec<&str> =
            branches.dropped(0).iter().map(|(start, end)| text[*start..*end].trim()).collect();
        assert_eq!(found, dropped, "{text}");
    }

    #[test]
    fn whole_declarations_are_read_side_by_side() {
        check("#ifdef A\nvoid f(int);\n#else\nvoid f(double) {}\n#endif\nint x;\n", 1, &[]);
        check("struct S {\npublic:\n#ifdef A\nint a;\n#endif\n};\n", 1, &[]);
        check("enum E { A,\n#ifdef X\nB,\n#else\nC,\n#endif\nD };\n", 1, &[]);
    }

    #[test]
    fn branches_that_cut_something_are_read_apart() {
        check(
            "#ifdef A\nvoid f(int a) {\n#else\nvoid f(double a) {\n#endif\n}\n",
            2,
            &["void f(double a) {"],
        );
        check("int f(\n#if A\nint a\n#elif B\nlong a\n#else\nchar a\n#endif\n);\n", 3, &["long a", "char a"]);
        check("int x =\n#ifdef A\n1;\n#else\n2;\n#endif\n", 2, &["2;"]);
        check("if (a) { }\n#ifdef X\nelse if (b) { }\n#endif\n", 1, &[]);
        check("#if DOC\nnamespace a {\n#else\nint b;\n#endif\n", 2, &["namespace a {"]);
        check("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f();\n", 1, &[]);
    }

    #[test]
    fn what_is_switched_off_is_no_code() {
        check("#if 0\nbroken (\n#else\nint a;\n#endif\n", 1, &["broken ("]);
        check("#if 0 || A\nint b;\n#endif\n", 1, &[]);
        check("#if 0x10\nint b;\n#endif\n", 1, &[]);
    }

    #[test]
    fn each_branch_is_fresh_once() {
        let text = "#ifdef A\nvoid f(int a) {\n#else\nvoid f(double a) {\n#endif\n}\n";
        let branches = Branches::of(text.as_bytes(), &Scan::of(text.as_bytes()));
        let of = |ranges: Vec<Range>| -> Vec<String> {
            ranges.iter().map(|(start, end)| text[*start..*end].trim().to_owned()).collect()
        };
        assert_eq!(of(branches.dropped(1)), ["void f(int a) {"]);
        assert_eq!(of(branches.fresh(1)), ["void f(double a) {"]);
    }
}
