//! `almanac submit`: what `build` does on one machine, as jobs of a Slurm cluster.

pub(super) mod checks;
mod report;
mod work;

use std::path::{Path, PathBuf};

use almanac_artifact::Store;
use almanac_catalog::{PIPELINE, StageSpec, stage as stage_named};
use almanac_freshness::{Gaps, Plan, State};
use almanac_settings::environment;
use almanac_slurm::{ChainInput, Run, Script, Site, Slurm, Submission, chain, command_line, scripts, submit};
use almanac_stage::GlobalArguments;
use almanac_terminal::ExitStatus;
use clap::Args;

use super::build::TextLimits;
use crate::error::Error;
use crate::project::Project;

/// MaxArraySize assumed by a dry run where no cluster can be asked; Slurm's default.
const USUAL_ARRAY_SIZE: u32 = 1001;

/// Options of `submit`.
#[derive(Debug, Args)]
pub(crate) struct SubmitArguments {
    /// Top folder of the code to read
    #[arg(long, value_name = "TREE")]
    source: PathBuf,
    /// Cluster: local, gwendolen, cscs, nersc, the name of <config>/sites/NAME.toml, or a path
    #[arg(long, value_name = "SITE")]
    site: String,
    /// Print every script and command, and submit nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the site's options for this kind of job as variables of sbatch, and do nothing else
    #[arg(long, value_name = "cpu|gpu", conflicts_with = "dry_run")]
    environment: Option<String>,
    /// Run every stage, fresh or not; records in the ledgers are still reused
    #[arg(long)]
    clean: bool,
    /// With --clean: make every record anew; the old ledgers are moved aside in the store
    #[arg(long, requires = "clean")]
    forget_records: bool,
    /// Begin with this stage
    #[arg(long, value_name = "STAGE")]
    from: Option<String>,
    /// End with this stage
    #[arg(long, value_name = "STAGE")]
    until: Option<String>,
    /// Spend about this many hours of GPU on records, the most important first
    #[arg(long, value_name = "HOURS")]
    max_gpu_hours: Option<f64>,
    #[command(flatten)]
    limits: TextLimits,
}

pub(crate) fn run(global: &GlobalArguments, arguments: &SubmitArguments) -> miette::Result<ExitStatus> {
    for name in arguments.from.iter().chain(&arguments.until) {
        if stage_named(name).is_none() {
            return Err(Error::NoStage { name: name.clone() }.into());
        }
    }
    let assignments = arguments.limits.assignments();
    let mut project = Project::open(global, &assignments)?;
    let site = Site::load(&arguments.site, project.settings.config_dir())?;
    if let Some(kind) = &arguments.environment {
        for (name, value) in site.variables(kind)? {
            almanac_terminal::data(&format!("export {name}={}", command_line(&[value])));
        }
        return Ok(ExitStatus::Done);
    }
    let tree = project.scan(&arguments.source)?;
    project.store_folder = absolute(&project.store_folder);
    let wanted = wanted_stages(arguments);
    let forced: Vec<String> =
        wanted.iter().filter(|_| arguments.clean).map(|stage| stage.name.to_owned()).collect();
    let plan = project.plan(Some(&tree), &forced, &[], Gaps::Fill)?;
    let stages: Vec<&'static StageSpec> =
        wanted.into_iter().filter(|stage| state_of(&plan, stage) != State::Fresh).collect();
    if stages.is_empty() {
        return Ok(report::nothing(global));
    }
    let bin = bin_folder(&site)?;
    checks::inputs(&project, &stages)?;
    checks::models(&project, &stages)?;
    checks::binaries(&bin, &stages)?;

    let slurm = Slurm::new(&site.slurm.clusters);
    let max_array_size = array_size(&site, &slurm, arguments.dry_run)?;
    let words = stage_arguments(global, &assignments);
    let sizes = work::Sizes::new(&project, arguments, &site, &plan, &tree, &words, &bin);
    let jobs = chain(&ChainInput { site: &site, max_array_size, stages: sizes.stages(arguments, &stages) })?;
    let source = absolute(&arguments.source);
    let command = again(global, arguments, &project, &source);
    let mut run = Run::new(project.settings.profile(), &source, &site, command, jobs);
    let told = |run: &Run| -> Vec<work::Told> {
        stages.iter().filter_map(|stage| sizes.told(stage.name, &run.jobs)).collect()
    };
    let shared = Script {
        store: project.store_folder.clone(),
        site: &site,
        bin,
        arguments: words,
        variables: variables(&project)?,
        models: checks::model_folders(&project, &stages)?,
    };
    if arguments.dry_run {
        report::scripts(global, &run, &plan, &told(&run), &scripts(&shared, &run)?);
        return Ok(ExitStatus::Done);
    }
    let store = Store::open_or_create(&project.store_folder)?;
    let submission = Submission { store: &store, shared, slurm };
    let mut forget = || work::forget_records(&store, arguments.forget_records, &stages);
    submit(&submission, &mut run, &mut forget)?;
    report::submitted(global, &run, &store, &plan, &told(&run));
    Ok(ExitStatus::Done)
}

fn absolute(path: &Path) -> PathBuf {
    fs_err::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

/// The stages from `--from` to `--until`.
fn wanted_stages(arguments: &SubmitArguments) -> Vec<&'static StageSpec> {
    let place = |name: &Option<String>| {
        name.as_ref().and_then(|name| PIPELINE.iter().position(|stage| stage.name == name))
    };
    let first = place(&arguments.from).unwrap_or(0);
    let last = place(&arguments.until).unwrap_or(PIPELINE.len() - 1);
    PIPELINE
        .iter()
        .enumerate()
        .filter(|(at, _)| (first..=last).contains(at))
        .map(|(_, stage)| *stage)
        .collect()
}

fn state_of(plan: &Plan, stage: &StageSpec) -> State {
    plan.stages
        .iter()
        .find(|planned| planned.stage == stage.name)
        .map_or(State::Stale, |planned| planned.state)
}

/// Folder of the binaries on the nodes: the site's, or that of this program.
fn bin_folder(site: &Site) -> Result<PathBuf, Error> {
    if !site.environment.bin.is_empty() {
        return Ok(PathBuf::from(&site.environment.bin));
    }
    let own =
        std::env::current_exe().map_err(|source| Error::Child { path: PathBuf::from("almanac"), source })?;
    Ok(own.parent().map(Path::to_owned).unwrap_or_default())
}

fn array_size(site: &Site, slurm: &Slurm, dry_run: bool) -> almanac_slurm::Result<u32> {
    match (site.slurm.max_array_size, slurm.max_array_size()) {
        (0, Ok(size)) => Ok(size),
        // A dry run needs no cluster, a submission does: asked here, before anything is written.
        (0, Err(_)) if dry_run => Ok(USUAL_ARRAY_SIZE),
        (size, Err(_)) if dry_run => Ok(size),
        (_, Err(error)) => Err(error),
        (size, Ok(_)) => Ok(size),
    }
}

/// Settings for every stage. The models' folder is handed on as a variable, which a node's own disk
/// replaces.
fn stage_arguments(global: &GlobalArguments, assignments: &[String]) -> Vec<String> {
    let mut arguments = Vec::new();
    if let Some(profile) = &global.profile {
        arguments.extend(["--profile".to_owned(), profile.clone()]);
    }
    let config = global.config.clone().or_else(environment::config_dir);
    if let Some(config) = config {
        arguments.extend(["--config".to_owned(), absolute(&config).to_string_lossy().into_owned()]);
    }
    let set = global
        .set
        .iter()
        .chain(assignments)
        .filter(|text| text.split('=').next().map(str::trim) != Some("models.dir"));
    for assignment in set {
        arguments.extend(["--set".to_owned(), assignment.clone()]);
    }
    arguments.extend(["--color".to_owned(), "never".to_owned()]);
    arguments
}

/// Settings that came from the environment, for jobs that get none of it.
fn variables(project: &Project) -> miette::Result<Vec<(String, String)>> {
    let mut variables = environment::settings_to_hand_on()?;
    let models = absolute(project.models.folder()?);
    let (name, value) = (environment::variable_of_key("models.dir"), models.to_string_lossy().into_owned());
    variables.retain(|(other, _)| *other != name && other != environment::MODELS);
    variables.push((name, value));
    Ok(variables)
}

/// The command that continues after an accident. A clean start is not repeated.
fn again(global: &GlobalArguments, arguments: &SubmitArguments, project: &Project, source: &Path) -> String {
    let mut words = vec!["almanac".to_owned(), "submit".to_owned()];
    let mut push = |name: &str, value: String| words.extend([name.to_owned(), value]);
    push("--source", source.to_string_lossy().into_owned());
    let site = Path::new(&arguments.site);
    let site =
        if site.is_file() { absolute(site).to_string_lossy().into_owned() } else { arguments.site.clone() };
    push("--site", site);
    push("--store", project.store_folder.to_string_lossy().into_owned());
    if let Some(profile) = &global.profile {
        push("--profile", profile.clone());
    }
    if let Some(config) = global.config.clone().or_else(environment::config_dir) {
        push("--config", absolute(&config).to_string_lossy().into_owned());
    }
    for assignment in global.set.iter().chain(&arguments.limits.assignments()) {
        push("--set", assignment.clone());
    }
    if let Some(from) = &arguments.from {
        push("--from", from.clone());
    }
    if let Some(until) = &arguments.until {
        push("--until", until.clone());
    }
    if let Some(hours) = arguments.max_gpu_hours {
        push("--max-gpu-hours", hours.to_string());
    }
    command_line(&words)
}
