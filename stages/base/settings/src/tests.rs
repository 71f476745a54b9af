mod files;
mod layers;
mod ranges;
mod refusals;

use std::path::{Path, PathBuf};

use miette::Diagnostic;
use serde::Deserialize;

use super::*;

/// Defaults of a small project, so that these tests do not follow those of the real one.
const DEFAULTS: &str = r#"
[project]
name = ""

[models]
dir = ""

[explain.params]
kinds = ["class", "struct"]
minimum_characters = 80
prompt = "general"
max_tokens = 160
temperature = 0.0

[explain.run]
max_seconds = 0
max_records = 0
flush_records = 8
flush_seconds = 20

[parse.params]
include_hidden = false
ignore = []

[parse.run]
threads = 0
"#;

/// Ranges of some of its numbers.
const RANGES: &str = r#"
[explain.params]
max_tokens = [1, 1000]
temperature = [0.0, 2.0]

[[less]]
key = "explain.params.minimum_characters"
than = "explain.params.max_tokens"
"#;

/// A configuration folder that is removed at the end of its test.
struct ConfigDir(PathBuf);

impl ConfigDir {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("almanac-settings-{}-{test}", std::process::id()));
        fs_err::create_dir_all(path.join("profiles")).expect("temporary folder");
        fs_err::create_dir_all(path.join("prompts")).expect("temporary folder");
        Self(path)
    }

    fn write(self, relative: &str, text: &str) -> Self {
        fs_err::write(self.0.join(relative), text).expect("temporary file");
        self
    }
}

impl Drop for ConfigDir {
    fn drop(&mut self) {
        let _ = fs_err::remove_dir_all(&self.0);
    }
}

#[derive(Default)]
struct Layers<'a> {
    profile: Option<&'a str>,
    config: Option<&'a ConfigDir>,
    variables: &'a [(&'a str, &'a str)],
    set: &'a [&'a str],
}

fn load(layers: &Layers<'_>) -> Result<Settings> {
    let sources = Sources {
        profile: layers.profile.map(ToOwned::to_owned),
        config_dir: layers.config.map(|dir| dir.0.clone()),
        set: layers.set.iter().map(ToString::to_string).collect(),
    };
    let variables: Vec<_> =
        layers.variables.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Settings::resolve(&schema(), &sources, &variables, None)
}

fn schema() -> Schema {
    Schema::new(DEFAULTS, RANGES).expect("both are valid")
}

fn set(assignment: &str) -> Result<Settings> {
    load(&Layers { set: &[assignment], ..Layers::default() })
}

fn defaults() -> Settings {
    load(&Layers::default()).expect("the defaults are valid")
}

/// The one-line form and hint of an error that loading gives.
fn refusal(result: Result<Settings>) -> (String, String) {
    let error = result.expect_err("refused");
    (error.to_string(), error.help().map(|help| help.to_string()).unwrap_or_default())
}

const MAX_SECONDS: &str = "explain.run.max_seconds";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read into")]
struct Limits {
    max_seconds: u64,
    max_records: u8,
    flush_records: std::num::NonZeroU32,
    flush_seconds: u32,
}
