//! Which of several functions of one name a call can mean.
//!
//! Candidates are compared with what the call gives, never with one another by text; how many there
//! are is bounded before types are looked at.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use almanac_tables::EntityKind;

use crate::fit::Fit;
use crate::lookup::{Lookup, Place};
use crate::syntax::{Expression, Reference, TypeText, Written};
use crate::types::{Base, Binding, Bindings, Ty};

/// Candidates whose parameter types are compared with the arguments.
const COMPARED: usize = 64;

/// A function that may be called, and what the templates around it are bound to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Callee<'a> {
    pub(crate) at: usize,
    pub(crate) bindings: Bindings<'a>,
}

/// What a call gives: arguments, evaluated when asked for.
pub(crate) struct Given<'g, 'a> {
    /// Number of arguments; `None` when it is not known.
    pub(crate) count: Option<usize>,
    /// The arguments; empty when only their number is known.
    pub(crate) list: &'g [Expression<'g>],
    /// Where they are written.
    pub(crate) place: &'g Place<'a>,
    /// Depth of results followed so far.
    pub(crate) depth: usize,
    types: OnceCell<Vec<Ty>>,
}

impl<'g, 'a> Given<'g, 'a> {
    pub(crate) fn new(
        count: Option<usize>,
        list: &'g [Expression<'g>],
        place: &'g Place<'a>,
        depth: usize,
    ) -> Self {
        Self { count, list, place, depth, types: OnceCell::new() }
    }

    /// Arguments whose types are known already.
    pub(crate) fn typed(types: Vec<Ty>, place: &'g Place<'a>, depth: usize) -> Self {
        let cell = OnceCell::new();
        let count = Some(types.len());
        // A new cell is empty.
        let _ = cell.set(types);
        Self { count, list: &[], place, depth, types: cell }
    }

    /// Types of the arguments, as many as there are.
    pub(crate) fn types(&self, lookup: &Lookup<'a>) -> &[Ty] {
        self.types.get_or_init(|| {
            let mut types: Vec<Ty> =
                self.list.iter().map(|one| lookup.value_of(one, self.place, self.depth + 1)).collect();
            types.resize(self.count.unwrap_or(types.len()), Ty::unknown());
            types
        })
    }
}

impl<'a> Lookup<'a> {
    /// The functions among `found` that the call means: one if that can be told, else the set that
    /// remains. `object` is what a member is called on.
    pub(crate) fn choose(
        &self,
        found: Vec<Callee<'a>>,
        given: &Given<'_, 'a>,
        object: Option<&Ty>,
        explicit: &[Ty],
    ) -> Vec<Callee<'a>> {
        let mut seen: FxHashSet<usize> = FxHashSet::with_capacity_and_hasher(found.len(), Default::default());
        self.visited(found.len() as u64);
        let mut callees: Vec<Callee<'a>> = found
            .into_iter()
            .filter(|callee| {
                let symbol = self.symbols.of[callee.at];
                seen.insert(symbol) && self.accepts(symbol, given.count)
            })
            .map(|callee| Callee { at: self.symbols.canonical(self.symbols.of[callee.at]), ..callee })
            .collect();
        self.drop_lone_declarations(&mut callees);
        if !explicit.is_empty() && callees.len() > 1 {
            // `f<T>(x)` names a template.
            let is_template = |callee: &Callee<'a>| {
                !self.own_templates(callee.at).is_empty() || self.is_specialisation(callee.at)
            };
            if callees.iter().any(is_template) {
                callees.retain(is_template);
            }
            self.keep_specialisations(&mut callees, explicit);
        }
        let is_certain = callees.len() == 1 && !self.tree.facts[callees[0].at].name.starts_with("operator");
        if !is_certain && callees.len() <= COMPARED && given.count.is_some() {
            callees = self.best(callees, given, object);
        }
        callees
    }

    fn is_specialisation(&self, at: usize) -> bool {
        self.tree.entities[at].template_parameters == "<>"
    }

    /// Of a function template and its specialisations those that the written arguments may mean; the
    /// one of exactly these arguments alone.
    fn keep_specialisations(&self, callees: &mut Vec<Callee<'a>>, explicit: &[Ty]) {
        let fits: Vec<Option<bool>> =
            callees.iter().map(|callee| self.is_specialised_for(callee.at, explicit)).collect();
        let has_exact = fits.contains(&Some(true));
        let mut fits = fits.into_iter().zip(callees.iter().map(|callee| self.is_specialisation(callee.at)));
        let keep: Vec<bool> = fits
            .by_ref()
            .map(|(fit, is_special)| match fit {
                Some(true) => true,
                Some(false) => !is_special,
                None => !has_exact,
            })
            .collect();
        let mut keep = keep.into_iter();
        callees.retain(|_| keep.next().unwrap_or(true));
    }

    /// Whether a function is the specialisation for these template arguments; `None` where that cannot
    /// be told, and for what is none.
    fn is_specialised_for(&self, at: usize, explicit: &[Ty]) -> Option<bool> {
        let written = self.is_specialisation(at).then(|| {
            crate::classes::specialisation(&self.tree.entities[at].signature, &self.tree.facts[at].name)
        })??;
        let place = self.place_of(at);
        let mut is_sure = true;
        for (pattern, ty) in TypeText::read_list(written).iter().zip(explicit) {
            let pattern = self.type_of(pattern, &place, 0);
            let is_same = pattern.base == ty.base && pattern.pointers == ty.pointers;
            let is_known = |ty: &Ty| !matches!(ty.base, Base::Unknown | Base::Parameter(_));
            match (is_same, is_known(&pattern) && is_known(ty)) {
                (true, true) => {}
                (false, true) => return Some(false),
                (_, false) => is_sure = false,
            }
        }
        is_sure.then_some(true)
    }

    /// Whether any entity of the symbol takes that many arguments. Only declarations know defaults.
    pub(crate) fn accepts(&self, symbol: usize, arguments: Option<usize>) -> bool {
        let Some(arguments) = arguments else { return true };
        self.symbols.entities[symbol].iter().any(|&at| {
            if self.tree.entities[at].kind == EntityKind::Macro {
                return true;
            }
            let parameters = &self.tree.facts[at].parameters;
            let is_open = parameters.iter().any(|parameter| parameter.is_pack);
            let optional =
                |parameter: &&crate::names::Parameter<'_>| parameter.has_default || parameter.is_pack;
            let least = parameters.len() - parameters.iter().filter(optional).count();
            least <= arguments && (is_open || arguments <= parameters.len())
        })
    }

    /// A declaration without definition steps back where an overload of equal length has one: most
    /// likely it is the same function, spelt in a way that could not be matched.
    fn drop_lone_declarations(&self, callees: &mut Vec<Callee<'a>>) {
        let is_defined = |at: usize| self.tree.entities[at].is_definition;
        let shape = |at: usize| {
            let facts = &self.tree.facts[at];
            (self.classes.of_member[at], facts.is_const, facts.parameters.len())
        };
        let is_lone = |at: usize| is_defined(at) && self.symbols.with(at).len() == 1;
        let lone: FxHashSet<_> =
            callees.iter().map(|callee| callee.at).filter(|&at| is_lone(at)).map(shape).collect();
        callees.retain(|callee| is_defined(callee.at) || !lone.contains(&shape(callee.at)));
    }

    /// Drops what cannot be meant, then what is worse than another in every respect.
    fn best(&self, callees: Vec<Callee<'a>>, given: &Given<'_, 'a>, object: Option<&Ty>) -> Vec<Callee<'a>> {
        let types = given.types(self);
        let mut scored: Vec<(Vec<Option<Fit>>, usize, Callee<'a>)> = callees
            .iter()
            .map(|callee| {
                let mut fits = vec![self.object_fit(callee.at, object)];
                fits.extend(self.fits(callee, types, given.depth));
                (fits, self.generality(callee.at), callee.clone())
            })
            .filter(|(fits, ..)| !fits.contains(&Some(Fit::Never)))
            .collect();
        if scored.is_empty() {
            // What was read of the types is wrong somewhere; an operator is the language's own.
            let is_operator = |callee: &Callee<'a>| self.tree.facts[callee.at].name.starts_with("operator");
            return callees.into_iter().filter(|callee| !is_operator(callee)).collect();
        }
        let keep: Vec<bool> = scored
            .iter()
            .map(|one| !scored.iter().any(|other| is_better(&other.0, other.1, &one.0, one.1)))
            .collect();
        let mut keep = keep.iter();
        scored.retain(|_| *keep.next().unwrap_or(&true));
        scored.into_iter().map(|(.., callee)| callee).collect()
    }

    /// How the object fits the constness of a member.
    fn object_fit(&self, at: usize, object: Option<&Ty>) -> Option<Fit> {
        let object = object.filter(|object| !object.is_open())?;
        let facts = &self.tree.facts[at];
        let is_lvalue = object.reference == Reference::Left;
        Some(match (facts.is_const, object.is_const) {
            _ if facts.reference == Reference::Right && is_lvalue => Fit::Never,
            _ if facts.reference == Reference::Left && !facts.is_const && !is_lvalue => Fit::Never,
            (false, true) if !self.is_static(at) => Fit::Never,
            (true, false) => Fit::Bound,
            _ if facts.reference == Reference::Left && !is_lvalue => Fit::Bound,
            _ => Fit::Exact,
        })
    }

    fn is_static(&self, at: usize) -> bool {
        let is_constructor = self.is_constructor(at);
        let says_so = |&one: &usize| {
            self.tree.entities[one]
                .signature
                .split(' ')
                .take_while(|word| !word.contains('('))
                .any(|word| word == "static")
        };
        is_constructor || self.symbols.with(at).iter().any(says_so)
    }

    /// How each argument fits its parameter.
    fn fits(&self, callee: &Callee<'a>, types: &[Ty], depth: usize) -> Vec<Option<Fit>> {
        let facts = &self.tree.facts[callee.at];
        let place = Place { bindings: callee.bindings.clone(), ..self.place_of(callee.at) };
        let own = self.own_templates(callee.at);
        types
            .iter()
            .enumerate()
            .map(|(at, argument)| {
                let last = facts.parameters.len().checked_sub(1)?;
                let parameter = &facts.parameters[at.min(last)];
                if at > last && !parameter.is_pack
                    || parameter.type_text.base == Written::Other && parameter.is_pack
                {
                    return Some(Fit::Ellipsis);
                }
                let wanted = self.parameter_type(&parameter.type_text, &place, own, depth);
                let is_any = matches!(wanted.base, Base::Parameter(_)) && wanted.pointers == 0;
                match self.fit(argument, &wanted) {
                    None if argument.is_open() && parameter.type_text.is_array => Some(Fit::Never),
                    // What is not known is rather anything than something certain.
                    None if argument.is_open() && is_any && !own.is_empty() => Some(Fit::Likely),
                    known => known,
                }
            })
            .collect()
    }

    /// Type of a parameter; a template parameter of the function stands for any type.
    pub(crate) fn parameter_type(
        &self,
        text: &TypeText<'a>,
        place: &Place<'a>,
        own: &[&str],
        depth: usize,
    ) -> Ty {
        match text.word() {
            Some(word) if own.contains(&word) => {
                let mut ty = Ty::of(Base::Parameter(word.into()));
                ty.pointers = text.pointers;
                ty.reference = text.reference;
                ty.is_const = text.is_const;
                ty
            }
            _ => self.type_of(text, place, depth + 1),
        }
    }

    /// How many parameters take anything: a function that takes fewer such is meant more.
    fn generality(&self, at: usize) -> usize {
        let own = self.own_templates(at);
        if own.is_empty() {
            return 0;
        }
        let parameters = &self.tree.facts[at].parameters;
        let generic = |parameter: &&crate::names::Parameter<'_>| {
            parameter.type_text.word().is_some_and(|word| own.contains(&word))
                && parameter.type_text.pointers == 0
        };
        let packs = parameters.iter().filter(|parameter| parameter.is_pack).count();
        1 + 2 * parameters.iter().filter(generic).count() + packs
    }

    /// Template parameters of the callable itself, those of its class left out.
    pub(crate) fn own_templates(&self, at: usize) -> &[&'a str] {
        let facts = &self.tree.facts[at];
        let names = facts.template_names.as_slice();
        let Some(class) = self.classes.of_member[at] else { return names };
        let is_inside = facts.around.is_some_and(|outer| self.classes.of_record(outer) == Some(class));
        if is_inside {
            return names;
        }
        let of_class = self.tree.facts[self.classes.node(class)].template_names.len();
        &names[of_class.min(names.len())..]
    }

    /// What the function's own template parameters are, from the arguments and what is written.
    pub(crate) fn deduce(&self, callee: &Callee<'a>, given: &Given<'_, 'a>, explicit: &[Ty]) -> Bindings<'a> {
        let own = self.own_templates(callee.at);
        if own.is_empty() {
            return callee.bindings.clone();
        }
        let mut found: Vec<Ty> = vec![Ty::unknown(); own.len()];
        for (slot, ty) in found.iter_mut().zip(explicit) {
            *slot = ty.clone();
        }
        let parameters = &self.tree.facts[callee.at].parameters;
        let needs = found.iter().any(|ty| ty.base == Base::Unknown);
        if needs && given.depth < crate::types::MAX_DEPTH {
            for (parameter, argument) in parameters.iter().zip(given.types(self)) {
                self.unify(&parameter.type_text, argument, own, &mut found, given.depth);
            }
        }
        Binding::new(own, &found, callee.bindings.clone())
    }

    /// Binds template parameters in `text` so that it becomes `ty`.
    pub(crate) fn unify(&self, text: &TypeText<'_>, ty: &Ty, own: &[&str], found: &mut [Ty], depth: usize) {
        if ty.is_open() {
            return;
        }
        if let Some(at) = text.word().and_then(|word| own.iter().position(|name| *name == word)) {
            if found[at].base == Base::Unknown && ty.pointers >= text.pointers {
                let mut bound = ty.clone();
                bound.pointers -= text.pointers;
                bound.reference = Reference::None;
                bound.is_const &= !text.is_const && (text.reference != Reference::None || bound.pointers > 0);
                found[at] = bound;
            }
            return;
        }
        let Written::Named(path) = &text.base else { return };
        let Some(texts) = path.last().and_then(|part| part.arguments.as_ref()) else { return };
        let arguments = match &ty.base {
            Base::Class(instance) => self.in_lineage(instance, depth, |holder| {
                (self.classes.name(holder.class) == path.name()).then(|| holder.arguments.clone())
            }),
            Base::External(name, arguments) => (**name == *path.name()).then(|| arguments.clone()),
            _ => None,
        };
        for (text, ty) in texts.iter().zip(arguments.iter().flat_map(|arguments| arguments.iter())) {
            self.unify(text, ty, own, found, depth);
        }
    }
}

/// Whether one candidate is meant rather than another: at least as good for every argument, and
/// better for one, or else less general.
fn is_better(one: &[Option<Fit>], general: usize, other: &[Option<Fit>], other_general: usize) -> bool {
    // Of what is not known, a parameter that takes anything is the likelier.
    let pairs = || {
        one.iter().zip(other).filter_map(|pair| match pair {
            (Some(one), Some(other)) => Some((*one, *other)),
            (Some(Fit::Likely), None) => Some((Fit::Likely, Fit::Never)),
            (None, Some(Fit::Likely)) => Some((Fit::Never, Fit::Likely)),
            _ => None,
        })
    };
    if pairs().any(|(one, other)| one < other) {
        return false;
    }
    let is_known = one.iter().chain(other).all(|fit| fit.is_some_and(|fit| fit != Fit::Likely));
    pairs().any(|(one, other)| one > other) || (is_known && general < other_general)
}
