//! One ranking from exact names, BM25 and vectors (paper 3.3.2 and 3.3.6; fusion is ours).

use std::collections::{BTreeMap, BTreeSet};

use almanac_lookup::{SearchIndex, UnitHit, UnitSource};
use serde::Serialize;

use crate::query::Signals;
use crate::scores::{part_factor, standing};
use crate::{Result, RetrievalSettings};

/// Share of a stem or word-like symbol match against one written like code.
const WORD_LIKE: f64 = 0.5;
/// Matches of one symbol name that count; a name with more is no name.
const SAME_NAME_MATCHES: usize = 12;

/// Why a candidate is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Source {
    /// The question names the file.
    FileName,
    /// The question names the symbol.
    SymbolName,
    /// The question names the folder or namespace.
    ModuleName,
    /// BM25.
    Lexical,
    /// Vectors.
    Dense,
    /// Its file ranks high.
    File,
    /// An edge leads to or from a primary chunk.
    Graph,
    /// Its file is the header or implementation of a primary chunk's.
    Pair,
    /// A primary chunk's file includes its file.
    Included,
}

/// A unit in the running.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) unit: usize,
    pub(crate) score: f64,
    pub(crate) sources: Vec<Source>,
}

/// All candidates, best first, and the fused score of each file.
pub(crate) struct Fused {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) files: BTreeMap<usize, f64>,
}

#[derive(Default)]
struct Tally {
    score: f64,
    sources: Vec<Source>,
}

impl Tally {
    fn add(&mut self, score: f64, source: Source) {
        self.score += score;
        if !self.sources.contains(&source) {
            self.sources.push(source);
        }
    }
}

/// File of a unit, if it has one.
pub(crate) fn file_of(index: &SearchIndex, source: UnitSource) -> Option<usize> {
    let tables = index.tables();
    match source {
        UnitSource::Entity(at) => tables.file(&tables.entities[at].path),
        UnitSource::File(at) => Some(at),
        UnitSource::Summary(at) => tables.file(&tables.summaries[at].path),
    }
}

pub(crate) fn fuse(
    index: &SearchIndex,
    signals: &Signals,
    query_vector: Option<&[f32]>,
    settings: &RetrievalSettings,
) -> Result<Fused> {
    let mut units: BTreeMap<usize, Tally> = BTreeMap::new();
    let mut files: BTreeMap<usize, Tally> = BTreeMap::new();
    let lexical =
        if settings.lexical { index.lexical(&signals.terms, &settings.boosts)? } else { Vec::new() };
    add_lexical(index, &lexical, settings, &mut units, &mut files);
    if let Some(vector) = query_vector.filter(|_| settings.dense) {
        add_dense(index, vector, settings, &mut units)?;
    }
    if settings.exact_names {
        add_names(index, signals, &lexical, settings, &mut units, &mut files);
    }
    let file_scores = file_scores(index, signals, settings, &units, &files);
    spread_files(index, &file_scores, settings, &mut units);
    let mut candidates: Vec<Candidate> = units
        .into_iter()
        .map(|(unit, tally)| {
            let source = index.units()[unit].source;
            let factor = part_factor(index, source, signals, settings) * standing(index, source, settings);
            Candidate { unit, score: tally.score * factor, sources: tally.sources }
        })
        .collect();
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.unit.cmp(&b.unit)));
    Ok(Fused { candidates, files: file_scores })
}

fn reciprocal(rank: usize, settings: &RetrievalSettings) -> f64 {
    1.0 / (settings.weights.rank_constant + rank as f64)
}

fn add_lexical(
    index: &SearchIndex,
    hits: &[UnitHit],
    settings: &RetrievalSettings,
    units: &mut BTreeMap<usize, Tally>,
    files: &mut BTreeMap<usize, Tally>,
) {
    let is_file = |hit: &&UnitHit| matches!(index.units()[hit.unit].source, UnitSource::File(_));
    let symbols = hits.iter().filter(|hit| !is_file(hit)).take(settings.candidate_k);
    for (place, hit) in symbols.enumerate() {
        let score = settings.weights.lexical * reciprocal(place + 1, settings);
        units.entry(hit.unit).or_default().add(score, Source::Lexical);
    }
    for (place, hit) in hits.iter().filter(is_file).take(settings.candidate_k).enumerate() {
        if let UnitSource::File(file) = index.units()[hit.unit].source {
            let score = settings.weights.lexical_file * reciprocal(place + 1, settings);
            files.entry(file).or_default().add(score, Source::Lexical);
        }
    }
}

fn add_dense(
    index: &SearchIndex,
    vector: &[f32],
    settings: &RetrievalSettings,
    units: &mut BTreeMap<usize, Tally>,
) -> Result<()> {
    // Several pieces of one symbol may be near; only the nearest counts.
    let mut seen = BTreeSet::new();
    for hit in index.nearest(vector, settings.candidate_k.saturating_mul(2))? {
        let Some(unit) = index.unit_of_chunk(hit.chunk) else { continue };
        if !seen.insert(unit) {
            continue;
        }
        let score = settings.weights.dense * reciprocal(seen.len(), settings);
        units.entry(unit).or_default().add(score, Source::Dense);
    }
    Ok(())
}

fn add_names(
    index: &SearchIndex,
    signals: &Signals,
    lexical: &[UnitHit],
    settings: &RetrievalSettings,
    units: &mut BTreeMap<usize, Tally>,
    files: &mut BTreeMap<usize, Tally>,
) {
    let exact = settings.weights.exact;
    for &file in &signals.files {
        let score = exact * reciprocal(1, settings);
        files.entry(file).or_default().add(score, Source::FileName);
        if let Some(unit) = index.unit(UnitSource::File(file)) {
            units.entry(unit).or_default().add(score, Source::FileName);
        }
    }
    for &file in &signals.stem_files {
        let score = WORD_LIKE * exact * reciprocal(1, settings);
        files.entry(file).or_default().add(score, Source::FileName);
    }
    let lexical: BTreeMap<usize, f32> = lexical.iter().map(|hit| (hit.unit, hit.score)).collect();
    for mention in &signals.symbols {
        let share = if mention.like_code { 1.0 } else { WORD_LIKE };
        let mut named: Vec<usize> =
            mention.entities.iter().filter_map(|&entity| index.unit(UnitSource::Entity(entity))).collect();
        let worth = |unit: &usize| {
            let UnitSource::Entity(at) = index.units()[*unit].source else { return (false, 0.0) };
            let entity = &index.tables().entities[at];
            let defined_type = entity.kind.is_record() && entity.is_definition;
            (defined_type, lexical.get(unit).copied().unwrap_or(0.0))
        };
        named.sort_by(|a, b| {
            let (a_worth, b_worth) = (worth(a), worth(b));
            b_worth.0.cmp(&a_worth.0).then(b_worth.1.total_cmp(&a_worth.1)).then(a.cmp(b))
        });
        for (place, unit) in named.into_iter().take(SAME_NAME_MATCHES).enumerate() {
            let score = share * exact * reciprocal(place + 1, settings);
            units.entry(unit).or_default().add(score, Source::SymbolName);
        }
    }
    for &module in &signals.modules {
        let id = &index.tables().modules[module].id;
        let summaries = &index.tables().summaries;
        if let Ok(at) = summaries.binary_search_by(|summary| summary.id.cmp(id))
            && let Some(unit) = index.unit(UnitSource::Summary(at))
        {
            let score = WORD_LIKE * exact * reciprocal(1, settings);
            units.entry(unit).or_default().add(score, Source::ModuleName);
        }
    }
}

/// A file is worth what it got itself and the best three that are in it, each next one less; all
/// of it by the words of the question it holds and the part it plays.
fn file_scores(
    index: &SearchIndex,
    signals: &Signals,
    settings: &RetrievalSettings,
    units: &BTreeMap<usize, Tally>,
    files: &BTreeMap<usize, Tally>,
) -> BTreeMap<usize, f64> {
    let mut inside: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (&unit, tally) in units {
        let source = index.units()[unit].source;
        if let (UnitSource::Entity(_), Some(file)) = (source, file_of(index, source)) {
            inside.entry(file).or_default().push(tally.score);
        }
    }
    let mut scores: BTreeMap<usize, f64> = files.iter().map(|(&file, tally)| (file, tally.score)).collect();
    for (file, mut list) in inside {
        list.sort_by(|a, b| b.total_cmp(a));
        let next = settings.weights.next;
        let shares = [1.0, next, next * next];
        let sum: f64 = list.iter().zip(shares).map(|(score, share)| score * share).sum();
        *scores.entry(file).or_insert(0.0) += sum;
    }
    let all: f64 = signals.known.iter().map(|known| f64::from(known.importance)).sum();
    for (&file, score) in &mut scores {
        let source = UnitSource::File(file);
        let there = signals.known.iter().filter(|known| known.files.contains(&file));
        let coverage: f64 = there.map(|known| f64::from(known.importance)).sum::<f64>() / all.max(1e-9);
        *score *= 1.0 + settings.weights.coverage * coverage;
        *score *= part_factor(index, source, signals, settings);
    }
    scores
}

/// Gives every unit already in the running its share of its file's score, and brings in the file
/// itself.
fn spread_files(
    index: &SearchIndex,
    file_scores: &BTreeMap<usize, f64>,
    settings: &RetrievalSettings,
    units: &mut BTreeMap<usize, Tally>,
) {
    for (&file, &score) in file_scores {
        if let Some(unit) = index.unit(UnitSource::File(file)) {
            units.entry(unit).or_default().add(settings.weights.file * score, Source::File);
        }
    }
    for (&unit, tally) in units.iter_mut() {
        let source = index.units()[unit].source;
        if matches!(source, UnitSource::File(_)) {
            continue;
        }
        if let Some(&score) = file_of(index, source).and_then(|file| file_scores.get(&file)) {
            tally.add(settings.weights.file * score, Source::File);
        }
    }
}
