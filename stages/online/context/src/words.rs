//! Text to index terms: identifiers whole and by their parts, lightly stemmed.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// Words that tell nothing of a task or a file.
const STOP: &str = "
    the a an of for to in on at by with from as is are be was were been it its this that these
    those and or not no if then else so we you they he can could should would will may might
    must do does did done has have had also only when where which who what how than there here
    into onto over under up down out all any each some such other more most use used uses using
    new now one two see via per etc int void const auto return include define ifdef ifndef endif
    typename template class struct public private protected static inline constexpr namespace
    std virtual override operator bool true false char unsigned long double float typedef enum
    switch case break continue while nullptr copyright license licensed file pragma once ie eg
";

fn is_stop(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    WORDS.get_or_init(|| STOP.split_ascii_whitespace().collect()).contains(word)
}

/// Numbers terms as they come.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    terms: HashMap<String, u32>,
}

impl Vocabulary {
    /// The terms in the order of their numbers.
    pub(crate) fn terms(&self) -> Vec<&str> {
        let mut terms = vec![""; self.terms.len()];
        self.terms.iter().for_each(|(term, number)| terms[*number as usize] = term);
        terms
    }

    /// Terms by the order of their numbers.
    pub(crate) fn of_terms(terms: Vec<String>) -> Self {
        Self { terms: terms.into_iter().zip(0..).collect() }
    }

    fn number(&mut self, term: &str) -> u32 {
        if let Some(&number) = self.terms.get(term) {
            return number;
        }
        let number = self.terms.len() as u32;
        self.terms.insert(term.to_owned(), number);
        number
    }

    /// Terms of a text, in order.
    pub(crate) fn of(&mut self, text: &str, found: &mut Vec<u32>) {
        each(text, |term| found.push(self.number(term)));
    }

    /// Terms of a text that some file has; the others are dropped.
    pub(crate) fn known(&self, text: &str) -> Vec<u32> {
        let mut found = Vec::new();
        each(text, |term| found.extend(self.terms.get(term)));
        found
    }
}

/// Calls `take` with every term of a text.
fn each(text: &str, mut take: impl FnMut(&str)) {
    let mut lower = String::new();
    for word in words(text) {
        let mut parts = 0;
        for part in parts_of(word) {
            parts += 1;
            if part.len() < 2 {
                continue;
            }
            lower.clear();
            lower.extend(part.chars().map(|c| c.to_ascii_lowercase()));
            if !is_stop(&lower) {
                take(stem(&lower));
            }
        }
        if parts > 1 {
            lower.clear();
            lower.extend(word.chars().map(|c| c.to_ascii_lowercase()));
            take(&lower);
        }
    }
}

/// Identifiers and numbers of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// `fillHalo2D_x` by its parts: fill, Halo, 2, D, x.
fn parts_of(word: &str) -> impl Iterator<Item = &str> {
    word.split('_').flat_map(|piece| {
        let bytes = piece.as_bytes();
        let mut cuts = vec![0];
        for at in 1..bytes.len() {
            let (before, here) = (bytes[at - 1], bytes[at]);
            let digit = before.is_ascii_digit() != here.is_ascii_digit();
            let camel = before.is_ascii_lowercase() && here.is_ascii_uppercase();
            let acronym = before.is_ascii_uppercase()
                && here.is_ascii_uppercase()
                && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            if digit || camel || acronym {
                cuts.push(at);
            }
        }
        cuts.push(bytes.len());
        let pieces: Vec<&str> = cuts.windows(2).map(|cut| &piece[cut[0]..cut[1]]).collect();
        pieces.into_iter().filter(|piece| !piece.is_empty())
    })
}

/// A word without the commonest endings.
fn stem(word: &str) -> &str {
    for ending in ["ing", "ers", "er", "ed", "es", "s"] {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 3) {
            return stem;
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each(text, |term| found.push(term.to_owned()));
        found
    }

    #[test]
    fn identifiers_give_parts_and_themselves() {
        assert_eq!(terms("fillHalo"), ["fill", "halo", "fillhalo"]);
        assert_eq!(terms("FFTBase::setup"), ["fft", "base", "fftbase", "setup"]);
        assert_eq!(terms("the solvers, solved"), ["solv", "solv"]);
        assert_eq!(terms("IPPL_ENABLE_FFT"), ["ippl", "enable", "fft", "ippl_enable_fft"]);
        assert!(terms("the a of é").is_empty());
    }
}
