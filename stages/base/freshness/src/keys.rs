//! The parts of a stage's key, from settings and the store as it is.

use std::collections::BTreeMap;

use almanac_artifact::{Artifact, Digest, KeyParts, Store};
use almanac_catalog::{GRAMMARS, Identity, StageSpec, writer_of};
use almanac_settings::Settings;
use almanac_tables::Imported;

use crate::tree::Tree;
use crate::{Error, Result};

/// Finds out the identities that settings and catalog alone do not give.
pub struct Identities<'a> {
    /// The source tree, for the parse stage.
    pub tree: Option<&'a Tree>,
    /// Digest of the model with this name, without loading it.
    pub model: &'a dyn Fn(&str) -> miette::Result<String>,
    /// The store, whose imported texts decide what stages write.
    pub store: &'a Store,
}

/// The current artifacts that `stage` reads, by name.
pub fn current_inputs(store: &Store, profile: &str, stage: &StageSpec) -> Result<BTreeMap<String, Artifact>> {
    let mut inputs = BTreeMap::new();
    for artifact in stage.artifacts_read() {
        let writer = writer_of(artifact).map_or("", |writer| writer.name);
        inputs.insert(artifact.to_owned(), store.current(profile, artifact, writer)?);
    }
    for (name, artifact) in &inputs {
        check_origin(name, artifact, &inputs)?;
    }
    Ok(inputs)
}

/// Refuses inputs that were built from different versions of one another.
fn check_origin(name: &str, artifact: &Artifact, inputs: &BTreeMap<String, Artifact>) -> Result<()> {
    for (read, built_from) in &artifact.manifest().parts.inputs {
        let Some((other, table)) = read.split_once('/') else { continue };
        let present = inputs.get(other).and_then(|other| other.manifest().tables.get(table));
        if present.is_some_and(|present| present.content != *built_from) {
            return Err(Error::MixedInputs {
                artifact: name.to_owned(),
                table: read.clone(),
                stage: writer_of(name).map_or("build", |writer| writer.name),
            });
        }
    }
    Ok(())
}

/// Everything that decides the output of `stage`.
pub fn key_parts(
    stage: &StageSpec,
    settings: &Settings,
    inputs: &BTreeMap<String, Artifact>,
    identities: &Identities<'_>,
) -> miette::Result<KeyParts> {
    let mut digests = BTreeMap::new();
    for read in stage.reads {
        let table = inputs.get(read.artifact).and_then(|artifact| artifact.manifest().tables.get(read.table));
        let table = table.ok_or_else(|| almanac_artifact::Error::NoTable {
            artifact: read.artifact.to_owned(),
            name: read.table.to_owned(),
        })?;
        digests.insert(read.name(), table.content);
    }
    let mut named = BTreeMap::new();
    for identity in stage.identities {
        identify(identity, settings, identities, &mut named)?;
    }
    Ok(KeyParts {
        stage: stage.name.to_owned(),
        revision: stage.revision,
        params: flatten(&settings.params(stage.name)?),
        inputs: digests,
        tables: stage.writes.iter().map(|table| (table.table.to_owned(), table.version)).collect(),
        identities: named,
    })
}

fn identify(
    identity: &Identity,
    settings: &Settings,
    identities: &Identities<'_>,
    named: &mut BTreeMap<String, String>,
) -> miette::Result<()> {
    match identity {
        Identity::SourceTree => {
            if let Some(tree) = identities.tree {
                named.insert("tree".to_owned(), tree.digest().to_string());
            }
        }
        Identity::Grammars => {
            for (name, version) in GRAMMARS {
                named.insert(format!("grammar {name}"), (*version).to_owned());
            }
            let macros = Digest::of_bytes(almanac_language::MACROS_TOML.as_bytes()).hex(16);
            named.insert("macros".to_owned(), macros);
        }
        Identity::Model { setting, fallback } => {
            let mut model: String = settings.section(setting)?;
            if model.is_empty() {
                model = settings.section(fallback)?;
            }
            let digest = (identities.model)(&model)?;
            named.insert(format!("model {model}"), digest);
        }
        Identity::Imported => {
            if let Some(digest) = Imported::open(identities.store)?.digest() {
                named.insert("imported texts".to_owned(), digest);
            }
        }
        Identity::Prompt { setting } => {
            let mode: String = settings.section(setting)?;
            let prompt = settings.prompt(&mode)?;
            let digest = Digest::of_bytes(prompt.text.as_bytes()).hex(16);
            named.insert(format!("prompt {mode}"), digest);
        }
        Identity::Library { name, version } => {
            named.insert(format!("library {name}"), (*version).to_owned());
        }
        Identity::Format { name, version } => {
            named.insert(format!("format of {name}"), version.to_string());
        }
    }
    Ok(())
}

/// Dotted keys to values as TOML text: what the key is taken over and people read.
fn flatten(table: &toml::Table) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    let mut pending: Vec<(String, &toml::Table)> = vec![(String::new(), table)];
    while let Some((prefix, table)) = pending.pop() {
        for (name, value) in table {
            match value {
                toml::Value::Table(inner) => pending.push((format!("{prefix}{name}."), inner)),
                other => {
                    flat.insert(format!("{prefix}{name}"), other.to_string());
                }
            }
        }
    }
    flat
}

/// Limits of a stage's run that decide how many records it makes: `max_seconds`, `max_records`.
/// Zero is no limit.
pub fn limits(settings: &Settings, stage: &str) -> BTreeMap<String, u64> {
    ["max_seconds", "max_records"]
        .into_iter()
        .filter_map(|name| {
            let value = settings.value(&format!("{stage}.run.{name}"))?.as_integer()?;
            Some((name.to_owned(), u64::try_from(value).unwrap_or(0)))
        })
        .collect()
}

/// Whether a stage is to try its failed records again; only stages that generate texts have this.
pub fn retries_failed(settings: &Settings, stage: &str) -> bool {
    settings.value(&format!("{stage}.run.retry_failed")).and_then(|value| value.as_bool()).unwrap_or(false)
}
