//! A task's share of the records that a ledger lacks.

use std::fmt;
use std::str::FromStr;

/// `3/64`: the third of 64 tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1 to `count`.
    pub number: u32,
    /// Number of tasks.
    pub count: u32,
}

impl Shard {
    /// The only task.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// Whether the item at this place of the whole list belongs to this task. Every n-th item
    /// does, so each task gets important and unimportant, long and short ones alike.
    pub fn owns(&self, place: usize) -> bool {
        place % self.count as usize == self.number as usize - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || -> Option<Self> {
            let (number, count) = text.split_once('/')?;
            let shard = Self { number: number.parse().ok()?, count: count.parse().ok()? };
            (1..=shard.count).contains(&shard.number).then_some(shard)
        };
        parse().ok_or_else(|| format!("`{text}` is not a shard: write 1/3, 2/3 or 3/3 for three tasks"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_every_item_once() {
        let shards: Vec<Shard> = ["1/3", "2/3", "3/3"].iter().map(|text| text.parse().unwrap()).collect();
        for place in 0..20 {
            assert_eq!(shards.iter().filter(|shard| shard.owns(place)).count(), 1);
        }
    }

    #[test]
    fn only_numbers_within_the_count_are_shards() {
        for text in ["0/3", "4/3", "3", "a/b", "1/0", "-1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
