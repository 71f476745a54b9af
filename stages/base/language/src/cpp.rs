//! C and C++ trees: the plain source, the masked source, or what was learned from its errors.

use std::collections::BTreeSet;

use tree_sitter::{Node, Tree, TreeCursor};

use crate::lexer::{Lexer, Token, TokenKind};
use crate::macros::is_capitals;
use crate::mask::{Masked, mask};
use crate::{Grammar, Limits, MacroTable, Stop, parse};

/// Names tried one by one when masking all suspects of a file at once does not help.
const SUSPECTS_TRIED: usize = 8;

/// Times conditionals around errors are flattened: one repaired place shows the next.
const FLATTENING_ROUNDS: usize = 4;

/// A syntax tree with the bytes it was made from.
#[derive(Debug)]
pub struct CppTree {
    /// The tree; its offsets are those of the file.
    pub tree: Tree,
    /// The bytes the grammar saw: the file's, with macros overwritten.
    pub source: Vec<u8>,
    /// First byte of the argument list of every `kernel<<<...>>>(...)`.
    pub launches: Vec<usize>,
    /// Ranges of calls to macros of this file that stand for declarations.
    pub generated: Vec<(usize, usize)>,
    /// Bytes inside ERROR nodes.
    pub error_bytes: u64,
}

/// Parses C-family text. The masked tree is kept only where it has no more errors and no fewer
/// functions than the plain one.
pub fn parse_cpp(grammar: Grammar, text: &str, table: &MacroTable, limits: Limits) -> Result<CppTree, Stop> {
    let source = text.as_bytes();
    let generators = generators(source);
    let plain = Masked { bytes: source.to_vec(), launches: Vec::new(), declarations: Vec::new(), edits: 0 };
    let mut best = Attempt::new(grammar, plain, limits)?;
    let masked = mask(source, table, &BTreeSet::new(), &generators);
    if masked.edits > 0 {
        best = best.or_masked(Attempt::new(grammar, masked, limits)?);
    }
    if best.score.errors > 0 {
        best = learn(best, grammar, source, table, &generators, limits)?;
    }
    for _ in 0..FLATTENING_ROUNDS {
        let before = best.score.errors;
        let Some(flat) = (before > 0).then(|| flatten_conditionals(&best)).flatten() else {
            break;
        };
        best = best.or_better(Attempt::new(grammar, flat, limits)?);
        if best.score.errors == before {
            break;
        }
    }
    let Attempt { tree, masked, score } = best;
    Ok(CppTree {
        tree,
        source: masked.bytes,
        launches: masked.launches,
        generated: masked.declarations,
        error_bytes: score.error_bytes,
    })
}

/// How well a tree fits its source.
#[derive(Debug, Clone, Copy)]
struct Score {
    error_bytes: u64,
    /// Error bytes and missing tokens.
    errors: u64,
    /// Functions with a body that are not inside another one.
    functions: usize,
}

struct Attempt {
    tree: Tree,
    masked: Masked,
    score: Score,
}

impl Attempt {
    fn new(grammar: Grammar, masked: Masked, limits: Limits) -> Result<Self, Stop> {
        let tree = parse(grammar, &masked.bytes, limits)?;
        let score = Score::of(&tree);
        Ok(Self { tree, masked, score })
    }

    fn or_no_worse(self, other: Self) -> Self {
        let fits = other.score.errors <= self.score.errors;
        if fits && other.score.functions >= self.score.functions { other } else { self }
    }

    /// As [`Self::or_no_worse`], but what the listed macros leave without any error needs no count:
    /// a function more in a tree with errors is likely a misread class.
    fn or_masked(self, other: Self) -> Self {
        if self.score.errors > 0 && other.score.errors == 0 { other } else { self.or_no_worse(other) }
    }

    fn or_better(self, other: Self) -> Self {
        if other.score.errors < self.score.errors { self.or_no_worse(other) } else { self }
    }
}

impl Score {
    fn of(tree: &Tree) -> Self {
        let mut score = Self { error_bytes: 0, errors: 0, functions: 0 };
        visit(tree, |node| {
            if node.is_error() {
                score.error_bytes += node.byte_range().len() as u64;
                // An ERROR node without bytes still is an error.
                score.errors += (node.byte_range().len() as u64).max(1);
            } else if node.is_missing() {
                score.errors += 1;
            } else if is_function(node) {
                score.functions += 1;
            }
            !node.is_error()
        });
        score
    }
}

/// Whether a node is a function with a body. One directly in a block is a call that was misread.
fn is_function(node: Node<'_>) -> bool {
    node.kind() == "function_definition"
        && node.child_by_field_name("declarator").is_some()
        && node.child_by_field_name("body").is_some_and(|body| body.kind() == "compound_statement")
        && node.parent().is_none_or(|parent| parent.kind() != "compound_statement")
}

/// Visits nodes in source order; `into` says whether to look inside.
fn visit<'tree>(tree: &'tree Tree, mut into: impl FnMut(Node<'tree>) -> bool) {
    let mut cursor: TreeCursor<'tree> = tree.walk();
    loop {
        let descend = into(cursor.node());
        if descend && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Function-like macros defined in this file.
fn generators(source: &[u8]) -> BTreeSet<String> {
    Lexer::new(source)
        .filter(|token| token.kind == TokenKind::Preprocessor)
        .filter_map(|token| {
            let line = str::from_utf8(&source[token.start..token.end]).ok()?;
            let body = line.strip_prefix('#')?.trim_start().strip_prefix("define")?.trim_start();
            let length = body.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
            body[length..].starts_with('(').then(|| body[..length].to_owned())
        })
        .collect()
}

/// Masks names that look like macros around errors, all at once or else one by one.
fn learn(
    mut best: Attempt,
    grammar: Grammar,
    source: &[u8],
    table: &MacroTable,
    generators: &BTreeSet<String>,
    limits: Limits,
) -> Result<Attempt, Stop> {
    let suspects = suspects(&best, source, table);
    if suspects.is_empty() {
        return Ok(best);
    }
    let before = best.score.errors;
    let all = mask(source, table, &suspects, generators);
    best = best.or_better(Attempt::new(grammar, all, limits)?);
    if best.score.errors < before {
        return Ok(best);
    }
    let mut learned = BTreeSet::new();
    for name in suspects.into_iter().take(SUSPECTS_TRIED) {
        let before = best.score.errors;
        learned.insert(name.clone());
        let masked = mask(source, table, &learned, generators);
        best = best.or_better(Attempt::new(grammar, masked, limits)?);
        if best.score.errors == before {
            learned.remove(&name);
        }
    }
    Ok(best)
}

/// Names in capitals on the lines where errors begin and end.
fn suspects(attempt: &Attempt, source: &[u8], table: &MacroTable) -> BTreeSet<String> {
    let ranges = error_lines(&attempt.tree, source);
    Lexer::new(source)
        .filter(|token| token.kind == TokenKind::Word)
        .filter(|token| ranges.iter().any(|(start, end)| (*start..*end).contains(&token.start)))
        .filter_map(|token| str::from_utf8(&source[token.start..token.end]).ok())
        .filter(|name| is_capitals(name) && name.len() >= 4 && table.action(name).is_none())
        .map(str::to_owned)
        .collect()
}

/// Byte ranges of the lines on which ERROR and MISSING nodes begin and end.
fn error_lines(tree: &Tree, source: &[u8]) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    visit(tree, |node| {
        if node.is_error() || node.is_missing() {
            for at in [node.start_byte(), node.end_byte()] {
                let at = at.min(source.len());
                let start = memchr::memrchr(b'\n', &source[..at]).map_or(0, |i| i + 1);
                // The line before counts too: a macro alone on it annotates this one.
                let start = memchr::memrchr(b'\n', &source[..start.saturating_sub(1)]).map_or(0, |i| i + 1);
                let end = memchr::memchr(b'\n', &source[at..]).map_or(source.len(), |i| at + i);
                ranges.push((start, end));
            }
        }
        node.has_error()
    });
    ranges
}

/// A conditional group of directives: the first line of every branch, and `#endif`.
struct Conditional {
    directives: Vec<Token>,
}

/// Keeps the first branch of every conditional that an error touches; `None` when there is none.
fn flatten_conditionals(attempt: &Attempt) -> Option<Masked> {
    let source = &attempt.masked.bytes;
    let ranges = error_lines(&attempt.tree, source);
    let mut masked = attempt.masked.clone();
    let mut changed = false;
    for Conditional { directives } in conditionals(source) {
        let (first, last) = (directives.first()?, directives.last()?);
        let touched = ranges.iter().any(|(start, end)| *start < last.end && first.start < *end);
        let small = last.end - first.start < source.len() / 2;
        if !(touched && small) {
            continue;
        }
        changed = true;
        let mut blank = |start: usize, end: usize| {
            for byte in &mut masked.bytes[start..end] {
                if *byte != b'\n' && *byte != b'\r' {
                    *byte = b' ';
                }
            }
        };
        blank(first.start, first.end);
        let rest = directives.get(1).unwrap_or(last);
        blank(rest.start, last.end);
        masked.edits += 1;
    }
    changed.then_some(masked)
}

fn conditionals(source: &[u8]) -> Vec<Conditional> {
    let mut open: Vec<Conditional> = Vec::new();
    let mut closed = Vec::new();
    for token in Lexer::new(source).filter(|token| token.kind == TokenKind::Preprocessor) {
        let line = source[token.start + 1..token.end].trim_ascii_start();
        if line.starts_with(b"if") {
            open.push(Conditional { directives: vec![token] });
        } else if line.starts_with(b"el") {
            if let Some(group) = open.last_mut() {
                group.directives.push(token);
            }
        } else if line.starts_with(b"endif")
            && let Some(mut group) = open.pop()
        {
            group.directives.push(token);
            closed.push(group);
        }
    }
    closed
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn tree(text: &str) -> CppTree {
        let limits = Limits { time: Duration::from_secs(20), nesting: 1000 };
        parse_cpp(Grammar::Cpp, text, MacroTable::builtin(), limits).expect("tree")
    }

    fn check_clean(text: &str, functions: usize) {
        let parsed = tree(text);
        let score = Score::of(&parsed.tree);
        assert_eq!((score.errors, score.functions), (0, functions), "{}", parsed.tree.root_node().to_sexp());
        assert_eq!(parsed.source.len(), text.len());
    }

    #[test]
    fn annotated_code_has_a_clean_tree() {
        check_clean(
            "struct S {\n  KOKKOS_INLINE_FUNCTION S(int a) : a_(a) {}\n  KOKKOS_FUNCTION double f(int i) const { return v_<:i:>; }\n};\n",
            2,
        );
        check_clean(
            "void h(int n) {\n  Kokkos::parallel_for(\"l\", n, KOKKOS_LAMBDA(const int i) { f(i); });\n  k<<<n, 1>>>(n);\n}\n",
            1,
        );
    }

    #[test]
    fn a_macro_nobody_listed_is_learned_from_the_error() {
        check_clean("MYLIB_INLINE\nvoid f(int x) { g(x); }\nMYLIB_INLINE double h() { return 1; }\n", 2);
    }

    #[test]
    fn a_conditional_inside_a_list_keeps_its_first_branch() {
        let text = "enum Kind {\n  A,\n#ifdef X\n  B,\n#else\n  C\n#endif\n  D\n};\nint f(\n#ifdef X\n  int a\n#else\n  double a\n#endif\n) { return 1; }\nint g() { return 2; }\nint k() { return 2; }\nint l() { return 2; }\n";
        check_clean(text, 4);
    }

    #[test]
    fn plain_code_is_left_alone() {
        let text = "int f() { return 1; }\n";
        assert_eq!(tree(text).source, text.as_bytes());
        assert_eq!(tree(text).error_bytes, 0);
    }
}
