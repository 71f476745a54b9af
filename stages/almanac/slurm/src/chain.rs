//! The jobs of a run: which, how many tasks, what waits for what.

use crate::journal::{Job, JobKind, Required};
use crate::{Array, Result, Site, Sizing, split};

/// One stage to submit.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Name.
    pub name: &'static str,
    /// Parts of an array stage, each waiting for the one before; empty for a stage in one piece.
    pub parts: Vec<Part>,
    /// Arguments of every job of the stage.
    pub arguments: Vec<String>,
}

/// Records that can be made side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What distinguishes it from the stage's other parts; empty when there is one.
    pub level: &'static str,
    /// Records to make.
    pub records: u64,
    /// What one task makes in a minute.
    pub per_minute: f64,
}

/// What a chain is made from.
#[derive(Debug, Clone)]
pub struct ChainInput<'a> {
    /// The cluster.
    pub site: &'a Site,
    /// MaxArraySize in force.
    pub max_array_size: u32,
    /// Stages, in order.
    pub stages: Vec<Stage>,
}

/// Jobs in an order in which each comes after what it waits for.
pub type Chain = Vec<Job>;

/// Puts the stages into jobs, each waiting for all of the one before.
pub fn chain(input: &ChainInput<'_>) -> Result<Chain> {
    let mut jobs: Chain = Vec::new();
    let mut after: Vec<String> = Vec::new();
    let mut requires: Vec<Required> = Vec::new();
    for stage in &input.stages {
        for part in &stage.parts {
            let arrays = part_jobs(input, stage, part, &after, &requires)?;
            after = arrays.iter().map(|job| job.name.clone()).collect();
            requires = arrays
                .first()
                .map(|job| Required { name: job.label.clone(), count: job.shards })
                .into_iter()
                .collect();
            jobs.extend(arrays);
        }
        let last = last_job(input, stage, &after, &requires)?;
        after = vec![last.name.clone()];
        requires = vec![Required { name: last.label.clone(), count: 0 }];
        jobs.push(last);
    }
    Ok(jobs)
}

fn part_jobs(
    input: &ChainInput<'_>,
    stage: &Stage,
    part: &Part,
    after: &[String],
    requires: &[Required],
) -> Result<Vec<Job>> {
    let site = input.site;
    let place = site.stages.get(stage.name);
    let resources = site.resources_of(stage.name)?;
    let sizing = Sizing {
        records: part.records,
        per_minute: part.per_minute,
        target_minutes: place.and_then(|place| place.target_minutes).unwrap_or(60),
        max_tasks: if site.slurm.max_tasks == 0 { u32::MAX } else { site.slurm.max_tasks },
    };
    let shards = sizing.tasks();
    let label =
        if part.level.is_empty() { stage.name.to_owned() } else { format!("{}-{}", stage.name, part.level) };
    let arrays: Vec<Array> = split(shards, input.max_array_size);
    let several = arrays.len() > 1;
    let at_once = match site.slurm.max_running {
        0 => 0,
        most => (most / u32::try_from(arrays.len()).unwrap_or(1)).max(1),
    };
    let mut arguments = stage.arguments.clone();
    if !part.level.is_empty() {
        arguments.extend(["--level".to_owned(), part.level.to_owned()]);
    }
    let jobs = arrays.iter().enumerate().map(|(place, array)| Job {
        name: if several { format!("{label}-{}", place + 1) } else { label.clone() },
        label: label.clone(),
        stage: stage.name.to_owned(),
        kind: JobKind::Array,
        first: array.first,
        tasks: array.count,
        shards,
        at_once,
        records: part.records,
        gpus: resources.gpus,
        resources: kind_of(site, stage.name),
        arguments: arguments.clone(),
        after: after.to_vec(),
        requires: requires.to_vec(),
        id: None,
    });
    Ok(jobs.collect())
}

/// The stage itself, or the commit of what its arrays have made.
fn last_job(input: &ChainInput<'_>, stage: &Stage, after: &[String], requires: &[Required]) -> Result<Job> {
    let is_commit = !stage.parts.is_empty();
    let name = if is_commit { format!("{}-commit", stage.name) } else { stage.name.to_owned() };
    let mut arguments = stage.arguments.clone();
    // A commit generates nothing and needs no GPU.
    let resources = if is_commit { "cpu".to_owned() } else { kind_of(input.site, stage.name) };
    if is_commit {
        arguments.push("--commit-only".to_owned());
    }
    let gpus = if is_commit {
        input.site.resources.get("cpu").map_or(0, |resources| resources.gpus)
    } else {
        input.site.resources_of(stage.name)?.gpus
    };
    Ok(Job {
        name: name.clone(),
        label: name,
        stage: stage.name.to_owned(),
        kind: if is_commit { JobKind::Commit } else { JobKind::Single },
        first: 0,
        tasks: 1,
        shards: 1,
        at_once: 0,
        records: 0,
        gpus,
        resources,
        arguments,
        after: after.to_vec(),
        requires: requires.to_vec(),
        id: None,
    })
}

fn kind_of(site: &Site, stage: &str) -> String {
    site.stages.get(stage).map_or_else(|| "cpu".to_owned(), |place| place.resources.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(level: &'static str, records: u64) -> Part {
        Part { level, records, per_minute: 1.0 }
    }

    fn stage(name: &'static str, parts: Vec<Part>) -> Stage {
        Stage { name, parts, arguments: Vec::new() }
    }

    fn names(jobs: &[Job]) -> Vec<(&str, Vec<&str>)> {
        jobs.iter().map(|job| (job.name.as_str(), job.after.iter().map(String::as_str).collect())).collect()
    }

    fn chain_of(site: &str, max_array_size: u32, stages: Vec<Stage>) -> Chain {
        let site = Site::parse("test", site, "test").unwrap();
        chain(&ChainInput { site: &site, max_array_size, stages }).unwrap()
    }

    #[test]
    fn each_stage_waits_for_all_of_the_one_before() {
        let stages = vec![
            stage("parse", vec![]),
            stage("explain", vec![part("", 50)]),
            stage("entities", vec![part("files", 5), part("modules", 2), part("chains", 9)]),
            stage("index", vec![]),
        ];
        let jobs = chain_of("", 1001, stages);
        assert_eq!(
            names(&jobs),
            [
                ("parse", vec![]),
                ("explain", vec!["parse"]),
                ("explain-commit", vec!["explain"]),
                ("entities-files", vec!["explain-commit"]),
                ("entities-modules", vec!["entities-files"]),
                ("entities-chains", vec!["entities-modules"]),
                ("entities-commit", vec!["entities-chains"]),
                ("index", vec!["entities-commit"]),
            ]
        );
        assert_eq!(jobs[2].requires, [Required { name: "explain".to_owned(), count: 1 }]);
        assert_eq!(jobs[2].arguments, ["--commit-only"]);
        assert_eq!(jobs[3].arguments, ["--level", "files"]);
    }

    #[test]
    fn more_tasks_than_an_array_may_have_become_several_arrays() {
        let site = "[slurm]\nmax_running = 4\n[stages.explain]\ntarget_minutes = 10";
        let jobs = chain_of(site, 4, vec![stage("explain", vec![part("", 70)])]);
        assert_eq!(
            names(&jobs),
            [
                ("explain-1", vec![]),
                ("explain-2", vec![]),
                ("explain-3", vec![]),
                ("explain-commit", vec!["explain-1", "explain-2", "explain-3"]),
            ]
        );
        let shares: Vec<(u32, u32, u32)> =
            jobs[..3].iter().map(|job| (job.first, job.tasks, job.at_once)).collect();
        assert_eq!(shares, [(1, 3, 1), (4, 2, 1), (6, 2, 1)]);
        assert!(jobs[..3].iter().all(|job| job.shards == 7));
        assert_eq!(jobs[1].task_files(), ["explain.4", "explain.5"]);
        assert_eq!(jobs[3].requires, [Required { name: "explain".to_owned(), count: 7 }]);
    }
}
