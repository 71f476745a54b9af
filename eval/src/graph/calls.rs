//! Call edges: caller, callee, and the line that shows it.
//!
//! An edge is a pair of functions, as in the store. It is right when the compiler sees a call from
//! the one to the other on the line the edge names; a call is found when an edge joins its two
//! functions. One edge of an overload set of n counts 1/n.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use almanac_tables::{Edge, EdgeKind, Entity, EntityKind};

use crate::graph::found::{Found, comparable_name, is_ambiguous};
use crate::graph::names;
use crate::graph::tally::{Comparison, Mismatch};
use crate::graph::truth::{Call, Truth};

/// Row over everything that is spelled in the source.
pub(crate) const ALL: &str = "all";
/// The same, but for edges of overload sets.
pub(crate) const UNAMBIGUOUS: &str = "all, overload sets left out";
/// The same, counting an overload in sight of a dependent call as right.
pub(crate) const IN_SIGHT: &str = "all, overloads in sight count as right";

/// The same, but for calls spelled in the body of a macro.
pub(crate) const NO_MACROS: &str = "all, calls in macro bodies left out";
/// The same, but for calls whose callee depends on template arguments with no overload in sight: the
/// receiver is of a type that only an instantiation knows.
pub(crate) const SETTLED: &str = "all, calls that only an instantiation settles left out";

/// Row, and tag, of launches. Edges of their own kind, they count in no other row.
const LAUNCH: &str = "launch";

/// How an edge stands to the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    /// Not what was called, but an overload that another instantiation may call.
    InSight,
    Wrong,
    /// The compiler did not see it or cannot tell.
    Unjudged,
}

/// A call that is asked for.
struct Wanted<'a> {
    caller: usize,
    /// First place of it.
    path: &'a str,
    line: u32,
    /// Acceptable callees: one, or the overloads in sight.
    callees: Vec<usize>,
    tags: BTreeSet<String>,
    /// Whether the callee is known through an instantiation alone.
    needs_instance: bool,
}

/// Calls by the function they stand in.
struct Sites<'a> {
    truth: &'a Truth,
    by_caller: HashMap<usize, Vec<&'a Call>>,
    by_place: HashMap<(&'a str, u32), Vec<&'a Call>>,
}

pub(crate) fn compare(truth: &Truth, found: &Found) -> Comparison {
    let sites = Sites::new(truth);
    let mut comparison = Comparison::default();
    // Caller and callee, with whether the edge stands alone.
    let mut pairs: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    let mut launching: BTreeSet<usize> = BTreeSet::new();
    let mut macros = Macros::default();
    for edge in &found.edges {
        let (Some(target), caller) = (found.entity(&edge.target), found.entity(&edge.source)) else {
            continue;
        };
        let caller = caller.map(|entity| found.function_around(entity));
        let callers = caller.map(|caller| found.symbols(caller, truth)).unwrap_or_default();
        let targets = found.symbols(target, truth);
        if macros.take(edge, caller, target, &callers, &targets) {
            continue;
        }
        let said = Said { edge, caller, target, callers, targets };
        if edge.kind == EdgeKind::Launches {
            launching.extend(&said.callers);
            judge_launch(&mut comparison, &sites, &said);
            continue;
        }
        for pair in said.callers.iter().flat_map(|&caller| said.targets.iter().map(move |&to| (caller, to))) {
            *pairs.entry(pair).or_default() |= !is_ambiguous(edge);
        }
        judge(&mut comparison, &sites, &said, sites.verdict(&said));
    }
    ask_launches(&mut comparison, &sites, &launching);
    for wanted in sites.wanted() {
        let through_macro = |callee: &usize| macros.lead(wanted.caller, *callee);
        let pair = |callee: &usize| {
            pairs.get(&(wanted.caller, *callee)).copied().or_else(|| through_macro(callee).then_some(true))
        };
        ask(&mut comparison, truth, &wanted, wanted.callees.iter().filter_map(pair).max());
    }
    comparison.missing.sort();
    comparison.wrong.sort();
    comparison
}

/// Edges to and from macros: a function expands one, its body calls.
#[derive(Default)]
struct Macros {
    /// Function to identifiers of macros.
    expanded_by: BTreeMap<usize, BTreeSet<String>>,
    /// Identifier of a macro to those of the macros in its body.
    expanded_in: HashMap<String, BTreeSet<String>>,
    /// Identifier of a macro to functions.
    called_by: HashMap<String, BTreeSet<usize>>,
}

impl Macros {
    /// Keeps an edge that has a macro at one end.
    fn take(
        &mut self,
        edge: &Edge,
        caller: Option<&Entity>,
        target: &Entity,
        callers: &[usize],
        targets: &[usize],
    ) -> bool {
        let is_macro = caller.is_some_and(|caller| caller.kind == EntityKind::Macro);
        if target.kind == EntityKind::Macro {
            if is_macro {
                self.expanded_in.entry(edge.source.clone()).or_default().insert(edge.target.clone());
            }
            for caller in callers {
                self.expanded_by.entry(*caller).or_default().insert(edge.target.clone());
            }
            return true;
        }
        if is_macro {
            self.called_by.entry(edge.source.clone()).or_default().extend(targets);
            return true;
        }
        edge.kind == EdgeKind::Expands
    }

    /// Whether macros lead from a function to another.
    fn lead(&self, caller: usize, callee: usize) -> bool {
        let mut open: Vec<&String> = self.expanded_by.get(&caller).into_iter().flatten().collect();
        let mut seen: BTreeSet<&String> = open.iter().copied().collect();
        while let Some(name) = open.pop() {
            if self.called_by.get(name).is_some_and(|called| called.contains(&callee)) {
                return true;
            }
            let inner = self.expanded_in.get(name).into_iter().flatten();
            open.extend(inner.filter(|inner| seen.insert(inner)));
        }
        false
    }
}

impl<'a> Sites<'a> {
    fn new(truth: &'a Truth) -> Self {
        let mut sites = Self { truth, by_caller: HashMap::new(), by_place: HashMap::new() };
        for call in &truth.calls {
            if let Some(caller) = call.caller {
                sites.by_caller.entry(caller).or_default().push(call);
            }
            for line in call.from_line..=call.line {
                sites.by_place.entry((&call.path, line)).or_default().push(call);
            }
        }
        sites
    }

    fn verdict(&self, said: &Said<'_>) -> Verdict {
        let Said { edge, target, callers, targets, .. } = said;
        let (path, line) = (said.path(), edge.line);
        if !self.truth.files.contains_key(path) || line > 0 && !self.truth.saw(path, line) {
            return Verdict::Unjudged;
        }
        let Some(caller) = said.caller else { return self.verdict_at_file(path, line) };
        if callers.is_empty() {
            let is_seen = self.truth.saw(&caller.path, caller.start_line);
            return if is_seen { Verdict::Wrong } else { Verdict::Unjudged };
        }
        let mut best = Verdict::Wrong;
        for call in callers.iter().filter_map(|caller| self.by_caller.get(caller)).flatten() {
            if line > 0 && (call.path != path || !(call.from_line..=call.line).contains(&line)) {
                continue;
            }
            match self.verdict_at(call, target, targets) {
                Verdict::Right => return Verdict::Right,
                Verdict::Wrong => {}
                other => best = if best == Verdict::InSight { best } else { other },
            }
        }
        let is_unseen = callers.iter().any(|caller| self.is_unseen_template(*caller));
        let needs_types = makes_object(target) || target.name.starts_with("operator");
        if best == Verdict::Wrong && is_unseen && needs_types { Verdict::Unjudged } else { best }
    }

    /// How an edge to a target stands to one call.
    fn verdict_at(&self, call: &Call, target: &Entity, targets: &[usize]) -> Verdict {
        let names_target = |set: &[usize]| targets.iter().any(|target| set.contains(target));
        if names_target(&call.required) || names_target(&call.optional) {
            return Verdict::Right;
        }
        let is_settled = !call.required.is_empty() || !call.optional.is_empty();
        if names_target(&call.candidates) {
            return if is_settled { Verdict::InSight } else { Verdict::Right };
        }
        if !is_settled {
            return if call.is_dependent && may_mean(call, target) {
                Verdict::Unjudged
            } else {
                Verdict::Wrong
            };
        }
        // The same function as another configuration has it.
        let is_other = !self.truth.saw(&target.path, target.start_line) && {
            let name = comparable_name(target, self.truth);
            let mut called = call.required.iter().chain(&call.optional);
            called.any(|symbol| self.truth.symbols.get(symbol).is_some_and(|symbol| symbol.name == name))
        };
        if is_other { Verdict::Unjudged } else { Verdict::Wrong }
    }

    /// A launch is right where the compiler sees one: what runs is known when it runs.
    fn verdict_of_launch(&self, said: &Said<'_>) -> Verdict {
        let calls = self.by_place.get(&(said.path(), said.edge.line)).into_iter().flatten();
        let is_launch = |call: &&Call| call.tags.iter().any(|tag| tag == LAUNCH);
        match (self.truth.saw(said.path(), said.edge.line), calls.copied().any(|call| is_launch(&call))) {
            (false, _) => Verdict::Unjudged,
            (true, true) => Verdict::Right,
            (true, false) => Verdict::Wrong,
        }
    }

    /// Calls on an edge's line that depend on template arguments and have its target's name.
    fn dependent_calls(&self, said: &Said<'_>) -> Vec<&'a Call> {
        let name = names::last(&said.target.name);
        let calls = self.by_place.get(&(said.path(), said.edge.line)).into_iter().flatten().copied();
        calls.filter(|call| call.is_dependent && call.name == name).collect()
    }

    fn is_dependent(&self, said: &Said<'_>) -> bool {
        !self.dependent_calls(said).is_empty()
    }

    fn needs_instance(&self, said: &Said<'_>) -> bool {
        self.dependent_calls(said).iter().any(|call| call.candidates.is_empty())
    }

    /// An edge from a file: wrong where a function encloses the call.
    fn verdict_at_file(&self, path: &str, line: u32) -> Verdict {
        let calls = self.by_place.get(&(path, line));
        let is_enclosed = calls.is_some_and(|calls| calls.iter().any(|call| call.caller.is_some()));
        if is_enclosed { Verdict::Wrong } else { Verdict::Unjudged }
    }

    /// Whether a function is a template, or in one, and no instantiation was seen.
    fn is_unseen_template(&self, caller: usize) -> bool {
        self.truth.symbols.get(&caller).is_some_and(|symbol| symbol.is_in_template && !symbol.is_instantiated)
    }

    /// Every call that is asked for, once for a caller and a callee.
    fn wanted(&self) -> Vec<Wanted<'a>> {
        let mut wanted: BTreeMap<(usize, Vec<usize>), Wanted<'a>> = BTreeMap::new();
        for call in &self.truth.calls {
            let Some(caller) = call.caller else { continue };
            for callees in wanted_callees(call) {
                let one = wanted.entry((caller, callees.clone())).or_insert_with(|| Wanted {
                    caller,
                    path: &call.path,
                    line: call.line,
                    callees: callees.clone(),
                    needs_instance: false,
                    tags: callees.iter().flat_map(|callee| target_tags(self.truth, *callee)).collect(),
                });
                one.tags.extend(call.tags.iter().filter(|tag| *tag != LAUNCH).cloned());
                if call.is_dependent {
                    one.tags.insert("dependent".to_owned());
                }
                one.needs_instance |= call.is_dependent && call.candidates.is_empty();
            }
        }
        wanted.into_values().collect()
    }

    /// What the compiler sees on a line.
    fn shown_at(&self, path: &str, line: u32) -> String {
        let calls = self.by_place.get(&(path, line)).into_iter().flatten();
        let targets = calls.flat_map(|call| call.required.iter().chain(&call.optional));
        let shown: BTreeSet<String> = targets.map(|target| shown(self.truth, *target)).collect();
        shown.into_iter().collect::<Vec<_>>().join("; ")
    }
}

/// Callees of a site: each that was called, or the overloads where it is certain to be one of them.
fn wanted_callees(call: &Call) -> Vec<Vec<usize>> {
    if !call.required.is_empty() {
        return call.required.iter().map(|target| vec![*target]).collect();
    }
    let is_certain = call.optional.is_empty() && !call.is_open && !call.candidates.is_empty();
    if is_certain { vec![call.candidates.clone()] } else { Vec::new() }
}

/// Whether a dependent call may be a call of `target`.
fn may_mean(call: &Call, target: &Entity) -> bool {
    let name = names::last(&target.name);
    call.name.is_empty() || call.name == name || name == "operator()" || makes_object(target)
}

fn makes_object(target: &Entity) -> bool {
    target.kind.is_record() || target.class_name.rsplit("::").next() == Some(target.name.as_str())
}

/// Constructs of a callee, whoever calls it.
fn target_tags(truth: &Truth, target: usize) -> BTreeSet<String> {
    let Some(symbol) = truth.symbols.get(&target) else { return BTreeSet::new() };
    let mut tags: BTreeSet<String> = symbol
        .places
        .iter()
        .flat_map(|place| place.tags.iter().cloned())
        .filter(|tag| tag != "macro")
        .collect();
    if symbol.kind == "lambda" {
        tags.insert("lambda".to_owned());
    }
    tags
}

/// An edge with what its ends are.
struct Said<'a> {
    edge: &'a Edge,
    caller: Option<&'a Entity>,
    target: &'a Entity,
    /// Symbols of the truth.
    callers: Vec<usize>,
    targets: Vec<usize>,
}

impl Said<'_> {
    /// File of the evidence.
    fn path(&self) -> &str {
        if self.edge.path.is_empty() {
            self.caller.map_or("", |caller| &caller.path)
        } else {
            &self.edge.path
        }
    }
}

/// Functions that launch something, by whether a launch leads from them.
fn ask_launches(comparison: &mut Comparison, sites: &Sites<'_>, launching: &BTreeSet<usize>) {
    for (caller, calls) in sites.by_caller.iter().collect::<BTreeMap<_, _>>() {
        let Some(call) = calls.iter().find(|call| call.tags.iter().any(|tag| tag == LAUNCH)) else {
            continue;
        };
        let is_hit = launching.contains(caller);
        comparison.wanted(&[LAUNCH], is_hit);
        if !is_hit {
            let caller = sites.truth.symbols.get(caller).map_or("", |symbol| &symbol.name);
            comparison.missing.push(Mismatch {
                path: call.path.clone(),
                line: call.line,
                expected: format!("{caller} launches"),
                found: String::new(),
                tags: LAUNCH.to_owned(),
            });
        }
    }
}

fn judge_launch(comparison: &mut Comparison, sites: &Sites<'_>, said: &Said<'_>) {
    let verdict = sites.verdict_of_launch(said);
    if verdict == Verdict::Unjudged {
        comparison.unjudged += 1;
        return;
    }
    let is_right = verdict == Verdict::Right;
    comparison.said(&[LAUNCH], 1.0 / f64::from(said.edge.candidates.max(1)), is_right);
    if !is_right {
        comparison.wrong.push(Mismatch {
            path: said.path().to_owned(),
            line: said.edge.line,
            expected: sites.shown_at(said.path(), said.edge.line),
            found: format!("launch of {}", comparable_name(said.target, sites.truth)),
            tags: LAUNCH.to_owned(),
        });
    }
}

fn judge(comparison: &mut Comparison, sites: &Sites<'_>, said: &Said<'_>, verdict: Verdict) {
    if verdict == Verdict::Unjudged {
        comparison.unjudged += 1;
        return;
    }
    let (truth, edge) = (sites.truth, said.edge);
    let is_right = verdict == Verdict::Right;
    let weight = 1.0 / f64::from(edge.candidates.max(1));
    let tags: BTreeSet<String> = said.targets.iter().flat_map(|target| target_tags(truth, *target)).collect();
    let mut tags: Vec<String> = tags.into_iter().collect();
    tags.extend(sites.is_dependent(said).then(|| "dependent".to_owned()));
    comparison.said(&tags, weight, is_right);
    comparison.said(&[ALL], weight, is_right);
    comparison.said(&[IN_SIGHT], weight, is_right || verdict == Verdict::InSight);
    comparison.said(&[NO_MACROS], weight, is_right);
    if !is_ambiguous(edge) {
        comparison.said(&[UNAMBIGUOUS], weight, is_right);
    }
    if !sites.needs_instance(said) {
        comparison.said(&[SETTLED], weight, is_right);
    }
    if !is_right {
        let caller = said.caller.map_or("(file)".to_owned(), |caller| comparable_name(caller, truth));
        let target = comparable_name(said.target, truth);
        let (at, line) = (&said.target.path, said.target.start_line);
        let (resolution, candidates) = (edge.resolution.as_str(), edge.candidates);
        comparison.wrong.push(Mismatch {
            path: said.path().to_owned(),
            line: edge.line,
            expected: sites.shown_at(said.path(), edge.line),
            found: format!("{caller} -> {target} [{at}:{line}] ({resolution}, one of {candidates})"),
            tags: tags.join(" "),
        });
    }
}

fn shown(truth: &Truth, symbol: usize) -> String {
    truth.symbols.get(&symbol).map_or_else(String::new, |symbol| {
        let place = symbol.places.iter().find(|place| place.is_definition).or(symbol.places.first());
        let place = place.map_or_else(String::new, |place| format!(" [{}:{}]", place.path, place.line));
        format!("{}{place}", symbol.name)
    })
}

fn is_macro(tags: &BTreeSet<String>) -> bool {
    tags.contains("macro")
}

fn ask(comparison: &mut Comparison, truth: &Truth, wanted: &Wanted<'_>, found: Option<bool>) {
    let rows: Vec<&String> = wanted.tags.iter().collect();
    comparison.wanted(&rows, found.is_some());
    comparison.wanted(&[ALL, IN_SIGHT], found.is_some());
    comparison.wanted(&[UNAMBIGUOUS], found == Some(true));
    if !is_macro(&wanted.tags) {
        comparison.wanted(&[NO_MACROS], found.is_some());
    }
    if !wanted.needs_instance {
        comparison.wanted(&[SETTLED], found.is_some());
    }
    if found.is_some() {
        return;
    }
    let caller = truth.symbols.get(&wanted.caller).map_or("", |symbol| &symbol.name);
    let callees: Vec<String> = wanted.callees.iter().map(|callee| shown(truth, *callee)).collect();
    comparison.missing.push(Mismatch {
        path: wanted.path.to_owned(),
        line: wanted.line,
        expected: format!("{caller} -> {}", callees.join(" | ")),
        found: String::new(),
        tags: wanted.tags.iter().cloned().collect::<Vec<_>>().join(" "),
    });
}
