//! State of every stage, without running anything.

use std::collections::BTreeMap;

use almanac_artifact::{Artifact, KeyParts, Ref, Store};
use almanac_catalog::{Identity, PIPELINE, StageSpec};
use almanac_settings::Settings;
use almanac_tables::File;
use serde::Serialize;

use crate::tree::{Tree, TreeFile};
use crate::{Identities, Reason, Result, current_inputs, differences, key_parts, limits, retries_failed};

/// State of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Up to date.
    Fresh,
    /// Would run.
    Stale,
    /// Depends on an earlier stage that would run.
    Pending,
}

/// One stage's plan.
#[derive(Debug, Clone, Serialize)]
pub struct StagePlan {
    /// Stage name.
    pub stage: &'static str,
    /// Artifact it writes.
    pub artifact: &'static str,
    /// Its state.
    pub state: State,
    /// Every reason, empty when fresh.
    pub reasons: Vec<Reason>,
    /// Whether every wanted record is in the current artifact.
    pub complete: bool,
    /// Key of the current artifact, if there is one.
    pub key: Option<String>,
}

/// All stages in order.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// The stages.
    pub stages: Vec<StagePlan>,
}

impl Plan {
    /// Whether nothing would run.
    pub fn is_fresh(&self) -> bool {
        self.stages.iter().all(|stage| stage.state == State::Fresh)
    }
}

/// What to make of records that are wanted and not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// The stage is stale when the limits in force allow more than was spent last time.
    Fill,
    /// The stage is as fresh as its inputs; the gaps are shown elsewhere.
    Show,
}

/// What a plan is made from.
pub struct PlanInput<'a> {
    /// The store; `None` when it does not exist yet.
    pub store: Option<&'a Store>,
    /// Settings in force.
    pub settings: &'a Settings,
    /// The source tree; without it the parse stage is judged by its settings alone.
    pub tree: Option<&'a Tree>,
    /// Digest of a model by name.
    pub model: &'a dyn Fn(&str) -> miette::Result<String>,
    /// Stages to run in any case.
    pub forced: &'a [String],
    /// Stages whose artifact is read byte by byte; of the others only lengths are compared.
    pub verified: &'a [&'a str],
    /// Whether missing records make a stage stale.
    pub gaps: Gaps,
}

/// Plans the whole chain.
pub fn plan(input: &PlanInput<'_>) -> miette::Result<Plan> {
    let mut stages: Vec<StagePlan> = Vec::new();
    for stage in PIPELINE {
        let waits = stages.iter().find(|earlier| {
            earlier.state != State::Fresh && stage.artifacts_read().contains(&earlier.artifact)
        });
        let waits = waits.map(|earlier| Reason::Waits { stage: earlier.stage.to_owned() });
        stages.push(plan_stage(input, stage, waits)?);
    }
    Ok(Plan { stages })
}

fn plan_stage(
    input: &PlanInput<'_>,
    stage: &'static StageSpec,
    waits: Option<Reason>,
) -> miette::Result<StagePlan> {
    let mut planned = StagePlan {
        stage: stage.name,
        artifact: stage.artifact,
        state: State::Stale,
        reasons: Vec::new(),
        complete: false,
        key: None,
    };
    let (current, none) = current_ref(input, stage)?;
    if let Some(current) = &current {
        planned.complete = current.complete;
        planned.key = Some(current.key.to_string());
    }
    if let Some(waits) = waits {
        planned.state = State::Pending;
        planned.reasons.push(waits);
        if let (Some(store), Some(current)) = (input.store, &current)
            && input.verified.contains(&stage.name)
        {
            planned.reasons.extend(open(input, store, stage, current)?.err());
        }
        return Ok(planned);
    }
    if input.forced.iter().any(|name| name == stage.name) {
        planned.reasons.push(Reason::Forced);
    }
    let (Some(store), Some(current)) = (input.store, &current) else {
        planned.reasons.push(none);
        return Ok(planned);
    };
    planned.reasons.extend(compare(input, store, stage, current)?);
    if planned.reasons.is_empty() {
        planned.state = State::Fresh;
    }
    Ok(planned)
}

/// The current ref, and the reason to give when there is none.
fn current_ref(input: &PlanInput<'_>, stage: &StageSpec) -> Result<(Option<Ref>, Reason)> {
    let Some(store) = input.store else { return Ok((None, Reason::NeverBuilt)) };
    match store.read_ref(input.settings.profile(), stage.artifact) {
        Ok(current) => Ok((current, Reason::NeverBuilt)),
        Err(error) if error.is_damage() => Ok((None, Reason::RefDamaged { detail: error.to_string() })),
        Err(error) => Err(error.into()),
    }
}

/// The artifact that a ref names, or why it counts as none.
fn open(
    input: &PlanInput<'_>,
    store: &Store,
    stage: &StageSpec,
    current: &Ref,
) -> Result<Result<Artifact, Reason>> {
    let found = if input.verified.contains(&stage.name) {
        store.verified_artifact(stage.artifact, &current.key)
    } else {
        store.artifact(stage.artifact, &current.key)
    };
    match found {
        Ok(found) => Ok(found.ok_or_else(|| Reason::OutputDamaged {
            detail: "what the ref names is not there; what was found damaged is in `.damaged`".to_owned(),
        })),
        Err(error) if error.is_damage() => Ok(Err(Reason::OutputDamaged { detail: error.to_string() })),
        Err(error) => Err(error.into()),
    }
}

fn compare(
    input: &PlanInput<'_>,
    store: &Store,
    stage: &'static StageSpec,
    current: &Ref,
) -> miette::Result<Vec<Reason>> {
    let profile = input.settings.profile();
    let artifact = match open(input, store, stage, current)? {
        Ok(artifact) => artifact,
        Err(reason) => return Ok(vec![reason]),
    };
    let inputs = current_inputs(store, profile, stage)?;
    let identities = Identities { tree: input.tree, model: input.model, store };
    let mut wanted = key_parts(stage, input.settings, &inputs, &identities)?;
    let old = &artifact.manifest().parts;
    if stage.identities.contains(&Identity::SourceTree) && input.tree.is_none() {
        // Without a tree (a store carried elsewhere) its part of the key cannot have changed.
        keep(&mut wanted, old, &["tree"]);
    }
    let mut reasons = differences(old, &wanted);
    name_changed_files(input, &artifact, &mut reasons)?;
    if reasons.is_empty() && input.gaps == Gaps::Fill {
        reasons.extend(gaps(input.settings, stage, current));
    }
    Ok(reasons)
}

/// Records that are missing, or failed, and that a run would make.
fn gaps(settings: &Settings, stage: &StageSpec, current: &Ref) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if !current.complete {
        let limits = limits(settings, stage.name);
        let spent = current.budget.as_ref();
        if !spent.is_some_and(|spent| budget_covers(spent, &limits)) {
            let last = spent.map_or_else(|| "not reached".to_owned(), describe);
            reasons.push(Reason::Incomplete { last, now: describe(&limits) });
        }
    }
    if current.failed > 0 && retries_failed(settings, stage.name) {
        reasons.push(Reason::Failed { records: current.failed });
    }
    if current.poorly_grounded > 0 && retries_failed(settings, stage.name) {
        reasons.push(Reason::PoorlyGrounded { records: current.poorly_grounded });
    }
    reasons
}

fn keep(wanted: &mut KeyParts, old: &KeyParts, names: &[&str]) {
    for name in names {
        if let Some(value) = old.identities.get(*name) {
            wanted.identities.insert((*name).to_owned(), value.clone());
        }
    }
}

/// Replaces "the tree's digest changed" by the files that changed.
fn name_changed_files(input: &PlanInput<'_>, artifact: &Artifact, reasons: &mut [Reason]) -> Result<()> {
    let Some(tree) = input.tree else { return Ok(()) };
    for reason in reasons {
        let is_tree = matches!(reason, Reason::IdentityChanged { name, .. } if name == "tree");
        if !is_tree {
            continue;
        }
        let files = match artifact.read::<File>() {
            Ok(files) => files,
            // Another version's or a damaged table: that the tree changed is known all the same.
            Err(error) if error.is_damage() => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        // A file that is not read has a size alone.
        let old: BTreeMap<String, (String, u64)> =
            files.into_iter().map(|file| (file.path, (file.content_digest, file.bytes))).collect();
        let now =
            |file: &TreeFile| (file.digest.map(|digest| digest.to_string()).unwrap_or_default(), file.bytes);
        let new: BTreeMap<&str, (String, u64)> =
            tree.files.iter().map(|file| (file.path.as_str(), now(file))).collect();
        let mut modified = Vec::new();
        let mut added = Vec::new();
        for (path, content) in &new {
            match old.get(*path) {
                None => added.push((*path).to_owned()),
                Some(before) if before != content => modified.push((*path).to_owned()),
                Some(_) => {}
            }
        }
        let removed = old.keys().filter(|path| !new.contains_key(path.as_str())).cloned().collect();
        *reason = Reason::TreeChanged { modified, added, removed };
    }
    Ok(())
}

/// Whether limits already spent allow at least as much as `wanted` does. A limit that is absent
/// or zero is no limit.
pub fn budget_covers(spent: &BTreeMap<String, u64>, wanted: &BTreeMap<String, u64>) -> bool {
    let value = |limits: &BTreeMap<String, u64>, name: &String| match limits.get(name) {
        None | Some(0) => u64::MAX,
        Some(limit) => *limit,
    };
    spent.keys().chain(wanted.keys()).all(|name| value(spent, name) >= value(wanted, name))
}

fn describe(limits: &BTreeMap<String, u64>) -> String {
    let set: Vec<String> = limits
        .iter()
        .filter(|(_, limit)| **limit > 0)
        .map(|(name, limit)| format!("{name} = {limit}"))
        .collect();
    if set.is_empty() { "none".to_owned() } else { set.join(", ") }
}
