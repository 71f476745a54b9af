//! Definitions: qualified name, signature and line.

use std::collections::{BTreeMap, BTreeSet};

use almanac_tables::Entity;

use crate::graph::found::{Found, Group, comparable_name, group};
use crate::graph::names;
use crate::graph::tally::{Comparison, Mismatch};
use crate::graph::truth::{Place, Symbol, Truth};

/// Row over functions, records, enumerations and named lambdas with a body.
pub(crate) const ALL: &str = "all";
/// The same, without looking at signatures.
pub(crate) const NAME_AND_LINE: &str = "all, name and line only";

/// A definition of the truth.
struct Wanted<'a> {
    symbol: &'a Symbol,
    place: &'a Place,
    group: Group,
    name: String,
}

/// How well an entity fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// Only the name's last part and the place agree.
    Place,
    /// Name and place agree.
    Name,
    /// The signature, too.
    Whole,
}

pub(crate) fn compare(truth: &Truth, found: &Found) -> Comparison {
    let wanted = wanted(truth);
    let mut by_place: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
    for (at, one) in wanted.iter().enumerate() {
        by_place.entry((&one.place.path, names::last(&one.name))).or_default().push(at);
    }
    let mut fits: Vec<Option<(Fit, &Entity)>> = vec![None; wanted.len()];
    let mut comparison = Comparison::default();
    let entities = found
        .entities
        .iter()
        .filter_map(|entity| Some((entity, group(entity)?)))
        .filter(|(entity, _)| truth.files.contains_key(&entity.path));
    for (entity, group) in entities {
        let name = comparable_name(entity, truth);
        let key = (entity.path.as_str(), names::last(&name));
        let best = by_place
            .get(&key)
            .into_iter()
            .flatten()
            .filter_map(|&at| Some((fit(&wanted[at], entity, group, &name)?, at)))
            .filter(|&(fit, at)| fits[at].is_none_or(|(taken, _)| taken < fit))
            .max_by_key(|&(fit, at)| (fit, std::cmp::Reverse(at)));
        match best {
            Some((fit, at)) => {
                if let Some((fit, loser)) = fits[at].replace((fit, entity)) {
                    judge(&mut comparison, truth, loser, group, None, fit);
                }
            }
            None if !is_judged(truth, entity, group) => comparison.unjudged += 1,
            None => judge(&mut comparison, truth, entity, group, None, Fit::Place),
        }
    }
    for (one, fit) in wanted.iter().zip(&fits) {
        if let Some((fit, entity)) = *fit {
            judge(&mut comparison, truth, entity, one.group, Some(one), fit);
        }
        ask(&mut comparison, one, *fit, truth);
    }
    comparison.missing.sort();
    comparison.wrong.sort();
    comparison
}

/// Every definition that is asked for. What a macro from outside the tree makes is not.
fn wanted(truth: &Truth) -> Vec<Wanted<'_>> {
    let macro_lines = expanded_lines(truth);
    let mut wanted = Vec::new();
    for symbol in truth.symbols.values() {
        for place in &symbol.places {
            let from_tree = macro_lines.contains(&(place.path.as_str(), place.name_line));
            if place.in_macro && !from_tree && !symbol.name.ends_with("_Test::TestBody") {
                continue;
            }
            let Some(group) = wanted_group(symbol, place) else { continue };
            let name = match group {
                Group::Enumerator => names::last(&symbol.name),
                _ => symbol.name.clone(),
            };
            wanted.push(Wanted { symbol, place, group, name });
        }
    }
    wanted
}

fn wanted_group(symbol: &Symbol, place: &Place) -> Option<Group> {
    let is_defined = place.is_definition || place.is_generated;
    Some(match symbol.kind.as_str() {
        "function" | "method" | "constructor" | "destructor" | "conversion" if is_defined => Group::Function,
        "function" | "method" | "constructor" | "destructor" | "conversion" => Group::Declaration,
        "struct" | "class" | "union" if place.is_definition => Group::Record,
        "enum" if place.is_definition => Group::Enum,
        "lambda" => Group::Lambda,
        "alias" => Group::Alias,
        "enumerator" => Group::Enumerator,
        "variable" | "field" => Group::Data,
        "macro" => Group::Macro,
        _ => return None,
    })
}

/// Lines on which a macro of the tree is used.
fn expanded_lines(truth: &Truth) -> BTreeSet<(&str, u32)> {
    truth.expansions.iter().map(|expansion| (expansion.path.as_str(), expansion.line)).collect()
}

/// Whether an entity that nothing answers to is wrong, and not merely out of the compiler's sight.
fn is_judged(truth: &Truth, entity: &Entity, group: Group) -> bool {
    let is_unnamed = matches!(group, Group::Record | Group::Enum)
        && truth.unnamed.contains(&(entity.path.clone(), entity.start_line));
    !is_unnamed && truth.saw(&entity.path, entity.start_line) && truth.saw(&entity.path, entity.end_line)
}

fn fit(wanted: &Wanted<'_>, entity: &Entity, group: Group, name: &str) -> Option<Fit> {
    let place = wanted.place;
    let functions = [Group::Function, Group::Declaration];
    let is_same_group = group == wanted.group
        || place.is_generated && functions.contains(&group) && functions.contains(&wanted.group);
    if !is_same_group || !(place.outer_line..=place.name_line.max(place.line)).contains(&entity.start_line) {
        return None;
    }
    if name != wanted.name {
        return Some(Fit::Place);
    }
    let starts_right = entity.start_line <= place.line.max(place.outer_line);
    Some(if starts_right && has_signature(place, entity) { Fit::Whole } else { Fit::Name })
}

/// Parameters with names, types and defaults as written, cv and reference qualifiers, template heads.
fn has_signature(place: &Place, entity: &Entity) -> bool {
    let Some(parameters) = &place.parameters else { return true };
    let lists: Vec<String> = place.templates.iter().map(|list| format!("<{list}>")).collect();
    let qualifiers: Vec<String> =
        place.qualifiers.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect();
    names::parameters(parameters) == names::parameters(&entity.parameters)
        && qualifiers == names::qualifiers(&entity.signature, &entity.parameters)
        && names::template_parameters(&lists.join(" "))
            == names::template_parameters(&entity.template_parameters)
}

fn is_headline(group: Group) -> bool {
    matches!(group, Group::Function | Group::Record | Group::Enum | Group::Lambda)
}

fn group_row(group: Group) -> &'static str {
    match group {
        Group::Function => "function",
        Group::Record => "class, struct, union",
        Group::Enum => "enumeration",
        Group::Lambda => "lambda",
        Group::Declaration => "(function declared)",
        Group::Alias => "(alias)",
        Group::Enumerator => "(enumerator)",
        Group::Data => "(variable, data member)",
        Group::Macro => "(macro)",
    }
}

/// Rows of the truth's constructs.
fn rows(one: &Wanted<'_>) -> Vec<String> {
    let mut rows = vec![group_row(one.group).to_owned()];
    if is_headline(one.group) {
        rows.push(ALL.to_owned());
    }
    if one.group == Group::Function {
        rows.extend(one.place.tags.iter().filter(|tag| *tag != "lambda").cloned());
    }
    rows
}

fn ask(comparison: &mut Comparison, one: &Wanted<'_>, fit: Option<(Fit, &Entity)>, truth: &Truth) {
    if one.place.is_generated {
        return;
    }
    let is_whole = fit.is_some_and(|(fit, _)| fit == Fit::Whole);
    comparison.wanted(&rows(one), is_whole);
    if is_headline(one.group) {
        comparison.wanted(&[NAME_AND_LINE], fit.is_some_and(|(fit, _)| fit >= Fit::Name));
    }
    if !is_whole {
        comparison.missing.push(Mismatch {
            path: one.place.path.clone(),
            line: one.place.line,
            expected: described(one),
            found: fit.map(|(_, entity)| describe(entity, truth)).unwrap_or_default(),
            tags: rows(one).join(" "),
        });
    }
}

fn judge(
    comparison: &mut Comparison,
    truth: &Truth,
    entity: &Entity,
    group: Group,
    one: Option<&Wanted<'_>>,
    fit: Fit,
) {
    let is_right = one.is_some() && fit == Fit::Whole;
    if one.is_some_and(|one| one.place.is_generated) {
        return;
    }
    let named = match one {
        Some(one) => rows(one),
        None if is_headline(group) => vec![group_row(group).to_owned(), ALL.to_owned()],
        None => vec![group_row(group).to_owned()],
    };
    comparison.said(&named, 1.0, is_right);
    if is_headline(group) {
        comparison.said(&[NAME_AND_LINE], 1.0, one.is_some() && fit >= Fit::Name);
    }
    if !is_right {
        comparison.wrong.push(Mismatch {
            path: entity.path.clone(),
            line: entity.start_line,
            expected: one.map(described).unwrap_or_default(),
            found: describe(entity, truth),
            tags: named.join(" "),
        });
    }
}

fn described(one: &Wanted<'_>) -> String {
    let parameters = one.place.parameters.as_ref().map(|list| format!("({list})")).unwrap_or_default();
    let qualifiers = one.place.qualifiers.clone().unwrap_or_default();
    let heads: Vec<String> = one.place.templates.iter().map(|list| format!("template<{list}> ")).collect();
    format!("{} {}{}{parameters} {qualifiers}", one.symbol.kind, heads.concat(), one.name)
        .trim_end()
        .to_owned()
}

fn describe(entity: &Entity, truth: &Truth) -> String {
    let name = comparable_name(entity, truth);
    format!(
        "{} {} {}({}) | {} | from line {}",
        entity.kind.as_str(),
        entity.template_parameters,
        name,
        entity.parameters,
        entity.signature,
        entity.start_line
    )
}
