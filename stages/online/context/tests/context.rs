//! Contexts of tasks over the fixture library and over a repository made here.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use almanac_context::{ContextSettings, Error, Package, ParseParams, Snapshot, Workspace, assemble};

fn defaults() -> toml::Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/defaults.toml");
    std::fs::read_to_string(path).unwrap().parse().unwrap()
}

fn settings() -> ContextSettings {
    defaults()["context"].clone().try_into().unwrap()
}

fn params() -> ParseParams {
    defaults()["parse"]["params"].clone().try_into().unwrap()
}

fn picolib() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/picolib")
}

fn count(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

fn of_tree(folder: &Path, task: &str, settings: &ContextSettings) -> Package {
    let snapshot = Snapshot::of_tree(folder, &params().tree, settings.history).unwrap();
    of(snapshot, task, settings)
}

fn of(snapshot: Snapshot, task: &str, settings: &ContextSettings) -> Package {
    let mut workspace = Workspace::new();
    let view = workspace.view(Rc::new(snapshot), settings).unwrap();
    assemble(task, &workspace, &view, settings, &params(), &count).unwrap()
}

/// A repository with a history in which `solver.cpp` and `input.yaml` change together.
struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    fn new() -> Self {
        let made = Self { folder: tempfile::tempdir().unwrap() };
        made.git(&["init", "-q", "-b", "main"]);
        made.write("src/solver.h", "#pragma once\ndouble relax(double omega);\n");
        made.write("src/solver.cpp", "#include \"solver.h\"\ndouble relax(double omega) { return omega; }\n");
        made.write("src/mesh.cpp", "int cells() { return 8; }\n");
        made.write("deck/input.yaml", "steps: 10\n");
        made.write("README.md", "# Demo\n");
        made.commit("Begin");
        for step in 0..3 {
            made.write(
                "src/solver.cpp",
                &format!("#include \"solver.h\"\ndouble relax(double omega) {{ return {step} * omega; }}\n"),
            );
            made.write("deck/input.yaml", &format!("steps: 2{step}\n"));
            made.commit("Tune the sweeps");
        }
        made
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn git(&self, arguments: &[&str]) {
        let run = Command::new("git")
            .arg("-C")
            .arg(self.path())
            .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn at(&self, commit: &str) -> Snapshot {
        Snapshot::of_commit(self.path(), commit, &params().tree, settings().history).unwrap()
    }
}

#[test]
fn header_and_implementation_come_together() {
    let package = of_tree(&picolib(), "Ghost cells of a field are not filled by fillHalo", &settings());
    let first: Vec<&str> = package.files.iter().take(4).map(String::as_str).collect();
    assert!(first.contains(&"src/Field/Field.h"), "{first:?}");
    assert!(first.contains(&"src/Field/Field.hpp"), "{first:?}");
    let named = package.entities.iter().any(|entity| entity.name.ends_with("fillHalo"));
    assert!(named, "{:?}", package.entities);
}

#[test]
fn the_budget_is_never_exceeded_and_what_is_left_out_is_said() {
    for budget in [100, 500, 777, 1500, 8000, 100_000] {
        let settings = ContextSettings { budget_tokens: budget, ..settings() };
        let package = of_tree(&picolib(), "Add a preconditioner to the conjugate gradient solver", &settings);
        assert!(package.context_tokens <= budget, "{} > {budget}", package.context_tokens);
        assert_eq!(package.context_tokens, count(&package.context));
        let said = package.cards.len() + package.omitted.len();
        assert_eq!(said, package.files.len(), "at {budget}");
    }
    let tiny = ContextSettings { budget_tokens: 99, ..settings() };
    let snapshot = Snapshot::of_tree(&picolib(), &params().tree, 0).unwrap();
    let mut workspace = Workspace::new();
    let view = workspace.view(Rc::new(snapshot), &tiny).unwrap();
    let of = |task| assemble(task, &workspace, &view, &tiny, &params(), &count).unwrap_err();
    assert!(matches!(of("a task"), Error::Budget { budget: 99, .. }));
    assert!(matches!(of("  \n"), Error::EmptyTask));
}

#[test]
fn files_that_changed_together_are_related() {
    let repository = Repository::new();
    let task = "relax must check omega";
    let with = of(repository.at("HEAD"), task, &settings());
    assert_eq!(with.commit.as_ref().map(String::len), Some(40));
    let related = with.relations.iter().find(|one| one.to == "deck/input.yaml").expect("relation");
    assert_eq!((related.from.as_str(), related.kind.as_str()), ("src/solver.cpp", "co_change"));
    // The first commit brought both, too.
    assert_eq!(related.evidence, "changed together 4 times");
    let mut without = settings();
    without.parts.organisational = false;
    let without = of(repository.at("HEAD"), task, &without);
    assert!(!without.files.contains(&"deck/input.yaml".to_owned()), "{:?}", without.files);
}

#[test]
fn a_commit_is_read_as_it_was_and_nothing_later() {
    let repository = Repository::new();
    repository.write("src/secret.cpp", "double relax_twice(double omega);\n");
    repository.commit("relax omega twice in the secret file");
    repository.git(&["mv", "src/solver.cpp", "src/relaxation.cpp"]);
    repository.commit("Rename");
    let task = "relax omega twice";
    let old = of(repository.at("HEAD~2"), task, &settings());
    assert!(old.files.contains(&"src/solver.cpp".to_owned()));
    assert!(!old.files.iter().any(|path| path.contains("secret") || path.contains("relaxation")));
    let new = of(repository.at("HEAD"), task, &settings());
    assert!(new.files.contains(&"src/relaxation.cpp".to_owned()));
    assert!(!new.files.contains(&"src/solver.cpp".to_owned()));
    // The working tree, as it is committed, gives what its commit gives.
    let tree = of_tree(repository.path(), task, &settings());
    assert_eq!((tree.files, tree.context), (new.files, new.context));
    let missing = Snapshot::of_commit(repository.path(), "--output=x", &params().tree, 10).unwrap_err();
    assert!(missing.to_string().contains("there is no commit `--output=x`"), "{missing}");
}

#[test]
fn a_second_snapshot_gives_what_a_fresh_workspace_gives() {
    let repository = Repository::new();
    repository.write("src/mesh.cpp", "int cells() { return 16; } // relax omega\n");
    repository.git(&["rm", "-q", "README.md"]);
    repository.commit("Edit and delete");
    let mut workspace = Workspace::new();
    let settings = settings();
    for commit in ["HEAD~1", "HEAD", "HEAD~2"] {
        let view = workspace.view(Rc::new(repository.at(commit)), &settings).unwrap();
        let task = "relax omega over the cells of a mesh";
        let shared = assemble(task, &workspace, &view, &settings, &params(), &count).unwrap();
        let fresh = of(repository.at(commit), task, &settings);
        assert_eq!((shared.files, shared.context), (fresh.files, fresh.context), "{commit}");
    }
}
