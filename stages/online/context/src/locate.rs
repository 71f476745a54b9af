//! Location and inference: files by what the task says, then by what they are related to.

use std::collections::BTreeMap;

use almanac_tables::ArtifactRole;

use crate::relate::{Kind, Related};
use crate::settings::ContextSettings;
use crate::words::{Vocabulary, words};
use crate::workspace::View;

/// Share of the highest score in a signal below which it is not named as a reason.
const REASON: f32 = 0.35;

/// A ranked file.
#[derive(Debug, Clone)]
pub(crate) struct Ranked {
    pub(crate) file: usize,
    pub(crate) score: f32,
    /// Score before relations.
    pub(crate) own: f32,
    pub(crate) reasons: Vec<String>,
    /// Relation to an anchor that raised it most.
    pub(crate) through: Option<(usize, Related)>,
}

/// The words of a task.
pub(crate) struct Task<'t> {
    text: &'t str,
    pub(crate) terms: Vec<(u32, f32)>,
}

impl<'t> Task<'t> {
    /// Repeated words weigh more, but not in proportion; a title weighs more than what follows.
    pub(crate) fn new(text: &'t str, vocabulary: &Vocabulary) -> Self {
        let (title, _) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
        // In the order of the task: numbers of terms differ with what else was read, and sums of
        // fractions with their order.
        let mut terms: Vec<(u32, f32)> = Vec::new();
        for term in vocabulary.known(text).into_iter().chain(vocabulary.known(title)) {
            match terms.iter_mut().find(|(known, _)| *known == term) {
                Some((_, count)) => *count += 1.0,
                None => terms.push((term, 1.0)),
            }
        }
        terms.iter_mut().for_each(|(_, count)| *count = 1.0 + count.ln());
        Self { text, terms }
    }

    /// How surely the task names a file: by path or file name, or by a stem that is no plain word.
    fn mentions(&self, path: &str) -> f32 {
        let name = path.rsplit('/').next().unwrap_or(path);
        if self.text.contains(path) || (name.contains('.') && contains_word(self.text, name)) {
            return 1.0;
        }
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        let is_name = stem.contains('_') || stem.chars().skip(1).any(char::is_uppercase);
        if stem.len() >= 4 && words(self.text).any(|word| word == stem) {
            if is_name { 0.8 } else { 0.3 }
        } else {
            0.0
        }
    }
}

fn contains_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(is_part)
            && !text[at + word.len()..].chars().next().is_some_and(is_part)
    })
}

/// Signals of every file, each as a share of the best.
fn signals(task: &Task<'_>, view: &View, settings: &ContextSettings) -> Vec<(&'static str, f32, Vec<f32>)> {
    let weights = settings.signals;
    let mut units = vec![0.0f32; view.files.len()];
    for (stretch, score) in view.stretches.scores(&task.terms).into_iter().enumerate() {
        let best = &mut units[view.stretch_files[stretch]];
        *best = best.max(score);
    }
    let mentions = view.files.iter().map(|file| task.mentions(&file.entry.path)).collect();
    let mut signals = vec![
        ("words of the file", weights.file as f32, view.whole.scores(&task.terms)),
        ("words of one place in it", weights.unit as f32, units),
        ("words of its path", weights.path as f32, view.paths.scores(&task.terms)),
        ("the task names it", weights.mention as f32, mentions),
    ];
    if settings.parts.organisational {
        signals.push((
            "past changes in the same words",
            weights.messages as f32,
            view.history.messages(&task.terms),
        ));
        signals.push(("changed often", weights.activity as f32, view.history.activity()));
    }
    for (_, _, values) in &mut signals {
        let most = values.iter().copied().fold(0.0, f32::max);
        if most > 0.0 {
            values.iter_mut().for_each(|value| *value /= most);
        }
    }
    signals
}

/// Ranks all files for a task; those without any score are left out.
pub(crate) fn rank(task: &Task<'_>, view: &View, settings: &ContextSettings) -> Vec<Ranked> {
    let signals = signals(task, view, settings);
    let mut ranked: Vec<Ranked> = (0..view.files.len())
        .map(|file| {
            let role = role_factor(view.files[file].role, settings);
            let own = role * signals.iter().map(|(_, weight, values)| weight * values[file]).sum::<f32>();
            Ranked { file, score: own, own, reasons: Vec::new(), through: None }
        })
        .collect();
    let mut anchors: Vec<usize> = (0..ranked.len()).collect();
    anchors.sort_by(|a, b| ranked[*b].own.total_cmp(&ranked[*a].own).then(a.cmp(b)));
    anchors.truncate(settings.anchors);
    propagate(&anchors, &mut ranked, view, settings);
    ranked.retain(|one| one.score > 0.0);
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.file.cmp(&b.file)));
    for one in ranked.iter_mut().take(settings.listed) {
        for (name, weight, values) in &signals {
            if *weight > 0.0 && values[one.file] >= REASON {
                one.reasons.push((*name).to_owned());
            }
        }
        if let Some((from, related)) = &one.through {
            one.reasons.push(format!("{} of {}", related.kind.name(), view.files[*from].entry.path));
        }
    }
    ranked
}

/// Gives related files a share of what their anchors have: of each kind of relation the best one, and
/// of further anchors a part.
fn propagate(anchors: &[usize], ranked: &mut [Ranked], view: &View, settings: &ContextSettings) {
    let weights = settings.propagation;
    let mut gains: BTreeMap<(usize, Kind), Gain> = BTreeMap::new();
    for &anchor in anchors {
        for related in view.relations.of(anchor, &view.files, &view.history, settings) {
            let weight = match related.kind {
                Kind::Pair => weights.pair,
                Kind::CoChange => weights.co_change,
                Kind::Includes => weights.includes,
                Kind::IncludedBy => weights.included_by,
                Kind::Build => weights.build,
                Kind::Folder => weights.folder,
            };
            let gain = weight as f32 * related.strength * ranked[anchor].own;
            if gain > 0.0 {
                let known = gains.entry((related.to, related.kind)).or_default();
                known.all += gain;
                if gain > known.best {
                    known.best = gain;
                    known.through = Some((anchor, related));
                }
            }
        }
    }
    let mut best: BTreeMap<usize, f32> = BTreeMap::new();
    for ((file, _), gain) in gains {
        let gained = gain.best + weights.support as f32 * (gain.all - gain.best);
        ranked[file].score += gained;
        let most = best.entry(file).or_default();
        if gained > *most {
            *most = gained;
            ranked[file].through = gain.through;
        }
    }
}

/// What a file gets by one kind of relation.
#[derive(Default)]
struct Gain {
    best: f32,
    all: f32,
    /// Anchor and relation of the best.
    through: Option<(usize, Related)>,
}

fn role_factor(role: ArtifactRole, settings: &ContextSettings) -> f32 {
    settings.role_factors.get(&role).copied().unwrap_or(1.0) as f32
}
