//! Shares a number of records among the levels.

use crate::RecordShares;

/// How many of `available` file, module and call-chain summaries `most` records buy.
///
/// Each level gets its share; what a level cannot use goes to the others, files first.
pub(crate) fn allot(most: usize, available: [usize; 3], shares: RecordShares) -> [usize; 3] {
    let parts = [shares.file, shares.module, shares.call_chain];
    let sum: usize = parts.iter().sum();
    let total: usize = available.iter().sum();
    if most >= total || sum == 0 {
        return fill(most, [0; 3], available);
    }
    let given = std::array::from_fn(|level| (most * parts[level] / sum).min(available[level]));
    fill(most, given, available)
}

fn fill(most: usize, mut given: [usize; 3], available: [usize; 3]) -> [usize; 3] {
    let mut left = most.saturating_sub(given.iter().sum());
    for level in 0..given.len() {
        let more = left.min(available[level] - given[level]);
        given[level] += more;
        left -= more;
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARES: RecordShares = RecordShares { file: 5, module: 2, call_chain: 3 };

    #[test]
    fn shares_what_there_is() {
        assert_eq!(allot(10, [480, 60, 950], SHARES), [5, 2, 3]);
        assert_eq!(allot(3, [480, 60, 950], SHARES), [3, 0, 0]);
        assert_eq!(allot(100, [20, 10, 900], SHARES), [20, 10, 70]);
        assert_eq!(allot(usize::MAX, [480, 60, 950], SHARES), [480, 60, 950]);
        assert_eq!(allot(0, [480, 60, 950], SHARES), [0, 0, 0]);
    }
}
