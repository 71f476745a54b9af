//! How many references ended how: what the graph leaves out is counted, not hidden.

use std::collections::BTreeMap;

use almanac_tables::{ReferenceKind, ReferenceOutcome, Resolved};

/// References by kind and outcome.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcomes {
    counts: BTreeMap<(ReferenceKind, ReferenceOutcome), u64>,
}

impl Outcomes {
    pub(crate) fn count(&mut self, kind: ReferenceKind, outcome: ReferenceOutcome) {
        *self.counts.entry((kind, outcome)).or_default() += 1;
    }

    /// References of a kind that ended this way.
    pub fn get(&self, kind: ReferenceKind, outcome: ReferenceOutcome) -> u64 {
        self.counts.get(&(kind, outcome)).copied().unwrap_or(0)
    }

    /// The table's rows, in table order.
    pub fn rows(&self) -> Vec<Resolved> {
        let row = |(&(kind, outcome), &count): (&(ReferenceKind, ReferenceOutcome), &u64)| Resolved {
            kind,
            outcome,
            count,
        };
        self.counts.iter().map(row).collect()
    }
}
