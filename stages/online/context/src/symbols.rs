//! Symbols of the few files that a package opens, by the parser of the parse stage.

use std::sync::atomic::AtomicBool;

use almanac_parse::{FileReader, ParseParams, ParseRun, ReadSettings, Surroundings};
use almanac_tables::Entity;

use crate::words::Vocabulary;

/// A symbol or section with how well it fits the task.
#[derive(Debug, Clone)]
pub(crate) struct Matched {
    pub(crate) entity: Entity,
    /// Sum of the rarities of the task's words in it, by the root of its length.
    pub(crate) score: f32,
}

static CALM: AtomicBool = AtomicBool::new(false);

/// Symbols of a file that share words with the task, best first.
pub(crate) fn matched(
    path: &str,
    text: &str,
    params: &ParseParams,
    vocabulary: &Vocabulary,
    rarity: impl Fn(u32) -> f32,
) -> Vec<Matched> {
    let surroundings = Surroundings::default();
    let settings = ReadSettings { params, run: ParseRun { threads: 1 }, interrupted: &CALM };
    let reader = FileReader { settings, surroundings: &surroundings };
    let Ok(parsed) = reader.read(path, text.as_bytes()) else { return Vec::new() };
    let mut found: Vec<Matched> = parsed
        .entities
        .into_iter()
        .filter_map(|entity| {
            let body = text.get(entity.start_byte as usize..entity.end_byte as usize).unwrap_or("");
            let name = weight(vocabulary.known(&entity.qualified_name), &rarity);
            let words = weight(vocabulary.known(body), &rarity);
            let lines = (entity.end_line - entity.start_line + 1) as f32;
            let score = name + words / (1.0 + (lines / 40.0).sqrt());
            (score > 0.0).then_some(Matched { entity, score })
        })
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.entity.start_byte.cmp(&b.entity.start_byte)));
    found
}

fn weight(mut terms: Vec<u32>, rarity: impl Fn(u32) -> f32) -> f32 {
    terms.sort_unstable();
    terms.dedup();
    // In the order of the values: that of the numbers differs with what else was read.
    let mut rarities: Vec<f32> = terms.into_iter().map(rarity).collect();
    rarities.sort_by(f32::total_cmp);
    rarities.into_iter().sum()
}
