//! Classes with template arguments: which specialisation is meant, and what its bases are.

use std::sync::Arc;

use crate::classes::{BaseLink, ClassId, Specialisation};
use crate::lookup::{Lookup, Place};
use crate::syntax::Written;
use crate::types::{Base, Binding, Bindings, MAX_DEPTH, Ty};

/// Arguments of a template.
pub(crate) type Arguments = Arc<[Ty]>;

/// A class with its template arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Instance {
    pub(crate) class: ClassId,
    pub(crate) arguments: Arguments,
    /// The record that is meant, of a class with several; `None` when that cannot be told.
    pub(crate) record: Option<usize>,
}

/// Whether a specialisation is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    No,
    Maybe,
    Yes,
}

/// Depth at which the arguments of specialisations are read: too deep to choose others by theirs.
const SHAPE_DEPTH: usize = MAX_DEPTH - 4;

/// Records of one class that are looked at where any may be meant.
const MOST_RECORDS: usize = 64;

/// Whether a type is what a template argument of a specialisation stands for. `names` are the
/// parameters of the specialisation, `found` what they were matched with before.
fn matches(pattern: &Ty, ty: &Ty, names: &[&str], found: &mut [Option<Ty>]) -> Match {
    if let Base::Parameter(name) = &pattern.base
        && let Some(at) = names.iter().position(|one| *one == &**name)
    {
        if pattern.pointers > ty.pointers {
            return if ty.is_open() { Match::Maybe } else { Match::No };
        }
        let mut bound = ty.clone();
        bound.pointers -= pattern.pointers;
        return match &found[at] {
            None => {
                found[at] = Some(bound);
                Match::Yes
            }
            Some(before) if before.base == bound.base && before.pointers == bound.pointers => Match::Yes,
            Some(before) if before.is_open() || bound.is_open() => Match::Maybe,
            Some(_) => Match::No,
        };
    }
    if pattern.base == ty.base && pattern.pointers == ty.pointers {
        return if pattern.base == Base::Unknown { Match::Maybe } else { Match::Yes };
    }
    if pattern.is_open() || ty.is_open() {
        return Match::Maybe;
    }
    if pattern.pointers != ty.pointers {
        return Match::No;
    }
    let mut all = |one: &Arguments, other: &Arguments| {
        let pairs = one.iter().zip(other.iter());
        pairs.map(|(one, other)| matches(one, other, names, found)).min().unwrap_or(Match::Yes)
    };
    match (&pattern.base, &ty.base) {
        (Base::Class(one), Base::Class(other)) if one.class == other.class => {
            all(&one.arguments, &other.arguments)
        }
        (Base::External(one, wanted), Base::External(other, given)) if one == other => all(wanted, given),
        _ => Match::No,
    }
}

/// A type with template parameters replaced by what they stand for.
fn with_bindings(ty: &Ty, bindings: &Bindings<'_>) -> Ty {
    match &ty.base {
        Base::Parameter(name) => match crate::types::bound(bindings, name) {
            Some(bound) => {
                let mut bound = bound.clone();
                bound.pointers = bound.pointers.saturating_add(ty.pointers);
                bound.is_const |= ty.is_const;
                bound
            }
            None => ty.clone(),
        },
        _ => ty.clone(),
    }
}

impl<'a> Lookup<'a> {
    /// A class with arguments, and the record these choose.
    pub(crate) fn instance(&self, class: ClassId, arguments: Arguments, depth: usize) -> Instance {
        let record = self.chosen(class, &arguments, depth);
        Instance { class, arguments, record }
    }

    /// A class as seen from inside it: `place` tells the record.
    pub(crate) fn own_instance(&self, class: ClassId, place: &Place<'a>) -> Instance {
        let record = self.own_record(class, place).or_else(|| self.classes.only_record(class));
        let named = record.unwrap_or_else(|| self.classes.node(class));
        let arguments = match self.classes.specialisation(class, named) {
            Some(one) => self.shape(one).iter().map(|ty| with_bindings(ty, &place.bindings)).collect(),
            None => self.tree.facts[named]
                .template_names
                .iter()
                .map(|name| match crate::types::bound(&place.bindings, name) {
                    Some(ty) => ty.clone(),
                    None => Ty::of(Base::Parameter(Arc::from(*name))),
                })
                .collect(),
        };
        Instance { class, arguments, record }
    }

    /// Template arguments of a specialisation, its own parameters standing for any type.
    fn shape<'s>(&self, specialisation: &'s Specialisation<'a>) -> &'s [Ty] {
        specialisation.shape.get_or_init(|| {
            let place = self.place_of(specialisation.record);
            specialisation.patterns.iter().map(|text| self.type_of(text, &place, SHAPE_DEPTH)).collect()
        })
    }

    /// Record of the class that is around `place`, or that the member there is declared in.
    pub(crate) fn own_record(&self, class: ClassId, place: &Place<'a>) -> Option<usize> {
        self.tree.outward(place.entity?).find_map(|at| {
            if self.classes.of_record(at) == Some(class) {
                return Some(at);
            }
            self.classes.home(at).filter(|&record| self.classes.of_record(record) == Some(class))
        })
    }

    /// The record that template arguments choose.
    fn chosen(&self, class: ClassId, arguments: &Arguments, depth: usize) -> Option<usize> {
        let specialisations = &self.classes.get(class).specialisations;
        if specialisations.is_empty() {
            return self.classes.only_record(class);
        }
        if arguments.is_empty() || depth >= SHAPE_DEPTH {
            return None;
        }
        let mut best: Option<(usize, usize)> = None;
        let (mut is_tied, mut is_open) = (false, false);
        for specialisation in specialisations {
            let freedom = self.tree.facts[specialisation.record].template_names.len();
            match (self.matched(specialisation, arguments), best) {
                (Match::No, _) => {}
                (Match::Maybe, _) => is_open = true,
                (Match::Yes, Some((_, least))) if least < freedom => {}
                (Match::Yes, Some((_, least))) if least == freedom => is_tied = true,
                (Match::Yes, _) => (best, is_tied) = (Some((specialisation.record, freedom)), false),
            }
        }
        match best {
            Some((record, _)) if !is_tied && !is_open => Some(record),
            None if !is_open => self.classes.primary(class),
            _ => None,
        }
    }

    /// Records that an instance may be where its arguments do not tell: the primary and the partial
    /// specialisations, which generic code means rather than those of one type; none where that is
    /// told, or where there are too many.
    pub(crate) fn possible_records(&self, instance: &Instance) -> Vec<usize> {
        let class = self.classes.get(instance.class);
        if instance.record.is_some() || class.specialisations.is_empty() || instance.arguments.is_empty() {
            return Vec::new();
        }
        let is_partial = |one: &&Specialisation<'a>| !self.tree.facts[one.record].template_names.is_empty();
        let partial = class.specialisations.iter().filter(is_partial);
        let matched: Vec<(Match, usize)> =
            partial.map(|one| (self.matched(one, &instance.arguments), one.record)).collect();
        // The primary is what is left where none fits.
        let is_left = matched.iter().all(|(how, _)| *how != Match::Yes);
        let primary = self.classes.primary(instance.class).filter(|_| is_left);
        let may_be = matched.into_iter().filter(|(how, _)| *how != Match::No).map(|(_, record)| record);
        let records: Vec<usize> = primary.into_iter().chain(may_be).collect();
        if records.len() > MOST_RECORDS { Vec::new() } else { records }
    }

    /// Whether arguments are those of a specialisation.
    fn matched(&self, specialisation: &Specialisation<'a>, arguments: &Arguments) -> Match {
        if specialisation.patterns.len() < arguments.len() && !specialisation.has_pack() {
            return Match::No;
        }
        let names = &self.tree.facts[specialisation.record].template_names;
        let mut found = vec![None; names.len()];
        let shape = self.shape(specialisation);
        let one = |(at, pattern): (usize, &Ty)| match arguments.get(at) {
            Some(ty) => matches(pattern, ty, names, &mut found),
            // What a pack leaves out, or a default.
            None if specialisation.patterns[at].is_pack => Match::Yes,
            None => Match::Maybe,
        };
        shape.iter().enumerate().map(one).min().unwrap_or(Match::Yes)
    }

    /// What `wanted` finds in a class or else in its bases, nearest first.
    pub(crate) fn in_lineage<R>(
        &self,
        instance: &Instance,
        depth: usize,
        mut wanted: impl FnMut(&Instance) -> Option<R>,
    ) -> Option<R> {
        let mut order = vec![instance.clone()];
        let mut next = 0;
        while next < order.len() {
            let derived = order[next].clone();
            next += 1;
            if let Some(found) = wanted(&derived) {
                return Some(found);
            }
            for base in &self.classes.get(derived.class).bases {
                let is_other = derived.record.is_some_and(|record| record != base.record);
                if !is_other && !order.iter().any(|one| one.class == base.class) {
                    order.push(self.base_instance(base, &derived, depth + 1));
                }
            }
        }
        None
    }

    /// A base, seen from a derived class with its arguments.
    fn base_instance(&self, base: &BaseLink<'a>, derived: &Instance, depth: usize) -> Instance {
        let texts = match &base.text.base {
            Written::Named(path) if depth <= MAX_DEPTH => {
                path.last().and_then(|part| part.arguments.as_ref())
            }
            _ => None,
        };
        let arguments: Arguments = match texts {
            Some(texts) => {
                let bindings = self.record_bindings(base.record, &derived.arguments, depth);
                let place = Place { bindings, ..self.place_of(base.record) };
                texts.iter().map(|text| self.type_of(text, &place, depth + 1)).collect()
            }
            None => Arguments::from([]),
        };
        self.instance(base.class, arguments, depth)
    }

    /// The record of an instance, else the one that stands for the class.
    pub(crate) fn named_record(&self, instance: &Instance) -> usize {
        instance.record.unwrap_or_else(|| self.classes.node(instance.class))
    }

    /// Template parameters of a record, bound so that it becomes what has these arguments.
    fn record_bindings(&self, record: usize, arguments: &Arguments, depth: usize) -> Bindings<'a> {
        if arguments.is_empty() {
            return None;
        }
        let names = &self.tree.facts[record].template_names;
        let patterns = self.classes.of_record(record).and_then(|class| self.classes.patterns(class, record));
        match patterns {
            None => Binding::new(names, arguments, None),
            Some(patterns) => {
                let mut found = vec![Ty::unknown(); names.len()];
                for (pattern, ty) in patterns.iter().zip(arguments.iter()) {
                    self.unify(pattern, ty, names, &mut found, depth);
                }
                Binding::new(names, &found, None)
            }
        }
    }

    /// Template parameters of a class as its member `at` calls them, bound to arguments.
    pub(crate) fn class_bindings(&self, at: usize, instance: &Instance, depth: usize) -> Bindings<'a> {
        if instance.arguments.is_empty() {
            return None;
        }
        let facts = &self.tree.facts[at];
        match facts.around.filter(|&outer| self.classes.of_record(outer) == Some(instance.class)) {
            Some(record) => self.record_bindings(record, &instance.arguments, depth),
            // Outside the class its parameters may have other names.
            None => match self.classes.home(at) {
                Some(record) if self.classes.patterns(instance.class, record).is_some() => None,
                _ => Binding::new(&facts.template_names, &instance.arguments, None),
            },
        }
    }

    /// Members of one name of an instance itself: of its record, if that is known.
    pub(crate) fn own_members(&self, instance: &Instance, name: &str) -> Vec<usize> {
        let Some(members) = self.classes.get(instance.class).members.get(name) else { return Vec::new() };
        if self.classes.get(instance.class).specialisations.is_empty() {
            return members.clone();
        }
        let of = |record: usize| -> Vec<usize> {
            let is_here = |at: &usize| self.classes.home(*at).is_none_or(|home| home == record);
            members.iter().copied().filter(is_here).collect()
        };
        match instance.record {
            Some(record) => of(record),
            // The primary is the likelier.
            None => match self.classes.primary(instance.class).map(of) {
                Some(found) if !found.is_empty() => found,
                _ => members.clone(),
            },
        }
    }
}
