//! Rules about the tree that a reviewer should not have to remember.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use almanac_catalog::Identity;
use almanac_tests::repository_root;
use regex::Regex;

/// Crates that each crate may depend on inside the workspace. A new edge is a reviewed change to
/// this table. Stages meet only in artifacts, and nothing online depends on a stage.
const ALLOWED: &[(&str, &[&str])] = &[
    ("almanac-artifact", &[]),
    ("almanac-terminal", &[]),
    ("almanac-settings", &[]),
    ("almanac-tables", &["almanac-artifact"]),
    ("almanac-catalog", &["almanac-artifact", "almanac-tables"]),
    ("almanac-language", &["almanac-tables"]),
    (
        "almanac-freshness",
        &["almanac-artifact", "almanac-tables", "almanac-catalog", "almanac-settings", "almanac-language"],
    ),
    ("almanac-inference", &["almanac-artifact", "almanac-tables"]),
    (
        "almanac-stage",
        &[
            "almanac-artifact",
            "almanac-tables",
            "almanac-catalog",
            "almanac-freshness",
            "almanac-settings",
            "almanac-terminal",
        ],
    ),
    (
        "almanac-generation",
        &[
            "almanac-artifact",
            "almanac-tables",
            "almanac-settings",
            "almanac-terminal",
            "almanac-stage",
            "almanac-inference",
        ],
    ),
    ("almanac-lookup", &["almanac-artifact", "almanac-tables"]),
    ("almanac-parse", BASE),
    ("almanac-graph", BASE),
    ("almanac-explain", BASE),
    ("almanac-entities", BASE),
    ("almanac-embed", BASE),
    ("almanac-index", BASE),
    ("almanac-retrieval", ONLINE),
    ("almanac-answer", ONLINE),
    // An opened bundle is a store: it needs no more than that.
    ("almanac-bundle", &["almanac-artifact", "almanac-catalog"]),
    // The one that reads a tree as it is now, without a store: it needs the parser's library.
    (
        "almanac-context",
        &["almanac-artifact", "almanac-tables", "almanac-language", "almanac-freshness", "almanac-parse"],
    ),
    // The command alone knows Slurm: this crate is its own, light, and used by nothing else.
    (
        "almanac-slurm",
        &[
            "almanac-artifact",
            "almanac-tables",
            "almanac-catalog",
            "almanac-freshness",
            "almanac-settings",
            "almanac-stage",
        ],
    ),
    ("almanac", COMMAND),
    ("almanac-eval", TOP),
    ("almanac-tests", TESTS),
];

const BASE: &[&str] = &[
    "almanac-artifact",
    "almanac-tables",
    "almanac-catalog",
    "almanac-freshness",
    "almanac-settings",
    "almanac-terminal",
    "almanac-stage",
    "almanac-language",
    "almanac-inference",
    "almanac-generation",
    "almanac-lookup",
];

const ONLINE: &[&str] = &[
    "almanac-artifact",
    "almanac-tables",
    "almanac-catalog",
    "almanac-settings",
    "almanac-inference",
    "almanac-lookup",
    "almanac-retrieval",
];

/// Tests of two stages at once read sources with the one and resolve them with the other.
const TESTS: &[&str] = &[
    "almanac-artifact",
    "almanac-tables",
    "almanac-catalog",
    "almanac-freshness",
    "almanac-parse",
    "almanac-graph",
];

const TOP: &[&str] = &[
    "almanac-artifact",
    "almanac-tables",
    "almanac-catalog",
    "almanac-freshness",
    "almanac-settings",
    "almanac-terminal",
    "almanac-stage",
    "almanac-language",
    "almanac-inference",
    "almanac-generation",
    "almanac-lookup",
    "almanac-retrieval",
    "almanac-context",
    "almanac-answer",
];

/// The command: everything at the top, and Slurm.
const COMMAND: &[&str] = &[
    "almanac-artifact",
    "almanac-tables",
    "almanac-catalog",
    "almanac-freshness",
    "almanac-settings",
    "almanac-terminal",
    "almanac-stage",
    "almanac-inference",
    "almanac-generation",
    "almanac-lookup",
    "almanac-retrieval",
    "almanac-context",
    "almanac-answer",
    "almanac-bundle",
    "almanac-slurm",
];

/// Third-party crates that only the named crates may use directly. `almanac-inference` names some
/// only to fix their features.
const WRAPPED: &[(&str, &[&str])] = &[
    ("parquet", &["almanac-artifact"]),
    ("arrow-array", &["almanac-artifact"]),
    ("blake3", &["almanac-artifact"]),
    ("figment", &["almanac-settings"]),
    ("indicatif", &["almanac-terminal"]),
    ("console", &["almanac-terminal", "almanac-inference"]),
    ("comfy-table", &["almanac-terminal"]),
    ("tracing-subscriber", &["almanac-terminal", "almanac-inference"]),
    ("tree-sitter", &["almanac-language", "almanac-parse"]),
    ("mistralrs", &["almanac-inference"]),
    ("candle-core", &["almanac-inference"]),
    ("tokenizers", &["almanac-inference"]),
    ("faiss", &["almanac-lookup"]),
    ("tantivy", &["almanac-lookup"]),
    ("tar", &["almanac-bundle"]),
    ("zstd", &["almanac-bundle"]),
];

const BANNED_NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers", "misc", "core", "manager"];

struct Crate {
    name: String,
    folder: PathBuf,
    dependencies: Vec<String>,
}

fn crates() -> Vec<Crate> {
    let root = repository_root();
    let workspace = read_toml(&root.join("Cargo.toml"));
    let members = workspace["workspace"]["members"].as_array().unwrap();
    members
        .iter()
        .map(|member| {
            let folder = root.join(member.as_str().unwrap());
            let manifest = read_toml(&folder.join("Cargo.toml"));
            let mut dependencies: Vec<String> = Vec::new();
            for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
                if let Some(table) = manifest.get(table).and_then(toml::Value::as_table) {
                    dependencies.extend(table.keys().cloned());
                }
            }
            Crate { name: manifest["package"]["name"].as_str().unwrap().to_owned(), folder, dependencies }
        })
        .collect()
}

fn read_toml(path: &Path) -> toml::Table {
    fs_err::read_to_string(path).unwrap().parse().unwrap()
}

/// Every Rust file of the workspace with its text, but for build outputs.
fn sources() -> BTreeMap<PathBuf, String> {
    let root = repository_root();
    let mut sources = BTreeMap::new();
    let mut pending = vec![root.join("stages"), root.join("eval"), root.join("tests")];
    while let Some(folder) = pending.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") && !path.ends_with("fixtures") {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs_err::read_to_string(&path).unwrap();
                sources.insert(path.strip_prefix(&root).unwrap().to_owned(), text);
            }
        }
    }
    sources
}

/// Sources of what users run: no tests, neither files nor trailing test modules.
fn product_sources() -> BTreeMap<PathBuf, String> {
    let mut product = sources();
    product.retain(|path, _| {
        let text = path.to_string_lossy();
        text.starts_with("stages/")
            && !text.contains("/tests/")
            && !text.contains("/examples/")
            && !text.ends_with("tests.rs")
            && !text.contains("testing")
    });
    for text in product.values_mut() {
        if let Some(end) = text.find("#[cfg(test)]\nmod tests {") {
            text.truncate(end);
        }
    }
    product
}

#[test]
fn dependencies_point_one_way() {
    for krate in crates() {
        let allowed = ALLOWED.iter().find(|(name, _)| *name == krate.name);
        let (_, allowed) = allowed.unwrap_or_else(|| panic!("{} is not in the table", krate.name));
        for dependency in krate.dependencies.iter().filter(|name| name.starts_with("almanac")) {
            assert!(allowed.contains(&dependency.as_str()), "{} must not depend on {dependency}", krate.name);
        }
    }
}

#[test]
fn heavy_and_guarded_crates_have_one_user() {
    for krate in crates() {
        for (guarded, users) in WRAPPED {
            if krate.dependencies.iter().any(|dependency| dependency == guarded) {
                assert!(
                    users.contains(&krate.name.as_str()),
                    "{} must not use {guarded} directly",
                    krate.name
                );
            }
        }
    }
}

#[test]
fn every_crate_says_what_it_is_for() {
    for krate in crates() {
        let source = krate.folder.join("src");
        let top = ["lib.rs", "main.rs"].iter().map(|file| source.join(file)).find(|path| path.is_file());
        let text = fs_err::read_to_string(top.unwrap()).unwrap();
        let documentation: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
        assert!(documentation.len() >= 3, "{} opens without its purpose", krate.name);
        assert!(
            documentation.concat().contains("must not"),
            "{} does not say what it must not know",
            krate.name
        );
    }
}

#[test]
fn files_are_short_and_named_for_what_they_hold() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= 620, "{} has {lines} lines: split it by meaning", path.display());
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(!BANNED_NAMES.contains(&stem.as_str()), "{} has a name that says nothing", path.display());
    }
}

#[test]
fn only_the_terminal_prints_and_only_settings_reads_the_environment() {
    let printing = Regex::new(r"\be?print(ln)?!|\bdbg!").unwrap();
    let environment = Regex::new(r"\benv::vars?(_os)?\b").unwrap();
    for (path, text) in product_sources() {
        let name = path.to_string_lossy();
        if !name.starts_with("stages/base/terminal/") {
            assert!(!printing.is_match(&text), "{name} prints by itself");
        }
        if !name.starts_with("stages/base/settings/") && !name.starts_with("stages/base/terminal/") {
            assert!(!environment.is_match(&text), "{name} reads the environment");
        }
    }
}

#[test]
fn nothing_panics_by_unwrapping() {
    let unwrap = Regex::new(r"\.unwrap\(\)|\bpanic!|\btodo!|\bunimplemented!").unwrap();
    for (path, text) in product_sources() {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            assert!(!unwrap.is_match(code), "{}:{}: {line}", path.display(), number + 1);
        }
    }
}

#[test]
fn stages_do_not_know_slurm() {
    for (path, text) in product_sources() {
        let name = path.to_string_lossy();
        let knows = name.starts_with("stages/almanac/") || name.starts_with("stages/base/settings/");
        assert!(knows || !text.contains("SLURM_"), "{name} reads Slurm's variables");
    }
}

/// Every package of the lock file, with its version.
fn locked() -> Vec<(String, String)> {
    let lock = read_toml(&repository_root().join("Cargo.lock"));
    let packages = lock["package"].as_array().unwrap();
    let text = |package: &toml::Value, key: &str| package[key].as_str().unwrap().to_owned();
    packages.iter().map(|package| (text(package, "name"), text(package, "version"))).collect()
}

#[test]
fn grammar_versions_in_keys_are_those_of_the_lock_file() {
    let used: Vec<(String, String)> = locked()
        .into_iter()
        .filter(|(name, _)| name.starts_with("tree-sitter") && name != "tree-sitter-language")
        .collect();
    let declared: Vec<(String, String)> = almanac_catalog::GRAMMARS
        .iter()
        .map(|(name, version)| ((*name).to_owned(), (*version).to_owned()))
        .collect();
    assert_eq!(declared, used);
}

#[test]
fn library_versions_in_keys_are_those_of_the_lock_file() {
    let locked = locked();
    let mut checked = 0;
    for identity in almanac_catalog::PIPELINE.iter().flat_map(|stage| stage.identities) {
        if let Identity::Library { name, version } = identity {
            let declared = ((*name).to_owned(), (*version).to_owned());
            assert!(locked.contains(&declared), "Cargo.lock has no {name} {version}");
            checked += 1;
        }
    }
    assert!(checked >= 6, "the catalogue names its libraries");
}

#[test]
fn formats_in_keys_are_those_of_the_code() {
    // What has the format, and the one crate that defines it.
    let homes = [
        ("text record", "stages/base/inference/", "RECORD_FORMAT"),
        ("vector record", "stages/embed/", "RECORD_FORMAT"),
        ("index", "stages/base/lookup/", "FORMAT"),
    ];
    let sources = product_sources();
    for identity in almanac_catalog::PIPELINE.iter().flat_map(|stage| stage.identities) {
        let Identity::Format { name, version } = identity else { continue };
        let (_, folder, constant) = homes.iter().find(|(what, ..)| what == name).unwrap();
        let definition = Regex::new(&format!(r"\bconst {constant}: u32 = (\d+);")).unwrap();
        let defined: Vec<u32> = sources
            .iter()
            .filter(|(path, _)| path.to_string_lossy().starts_with(folder))
            .filter_map(|(_, text)| Some(definition.captures(text)?[1].parse().unwrap()))
            .collect();
        assert_eq!(defined, [*version], "format of {name} in {folder}");
    }
}

#[test]
fn no_workplace_path_is_in_the_tree() {
    let path = Regex::new(r"(^|[^A-Za-z0-9_])/(work|farm)/").unwrap();
    for (file, text) in sources() {
        if !file.ends_with("architecture.rs") {
            assert!(!path.is_match(&text), "{} names a path of one machine", file.display());
        }
    }
}
