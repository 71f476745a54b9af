//! Okapi BM25 over numbered documents.

use std::collections::HashMap;

/// Documents by their terms; each document's terms are counted and in order.
pub(crate) struct Bm25 {
    postings: HashMap<u32, Vec<(u32, f32)>>,
    lengths: Vec<f32>,
    mean: f32,
}

/// Saturation of repeated terms, and the share of length normalisation.
const K1: f32 = 1.2;
const B: f32 = 0.75;

impl Bm25 {
    pub(crate) fn new<'a>(documents: impl Iterator<Item = &'a [(u32, f32)]>) -> Self {
        let mut postings: HashMap<u32, Vec<(u32, f32)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (document, terms) in documents.enumerate() {
            lengths.push(terms.iter().map(|(_, count)| count).sum());
            for &(term, count) in terms {
                postings.entry(term).or_default().push((document as u32, count));
            }
        }
        let mean = (lengths.iter().sum::<f32>() / (lengths.len().max(1)) as f32).max(1.0);
        Self { postings, lengths, mean }
    }

    /// Rarity of a term.
    pub(crate) fn idf(&self, term: u32) -> f32 {
        let found = self.postings.get(&term).map_or(0, Vec::len) as f32;
        let all = self.lengths.len() as f32;
        (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
    }

    /// Scores of all documents for weighted terms.
    pub(crate) fn scores(&self, query: &[(u32, f32)]) -> Vec<f32> {
        let mut scores = vec![0.0; self.lengths.len()];
        for &(term, weight) in query {
            let Some(postings) = self.postings.get(&term) else { continue };
            let idf = self.idf(term) * weight;
            for &(document, count) in postings {
                let length = self.lengths[document as usize] / self.mean;
                scores[document as usize] += idf * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length));
            }
        }
        scores
    }
}

/// Counts terms; the result is in order of terms.
pub(crate) fn counted(mut terms: Vec<u32>, weight: f32) -> Vec<(u32, f32)> {
    terms.sort_unstable();
    let mut counts: Vec<(u32, f32)> = Vec::new();
    for term in terms {
        match counts.last_mut() {
            Some((last, count)) if *last == term => *count += weight,
            _ => counts.push((term, weight)),
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_and_short_documents_win() {
        let documents =
            [counted(vec![1, 2], 1.0), counted(vec![1, 1, 3, 3, 3, 3], 1.0), counted(vec![1], 1.0)];
        let index = Bm25::new(documents.iter().map(Vec::as_slice));
        let of = |term| index.scores(&[(term, 1.0)]);
        assert!(index.idf(2) > index.idf(1));
        assert!(of(1)[2] > of(1)[0]);
        assert_eq!(of(2)[1..], [0.0, 0.0]);
        assert_eq!(of(9), [0.0; 3]);
    }
}
