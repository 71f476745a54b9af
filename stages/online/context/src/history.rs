//! What past changes say: which files they touched together, how often, and in what words.

use std::collections::HashMap;

use crate::bm25::{Bm25, counted};
use crate::settings::ContextSettings;
use crate::snapshot::Snapshot;
use crate::words::Vocabulary;
use crate::workspace::ViewedFile;

/// Changes after which a change counts half.
const HALF_LIFE: f32 = 150.0;

/// The changes that touched files of a view, newest first.
pub(crate) struct History {
    messages: Bm25,
    /// Files of every change, by position in the view.
    touched: Vec<Vec<usize>>,
    /// Paths of every change, those that are gone included.
    sizes: Vec<usize>,
    /// Changes of every file.
    pub(crate) of_file: Vec<Vec<usize>>,
    change_files: usize,
}

impl History {
    pub(crate) fn new(
        snapshot: &Snapshot,
        files: &[ViewedFile],
        settings: &ContextSettings,
        vocabulary: &mut Vocabulary,
    ) -> Self {
        let used = if settings.parts.organisational { snapshot.changes.as_slice() } else { &[] };
        let by_path: HashMap<&str, usize> =
            files.iter().enumerate().map(|(at, file)| (file.entry.path.as_str(), at)).collect();
        let mut of_file = vec![Vec::new(); files.len()];
        let mut messages = Vec::with_capacity(used.len());
        let mut touched = Vec::with_capacity(used.len());
        for (nth, change) in used.iter().enumerate() {
            let mut terms = Vec::new();
            vocabulary.of(&change.message, &mut terms);
            messages.push(counted(terms, 1.0));
            let found: Vec<usize> =
                change.paths.iter().filter_map(|path| by_path.get(path.as_str()).copied()).collect();
            for &file in &found {
                of_file[file].push(nth);
            }
            touched.push(found);
        }
        let sizes = used.iter().map(|change| change.paths.len()).collect();
        let messages = Bm25::new(messages.iter().map(Vec::as_slice));
        Self { messages, touched, sizes, of_file, change_files: settings.change_files }
    }

    fn age(nth: usize) -> f32 {
        0.5f32.powf(nth as f32 / HALF_LIFE)
    }

    /// How well the messages of a file's changes fit a task; a change of many files says less of each.
    pub(crate) fn messages(&self, query: &[(u32, f32)]) -> Vec<f32> {
        let scores = self.messages.scores(query);
        let mut found = vec![0.0; self.of_file.len()];
        for (nth, files) in self.touched.iter().enumerate() {
            let weight = scores[nth] * scores[nth] / (self.sizes[nth].max(1) as f32).sqrt();
            for &file in files {
                found[file] += weight;
            }
        }
        found.iter_mut().for_each(|score| *score = score.sqrt());
        found
    }

    /// How often and how lately each file was changed.
    pub(crate) fn activity(&self) -> Vec<f32> {
        let weight = |changes: &Vec<usize>| changes.iter().map(|nth| Self::age(*nth)).sum::<f32>();
        self.of_file.iter().map(|changes| (1.0 + weight(changes)).ln()).collect()
    }

    /// Files changed together with one, by how surely, and in how many changes.
    pub(crate) fn together(&self, file: usize) -> Vec<(usize, f32, usize)> {
        let mut found: HashMap<usize, (f32, usize)> = HashMap::new();
        let mut all = 0.0;
        for &nth in &self.of_file[file] {
            let size = self.sizes[nth];
            if size > self.change_files || size < 2 {
                continue;
            }
            let weight = 1.0 / (size as f32).ln_1p();
            all += weight;
            for &other in self.touched[nth].iter().filter(|other| **other != file) {
                let entry = found.entry(other).or_default();
                entry.0 += weight;
                entry.1 += 1;
            }
        }
        let mut found: Vec<_> =
            found.into_iter().map(|(other, (weight, count))| (other, weight / (all + 1.0), count)).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found
    }
}
