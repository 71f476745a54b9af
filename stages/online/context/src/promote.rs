//! Promotion: from a card to the lines that fit the task, from those to all of the text.

use std::collections::BTreeSet;

use crate::cards::{self, Opened};
use crate::package::{Detail, Material};
use crate::sheet::{Place, Sheet};
use crate::symbols::Matched;

/// Lines of a signature, and of one symbol shown whole.
const SIGNATURE_LINES: u32 = 6;
const SYMBOL_LINES: u32 = 60;
/// Lines of one symbol that share words with the task.
const FITTING_LINES: usize = 12;
/// Longest line that is shown, in characters.
const LINE: usize = 400;

/// Adds source by use: of every file that is of some use the best symbol's signature and matched lines,
/// then whole files that are of much use, then further symbols, then the symbols whole.
pub(crate) fn add(sheet: &mut Sheet<'_>, material: &Material<'_>) {
    let promotion = material.settings.promotion;
    let of_use = |least: f64| {
        let mut places: Vec<usize> = (0..material.ranked.len())
            .filter(|at| f64::from(material.facts[*at].utility) >= least)
            .filter(|at| material.opened.contains_key(at) && sheet.has(Place::Card(*at)))
            .collect();
        let utility = |at: &usize| material.facts[*at].utility;
        places.sort_by(|a, b| utility(b).total_cmp(&utility(a)).then(a.cmp(b)));
        places
    };
    let (some, much) = (of_use(promotion.partial), of_use(promotion.full));
    // The last line is said in this much.
    let budget = material.settings.budget_tokens.saturating_sub(LAST_LINE_TOKENS);
    partial(sheet, material, &some, 0, budget);
    let most = (material.settings.budget_tokens as f64 * promotion.full_share) as usize;
    for &at in &much {
        let Some(opened) = material.opened.get(&at) else { continue };
        let all = (1..=opened.fitting.len() as u32).collect();
        show(sheet, material, at, &all, budget.min(sheet.used() + most));
    }
    for round in 1..cards::SYMBOLS {
        partial(sheet, material, &some, round, budget);
    }
    for round in 0..cards::SYMBOLS {
        for &at in &some {
            if let Some((opened, symbol)) = symbol(material, at, round) {
                show(sheet, material, at, &whole(symbol, opened), budget);
            }
        }
    }
}

/// Room for the line that says what was left out.
const LAST_LINE_TOKENS: usize = 24;

/// Without metadata first: file after file, each with all of its text, as long as there is room.
pub(crate) fn add_in_rank_order(sheet: &mut Sheet<'_>, material: &Material<'_>) {
    let budget = material.settings.budget_tokens.saturating_sub(LAST_LINE_TOKENS);
    for at in 0..material.ranked.len() {
        if !sheet.add(cards::line(material, at), budget) {
            return;
        }
        let Some(opened) = material.opened.get(&at) else { continue };
        let all: Vec<u32> = (1..=opened.fitting.len() as u32).collect();
        // A file that does not fit is shown as far as it does, and ends the package.
        if show(sheet, material, at, &all.iter().copied().collect(), budget) {
            continue;
        }
        for line in all {
            if !show(sheet, material, at, &BTreeSet::from([line]), budget) {
                return;
            }
        }
    }
}

fn symbol<'m>(material: &'m Material<'_>, at: usize, round: usize) -> Option<(&'m Opened, &'m Matched)> {
    let opened = material.opened.get(&at)?;
    Some((opened, opened.symbols.get(round)?))
}

fn partial(sheet: &mut Sheet<'_>, material: &Material<'_>, places: &[usize], round: usize, budget: usize) {
    for &at in places {
        if let Some((opened, symbol)) = symbol(material, at, round) {
            show(sheet, material, at, &excerpt(symbol, opened), budget);
        }
    }
}

/// Adds lines of a file under its heading, all or none.
fn show(
    sheet: &mut Sheet<'_>,
    material: &Material<'_>,
    at: usize,
    lines: &BTreeSet<u32>,
    budget: usize,
) -> bool {
    let Some(opened) = material.opened.get(&at) else { return false };
    let mut pieces = vec![
        (Place::SourceHeading, "\n# Source, not all lines\n".to_owned()),
        (Place::SourceFile(at), format!("\n## [{}] {}\n", at + 1, material.path(at))),
    ];
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return false };
    let (skipped, taken) = (*first as usize - 1, (last - first + 1) as usize);
    for (number, text) in opened.text.lines().enumerate().skip(skipped).take(taken) {
        let number = number as u32 + 1;
        if lines.contains(&number) {
            let text: String = text.chars().take(LINE).collect();
            pieces.push((Place::Line(at, number), format!("{number}: {text}\n")));
        }
    }
    pieces.len() > 2 && sheet.add(pieces, budget)
}

/// Signature of a symbol, and the lines in it that share words with the task.
fn excerpt(symbol: &Matched, opened: &Opened) -> BTreeSet<u32> {
    let entity = &symbol.entity;
    let mut lines = BTreeSet::new();
    let texts = opened.text.lines().skip(entity.start_line as usize - 1);
    for (line, text) in (entity.start_line..=entity.end_line).zip(texts).take(SIGNATURE_LINES as usize) {
        lines.insert(line);
        if text.contains(['{', ';']) {
            break;
        }
    }
    let fitting = (entity.start_line..=entity.end_line)
        .filter(|line| opened.fitting.get(*line as usize - 1).copied().unwrap_or(false));
    lines.extend(fitting.take(FITTING_LINES));
    lines
}

/// A symbol whole, its first lines if it is long.
fn whole(symbol: &Matched, opened: &Opened) -> BTreeSet<u32> {
    let last = symbol.entity.end_line.min(symbol.entity.start_line + SYMBOL_LINES - 1);
    (symbol.entity.start_line..=last.min(opened.fitting.len() as u32)).collect()
}

/// How much of a ranked file with a card is shown.
pub(crate) fn detail(sheet: &Sheet<'_>, material: &Material<'_>, at: usize) -> Detail {
    let Some(opened) = material.opened.get(&at) else { return Detail::Metadata };
    let all = opened.fitting.len() as u32;
    let shown = (1..=all).filter(|line| sheet.has(Place::Line(at, *line))).count() as u32;
    match shown {
        0 => Detail::Metadata,
        shown if shown == all => Detail::Full,
        _ => Detail::Partial,
    }
}
