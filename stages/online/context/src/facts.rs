//! What is known of each ranked file beside its rank: cues, neighbours, bridges, use for the task.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::locate::{Ranked, Task};
use crate::relate::Related;
use crate::settings::ContextSettings;
use crate::words::{Vocabulary, words};
use crate::workspace::View;

/// Cues, neighbours and ends of a bridge that a card names.
const CUES: usize = 5;
const NEIGHBOURS: usize = 4;
const ENDS: usize = 3;

/// What a card says of a ranked file. Files are named by their place in the ranking.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Words of the task that it has, rarest first.
    pub(crate) cues: Vec<String>,
    /// Ranked files it is related to, surest first.
    pub(crate) neighbours: Vec<(usize, Related)>,
    /// Ranked files that only it connects: one of each part.
    pub(crate) bridges: Vec<usize>,
    /// How much its text is likely to matter, from 0 to 1.
    pub(crate) utility: f32,
}

/// Facts of all ranked files, in rank order.
pub(crate) fn gather(
    ranked: &[Ranked],
    task: &str,
    terms: &Task<'_>,
    view: &View,
    vocabulary: &Vocabulary,
    settings: &ContextSettings,
) -> Vec<Facts> {
    let related = related(ranked, view, settings);
    let bridges = bridges(&related);
    let cues = Cues::new(task, terms, view, vocabulary);
    let anchors: HashSet<usize> = anchors(ranked, settings.anchors).into_iter().collect();
    let best = ranked.first().map_or(1.0, |one| one.score).max(f32::MIN_POSITIVE);
    let weights = settings.promotion;
    let mut facts = Vec::with_capacity(ranked.len());
    for ((at, one), (related, bridges)) in ranked.iter().enumerate().zip(related.into_iter().zip(bridges)) {
        let (found, share) = cues.of(one.file, view);
        let near = if anchors.contains(&at) {
            1.0
        } else if related.iter().any(|(to, _)| anchors.contains(to)) {
            0.5
        } else {
            0.0
        };
        let role = settings.role_factors.get(&view.files[one.file].role).copied().unwrap_or(1.0);
        let utility = weights.score * f64::from(one.score / best)
            + weights.cues * f64::from(share)
            + weights.anchor * near
            + weights.bridge * f64::from(u8::from(!bridges.is_empty()));
        let mut neighbours = related;
        neighbours.truncate(NEIGHBOURS);
        facts.push(Facts { cues: found, neighbours, bridges, utility: (role.min(1.0) * utility) as f32 });
    }
    facts
}

/// Places of the anchors in the ranking: the files that score best without relations.
pub(crate) fn anchors(ranked: &[Ranked], most: usize) -> Vec<usize> {
    let mut by_own: Vec<usize> = (0..ranked.len()).collect();
    by_own.sort_by(|a, b| {
        ranked[*b].own.total_cmp(&ranked[*a].own).then(ranked[*a].file.cmp(&ranked[*b].file))
    });
    by_own.truncate(most);
    by_own
}

/// Ranked files that each ranked file is related to, one relation each, surest first. That two files lie
/// in one folder shows in their paths.
fn related(ranked: &[Ranked], view: &View, settings: &ContextSettings) -> Vec<Vec<(usize, Related)>> {
    let places: HashMap<usize, usize> = ranked.iter().enumerate().map(|(at, one)| (one.file, at)).collect();
    let of = |one: &Ranked| {
        let mut found: HashMap<usize, Related> = HashMap::new();
        let mut all = view.relations.of(one.file, &view.files, &view.history, settings);
        all.retain(|related| related.to != one.file && related.kind.name() != "folder");
        for related in all {
            let Some(&place) = places.get(&related.to) else { continue };
            match found.get(&place) {
                Some(known) if known.strength >= related.strength => {}
                _ => {
                    found.insert(place, related);
                }
            }
        }
        let mut found: Vec<(usize, Related)> = found.into_iter().collect();
        found.sort_by(|a, b| b.1.strength.total_cmp(&a.1.strength).then(a.0.cmp(&b.0)));
        found
    };
    ranked.iter().map(of).collect()
}

/// For every file the parts that come apart without it, by the best ranked file of each; empty for those
/// whose neighbours hold together.
fn bridges(related: &[Vec<(usize, Related)>]) -> Vec<Vec<usize>> {
    let mut joined: Vec<HashSet<usize>> = vec![HashSet::new(); related.len()];
    for (from, all) in related.iter().enumerate() {
        for (to, _) in all {
            joined[from].insert(*to);
            joined[*to].insert(from);
        }
    }
    (0..joined.len()).map(|at| parts_without(at, &joined)).collect()
}

fn parts_without(removed: usize, joined: &[HashSet<usize>]) -> Vec<usize> {
    let mut seen = vec![false; joined.len()];
    seen[removed] = true;
    let mut parts = Vec::new();
    let mut neighbours: Vec<usize> = joined[removed].iter().copied().collect();
    neighbours.sort_unstable();
    for start in neighbours {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let (mut best, mut pending) = (start, VecDeque::from([start]));
        while let Some(at) = pending.pop_front() {
            best = best.min(at);
            for &next in &joined[at] {
                if !std::mem::replace(&mut seen[next], true) {
                    pending.push_back(next);
                }
            }
        }
        parts.push(best);
    }
    if parts.len() < 2 {
        return Vec::new();
    }
    parts.sort_unstable();
    parts.truncate(ENDS);
    parts
}

/// Words of the task with their terms.
struct Cues {
    /// Word, its terms and the rarity of the rarest.
    words: Vec<(String, Vec<u32>, f32)>,
    all: f32,
}

impl Cues {
    fn new(task: &str, terms: &Task<'_>, view: &View, vocabulary: &Vocabulary) -> Self {
        let asked: HashSet<u32> = terms.terms.iter().map(|(term, _)| *term).collect();
        let unknown = view.whole.idf(u32::MAX);
        let mut seen: HashSet<String> = HashSet::new();
        let mut found = Vec::new();
        for word in words(task).filter(|word| seen.insert(word.to_lowercase())) {
            let mut of_word = vocabulary.known(word);
            of_word.retain(|term| asked.contains(term));
            let rarities = of_word.iter().map(|term| view.whole.idf(*term)).filter(|idf| *idf < unknown);
            let rarity = rarities.fold(0.0, f32::max);
            if rarity > 0.0 {
                found.push((word.to_owned(), of_word, rarity));
            }
        }
        found.sort_by(|a, b| b.2.total_cmp(&a.2));
        let all = found.iter().map(|(_, _, rarity)| rarity).sum::<f32>().max(f32::MIN_POSITIVE);
        Self { words: found, all }
    }

    /// Words that a file has, and their share of the rarity of all.
    fn of(&self, file: usize, view: &View) -> (Vec<String>, f32) {
        let whole = &view.files[file].units.whole;
        let has = |term: &u32| whole.binary_search_by_key(term, |(term, _)| *term).is_ok();
        let mut sum = 0.0;
        let mut found = Vec::new();
        for (word, terms, rarity) in &self.words {
            if terms.iter().any(has) {
                sum += rarity;
                if found.len() < CUES {
                    found.push(word.clone());
                }
            }
        }
        (found, sum / self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relate::Kind;

    fn to(place: usize) -> (usize, Related) {
        (place, Related { to: place, kind: Kind::Pair, strength: 1.0, evidence: String::new() })
    }

    #[test]
    fn a_bridge_is_what_its_neighbours_fall_apart_without() {
        // 0 - 1 - 2, 2 - 3 - 4 - 2, and 5 alone.
        let related = [vec![to(1)], vec![to(2)], vec![to(3), to(4)], vec![to(4)], vec![], vec![]];
        let found = bridges(&related);
        assert_eq!(found, [vec![], vec![0, 2], vec![0, 3], vec![], vec![], vec![]]);
    }
}
