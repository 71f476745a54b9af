//! The package of a task: cards of files first, then source where it is of use, under a hard budget.

use std::collections::HashMap;

use almanac_parse::ParseParams;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cards::{self, Opened};
use crate::compress::Granularity;
use crate::explained::{Explained, Explanation};
use crate::facts::{self, Facts};
use crate::locate::{Ranked, Task, rank};
use crate::promote;
use crate::settings::ContextSettings;
use crate::sheet::{Place, Sheet, TokenCounter};
use crate::snapshot::Entry;
use crate::state::State;
use crate::symbols::{self, line_terms, matched};
use crate::workspace::{View, Workspace};
use crate::{Error, Result};

/// Smallest budget that holds a card.
const LEAST: usize = 100;

/// A file that the task itself points to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Anchor {
    /// Path in the tree.
    pub path: String,
    /// Score by the task's words alone.
    pub score: f32,
}

/// How much of a file the package shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Its name among those of its folder.
    Name,
    /// Its card.
    Metadata,
    /// Signatures and the lines that fit the task.
    Partial,
    /// All of its text.
    Full,
}

/// A related file on a card.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Neighbour {
    /// Path in the tree.
    pub path: String,
    /// Kind of relation.
    pub kind: String,
}

/// A file of the package.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FileCard {
    /// Path in the tree.
    pub path: String,
    /// Part it plays.
    pub role: String,
    /// Score, relations included.
    pub score: f32,
    /// How much its text is likely to matter, from 0 to 1.
    pub utility: f32,
    /// How much of it is shown.
    pub detail: Detail,
    /// Why it is here.
    pub reasons: Vec<String>,
    /// Words of the task that it has, rarest first.
    pub cues: Vec<String>,
    /// Files of the package it is related to, surest first.
    pub neighbours: Vec<Neighbour>,
    /// Files of the package, one of each part, that only it connects.
    pub bridges: Vec<String>,
    /// What the store says of it; null without one.
    pub explanation: Option<Explanation>,
    /// Whether some of its source is shown.
    pub has_source: bool,
}

/// A symbol or section that shares words with the task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EntityCard {
    /// File.
    pub path: String,
    /// Name with its scopes.
    pub name: String,
    /// Kind.
    pub kind: String,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
    /// Whether its first line is shown.
    pub shown: bool,
}

/// A relation between two files of the package.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RelationCard {
    /// From.
    pub from: String,
    /// To.
    pub to: String,
    /// Kind.
    pub kind: String,
    /// What shows it.
    pub evidence: String,
}

/// What of a ranked file is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// Everything.
    File,
    /// What its card would say beside its name.
    Card,
    /// Its source.
    Source,
}

/// A ranked file of which something is left out.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Omitted {
    /// Path in the tree.
    pub path: String,
    /// What is left out.
    pub what: LeftOut,
    /// Why.
    pub reason: String,
}

/// The context of a task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Package {
    /// The task as it was given.
    pub task: String,
    /// Commit that was read; null for a working tree.
    pub commit: Option<String>,
    /// Which state of the tree this is of.
    pub state: State,
    /// Files in rank order, those without a card included.
    pub files: Vec<String>,
    /// Files that the task itself points to.
    pub anchors: Vec<Anchor>,
    /// Cards of the files in the context.
    pub cards: Vec<FileCard>,
    /// Symbols named in the context.
    pub entities: Vec<EntityCard>,
    /// Relations between files of the context.
    pub relations: Vec<RelationCard>,
    /// What the budget and the thresholds left out.
    pub omitted: Vec<Omitted>,
    /// Grain at which the repository is shown.
    pub granularity: Granularity,
    /// Text for a model.
    pub context: String,
    /// Its tokens; never more than the budget.
    pub context_tokens: usize,
    /// The budget.
    pub budget_tokens: usize,
    /// What counts tokens: a model's tokenizer, or how it is approximated.
    pub tokenizer: String,
}

/// What `almanac context --json` prints of a task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "almanac context --json")]
pub struct Answer {
    /// The context.
    #[serde(flatten)]
    pub package: Package,
    /// Seconds it took, reading the tree included.
    pub seconds: f64,
}

/// What a package is made with.
pub struct Means<'a> {
    /// Weights, thresholds and the budget.
    pub settings: &'a ContextSettings,
    /// How files are parsed.
    pub params: &'a ParseParams,
    /// Counts tokens.
    pub count: TokenCounter<'a>,
    /// What counts them.
    pub tokenizer: &'a str,
    /// What a store says of the files of a working tree.
    pub explained: Option<&'a Explained>,
}

/// Everything that cards and source are made from.
pub(crate) struct Material<'a> {
    pub(crate) view: &'a View,
    pub(crate) settings: &'a ContextSettings,
    pub(crate) ranked: Vec<Ranked>,
    pub(crate) facts: Vec<Facts>,
    /// Of the first files of the ranking, by place.
    pub(crate) opened: HashMap<usize, Opened>,
    pub(crate) granularity: Granularity,
    pub(crate) explained: Option<&'a Explained>,
}

impl Material<'_> {
    /// Path of a ranked file.
    pub(crate) fn path(&self, place: usize) -> &str {
        &self.view.files[self.ranked[place].file].entry.path
    }

    /// What the store says of a ranked file. Contents of a commit have other names than those of a store.
    pub(crate) fn explanation(&self, place: usize) -> Option<Explanation> {
        let entry = &self.view.files[self.ranked[place].file].entry;
        let explained = self.explained.filter(|_| self.view.snapshot.commit.is_none())?;
        explained.of(&entry.path, &entry.content)
    }

    /// Part that a ranked file plays.
    pub(crate) fn role(&self, place: usize) -> &'static str {
        self.view.files[self.ranked[place].file].role.as_str()
    }
}

/// Recovers the context of a task from a view of a snapshot.
///
/// # Errors
/// An empty task, a budget under 100 tokens, or a file of the snapshot that cannot be read.
pub fn assemble(task: &str, workspace: &Workspace, view: &View, means: &Means<'_>) -> Result<Package> {
    let settings = means.settings;
    if task.trim().is_empty() {
        return Err(Error::EmptyTask);
    }
    if settings.budget_tokens < LEAST {
        return Err(Error::Budget { budget: settings.budget_tokens, least: LEAST });
    }
    let terms = Task::new(task, &workspace.vocabulary);
    let mut ranked = rank(&terms, view, settings);
    ranked.truncate(settings.listed);
    let facts = facts::gather(&ranked, task, &terms, view, &workspace.vocabulary, settings);
    let opened = open(&ranked, workspace, view, means, &terms)?;
    let granularity = if settings.parts.compression {
        Granularity::of(ranked.len(), view.files.len(), settings.card_budget())
    } else {
        Granularity::File
    };
    let material =
        Material { view, settings, ranked, facts, opened, granularity, explained: means.explained };
    let mut sheet = Sheet::new(means.count);
    if settings.parts.metadata_first {
        cards::add(&mut sheet, &material);
        promote::add(&mut sheet, &material);
    } else {
        promote::add_in_rank_order(&mut sheet, &material);
    }
    cards::add_left_out(&mut sheet, &material);
    let (context, context_tokens) = sheet.finish(settings.budget_tokens);
    let mut package = described(&sheet, &material);
    package.task = task.to_owned();
    package.context = context;
    package.context_tokens = context_tokens;
    package.tokenizer = means.tokenizer.to_owned();
    match means.explained {
        Some(explained) if view.snapshot.commit.is_none() => {
            package.state.store = Some(explained.beside(&view.snapshot));
        }
        Some(_) => package.state.warn("the store takes no part: it is compared with working trees only"),
        None => {}
    }
    Ok(package)
}

/// Reads the first files of the ranking.
fn open(
    ranked: &[Ranked],
    workspace: &Workspace,
    view: &View,
    means: &Means<'_>,
    task: &Task<'_>,
) -> Result<HashMap<usize, Opened>> {
    let first = &ranked[..means.settings.opened.min(ranked.len())];
    let wanted: Vec<&Entry> = first.iter().map(|one| &view.files[one.file].entry).collect();
    let mut texts: HashMap<String, String> = HashMap::new();
    view.snapshot.texts(&wanted, |entry, text| {
        texts.insert(entry.path.clone(), text);
    })?;
    // A word that no file has says nothing, even where something read before has it.
    let unknown = view.whole.idf(u32::MAX);
    let asked: HashMap<u32, f32> = task
        .terms
        .iter()
        .map(|(term, _)| (*term, view.whole.idf(*term)))
        .filter(|(_, idf)| *idf < unknown)
        .collect();
    let rarity = |term: u32| asked.get(&term).copied().unwrap_or(0.0);
    read_symbols(&wanted, &texts, workspace, means.params);
    let read = workspace.symbols.borrow();
    let mut opened = HashMap::new();
    for (place, entry) in wanted.iter().enumerate() {
        let Some(text) = texts.remove(&entry.path) else { continue };
        let lines = line_terms(&text, &workspace.vocabulary);
        let symbols = read.of(&entry.path, &entry.content).unwrap_or(&[]);
        let symbols = matched(symbols, &lines, &workspace.vocabulary, rarity);
        let fitting = lines.iter().map(|terms| terms.iter().any(|term| rarity(*term) > 0.0)).collect();
        opened.insert(place, Opened { text, symbols, fitting });
    }
    Ok(opened)
}

/// Parses the files that no package has opened yet.
fn read_symbols(
    wanted: &[&Entry],
    texts: &HashMap<String, String>,
    workspace: &Workspace,
    params: &ParseParams,
) {
    let mut symbols = workspace.symbols.borrow_mut();
    let unread: Vec<(&Entry, &String)> = wanted
        .iter()
        .filter(|entry| !symbols.has(&entry.path, &entry.content))
        .filter_map(|entry| Some((*entry, texts.get(&entry.path)?)))
        .collect();
    let read: Vec<_> =
        unread.par_iter().map(|(entry, text)| symbols::read(&entry.path, text, params)).collect();
    for ((entry, _), found) in unread.iter().zip(read) {
        symbols.insert(&entry.path, &entry.content, found);
        workspace.has_new_symbols.set(true);
    }
}

/// What the sheet holds, for programs.
fn described(sheet: &Sheet<'_>, material: &Material<'_>) -> Package {
    let settings = material.settings;
    let anchors = facts::anchors(&material.ranked, settings.anchors);
    let anchor = |at: usize| Anchor { path: material.path(at).to_owned(), score: material.ranked[at].own };
    let mut package = Package {
        task: String::new(),
        commit: material.view.snapshot.commit.clone(),
        state: material.view.snapshot.state.clone(),
        files: (0..material.ranked.len()).map(|at| material.path(at).to_owned()).collect(),
        anchors: anchors.into_iter().map(anchor).collect(),
        cards: Vec::new(),
        entities: Vec::new(),
        relations: Vec::new(),
        omitted: Vec::new(),
        granularity: material.granularity,
        context: String::new(),
        context_tokens: 0,
        budget_tokens: settings.budget_tokens,
        tokenizer: String::new(),
    };
    let named = cards::named(sheet, material);
    for at in 0..material.ranked.len() {
        let detail = promote::detail(sheet, material, at);
        let has_card = sheet.has(Place::Card(at));
        let path = material.path(at).to_owned();
        if !has_card && !named.contains(&at) {
            let reason = "no room for its card".to_owned();
            package.omitted.push(Omitted { path, what: LeftOut::File, reason });
            continue;
        }
        let detail = if has_card { detail } else { Detail::Name };
        let facts = &material.facts[at];
        if let Some((what, reason)) = cards::left_out(sheet, material, at, detail) {
            package.omitted.push(Omitted { path: path.clone(), what, reason: reason.to_owned() });
        }
        let neighbour = |place: usize, kind: &str| Neighbour {
            path: material.path(place).to_owned(),
            kind: kind.to_owned(),
        };
        package.cards.push(FileCard {
            path: path.clone(),
            role: material.role(at).to_owned(),
            score: material.ranked[at].score,
            utility: facts.utility,
            detail,
            reasons: material.ranked[at].reasons.clone(),
            cues: facts.cues.clone(),
            neighbours: facts.neighbours.iter().map(|(to, one)| neighbour(*to, one.kind.name())).collect(),
            bridges: facts.bridges.iter().map(|end| material.path(*end).to_owned()).collect(),
            explanation: material.explanation(at),
            has_source: matches!(detail, Detail::Partial | Detail::Full),
        });
        for (nth, symbol) in material.opened.get(&at).into_iter().flat_map(Opened::named).enumerate() {
            let entity = &symbol.entity;
            let shown = sheet.has(Place::Line(at, entity.start_line));
            if shown || sheet.has(Place::Symbol(at, nth)) {
                package.entities.push(EntityCard {
                    path: path.clone(),
                    name: entity.qualified_name.clone(),
                    kind: entity.kind.clone(),
                    start_line: entity.start_line,
                    end_line: entity.end_line,
                    shown,
                });
            }
        }
    }
    relate(&mut package, material, |at| sheet.has(Place::Card(at)) || named.contains(&at));
    package
}

/// Relations among files of the package: what brought each in, then its other neighbours.
fn relate(package: &mut Package, material: &Material<'_>, is_in: impl Fn(usize) -> bool) {
    let path = |file: usize| material.view.files[file].entry.path.clone();
    for at in (0..material.ranked.len()).filter(|at| is_in(*at)) {
        let one = &material.ranked[at];
        let brought = one.through.iter().map(|(from, related)| (*from, one.file, related));
        let others = material.facts[at].neighbours.iter().filter(|(to, _)| is_in(*to));
        let others = others.map(|(to, related)| (one.file, material.ranked[*to].file, related));
        for (from, to, related) in brought.chain(others) {
            let card = RelationCard {
                from: path(from),
                to: path(to),
                kind: related.kind.name().to_owned(),
                evidence: related.evidence.clone(),
            };
            let is_known = |known: &RelationCard| {
                known.kind == card.kind
                    && ((known.from == card.from && known.to == card.to)
                        || (known.evidence == card.evidence
                            && known.from == card.to
                            && known.to == card.from))
            };
            if !package.relations.iter().any(is_known) {
                package.relations.push(card);
            }
        }
    }
}
