//! Syntax trees from the grammars that are compiled in.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use tree_sitter::{ParseOptions, Parser, Point, Range, Tree};

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
    /// Fortran.
    Fortran,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
    /// TOML.
    Toml,
}

impl Grammar {
    fn language(self) -> tree_sitter::Language {
        match self {
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cmake => tree_sitter_cmake::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Fortran => tree_sitter_fortran::LANGUAGE.into(),
            Self::Json => tree_sitter_json::LANGUAGE.into(),
            Self::Yaml => tree_sitter_yaml::LANGUAGE.into(),
            Self::Toml => tree_sitter_toml_ng::LANGUAGE.into(),
        }
    }
}

/// Bounds on the work one file may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps for the file, from its first tree to its last row: operations of the parser, and nodes
    /// looked at. Counted, not timed, so that a busy machine reads a tree as an idle one does.
    pub steps: u64,
    /// Depth of brackets inside brackets; the time a parser needs is quadratic in it.
    pub nesting: usize,
}

/// Why a file is not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The limit of steps was met.
    Steps(u64),
    /// A signal came.
    Interrupted,
    /// Brackets are nested deeper than the limit.
    Nesting(usize),
    /// The grammar cannot be loaded by this tree-sitter.
    Grammar,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps(limit) => write!(f, "parser stopped after {limit} steps"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Nesting(limit) => write!(f, "brackets nested deeper than {limit}"),
            Self::Grammar => f.write_str("grammar does not fit the parser"),
        }
    }
}

/// Operations of tree-sitter between two calls of its progress callback.
const CALLBACK_EVERY: u64 = 100;

/// The work spent on one file, asked wherever its reading may take long.
#[derive(Debug)]
pub struct Watch<'a> {
    limits: Limits,
    interrupted: &'a AtomicBool,
    steps: Cell<u64>,
    stop: Cell<Option<Stop>>,
}

impl<'a> Watch<'a> {
    /// Begins to count; `interrupted` is the flag that a signal sets.
    pub fn start(limits: Limits, interrupted: &'a AtomicBool) -> Self {
        Self { limits, interrupted, steps: Cell::new(0), stop: Cell::new(None) }
    }

    /// Counts a step, and fails once there were too many or a signal came, and ever after. Cheap
    /// enough for every node of a tree.
    pub fn check(&self) -> Result<(), Stop> {
        self.spend(1)
    }

    /// Fails where brackets are nested deeper than the limit.
    pub(crate) fn check_nesting(&self, source: &[u8]) -> Result<(), Stop> {
        let most = self.limits.nesting;
        if nesting_depth(source) > most { Err(Stop::Nesting(most)) } else { Ok(()) }
    }

    fn spend(&self, steps: u64) -> Result<(), Stop> {
        let spent = self.steps.get().saturating_add(steps);
        self.steps.set(spent);
        if self.stop.get().is_none() {
            let stop = if self.interrupted.load(Ordering::Relaxed) {
                Some(Stop::Interrupted)
            } else {
                (spent > self.limits.steps).then_some(Stop::Steps(self.limits.steps))
            };
            self.stop.set(stop);
        }
        self.stop.get().map_or(Ok(()), Err)
    }
}

thread_local! {
    static PARSERS: RefCell<BTreeMap<Grammar, Parser>> = const { RefCell::new(BTreeMap::new()) };
}

/// Parses `source` with the calling thread's parser.
pub fn parse(grammar: Grammar, source: &[u8], watch: &Watch<'_>) -> Result<Tree, Stop> {
    parse_around(grammar, source, &[], watch)
}

/// Parses `source` without the bytes of some ranges, which are in order and apart: the parser does
/// not even look at them.
pub(crate) fn parse_around(
    grammar: Grammar,
    source: &[u8],
    hidden: &[(usize, usize)],
    watch: &Watch<'_>,
) -> Result<Tree, Stop> {
    watch.check_nesting(source)?;
    PARSERS.with_borrow_mut(|parsers| {
        let parser = parsers.entry(grammar).or_default();
        if parser.language().is_none() {
            parser.set_language(&grammar.language()).map_err(|_| Stop::Grammar)?;
        }
        parser.set_included_ranges(&ranges_around(source, hidden)).map_err(|_| Stop::Grammar)?;
        let mut progress = |_: &tree_sitter::ParseState| match watch.spend(CALLBACK_EVERY) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        let tree = parser.parse_with_options(
            &mut |offset, _| source.get(offset..).unwrap_or_default(),
            None,
            Some(ParseOptions::new().progress_callback(&mut progress)),
        );
        tree.ok_or_else(|| {
            parser.reset();
            watch.stop.get().unwrap_or(Stop::Grammar)
        })
    })
}

/// What is left of a source without the hidden ranges; nothing where nothing is hidden.
fn ranges_around(source: &[u8], hidden: &[(usize, usize)]) -> Vec<Range> {
    if hidden.is_empty() {
        return Vec::new();
    }
    let mut ranges = Vec::with_capacity(hidden.len() + 1);
    let mut place = Place::default();
    for (start, end) in hidden.iter().copied().chain([(source.len(), source.len())]) {
        let (start_byte, start_point) = (place.byte, place.point());
        place.advance(source, start);
        if start > start_byte {
            let end_point = place.point();
            ranges.push(Range { start_byte, end_byte: start, start_point, end_point });
        }
        place.advance(source, end);
    }
    ranges
}

/// A byte with its line and column.
#[derive(Default)]
struct Place {
    byte: usize,
    row: usize,
    line_start: usize,
}

impl Place {
    fn advance(&mut self, source: &[u8], to: usize) {
        for at in memchr::memchr_iter(b'\n', &source[self.byte..to]) {
            self.row += 1;
            self.line_start = self.byte + at + 1;
        }
        self.byte = to;
    }

    fn point(&self) -> Point {
        Point { row: self.row, column: self.byte - self.line_start }
    }
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

    const LIMITS: Limits = Limits { steps: 10_000_000, nesting: 1000 };
    static CALM: AtomicBool = AtomicBool::new(false);

    fn parse_within(grammar: Grammar, source: &[u8], limits: Limits) -> Result<Tree, Stop> {
        parse(grammar, source, &Watch::start(limits, &CALM))
    }

    #[test]
    fn every_grammar_loads_and_parses() {
        for (grammar, text) in [
            (Grammar::Cpp, "int f() { return 1; }"),
            (Grammar::C, "int f(void) { return 1; }"),
            (Grammar::Cmake, "add_library(a b.cpp)\n"),
            (Grammar::Python, "def f():\n    return 1\n"),
            (Grammar::Fortran, "program a\n  call b()\nend program a\n"),
            (Grammar::Json, "{\"a\": [1]}"),
            (Grammar::Yaml, "a:\n  - 1\n"),
            (Grammar::Toml, "[a]\nb = 1\n"),
        ] {
            let tree = parse_within(grammar, text.as_bytes(), LIMITS).expect("tree");
            assert!(!tree.root_node().has_error(), "{grammar:?}");
        }
    }

    #[test]
    fn deep_nesting_and_long_work_stop_with_a_reason() {
        let deep = "(".repeat(1001);
        assert_eq!(parse_within(Grammar::Cpp, deep.as_bytes(), LIMITS).err(), Some(Stop::Nesting(1000)));
        let long = "int x = 1 + 2;\n".repeat(20_000);
        let hasty = Limits { steps: 1000, ..LIMITS };
        assert_eq!(parse_within(Grammar::Cpp, long.as_bytes(), hasty).err(), Some(Stop::Steps(1000)));
        // The parser is usable afterwards.
        assert!(parse_within(Grammar::Cpp, b"int y;", LIMITS).is_ok());
    }

    #[test]
    fn a_signal_ends_the_work_and_a_stop_stays() {
        let flag = AtomicBool::new(false);
        let watch = Watch::start(LIMITS, &flag);
        assert_eq!(watch.check(), Ok(()));
        flag.store(true, Ordering::Relaxed);
        assert_eq!(watch.check(), Err(Stop::Interrupted));
        flag.store(false, Ordering::Relaxed);
        assert_eq!(watch.check(), Err(Stop::Interrupted));
        let long = "int x = 1 + 2;\n".repeat(20_000);
        assert_eq!(parse(Grammar::Cpp, long.as_bytes(), &watch).err(), Some(Stop::Interrupted));
    }
}
