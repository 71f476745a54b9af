//! The published schema of `almanac context --json` is that of the types, and what is printed keeps it.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use almanac_context::{Answer, Cache, ContextSettings, Means, ParseParams, Snapshot, Workspace, assemble};
use serde_json::Value;

/// The part of JSON Schema that the published one uses; a keyword that it does not know is an error.
struct Schema<'s> {
    root: &'s Value,
}

impl Schema<'_> {
    fn check(&self, value: &Value) -> Result<(), String> {
        self.matches(self.root, value, "")
    }

    fn matches(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{at}: {what}: {value}"));
        for (keyword, wanted) in schema.as_object().into_iter().flatten() {
            match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "format" | "default" => {}
                "type" => {
                    let types = wanted.as_array().cloned().unwrap_or_else(|| vec![wanted.clone()]);
                    if !types.iter().any(|name| is_of_type(value, name.as_str().unwrap())) {
                        return wrong(&format!("is not {wanted}"));
                    }
                }
                "required" => {
                    let names = wanted.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                    for name in names.filter(|name| value.get(name).is_none()) {
                        return wrong(&format!("lacks {name}"));
                    }
                }
                "properties" => {
                    for (name, schema) in wanted.as_object().unwrap() {
                        if let Some(value) = value.get(name) {
                            self.matches(schema, value, &format!("{at}/{name}"))?;
                        }
                    }
                }
                "items" => {
                    for (nth, value) in value.as_array().into_iter().flatten().enumerate() {
                        self.matches(wanted, value, &format!("{at}/{nth}"))?;
                    }
                }
                "minimum" if value.as_f64() < wanted.as_f64() => return wrong("is too small"),
                "minimum" => {}
                "const" if value != wanted => return wrong(&format!("is not {wanted}")),
                "const" => {}
                "enum" if !wanted.as_array().unwrap().contains(value) => return wrong("is not in the list"),
                "enum" => {}
                "$ref" => {
                    let place = wanted.as_str().unwrap().trim_start_matches('#');
                    self.matches(self.root.pointer(place).unwrap(), value, at)?;
                }
                "anyOf" | "oneOf" => {
                    let found = wanted.as_array().unwrap().iter();
                    let found = found.filter(|schema| self.matches(schema, value, at).is_ok()).count();
                    if found == 0 || (keyword == "oneOf" && found > 1) {
                        return wrong(&format!("keeps {found} of {wanted}"));
                    }
                }
                other => return Err(format!("the schema has a keyword `{other}`")),
            }
        }
        Ok(())
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type {other}"),
    }
}

fn published() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/context.schema.json")
}

#[test]
fn the_published_schema_is_that_of_the_types() {
    let schema = serde_json::to_string_pretty(&schemars::schema_for!(Answer)).unwrap() + "\n";
    if std::env::var_os("ALMANAC_TEST_REWRITE").is_some() {
        std::fs::create_dir_all(published().parent().unwrap()).unwrap();
        std::fs::write(published(), &schema).unwrap();
    }
    let found = std::fs::read_to_string(published()).unwrap_or_default();
    assert!(found == schema, "schema/context.schema.json is old: ALMANAC_TEST_REWRITE=1 writes it anew");
}

#[test]
fn an_answer_keeps_the_published_schema() {
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(published()).unwrap()).unwrap();
    let schema = Schema { root: &schema };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let text = std::fs::read_to_string(root.join("config/defaults.toml")).unwrap();
    let defaults: toml::Table = text.parse().unwrap();
    let mut settings: ContextSettings = defaults["context"].clone().try_into().unwrap();
    let params: ParseParams = defaults["parse"]["params"].clone().try_into().unwrap();
    let fixture = root.join("tests/fixtures/picolib");
    let snapshot = Snapshot::of_tree(&fixture, &params.tree, 100, &Cache::off()).unwrap();
    let mut workspace = Workspace::new();
    let view = workspace.view(Rc::new(snapshot), &settings).unwrap();
    let count = |text: &str| text.len().div_ceil(3);
    let mut answered = Value::Null;
    for budget in [100, 500, 8000, 100_000] {
        settings.budget_tokens = budget;
        let means = Means {
            settings: &settings,
            params: &params,
            count: &count,
            tokenizer: "bytes",
            explained: None,
        };
        let package = assemble("Ghost cells of a field", &workspace, &view, &means).unwrap();
        answered = serde_json::to_value(Answer { package, seconds: 0.25 }).unwrap();
        assert_eq!(schema.check(&answered), Ok(()), "at {budget}");
    }
    // The schema refuses what a program could not use.
    let text = |value: &str| Value::from(value);
    for (key, wrong) in [("files", text("a.h")), ("context_tokens", text("many")), ("cards", Value::Null)] {
        let mut broken = answered.clone();
        broken[key] = wrong;
        assert!(schema.check(&broken).is_err(), "{key}");
        broken.as_object_mut().unwrap().remove(key);
        assert!(schema.check(&broken).is_err(), "without {key}");
    }
}
