//! The three levels, what their prompts contain, and the walk over them.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use almanac_artifact::Shard;
use almanac_entities::{Params, Plan, Prompts, Sources};
use almanac_inference::{
    Completion, FinishReason, FlushPolicy, GenerateRequest, GenerationCounts, GenerationLimits,
    GenerationProgress, LanguageModel, LazyModel, ModelIdentity, OpenLedger, PromptTemplate,
};
use almanac_tables::{
    ArtifactRole, Edge, EdgeKind, Entity, EntityKind, Explanation, File, FileStatus, GenerationRecord,
    Imported, Module, Rank, RecordStatus, SourceType, Summary, Text, file_node, folder_node,
};

const DEFAULTS: &str = include_str!("../../../config/defaults.toml");

fn params() -> Params {
    let defaults: toml::Table = DEFAULTS.parse().unwrap();
    defaults["entities"]["params"].clone().try_into().unwrap()
}

fn prompts() -> Prompts {
    let parse = |mode, text| PromptTemplate::parse(mode, text).unwrap();
    Prompts {
        file: parse("file_level", include_str!("../../../config/prompts/file_level.md")),
        file_fallback: parse(
            "file_level_fallback",
            include_str!("../../../config/prompts/file_level_fallback.md"),
        ),
        module: parse("module_level", include_str!("../../../config/prompts/module_level.md")),
        call_chain: parse("call_chain", include_str!("../../../config/prompts/call_chain.md")),
    }
}

fn identity() -> ModelIdentity {
    ModelIdentity { name: "tiny".into(), digest: "0123".into() }
}

/// Answers that its role is `tells about X` where X is the first line of the prompt, and keeps the prompts.
struct Echo {
    identity: ModelIdentity,
    asked: &'static Mutex<Vec<String>>,
}

impl LanguageModel for Echo {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn context_length(&self) -> usize {
        8192
    }

    fn count_tokens(&self, text: &str) -> almanac_inference::Result<usize> {
        Ok(text.split_whitespace().count())
    }

    fn generate_streaming(
        &self,
        request: &GenerateRequest,
        _on_text: &mut dyn FnMut(&str),
    ) -> almanac_inference::Result<Completion> {
        self.asked.lock().unwrap().push(request.user.clone());
        let about = request.user.lines().next().unwrap_or_default();
        assert!(request.schema.is_some(), "summaries are structured");
        let answer =
            serde_json::json!({"role": format!("tells about {about}."), "does": "It says more here."});
        let text = answer.to_string();
        let finish = FinishReason::Stop;
        Ok(Completion { text, prompt_tokens: 9, completion_tokens: 6, seconds: 0.0, finish })
    }
}

#[derive(Default)]
struct Rows {
    files: Vec<File>,
    texts: Vec<Text>,
    entities: Vec<Entity>,
    edges: Vec<Edge>,
    modules: Vec<Module>,
    ranks: Vec<Rank>,
    explanations: Vec<Explanation>,
}

impl Rows {
    fn file(&mut self, path: &str, source_type: SourceType, role: ArtifactRole, text: &str) {
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned();
        let status = FileStatus::Parsed;
        self.files.push(File { path: path.into(), source_type, role, folder, status, ..File::default() });
        self.texts.push(Text { path: path.into(), text: text.into() });
    }

    fn function(&mut self, id: &str, path: &str, comment: &str) {
        self.entities.push(Entity {
            id: id.into(),
            path: path.into(),
            kind: EntityKind::FunctionDefinition,
            name: id.into(),
            qualified_name: format!("pic::{id}"),
            namespace: "pic".into(),
            signature: format!("void {id}()"),
            leading_comment: comment.into(),
            is_definition: true,
            ..Entity::default()
        });
    }

    fn edge(&mut self, kind: EdgeKind, source: &str, target: &str) {
        let (source, target) = (source.into(), target.into());
        self.edges.push(Edge { kind, source, target, confidence: 1.0, count: 1, ..Edge::default() });
    }

    fn folder(&mut self, name: &str, parent: &str, files: &[&str], submodules: &[&str]) {
        self.modules.push(Module {
            id: folder_node(name),
            name: name.into(),
            parent: if parent.is_empty() { String::new() } else { folder_node(parent) },
            files: files.iter().map(|path| (*path).to_owned()).collect(),
            submodules: submodules.iter().map(|name| folder_node(name)).collect(),
            descendant_files: files.len() as u32,
            ..Module::default()
        });
    }

    fn sources(&self) -> Sources<'_> {
        Sources {
            files: &self.files,
            texts: &self.texts,
            entities: &self.entities,
            edges: &self.edges,
            modules: &self.modules,
            ranks: &self.ranks,
            explanations: &self.explanations,
        }
    }
}

/// `src/push.cpp` includes and calls `src/field/field.h`; `CMakeLists.txt` has no symbols.
fn tree() -> Rows {
    use ArtifactRole::{Build, Library, Vendored};
    let mut rows = Rows::default();
    rows.file("CMakeLists.txt", SourceType::Build, Build, "project(pic)\nadd_subdirectory(src)\n");
    rows.file("ext/json.h", SourceType::Header, Vendored, "void parse() {}\n");
    rows.file("src/field/field.h", SourceType::Header, Library, "void gather() {}\n");
    rows.file("src/push.cpp", SourceType::Source, Library, "void push() { gather(); }\n");
    rows.function("parse", "ext/json.h", "");
    rows.function("gather", "src/field/field.h", "Interpolates the field to the particles. Slow.");
    rows.function("push", "src/push.cpp", "");
    rows.entities[0].role = Vendored;
    rows.edge(EdgeKind::Calls, "push", "gather");
    rows.edge(EdgeKind::Includes, &file_node("src/push.cpp"), &file_node("src/field/field.h"));
    rows.folder(".", "", &["CMakeLists.txt"], &["ext", "src"]);
    rows.folder("ext", ".", &["ext/json.h"], &[]);
    rows.folder("src", ".", &["src/push.cpp"], &["src/field"]);
    rows.folder("src/field", "src", &["src/field/field.h"], &[]);
    rows.explanations.push(Explanation {
        entity_id: "push".into(),
        text: "Role: moves the particles. How: leapfrog.".into(),
        ..Explanation::default()
    });
    let rank = |node: &str, score| Rank { node: node.into(), score, ..Rank::default() };
    rows.ranks = vec![
        rank("gather", 0.3),
        rank(&file_node("src/field/field.h"), 0.2),
        rank(&file_node("src/push.cpp"), 0.1),
    ];
    rows
}

struct Run {
    counts: GenerationCounts,
    asked: Vec<String>,
}

fn ledger(folder: &Path) -> OpenLedger<GenerationRecord> {
    let policy = FlushPolicy { records: 1, interval: Duration::from_secs(9) };
    OpenLedger::open(folder, policy).unwrap()
}

fn run(rows: &Rows, folder: &Path, most: usize, shard: Shard) -> Run {
    run_unless(false, rows, folder, most, shard)
}

fn run_unless(interrupted: bool, rows: &Rows, folder: &Path, most: usize, shard: Shard) -> Run {
    let (params, prompts) = (params(), prompts());
    let plan = Plan::new(&rows.sources(), &prompts, &identity(), &params, &Imported::none());
    let asked: &'static Mutex<Vec<String>> = Box::leak(Box::default());
    let load = move || -> almanac_inference::Result<Box<dyn LanguageModel>> {
        Ok(Box::new(Echo { identity: identity(), asked }))
    };
    let mut model = LazyModel::new(identity(), load);
    let interrupted = AtomicBool::new(interrupted);
    let limits = GenerationLimits {
        shard,
        deadline: None,
        in_flight: 1,
        retry_failed: false,
        interrupted: &interrupted,
    };
    let mut ledger = ledger(folder);
    let mut last = (0, usize::MAX);
    let mut progress = |now: GenerationProgress<'_>| {
        assert!(now.done >= last.0 && now.total <= last.1, "{now:?} after {last:?}");
        last = (now.done, now.total);
    };
    let counts = plan.generate(most, &mut model, &mut ledger, &limits, &mut progress).unwrap();
    assert_eq!(last.0, counts.generated);
    let asked = asked.lock().unwrap().clone();
    Run { counts, asked }
}

fn summaries(rows: &Rows, folder: &Path) -> Vec<Summary> {
    let (params, prompts) = (params(), prompts());
    let plan = Plan::new(&rows.sources(), &prompts, &identity(), &params, &Imported::none());
    plan.project(ledger(folder).records()).unwrap()
}

fn by_id<'a>(summaries: &'a [Summary], id: &str) -> &'a Summary {
    summaries.iter().find(|summary| summary.id == id).unwrap()
}

fn first_lines(run: &Run) -> Vec<&str> {
    run.asked.iter().map(|prompt| prompt.lines().next().unwrap()).collect()
}

#[test]
fn levels_run_in_order_and_deep_folders_first() {
    let folder = tempfile::tempdir().unwrap();
    let run = run(&tree(), folder.path(), usize::MAX, Shard::WHOLE);
    let expected = [
        "File: src/field/field.h",
        "File: src/push.cpp",
        "File: CMakeLists.txt",
        "Folder: src/field",
        "Folder: src",
        "Folder: .",
        "Function: pic::gather",
        "Function: pic::push",
    ];
    assert_eq!(first_lines(&run), expected);
    assert_eq!((run.counts.wanted, run.counts.generated, run.counts.waiting), (8, 8, 0));
    let ledger = ledger(folder.path());
    let mut subjects: Vec<&str> = ledger.records().iter().map(|record| record.subject.as_str()).collect();
    subjects.sort_unstable();
    let expected = [
        ".",
        "CMakeLists.txt",
        "pic::gather",
        "pic::push",
        "src",
        "src/field",
        "src/field/field.h",
        "src/push.cpp",
    ];
    assert_eq!(subjects, expected, "what people see of the work");
}

#[test]
fn an_interrupted_walk_counts_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_unless(true, &tree(), folder.path(), usize::MAX, Shard::WHOLE);
    assert!(run.asked.is_empty());
    assert_eq!((run.counts.wanted, run.counts.left, run.counts.waiting), (8, 8, 0));
}

#[test]
fn prompts_contain_the_summaries_of_the_level_below() {
    let folder = tempfile::tempdir().unwrap();
    let asked = run(&tree(), folder.path(), usize::MAX, Shard::WHOLE).asked;
    let push = &asked[1];
    assert!(push.contains("Includes: src/field/field.h\n"), "{push}");
    assert!(push.contains("- pic::push: moves the particles."), "{push}");
    assert!(asked[2].contains("add_subdirectory(src)"), "fallback shows the file's text");
    let src = &asked[4];
    assert!(src.contains("Depends on: src/field\n"), "{src}");
    assert!(src.contains("- src/field: tells about Folder: src/field."), "{src}");
    assert!(src.contains("- push.cpp: tells about File: src/push.cpp."), "{src}");
    let chain = &asked[7];
    assert!(chain.contains("What it does: moves the particles.\n"), "{chain}");
    assert!(chain.contains("It calls:\n- pic::gather: Interpolates the field to the particles."));
    assert!(chain.contains("Its file: tells about File: src/push.cpp.\n"), "{chain}");
    assert!(chain.contains("Its folder: tells about Folder: src."), "{chain}");
}

#[test]
fn facts_are_there_without_any_text() {
    let folder = tempfile::tempdir().unwrap();
    let summaries = summaries(&tree(), folder.path());
    let ids: Vec<&str> = summaries.iter().map(|summary| summary.id.as_str()).collect();
    let expected = [
        "chain:gather",
        "chain:push",
        "file:CMakeLists.txt",
        "file:ext/json.h",
        "file:src/field/field.h",
        "file:src/push.cpp",
        "module:.",
        "module:ext",
        "module:src",
        "module:src/field",
    ];
    assert_eq!(ids, expected);
    let unwanted: Vec<&str> = summaries
        .iter()
        .filter(|summary| summary.status == RecordStatus::Unwanted)
        .map(|summary| summary.id.as_str())
        .collect();
    assert_eq!(unwanted, ["file:ext/json.h", "module:ext"]);
    let rest = summaries.iter().filter(|summary| !unwanted.contains(&summary.id.as_str()));
    assert!(rest.clone().all(|summary| summary.status == RecordStatus::Missing));
    let module = by_id(&summaries, "module:src");
    assert!(module.facts.contains("- push.cpp: defines push"), "{}", module.facts);
    let json = by_id(&summaries, "file:ext/json.h");
    assert!(json.facts.contains("Symbols: pic::parse"));
    assert!(!json.reason.is_empty(), "vendored code says why it has no text");
    let chain = by_id(&summaries, "chain:push");
    assert_eq!(chain.members, ["push", "gather"]);
    assert_eq!((chain.title.as_str(), chain.module.as_str()), ("pic::push", "src"));
    assert_eq!(by_id(&summaries, "file:CMakeLists.txt").prompt, "file_level_fallback");
}

#[test]
fn shards_wait_for_one_another_and_end_with_the_same_rows() {
    let (whole, sharded) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let rows = tree();
    run(&rows, whole.path(), usize::MAX, Shard::WHOLE);
    let mut generated = 0;
    let first = run(&rows, sharded.path(), usize::MAX, Shard { number: 2, count: 2 });
    assert!(first.counts.waiting > 0, "folders wait for the files of the other shard");
    generated += first.counts.generated;
    for number in [1, 2, 1, 2] {
        generated += run(&rows, sharded.path(), usize::MAX, Shard { number, count: 2 }).counts.generated;
    }
    assert_eq!(generated, 8, "nothing is generated twice");
    assert_eq!(summaries(&rows, whole.path()), summaries(&rows, sharded.path()));
}

#[test]
fn a_limit_is_shared_and_counts_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let rows = tree();
    let first = run(&rows, folder.path(), 4, Shard::WHOLE);
    // Shares of 5 : 2 : 3 of four are 2, 0 and 1; the rest goes to files.
    let expected =
        ["File: src/field/field.h", "File: src/push.cpp", "File: CMakeLists.txt", "Function: pic::gather"];
    assert_eq!(first_lines(&first), expected);
    let again = run(&rows, folder.path(), 4, Shard::WHOLE);
    assert_eq!((again.counts.reused, again.counts.generated), (4, 0));
}

#[test]
fn a_changed_explanation_reaches_only_what_tells_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = tree();
    run(&rows, folder.path(), usize::MAX, Shard::WHOLE);
    rows.explanations[0].text = "Role: moves the particles. How: Boris rotation.".into();
    assert!(run(&rows, folder.path(), usize::MAX, Shard::WHOLE).asked.is_empty());
    rows.explanations[0].text = "Role: accelerates the particles.".into();
    let run = run(&rows, folder.path(), usize::MAX, Shard::WHOLE);
    // The echoed summaries of file and folder stay the same, so nothing above them is asked again.
    let expected = ["File: src/push.cpp", "Function: pic::gather", "Function: pic::push"];
    assert_eq!(first_lines(&run), expected);
}
