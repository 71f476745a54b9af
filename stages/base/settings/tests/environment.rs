//! Settings from a real environment. A process cannot change its own safely, so the test runs
//! itself again in another one.

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;

use almanac_settings::{Origin, Settings, Sources, environment};

const IN_CHILD: &str = "ALMANAC_TEST_IN_CHILD";
const VARIABLE: &str = "ALMANAC_EXPLAIN__RUN__MAX_SECONDS";

#[test]
fn variables_reach_the_settings() {
    if std::env::var_os(IN_CHILD).is_some() {
        check_in_child();
        return;
    }
    let test = std::env::current_exe().expect("a test program has a path");
    let output = Command::new(test)
        .args(["--exact", "variables_reach_the_settings"])
        .env(IN_CHILD, "1")
        .env(VARIABLE, "7")
        .env("ALMANAC_MODELS", "/data/models")
        .env("ALMANAC_STORE", "/data/store")
        .env("ALMANAC_LOG", "")
        .env("SLURM_JOB_ID", "4711")
        .env("SLURM_ARRAY_JOB_ID", "4700")
        .env("SLURM_ARRAY_TASK_ID", "3")
        .env("CUDA_VISIBLE_DEVICES", "3,GPU-7f")
        .env("SLURM_CPUS_PER_TASK", "1")
        .env("SLURM_MEM_PER_NODE", "64")
        .output()
        .expect("the test can run itself");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

fn check_in_child() {
    let settings = Settings::load(&Sources::default()).expect("valid");
    let key = "explain.run.max_seconds";
    assert_eq!(settings.section::<u64>(key).expect("a number"), 7);
    let origin = Origin::Environment { variable: VARIABLE.to_owned() };
    assert_eq!(settings.origin(key), Some(&origin));
    assert_eq!(settings.models_dir().expect("set"), Path::new("/data/models"));

    assert_eq!(environment::store_dir().as_deref(), Some(Path::new("/data/store")));
    assert_eq!(environment::log_filter(), None);
    assert_eq!(environment::job_threads().get(), 1);
    assert!(environment::job_memory_bytes().is_some_and(|bytes| bytes <= 64 << 20));
    let three = NonZeroUsize::new(3).expect("not zero");
    let share = |gpu: &str| {
        let of = [("SLURM_CPUS_PER_TASK", "1"), ("SLURM_MEM_PER_NODE", "21"), ("CUDA_VISIBLE_DEVICES", gpu)];
        of.map(|(name, value)| (name, value.to_owned())).to_vec()
    };
    assert_eq!(environment::shares(three), [share("3"), share("GPU-7f"), share("3")]);
    let job = environment::slurm_job().expect("in a job");
    assert_eq!((job.job_id.as_str(), job.array_task_id, job.restarts), ("4711", Some(3), 0));
}
