//! `almanac bundle create|verify|info|open`.

use std::path::PathBuf;

use almanac_bundle::{Limits, Manifest, create, verify};
use almanac_stage::GlobalArguments;
use almanac_terminal::ExitStatus;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::project::{Project, open_bundle};

/// Options of `bundle`.
#[derive(Debug, Args)]
pub(crate) struct BundleArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Put a store into one file, <project>-<commit>-<key>.almanac
    Create {
        /// Name of the project, the first part of the file's name
        #[arg(long, value_name = "NAME", value_parser = project_name)]
        project: String,
        /// Folder to write to
        #[arg(long, value_name = "DIR", default_value = ".")]
        output: PathBuf,
    },
    /// Read every byte of a bundle and check it; 65 when it is refused
    Verify {
        /// The bundle
        file: PathBuf,
    },
    /// Check a bundle, and say what it holds and where that came from
    Info {
        /// The bundle
        file: PathBuf,
    },
    /// Check a bundle, unpack it into the cache folder, and print the folder of its store
    Open {
        /// The bundle
        file: PathBuf,
    },
}

/// What may begin a file name anywhere.
fn project_name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !text.is_empty() && !text.starts_with(['.', '-']) && text.len() <= 64 && text.chars().all(fits) {
        Ok(text.to_owned())
    } else {
        Err("a name is up to 64 letters, digits, `.`, `_` and `-`, and begins with a letter, digit or `_`"
            .to_owned())
    }
}

pub(crate) fn run(global: &GlobalArguments, arguments: &BundleArguments) -> miette::Result<ExitStatus> {
    let limits = Limits::default();
    match &arguments.action {
        Action::Create { project, output } => {
            let opened = Project::open(global, &[])?;
            let store = opened.existing_store()?;
            let created = create(store, opened.settings.profile(), project, output)?;
            if global.json {
                let (path, bytes) = (created.path, created.bytes);
                almanac_terminal::data_json(&json!({ "path": path, "bytes": bytes, "parts": created.parts }));
            } else {
                for (part, bytes) in &created.parts {
                    almanac_terminal::note(format!("{part}: {bytes} bytes before compression"));
                }
                almanac_terminal::data_line(&format!("{} ({} bytes)", created.path.display(), created.bytes));
            }
        }
        Action::Verify { file } => {
            let manifest = verify(file, &limits)?;
            if global.json {
                almanac_terminal::data_json(&json!({ "members": manifest.members.len() }));
            } else {
                let members = manifest.members.len();
                almanac_terminal::data_line(&format!("{}: {members} members, all whole", file.display()));
            }
        }
        Action::Info { file } => {
            let manifest = verify(file, &limits)?;
            if global.json {
                almanac_terminal::data_json(&manifest);
            } else {
                print(&manifest);
            }
        }
        Action::Open { file } => {
            let opened = open_bundle(file)?;
            if global.json {
                almanac_terminal::data_json(
                    &json!({ "store": opened.store, "profile": opened.manifest.profile }),
                );
            } else {
                almanac_terminal::data_line(&opened.store.display().to_string());
            }
        }
    }
    Ok(ExitStatus::Done)
}

fn print(manifest: &Manifest) {
    let line = |name: &str, value: &str| almanac_terminal::data_line(&format!("{name}: {value}"));
    line("project", &manifest.project);
    line("profile", &manifest.profile);
    line("commit", manifest.commit.as_deref().unwrap_or("unknown"));
    match manifest.dirty {
        Some(true) => line("tree", "had changes that were not committed"),
        Some(false) => line("tree", "as committed"),
        None => line("tree", "unknown"),
    }
    line("almanac", &manifest.version);
    line("index", &manifest.key.to_string());
    for (name, rows) in &manifest.counts {
        line(name, &format!("{rows} rows"));
    }
    for (artifact, identities) in &manifest.identities {
        for (name, identity) in identities {
            line(artifact, &format!("{name} {identity}"));
        }
    }
    line("licence", &manifest.licence_notes);
}
