//! A store of the whole chain, without running a stage.

use std::collections::BTreeMap;
use std::path::PathBuf;

use almanac_artifact::{ArtifactWriter, Digest, KeyParts, Ref, Store, Table};
use almanac_catalog::{PIPELINE, StageSpec};
use almanac_freshness::tree::{Tree, TreeRules};
use almanac_freshness::{Gaps, Identities, Plan, PlanInput, Reason, State, current_inputs, key_parts, plan};
use almanac_settings::{Settings, Sources};
use almanac_tables::{
    Chunk, Edge, Embedding, Entity, Explanation, File, Local, Module, Rank, Reference, Resolved, Summary,
    Text,
};
use tempfile::TempDir;

/// Changes what an artifact says it was built from, as if another version had built it.
type Alter<'a> = &'a dyn Fn(&str, &mut KeyParts);

/// A source tree, a store in which every stage is fresh, and the question that is asked about it.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) config: Option<PathBuf>,
    pub(crate) set: Vec<String>,
    pub(crate) forced: Vec<String>,
    pub(crate) verified: Vec<&'static str>,
    pub(crate) gaps: Gaps,
    pub(crate) with_tree: bool,
    pub(crate) model_digest: &'static str,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::altered(&|_, _| {})
    }

    pub(crate) fn altered(alter: Alter<'_>) -> Self {
        let bench = Self {
            folder: TempDir::new().unwrap(),
            config: None,
            set: Vec::new(),
            forced: Vec::new(),
            verified: Vec::new(),
            gaps: Gaps::Fill,
            with_tree: true,
            model_digest: "first",
        };
        for (path, text) in [("a.h", "int a();"), ("src/b.cpp", "int b;"), ("docs/c.md", "# C")] {
            bench.write(path, text);
        }
        bench.write_large(0);
        let store = Store::open_or_create(&bench.store_folder()).unwrap();
        for stage in PIPELINE {
            bench.build(&store, stage, alter);
        }
        bench
    }

    fn build(&self, store: &Store, stage: &'static StageSpec, alter: Alter<'_>) {
        let (settings, tree) = (self.settings(), self.tree());
        let model = |_: &str| Ok(self.model_digest.to_owned());
        let inputs = current_inputs(store, settings.profile(), stage).unwrap();
        let identities = Identities { tree: Some(&tree), model: &model, store };
        let mut parts = key_parts(stage, &settings, &inputs, &identities).unwrap();
        alter(stage.name, &mut parts);
        let mut writer = ArtifactWriter::begin(store, stage.artifact).unwrap();
        for table in stage.writes {
            write_rows(&mut writer, table.table, &tree);
        }
        std::fs::write(writer.staging().join("extra.bin"), [7; 64]).unwrap();
        writer.add_files().unwrap();
        let plan = parts.key();
        let artifact = writer.commit(parts, BTreeMap::new(), stage.partial, &"test").unwrap();
        let value = Ref {
            key: artifact.manifest().key,
            plan,
            complete: true,
            budget: None,
            failed: 0,
            poorly_grounded: 0,
        };
        store.write_ref("default", stage.artifact, &value).unwrap();
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    pub(crate) fn store_folder(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn store(&self) -> Store {
        Store::open(&self.store_folder()).unwrap()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A file that is too large to be read, `more` bytes above the limit and one.
    pub(crate) fn write_large(&self, more: u64) {
        let file = std::fs::File::create(self.root().join("large.dat")).unwrap();
        file.set_len(2_097_153 + more).unwrap();
    }

    fn settings(&self) -> Settings {
        let sources = Sources { profile: None, config_dir: self.config.clone(), set: self.set.clone() };
        Settings::load(&sources).unwrap()
    }

    fn tree(&self) -> Tree {
        let rules: TreeRules = self.settings().section("parse.params.tree").unwrap();
        Tree::scan(&self.root(), &rules, &self.store_folder()).unwrap()
    }

    pub(crate) fn change_ref(&self, stage: &str, change: impl FnOnce(&mut Ref)) {
        let (store, artifact) = (self.store(), artifact_of(stage));
        let mut value = store.read_ref("default", artifact).unwrap().unwrap();
        change(&mut value);
        store.write_ref("default", artifact, &value).unwrap();
    }

    /// Folder of the current artifact of a stage.
    pub(crate) fn artifact(&self, stage: &str) -> PathBuf {
        self.store().current("default", artifact_of(stage), stage).unwrap().folder().to_owned()
    }

    pub(crate) fn plan(&self) -> Plan {
        self.plan_of(Some(&self.store()))
    }

    pub(crate) fn plan_of(&self, store: Option<&Store>) -> Plan {
        let (settings, tree) = (self.settings(), self.tree());
        plan(&PlanInput {
            store,
            settings: &settings,
            tree: self.with_tree.then_some(&tree),
            model: &|_| Ok(self.model_digest.to_owned()),
            forced: &self.forced,
            verified: &self.verified,
            gaps: self.gaps,
        })
        .unwrap()
    }

    /// Everything is fresh.
    #[track_caller]
    pub(crate) fn is_fresh(&self) {
        let plan = self.plan();
        let stale: Vec<_> = plan.stages.iter().filter(|stage| stage.state != State::Fresh).collect();
        assert!(stale.is_empty() && plan.is_fresh(), "{stale:?}");
    }

    /// One stage is stale for exactly these reasons, and these others wait: `(stage, for which)`.
    #[track_caller]
    pub(crate) fn is_stale(&self, stage: &str, reasons: &[Reason], waiting: &[(&str, &str)]) {
        same(&self.plan(), stage, reasons, waiting);
    }
}

#[track_caller]
pub(crate) fn same(plan: &Plan, stage: &str, reasons: &[Reason], waiting: &[(&str, &str)]) {
    assert!(!plan.is_fresh());
    for planned in &plan.stages {
        let waits = waiting.iter().find(|(name, _)| *name == planned.stage);
        let (state, reasons) = match waits {
            Some((_, earlier)) => (State::Pending, vec![Reason::Waits { stage: (*earlier).to_owned() }]),
            None if planned.stage == stage => (State::Stale, reasons.to_vec()),
            None => (State::Fresh, Vec::new()),
        };
        assert_eq!((planned.state, &planned.reasons), (state, &reasons), "{}", planned.stage);
    }
}

fn artifact_of(stage: &str) -> &'static str {
    almanac_catalog::stage(stage).unwrap().artifact
}

/// Rows of a table: the files of the tree, of every other table none.
fn write_rows(writer: &mut ArtifactWriter, table: &str, tree: &Tree) {
    fn none<T: Table>(writer: &mut ArtifactWriter) {
        writer.write::<T>(Vec::new()).unwrap();
    }
    match table {
        "files" => {
            let digest = |digest: Option<Digest>| digest.map(|d| d.to_string()).unwrap_or_default();
            let row = |file: &almanac_freshness::tree::TreeFile| File {
                path: file.path.clone(),
                content_digest: digest(file.digest),
                bytes: file.bytes,
                ..File::default()
            };
            writer.write(tree.files.iter().map(row).collect()).unwrap();
        }
        "texts" => none::<Text>(writer),
        "entities" => none::<Entity>(writer),
        "references" => none::<Reference>(writer),
        "locals" => none::<Local>(writer),
        "edges" => none::<Edge>(writer),
        "modules" => none::<Module>(writer),
        "ranks" => none::<Rank>(writer),
        "resolved" => none::<Resolved>(writer),
        "explanations" => none::<Explanation>(writer),
        "summaries" => none::<Summary>(writer),
        "chunks" => none::<Chunk>(writer),
        "embeddings" => none::<Embedding>(writer),
        other => panic!("table {other} is not in this test"),
    }
}
