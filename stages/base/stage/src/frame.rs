//! From the command line to a committed artifact.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use almanac_artifact::{Artifact, ArtifactWriter, Digest, KeyParts, Ref, Store};
use almanac_catalog::{Identity, StageSpec};
use almanac_freshness::tree::Tree;
use almanac_freshness::{Identities, budget_covers, current_inputs, key_parts, limits};
use almanac_settings::{Settings, environment};
use almanac_terminal::ExitStatus;
use clap::CommandFactory;
use serde::Serialize;

use crate::arguments::{Action, StageCommand};
use crate::processor::require_processor;
use crate::provenance::Provenance;
use crate::signals::end_with_parent;
use crate::{
    Context, Counts, Error, GlobalArguments, Output, RunArguments, RunRecord, RunState, interrupted_flag,
    parse_arguments,
};

/// How a stage ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Every wanted row is written.
    Complete(Counts),
    /// Rows are written, with gaps, because a limit was reached.
    Partial(Counts),
    /// Rows are written, with gaps that no limit explains: nothing was to be generated, or the model
    /// failed. The next run takes them up, whatever its limits.
    Gaps(Counts),
    /// This shard is done and others are not: nothing to commit yet.
    Waiting(Counts),
    /// This shard needs what other shards have not finished: run it again.
    Blocked(Counts),
    /// A signal came; what was finished is in the ledger.
    Interrupted(Counts),
}

/// What a stage binary adds to the frame.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// The work.
    pub run: fn(&Context, &mut Output) -> miette::Result<Outcome>,
    /// Digest of a model by name, without loading it. A stage without models never asks.
    pub model: fn(&Settings, &str) -> miette::Result<String>,
}

impl Implementation {
    /// A stage that uses no model.
    pub const fn without_model(run: fn(&Context, &mut Output) -> miette::Result<Outcome>) -> Self {
        Self {
            run,
            model: |_, name| Err(miette::miette!("this stage knows no models, and `{name}` was asked for")),
        }
    }
}

/// Runs a stage binary: its whole `main`.
pub fn main(spec: &'static StageSpec, implementation: Implementation) -> ExitCode {
    almanac_terminal::main(|| {
        let command = StageCommand::command().name(leak(spec.binary())).about(spec.summary);
        let command: StageCommand = match parse_arguments(command) {
            Ok(command) => command,
            Err(status) => return Ok(status),
        };
        require_processor()?;
        command.global.start_terminal();
        match &command.action {
            Action::Describe => describe(spec),
            Action::Run(arguments) => run(spec, implementation, &command.global, arguments),
        }
    })
}

/// clap keeps names for the life of the program; there is one.
fn leak(name: String) -> &'static str {
    Box::leak(name.into_boxed_str())
}

fn describe(spec: &StageSpec) -> miette::Result<ExitStatus> {
    almanac_terminal::data_json(spec);
    Ok(ExitStatus::Done)
}

/// What a run prints with `--json`.
#[derive(Serialize)]
struct Report<'a> {
    reason: &'static str,
    stage: &'static str,
    state: &'a str,
    key: String,
    counts: Counts,
    seconds: f64,
}

fn run(
    spec: &'static StageSpec,
    implementation: Implementation,
    global: &GlobalArguments,
    arguments: &RunArguments,
) -> miette::Result<ExitStatus> {
    if arguments.shard.is_some() && !spec.partial {
        return Err(Error::NotSharded { stage: spec.name }.into());
    }
    let started = Instant::now();
    let interrupted = interrupted_flag()?;
    if arguments.end_with_parent {
        end_with_parent();
    }
    let settings = global.settings(&arguments.assignments(spec.name))?;
    let store = Store::open_or_create(&global.store_folder()?)?;
    let threads = start_threads(&settings, spec)?;
    let tree = scan_tree(spec, &settings, arguments, &store)?;
    let inputs = current_inputs(&store, settings.profile(), spec)?;
    let model = |name: &str| (implementation.model)(&settings, name);
    let identities = Identities { tree: tree.as_ref(), model: &model };
    let parts = key_parts(spec, &settings, &inputs, &identities)?;
    let profile = settings.profile().to_owned();
    let task = Task { spec, store: store.clone(), profile, parts, limits: limits(&settings, spec.name) };
    let previous = task.previous()?;

    if !arguments.force
        && let Some(key) = task.fresh_key(previous.as_ref(), arguments)?
    {
        almanac_terminal::status("Fresh", &format!("{} ({})", spec.artifact, key.short()));
        task.report(global.json, "fresh", &key.to_string(), Counts::default(), started);
        return Ok(ExitStatus::Done);
    }

    let context = Context {
        spec,
        store,
        inputs,
        previous: previous.map(|(artifact, _)| artifact),
        tree,
        shard: arguments.shard,
        commit_only: arguments.commit_only,
        threads,
        identities: task.parts.identities.clone(),
        interrupted,
        settings,
    };
    task.execute(&context, implementation, global.json, started)
}

/// Sets the size of the global pool: the stage's setting, within what the job was given.
fn start_threads(settings: &Settings, spec: &StageSpec) -> miette::Result<usize> {
    let given = environment::job_threads().get();
    let wanted = settings
        .value(&format!("{}.run.threads", spec.name))
        .and_then(|value| usize::try_from(value.as_integer()?).ok())
        .unwrap_or(0);
    let threads = if wanted == 0 { given } else { wanted.min(given) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|source| Error::Threads { threads, source })?;
    Ok(threads)
}

fn scan_tree(
    spec: &StageSpec,
    settings: &Settings,
    arguments: &RunArguments,
    store: &Store,
) -> miette::Result<Option<Tree>> {
    if !spec.identities.contains(&Identity::SourceTree) {
        return Ok(None);
    }
    let source = arguments.source.as_deref().ok_or(Error::NoSource)?;
    let rules = settings.section("parse.params.tree")?;
    Ok(Some(Tree::scan(source, &rules, store.root())?))
}

/// Why records are missing, if they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Completeness {
    Complete,
    Limited,
    Gaps,
}

/// One run's fixed facts.
struct Task {
    spec: &'static StageSpec,
    store: Store,
    profile: String,
    parts: KeyParts,
    limits: BTreeMap<String, u64>,
}

impl Task {
    /// The current artifact with its ref; a damaged one is set aside.
    fn previous(&self) -> miette::Result<Option<(Artifact, Ref)>> {
        let Some(current) = self.store.read_ref(&self.profile, self.spec.artifact)? else {
            return Ok(None);
        };
        match self.store.artifact(self.spec.artifact, &current.key) {
            Ok(artifact) => Ok(artifact.map(|artifact| (artifact, current))),
            Err(error) if error.is_damage() => {
                almanac_terminal::warning(&format!("{error}; it is set aside and rebuilt"));
                self.store.set_aside(self.spec.artifact, &current.key)?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Key of an artifact that already is what this run would make.
    fn fresh_key(
        &self,
        previous: Option<&(Artifact, Ref)>,
        arguments: &RunArguments,
    ) -> miette::Result<Option<Digest>> {
        let plan = self.parts.key();
        if let Some((_, current)) = previous {
            // A shard, or a commit of what shards have written, has work until nothing is missing.
            let by_parts = arguments.commit_only || arguments.shard.is_some();
            let spent = current.budget.as_ref();
            let enough = spent.is_some_and(|spent| budget_covers(spent, &self.limits)) && !by_parts;
            if current.plan == plan && (current.complete || enough) {
                return Ok(Some(current.key));
            }
        }
        if self.spec.partial {
            return Ok(None);
        }
        // Built before under another ref, as after switching branches back: only the ref moves.
        match self.store.artifact(self.spec.artifact, &plan) {
            Ok(Some(_)) => {
                self.point_to(plan, plan, Completeness::Complete)?;
                Ok(Some(plan))
            }
            Ok(None) => Ok(None),
            Err(error) if error.is_damage() => {
                self.store.set_aside(self.spec.artifact, &plan)?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn point_to(&self, key: Digest, plan: Digest, completeness: Completeness) -> miette::Result<()> {
        let budget = (completeness == Completeness::Limited).then(|| self.limits.clone());
        let complete = completeness == Completeness::Complete;
        let value = Ref { key, plan, complete, budget };
        Ok(self.store.write_ref(&self.profile, self.spec.artifact, &value)?)
    }

    fn execute(
        &self,
        context: &Context,
        implementation: Implementation,
        json: bool,
        started: Instant,
    ) -> miette::Result<ExitStatus> {
        let shard = context.shard.map(|shard| shard.to_string()).unwrap_or_default();
        let mut record = RunRecord::begin(self.spec.name, &self.profile, shard);
        record.save(&self.store)?;
        let result = self.work(context, implementation, &mut record);
        record.seconds = started.elapsed().as_secs_f64();
        let status = match &result {
            Ok(state) => {
                record.state = *state;
                match state {
                    RunState::Interrupted | RunState::Blocked => ExitStatus::Retry,
                    _ => ExitStatus::Done,
                }
            }
            Err(report) => {
                record.state = RunState::Failed;
                record.error = report.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
                ExitStatus::Bug
            }
        };
        // The record must not hide the error it is about.
        if let Err(error) = record.save(&self.store) {
            almanac_terminal::warning(&format!("the run record could not be written: {error}"));
        }
        let state = result?;
        let words = match state {
            RunState::Done => "done",
            RunState::Waiting => "waiting",
            RunState::Blocked => "blocked",
            _ => "interrupted",
        };
        self.report(json, words, &record.key, record.counts.clone(), started);
        Ok(status)
    }

    fn work(
        &self,
        context: &Context,
        implementation: Implementation,
        record: &mut RunRecord,
    ) -> miette::Result<RunState> {
        let writer = ArtifactWriter::begin(&self.store, self.spec.artifact)?;
        let mut output = Output { writer, parts: self.parts.clone() };
        let outcome = (implementation.run)(context, &mut output)?;
        if context.is_interrupted() {
            let (Outcome::Complete(counts)
            | Outcome::Partial(counts)
            | Outcome::Gaps(counts)
            | Outcome::Waiting(counts)
            | Outcome::Blocked(counts)
            | Outcome::Interrupted(counts)) = outcome;
            record.counts = counts;
            return Ok(RunState::Interrupted);
        }
        let (counts, completeness) = match outcome {
            Outcome::Complete(counts) => (counts, Completeness::Complete),
            Outcome::Partial(counts) => (counts, Completeness::Limited),
            Outcome::Gaps(counts) => (counts, Completeness::Gaps),
            Outcome::Waiting(counts) => {
                record.counts = counts;
                return Ok(RunState::Waiting);
            }
            Outcome::Blocked(counts) => {
                record.counts = counts;
                return Ok(RunState::Blocked);
            }
            Outcome::Interrupted(counts) => {
                record.counts = counts;
                return Ok(RunState::Interrupted);
            }
        };
        record.counts = counts;
        output.writer.add_files()?;
        let read = context.inputs.iter().map(|(name, input)| (name.clone(), input.manifest().key)).collect();
        let source = context.tree.as_ref().map(|tree| tree.root.as_path());
        let provenance = Provenance::of(record, source);
        let artifact = output.writer.commit(self.parts.clone(), read, self.spec.partial, &provenance)?;
        let key = artifact.manifest().key;
        self.point_to(key, self.parts.key(), completeness)?;
        record.key = key.to_string();
        Ok(RunState::Done)
    }

    fn report(&self, json: bool, state: &str, key: &str, counts: Counts, started: Instant) {
        if json {
            almanac_terminal::data_json(&Report {
                reason: "stage",
                stage: self.spec.name,
                state,
                key: key.to_owned(),
                counts,
                seconds: started.elapsed().as_secs_f64(),
            });
        }
    }
}
