//! From the command line to a committed artifact.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use almanac_artifact::{Artifact, ArtifactWriter, Digest, KeyParts, Ref, Store};
use almanac_catalog::{Identity, StageSpec};
use almanac_freshness::tree::Tree;
use almanac_freshness::{Identities, budget_covers, current_inputs, key_parts, limits, retries_failed};
use almanac_settings::{Settings, environment};
use almanac_terminal::ExitStatus;
use clap::CommandFactory;
use serde::Serialize;

use crate::arguments::{Action, StageCommand};
use crate::processor::require_processor;
use crate::provenance::Provenance;
use crate::signals::{GRACE, end_with_parent};
use crate::{
    Context, Counts, Error, GlobalArguments, ImportArguments, Interruption, Output, RunArguments, RunRecord,
    RunState, parse_arguments,
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

impl Outcome {
    /// The counts, and what to commit or why not.
    fn into_parts(self) -> (Counts, Result<Completeness, RunState>) {
        match self {
            Self::Complete(counts) => (counts, Ok(Completeness::Complete)),
            Self::Partial(counts) => (counts, Ok(Completeness::Limited)),
            Self::Gaps(counts) => (counts, Ok(Completeness::Gaps)),
            Self::Waiting(counts) => (counts, Err(RunState::Waiting)),
            Self::Blocked(counts) => (counts, Err(RunState::Blocked)),
            Self::Interrupted(counts) => (counts, Err(RunState::Interrupted)),
        }
    }
}

/// What a stage binary adds to the frame.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// The work.
    pub run: fn(&Context, &mut Output) -> miette::Result<Outcome>,
    /// Digest of a model by name, without loading it. A stage without models never asks.
    pub model: fn(&Settings, &str) -> miette::Result<String>,
    /// Takes in records that were made elsewhere, where the stage can.
    pub import: Option<Import>,
}

/// Takes records from a file into a store's ledger.
pub type Import = fn(&GlobalArguments, &ImportArguments) -> miette::Result<()>;

impl Implementation {
    /// A stage that uses no model.
    pub const fn without_model(run: fn(&Context, &mut Output) -> miette::Result<Outcome>) -> Self {
        Self {
            run,
            model: |_, name| Err(miette::miette!("this stage knows no models, and `{name}` was asked for")),
            import: None,
        }
    }
}

/// Runs a stage binary: its whole `main`.
pub fn main(spec: &'static StageSpec, implementation: Implementation) -> ExitCode {
    almanac_terminal::main(|| {
        require_processor()?;
        let mut command = StageCommand::command().name(leak(spec.binary())).about(spec.summary);
        command = command.mut_subcommand("import", |import| import.hide(implementation.import.is_none()));
        let command: StageCommand = match parse_arguments(command) {
            Ok(command) => command,
            Err(status) => return Ok(status),
        };
        command.global.start_terminal();
        match &command.action {
            Action::Describe => describe(spec),
            Action::Import(arguments) => {
                let import = implementation.import.ok_or(Error::NoImport { stage: spec.name })?;
                import(&command.global, arguments).map(|()| ExitStatus::Done)
            }
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
    check(spec, arguments)?;
    let started = Instant::now();
    let interruption = Interruption::watch()?;
    if let Some(parent) = arguments.end_with_parent {
        end_with_parent(parent);
    }
    let settings = global.settings(&arguments.assignments(spec.name))?;
    let threads = start_threads(&settings, spec)?;
    let folder = global.store_folder()?;
    // Before the store is made: a tree that is refused gets none.
    let tree = scan_tree(spec, &settings, arguments, &folder)?;
    let store = if spec.reads.is_empty() { Store::open_or_create(&folder)? } else { Store::open(&folder)? };
    let inputs = current_inputs(&store, settings.profile(), spec)?;
    let model = |name: &str| (implementation.model)(&settings, name);
    let identities = Identities { tree: tree.as_ref(), model: &model, store: &store };
    let task = Task {
        spec,
        store: store.clone(),
        profile: settings.profile().to_owned(),
        parts: key_parts(spec, &settings, &inputs, &identities)?,
        limits: limits(&settings, spec.name),
        retries_failed: retries_failed(&settings, spec.name),
        verify: arguments.verify,
        only_counts: arguments.count,
        json: global.json,
        started,
    };
    let previous = task.previous()?;

    if !arguments.force
        && let Some(key) = task.fresh_key(previous.as_ref(), arguments)?
    {
        almanac_terminal::status("Fresh", format!("{} ({})", spec.artifact, key.short()));
        task.report("fresh", &key.to_string(), Counts::default());
        return Ok(ExitStatus::Done);
    }

    let context = Context {
        spec,
        store,
        inputs,
        previous: previous.map(|(artifact, _)| artifact),
        tree,
        shard: arguments.shard,
        level: arguments.level.clone(),
        commit_only: arguments.commit_only || arguments.count,
        count: arguments.count,
        threads,
        identities: task.parts.identities.clone(),
        interrupted: interruption.flag().clone(),
        settings,
    };
    if arguments.count {
        return task.count(&context, implementation);
    }
    task.execute(&context, implementation, &interruption)
}

/// Refuses options that this stage has no use for.
fn check(spec: &StageSpec, arguments: &RunArguments) -> Result<(), Error> {
    if arguments.shard.is_some() && !spec.partial {
        return Err(Error::NotSharded { stage: spec.name });
    }
    let of_records = [
        ("--count", arguments.count),
        ("--commit-only", arguments.commit_only),
        ("--max-seconds", arguments.max_seconds.is_some()),
        ("--max-records", arguments.max_records.is_some()),
    ];
    if let Some((option, _)) = of_records.into_iter().find(|(_, given)| *given && !spec.partial) {
        return Err(Error::NoRecords { stage: spec.name, option });
    }
    if arguments.source.is_some() && !spec.identities.contains(&Identity::SourceTree) {
        return Err(Error::NoTree { stage: spec.name });
    }
    match arguments.level.as_ref().filter(|level| !spec.levels.contains(&level.as_str())) {
        Some(level) => Err(Error::NoLevel { stage: spec.name, level: level.clone() }),
        None => Ok(()),
    }
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
    store: &Path,
) -> miette::Result<Option<Tree>> {
    if !spec.identities.contains(&Identity::SourceTree) {
        return Ok(None);
    }
    let source = arguments.source.as_deref().ok_or(Error::NoSource)?;
    let rules = settings.section("parse.params.tree")?;
    Ok(Some(Tree::scan(source, &rules, store)?))
}

/// Why records are missing, if they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Completeness {
    Complete,
    Limited,
    Gaps,
}

/// One run's fixed facts.
#[derive(Clone)]
struct Task {
    spec: &'static StageSpec,
    store: Store,
    profile: String,
    parts: KeyParts,
    limits: BTreeMap<String, u64>,
    retries_failed: bool,
    verify: bool,
    /// Nothing in the store is changed.
    only_counts: bool,
    json: bool,
    started: Instant,
}

impl Task {
    /// An artifact of this stage; a damaged one is set aside and counts as none.
    fn sound(&self, key: &Digest) -> miette::Result<Option<Artifact>> {
        let artifact = self.spec.artifact;
        let found = if self.verify {
            self.store.verified_artifact(artifact, key)
        } else {
            self.store.artifact(artifact, key)
        };
        match found {
            Err(error) if error.is_damage() && self.only_counts => Ok(None),
            Err(error) if error.is_damage() && self.store.set_aside_if_damaged(artifact, key) => {
                almanac_terminal::warning(format!("{error}; it is set aside and rebuilt"));
                Ok(None)
            }
            other => Ok(other?),
        }
    }

    /// The current artifact with its ref; a damaged one counts as none.
    fn previous(&self) -> miette::Result<Option<(Artifact, Ref)>> {
        let current = match self.store.read_ref(&self.profile, self.spec.artifact) {
            Err(error) if error.is_damage() => {
                almanac_terminal::warning(format!("{error}; it counts as none and is written anew"));
                None
            }
            other => other?,
        };
        let Some(current) = current else { return Ok(None) };
        Ok(self.sound(&current.key)?.map(|artifact| (artifact, current)))
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
            let by_parts = arguments.commit_only
                || arguments.count
                || arguments.shard.is_some()
                || arguments.level.is_some();
            let spent = current.budget.as_ref();
            let enough = spent.is_some_and(|spent| budget_covers(spent, &self.limits)) && !by_parts;
            let retry = self.retries_failed && current.failed + current.poorly_grounded > 0;
            if current.plan == plan && (current.complete || enough) && !retry {
                return Ok(Some(current.key));
            }
        }
        if self.spec.partial {
            return Ok(None);
        }
        // Built before under another ref, as after switching branches back: only the ref moves.
        let built = self.sound(&plan)?.map(|_| plan);
        if built.is_some() {
            self.point_to(plan, Completeness::Complete, &Counts::default())?;
        }
        Ok(built)
    }

    fn point_to(&self, key: Digest, completeness: Completeness, counts: &Counts) -> miette::Result<()> {
        let budget = (completeness == Completeness::Limited).then(|| self.limits.clone());
        let complete = completeness == Completeness::Complete;
        let plan = self.parts.key();
        let Counts { failed, poorly_grounded, .. } = *counts;
        let value = Ref { key, plan, complete, budget, failed, poorly_grounded };
        Ok(self.store.write_ref(&self.profile, self.spec.artifact, &value)?)
    }

    /// Does everything but the work, and says what there would be to do.
    fn count(&self, context: &Context, implementation: Implementation) -> miette::Result<ExitStatus> {
        let writer = ArtifactWriter::begin(&self.store, self.spec.artifact)?;
        let mut output = Output { writer, parts: self.parts.clone() };
        let (counts, _) = (implementation.run)(context, &mut output)?.into_parts();
        almanac_terminal::status("Counted", format!("{} missing of {}", counts.missing, counts.total));
        self.report("counted", "", counts);
        Ok(ExitStatus::Done)
    }

    fn execute(
        &self,
        context: &Context,
        implementation: Implementation,
        interruption: &Interruption,
    ) -> miette::Result<ExitStatus> {
        self.store.sweep();
        let shard = context.shard.map(|shard| shard.to_string()).unwrap_or_default();
        let mut record = RunRecord::begin(self.spec.name, &self.profile, shard);
        let writer = ArtifactWriter::begin(&self.store, self.spec.artifact)?;
        record.save(&self.store)?;
        self.let_signals_end(interruption, &record, writer.staging());
        let result = self.work(context, implementation, writer, &mut record, interruption);
        interruption.hold();
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
        self.close(&mut record);
        result?;
        self.report(record.state.word(), &record.key, record.counts.clone());
        Ok(status)
    }

    /// What a signal does from here on. A stage without a ledger has nothing to save before its
    /// commit; one with a ledger gets time to flush.
    fn let_signals_end(&self, interruption: &Interruption, record: &RunRecord, staging: &Path) {
        let grace = if self.spec.partial { GRACE } else { Duration::ZERO };
        let (task, mut record, staging) = (self.clone(), record.clone(), PathBuf::from(staging));
        interruption.allow(grace, move || {
            record.state = RunState::Interrupted;
            task.close(&mut record);
            // Other threads may still write there; a later run sweeps what is left.
            let _ = fs_err::remove_dir_all(&staging);
            task.report(record.state.word(), "", Counts::default());
        });
    }

    /// Writes the record of a run that has ended.
    fn close(&self, record: &mut RunRecord) {
        record.seconds = self.started.elapsed().as_secs_f64();
        // The record must not hide the error it is about.
        if let Err(error) = record.save(&self.store) {
            almanac_terminal::warning(format!("the run record could not be written: {error}"));
        }
    }

    fn work(
        &self,
        context: &Context,
        implementation: Implementation,
        writer: ArtifactWriter,
        record: &mut RunRecord,
        interruption: &Interruption,
    ) -> miette::Result<RunState> {
        let mut output = Output { writer, parts: self.parts.clone() };
        let (counts, state) = (implementation.run)(context, &mut output)?.into_parts();
        record.counts = counts;
        if context.is_interrupted() {
            return Ok(RunState::Interrupted);
        }
        let completeness = match state {
            Ok(completeness) => completeness,
            Err(state) => return Ok(state),
        };
        output.writer.add_files()?;
        let read = context.inputs.iter().map(|(name, input)| (name.clone(), input.manifest().key)).collect();
        let source = context.tree.as_ref().map(|tree| tree.root.as_path());
        let provenance = Provenance::of(record, source);
        interruption.hold();
        let artifact = output.writer.commit(self.parts.clone(), read, self.spec.partial, &provenance)?;
        let key = artifact.manifest().key;
        self.point_to(key, completeness, &record.counts)?;
        record.key = key.to_string();
        Ok(RunState::Done)
    }

    fn report(&self, state: &str, key: &str, counts: Counts) {
        if self.json {
            almanac_terminal::data_json(&Report {
                reason: "stage",
                stage: self.spec.name,
                state,
                key: key.to_owned(),
                counts,
                seconds: self.started.elapsed().as_secs_f64(),
            });
        }
    }
}
