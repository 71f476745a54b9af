//! Syntax trees from the grammars that are compiled in.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser, Tree};

/// A grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grammar {
    /// C++, CUDA and HIP.
    Cpp,
    /// C.
    C,
    /// CMake.
    Cmake,
    /// Python.
    Python,
}

impl Grammar {
    fn language(self) -> tree_sitter::Language {
        match self {
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cmake => tree_sitter_cmake::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
        }
    }
}

/// Bounds on the work one file may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time for one tree. Real files take well under a second; only a file made to defeat a parser
    /// meets this limit, so it does not make results depend on the machine.
    pub time: Duration,
    /// Depth of brackets inside brackets; the time a parser needs is quadratic in it.
    pub nesting: usize,
}

/// Why there is no tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The time limit was met.
    Time(Duration),
    /// Brackets are nested deeper than the limit.
    Nesting(usize),
    /// The grammar cannot be loaded by this tree-sitter.
    Grammar,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(limit) => write!(f, "parser stopped after {} s", limit.as_secs_f32()),
            Self::Nesting(limit) => write!(f, "brackets nested deeper than {limit}"),
            Self::Grammar => f.write_str("grammar does not fit the parser"),
        }
    }
}

thread_local! {
    static PARSERS: RefCell<BTreeMap<Grammar, Parser>> = const { RefCell::new(BTreeMap::new()) };
}

/// Parses `source` with the calling thread's parser.
pub fn parse(grammar: Grammar, source: &[u8], limits: Limits) -> Result<Tree, Stop> {
    if nesting_depth(source) > limits.nesting {
        return Err(Stop::Nesting(limits.nesting));
    }
    PARSERS.with_borrow_mut(|parsers| {
        let parser = parsers.entry(grammar).or_default();
        if parser.language().is_none() {
            parser.set_language(&grammar.language()).map_err(|_| Stop::Grammar)?;
        }
        let deadline = Instant::now() + limits.time;
        let mut watch = |_: &tree_sitter::ParseState| {
            if Instant::now() > deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let tree = parser.parse_with_options(
            &mut |offset, _| source.get(offset..).unwrap_or_default(),
            None,
            Some(ParseOptions::new().progress_callback(&mut watch)),
        );
        tree.ok_or_else(|| {
            parser.reset();
            Stop::Time(limits.time)
        })
    })
}

/// Depth of `( [ {` inside each other, brackets in strings and comments included: an upper bound.
fn nesting_depth(source: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0usize, 0usize);
    for byte in source {
        match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { time: Duration::from_secs(20), nesting: 1000 };

    #[test]
    fn every_grammar_loads_and_parses() {
        for (grammar, text) in [
            (Grammar::Cpp, "int f() { return 1; }"),
            (Grammar::C, "int f(void) { return 1; }"),
            (Grammar::Cmake, "add_library(a b.cpp)\n"),
            (Grammar::Python, "def f():\n    return 1\n"),
        ] {
            let tree = parse(grammar, text.as_bytes(), LIMITS).expect("tree");
            assert!(!tree.root_node().has_error(), "{grammar:?}");
        }
    }

    #[test]
    fn deep_nesting_and_long_work_stop_with_a_reason() {
        let deep = "(".repeat(1001);
        assert_eq!(parse(Grammar::Cpp, deep.as_bytes(), LIMITS).err(), Some(Stop::Nesting(1000)));
        let long = "int x = 1 + 2;\n".repeat(20_000);
        let hasty = Limits { time: Duration::ZERO, ..LIMITS };
        assert!(matches!(parse(Grammar::Cpp, long.as_bytes(), hasty), Err(Stop::Time(_))));
        // The parser is usable afterwards.
        assert!(parse(Grammar::Cpp, b"int y;", LIMITS).is_ok());
    }
}
