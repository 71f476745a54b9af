//! Why a stage is not fresh.

use std::collections::BTreeMap;
use std::fmt;

use almanac_artifact::{Digest, KeyParts};
use serde::Serialize;

/// One difference between what is there and what is wanted. All of them are collected.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// There is no artifact yet.
    NeverBuilt,
    /// The file that names the current artifact cannot be read, which is as if there were none.
    RefDamaged {
        /// What is wrong.
        detail: String,
    },
    /// The stage's revision was bumped.
    RevisionChanged {
        /// Revision of the artifact.
        old: u32,
        /// Revision of this program.
        new: u32,
    },
    /// A setting changed.
    ParamChanged {
        /// Dotted key.
        key: String,
        /// Old value as TOML; empty when it did not exist.
        old: String,
        /// New value as TOML; empty when it is gone.
        new: String,
    },
    /// Rows of an input table changed.
    InputChanged {
        /// `artifact/table`.
        input: String,
        /// Old content digest, short.
        old: String,
        /// New content digest, short.
        new: String,
    },
    /// Files of the source tree changed.
    TreeChanged {
        /// Files with other content.
        modified: Vec<String>,
        /// New files.
        added: Vec<String>,
        /// Files that are gone.
        removed: Vec<String>,
    },
    /// A table written has another version.
    TableVersionChanged {
        /// Table.
        table: String,
        /// Old version, 0 when it did not exist.
        old: u32,
        /// New version, 0 when it is gone.
        new: u32,
    },
    /// A model, prompt, grammar or library changed.
    IdentityChanged {
        /// What.
        name: String,
        /// Old identity.
        old: String,
        /// New identity.
        new: String,
    },
    /// The artifact is missing a file or does not read.
    OutputDamaged {
        /// What is wrong.
        detail: String,
    },
    /// Records are missing and the limit in force allows more than was allowed last time.
    Incomplete {
        /// Limits last time, `none` when there was none.
        last: String,
        /// Limits in force.
        now: String,
    },
    /// Records failed and are to be tried again.
    Failed {
        /// How many.
        records: u64,
    },
    /// Records mention too much that they were not shown and are to be tried again.
    PoorlyGrounded {
        /// How many.
        records: u64,
    },
    /// Asked for.
    Forced,
    /// An earlier stage runs first; whether this one has work depends on what it writes.
    Waits {
        /// The earlier stage.
        stage: String,
    },
}

/// First names of a list and how many more there are.
fn names(list: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut text = list.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if list.len() > SHOWN {
        text.push_str(&format!(" and {} more", list.len() - SHOWN));
    }
    text
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeverBuilt => write!(f, "never built"),
            Self::RefDamaged { detail } => write!(f, "damaged ref: {detail}"),
            Self::RevisionChanged { old, new } => write!(f, "stage revision: {old} → {new}"),
            Self::ParamChanged { key, old, new } => write!(f, "{key}: {old} → {new}"),
            Self::InputChanged { input, old, new } => write!(f, "{input}: {old} → {new}"),
            Self::TreeChanged { modified, added, removed } => {
                let parts: Vec<String> = [("changed", modified), ("new", added), ("gone", removed)]
                    .into_iter()
                    .filter(|(_, list)| !list.is_empty())
                    .map(|(verb, list)| format!("{verb}: {}", names(list)))
                    .collect();
                write!(f, "files {}", parts.join("; "))
            }
            Self::TableVersionChanged { table, old, new } => {
                write!(f, "version of table {table}: {old} → {new}")
            }
            Self::IdentityChanged { name, old, new } => write!(f, "{name}: {old} → {new}"),
            Self::OutputDamaged { detail } => write!(f, "damaged: {detail}"),
            Self::Incomplete { last, now } => {
                write!(f, "records missing; limit last time {last}, now {now}")
            }
            Self::Failed { records } => write!(f, "{records} failed to be tried again"),
            Self::PoorlyGrounded { records } => {
                write!(f, "{records} poorly grounded to be tried again")
            }
            Self::Forced => write!(f, "forced"),
            Self::Waits { stage } => write!(f, "waits for {stage}"),
        }
    }
}

/// Every difference between two sets of key parts.
pub fn differences(old: &KeyParts, new: &KeyParts) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if old.revision != new.revision {
        reasons.push(Reason::RevisionChanged { old: old.revision, new: new.revision });
    }
    changed(&old.params, &new.params, |key, old, new| {
        reasons.push(Reason::ParamChanged {
            key,
            old: old.cloned().unwrap_or_default(),
            new: new.cloned().unwrap_or_default(),
        });
    });
    let short = |digest: Option<&Digest>| digest.map(Digest::short).unwrap_or_default();
    changed(&old.inputs, &new.inputs, |input, old, new| {
        reasons.push(Reason::InputChanged { input, old: short(old), new: short(new) });
    });
    changed(&old.tables, &new.tables, |table, old, new| {
        reasons.push(Reason::TableVersionChanged {
            table,
            old: old.copied().unwrap_or_default(),
            new: new.copied().unwrap_or_default(),
        });
    });
    changed(&old.identities, &new.identities, |name, old, new| {
        reasons.push(Reason::IdentityChanged {
            name,
            old: old.cloned().unwrap_or_default(),
            new: new.cloned().unwrap_or_default(),
        });
    });
    reasons
}

fn changed<V: PartialEq>(
    old: &BTreeMap<String, V>,
    new: &BTreeMap<String, V>,
    mut report: impl FnMut(String, Option<&V>, Option<&V>),
) {
    let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
    keys.sort();
    keys.dedup();
    for key in keys {
        if old.get(key) != new.get(key) {
            report(key.clone(), old.get(key), new.get(key));
        }
    }
}
