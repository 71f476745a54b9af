//! A real Slurm for the tests of this program: started with the first, ended with the process.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use almanac_tests::{Bench, Run, repository_root};
use serde_json::Value;

use crate::tiny_models;

/// Longest wait for a run; a signal before the walltime and a requeue take their time.
const LONGEST: Duration = Duration::from_secs(300);

/// A cluster of two nodes with two processors each, whose arrays may have three tasks.
pub(crate) struct Cluster {
    folder: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

fn script() -> PathBuf {
    repository_root().join("tests/slurm/cluster.sh")
}

/// Starts the cluster once. A shell that waits for this process to end stops it, whatever ends it.
fn start() -> PathBuf {
    let process = std::process::id();
    let folder = std::env::temp_dir().join(format!("almanac-slurm-{process}"));
    let port = 20_000 + process % 100 * 300;
    let status = Command::new("bash")
        .arg(script())
        .arg("up")
        .arg(&folder)
        .env("CLUSTER_PORT", port.to_string())
        .env("CLUSTER_EXTRA", "MaxArraySize=4")
        .stdout(Stdio::null())
        .status()
        .expect("bash starts");
    assert!(status.success(), "no test cluster: run `bash tests/run.sh`, which installs Slurm");
    let wait = "while kill -0 \"$1\" 2>/dev/null; do sleep 0.5; done; bash \"$2\" down \"$3\"; rm -rf \"$3\"";
    Command::new("bash")
        .args(["-c", wait, "wait", &process.to_string()])
        .args([&script(), &folder])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("bash starts");
    tiny_models::write(&folder.join("config"));
    folder
}

/// The cluster, for one test at a time.
pub(crate) fn cluster() -> Cluster {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let cluster = Cluster { folder: FOLDER.get_or_init(start).clone(), _alone: alone };
    // A test that failed may have left jobs.
    cluster.slurm("scancel", &["--user=root"]);
    cluster.wait_for("an empty queue", || cluster.slurm("squeue", &["-h"]).is_empty());
    cluster
}

impl Cluster {
    /// The settings that lead every Slurm program here.
    pub(crate) fn conf(&self) -> PathBuf {
        self.folder.join("slurm.conf")
    }

    /// The configuration folder with the tests' own models.
    pub(crate) fn config(&self) -> PathBuf {
        self.folder.join("config")
    }

    /// Output of a Slurm program.
    pub(crate) fn slurm(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .args(arguments)
            .env("SLURM_CONF", self.conf())
            .output()
            .expect("Slurm is installed");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Settings of the tests' own models: `tiny`, or the `slow` one for what is to be disturbed.
    pub(crate) fn models(&self, language_model: &str) -> Vec<String> {
        let config = self.config().to_string_lossy().into_owned();
        [vec!["--config".to_owned(), config], tiny_models::settings(language_model).to_vec()].concat()
    }

    /// `almanac` against this cluster, not started.
    pub(crate) fn command(&self, bench: &Bench, language_model: &str, arguments: &[&str]) -> Command {
        let mut command = bench.command("almanac", arguments);
        command.args(self.models(language_model)).arg("--json").env("SLURM_CONF", self.conf());
        command
    }

    /// Runs `almanac` against this cluster.
    pub(crate) fn almanac(&self, bench: &Bench, arguments: &[&str]) -> Run {
        Run::from(self.command(bench, "tiny", arguments).output().expect("the binary starts"))
    }

    /// `almanac build` with the same models on this machine.
    pub(crate) fn build(&self, bench: &Bench, max_records: u32, arguments: &[&str]) -> Run {
        let models = self.models("tiny");
        let arguments: Vec<&str> =
            models.iter().map(String::as_str).chain(arguments.iter().copied()).collect();
        bench.build(max_records, &arguments)
    }

    /// `almanac submit` with a limit on records and a site of its own.
    pub(crate) fn submit(&self, bench: &Bench, site: &str, max_records: u32, arguments: &[&str]) -> Run {
        self.submit_with("tiny", bench, site, max_records, arguments)
    }

    /// The same, with another language model.
    pub(crate) fn submit_with(
        &self,
        language_model: &str,
        bench: &Bench,
        site: &str,
        max_records: u32,
        arguments: &[&str],
    ) -> Run {
        let path = bench.path("site.toml");
        fs_err::write(&path, site).unwrap();
        let tree = bench.tree();
        let limit = max_records.to_string();
        let mut all = vec!["submit", "--source", tree.to_str().unwrap(), "--site", path.to_str().unwrap()];
        all.extend(["--max-records", &limit, "--set", "explain.run.flush_records=1"]);
        all.extend(arguments);
        Run::from(self.command(bench, language_model, &all).output().expect("the binary starts"))
    }

    /// The newest run as `status` sees it.
    pub(crate) fn newest(&self, bench: &Bench) -> Value {
        self.almanac(bench, &["status"]).exits(0).json()["cluster"][0].clone()
    }

    /// Waits until nothing of the newest run is in the queue any more.
    pub(crate) fn wait(&self, bench: &Bench) -> Value {
        let mut newest = Value::Null;
        self.wait_for("the run to end", || {
            std::thread::sleep(Duration::from_millis(300));
            newest = self.newest(bench);
            newest["is_over"] == true
        });
        newest
    }

    /// Waits for a condition.
    pub(crate) fn wait_for(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let deadline = Instant::now() + LONGEST;
        while !condition() {
            assert!(
                Instant::now() < deadline,
                "waited too long for {what}:\n{}",
                self.slurm("squeue", &["-r"])
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Kills a node's daemon as a crash would.
    pub(crate) fn kill_node_daemon(&self, node: &str) {
        let process = fs_err::read_to_string(self.folder.join(format!("slurmd-{node}.pid"))).unwrap();
        assert!(Command::new("kill").args(["-9", process.trim()]).status().unwrap().success());
    }

    /// Starts a node's daemon again.
    pub(crate) fn start_node_daemon(&self, node: &str) {
        let mut command = Command::new("bash");
        command.arg(script()).arg("start-node").arg(&self.folder).arg(node);
        assert!(command.stdout(Stdio::null()).status().unwrap().success());
    }
}

/// A job of a run.
pub(crate) fn job<'a>(run: &'a Value, name: &str) -> &'a Value {
    let jobs = run["jobs"].as_array().unwrap_or_else(|| panic!("no jobs in {run}"));
    jobs.iter().find(|job| job["name"] == name).unwrap_or_else(|| panic!("no job {name} in {run}"))
}

/// Whether a folder of Slurm's programs is missing from this PATH.
pub(crate) fn path_without_slurm(folder: &Path) -> String {
    fs_err::create_dir_all(folder).unwrap();
    folder.to_string_lossy().into_owned()
}
