//! Counting, and what was wrong.

use std::collections::BTreeMap;

use serde::Serialize;

/// What was asked for and what was said, as weights: an overload set of n is n times 1/n.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Tally {
    /// In the truth.
    pub(crate) wanted: f64,
    /// Of these, found.
    pub(crate) hit: f64,
    /// Said.
    pub(crate) said: f64,
    /// Of these, right.
    pub(crate) right: f64,
}

impl Tally {
    pub(crate) fn recall(&self) -> Option<f64> {
        (self.wanted > 0.0).then(|| self.hit / self.wanted)
    }

    pub(crate) fn precision(&self) -> Option<f64> {
        (self.said > 0.0).then(|| self.right / self.said)
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mismatch {
    pub(crate) path: String,
    pub(crate) line: u32,
    pub(crate) expected: String,
    pub(crate) found: String,
    pub(crate) tags: String,
}

/// What one comparison gave.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// By row of the table.
    pub(crate) rows: BTreeMap<String, Tally>,
    /// Said, but not to be judged: clang did not see it or cannot tell.
    pub(crate) unjudged: usize,
    /// In the truth and not found.
    pub(crate) missing: Vec<Mismatch>,
    /// Found and not in the truth.
    pub(crate) wrong: Vec<Mismatch>,
}

impl Comparison {
    pub(crate) fn wanted<S: AsRef<str>>(&mut self, rows: &[S], is_hit: bool) {
        for row in rows {
            let tally = self.rows.entry(row.as_ref().to_owned()).or_default();
            tally.wanted += 1.0;
            tally.hit += f64::from(u8::from(is_hit));
        }
    }

    pub(crate) fn said<S: AsRef<str>>(&mut self, rows: &[S], weight: f64, is_right: bool) {
        for row in rows {
            let tally = self.rows.entry(row.as_ref().to_owned()).or_default();
            tally.said += weight;
            tally.right += if is_right { weight } else { 0.0 };
        }
    }
}
