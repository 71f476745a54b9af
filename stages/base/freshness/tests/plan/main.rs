//! What makes a stage stale, and what does not: a store of the whole chain, one change at a time.

mod bench;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use almanac_artifact::Digest;
use almanac_freshness::{Gaps, Plan, Reason, budget_covers};
use almanac_settings::{Settings, Sources};

use bench::{Bench, same};

fn text(text: &str) -> String {
    text.to_owned()
}

fn limits(limits: &[(&str, u64)]) -> BTreeMap<String, u64> {
    limits.iter().map(|(name, limit)| (text(name), *limit)).collect()
}

/// Who waits for whom, by the tables that the catalogue says are read: for the first earlier stage
/// in order that is not fresh.
const AFTER_PARSE: &[(&str, &str)] = &[
    ("graph", "parse"),
    ("explain", "parse"),
    ("entities", "parse"),
    ("embed", "parse"),
    ("index", "parse"),
];
const AFTER_GRAPH: &[(&str, &str)] =
    &[("explain", "graph"), ("entities", "graph"), ("embed", "explain"), ("index", "graph")];
const AFTER_EXPLAIN: &[(&str, &str)] = &[("entities", "explain"), ("embed", "explain"), ("index", "explain")];
const AFTER_ENTITIES: &[(&str, &str)] = &[("embed", "entities"), ("index", "entities")];
const AFTER_EMBED: &[(&str, &str)] = &[("index", "embed")];

#[test]
fn what_was_built_is_fresh() {
    let bench = Bench::new();
    bench.is_fresh();
    let plan = bench.plan();
    assert_eq!(
        plan.stages.iter().map(|stage| stage.stage).collect::<Vec<_>>(),
        ["parse", "graph", "explain", "entities", "embed", "index"]
    );
    assert!(plan.stages.iter().all(|stage| stage.complete && stage.key.is_some()));
}

#[test]
fn what_was_never_built_is_stale_and_the_rest_waits() {
    let bench = Bench::new();
    same(&bench.plan_of(None), "parse", &[Reason::NeverBuilt], AFTER_PARSE);
    std::fs::remove_file(bench.store_folder().join("refs/default/graph.json")).unwrap();
    bench.is_stale("graph", &[Reason::NeverBuilt], AFTER_GRAPH);
    let bench = Bench::new();
    std::fs::remove_dir_all(bench.artifact("entities")).unwrap();
    let detail = text("what the ref names is not there; what was found damaged is in `.damaged`");
    bench.is_stale("entities", &[Reason::OutputDamaged { detail }], AFTER_ENTITIES);
}

#[test]
fn params_are_reasons_and_run_settings_are_not() {
    let changed = |key: &str, old: &str, new: &str| Reason::ParamChanged {
        key: text(key),
        old: text(old),
        new: text(new),
    };
    type Case<'a> = (&'a [&'a str], &'a str, &'a [Reason], &'a [(&'a str, &'a str)]);
    let cases: &[Case<'_>] = &[
        (
            &["parse.params.max_chunk_size=900"],
            "parse",
            &[changed("max_chunk_size", "2000", "900")],
            AFTER_PARSE,
        ),
        (
            &["graph.params.max_candidates=5", "graph.params.rank.damping=0.5"],
            "graph",
            &[changed("max_candidates", "8", "5"), changed("rank.damping", "0.85", "0.5")],
            AFTER_GRAPH,
        ),
        (
            &["explain.params.prompt=file_level"],
            "explain",
            &[
                changed("prompt", "\"general\"", "\"file_level\""),
                Reason::IdentityChanged {
                    name: text("prompt file_level"),
                    old: String::new(),
                    new: prompt_digest("file_level"),
                },
                Reason::IdentityChanged {
                    name: text("prompt general"),
                    old: prompt_digest("general"),
                    new: String::new(),
                },
            ],
            AFTER_EXPLAIN,
        ),
        (&["embed.params.chunk_tokens=90"], "embed", &[changed("chunk_tokens", "225", "90")], AFTER_EMBED),
    ];
    let mut bench = Bench::new();
    for (set, stage, reasons, waiting) in cases {
        bench.set = set.iter().map(|assignment| text(assignment)).collect();
        bench.is_stale(stage, reasons, waiting);
    }
    for set in ["parse.run.threads=3", "explain.run.in_flight=4", "embed.run.batch=1", "answer.max_tokens=9"]
    {
        bench.set = vec![text(set)];
        bench.is_fresh();
    }
}

fn prompt_digest(mode: &str) -> String {
    let settings = Settings::load(&Sources::default()).unwrap();
    Digest::of_bytes(settings.prompt(mode).unwrap().text.as_bytes()).hex(16)
}

#[test]
fn a_prompt_of_the_users_own_is_another_identity() {
    let mut bench = Bench::new();
    let config = bench.folder.path().join("config");
    std::fs::create_dir_all(config.join("prompts")).unwrap();
    std::fs::write(config.join("prompts/call_chain.md"), "another prompt").unwrap();
    bench.config = Some(config);
    let reason = Reason::IdentityChanged {
        name: text("prompt call_chain"),
        old: prompt_digest("call_chain"),
        new: Digest::of_bytes(b"another prompt").hex(16),
    };
    bench.is_stale("entities", &[reason], AFTER_ENTITIES);
}

#[test]
fn a_model_is_its_name_and_its_digest() {
    let changed = |name: &str, old: &str, new: &str| Reason::IdentityChanged {
        name: text(name),
        old: text(old),
        new: text(new),
    };
    let mut bench = Bench::new();
    bench.set = vec![text("models.embedder=other")];
    let reasons = [changed("model all-minilm-l6-v2", "first", ""), changed("model other", "", "first")];
    bench.is_stale("embed", &reasons, AFTER_EMBED);
    bench.set.clear();
    bench.model_digest = "second";
    let reason = changed("model smollm2-135m-instruct", "first", "second");
    bench.is_stale("explain", &[reason], AFTER_EXPLAIN);
}

#[test]
fn files_of_the_tree_are_named() {
    let bench = Bench::new();
    bench.write("a.h", "int changed();");
    bench.write("new.h", "");
    std::fs::remove_file(bench.root().join("docs/c.md")).unwrap();
    let reason = Reason::TreeChanged {
        modified: vec![text("a.h")],
        added: vec![text("new.h")],
        removed: vec![text("docs/c.md")],
    };
    bench.is_stale("parse", &[reason], AFTER_PARSE);
}

#[test]
fn a_file_that_is_not_read_is_named_by_its_size() {
    let bench = Bench::new();
    bench.write_large(0);
    bench.is_fresh();
    bench.write_large(1);
    let modified = vec![text("large.dat")];
    let reason = Reason::TreeChanged { modified, added: Vec::new(), removed: Vec::new() };
    bench.is_stale("parse", &[reason], AFTER_PARSE);
}

#[test]
fn a_store_carried_elsewhere_is_judged_without_its_tree() {
    let mut bench = Bench::new();
    bench.with_tree = false;
    bench.write("a.h", "int changed();");
    bench.is_fresh();
    bench.set = vec![text("parse.params.max_chunk_size=900")];
    let reason = Reason::ParamChanged { key: text("max_chunk_size"), old: text("2000"), new: text("900") };
    bench.is_stale("parse", &[reason], AFTER_PARSE);
}

#[test]
fn another_version_of_the_program_is_named() {
    let graph = almanac_catalog::stage("graph").unwrap();
    let bench = Bench::altered(&|stage, parts| {
        if stage == "graph" {
            parts.revision += 1;
            *parts.tables.get_mut("edges").unwrap() += 1;
            parts.tables.insert(text("gone"), 4);
        }
    });
    let edges = graph.writes.iter().find(|table| table.table == "edges").unwrap().version;
    let reasons = [
        Reason::RevisionChanged { old: graph.revision + 1, new: graph.revision },
        Reason::TableVersionChanged { table: text("edges"), old: edges + 1, new: edges },
        Reason::TableVersionChanged { table: text("gone"), old: 4, new: 0 },
    ];
    bench.is_stale("graph", &reasons, AFTER_GRAPH);

    let grammar = RefCell::new(String::new());
    let bench = Bench::altered(&|stage, parts| {
        if stage == "parse" {
            let version = parts.identities.insert(text("grammar tree-sitter-cpp"), text("0.0.1"));
            *grammar.borrow_mut() = version.unwrap();
        }
    });
    let reason = Reason::IdentityChanged {
        name: text("grammar tree-sitter-cpp"),
        old: text("0.0.1"),
        new: grammar.into_inner(),
    };
    bench.is_stale("parse", &[reason], AFTER_PARSE);
}

#[test]
fn rows_of_an_input_that_changed_are_named() {
    let old = Digest::of_bytes(b"other rows");
    let new = RefCell::new(None);
    let bench = Bench::altered(&|stage, parts| {
        if stage == "index" {
            *new.borrow_mut() = parts.inputs.insert(text("sources/files"), old);
        }
    });
    let reason = Reason::InputChanged {
        input: text("sources/files"),
        old: old.short(),
        new: new.into_inner().unwrap().short(),
    };
    bench.is_stale("index", &[reason], &[]);
}

fn flip_byte(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn damage_shows_by_length_or_when_every_byte_is_read() {
    for (stage, file, waiting) in
        [("graph", "edges-00000.parquet", AFTER_GRAPH), ("index", "extra.bin", &[][..])]
    {
        let mut bench = Bench::new();
        let path = bench.artifact(stage).join(file);
        flip_byte(&path);
        bench.is_fresh();
        bench.verified = vec!["parse", "embed"];
        bench.is_fresh();
        bench.verified = vec![stage];
        assert_damaged(&bench.plan(), stage, file, waiting);
        bench.verified.clear();
        std::fs::write(&path, "short").unwrap();
        assert_damaged(&bench.plan(), stage, file, waiting);
        std::fs::remove_file(&path).unwrap();
        assert_damaged(&bench.plan(), stage, file, waiting);
    }
    // What waits is read too when asked for.
    let mut bench = Bench::new();
    bench.forced = vec![text("embed")];
    bench.verified = vec!["index"];
    flip_byte(&bench.artifact("index").join("extra.bin"));
    let reasons = &bench.plan().stages[5].reasons;
    assert!(matches!(&reasons[..], [Reason::Waits { .. }, Reason::OutputDamaged { .. }]), "{reasons:?}");

    let bench = Bench::new();
    std::fs::write(bench.artifact("explain").join("manifest.json"), "{").unwrap();
    assert_damaged(&bench.plan(), "explain", "manifest.json", AFTER_EXPLAIN);
}

#[track_caller]
fn assert_damaged(plan: &Plan, stage: &str, file: &str, waiting: &[(&str, &str)]) {
    let planned = plan.stages.iter().find(|planned| planned.stage == stage).unwrap();
    let [Reason::OutputDamaged { detail }] = &planned.reasons[..] else { panic!("{:?}", planned.reasons) };
    assert!(detail.contains(file), "{detail}");
    same(plan, stage, &planned.reasons, waiting);
}

#[test]
fn a_damaged_ref_is_as_good_as_none() {
    for damaged in ["", "garbage", "{\"key\": \"00"] {
        let bench = Bench::new();
        std::fs::write(bench.store_folder().join("refs/default/explanations.json"), damaged).unwrap();
        let plan = bench.plan();
        let [Reason::RefDamaged { detail }] = &plan.stages[2].reasons[..] else { panic!("{plan:?}") };
        assert!(detail.contains("explanations.json"), "{detail}");
        same(&plan, "explain", &plan.stages[2].reasons, AFTER_EXPLAIN);
        let json = serde_json::to_value(&plan.stages[2]).unwrap();
        assert_eq!(json["reasons"][0]["reason"], "ref_damaged");
    }
}

#[test]
fn a_larger_budget_has_work_and_the_same_has_none() {
    let last = |limits: &[(&str, u64)]| Some(self::limits(limits));
    let three = [("max_records", 3), ("max_seconds", 0)];
    let both = [("max_records", 3), ("max_seconds", 60)];
    // Limits spent last time, limits in force, and how the difference is told.
    let cases = [
        (last(&three), &["max_records=3"][..], None),
        (last(&three), &["max_records=2"], None),
        (last(&three), &["max_records=4"], Some(("max_records = 3", "max_records = 4"))),
        (last(&three), &[], Some(("max_records = 3", "none"))),
        (last(&three), &["max_records=3", "max_seconds=9"], None),
        (last(&both), &["max_records=3", "max_seconds=60"], None),
        (last(&both), &["max_records=2", "max_seconds=59"], None),
        (
            last(&both),
            &["max_records=3", "max_seconds=61"],
            Some(("max_records = 3, max_seconds = 60", "max_records = 3, max_seconds = 61")),
        ),
        (last(&both), &["max_records=3"], Some(("max_records = 3, max_seconds = 60", "max_records = 3"))),
        // No limit explains the gap, so any run may fill it.
        (None, &["max_records=3"], Some(("not reached", "max_records = 3"))),
        (None, &[], Some(("not reached", "none"))),
    ];
    let mut bench = Bench::new();
    for (spent, set, expected) in cases {
        bench.change_ref("explain", |value| {
            (value.complete, value.budget) = (false, spent.clone());
        });
        bench.set = set.iter().map(|limit| format!("explain.run.{limit}")).collect();
        bench.gaps = Gaps::Fill;
        match expected {
            None => bench.is_fresh(),
            Some((last, now)) => {
                let reason = Reason::Incomplete { last: text(last), now: text(now) };
                bench.is_stale("explain", &[reason], AFTER_EXPLAIN);
            }
        }
        bench.gaps = Gaps::Show;
        bench.is_fresh();
        assert!(!bench.plan().stages[2].complete);
    }
    // A complete artifact has no gap to fill, whatever was spent.
    bench.change_ref("explain", |value| (value.complete, value.budget) = (true, None));
    bench.gaps = Gaps::Fill;
    bench.is_fresh();
}

#[test]
fn a_limit_that_is_absent_or_zero_is_none() {
    assert!(budget_covers(&limits(&[]), &limits(&[("max_records", 9)])));
    assert!(budget_covers(&limits(&[("max_records", 0)]), &limits(&[])));
    assert!(budget_covers(&limits(&[("max_records", 9)]), &limits(&[("max_records", 9)])));
    assert!(!budget_covers(&limits(&[("max_records", 9)]), &limits(&[])));
    assert!(!budget_covers(&limits(&[("max_records", 9)]), &limits(&[("max_records", 0)])));
    assert!(!budget_covers(&limits(&[("max_seconds", 9)]), &limits(&[("max_records", 9)])));
}

#[test]
fn failed_records_make_a_stage_stale_for_who_retries_them() {
    let retry = text("entities.run.retry_failed=true");
    let mut bench = Bench::new();
    bench.set = vec![retry.clone()];
    bench.is_fresh();
    bench.change_ref("entities", |value| value.failed = 2);
    bench.is_stale("entities", &[Reason::Failed { records: 2 }], AFTER_ENTITIES);
    bench.change_ref("entities", |value| (value.failed, value.poorly_grounded) = (0, 3));
    bench.is_stale("entities", &[Reason::PoorlyGrounded { records: 3 }], AFTER_ENTITIES);
    bench.gaps = Gaps::Show;
    bench.is_fresh();
    bench.gaps = Gaps::Fill;
    bench.set = vec![text("explain.run.retry_failed=true")];
    bench.is_fresh();
    bench.set.clear();
    bench.is_fresh();
}

#[test]
fn what_is_forced_runs_and_says_what_else_is_stale() {
    let mut bench = Bench::new();
    bench.forced = vec![text("graph")];
    bench.is_stale("graph", &[Reason::Forced], AFTER_GRAPH);
    bench.set = vec![text("graph.params.max_candidates=5")];
    let changed = Reason::ParamChanged { key: text("max_candidates"), old: text("8"), new: text("5") };
    bench.is_stale("graph", &[Reason::Forced, changed], AFTER_GRAPH);
    // What waits is not judged yet.
    bench.forced = vec![text("index")];
    bench.set = vec![text("embed.params.chunk_tokens=90")];
    let changed = Reason::ParamChanged { key: text("chunk_tokens"), old: text("225"), new: text("90") };
    bench.is_stale("embed", &[changed], AFTER_EMBED);
}

#[test]
fn every_reason_is_told_in_words() {
    let names = |names: &[&str]| names.iter().map(|name| text(name)).collect::<Vec<_>>();
    let cases = [
        (Reason::NeverBuilt, "never built"),
        (Reason::RefDamaged { detail: text("x") }, "damaged ref: x"),
        (Reason::RevisionChanged { old: 1, new: 2 }, "stage revision: 1 → 2"),
        (Reason::ParamChanged { key: text("k"), old: text("1"), new: text("2") }, "k: 1 → 2"),
        (Reason::InputChanged { input: text("a/b"), old: text("1"), new: text("2") }, "a/b: 1 → 2"),
        (
            Reason::TreeChanged {
                modified: names(&["a", "b", "c", "d", "e"]),
                added: Vec::new(),
                removed: names(&["f"]),
            },
            "files changed: a, b, c and 2 more; gone: f",
        ),
        (Reason::TableVersionChanged { table: text("t"), old: 1, new: 2 }, "version of table t: 1 → 2"),
        (Reason::IdentityChanged { name: text("m"), old: text("1"), new: text("2") }, "m: 1 → 2"),
        (Reason::OutputDamaged { detail: text("x") }, "damaged: x"),
        (
            Reason::Incomplete { last: text("a = 1"), now: text("none") },
            "records missing; limit last time a = 1, now none",
        ),
        (Reason::Failed { records: 2 }, "2 failed to be tried again"),
        (Reason::PoorlyGrounded { records: 3 }, "3 poorly grounded to be tried again"),
        (Reason::Forced, "forced"),
        (Reason::Waits { stage: text("parse") }, "waits for parse"),
    ];
    for (reason, words) in cases {
        assert_eq!(reason.to_string(), words);
    }
}
