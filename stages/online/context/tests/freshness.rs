//! A package from a warm cache is the package of a cold one, whatever happened to the tree in between.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use almanac_context::{
    Cache, ContextSettings, Explained, Means, Package, ParseParams, Snapshot, StoreState, Workspace, assemble,
};

const TASKS: [&str; 3] = [
    "Ghost cells of a field are not filled by fillHalo when the mesh is periodic",
    "Add a preconditioner to the conjugate gradient solver",
    "relax omega in the renamed file",
];

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

fn count(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

/// A clone of the fixture library under version control, and a cache beside it.
struct Clone {
    folder: tempfile::TempDir,
}

impl Clone {
    fn new() -> Self {
        let made = Self { folder: tempfile::tempdir().unwrap() };
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/picolib");
        let mut pending = vec![fixture.clone()];
        while let Some(folder) = pending.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    pending.push(path);
                } else {
                    let to = made.tree().join(path.strip_prefix(&fixture).unwrap());
                    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                    std::fs::copy(path, to).unwrap();
                }
            }
        }
        made.git(&["init", "-q", "-b", "main"]);
        made.commit("Begin");
        made
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn git(&self, arguments: &[&str]) {
        let run = Command::new("git")
            .arg("-C")
            .arg(self.tree())
            .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.tree().join(path), text).unwrap();
    }

    fn append(&self, path: &str, text: &str) {
        let old = std::fs::read_to_string(self.tree().join(path)).unwrap();
        self.write(path, &(old + text));
    }

    fn cache(&self) -> Cache {
        Cache::of(&self.folder.path().join("cache"), &self.tree(), "settings", 1 << 30)
    }

    /// A process of its own, as far as what is kept goes.
    fn packages(&self, cache: &Cache) -> Vec<Package> {
        let (settings, params) = (settings(), params());
        let mut workspace = Workspace::of_cache(cache);
        let snapshot = Snapshot::of_tree(&self.tree(), &params.tree, settings.history, cache).unwrap();
        let view = workspace.view(Rc::new(snapshot), &settings).unwrap();
        let means = Means {
            settings: &settings,
            params: &params,
            count: &count,
            tokenizer: "characters",
            explained: None,
        };
        let packages = TASKS.map(|task| assemble(task, &workspace, &view, &means).unwrap());
        workspace.keep(&view, cache);
        packages.into()
    }

    /// The warm packages, which must be those of a cold call.
    fn check(&self, step: &str) -> Vec<Package> {
        let warm = self.packages(&self.cache());
        let cold = self.packages(&Cache::off());
        for (warm, cold) in warm.iter().zip(&cold) {
            assert_eq!(as_json(warm), as_json(cold), "{step}: {}", warm.task);
        }
        warm
    }
}

fn as_json(package: &Package) -> String {
    serde_json::to_string_pretty(package).unwrap()
}

#[test]
fn whatever_happens_to_the_tree_a_warm_package_is_the_cold_one() {
    let clone = Clone::new();
    let begun = clone.check("begin");
    assert_eq!(begun[0].state.changed_files, Some(0));
    clone.check("again");

    clone.append("src/Field/Field.hpp", "\n// relax omega: ghost cells of renamed files\n");
    let edited = clone.check("edit");
    assert_eq!(edited[0].state.changed_files, Some(1));
    assert_ne!(as_json(&begun[2]), as_json(&edited[2]), "an edit shows");
    // Once more within the grain of the clock, to the same length.
    let text = std::fs::read_to_string(clone.tree().join("src/Field/Field.hpp")).unwrap();
    clone.write("src/Field/Field.hpp", &text.replace("relax omega", "RELAX OMEGb"));
    clone.check("edit of the same length");

    clone.write("src/Field/Relaxation.h", "#pragma once\ndouble relax(double omega);\n");
    let added = clone.check("add");
    assert!(added[2].files.contains(&"src/Field/Relaxation.h".to_owned()), "{:?}", added[2].files);

    clone.commit("Relax with omega");
    clone.check("commit");
    clone.git(&["checkout", "-q", "-b", "other"]);
    clone.git(&["mv", "src/Field/Relaxation.h", "src/Field/Renamed.h"]);
    let renamed = clone.check("rename");
    assert!(renamed[2].files.contains(&"src/Field/Renamed.h".to_owned()));
    assert!(!renamed[2].files.contains(&"src/Field/Relaxation.h".to_owned()));

    clone.git(&["rm", "-q", "-f", "src/Field/Field.h"]);
    let deleted = clone.check("delete");
    assert!(!deleted[0].files.contains(&"src/Field/Field.h".to_owned()));
    clone.commit("Rename and delete");
    clone.check("commit of a deletion");

    clone.git(&["checkout", "-q", "main"]);
    let switched = clone.check("switch");
    assert!(switched[0].files.contains(&"src/Field/Field.h".to_owned()));
    clone.git(&["checkout", "-q", "other"]);
    let back = clone.check("switch back");
    assert_eq!(as_json(&back[0]), as_json(&clone.packages(&Cache::off())[0]));
}

#[test]
fn what_a_store_says_is_marked_stale_where_the_file_has_changed() {
    let clone = Clone::new();
    let tree = almanac_freshness::tree::Tree::scan(&clone.tree(), &params().tree, Path::new("")).unwrap();
    let mut explained = Explained::default();
    for file in tree.files {
        let line = file.path.ends_with("Field.hpp").then(|| "Fills ghost cells.".to_owned());
        explained.add(file.path, file.digest.unwrap().to_string(), line);
    }
    let ask = |clone: &Clone| {
        let (settings, params) = (settings(), params());
        let mut workspace = Workspace::new();
        let snapshot = Snapshot::of_tree(&clone.tree(), &params.tree, 10, &Cache::off()).unwrap();
        let view = workspace.view(Rc::new(snapshot), &settings).unwrap();
        let means = Means {
            settings: &settings,
            params: &params,
            count: &count,
            tokenizer: "characters",
            explained: Some(&explained),
        };
        assemble(TASKS[0], &workspace, &view, &means).unwrap()
    };
    let explanation = |package: &Package| {
        let card = package.cards.iter().find(|card| card.path == "src/Field/Field.hpp").unwrap();
        card.explanation.clone().unwrap()
    };
    let same = ask(&clone);
    assert!(
        !explanation(&same).is_stale && same.context.contains("  Fills ghost cells.;"),
        "{}",
        same.context
    );
    assert_eq!(same.state.store, Some(StoreState::default()));
    clone.append("src/Field/Field.hpp", "// changed\n");
    clone.write("src/Field/New.h", "#pragma once\n");
    std::fs::remove_file(clone.tree().join("src/Field/Field.h")).unwrap();
    let changed = ask(&clone);
    assert!(explanation(&changed).is_stale && changed.context.contains("Fills ghost cells. (stale"));
    assert_eq!(changed.state.store, Some(StoreState { changed: 1, added: 1, deleted: 1 }));
}

#[test]
fn a_cache_that_is_damaged_changes_nothing() {
    let clone = Clone::new();
    let first = clone.check("begin");
    let folder = clone.folder.path().join("cache");
    let tree = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    for name in ["changes", "contents", "symbols"] {
        let path = tree.join(name);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x55;
        std::fs::write(&path, bytes).unwrap();
    }
    let second = clone.check("damaged");
    assert_eq!(as_json(&first[1]), as_json(&second[1]));
}

#[test]
fn a_tree_without_history_is_answered_and_that_is_said() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/picolib");
    let alone = tempfile::tempdir().unwrap();
    std::fs::copy(fixture.join("CMakeLists.txt"), alone.path().join("CMakeLists.txt")).unwrap();
    let snapshot = Snapshot::of_tree(alone.path(), &params().tree, 100, &Cache::off()).unwrap();
    let settings = settings();
    let mut workspace = Workspace::new();
    let view = workspace.view(Rc::new(snapshot), &settings).unwrap();
    let params = params();
    let means = Means {
        settings: &settings,
        params: &params,
        count: &count,
        tokenizer: "characters",
        explained: None,
    };
    let package = assemble("Build the library", &workspace, &view, &means).unwrap();
    assert_eq!((package.state.commit, package.state.changed_files), (None, None));
    let said = &package.state.diagnostics;
    assert!(said.len() == 1 && said[0].starts_with("no history takes part: git status failed"), "{said:?}");
}
