//! What is in the store, counted from its tables.

use std::collections::BTreeMap;

use almanac_artifact::{Artifact, Store, Table};
use almanac_catalog::stage;
use almanac_freshness::Plan;
use almanac_tables::{
    Entity, EntityKind, EntityLevel, Explanation, File, FileStatus, Language, Module, RecordStatus, Resolved,
    Summary,
};
use serde::Serialize;

use super::resolved::{self, Resolution};

/// Counts over the artifacts that exist.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Counts {
    pub(crate) files: u64,
    /// C++ files under `src/`, as the paper counts them.
    pub(crate) source_files_under_src: u64,
    /// `.md`, `.rst` and `.txt` files, as the paper counts them.
    pub(crate) documents: u64,
    pub(crate) functions: u64,
    pub(crate) classes: u64,
    pub(crate) enums: u64,
    /// Headings of documents with what stands below them.
    pub(crate) sections: u64,
    /// Texts outside symbols and sections, such as a file of settings.
    pub(crate) text_blocks: u64,
    pub(crate) entities: u64,
    pub(crate) references: u64,
    pub(crate) edges: u64,
    pub(crate) modules: u64,
    /// What became of the references, by what they ask for.
    pub(crate) resolved: Vec<Resolution>,
    pub(crate) call_chains: u64,
    pub(crate) chunks: u64,
    pub(crate) vectors: u64,
    /// Bytes of files read by a grammar for code.
    pub(crate) source_bytes: u64,
    /// Bytes of those inside ERROR nodes.
    pub(crate) error_bytes: u64,
    /// Files that could not be read, with the reason.
    pub(crate) unread: Vec<String>,
    /// Whether this is the paper's corpus.
    pub(crate) is_papers_corpus: bool,
}

impl Counts {
    /// Names and numbers for people.
    pub(crate) fn lines(&self) -> [(&'static str, u64); 13] {
        [
            ("files", self.files),
            ("documents (.md .rst .txt)", self.documents),
            ("entities", self.entities),
            ("functions and methods defined", self.functions),
            ("classes and structs", self.classes),
            ("enumerations", self.enums),
            ("documentation sections", self.sections),
            ("other blocks of text", self.text_blocks),
            ("edges", self.edges),
            ("modules (folders and namespaces)", self.modules),
            ("call chains", self.call_chains),
            ("chunks", self.chunks),
            ("vectors", self.vectors),
        ]
    }
}

/// Generated texts of one level.
#[derive(Debug, Serialize)]
pub(crate) struct Coverage {
    pub(crate) level: String,
    pub(crate) done: u64,
    pub(crate) missing: u64,
    /// Not asked for: files of roles that are skipped.
    pub(crate) unwanted: u64,
    pub(crate) failed: u64,
    /// Of those done, how many mention too many names that they were not shown.
    pub(crate) poorly_grounded: u64,
    /// Mean share of grounded names of those done; absent when none is.
    pub(crate) grounding: Option<f64>,
    /// First failures with their reasons.
    pub(crate) failures: Vec<String>,
    /// First poorly grounded ones with the names they made up.
    pub(crate) made_up: Vec<String>,
}

/// What is shown of a row of either table.
struct Row<'a> {
    status: RecordStatus,
    subject: &'a str,
    reason: &'a str,
    grounding: Option<f32>,
    is_poor: bool,
    ungrounded: &'a [String],
}

const FAILURES_SHOWN: usize = 3;

impl Coverage {
    fn of<'a>(level: &str, rows: impl Iterator<Item = Row<'a>>) -> Self {
        let mut coverage = Self {
            level: level.to_owned(),
            done: 0,
            missing: 0,
            unwanted: 0,
            failed: 0,
            poorly_grounded: 0,
            grounding: None,
            failures: Vec::new(),
            made_up: Vec::new(),
        };
        let mut shares = Vec::new();
        for Row { status, subject, reason, grounding, is_poor, ungrounded } in rows {
            shares.extend(grounding.map(f64::from));
            if is_poor {
                coverage.poorly_grounded += 1;
                if coverage.made_up.len() < FAILURES_SHOWN {
                    coverage.made_up.push(format!("{subject}: {}", ungrounded.join(", ")));
                }
            }
            match status {
                RecordStatus::Done => coverage.done += 1,
                RecordStatus::Missing => coverage.missing += 1,
                RecordStatus::Unwanted => coverage.unwanted += 1,
                RecordStatus::Failed => {
                    coverage.failed += 1;
                    if coverage.failures.len() < FAILURES_SHOWN {
                        coverage.failures.push(format!("{subject}: {reason}"));
                    }
                }
            }
        }
        coverage.grounding = (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64);
        coverage
    }
}

/// Counts what the current artifacts hold; one that was never built or is damaged counts nothing.
pub(crate) fn read(store: &Store, profile: &str, plan: &Plan) -> miette::Result<(Counts, Vec<Coverage>)> {
    let mut artifacts: BTreeMap<&str, Artifact> = BTreeMap::new();
    for planned in &plan.stages {
        let writer = stage(planned.stage).map_or("", |stage| stage.name);
        match store.current(profile, planned.artifact, writer) {
            Ok(artifact) => {
                artifacts.insert(planned.artifact, artifact);
            }
            Err(almanac_artifact::Error::NoArtifact { .. }) => {}
            // The stage table says what is wrong with it.
            Err(error) if error.is_damage() => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut counts = Counts::default();
    let mut coverage = Vec::new();
    if let Some(sources) = artifacts.get("sources") {
        count_files(&mut counts, &rows::<File>(sources)?);
        count_entities(&mut counts, &rows::<Entity>(sources)?);
        counts.references = table_rows(sources, "references");
    }
    if let Some(graph) = artifacts.get("graph") {
        counts.edges = table_rows(graph, "edges");
        counts.modules = rows::<Module>(graph)?.len() as u64;
        counts.resolved = resolved::by_kind(&rows::<Resolved>(graph)?);
    }
    if let Some(explanations) = artifacts.get("explanations") {
        let records = rows::<Explanation>(explanations)?;
        let view = records.iter().map(|row| Row {
            status: row.status,
            subject: &row.entity_id,
            reason: &row.reason,
            grounding: row.grounding,
            is_poor: row.poorly_grounded,
            ungrounded: &row.ungrounded,
        });
        coverage.push(Coverage::of("symbols", view));
    }
    if let Some(summaries) = artifacts.get("summaries") {
        let records = rows::<Summary>(summaries)?;
        for (level, name) in [
            (EntityLevel::File, "files"),
            (EntityLevel::Module, "modules"),
            (EntityLevel::CallChain, "call chains"),
        ] {
            let of_level = records.iter().filter(|record| record.level == level);
            if level == EntityLevel::CallChain {
                counts.call_chains = of_level.clone().count() as u64;
            }
            let view = of_level.map(|row| Row {
                status: row.status,
                subject: &row.id,
                reason: &row.reason,
                grounding: row.grounding,
                is_poor: row.poorly_grounded,
                ungrounded: &row.ungrounded,
            });
            coverage.push(Coverage::of(name, view));
        }
    }
    if let Some(embeddings) = artifacts.get("embeddings") {
        counts.chunks = table_rows(embeddings, "chunks");
        counts.vectors = table_rows(embeddings, "embeddings");
    }
    Ok((counts, coverage))
}

/// Rows of a table; none when it is damaged, which the stage table says.
fn rows<T: Table>(artifact: &Artifact) -> miette::Result<Vec<T>> {
    match artifact.read() {
        Ok(rows) => Ok(rows),
        Err(error) if error.is_damage() => {
            almanac_terminal::warning(&error);
            Ok(Vec::new())
        }
        Err(error) => Err(error.into()),
    }
}

fn table_rows(artifact: &Artifact, table: &str) -> u64 {
    artifact.manifest().tables.get(table).map_or(0, |table| table.rows)
}

fn count_files(counts: &mut Counts, files: &[File]) {
    counts.files = files.len() as u64;
    counts.is_papers_corpus = files.iter().any(|file| file.path == "src/Ippl.h");
    for file in files {
        let is_code = matches!(file.language, Language::Cpp | Language::C | Language::Cuda | Language::Hip);
        let has = |extensions: &[&str]| extensions.iter().any(|extension| file.path.ends_with(extension));
        if is_code {
            counts.source_bytes += file.bytes;
            counts.error_bytes += file.error_bytes;
        }
        if file.path.starts_with("src/") && has(&[".h", ".hpp", ".cpp"]) {
            counts.source_files_under_src += 1;
        }
        if has(&[".md", ".rst", ".txt"]) {
            counts.documents += 1;
        }
        if file.status == FileStatus::Unreadable {
            counts.unread.push(format!("{}: {}", file.path, file.status_reason));
        }
    }
}

fn count_entities(counts: &mut Counts, entities: &[Entity]) {
    counts.entities = entities.len() as u64;
    for entity in entities {
        match entity.kind {
            EntityKind::FunctionDefinition | EntityKind::MethodDefinition => counts.functions += 1,
            EntityKind::Class | EntityKind::Struct if entity.is_definition => counts.classes += 1,
            EntityKind::Enum => counts.enums += 1,
            EntityKind::Section => counts.sections += 1,
            EntityKind::TextBlock => counts.text_blocks += 1,
            _ => {}
        }
    }
}
