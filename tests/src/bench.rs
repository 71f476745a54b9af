//! One test's folder: a source tree, a store, and ways to run the binaries on them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use almanac_artifact::{Artifact, Digest, Store, Table};
use serde_json::Value;
use tempfile::TempDir;

/// Top folder of the repository.
pub fn repository_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the repository").to_owned()
}

/// A binary of this build: beside the folder of the test's own executable.
pub fn binary(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a running test has a path");
    let folder = own.ancestors().nth(2).expect("target/release/deps/test");
    let path = folder.join(name);
    assert!(path.is_file(), "{} is not built; run `bash tests/run.sh`", path.display());
    path
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Run {
    /// Exit code; -1 for a signal.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Run {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Fails the test unless the command ended with this code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error}):\n{}\n{}", self.stdout, self.stderr))
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self::of(output)
    }
}

/// Settings that make the small model's part short: what is tested is the path, not the prose.
const SHORT_TEXTS: &[&str] = &[
    "explain.params.context_tokens=160",
    "explain.params.max_tokens=16",
    "entities.params.context_tokens=260",
    "entities.params.max_tokens=16",
];

/// A folder with a source tree and a store.
pub struct Bench {
    folder: TempDir,
}

impl Bench {
    /// A bench with an empty tree.
    pub fn empty() -> Self {
        let bench = Self { folder: TempDir::new().expect("a temporary folder") };
        fs_err::create_dir(bench.tree()).expect("an empty tree");
        bench
    }

    /// A bench with a copy of the fixture library.
    pub fn with_picolib() -> Self {
        let bench = Self::empty();
        copy_folder(&repository_root().join("tests/fixtures/picolib"), &bench.tree());
        bench
    }

    /// A bench with copies of another's tree and store.
    pub fn copy_of(other: &Self) -> Self {
        let bench = Self { folder: TempDir::new().expect("a temporary folder") };
        copy_folder(other.folder.path(), bench.folder.path());
        bench
    }

    /// The source tree.
    pub fn tree(&self) -> PathBuf {
        self.folder.path().join("picolib")
    }

    /// The store's folder.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Another path of this bench.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces the first `old` in a file of the tree.
    pub fn edit(&self, path: &str, old: &str, new: &str) {
        let path = self.tree().join(path);
        let text = fs_err::read_to_string(&path).expect("a file of the tree");
        assert!(text.contains(old), "{} does not contain `{old}`", path.display());
        fs_err::write(&path, text.replacen(old, new, 1)).expect("the file can be written");
    }

    /// A command on this store, not started.
    pub fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary(program));
        // After the subcommand, before what the test sets itself: the last one counts.
        let (subcommand, rest) = arguments.split_at(1.min(arguments.len()));
        command.args(subcommand);
        for assignment in SHORT_TEXTS {
            command.args(["--set", assignment]);
        }
        command.args(rest).arg("--store").arg(self.store()).arg("--no-progress");
        command.env_remove("ALMANAC_STORE").env_remove("ALMANAC_CONFIG").stdin(Stdio::null());
        command
    }

    /// Runs a command on this store.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Run {
        Run::of(self.command(program, arguments).output().expect("the binary starts"))
    }

    /// `almanac build` with a limit on generated records.
    pub fn build(&self, max_records: u32, arguments: &[&str]) -> Run {
        Run::of(self.build_command(max_records, arguments).output().expect("the binary starts"))
    }

    /// The same, not started.
    pub fn build_command(&self, max_records: u32, arguments: &[&str]) -> Command {
        let mut command = self.command("almanac", &["build", "--json"]);
        command.arg("--source").arg(self.tree());
        command.args(["--max-records", &max_records.to_string()]).args(arguments);
        command
    }

    /// Starts a command in the background, output thrown away.
    pub fn start(command: &mut Command) -> Child {
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts")
    }

    /// The current artifact with this name.
    pub fn artifact(&self, name: &str) -> Artifact {
        Store::open(&self.store()).expect("a store").current("default", name, "").expect("an artifact")
    }

    /// Rows of a table of a current artifact.
    pub fn rows<T: Table>(&self, artifact: &str) -> Vec<T> {
        self.artifact(artifact).read().expect("a readable table")
    }

    /// Digest of every file of the current artifacts, but for provenance: what must be the same
    /// however the store came about.
    pub fn artifact_bytes(&self) -> BTreeMap<String, Digest> {
        let mut digests = BTreeMap::new();
        for stage in almanac_catalog::PIPELINE {
            let artifact = self.artifact(stage.artifact);
            for (path, bytes) in files_below(artifact.folder()) {
                if path != "provenance.json" {
                    digests.insert(format!("{}/{path}", stage.artifact), Digest::of_bytes(&bytes));
                }
            }
        }
        digests
    }

    /// The newest run record of a stage.
    pub fn last_run(&self, stage: &str) -> Value {
        let mut names: Vec<PathBuf> = fs_err::read_dir(self.store().join("runs"))
            .expect("run records")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.to_string_lossy().contains(&format!("-{stage}-")))
            .collect();
        names.sort();
        let newest = names.last().unwrap_or_else(|| panic!("{stage} never ran"));
        serde_json::from_slice(&fs_err::read(newest).expect("a record")).expect("a JSON record")
    }

    /// Records made by all runs of a stage together, failed ones too, as its run records count them.
    pub fn made(&self, stage: &str) -> u64 {
        let infix = format!("-{stage}-");
        let entries = fs_err::read_dir(self.store().join("runs")).expect("run records");
        entries
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.is_file() && path.to_string_lossy().contains(&infix))
            .map(|path| {
                let text = fs_err::read(path).expect("a readable run record");
                serde_json::from_slice::<Value>(&text).expect("a run record")
            })
            .flat_map(|record| {
                ["generated", "failed_now"].map(|count| record["counts"][count].as_u64().expect("a count"))
            })
            .sum()
    }

    /// Number of run records of a stage.
    pub fn runs(&self, stage: &str) -> usize {
        let Ok(entries) = fs_err::read_dir(self.store().join("runs")) else { return 0 };
        let infix = format!("-{stage}-");
        entries.flatten().filter(|entry| entry.file_name().to_string_lossy().contains(&infix)).count()
    }
}

fn copy_folder(from: &Path, to: &Path) {
    for (path, bytes) in files_below(from) {
        let target = to.join(path);
        fs_err::create_dir_all(target.parent().expect("a file has a folder")).expect("a folder");
        fs_err::write(target, bytes).expect("a copy");
    }
}

fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(current) = pending.pop() {
        for entry in fs_err::read_dir(&current).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("below").to_string_lossy().into_owned();
                files.push((name, fs_err::read(&path).expect("a file")));
            }
        }
    }
    files
}
