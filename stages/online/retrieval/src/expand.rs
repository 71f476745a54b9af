//! Evidence that the stored graph relates to the primary chunks (paper 3.3.1 and 3.3.4).

use std::collections::BTreeMap;

use almanac_lookup::{SearchIndex, UnitSource};
use almanac_tables::{ArtifactRole, EdgeKind, file_node};

use crate::context::Shown;
use crate::fuse::{Candidate, Fused, Source};
use crate::select::file_of_unit;

/// Weight of each relation.
const CALLEE: f64 = 0.8;
const CALLER: f64 = 0.5;
const BASE: f64 = 0.7;
const DEFINES: f64 = 0.9;
/// Weight of the fused score against the relation.
const FUSED: f64 = 2.0;
/// Least confidence of an edge that is followed.
const CONFIDENCE: f32 = 0.5;

/// Scores of candidates by unit, as shares of the best.
fn relative(fused: &Fused) -> BTreeMap<usize, f64> {
    let best = fused.candidates.first().map_or(1.0, |candidate| candidate.score.max(f64::MIN_POSITIVE));
    fused.candidates.iter().map(|candidate| (candidate.unit, candidate.score / best)).collect()
}

/// Callees, callers, bases and the other half of a declaration, most related first. Callers in
/// tests are left out.
pub(crate) fn structural_units(index: &SearchIndex, fused: &Fused, primary: &[usize]) -> Vec<Candidate> {
    let scores = relative(fused);
    let mut related: BTreeMap<usize, f64> = BTreeMap::new();
    for &unit in primary {
        let UnitSource::Entity(at) = index.units()[unit].source else { continue };
        let entity = &index.tables().entities[at];
        let importance = scores.get(&unit).copied().unwrap_or(0.0);
        let lists = [
            (CALLEE, index.targets(&entity.id, EdgeKind::Calls)),
            (CALLER, index.sources(&entity.id, EdgeKind::Calls)),
            (BASE, index.targets(&entity.id, EdgeKind::Inherits)),
            (DEFINES, index.targets(&entity.id, EdgeKind::Defines)),
            (DEFINES, index.sources(&entity.id, EdgeKind::Defines)),
        ];
        for (weight, nodes) in lists {
            for (node, confidence) in nodes {
                let Some(other) = index.entity(node).filter(|_| confidence >= CONFIDENCE) else {
                    continue;
                };
                if index.tables().entities[other].role == ArtifactRole::Test
                    && entity.role != ArtifactRole::Test
                {
                    continue;
                }
                let Some(other_unit) = index.unit(UnitSource::Entity(other)) else { continue };
                let score = weight * f64::from(confidence) * importance
                    + FUSED * scores.get(&other_unit).copied().unwrap_or(0.0);
                let slot = related.entry(other_unit).or_insert(0.0);
                *slot = slot.max(score);
            }
        }
    }
    sorted(related, Source::Graph)
}

/// For each primary file, the best of its header or implementation that is not shown yet.
pub(crate) fn pair_units(
    index: &SearchIndex,
    fused: &Fused,
    primary: &[usize],
    shown: &Shown,
) -> Vec<Candidate> {
    let mut pairs = Vec::new();
    let mut seen = Vec::new();
    for &unit in primary {
        let Some(file) = file_of_unit(index, unit) else { continue };
        for sibling in index.siblings(file) {
            let path = &index.tables().files[sibling].path;
            if seen.contains(&sibling) || shown.has_file(path) {
                continue;
            }
            seen.push(sibling);
            let best = fused.candidates.iter().find(|candidate| {
                matches!(index.units()[candidate.unit].source, UnitSource::Entity(_))
                    && file_of_unit(index, candidate.unit) == Some(sibling)
            });
            let unit = best.map(|candidate| candidate.unit);
            if let Some(unit) = unit.or_else(|| index.unit(UnitSource::File(sibling))) {
                let score = best.map_or(0.0, |candidate| candidate.score);
                pairs.push(Candidate { unit, score, sources: vec![Source::Pair] });
            }
        }
    }
    pairs
}

/// The best unit of each file that the primary files include and that has a score, best first.
pub(crate) fn supplementary_units(index: &SearchIndex, fused: &Fused, primary: &[usize]) -> Vec<Candidate> {
    let tables = index.tables();
    let primary_files: Vec<usize> = primary.iter().filter_map(|&unit| file_of_unit(index, unit)).collect();
    let mut best: BTreeMap<usize, f64> = BTreeMap::new();
    for &file in &primary_files {
        for (node, _) in index.targets(&file_node(&tables.files[file].path), EdgeKind::Includes) {
            let Some(included) = node.strip_prefix("file:").and_then(|path| tables.file(path)) else {
                continue;
            };
            if primary_files.contains(&included) {
                continue;
            }
            let unit = fused.candidates.iter().find(|candidate| {
                matches!(index.units()[candidate.unit].source, UnitSource::Entity(_))
                    && file_of_unit(index, candidate.unit) == Some(included)
            });
            if let Some(candidate) = unit {
                best.insert(candidate.unit, candidate.score);
            }
        }
    }
    sorted(best, Source::Included)
}

fn sorted(scores: BTreeMap<usize, f64>, source: Source) -> Vec<Candidate> {
    let mut list: Vec<Candidate> =
        scores.into_iter().map(|(unit, score)| Candidate { unit, score, sources: vec![source] }).collect();
    list.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.unit.cmp(&b.unit)));
    list
}
