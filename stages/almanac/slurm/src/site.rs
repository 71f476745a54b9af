//! What a cluster is like.

mod check;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Every default, and the documentation of every key.
const TEMPLATE: &str = include_str!("../../../../slurm/sites/template.toml");

/// The shipped sites: name and text.
pub const SHIPPED_SITES: &[(&str, &str)] = &[
    ("local", include_str!("../../../../slurm/sites/local.toml")),
    ("gwendolen", include_str!("../../../../slurm/sites/gwendolen.toml")),
    ("cscs", include_str!("../../../../slurm/sites/cscs.toml")),
    ("nersc", include_str!("../../../../slurm/sites/nersc.toml")),
];

/// A cluster and how this project runs on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Name it was asked for by.
    #[serde(default)]
    pub name: String,
    /// One line for people.
    pub description: String,
    /// What every job has in common.
    pub slurm: Common,
    /// What is around the command.
    pub environment: Environment,
    /// Kinds of job: `cpu` and `gpu`.
    pub resources: BTreeMap<String, Resources>,
    /// Where each stage runs.
    pub stages: BTreeMap<String, StageSite>,
}

/// What every job has in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Common {
    /// `--clusters`.
    pub clusters: String,
    /// `--account`.
    pub account: String,
    /// `--qos`.
    pub qos: String,
    /// `--reservation`.
    pub reservation: String,
    /// Further sbatch options.
    pub extra: Vec<String>,
    /// MaxArraySize; 0: the cluster is asked.
    pub max_array_size: u32,
    /// Most tasks of a stage.
    pub max_tasks: u32,
    /// Most tasks of a stage at once.
    pub max_running: u32,
    /// Seconds before the walltime's end at which a task is told.
    pub signal_seconds: u32,
    /// Times a task may be started again.
    pub max_requeues: u32,
}

/// What is around the command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Modules to load.
    pub modules: Vec<String>,
    /// Lines of shell to run before.
    pub setup: Vec<String>,
    /// Words before the command.
    pub launcher: Vec<String>,
    /// Folder of the binaries on the nodes.
    pub bin: String,
    /// The node's own disk.
    pub scratch: String,
    /// Variables of the jobs.
    pub variables: BTreeMap<String, String>,
}

/// What a kind of job asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Partition; empty: Slurm's default.
    pub partition: String,
    /// Walltime.
    pub time: String,
    /// CPUs of a task.
    pub cpus: u32,
    /// Memory of a task; empty: Slurm's default.
    pub memory: String,
    /// GPUs of a task.
    pub gpus: u32,
    /// How the site asks for them.
    pub request: Vec<String>,
    /// Further sbatch options.
    pub extra: Vec<String>,
}

/// Where a stage runs, and how an array of it is sized.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageSite {
    /// Kind of job.
    pub resources: String,
    /// What one task should take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_minutes: Option<u32>,
    /// What one task makes in a minute, before anything was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records_per_minute: Option<f64>,
}

impl Site {
    /// The site with this name: `<config>/sites/NAME.toml`, a shipped one, or a path to a file.
    pub fn load(name: &str, config: Option<&Path>) -> Result<Self> {
        let (name, text, origin) = find(name, config)?;
        Self::parse(&name, &text, &origin)
    }

    /// A site from its text; `origin` names it in errors.
    pub fn parse(name: &str, text: &str, origin: &str) -> Result<Self> {
        let given: toml::Table = text.parse().map_err(|source: toml::de::Error| Error::SiteSyntax {
            origin: origin.to_owned(),
            reason: source.to_string().trim_end().to_owned(),
        })?;
        let mut merged: toml::Table = TEMPLATE.parse().map_err(|source: toml::de::Error| {
            Error::SiteSyntax { origin: "template.toml".to_owned(), reason: source.to_string() }
        })?;
        check::merge(&mut merged, given, "", origin)?;
        let mut site: Self = merged.try_into().map_err(|source: toml::de::Error| Error::SiteSyntax {
            origin: origin.to_owned(),
            reason: source.to_string().trim_end().to_owned(),
        })?;
        site.name = name.to_owned();
        check::check(&site, origin)?;
        Ok(site)
    }

    /// What a stage's jobs ask for.
    pub fn resources_of(&self, stage: &str) -> Result<&Resources> {
        let wanted = self.stages.get(stage).map_or("cpu", |stage| stage.resources.as_str());
        self.resources.get(wanted).ok_or_else(|| Error::SiteValue {
            origin: self.name.clone(),
            key: format!("stages.{stage}.resources"),
            found: wanted.to_owned(),
            expected: "one of cpu, gpu".to_owned(),
        })
    }
}

impl Site {
    /// What sbatch reads from the environment, for jobs of a kind that are submitted by hand.
    pub fn variables(&self, kind: &str) -> Result<Vec<(&'static str, String)>> {
        let resources = self.resources.get(kind).ok_or_else(|| Error::SiteValue {
            origin: "--environment".to_owned(),
            key: "kind of job".to_owned(),
            found: format!("`{kind}`"),
            expected: "one of cpu, gpu".to_owned(),
        })?;
        let mut variables = vec![
            ("SBATCH_CLUSTERS", self.slurm.clusters.clone()),
            ("SBATCH_ACCOUNT", self.slurm.account.clone()),
            ("SBATCH_QOS", self.slurm.qos.clone()),
            ("SBATCH_RESERVATION", self.slurm.reservation.clone()),
            ("SBATCH_PARTITION", resources.partition.clone()),
            ("SBATCH_TIMELIMIT", resources.time.clone()),
        ];
        let known = [
            ("--gres=", "SBATCH_GRES"),
            ("--gpus=", "SBATCH_GPUS"),
            ("--gpus-per-task=", "SBATCH_GPUS_PER_TASK"),
            ("--gpus-per-node=", "SBATCH_GPUS_PER_NODE"),
            ("--constraint=", "SBATCH_CONSTRAINT"),
        ];
        for option in resources.request.iter().chain(&self.slurm.extra).chain(&resources.extra) {
            let found =
                known.iter().find_map(|(start, name)| Some((*name, option.strip_prefix(start)?.to_owned())));
            variables.extend(found);
        }
        variables.retain(|(_, value)| !value.is_empty());
        Ok(variables)
    }
}

/// Name, text and place of a site.
fn find(name: &str, config: Option<&Path>) -> Result<(String, String, String)> {
    let is_path = name.contains('/') || name.ends_with(".toml");
    let own = match (is_path, config) {
        (true, _) => Some(PathBuf::from(name)),
        (false, Some(config)) => Some(config.join("sites").join(format!("{name}.toml"))),
        (false, None) => None,
    };
    if let Some(path) = own {
        match fs_err::read_to_string(&path) {
            Ok(text) => {
                let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
                return Ok((stem.unwrap_or_default(), text, path.display().to_string()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !is_path => {}
            Err(source) => return Err(Error::SiteFile { path, source }),
        }
    }
    let shipped = SHIPPED_SITES.iter().find(|(shipped, _)| *shipped == name);
    let (name, text) = shipped.ok_or_else(|| {
        let known: Vec<&str> = SHIPPED_SITES.iter().map(|(name, _)| *name).collect();
        let hint = check::did_you_mean(name, known.iter().copied());
        Error::NoSite { name: name.to_owned(), hint: hint.unwrap_or_default(), known: known.join(", ") }
    })?;
    Ok(((*name).to_owned(), (*text).to_owned(), format!("site {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Site> {
        Site::parse("test", text, "test.toml")
    }

    #[test]
    fn every_shipped_site_is_valid_once_its_account_is_set() {
        for (name, text) in SHIPPED_SITES {
            let text = text.replace("CHANGE-ME", "physics");
            let site = Site::parse(name, &text, name).unwrap();
            for stage in ["parse", "graph", "explain", "entities", "embed", "index"] {
                site.resources_of(stage).unwrap();
            }
        }
    }

    #[test]
    fn an_example_that_was_not_adapted_is_refused() {
        let error = Site::load("nersc", None).unwrap_err().to_string();
        assert!(error.contains("slurm.account"), "{error}");
    }

    #[test]
    fn a_key_that_does_not_exist_names_the_nearest() {
        let error = parse("[slurm]\nacount = 'x'").unwrap_err();
        assert_eq!(error.to_string(), "test.toml: there is no `slurm.acount`");
        let help = miette::Diagnostic::help(&error).unwrap().to_string();
        assert!(help.contains("did you mean `account`?"), "{help}");
        assert!(parse("[resources.tpu]\ncpus = 1").is_err());
    }

    #[test]
    fn a_file_changes_only_what_it_names() {
        let site = parse("[resources.gpu]\npartition = 'a100'\n[environment.variables]\nX = 'y z'").unwrap();
        assert_eq!(site.resources["gpu"].partition, "a100");
        assert_eq!(site.resources["gpu"].request, ["--gres=gpu:1"]);
        assert_eq!(site.environment.variables["X"], "y z");
    }

    #[test]
    fn values_that_would_break_a_job_are_refused() {
        for text in [
            "[resources.cpu]\ncpus = 0",
            "[resources.cpu]\ntime = 'soon'",
            "[resources.cpu]\nmemory = '8 gigs'",
            "[resources.cpu]\ncpus = 'four'",
            "[slurm]\nextra = ['--array=1-3']",
            "[slurm]\nextra = ['constraint=gpu']",
            "[slurm]\nextra = [\"--mail-user=a\\nb\"]",
            "[stages.embed]\nresources = 'tpu'",
            "[stages.embed]\ntarget_minutes = 0",
            "[stages.parse]\ntarget_minutes = 10\nrecords_per_minute = 0.0",
            "[stages.embed]\nrecords_per_minute = -3.0",
            "[stages.embed]\nrecords_per_minute = nan",
            "[slurm]\nsignal_seconds = 999999",
            "[environment.variables]\n'A B' = '1'",
            "[environment]\nscratch = '$(rm -rf /)'",
            "[environment]\nmodules = [\"a\\nb\"]",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_site_for_jobs_by_hand_is_variables_of_sbatch() {
        let variables = Site::load("gwendolen", None).unwrap().variables("gpu").unwrap();
        for wanted in
            [("SBATCH_CLUSTERS", "gmerlin6"), ("SBATCH_PARTITION", "gwendolen"), ("SBATCH_GPUS", "1")]
        {
            assert!(variables.contains(&(wanted.0, wanted.1.to_owned())), "{variables:?}");
        }
        assert!(Site::load("local", None).unwrap().variables("tpu").is_err());
    }

    #[test]
    fn an_unknown_site_lists_those_there_are() {
        let error = Site::load("gwendolin", None).unwrap_err();
        let help = miette::Diagnostic::help(&error).unwrap().to_string();
        assert!(help.contains("did you mean `gwendolen`?") && help.contains("local"), "{help}");
    }
}
