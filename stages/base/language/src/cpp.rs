//! C and C++ trees: the masked source, the plain one, or what was learned from errors.

use std::collections::BTreeSet;

use tree_sitter::{Node, Tree, TreeCursor};

use crate::branches::Branches;
use crate::defines::{Define, defines_of};
use crate::grammar::parse_around;
use crate::lexer::TokenKind;
use crate::macros::is_capitals;
use crate::mask::{Masked, mask};
use crate::scan::{DirectiveKind, Scan};
use crate::{Grammar, KnownNames, Stop, TreeMacros, Watch};

/// One error in this many bytes is reason to try another way to read a text.
const DOUBTFUL: u64 = 2000;

/// A syntax tree with the bytes it was made from.
#[derive(Debug)]
pub struct CppTree {
    /// The tree; its offsets are those of the file.
    pub tree: Tree,
    /// The bytes the grammar saw: the file's, with macros and directives overwritten.
    pub masked: Masked,
    /// How well the tree fits.
    pub score: Score,
}

/// A C-family text, ready to be parsed.
#[derive(Debug)]
pub struct CppSource<'a> {
    text: &'a str,
    macros: &'a TreeMacros,
    scan: Scan,
    branches: Branches,
}

impl<'a> CppSource<'a> {
    /// Splits a text into tokens and finds its conditionals.
    pub fn new(text: &'a str, macros: &'a TreeMacros) -> Self {
        let scan = Scan::of(text.as_bytes());
        let branches = Branches::of(text.as_bytes(), &scan);
        Self { text, macros, scan, branches }
    }

    /// The macros of the tree.
    pub fn macros(&self) -> &'a TreeMacros {
        self.macros
    }

    /// Byte ranges of the comments, in order.
    pub fn comments(&self) -> &[(usize, usize)] {
        &self.scan.comments
    }

    /// The macros defined here, in order.
    pub fn defines(&self) -> Vec<Define> {
        defines_of(self.text, &self.scan)
    }

    /// Names that the text tells to be classes or namespaces.
    pub fn known_names(&self) -> KnownNames {
        KnownNames::of(self.text, &self.scan.code)
    }

    /// Byte ranges of the `#include` lines.
    pub fn includes(&self) -> impl Iterator<Item = (usize, usize)> {
        let includes = self.scan.directives.iter().filter(|one| one.kind == DirectiveKind::Include);
        includes.map(|directive| (directive.start, directive.end))
    }

    /// How often the text must be parsed for every branch of its conditionals to be read.
    pub fn rounds(&self) -> usize {
        self.branches.rounds()
    }

    /// Byte ranges that are read in a round after the first, and in none before.
    pub fn fresh(&self, round: usize) -> Vec<(usize, usize)> {
        self.branches.fresh(round)
    }

    /// Parses the text with the branches of a round. The masked tree is kept only where it has fewer
    /// errors and no fewer functions than the plain one; with hardly any error it needs no comparison.
    pub fn parse(&self, grammar: Grammar, round: usize, watch: &Watch<'_>) -> Result<CppTree, Stop> {
        watch.check_nesting(self.text.as_bytes())?;
        let mut best = Attempt::new(grammar, self.masked(round, &BTreeSet::new()), watch)?;
        if self.is_doubtful(&best) {
            // Names that look like macros around errors are masked, too, if that helps.
            let suspects = self.suspects(&best.tree);
            if !suspects.is_empty() {
                best = best.or_better(Attempt::new(grammar, self.masked(round, &suspects), watch)?, 0);
            }
        }
        if round == 0 && self.is_doubtful(&best) {
            let plain = Attempt::new(grammar, Masked::plain(self.text.as_bytes()), watch)?;
            best = plain.or_better(best, self.functions_elsewhere(grammar, watch)?);
        }
        let Attempt { tree, masked, score } = best;
        Ok(CppTree { tree, masked, score })
    }

    /// Whether a tree has more errors than a line of a long file.
    fn is_doubtful(&self, attempt: &Attempt) -> bool {
        attempt.score.errors * DOUBTFUL > self.text.len() as u64
    }

    /// Functions whose bodies begin in branches of later rounds.
    fn functions_elsewhere(&self, grammar: Grammar, watch: &Watch<'_>) -> Result<usize, Stop> {
        let mut count = 0;
        for round in 1..self.rounds() {
            let masked = self.masked(round, &BTreeSet::new());
            let tree = parse_around(grammar, &masked.bytes, &masked.hidden, watch)?;
            let fresh = self.fresh(round);
            let is_fresh = |at: &usize| fresh.iter().any(|(start, end)| (*start..*end).contains(at));
            count += functions(&tree, &masked.bytes).into_iter().filter(|at| is_fresh(at)).count();
        }
        Ok(count)
    }

    fn masked(&self, round: usize, learned: &BTreeSet<String>) -> Masked {
        mask(self.text.as_bytes(), &self.scan, &self.branches, round, self.macros, learned)
    }

    /// Names in capitals on the lines where errors begin and end.
    fn suspects(&self, tree: &Tree) -> BTreeSet<String> {
        let ranges = error_lines(tree, self.text.as_bytes());
        let near = |at: usize| {
            let after = ranges.partition_point(|(start, _)| *start <= at);
            after > 0 && at < ranges[after - 1].1
        };
        self.scan
            .code
            .iter()
            .filter(|token| token.kind == TokenKind::Word && near(token.start))
            .filter_map(|token| self.text.get(token.start..token.end))
            .filter(|name| is_capitals(name) && name.len() >= 4 && self.macros.action(name).is_none())
            .map(str::to_owned)
            .collect()
    }
}

/// How well a tree fits its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// Bytes inside ERROR nodes.
    pub error_bytes: u64,
    /// Error bytes and missing tokens.
    pub errors: u64,
}

impl Score {
    /// Counts over a tree.
    pub fn of(tree: &Tree) -> Self {
        let mut score = Self::default();
        visit(tree, |node| {
            if node.is_error() {
                score.error_bytes += node.byte_range().len() as u64;
                // An ERROR node without bytes still is an error.
                score.errors += (node.byte_range().len() as u64).max(1);
            } else if node.is_missing() {
                score.errors += 1;
            }
            node.has_error() && !node.is_error()
        });
        score
    }
}

/// First bytes of the ERROR and MISSING nodes of a tree.
pub fn error_places(tree: &Tree) -> Vec<usize> {
    let mut places = Vec::new();
    visit(tree, |node| {
        if node.is_error() || node.is_missing() {
            places.push(node.start_byte());
        }
        node.has_error() && !node.is_error()
    });
    places
}

/// First bytes of the bodies of functions in a tree, what is inside ERROR nodes left out.
///
/// What only looks like one to the grammar does not count: a class or an `if` that was misread.
pub fn functions(tree: &Tree, source: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    visit(tree, |node| {
        if let Some(body) = node.child_by_field_name("body").filter(|_| is_function(node, source)) {
            found.push(body.start_byte());
        }
        !node.is_error()
    });
    found
}

struct Attempt {
    tree: Tree,
    masked: Masked,
    score: Score,
}

impl Attempt {
    fn new(grammar: Grammar, masked: Masked, watch: &Watch<'_>) -> Result<Self, Stop> {
        let tree = parse_around(grammar, &masked.bytes, &masked.hidden, watch)?;
        let score = Score::of(&tree);
        Ok(Self { tree, masked, score })
    }

    /// The other, if it has fewer errors and no fewer functions; `elsewhere` of them are read in
    /// other rounds.
    fn or_better(self, other: Self, elsewhere: usize) -> Self {
        let has_fewer_errors = other.score.errors < self.score.errors;
        let count = |attempt: &Self| functions(&attempt.tree, &attempt.masked.bytes).len();
        let is_better = has_fewer_errors && count(&other) + elsewhere >= count(&self);
        if is_better { other } else { self }
    }
}

/// Whether a node is a function with a body. One directly in a block is a call that was misread.
fn is_function(node: Node<'_>, source: &[u8]) -> bool {
    node.kind() == "function_definition"
        && node.child_by_field_name("body").is_some_and(|body| body.kind() == "compound_statement")
        && node.parent().is_none_or(|parent| parent.kind() != "compound_statement")
        && node
            .child_by_field_name("declarator")
            .is_some_and(|declarator| is_function_head(declarator, source))
        && !(0..node.child_count()).any(|at| node.child(at).is_some_and(|child| child.is_error()))
}

/// Whether a declarator has parameters, or is a conversion, and no keyword as its name.
fn is_function_head(declarator: Node<'_>, source: &[u8]) -> bool {
    let mut node = declarator;
    let mut has_parameters = false;
    loop {
        match node.kind() {
            "operator_cast" => return true,
            "function_declarator" => has_parameters = true,
            _ => {}
        }
        let inner = node.child_by_field_name("declarator").or_else(|| {
            let is_inner =
                |child: &Node<'_>| child.kind().contains("declarator") || child.kind() == "operator_cast";
            (0..node.named_child_count()).filter_map(|at| node.named_child(at as u32)).find(is_inner)
        });
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    let name = source.get(node.byte_range()).unwrap_or_default();
    has_parameters && !matches!(name, b"if" | b"else" | b"for" | b"while" | b"switch" | b"catch" | b"return")
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

/// Byte ranges of the lines on which ERROR and MISSING nodes begin and end, joined where they meet.
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
    ranges.sort_unstable();
    ranges.dedup_by(|next, range| {
        let meets = next.0 <= range.1;
        if meets {
            range.1 = range.1.max(next.1);
        }
        meets
    });
    ranges
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::{Limits, defines};

    fn parsed(text: &str, round: usize) -> CppTree {
        let limits = Limits { steps: 10_000_000, nesting: 1000 };
        let calm = AtomicBool::new(false);
        let macros = TreeMacros::new(defines(text));
        let source = CppSource::new(text, &macros);
        source.parse(Grammar::Cpp, round, &Watch::start(limits, &calm)).expect("tree")
    }

    fn check_clean(text: &str, expected: usize) {
        let parsed = parsed(text, 0);
        let sexp = parsed.tree.root_node().to_sexp();
        assert_eq!(
            (parsed.score.errors, functions(&parsed.tree, &parsed.masked.bytes).len()),
            (0, expected),
            "{sexp}"
        );
        assert_eq!(parsed.masked.bytes.len(), text.len());
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
        check_clean(
            "MYLIB_INLINE\nvoid f(MYLIB_IN const int& x) { g(x); }\nMYLIB_INLINE double h() { return 1; }\n",
            2,
        );
    }

    #[test]
    fn a_conditional_inside_a_list_keeps_its_first_branch() {
        let text = "enum Kind {\n  A,\n#ifdef X\n  B,\n#else\n  C,\n#endif\n  D\n};\nint f(\n#ifdef X\n  int a\n#else\n  double a\n#endif\n) { return 1; }\nint g() { return 2; }\n";
        check_clean(text, 2);
        assert_eq!(parsed(text, 1).score.errors, 0);
    }

    #[test]
    fn linkage_that_depends_on_the_language_is_read() {
        check_clean(
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void) { return 1; }\n#ifdef __cplusplus\n}\n#endif\n",
            1,
        );
    }

    #[test]
    fn plain_code_is_left_alone() {
        let text = "int f() { return 1; }\n";
        assert_eq!(parsed(text, 0).masked.bytes, text.as_bytes());
    }
}
