//! The sbatch script of a job.

use std::path::{Path, PathBuf};

use minijinja::{Environment, UndefinedBehavior, context};
use serde::Serialize;

use crate::journal::{Job, JobKind, Run};
use crate::quote::{check, command_line, directive, pattern, shell};
use crate::{Error, Result, Site};

const TEMPLATE: &str = include_str!("../../../../slurm/job.sbatch.j2");
const TASK_SH: &str = include_str!("../../../../slurm/task.sh");

/// Variables of the submitting shell that jobs get; nothing else of it is handed on.
const EXPORTED: &str = "HOME,LANG,LOGNAME,PATH,USER,XDG_CACHE_HOME";

/// What all scripts of a run share.
#[derive(Debug, Clone)]
pub struct Script<'a> {
    /// Folder of the store, absolute.
    pub store: PathBuf,
    /// The cluster.
    pub site: &'a Site,
    /// Folder of the binaries.
    pub bin: PathBuf,
    /// Arguments of every stage: settings, profile, configuration.
    pub arguments: Vec<String>,
    /// Variables of every job: settings that came from the environment, the folder of models.
    pub variables: Vec<(String, String)>,
    /// Folders of the models that a stage loads, for the node's own disk.
    pub models: Vec<(String, Vec<PathBuf>)>,
}

#[derive(Serialize)]
struct Variable {
    name: String,
    value: String,
}

/// Renders the script of one job.
pub(crate) fn render(shared: &Script<'_>, run: &Run, job: &Job) -> Result<String> {
    let folder = run.folder(&shared.store);
    let command = command(shared, job)?;
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    let failed = |source| Error::Template { job: job.name.clone(), source };
    let template = environment.template_from_str(TEMPLATE).map_err(failed)?;
    let is_array = job.kind == JobKind::Array;
    let site = &shared.site.environment;
    let models: Vec<String> = shared
        .models
        .iter()
        .filter(|(stage, _)| *stage == job.stage && job.kind != JobKind::Commit)
        .flat_map(|(_, folders)| folders.iter().map(|folder| text(folder)))
        .map(|folder| shell(&folder))
        .collect();
    let values = context! {
        login => !site.modules.is_empty(),
        title => format!("Run {} of Almanac, job {}", run.id, job.name),
        directives => directives(shared, run, job)?,
        tasks_folder => shell(&checked("the store's path", &folder.join("tasks"))?),
        name => shell(&job.label),
        first => is_array.then_some(job.first),
        shards => job.shards,
        max_requeues => shared.site.slurm.max_requeues,
        task_sh => TASK_SH,
        requires => job.requires,
        setup => setup(shared.site),
        variables => variables(shared)?,
        scratch => site.scratch,
        models => models,
        launcher => command_line(&site.launcher),
        command => command,
    };
    template.render(values).map_err(failed)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn checked(what: &'static str, path: &Path) -> Result<String> {
    let path = text(path);
    check(what, &path)?;
    Ok(path)
}

fn setup(site: &Site) -> Vec<String> {
    let modules = site.environment.modules.iter().map(|module| format!("module load {module}"));
    modules.chain(site.environment.setup.iter().cloned()).collect()
}

fn variables(shared: &Script<'_>) -> Result<Vec<Variable>> {
    let own = shared.site.environment.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
    own.chain(shared.variables.iter().cloned())
        .map(|(name, value)| {
            check("a variable", &value)?;
            Ok(Variable { name, value: shell(&value) })
        })
        .collect()
}

/// The stage's command line; the task's share is added by the template.
fn command(shared: &Script<'_>, job: &Job) -> Result<String> {
    let binary = checked("the binaries' path", &shared.bin.join(format!("almanac-{}", job.stage)))?;
    let store = checked("the store's path", &shared.store)?;
    let mut words = vec![binary, "run".to_owned(), "--store".to_owned(), store];
    words.extend(shared.arguments.iter().cloned());
    words.extend(job.arguments.iter().cloned());
    for word in &words {
        check("an argument", word)?;
    }
    Ok(command_line(&words))
}

fn directives(shared: &Script<'_>, run: &Run, job: &Job) -> Result<Vec<String>> {
    let site = shared.site;
    let folder = run.folder(&shared.store);
    let folder_text = checked("the store's path", &folder)?;
    let resources = match site.resources.get(&job.resources) {
        Some(resources) => resources,
        None => site.resources_of(&job.stage)?,
    };
    let mut options = vec![
        format!("--job-name={}", job.queue_name(&run.id)),
        format!("--comment=almanac run={} stage={} records={}", run.id, job.stage, job.records),
        format!("--chdir={folder_text}"),
    ];
    let log = if job.kind == JobKind::Array { "%A_%a" } else { "%j" };
    options.push(format!("--output={}/logs/{}-{log}.log", pattern(&folder_text)?, job.name));
    // A requeued task goes on in the same log.
    options.push("--open-mode=append".to_owned());
    options.push("--requeue".to_owned());
    options.push("--kill-on-invalid-dep=yes".to_owned());
    options.push(format!("--export={EXPORTED}"));
    options.push(format!("--signal=B:USR1@{}", site.slurm.signal_seconds));
    options.push("--nodes=1".to_owned());
    options.push("--ntasks=1".to_owned());
    options.push(format!("--cpus-per-task={}", resources.cpus));
    options.push(format!("--time={}", resources.time));
    if !resources.memory.is_empty() {
        options.push(format!("--mem={}", resources.memory));
    }
    let named = [
        ("clusters", &site.slurm.clusters),
        ("partition", &resources.partition),
        ("account", &site.slurm.account),
        ("qos", &site.slurm.qos),
        ("reservation", &site.slurm.reservation),
    ];
    options.extend(
        named.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("--{name}={value}")),
    );
    if job.kind == JobKind::Array {
        let limit = if job.at_once == 0 { String::new() } else { format!("%{}", job.at_once) };
        options.push(format!("--array=1-{}{limit}", job.tasks));
    }
    options.extend(resources.request.iter().cloned());
    options.extend(site.slurm.extra.iter().cloned());
    options.extend(resources.extra.iter().cloned());
    Ok(options.iter().map(|option| directive(option)).collect())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::{ChainInput, Part, Stage, chain};

    /// Scripts of a run with everything that is hard to quote.
    fn scripts(site: &str, store: &str) -> Result<Vec<(String, String)>> {
        let site = Site::parse("test", site, "test")?;
        let part = Part { level: "", records: 50, per_minute: 1.0 };
        let stages = vec![
            Stage {
                name: "parse",
                parts: vec![],
                arguments: vec!["--source".to_owned(), "/src/it's $HOME".to_owned()],
            },
            Stage { name: "explain", parts: vec![part], arguments: vec![] },
        ];
        let jobs = chain(&ChainInput { site: &site, max_array_size: 1001, stages })?;
        let run = Run::new("default", Path::new("/src"), &site, String::new(), jobs);
        let shared = Script {
            store: PathBuf::from(store),
            site: &site,
            bin: PathBuf::from("/opt/two words/bin"),
            arguments: vec!["--set".to_owned(), "explain.params.kinds=[\"class\"]".to_owned()],
            variables: vec![("ALMANAC_MODELS__DIR".to_owned(), "/models/a b".to_owned())],
            models: vec![("explain".to_owned(), vec![PathBuf::from("/models/a b/tiny")])],
        };
        run.jobs.iter().map(|job| Ok((job.name.clone(), render(&shared, &run, job)?))).collect()
    }

    const SITE: &str = "[slurm]\nmax_running = 3\naccount = 'physics'\n\
        [environment]\nmodules = ['gcc/12']\nsetup = ['ulimit -c 0']\nlauncher = ['srun', '--label=x y']\nscratch = '$TMPDIR'\n\
        [stages.explain]\ntarget_minutes = 10\n[resources.gpu]\npartition = 'a100'";

    #[test]
    fn scripts_are_bash_that_shellcheck_has_nothing_against() {
        let folder = tempfile::TempDir::new().unwrap();
        for (name, text) in scripts(SITE, "/store/50% of \"it\"").unwrap() {
            let path = folder.path().join(name);
            fs_err::write(&path, &text).unwrap();
            assert!(Command::new("bash").arg("-n").arg(&path).status().unwrap().success(), "{text}");
            // Where it is installed, as `tests/run.sh` does.
            if let Ok(output) = Command::new("shellcheck").arg("--severity=warning").arg(&path).output() {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            }
        }
    }

    #[test]
    fn a_script_holds_the_site_and_the_run() {
        let scripts = scripts(SITE, "/store/50% of \"it\"").unwrap();
        let (_, explain) = &scripts[1];
        for line in [
            "#!/bin/bash -l",
            "#SBATCH --array=1-5%3",
            "#SBATCH --account=physics",
            "#SBATCH --partition=a100",
            "#SBATCH --gres=gpu:1",
            "#SBATCH --signal=B:USR1@180",
            "almanac_require parse",
            "module load gcc/12 || { almanac_note failed 69; exit 69; }",
            "export ALMANAC_MODELS__DIR='/models/a b'",
            "almanac_disk=$(set +u; printf %s \"$TMPDIR\")",
            "almanac_scratch=$almanac_disk/almanac-$(almanac_job)",
            "export ALMANAC_MODELS__DIR=$almanac_scratch",
        ] {
            assert!(explain.lines().any(|found| found == line), "no `{line}` in\n{explain}");
        }
        assert!(explain.contains("/logs/explain-%A_%a.log"), "{explain}");
        assert!(explain.contains("\"--output=/store/50%% of \\\"it\\\"/runs/"), "{explain}");
        assert!(explain.contains(
            "almanac_run srun '--label=x y' '/opt/two words/bin/almanac-explain' run --store '/store/50% of \"it\"' \
             --set 'explain.params.kinds=[\"class\"]' --shard \"$almanac_task/5\""
        ), "{explain}");
        let (_, parse) = &scripts[0];
        assert!(parse.contains("--source '/src/it'\\''s $HOME'") && !parse.contains("--shard"), "{parse}");
        let (_, commit) = &scripts[2];
        assert!(
            commit.contains("\nalmanac_require explain 5\n") && commit.contains("--commit-only"),
            "{commit}"
        );
    }

    #[test]
    fn what_cannot_be_quoted_is_refused() {
        for store in ["/two\nlines", "/back\\slash", "/bell\u{7}"] {
            assert!(matches!(scripts("", store), Err(Error::Unquotable { .. })), "{store:?}");
        }
    }
}
