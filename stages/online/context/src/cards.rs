//! Cards: what is said of each ranked file before any source is shown.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::compress::{Granularity, by_folder, modules};
use crate::package::{Detail, LeftOut, Material};
use crate::sheet::{Place, Sheet};
use crate::symbols::Matched;

/// Symbols on a card.
pub(crate) const SYMBOLS: usize = 6;
/// Folders that name a module.
const MODULE_DEPTH: usize = 2;
/// Longest signature on a card, in characters.
const SIGNATURE: usize = 160;

/// Text and matched symbols of a ranked file.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) text: String,
    /// Best first.
    pub(crate) symbols: Vec<Matched>,
    /// For every line, whether it shares a word with the task.
    pub(crate) fitting: Vec<bool>,
}

impl Opened {
    /// Symbols that a card names.
    pub(crate) fn named(&self) -> &[Matched] {
        &self.symbols[..self.symbols.len().min(SYMBOLS)]
    }
}

/// Adds the view of the repository and the cards: a line for every file before more is said of any.
pub(crate) fn add(sheet: &mut Sheet<'_>, material: &Material<'_>) {
    let settings = material.settings;
    let budget = settings.card_budget();
    let is_coarse = material.granularity == Granularity::Module;
    // Where not all have room for a card, the best have one and the others are named by folder.
    let lines_budget = if is_coarse { budget / 2 } else { budget };
    let mut rest: Vec<usize> = Vec::new();
    for at in 0..material.ranked.len() {
        if !rest.is_empty() || !sheet.add(line(material, at), lines_budget) {
            rest.push(at);
        }
    }
    if settings.parts.compression {
        name(sheet, material, &rest, budget);
        show_modules(sheet, material);
    }
    for at in 0..material.ranked.len() {
        if sheet.has(Place::Card(at)) {
            sheet.add(details(material, at), budget);
        }
    }
    for at in (0..material.ranked.len()).filter(|at| material.opened.contains_key(at)) {
        if sheet.has(Place::Card(at)) {
            add_symbols(sheet, material, at, budget);
        }
    }
}

fn add_symbols(sheet: &mut Sheet<'_>, material: &Material<'_>, at: usize, budget: usize) {
    let named = material.opened.get(&at).into_iter().flat_map(Opened::named);
    for (nth, symbol) in named.enumerate() {
        let text = format!("  - {}\n", described(symbol, material.granularity));
        if !sheet.add(vec![(Place::Symbol(at, nth), text)], budget) {
            break;
        }
    }
}

/// The line of a ranked file, below its heading.
pub(crate) fn line(material: &Material<'_>, at: usize) -> Vec<(Place, String)> {
    let text = format!("[{}] {} ({})\n", at + 1, material.path(at), material.role(at));
    vec![(Place::FilesHeading, "# Files\n".to_owned()), (Place::Card(at), text)]
}

/// Why a file is here, what of the task it has, and what it is related to; files are named by number.
fn details(material: &Material<'_>, at: usize) -> Vec<(Place, String)> {
    let (one, facts) = (&material.ranked[at], &material.facts[at]);
    let mut said: Vec<String> = Vec::new();
    if let Some(explanation) = material.explanation(at) {
        let mark = if explanation.is_stale { " (stale: the file has changed since)" } else { "" };
        said.push(format!("{}{mark}", explanation.text));
    }
    if !one.reasons.is_empty() {
        let mut reasons = one.reasons.join(", ");
        if let Some((from, _)) = &one.through {
            let place = material.ranked.iter().position(|other| other.file == *from);
            if let Some(place) = place {
                let path = &material.view.files[*from].entry.path;
                reasons = reasons.replace(path.as_str(), &format!("[{}]", place + 1));
            }
        }
        said.push(reasons);
    }
    if !facts.cues.is_empty() {
        said.push(format!("has {}", facts.cues.join(" ")));
    }
    if !facts.neighbours.is_empty() {
        let near = facts.neighbours.iter().map(|(to, one)| format!("{} [{}]", one.kind.name(), to + 1));
        said.push(near.collect::<Vec<_>>().join(" "));
    }
    if !facts.bridges.is_empty() {
        let ends = facts.bridges.iter().map(|end| format!("[{}]", end + 1));
        said.push(format!("connects {}", ends.collect::<Vec<_>>().join(" ")));
    }
    if said.is_empty() {
        return Vec::new();
    }
    vec![(Place::Details(at), format!("  {}\n", said.join("; ")))]
}

fn described(symbol: &Matched, granularity: Granularity) -> String {
    let entity = &symbol.entity;
    let place = format!("{}-{}", entity.start_line, entity.end_line);
    if granularity == Granularity::Signature && !entity.signature.is_empty() {
        let signature: String = entity.signature.chars().take(SIGNATURE).collect();
        return format!("{place} {} {signature}", entity.kind);
    }
    format!("{place} {} {}", entity.kind, entity.qualified_name)
}

/// Names files without a card, by folder, as many as there is room for.
fn name(sheet: &mut Sheet<'_>, material: &Material<'_>, rest: &[usize], budget: usize) {
    for text_and_place in names(material, rest) {
        sheet.add(vec![text_and_place], budget);
    }
}

fn names(material: &Material<'_>, rest: &[usize]) -> Vec<(Place, String)> {
    let files: Vec<(usize, &str)> = rest.iter().map(|at| (*at, material.path(*at))).collect();
    let folders = by_folder(&files).into_iter();
    let text = |(folder, files): (&str, Vec<(usize, &str)>)| {
        let first = files.first().map_or(0, |(at, _)| *at);
        let mut text = format!("{folder}/:");
        for (at, name) in files {
            let _ = write!(text, " [{}] {name}", at + 1);
        }
        (Place::Names(first), text + "\n")
    };
    folders.map(text).collect()
}

/// Places of the ranked files that are only named.
pub(crate) fn named(sheet: &Sheet<'_>, material: &Material<'_>) -> HashSet<usize> {
    let rest: Vec<usize> = (0..material.ranked.len()).filter(|at| !sheet.has(Place::Card(*at))).collect();
    let files: Vec<(usize, &str)> = rest.iter().map(|at| (*at, material.path(*at))).collect();
    let folders = by_folder(&files).into_iter().map(|(_, files)| files);
    let shown = folders.filter(|files| files.first().is_some_and(|(at, _)| sheet.has(Place::Names(*at))));
    shown.flatten().map(|(at, _)| at).collect()
}

fn show_modules(sheet: &mut Sheet<'_>, material: &Material<'_>) {
    let settings = material.settings;
    let limit = sheet.used() + (settings.budget_tokens as f64 * settings.view_share) as usize;
    let limit = limit.min(settings.card_budget());
    let paths: Vec<&str> = material.view.files.iter().map(|file| file.entry.path.as_str()).collect();
    let ranked: Vec<&str> = (0..material.ranked.len()).map(|at| material.path(at)).collect();
    for (nth, text) in modules(&paths, &ranked, MODULE_DEPTH).into_iter().enumerate() {
        let heading = (Place::RepositoryHeading, "# Repository\n".to_owned());
        if !sheet.add(vec![heading, (Place::Repository(nth), text)], limit) {
            break;
        }
    }
}

/// What of a file in the package is left out, and why.
pub(crate) fn left_out(
    sheet: &Sheet<'_>,
    material: &Material<'_>,
    at: usize,
    detail: Detail,
) -> Option<(LeftOut, &'static str)> {
    let wanted = f64::from(material.facts[at].utility) >= material.settings.promotion.partial;
    match detail {
        Detail::Name => Some((LeftOut::Card, "no room for its card: it is only named")),
        Detail::Partial | Detail::Full => None,
        Detail::Metadata if !material.settings.parts.metadata_first => {
            Some((LeftOut::Source, "no room for its source"))
        }
        Detail::Metadata if !wanted => Some((LeftOut::Source, "its text is of little use for the task")),
        Detail::Metadata if at >= material.settings.opened => {
            Some((LeftOut::Source, "ranked below those whose source is read"))
        }
        Detail::Metadata if !sheet.has(Place::SourceFile(at)) => {
            Some((LeftOut::Source, "no room for its source"))
        }
        Detail::Metadata => None,
    }
}

/// Says at the end how many files had no room.
pub(crate) fn add_left_out(sheet: &mut Sheet<'_>, material: &Material<'_>) {
    let named = named(sheet, material);
    let without = |at: &usize| !sheet.has(Place::Card(*at)) && !named.contains(at);
    let missing = (0..material.ranked.len()).filter(without).count();
    let sources = (0..material.ranked.len())
        .filter(|at| sheet.has(Place::Card(*at)) && !sheet.has(Place::SourceFile(*at)))
        .count();
    let text = format!("\n({missing} ranked files are left out, {sources} are shown without source)\n");
    sheet.add(vec![(Place::LeftOut, text)], material.settings.budget_tokens);
}
