//! Symbols of the few files that a package opens, by the parser of the parse stage.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;

use almanac_parse::{FileReader, ParseParams, ParseRun, ReadSettings, Surroundings};
use almanac_tables::Entity;
use serde::{Deserialize, Serialize};

use crate::words::Vocabulary;

/// A symbol or section, as far as a package shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Symbol {
    pub(crate) kind: String,
    pub(crate) qualified_name: String,
    pub(crate) signature: String,
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
}

impl From<Entity> for Symbol {
    fn from(entity: Entity) -> Self {
        Self {
            kind: entity.kind.as_str().to_owned(),
            qualified_name: entity.qualified_name,
            signature: entity.signature,
            start_line: entity.start_line,
            end_line: entity.end_line,
        }
    }
}

/// A symbol or section with how well it fits the task.
#[derive(Debug, Clone)]
pub(crate) struct Matched {
    pub(crate) entity: Symbol,
    /// Sum of the rarities of the task's words in it, by the root of its length.
    pub(crate) score: f32,
}

/// Symbols of files by path and content, those that no package has opened yet left out.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReadSymbols(HashMap<(String, String), Vec<Symbol>>);

impl ReadSymbols {
    pub(crate) fn has(&self, path: &str, content: &str) -> bool {
        self.of(path, content).is_some()
    }

    pub(crate) fn of(&self, path: &str, content: &str) -> Option<&[Symbol]> {
        Some(self.0.get(&(path.to_owned(), content.to_owned()))?)
    }

    pub(crate) fn insert(&mut self, path: &str, content: &str, symbols: Vec<Symbol>) {
        self.0.insert((path.to_owned(), content.to_owned()), symbols);
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&str, &str) -> bool) {
        self.0.retain(|(path, content), _| keep(path, content));
    }
}

static CALM: AtomicBool = AtomicBool::new(false);

/// All symbols and sections of a file.
pub(crate) fn read(path: &str, text: &str, params: &ParseParams) -> Vec<Symbol> {
    let surroundings = Surroundings::default();
    let settings = ReadSettings { params, run: ParseRun { threads: 1 }, interrupted: &CALM };
    let reader = FileReader { settings, surroundings: &surroundings };
    let Ok(parsed) = reader.read(path, text.as_bytes()) else { return Vec::new() };
    parsed.entities.into_iter().map(Symbol::from).collect()
}

/// Terms of every line that some file has.
pub(crate) fn line_terms(text: &str, vocabulary: &Vocabulary) -> Vec<Vec<u32>> {
    text.lines().map(|line| vocabulary.known(line)).collect()
}

/// Symbols of a file that share words with the task, best first.
pub(crate) fn matched(
    symbols: &[Symbol],
    lines: &[Vec<u32>],
    vocabulary: &Vocabulary,
    rarity: impl Fn(u32) -> f32,
) -> Vec<Matched> {
    let mut found: Vec<Matched> = symbols
        .iter()
        .filter_map(|symbol| {
            let (start, end) = (symbol.start_line as usize, symbol.end_line as usize);
            let body = lines.get(start.saturating_sub(1)..end.min(lines.len())).unwrap_or(&[]);
            let name = weight(vocabulary.known(&symbol.qualified_name), &rarity);
            let words = weight(body.iter().flatten().copied(), &rarity);
            let length = (end + 1).saturating_sub(start) as f32;
            let score = name + words / (1.0 + (length / 40.0).sqrt());
            (score > 0.0).then(|| Matched { entity: symbol.clone(), score })
        })
        .collect();
    // Symbols come in the order of the text, and sorting keeps it among equals.
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found
}

fn weight(terms: impl IntoIterator<Item = u32>, rarity: impl Fn(u32) -> f32) -> f32 {
    let terms: HashSet<u32> = terms.into_iter().collect();
    // In the order of the values: that of the numbers differs with what else was read.
    let mut rarities: Vec<f32> = terms.into_iter().map(rarity).filter(|value| *value > 0.0).collect();
    rarities.sort_by(f32::total_cmp);
    rarities.into_iter().sum()
}
