//! The only place that reads the environment and what it says about the machine.

mod memory;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::Serialize;

use crate::{Error, Result};

/// Folder of the artifact store.
pub const STORE: &str = "ALMANAC_STORE";
/// Folder of the user's configuration.
pub const CONFIG: &str = "ALMANAC_CONFIG";
/// Folder of model files: another name for the setting `models.dir`.
pub const MODELS: &str = "ALMANAC_MODELS";
/// Filter of the diagnostic log, in the syntax of `tracing`.
pub const LOG: &str = "ALMANAC_LOG";

/// Variables that are not named after a setting.
pub(crate) const KNOWN: [&str; 4] = [STORE, CONFIG, MODELS, LOG];

/// Variables with this prefix belong to the tests.
const TEST_PREFIX: &str = "ALMANAC_TEST_";
const PREFIX: &str = "ALMANAC_";
const MIB: u64 = 1 << 20;
const SEPARATOR: &str = "__";

/// CPUs of a Slurm task.
pub const SLURM_CPUS_PER_TASK: &str = "SLURM_CPUS_PER_TASK";
/// Memory of a Slurm job on each node, in MiB.
pub const SLURM_MEM_PER_NODE: &str = "SLURM_MEM_PER_NODE";
/// Memory of a Slurm job for each CPU, in MiB.
pub const SLURM_MEM_PER_CPU: &str = "SLURM_MEM_PER_CPU";
/// CPUs of a Slurm job on this node.
pub const SLURM_CPUS_ON_NODE: &str = "SLURM_CPUS_ON_NODE";
/// The GPUs that CUDA shows to a process.
pub const CUDA_VISIBLE_DEVICES: &str = "CUDA_VISIBLE_DEVICES";
/// Slurm's id of the job; of an array task, an id of its own.
pub const SLURM_JOB_ID: &str = "SLURM_JOB_ID";
/// Id of the whole array.
pub const SLURM_ARRAY_JOB_ID: &str = "SLURM_ARRAY_JOB_ID";
/// Index of the task in its array.
pub const SLURM_ARRAY_TASK_ID: &str = "SLURM_ARRAY_TASK_ID";
/// Times the job was requeued.
pub const SLURM_RESTART_COUNT: &str = "SLURM_RESTART_COUNT";
/// Name of the cluster.
pub const SLURM_CLUSTER_NAME: &str = "SLURM_CLUSTER_NAME";

/// The Slurm job this process runs in: provenance, never part of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SlurmJob {
    /// Id of the job or array task.
    pub job_id: String,
    /// Id of the array, in an array.
    pub array_job_id: Option<String>,
    /// Index in the array, in an array.
    pub array_task_id: Option<u32>,
    /// Times the job was requeued.
    pub restarts: u32,
    /// Name of the cluster, if it has one.
    pub cluster: Option<String>,
}

/// Folder of the artifact store, from `ALMANAC_STORE`.
pub fn store_dir() -> Option<PathBuf> {
    path(STORE)
}

/// Folder of the user's configuration, from `ALMANAC_CONFIG`.
pub fn config_dir() -> Option<PathBuf> {
    path(CONFIG)
}

/// Filter of the diagnostic log, from `ALMANAC_LOG`.
pub fn log_filter() -> Option<String> {
    text(LOG)
}

/// The user's home folder.
pub fn home_dir() -> Option<PathBuf> {
    path("HOME")
}

/// The user's cache folder: `XDG_CACHE_HOME`, else `~/.cache`.
pub fn cache_dir() -> Option<PathBuf> {
    // The XDG specification tells readers to ignore a relative path.
    path("XDG_CACHE_HOME").filter(|path| path.is_absolute()).or_else(|| Some(home_dir()?.join(".cache")))
}

/// Threads this process may keep busy: the CPUs of the Slurm task, and never more than its CPU
/// affinity and cgroup quota allow.
pub fn job_threads() -> NonZeroUsize {
    let available = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    threads(available, text(SLURM_CPUS_PER_TASK).as_deref())
}

fn threads(available: NonZeroUsize, slurm_cpus_per_task: Option<&str>) -> NonZeroUsize {
    let given = slurm_cpus_per_task.and_then(|text| text.trim().parse().ok());
    given.map_or(available, |given: NonZeroUsize| given.min(available))
}

/// Memory this process may use, in bytes: the least of the machine's, the Slurm job's and the
/// cgroup limits (version 2 and 1). None where nothing says.
pub fn job_memory_bytes() -> Option<u64> {
    let cpus = text(SLURM_CPUS_PER_TASK).or_else(|| text(SLURM_CPUS_ON_NODE));
    let slurm = memory::of_slurm_job(
        text(SLURM_MEM_PER_NODE).as_deref(),
        text(SLURM_MEM_PER_CPU).as_deref(),
        cpus.as_deref(),
    );
    [memory::of_machine(), slurm, memory::of_cgroups()].into_iter().flatten().min()
}

/// Variables for each of `count` processes that share what this one was given: threads and memory in
/// equal parts, and a GPU each, in turns where there are fewer.
pub fn shares(count: NonZeroUsize) -> Vec<Vec<(&'static str, String)>> {
    let threads = (job_threads().get() / count).max(1);
    let memory = job_memory_bytes().map(|bytes| bytes / MIB / count.get() as u64);
    let gpus = visible_gpus();
    let share = |place: usize| {
        let mut variables = vec![(SLURM_CPUS_PER_TASK, threads.to_string())];
        variables.extend(memory.map(|memory| (SLURM_MEM_PER_NODE, memory.max(1).to_string())));
        let gpu = gpus.get(place % gpus.len().max(1));
        variables.extend(gpu.map(|gpu| (CUDA_VISIBLE_DEVICES, gpu.clone())));
        variables
    };
    (0..count.get()).map(share).collect()
}

/// The GPUs that this process may use, by the names that CUDA takes: those in CUDA_VISIBLE_DEVICES,
/// else all that NVIDIA's driver shows.
fn visible_gpus() -> Vec<String> {
    if let Ok(given) = std::env::var(CUDA_VISIBLE_DEVICES) {
        return given.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    }
    let devices = fs_err::read_dir("/dev").into_iter().flatten().flatten();
    let mut numbers: Vec<u32> = devices
        .filter_map(|device| device.file_name().to_str()?.strip_prefix("nvidia")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers.iter().map(u32::to_string).collect()
}

/// The Slurm job this process runs in, if it runs in one.
pub fn slurm_job() -> Option<SlurmJob> {
    Some(SlurmJob {
        job_id: text(SLURM_JOB_ID)?,
        array_job_id: text(SLURM_ARRAY_JOB_ID),
        array_task_id: text(SLURM_ARRAY_TASK_ID).and_then(|index| index.parse().ok()),
        restarts: text(SLURM_RESTART_COUNT).and_then(|count| count.parse().ok()).unwrap_or(0),
        cluster: text(SLURM_CLUSTER_NAME),
    })
}

/// Name of this machine.
pub fn host_name() -> Option<String> {
    let name = fs_err::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// The settings among this process's variables, for a process elsewhere that inherits none.
pub fn settings_to_hand_on() -> Result<Vec<(String, String)>> {
    settings_variables()
}

/// The variables that are settings, sorted by name, `ALMANAC_MODELS` before all others so that
/// `ALMANAC_MODELS__DIR`, its longer name, wins over it.
pub(crate) fn settings_variables() -> Result<Vec<(String, String)>> {
    let mut variables = Vec::new();
    for (name, value) in std::env::vars_os() {
        let variable = name.to_string_lossy();
        if !variable.starts_with(PREFIX)
            || variable.starts_with(TEST_PREFIX)
            || [STORE, CONFIG, LOG].contains(&variable.as_ref())
        {
            continue;
        }
        let variable = variable.into_owned();
        match value.into_string() {
            // An empty path is no path, as with the other variables that name folders.
            Ok(value) if variable == MODELS && value.is_empty() => {}
            Ok(value) => variables.push((variable, value)),
            Err(_) => return Err(Error::NotUnicode { variable }),
        }
    }
    variables.sort_by(|(a, _), (b, _)| (a != MODELS, a).cmp(&(b != MODELS, b)));
    Ok(variables)
}

/// Key of the setting a variable is named after.
pub(crate) fn key_of_variable(variable: &str) -> Option<String> {
    if variable == MODELS {
        return Some("models.dir".to_owned());
    }
    let name = variable.strip_prefix(PREFIX)?;
    name.contains(SEPARATOR).then(|| name.to_ascii_lowercase().replace(SEPARATOR, "."))
}

/// Name of the variable of a setting.
pub fn variable_of_key(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', SEPARATOR).to_ascii_uppercase())
}

fn text(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|text| !text.is_empty())
}

fn path(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads_of(available: usize, slurm: Option<&str>) -> usize {
        threads(NonZeroUsize::new(available).expect("not zero"), slurm).get()
    }

    #[test]
    fn threads_follow_the_job_within_the_machine() {
        assert_eq!(threads_of(8, None), 8);
        assert_eq!(threads_of(8, Some("4")), 4);
        assert_eq!(threads_of(2, Some("64")), 2);
        assert_eq!(threads_of(8, Some("0")), 8);
        assert_eq!(threads_of(8, Some("many")), 8);
    }

    #[test]
    fn variables_and_keys_are_named_after_each_other() {
        let variable = "ALMANAC_EXPLAIN__RUN__MAX_SECONDS";
        let key = "explain.run.max_seconds";
        assert_eq!(key_of_variable(variable).as_deref(), Some(key));
        assert_eq!(variable_of_key(key), variable);
        assert_eq!(key_of_variable("ALMANAC_MODELS").as_deref(), Some("models.dir"));
        assert_eq!(key_of_variable("ALMANAC_EXPLAIN_RUN_MAX_SECONDS"), None);
    }

    #[test]
    fn this_machine_has_memory_and_threads() {
        assert!(job_memory_bytes().is_some_and(|bytes| bytes > 1 << 20));
        assert!(job_threads().get() >= 1);
    }
}
