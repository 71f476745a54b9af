//! How many records a stage still has to make, as far as that can be told before it runs.
//!
//! It only sizes arrays: too few tasks take longer, too many find nothing to do and end at once.

use std::collections::{BTreeMap, BTreeSet};

use almanac_artifact::{Artifact, Store, Table};
use almanac_catalog::stage as stage_named;
use almanac_freshness::tree::Tree;
use almanac_freshness::{Plan, Reason, StagePlan, State};
use almanac_tables::{Chunk, Embedding, EntityLevel, Explanation, RecordStatus, Summary};

use crate::chain::Part;
use crate::progress::records::newest_records;
use crate::{Run, Site};

/// Bytes of source for each record, on IPPL: 1.6 MB of C++ in a tree of 480 files.
const BYTES_PER_EXPLANATION: u64 = 1_200;
const BYTES_PER_CHUNK: u64 = 700;
/// Files in a folder or namespace, roughly.
const FILES_PER_MODULE: u64 = 8;

/// Records of one stage.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Work {
    /// There already.
    pub done: u64,
    /// To make, by level; the stage itself is the level with an empty name.
    pub missing: BTreeMap<&'static str, u64>,
}

impl Work {
    /// To make on all levels.
    pub fn total(&self) -> u64 {
        self.missing.values().sum()
    }

    /// As parts of a chain, in the order in which they need one another.
    pub fn parts(&self, stage: &str, per_minute: f64) -> Vec<Part> {
        let levels: &[&'static str] = match stage_named(stage) {
            Some(spec) if !spec.levels.is_empty() => spec.levels,
            _ => &[""],
        };
        levels
            .iter()
            .map(|level| Part { level, records: self.missing.get(level).copied().unwrap_or(0), per_minute })
            .collect()
    }
}

/// Estimates the work of the three stages that make records.
pub fn estimate(
    store: Option<&Store>,
    profile: &str,
    plan: &Plan,
    tree: &Tree,
    forget_records: bool,
) -> BTreeMap<&'static str, Work> {
    let share = changed_share(plan, tree);
    let mut works = BTreeMap::new();
    for planned in &plan.stages {
        let current = store.and_then(|store| current(store, profile, planned));
        let (done, missing, total) = match planned.stage {
            "explain" => explanations(current.as_ref(), tree),
            "entities" => summaries(current.as_ref(), tree),
            "embed" => vectors(current.as_ref(), tree),
            _ => continue,
        };
        // Records outlive their artifact: what a forced stage had, it has again.
        let only_gaps = planned.reasons.iter().all(|reason| {
            matches!(reason, Reason::Incomplete { .. } | Reason::Forced | Reason::OutputDamaged { .. })
        });
        let part = |level: &'static str| {
            let (missing, total) = (missing[level], total[level]);
            if forget_records {
                total
            } else if planned.state == State::Fresh || (only_gaps && planned.key.is_some()) {
                missing
            } else {
                let changed = (total as f64 * share).ceil() as u64;
                changed.max(missing).min(total)
            }
        };
        let missing = total.keys().map(|level| (*level, part(level))).collect();
        works.insert(planned.stage, Work { done: if forget_records { 0 } else { done }, missing });
    }
    works
}

type ByLevel = BTreeMap<&'static str, u64>;

/// What one task of a stage makes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Records a minute.
    pub per_minute: f64,
    /// Tasks of earlier runs on the same site that it was measured on; 0 where the site's file says it.
    pub measured_on: u64,
}

/// What one task of each stage makes in a minute: measured in earlier runs on this site, else as its
/// file says. What another machine made, a laptop without a GPU for one, tells nothing.
pub fn rates(store: Option<&Store>, site: &Site) -> BTreeMap<String, Rate> {
    const LOOKED_AT: usize = 500;
    const RECENT: usize = 50;
    let runs = store.map(Run::all).unwrap_or_default();
    let here: BTreeSet<String> = runs.iter().filter(|run| run.site == site.name).flat_map(Run::ids).collect();
    let mut records = store.map(|store| newest_records(store, LOOKED_AT)).unwrap_or_default();
    records.retain(|record| {
        let job = record.job.split('_').next().unwrap_or_default();
        here.contains(job) && record.counts.generated > 0 && record.seconds > 0.0
    });
    site.stages
        .iter()
        .filter_map(|(stage, place)| {
            let recent: Vec<_> =
                records.iter().rev().filter(|record| record.stage == *stage).take(RECENT).collect();
            let made: u64 = recent.iter().map(|record| record.counts.generated).sum();
            let seconds: f64 = recent.iter().map(|record| record.seconds).sum();
            let rate = if made > 0 {
                Rate { per_minute: made as f64 * 60.0 / seconds, measured_on: recent.len() as u64 }
            } else {
                Rate { per_minute: place.records_per_minute?, measured_on: 0 }
            };
            Some((stage.clone(), rate))
        })
        .collect()
}

/// Share of the tree that is new since the sources were read; everything when they never were, or when
/// something else than files changed.
fn changed_share(plan: &Plan, tree: &Tree) -> f64 {
    let Some(first) = plan.stages.first() else { return 1.0 };
    if first.state == State::Fresh {
        return 1.0;
    }
    let all: u64 = tree.files.iter().map(|file| file.bytes).sum();
    let mut changed = 0;
    for reason in &first.reasons {
        match reason {
            Reason::TreeChanged { modified, added, .. } => {
                let is_changed = |path: &String| modified.contains(path) || added.contains(path);
                changed += tree
                    .files
                    .iter()
                    .filter(|file| is_changed(&file.path))
                    .map(|file| file.bytes)
                    .sum::<u64>();
            }
            Reason::Forced => {}
            _ => return 1.0,
        }
    }
    if all == 0 { 1.0 } else { changed as f64 / all as f64 }
}

fn current(store: &Store, profile: &str, planned: &StagePlan) -> Option<Artifact> {
    store.current(profile, planned.artifact, planned.stage).ok()
}

fn rows<T: Table>(artifact: Option<&Artifact>) -> Option<Vec<T>> {
    artifact?.read().ok()
}

fn code_bytes(tree: &Tree) -> u64 {
    let is_code = |path: &str| {
        [".h", ".hpp", ".hh", ".cpp", ".cc", ".cxx", ".cu", ".c", ".tpp", ".py"]
            .iter()
            .any(|extension| path.ends_with(extension))
    };
    tree.files.iter().filter(|file| is_code(&file.path)).map(|file| file.bytes).sum()
}

fn explanations(current: Option<&Artifact>, tree: &Tree) -> (u64, ByLevel, ByLevel) {
    match rows::<Explanation>(current) {
        Some(rows) => {
            let missing = rows.iter().filter(|row| row.status == RecordStatus::Missing).count() as u64;
            let total = rows.len() as u64;
            (total - missing, BTreeMap::from([("", missing)]), BTreeMap::from([("", total)]))
        }
        None => expected("", code_bytes(tree).div_ceil(BYTES_PER_EXPLANATION)),
    }
}

fn expected(level: &'static str, total: u64) -> (u64, ByLevel, ByLevel) {
    (0, BTreeMap::from([(level, total)]), BTreeMap::from([(level, total)]))
}

fn summaries(current: Option<&Artifact>, tree: &Tree) -> (u64, ByLevel, ByLevel) {
    let Some(rows) = rows::<Summary>(current) else {
        let files = tree.files.len() as u64;
        let total = BTreeMap::from([
            ("files", files),
            ("modules", files.div_ceil(FILES_PER_MODULE)),
            ("call_chains", code_bytes(tree).div_ceil(BYTES_PER_EXPLANATION)),
        ]);
        return (0, total.clone(), total);
    };
    let mut missing = ByLevel::new();
    let mut total = ByLevel::new();
    for row in &rows {
        let level = match row.level {
            EntityLevel::File => "files",
            EntityLevel::Module => "modules",
            EntityLevel::CallChain => "call_chains",
            EntityLevel::Symbol | EntityLevel::DocumentationSection => continue,
        };
        *total.entry(level).or_insert(0) += 1;
        *missing.entry(level).or_insert(0) += u64::from(row.status == RecordStatus::Missing);
    }
    let done = rows.len() as u64 - missing.values().sum::<u64>();
    (done, missing, total)
}

fn vectors(current: Option<&Artifact>, tree: &Tree) -> (u64, ByLevel, ByLevel) {
    let count = |table: &str| current.and_then(|artifact| Some(artifact.manifest().tables.get(table)?.rows));
    match (count(Chunk::NAME), count(Embedding::NAME)) {
        (Some(chunks), Some(vectors)) => {
            let missing = BTreeMap::from([("", chunks.saturating_sub(vectors))]);
            (vectors, missing, BTreeMap::from([("", chunks)]))
        }
        _ => expected("", code_bytes(tree).div_ceil(BYTES_PER_CHUNK)),
    }
}
