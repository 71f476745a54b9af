//! Members by their name alone, where the type of an object is not known.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use almanac_tables::Resolution;

use crate::calls::Answer;
use crate::classes::{ClassId, Classes};
use crate::groups::{Group, MOST, Sight};
use crate::lookup::Lookup;
use crate::names::tokens;
use crate::overloads::Callee;

/// Shortest class name that is recognised inside the name of an object.
const LEAST_HINT: usize = 4;

/// Member functions of one name.
#[derive(Debug, Default)]
pub(crate) struct Methods {
    /// One entity for each symbol.
    all: Group,
    by_class: BTreeMap<ClassId, Vec<usize>>,
}

impl Methods {
    pub(crate) fn new(found: &[usize], classes: &Classes<'_>, sight: Sight<'_>) -> Self {
        let mut methods = Self::default();
        let mut seen = FxHashSet::default();
        for &at in found {
            let symbol = sight.symbols.of[at];
            if seen.insert(symbol) {
                let at = sight.symbols.canonical(symbol);
                methods.all.push(at);
                if let Some(class) = classes.of_member[at] {
                    methods.by_class.entry(class).or_default().push(at);
                }
            }
        }
        methods.all.finish(sight);
        methods
    }
}

/// Classes that derive from one which are looked at.
const MOST_HEIRS: usize = 256;

/// An object of which the type is not known.
#[derive(Debug, Default)]
pub(crate) struct Stranger<'s> {
    /// Names that may tell its class.
    pub(crate) words: &'s str,
    /// Members that the code around names on it.
    pub(crate) demands: Option<&'s BTreeSet<&'s str>>,
    /// Classes one of which it is, where that much is known.
    pub(crate) among: Option<&'s [ClassId]>,
}

impl<'a> Lookup<'a> {
    /// Members that a call on an object of unknown type may mean; never a free function, never a name
    /// that containers have.
    pub(crate) fn member_by_name(
        &self,
        name: &str,
        arguments: Option<usize>,
        file: usize,
        object: &Stranger<'_>,
    ) -> Answer<'a> {
        let is_common = |name: &str| self.params.external_members.iter().any(|member| member == name);
        let Some(methods) = self.names.methods.get(name) else {
            return if is_common(name) { Answer::External } else { Answer::Unresolved };
        };
        let takes = |at: &usize| self.accepts(self.symbols.of[*at], arguments);
        let hinted = self.classes.hinted(object.words, LEAST_HINT);
        let among: Vec<ClassId> = match object.among {
            Some(heirs) => heirs.to_vec(),
            None => hinted.into_iter().collect(),
        };
        let mut named: Vec<usize> = Vec::new();
        for &class in among.iter().take(MOST_HEIRS).filter(|&&class| self.answers(class, object)) {
            let nearest = self.nearest(methods, class);
            named.extend(nearest.iter().copied().filter(takes));
        }
        named.sort_unstable();
        named.dedup();
        self.visited((named.len() + among.len()) as u64);
        // Visibility chooses among those that take the call: templates call what they never include.
        let mut found = match named.is_empty() {
            false => self.sight().meant(&named, file),
            true => Vec::new(),
        };
        // Any container may be meant, unless it is asked for what none has.
        let may_be_foreign = object.demands.is_none_or(|demands| demands.iter().all(|name| is_common(name)));
        if found.is_empty() && is_common(name) && may_be_foreign {
            return Answer::External;
        }
        if found.is_empty() {
            let mut visits = 0;
            found = self.takers(methods, file, &takes, &mut visits);
            self.visited(visits);
            let meant: Vec<usize> =
                found.iter().copied().filter(|&at| self.may_be_on(methods, at, object)).collect();
            if !meant.is_empty() {
                found = meant;
            } else if is_common(name) {
                return Answer::External;
            }
        }
        found.sort_unstable();
        if found.len() > MOST {
            return Answer::TooMany;
        }
        let targets = self.without_overriders(found);
        let callees = targets.into_iter().map(|at| Callee { at, bindings: None }).collect();
        Answer::found(callees, Resolution::Name)
    }

    /// Members of the nearest among a class and its bases that has any.
    fn nearest<'m>(&self, methods: &'m Methods, class: ClassId) -> &'m [usize] {
        let lineage = self.classes.with_bases(class).iter();
        lineage.filter_map(|one| methods.by_class.get(one)).next().map_or(&[], Vec::as_slice)
    }

    /// Whether a class has all that is asked of an object.
    fn answers(&self, class: ClassId, object: &Stranger<'_>) -> bool {
        let Some(demands) = object.demands else { return true };
        let is_open = || self.is_open_class(class) || self.is_external_class(class);
        demands.iter().all(|name| self.classes.mentions(class, name)) || is_open()
    }

    /// Whether an object may be of a class in which a call of `name` finds this member.
    fn may_be_on(&self, methods: &Methods, member: usize, object: &Stranger<'_>) -> bool {
        let Some(class) = self.classes.of_member[member] else { return true };
        let heirs = self.classes.heirs(class);
        if heirs.len() > MOST_HEIRS {
            return true;
        }
        self.visited(heirs.len() as u64);
        let finds = |one: ClassId| {
            let is_whole = one != class || !self.classes.is_for_heirs(class);
            is_whole && self.answers(one, object) && self.nearest(methods, one).contains(&member)
        };
        std::iter::once(class).chain(heirs.iter().copied()).any(finds)
    }

    fn takers(
        &self,
        methods: &Methods,
        file: usize,
        takes: &impl Fn(&usize) -> bool,
        visits: &mut u64,
    ) -> Vec<usize> {
        if methods.all.is_long() {
            let meant = methods.all.meant(self.sight(), file, visits);
            return meant.into_iter().filter(takes).collect();
        }
        *visits += methods.all.all().len() as u64;
        let takers: Vec<usize> = methods.all.all().iter().copied().filter(takes).collect();
        self.sight().meant(&takers, file)
    }

    /// A call that may mean a virtual member means that one rather than what overrides it.
    fn without_overriders(&self, found: Vec<usize>) -> Vec<usize> {
        let class = |at: usize| self.classes.of_member[at];
        let virtuals: FxHashSet<ClassId> =
            found.iter().copied().filter(|&at| self.is_virtual(at)).filter_map(class).collect();
        let overrides = |one: usize| {
            class(one).is_some_and(|derived| {
                self.classes.with_bases(derived)[1..].iter().any(|base| virtuals.contains(base))
            })
        };
        found.iter().copied().filter(|&one| !overrides(one)).collect()
    }

    /// Whether a member function says that it is virtual.
    pub(crate) fn is_virtual(&self, at: usize) -> bool {
        self.symbols.with(at).iter().any(|&one| {
            let words = tokens(&self.tree.entities[one].signature);
            words.contains(&"virtual") || words.contains(&"override")
        })
    }
}
