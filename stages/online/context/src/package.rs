//! The package: cards of files first, then source, under a hard budget.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use almanac_parse::ParseParams;
use serde::Serialize;

use crate::locate::{Ranked, Task, rank};
use crate::settings::ContextSettings;
use crate::snapshot::Entry;
use crate::symbols::{Matched, matched};
use crate::workspace::{View, Workspace};
use crate::{Error, Result};

/// Counts tokens as the reading model does.
pub type TokenCounter<'a> = &'a dyn Fn(&str) -> usize;

/// Smallest budget that holds a card.
const LEAST: usize = 100;
/// Symbols on a card, and lines of one symbol that are shown.
const SYMBOLS: usize = 6;
const SHOWN_LINES: u32 = 60;

/// A file that the task itself points to.
#[derive(Debug, Clone, Serialize)]
pub struct Anchor {
    /// Path in the tree.
    pub path: String,
    /// Score by the task's words alone.
    pub score: f32,
}

/// A file of the package.
#[derive(Debug, Clone, Serialize)]
pub struct FileCard {
    /// Path in the tree.
    pub path: String,
    /// Part it plays.
    pub role: String,
    /// Score, relations included.
    pub score: f32,
    /// Why it is here.
    pub reasons: Vec<String>,
    /// Whether some of its source is shown.
    pub has_source: bool,
}

/// A symbol or section that shares words with the task.
#[derive(Debug, Clone, Serialize)]
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
    /// Whether its source is shown.
    pub shown: bool,
}

/// A relation between two files of the package.
#[derive(Debug, Clone, Serialize)]
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

/// A ranked file without a card.
#[derive(Debug, Clone, Serialize)]
pub struct Omitted {
    /// Path in the tree.
    pub path: String,
    /// Why it was left out.
    pub reason: String,
}

/// The context of a task.
#[derive(Debug, Clone, Serialize)]
pub struct Package {
    /// The task as it was given.
    pub task: String,
    /// Commit that was read; `None` for a working tree.
    pub commit: Option<String>,
    /// Files in rank order, those without a card included.
    pub files: Vec<String>,
    /// Files that the task itself points to.
    pub anchors: Vec<Anchor>,
    /// Cards of the files in the context.
    pub cards: Vec<FileCard>,
    /// Symbols named in the context.
    pub entities: Vec<EntityCard>,
    /// Relations that brought files in.
    pub relations: Vec<RelationCard>,
    /// What the budget left out.
    pub omitted: Vec<Omitted>,
    /// Text for a model.
    pub context: String,
    /// Its tokens; never more than the budget.
    pub context_tokens: usize,
}

/// Recovers the context of a task from a view of a snapshot.
///
/// # Errors
/// An empty task, a budget under 100 tokens, or a file of the snapshot that cannot be read.
pub fn assemble(
    task: &str,
    workspace: &Workspace,
    view: &View,
    settings: &ContextSettings,
    params: &ParseParams,
    count: TokenCounter<'_>,
) -> Result<Package> {
    if task.trim().is_empty() {
        return Err(Error::EmptyTask);
    }
    if settings.budget_tokens < LEAST {
        return Err(Error::Budget { budget: settings.budget_tokens, least: LEAST });
    }
    let words = Task::new(task, &workspace.vocabulary);
    let mut ranked = rank(&words, view, settings);
    ranked.truncate(settings.listed);
    let opened = open(&ranked, workspace, view, settings, params, &words)?;
    let mut packer = Packer {
        view,
        settings,
        count,
        text: String::new(),
        package: Package {
            task: task.to_owned(),
            commit: view.snapshot.commit.clone(),
            files: ranked.iter().map(|one| path(view, one).to_owned()).collect(),
            anchors: anchors(&ranked, view, settings),
            cards: Vec::new(),
            entities: Vec::new(),
            relations: Vec::new(),
            omitted: Vec::new(),
            context: String::new(),
            context_tokens: 0,
        },
    };
    packer.cards(&ranked, &opened);
    packer.sources(&ranked, &opened);
    let mut package = packer.package;
    package.context_tokens = count(&packer.text);
    package.context = packer.text;
    Ok(package)
}

fn path<'v>(view: &'v View, ranked: &Ranked) -> &'v str {
    &view.files[ranked.file].entry.path
}

fn anchors(ranked: &[Ranked], view: &View, settings: &ContextSettings) -> Vec<Anchor> {
    let mut by_own: Vec<&Ranked> = ranked.iter().collect();
    by_own.sort_by(|a, b| b.own.total_cmp(&a.own).then(a.file.cmp(&b.file)));
    by_own
        .into_iter()
        .take(settings.anchors)
        .map(|one| Anchor { path: path(view, one).to_owned(), score: one.own })
        .collect()
}

/// Text and matched symbols of a file.
struct Opened {
    text: String,
    symbols: Vec<Matched>,
}

/// Reads the first files of the ranking.
fn open(
    ranked: &[Ranked],
    workspace: &Workspace,
    view: &View,
    settings: &ContextSettings,
    params: &ParseParams,
    task: &Task<'_>,
) -> Result<HashMap<usize, Opened>> {
    let wanted: Vec<&Entry> =
        ranked.iter().take(settings.opened).map(|one| &view.files[one.file].entry).collect();
    let mut texts: HashMap<String, String> = HashMap::new();
    view.snapshot.texts(&wanted, |entry, text| {
        texts.insert(entry.path.clone(), text);
    })?;
    let asked: HashSet<u32> = task.terms.iter().map(|(term, _)| *term).collect();
    let rarity = |term: u32| if asked.contains(&term) { view.whole.idf(term) } else { 0.0 };
    let mut opened = HashMap::new();
    for one in ranked.iter().take(settings.opened) {
        let Some(text) = texts.remove(path(view, one)) else { continue };
        let symbols = matched(path(view, one), &text, params, &workspace.vocabulary, rarity);
        opened.insert(one.file, Opened { text, symbols });
    }
    Ok(opened)
}

struct Packer<'a> {
    view: &'a View,
    settings: &'a ContextSettings,
    count: TokenCounter<'a>,
    text: String,
    package: Package,
}

impl Packer<'_> {
    /// Adds a piece if the whole stays within `budget` tokens.
    fn add(&mut self, piece: &str, budget: usize) -> bool {
        let before = self.text.len();
        self.text.push_str(piece);
        // The whole is counted: tokens may join across a border.
        if (self.count)(&self.text) <= budget {
            return true;
        }
        self.text.truncate(before);
        false
    }

    fn cards(&mut self, ranked: &[Ranked], opened: &HashMap<usize, Opened>) {
        let share = if self.settings.parts.metadata_first { self.settings.card_share } else { 0.2 };
        let budget = (self.settings.budget_tokens as f64 * share) as usize;
        self.add("# Files\n", budget);
        for one in ranked {
            let file = &self.view.files[one.file];
            let mut card = format!("- {} ({})", file.entry.path, file.role.as_str());
            if !one.reasons.is_empty() {
                let _ = write!(card, ": {}", one.reasons.join("; "));
            }
            card.push('\n');
            let symbols = opened.get(&one.file).map_or(&[][..], |opened| opened.symbols.as_slice());
            let mut named = String::new();
            for symbol in symbols.iter().take(SYMBOLS) {
                let entity = &symbol.entity;
                let _ = writeln!(
                    named,
                    "  - {} {} {}-{}",
                    entity.kind.as_str(),
                    entity.qualified_name,
                    entity.start_line,
                    entity.end_line
                );
            }
            let whole = self.add(&format!("{card}{named}"), budget);
            if !whole && !self.add(&card, budget) {
                self.package.omitted.push(Omitted {
                    path: file.entry.path.clone(),
                    reason: "no room for its card".to_owned(),
                });
                continue;
            }
            self.package.cards.push(FileCard {
                path: file.entry.path.clone(),
                role: file.role.as_str().to_owned(),
                score: one.score,
                reasons: one.reasons.clone(),
                has_source: false,
            });
            if whole {
                self.name(&file.entry.path, symbols);
            }
            self.relate(one);
        }
    }

    fn name(&mut self, path: &str, symbols: &[Matched]) {
        for symbol in symbols.iter().take(SYMBOLS) {
            self.package.entities.push(EntityCard {
                path: path.to_owned(),
                name: symbol.entity.qualified_name.clone(),
                kind: symbol.entity.kind.as_str().to_owned(),
                start_line: symbol.entity.start_line,
                end_line: symbol.entity.end_line,
                shown: false,
            });
        }
    }

    fn relate(&mut self, one: &Ranked) {
        if let Some((from, related)) = &one.through {
            self.package.relations.push(RelationCard {
                from: self.view.files[*from].entry.path.clone(),
                to: self.view.files[one.file].entry.path.clone(),
                kind: related.kind.name().to_owned(),
                evidence: related.evidence.clone(),
            });
        }
    }

    /// Source of the best symbols, the first of every file before the second of any.
    fn sources(&mut self, ranked: &[Ranked], opened: &HashMap<usize, Opened>) {
        let budget = self.settings.budget_tokens;
        let mut begun = false;
        let mut shown: HashSet<(usize, u32)> = HashSet::new();
        for round in 0..SYMBOLS {
            for one in ranked {
                let Some(file) = opened.get(&one.file) else { continue };
                let Some(symbol) = file.symbols.get(round) else { continue };
                let entity = &symbol.entity;
                let last = entity.end_line.min(entity.start_line + SHOWN_LINES - 1);
                if !(entity.start_line..=last).any(|line| !shown.contains(&(one.file, line))) {
                    continue;
                }
                let mut piece = if begun { String::new() } else { "\n# Source\n".to_owned() };
                let path = &self.view.files[one.file].entry.path;
                let _ = writeln!(piece, "\n## {path}:{}-{last} {}", entity.start_line, entity.qualified_name);
                let lines = file.text.lines().enumerate().skip(entity.start_line as usize - 1);
                for (at, line) in lines.take((last - entity.start_line + 1) as usize) {
                    let _ = writeln!(piece, "{}: {line}", at + 1);
                }
                if !self.add(&piece, budget) {
                    continue;
                }
                begun = true;
                shown.extend((entity.start_line..=last).map(|line| (one.file, line)));
                self.mark(path.clone().as_str(), entity.start_line);
            }
        }
    }

    fn mark(&mut self, path: &str, line: u32) {
        let cards = self.package.cards.iter_mut();
        cards.filter(|card| card.path == path).for_each(|card| card.has_source = true);
        let entities = self.package.entities.iter_mut();
        entities
            .filter(|entity| entity.path == path && entity.start_line == line)
            .for_each(|entity| entity.shown = true);
    }
}
