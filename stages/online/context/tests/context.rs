//! Contexts of tasks over the fixture library and over a repository made here.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use almanac_context::{
    Cache, ContextSettings, Detail, Error, LeftOut, Means, Package, ParseParams, Snapshot, Workspace,
    assemble,
};

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
    let snapshot = Snapshot::of_tree(folder, &params().tree, settings.history, &Cache::off()).unwrap();
    of(snapshot, task, settings)
}

fn of(snapshot: Snapshot, task: &str, settings: &ContextSettings) -> Package {
    let mut workspace = Workspace::new();
    let view = workspace.view(Rc::new(snapshot), settings).unwrap();
    assemble(task, &workspace, &view, &means(settings, &params())).unwrap()
}

fn means<'a>(settings: &'a ContextSettings, params: &'a ParseParams) -> Means<'a> {
    Means { settings, params, count: &count, tokenizer: "characters", explained: None }
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
        Snapshot::of_commit(self.path(), commit, &params().tree, settings().history, &Cache::off()).unwrap()
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
        let missing = package.omitted.iter().filter(|one| one.what == LeftOut::File).count();
        let said = package.cards.len() + missing;
        assert_eq!(said, package.files.len(), "at {budget}");
    }
    let tiny = ContextSettings { budget_tokens: 99, ..settings() };
    let snapshot = Snapshot::of_tree(&picolib(), &params().tree, 0, &Cache::off()).unwrap();
    let mut workspace = Workspace::new();
    let view = workspace.view(Rc::new(snapshot), &tiny).unwrap();
    let of = |task| assemble(task, &workspace, &view, &means(&tiny, &params())).unwrap_err();
    assert!(matches!(of("a task"), Error::Budget { budget: 99, .. }));
    assert!(matches!(of("  \n"), Error::EmptyTask));
}

/// Counters that differ in how texts add up: by characters, by words, and by runs of one kind of
/// character, which join across borders and, every eighth, split.
const COUNTERS: [fn(&str) -> usize; 3] = [count, words, runs];

fn words(text: &str) -> usize {
    text.split_whitespace().map(|word| word.len().div_ceil(3)).sum()
}

fn runs(text: &str) -> usize {
    let kind = |c: char| (c.is_alphanumeric(), c.is_whitespace(), if c.is_alphanumeric() { ' ' } else { c });
    let (mut found, mut last) = (0, None);
    for (at, c) in text.chars().enumerate() {
        found += usize::from(last != Some(kind(c)) || at % 8 == 7);
        last = Some(kind(c));
    }
    found
}

#[test]
fn any_budget_holds_to_the_token_whatever_counts() {
    let base = settings();
    let snapshot = Snapshot::of_tree(&picolib(), &params().tree, 0, &Cache::off()).unwrap();
    let mut workspace = Workspace::new();
    let view = workspace.view(Rc::new(snapshot), &base).unwrap();
    let parameters = params();
    let task = "Ghost cells of a field are not filled by fillHalo when the mesh is periodic";
    let config = proptest::test_runner::Config { cases: 60, ..Default::default() };
    let runner = proptest::test_runner::TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let strategy = (0..COUNTERS.len(), 500..=100_000usize, 0.0..=1.0f64, proptest::bool::ANY, 1..80usize);
    let check = |(which, budget, share, metadata_first, listed)| {
        let mut settings = base.clone();
        // As many small budgets as large ones.
        settings.budget_tokens = if budget % 2 == 0 { 500 + budget / 40 } else { budget };
        settings.card_share = share;
        settings.listed = listed;
        settings.parts.metadata_first = metadata_first;
        let count: fn(&str) -> usize = COUNTERS[which];
        let means = Means {
            settings: &settings,
            params: &parameters,
            count: &count,
            tokenizer: "test",
            explained: None,
        };
        let package = assemble(task, &workspace, &view, &means).unwrap();
        proptest::prop_assert!(package.context_tokens <= settings.budget_tokens);
        proptest::prop_assert_eq!(package.context_tokens, count(&package.context));
        for card in &package.cards {
            let name = card.path.rsplit('/').next().unwrap();
            proptest::prop_assert!(package.context.contains(name), "{} has a card", card.path);
        }
        Ok(())
    };
    let mut runner = runner;
    runner.run(&strategy, check).unwrap();
}

#[test]
fn cards_come_before_source_and_small_budgets_show_the_tree_more_coarsely() {
    let task = "Ghost cells of a field are not filled by fillHalo";
    let mut settings = settings();
    let of = |budget, settings: &mut ContextSettings| {
        settings.budget_tokens = budget;
        of_tree(&picolib(), task, settings)
    };
    let (small, large) = (of(500, &mut settings), of(8000, &mut settings));
    assert!(small.granularity < large.granularity);
    assert!(small.cards.iter().any(|card| card.detail == Detail::Name), "{:?}", small.cards);
    let (files, source) = (large.context.find("# Files").unwrap(), large.context.find("# Source").unwrap());
    assert!(files < source);
    // Coverage before detail: every ranked file is named, and only some are shown.
    assert_eq!(large.cards.len(), large.files.len());
    assert!(large.cards.iter().any(|card| card.detail == Detail::Metadata));
    let shown = large.cards.iter().find(|card| card.path == "src/Field/Field.hpp").unwrap();
    assert!(shown.has_source && shown.cues.contains(&"fillHalo".to_owned()), "{shown:?}");
    assert!(shown.neighbours.iter().any(|one| one.path == "src/Field/Field.h"), "{shown:?}");
    // What is of little use stays a card, and that is said.
    settings.promotion.partial = 2.0;
    settings.promotion.full = 2.0;
    let cards_only = of(8000, &mut settings);
    assert!(!cards_only.context.contains("# Source"));
    let said = cards_only.omitted.iter().filter(|one| one.what == LeftOut::Source).count();
    assert_eq!(said, cards_only.cards.len());
    // Without metadata first, text of the first files takes the room of the others' cards.
    settings.parts.metadata_first = false;
    let full_first = of(1500, &mut settings);
    assert_eq!(full_first.cards[0].detail, Detail::Full);
    assert!(full_first.cards.len() < cards_only.cards.len());
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
    let missing =
        Snapshot::of_commit(repository.path(), "--output=x", &params().tree, 10, &Cache::off()).unwrap_err();
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
        let shared = assemble(task, &workspace, &view, &means(&settings, &params())).unwrap();
        let fresh = of(repository.at(commit), task, &settings);
        assert_eq!((shared.files, shared.context), (fresh.files, fresh.context), "{commit}");
    }
}
