//! What the compiler saw, as `eval/truth/extract.py` wrote it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;
use crate::graph::names;

/// One line of the extractor's output.
#[derive(Debug, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
enum Record {
    InlineNamespaces { names: BTreeSet<String> },
    File { path: String, skipped: Vec<(u32, u32)> },
    Unnamed { path: String, line: u32 },
    Macro { path: String, line: u32, name: String },
    Expansion { path: String, line: u32, name: String, macro_path: String, macro_line: u32 },
    Symbol(Symbol),
    Call(Call),
}

/// Something declared, with every declaration of it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Symbol {
    pub(crate) id: usize,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) places: Vec<Place>,
    /// Whether it is a template or in one.
    pub(crate) is_in_template: bool,
    /// Whether an instantiation was seen.
    pub(crate) is_instantiated: bool,
}

impl Symbol {
    fn of_macro(path: String, line: u32, name: String) -> Self {
        let place =
            Place { path, outer_line: line, line, name_line: line, is_definition: true, ..Place::default() };
        Self {
            id: 0,
            kind: "macro".to_owned(),
            name,
            places: vec![place],
            is_in_template: false,
            is_instantiated: false,
        }
    }
}

/// One declaration.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Place {
    pub(crate) path: String,
    /// First line with annotation macros and attributes before it.
    pub(crate) outer_line: u32,
    /// First line as the compiler has it.
    pub(crate) line: u32,
    pub(crate) name_line: u32,
    pub(crate) is_definition: bool,
    /// `= default`, `= delete`.
    pub(crate) is_generated: bool,
    /// Whether the name comes from the body of a macro.
    pub(crate) in_macro: bool,
    pub(crate) tags: Vec<String>,
    pub(crate) parameters: Option<String>,
    pub(crate) qualifiers: Option<String>,
    pub(crate) templates: Vec<String>,
}

/// A place where something is called.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Call {
    pub(crate) path: String,
    pub(crate) line: u32,
    /// Line on which the expression begins.
    pub(crate) from_line: u32,
    /// The function around; none at namespace and class scope.
    pub(crate) caller: Option<usize>,
    /// What is called there and spelled there.
    pub(crate) required: Vec<usize>,
    /// What is called there without being spelled: conversions, copies, defaults.
    pub(crate) optional: Vec<usize>,
    /// Overloads in sight where the choice depends on template arguments.
    pub(crate) candidates: Vec<usize>,
    pub(crate) tags: Vec<String>,
    /// Name of a dependent call.
    pub(crate) name: String,
    /// Whether the template itself does not say what is called.
    pub(crate) is_dependent: bool,
    /// Whether it may be a call of something outside the tree, or of no function at all.
    pub(crate) is_open: bool,
}

/// A use of a macro of the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Expansion {
    pub(crate) path: String,
    pub(crate) line: u32,
    pub(crate) name: String,
    pub(crate) macro_path: String,
    pub(crate) macro_line: u32,
}

/// Everything the compiler saw of one tree.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    pub(crate) inline_namespaces: BTreeSet<String>,
    /// Files that were read, with the lines the preprocessor left out.
    pub(crate) files: BTreeMap<String, Vec<(u32, u32)>>,
    /// Where a class or enumeration without a name begins.
    pub(crate) unnamed: BTreeSet<(String, u32)>,
    pub(crate) expansions: Vec<Expansion>,
    pub(crate) symbols: BTreeMap<usize, Symbol>,
    pub(crate) calls: Vec<Call>,
    /// Until they are numbered.
    macros: Vec<Symbol>,
    /// Path and last name to symbol and declaration.
    by_name: HashMap<(String, String), Vec<(usize, usize)>>,
}

impl Truth {
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let text =
            fs_err::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        Self::parse(&text).map_err(|(line, source)| Error::Truth { path: path.to_owned(), line, source })
    }

    /// The truth of these lines, or the number of one that is malformed.
    pub(crate) fn parse(text: &str) -> Result<Self, (usize, serde_json::Error)> {
        let mut truth = Self::default();
        for (number, line) in text.lines().enumerate() {
            truth.add(serde_json::from_str(line).map_err(|source| (number + 1, source))?);
        }
        truth.index();
        Ok(truth)
    }

    fn add(&mut self, record: Record) {
        match record {
            Record::InlineNamespaces { names } => self.inline_namespaces = names,
            Record::File { path, skipped } => {
                self.files.insert(path, skipped);
            }
            Record::Unnamed { path, line } => {
                self.unnamed.insert((path, line));
            }
            Record::Macro { path, line, name } => self.macros.push(Symbol::of_macro(path, line, name)),
            Record::Expansion { path, line, name, macro_path, macro_line } => {
                self.expansions.push(Expansion { path, line, name, macro_path, macro_line });
            }
            Record::Symbol(symbol) => {
                self.symbols.insert(symbol.id, symbol);
            }
            Record::Call(call) => self.calls.push(call),
        }
    }

    fn index(&mut self) {
        let next = self.symbols.keys().next_back().map_or(0, |last| last + 1);
        for (id, symbol) in (next..).zip(std::mem::take(&mut self.macros)) {
            self.symbols.insert(id, Symbol { id, ..symbol });
        }
        for symbol in self.symbols.values_mut() {
            symbol.name = names::qualified(&symbol.name, &self.inline_namespaces);
            let name = names::last(&symbol.name);
            for (at, place) in symbol.places.iter().enumerate() {
                self.by_name.entry((place.path.clone(), name.clone())).or_default().push((symbol.id, at));
            }
        }
    }

    /// Whether the compiler read a line.
    pub(crate) fn saw(&self, path: &str, line: u32) -> bool {
        self.files
            .get(path)
            .is_some_and(|skipped| !skipped.iter().any(|(first, last)| (*first..=*last).contains(&line)))
    }

    /// Symbols with this last name whose declaration begins on a line.
    pub(crate) fn declared_at(&self, path: &str, last_name: &str, line: u32) -> Vec<usize> {
        let places = self.by_name.get(&(path.to_owned(), last_name.to_owned()));
        let mut found: Vec<usize> = places
            .into_iter()
            .flatten()
            .filter(|(symbol, at)| {
                let place = &self.symbols[symbol].places[*at];
                (place.outer_line..=place.name_line.max(place.line)).contains(&line)
            })
            .map(|(symbol, _)| *symbol)
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
