//! How many tasks a number of records is worth.

/// What an array is sized from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizing {
    /// Records to make.
    pub records: u64,
    /// What one task makes in a minute.
    pub per_minute: f64,
    /// What one task should take.
    pub target_minutes: u32,
    /// Most tasks.
    pub max_tasks: u32,
}

impl Sizing {
    /// Tasks: at least one, so that a stage whose records are all there is still committed.
    pub fn tasks(&self) -> u32 {
        let per_task = self.per_minute * f64::from(self.target_minutes);
        let wanted = if per_task > 0.0 { (self.records as f64 / per_task).ceil() } else { f64::INFINITY };
        // More tasks than records would find nothing to do.
        let most = f64::from(self.max_tasks.max(1)).min(self.records.max(1) as f64);
        wanted.clamp(1.0, most) as u32
    }
}

/// One array of a stage: its tasks are `first` to `first + count - 1` of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Array {
    /// Number of the first task, from 1.
    pub first: u32,
    /// Number of tasks.
    pub count: u32,
}

/// Splits tasks into arrays of at most what MaxArraySize allows, all about equally long. The size is
/// the largest index plus one, and indices begin at 1 here.
pub fn split(tasks: u32, max_array_size: u32) -> Vec<Array> {
    let most = max_array_size.saturating_sub(1).max(1);
    let arrays = tasks.div_ceil(most).max(1);
    let mut first = 1;
    (0..arrays)
        .map(|place| {
            let count = tasks / arrays + u32::from(place < tasks % arrays);
            let array = Array { first, count };
            first += count;
            array
        })
        .collect()
}

/// GPU time to spend, shared by stages that all want some.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Hours of one GPU.
    pub gpu_hours: f64,
}

impl Budget {
    /// Records each stage may make, given what it lacks and the GPU minutes a record takes. When not
    /// all can be paid for, each gets the same share of what it lacks.
    pub fn records(&self, wanted: &[(u64, f64)]) -> Vec<u64> {
        let minutes: f64 = wanted.iter().map(|(records, each)| *records as f64 * each).sum();
        let have = self.gpu_hours.max(0.0) * 60.0;
        let share = if minutes > have { have / minutes } else { 1.0 };
        wanted.iter().map(|(records, _)| (*records as f64 * share).floor() as u64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(records: u64, per_minute: f64, target_minutes: u32, max_tasks: u32) -> u32 {
        Sizing { records, per_minute, target_minutes, max_tasks }.tasks()
    }

    #[test]
    fn each_task_takes_about_the_target() {
        assert_eq!(tasks(18_000, 30.0, 60, 256), 10);
        assert_eq!(tasks(18_001, 30.0, 60, 256), 11);
        assert_eq!(tasks(1, 30.0, 60, 256), 1);
    }

    #[test]
    fn never_more_than_allowed_or_useful_and_never_none() {
        assert_eq!(tasks(1_000_000, 30.0, 60, 256), 256);
        assert_eq!(tasks(3, 0.001, 1, 256), 3);
        assert_eq!(tasks(0, 30.0, 60, 256), 1);
        assert_eq!(tasks(10, 0.0, 60, 0), 1);
    }

    #[test]
    fn arrays_cover_every_task_once_within_the_limit() {
        for (tasks, size) in [(1, 1001), (1000, 1001), (1001, 1001), (10, 4), (7, 2), (5, 0)] {
            let arrays = split(tasks, size);
            let covered: Vec<u32> =
                arrays.iter().flat_map(|array| array.first..array.first + array.count).collect();
            assert_eq!(covered, (1..=tasks).collect::<Vec<_>>(), "{tasks} at {size}");
            assert!(arrays.iter().all(|array| array.count < size.max(2)), "{tasks} at {size}");
        }
        assert_eq!(split(10, 5).iter().map(|array| array.count).collect::<Vec<_>>(), [4, 3, 3]);
    }

    #[test]
    fn a_budget_is_shared_in_proportion() {
        let budget = Budget { gpu_hours: 1.0 };
        assert_eq!(budget.records(&[(100, 1.0), (20, 1.0)]), [50, 10]);
        assert_eq!(budget.records(&[(10, 1.0), (20, 1.0)]), [10, 20]);
        assert_eq!(Budget { gpu_hours: 0.0 }.records(&[(10, 1.0)]), [0]);
    }
}
