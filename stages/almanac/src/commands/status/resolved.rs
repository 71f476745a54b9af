//! What became of the references of the code: how much of the graph is sure, and what it leaves out.

use std::collections::BTreeMap;

use almanac_tables::{ReferenceKind, ReferenceOutcome, Resolved};
use almanac_terminal::{Table, format};
use serde::Serialize;

/// References of one kind by outcome.
#[derive(Debug, Serialize)]
pub(crate) struct Resolution {
    pub(crate) kind: ReferenceKind,
    pub(crate) references: u64,
    /// How many ended each way.
    pub(crate) outcomes: BTreeMap<ReferenceOutcome, u64>,
}

impl Resolution {
    /// Percentage of the references that ended in one of these ways.
    fn share(&self, outcomes: &[ReferenceOutcome]) -> String {
        let count: u64 = outcomes.iter().filter_map(|outcome| self.outcomes.get(outcome)).sum();
        match count {
            0 => "-".to_owned(),
            _ => format!("{:.1} %", count as f64 * 100.0 / self.references.max(1) as f64),
        }
    }
}

/// The rows of the table by kind of reference.
pub(crate) fn by_kind(rows: &[Resolved]) -> Vec<Resolution> {
    let mut kinds: BTreeMap<ReferenceKind, BTreeMap<ReferenceOutcome, u64>> = BTreeMap::new();
    for row in rows {
        *kinds.entry(row.kind).or_default().entry(row.outcome).or_default() += row.count;
    }
    kinds
        .into_iter()
        .map(|(kind, outcomes)| Resolution { kind, references: outcomes.values().sum(), outcomes })
        .collect()
}

/// Shows the share of each outcome.
pub(crate) fn print(resolved: &[Resolution]) {
    use ReferenceOutcome::{Dynamic, Exact, External, Name, Overloads, Receiver, TooMany, Unresolved};
    if resolved.is_empty() {
        return;
    }
    almanac_terminal::data("");
    let heads = [
        "references",
        "count",
        "exact",
        "by receiver",
        "overload set",
        "by name",
        "other library",
        "at run time",
        "unresolved",
    ];
    let mut table = Table::new(heads).right([1, 2, 3, 4, 5, 6, 7, 8]);
    for line in resolved {
        let outcomes: [&[ReferenceOutcome]; 7] =
            [&[Exact], &[Receiver], &[Overloads], &[Name], &[External], &[Dynamic], &[TooMany, Unresolved]];
        let mut cells = vec![line.kind.as_str().to_owned(), format::count(line.references)];
        cells.extend(outcomes.into_iter().map(|outcomes| line.share(outcomes)));
        table.row(cells);
    }
    table.print();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_all_references_of_a_kind() {
        let row = |outcome, count| Resolved { kind: ReferenceKind::Call, outcome, count };
        let rows = [
            row(ReferenceOutcome::Exact, 6),
            row(ReferenceOutcome::TooMany, 1),
            row(ReferenceOutcome::Unresolved, 1),
        ];
        let calls = &by_kind(&rows)[0];
        assert_eq!(calls.references, 8);
        assert_eq!(calls.share(&[ReferenceOutcome::Exact]), "75.0 %");
        assert_eq!(calls.share(&[ReferenceOutcome::TooMany, ReferenceOutcome::Unresolved]), "25.0 %");
        assert_eq!(calls.share(&[ReferenceOutcome::Name]), "-");
    }
}
