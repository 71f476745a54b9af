//! What a type, written somewhere, is.

use std::sync::Arc;

use almanac_tables::EntityKind;

use crate::classes::ClassId;
use crate::instances::{Arguments, Instance};
use crate::lookup::{Lookup, Place};
use crate::scopes::{Entry, GLOBAL, ScopeId};
use crate::syntax::{Builtin, PathText, Reference, TypeText, Written};

/// Longest chain of aliases, nested names and results followed.
pub(crate) const MAX_DEPTH: usize = 12;

/// What following `decltype` counts for: the calls in it lead to more types.
const EXPRESSION_STEP: usize = 3;

/// Types that hand on `->` to their first argument.
pub(crate) const POINTERS: &[&str] = &["shared_ptr", "unique_ptr", "weak_ptr", "optional"];
/// Types that stand for their first argument.
const TRANSPARENT: &[&str] = &[
    "reference_wrapper",
    "atomic",
    "decay_t",
    "remove_cv_t",
    "remove_reference_t",
    "remove_const_t",
    "remove_cvref_t",
    "add_const_t",
    "add_lvalue_reference_t",
    "remove_pointer_t",
    "type_identity_t",
    "decay",
    "remove_cv",
    "remove_reference",
    "remove_const",
    "remove_cvref",
    "type_identity",
];
/// Types that stand for their second argument.
const CHOOSING: &[&str] = &["enable_if_t", "conditional_t", "enable_if", "conditional"];

/// A type as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ty {
    pub(crate) base: Base,
    pub(crate) pointers: u8,
    pub(crate) reference: Reference,
    /// Whether the object it is, refers or points to is `const`.
    pub(crate) is_const: bool,
    /// Whether a name alone told it: what follows from it is no more certain.
    pub(crate) is_guess: bool,
}

/// What a type is made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Base {
    /// Not to be told.
    Unknown,
    Builtin(Builtin),
    /// A class of the tree.
    Class(Instance),
    /// An enumeration of the tree.
    Enum(usize),
    /// A class of another library: last name and arguments.
    External(Arc<str>, Arguments),
    /// A template parameter that stands for any type.
    Parameter(Arc<str>),
    /// A name that nobody in the tree declares.
    Named(Arc<str>),
    /// A function or lambda of the tree, named and not called.
    Function(usize),
    /// A lambda without a name.
    Closure,
    /// `{...}`.
    Braces,
    /// A number, as an argument of a template.
    Value(Arc<str>),
}

impl Ty {
    pub(crate) fn of(base: Base) -> Self {
        Self { base, pointers: 0, reference: Reference::None, is_const: false, is_guess: false }
    }

    pub(crate) fn unknown() -> Self {
        Self::of(Base::Unknown)
    }

    pub(crate) fn class(instance: Instance) -> Self {
        Self::of(Base::Class(instance))
    }

    /// Whether nothing can be told from it: dependent or not understood.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.base, Base::Unknown | Base::Parameter(_) | Base::Named(_))
    }

    pub(crate) fn is_external(&self) -> bool {
        matches!(self.base, Base::External(..))
    }

    /// The class that an object of the type is, pointers looked through.
    pub(crate) fn instance(&self) -> Option<&Instance> {
        match &self.base {
            Base::Class(instance) => Some(instance),
            _ => None,
        }
    }

    /// The type with the marks that stand around its name.
    fn marked(mut self, text: &TypeText<'_>) -> Self {
        self.pointers = self.pointers.saturating_add(text.pointers);
        if text.reference != Reference::None {
            self.reference = text.reference;
        }
        self.is_const |= text.is_const;
        self
    }

    /// What it points to, or what an array holds.
    pub(crate) fn pointee(mut self) -> Self {
        self.pointers = self.pointers.saturating_sub(1);
        self.reference = Reference::Left;
        self
    }

    /// The type of an object that holds a value of this one.
    pub(crate) fn value(mut self) -> Self {
        self.reference = Reference::None;
        self
    }
}

/// Values of template parameters, innermost first.
pub(crate) type Bindings<'a> = Option<Arc<Binding<'a>>>;

/// Template parameters of one template, and what they stand for.
#[derive(Debug, PartialEq)]
pub(crate) struct Binding<'a> {
    names: Vec<&'a str>,
    types: Vec<Ty>,
    outer: Bindings<'a>,
}

impl<'a> Binding<'a> {
    /// `names` bound to `types` as far as both go; nothing when nothing is known.
    pub(crate) fn new(names: &[&'a str], types: &[Ty], outer: Bindings<'a>) -> Bindings<'a> {
        let known = names.iter().zip(types).filter(|(_, ty)| ty.base != Base::Unknown);
        let (names, types): (Vec<&str>, Vec<Ty>) = known.map(|(name, ty)| (*name, ty.clone())).unzip();
        if names.is_empty() { outer } else { Some(Arc::new(Self { names, types, outer })) }
    }
}

/// What `name` stands for.
pub(crate) fn bound<'b>(bindings: &'b Bindings<'_>, name: &str) -> Option<&'b Ty> {
    let mut next = bindings.as_ref();
    while let Some(binding) = next {
        if let Some(at) = binding.names.iter().position(|one| *one == name) {
            return Some(&binding.types[at]);
        }
        next = binding.outer.as_ref();
    }
    None
}

/// What a component of a path leads to.
enum Step {
    Type(Ty),
    Scope(ScopeId),
    /// A name of another library.
    External,
    /// A member of something dependent.
    Open,
    Nothing,
}

impl<'a> Lookup<'a> {
    /// The type that `text` is at `place`.
    pub(crate) fn type_of(&self, text: &TypeText<'_>, place: &Place<'a>, depth: usize) -> Ty {
        let ty = match &text.base {
            Written::Builtin(kind) => Ty::of(Base::Builtin(*kind)),
            Written::Value(text) => Ty::of(Base::Value((*text).into())),
            Written::Named(path) if depth <= MAX_DEPTH => self.named_type(path, place, depth + 1),
            Written::Of(expression) if depth <= MAX_DEPTH => {
                let expression = crate::syntax::Expression::read(expression);
                self.value_of(&expression, place, depth + EXPRESSION_STEP).value()
            }
            _ => Ty::unknown(),
        };
        ty.marked(text)
    }

    /// The type a path names.
    pub(crate) fn named_type(&self, path: &PathText<'_>, place: &Place<'a>, depth: usize) -> Ty {
        let Some(first) = path.parts.first() else { return Ty::unknown() };
        if depth > MAX_DEPTH {
            return Ty::unknown();
        }
        if let Some(ty) = self.standard_type(path, place, depth) {
            return ty;
        }
        let mut step = self.first_step(path, place, depth);
        if matches!(step, Step::Nothing) && self.is_external_name(first.name, path.parts.len() > 1) {
            step = Step::External;
        }
        for part in &path.parts[1..] {
            step = match step {
                Step::Scope(scope) => self.step_in_scope(scope, part, place, depth),
                Step::Type(ty) => self.step_in_type(&ty, part, place, depth),
                other => other,
            };
        }
        match step {
            Step::Type(ty) => ty,
            // What a trait of another library computes.
            Step::External if path.parts.len() > 1 && path.name() == "type" => Ty::unknown(),
            Step::External => self.external_type(path, place, depth),
            Step::Nothing if !path.is_global => self.type_elsewhere(path, place, depth),
            _ => Ty::unknown(),
        }
    }

    fn arguments_of(&self, texts: Option<&Vec<TypeText<'_>>>, place: &Place<'a>, depth: usize) -> Arguments {
        texts.into_iter().flatten().map(|text| self.type_of(text, place, depth + 1)).collect()
    }

    fn external_type(&self, path: &PathText<'_>, place: &Place<'a>, depth: usize) -> Ty {
        let arguments = self.arguments_of(path.last().and_then(|part| part.arguments.as_ref()), place, depth);
        Ty::of(Base::External(path.name().into(), arguments))
    }

    /// Types of the standard library that are what their arguments are.
    fn standard_type(&self, path: &PathText<'_>, place: &Place<'a>, depth: usize) -> Option<Ty> {
        let is_standard = path.parts.first().is_some_and(|part| part.name == "std") && path.parts.len() > 1;
        if !is_standard {
            return None;
        }
        let part = &path.parts[1];
        let arguments = part.arguments.as_ref()?;
        let is_void = matches!(part.name, "enable_if_t" | "enable_if") && arguments.len() == 1;
        if is_void || part.name == "void_t" {
            return Some(Ty::of(Base::Builtin(Builtin::Void)));
        }
        let wanted = match part.name {
            name if TRANSPARENT.contains(&name) => arguments.first()?,
            name if CHOOSING.contains(&name) => arguments.get(1)?,
            _ => return None,
        };
        let mut ty = self.type_of(wanted, place, depth + 1);
        if part.name.starts_with("remove_pointer") {
            ty.pointers = ty.pointers.saturating_sub(1);
        }
        ty.reference = Reference::None;
        Some(ty)
    }

    /// The first component, from the innermost scope outward.
    fn first_step(&self, path: &PathText<'_>, place: &Place<'a>, depth: usize) -> Step {
        let part = &path.parts[0];
        let is_last = path.parts.len() == 1;
        if path.is_global {
            return self.step_in_scope(GLOBAL, part, place, depth);
        }
        if let Some(local) = self.local_alias(part.name, place) {
            return Step::Type(local);
        }
        if let Some(ty) = bound(&place.bindings, part.name) {
            return Step::Type(ty.clone());
        }
        if self.is_template_parameter(part.name, place) {
            let parameter = Ty::of(Base::Parameter(part.name.into()));
            return if is_last { Step::Type(parameter) } else { Step::Open };
        }
        for scope in self.scopes.chain(place.scope) {
            let found = match self.class_at(scope, place) {
                Some(class) if !self.classes.mentions(class, part.name) => Step::Nothing,
                Some(class) => {
                    let own = self.own_instance(class, place);
                    self.step_in_class(&own, true, part, place, depth)
                }
                None => self.step_in_scope(scope, part, place, depth),
            };
            if !matches!(found, Step::Nothing) {
                return found;
            }
        }
        Step::Nothing
    }

    fn step_in_scope(
        &self,
        scope: ScopeId,
        part: &crate::syntax::PartText<'_>,
        place: &Place<'a>,
        depth: usize,
    ) -> Step {
        for face in self.faces(scope, place.file) {
            if let Some(entry) = self.scopes.declared(face, part.name)
                && let Some(found) = self.type_in_entry(entry, part, place, depth)
            {
                return found;
            }
            if let Some(child) = self.scopes.child(face, part.name) {
                return Step::Scope(child);
            }
        }
        Step::Nothing
    }

    fn type_in_entry(
        &self,
        entry: &'a Entry,
        part: &crate::syntax::PartText<'_>,
        place: &Place<'a>,
        depth: usize,
    ) -> Option<Step> {
        let class = self.pick_class(&entry.classes, place.file);
        if let Some(class) = class.filter(|&class| !self.has_own_type(entry, class, place)) {
            let arguments = self.arguments_of(part.arguments.as_ref(), place, depth);
            return Some(Step::Type(Ty::class(self.instance(class, arguments, depth))));
        }
        if let Some(alias) = self.pick_type(&entry.types, place) {
            let arguments = self.arguments_of(part.arguments.as_ref(), place, depth);
            return Some(Step::Type(self.declared_type_of(alias, &arguments, &None, depth)));
        }
        let import = entry.imports.iter().find(|(file, _)| self.reach.sees(place.file, *file));
        match import {
            Some((_, Some(target))) if depth < MAX_DEPTH => {
                match self.step_in_scope(*target, part, place, depth + 1) {
                    Step::Nothing => None,
                    found => Some(found),
                }
            }
            Some((_, None)) if entry.functions.is_empty() => Some(Step::External),
            _ => None,
        }
    }

    /// Whether the file of `place` has an alias of the name of a class that stands in another file: the
    /// class is that of another configuration.
    pub(crate) fn has_own_type(&self, entry: &Entry, class: ClassId, place: &Place<'a>) -> bool {
        let is_here = |at: &usize| self.tree.facts[*at].file == place.file && place.entity != Some(*at);
        entry.types.iter().any(is_here) && !self.classes.get(class).entities.iter().any(is_here)
    }

    /// A type that is a member of a class or of its bases.
    fn step_in_class(
        &self,
        instance: &Instance,
        is_inside: bool,
        part: &crate::syntax::PartText<'_>,
        place: &Place<'a>,
        depth: usize,
    ) -> Step {
        let written = || self.arguments_of(part.arguments.as_ref(), place, depth);
        let found = self.in_lineage(instance, depth, |holder| {
            if self.classes.name(holder.class) == part.name {
                return Some(Ty::class(match part.arguments {
                    Some(_) => self.instance(holder.class, written(), depth),
                    None => holder.clone(),
                }));
            }
            let at = self.member_type(holder, part.name, place)?;
            if let Some(nested) = self.classes.of_record(at) {
                return Some(Ty::class(self.instance(nested, written(), depth)));
            }
            let outer = match is_inside && holder.class == instance.class {
                // Inside the class its parameters are what the place says.
                true => place.bindings.clone(),
                false => self.class_bindings(at, holder, depth),
            };
            Some(self.declared_type_of(at, &written(), &outer, depth))
        });
        found.map_or(Step::Nothing, Step::Type)
    }

    /// A class, alias or enumeration inside a class.
    fn member_type(&self, holder: &Instance, name: &str, place: &Place<'a>) -> Option<usize> {
        let is_type =
            |kind: EntityKind| kind.is_record() || matches!(kind, EntityKind::Alias | EntityKind::Enum);
        let mut types = self.own_members(holder, name);
        types.retain(|&at| is_type(self.tree.entities[at].kind) && place.entity != Some(at));
        // Several are the branches of a conditional, or those of specialisations that are not told apart.
        types.first().copied()
    }

    fn step_in_type(
        &self,
        ty: &Ty,
        part: &crate::syntax::PartText<'_>,
        place: &Place<'a>,
        depth: usize,
    ) -> Step {
        match &ty.base {
            Base::Class(instance) => match self.step_in_class(instance, false, part, place, depth) {
                Step::Nothing => Step::Open,
                found => found,
            },
            Base::External(..) => Step::External,
            _ => Step::Open,
        }
    }

    /// What an alias stands for, or an enumeration is.
    fn declared_type_of(&self, at: usize, arguments: &Arguments, outer: &Bindings<'a>, depth: usize) -> Ty {
        if self.tree.entities[at].kind == EntityKind::Enum {
            return Ty::of(Base::Enum(at));
        }
        if depth > MAX_DEPTH {
            return Ty::unknown();
        }
        let facts = &self.tree.facts[at];
        let bindings = Binding::new(&facts.template_names, arguments, outer.clone());
        let place = Place { bindings, ..self.place_of(at) };
        self.type_of(&facts.type_text, &place, depth + 1)
    }

    /// An alias or enumeration of one name that `place` means; never the alias being read.
    fn pick_type(&self, found: &[usize], place: &Place<'a>) -> Option<usize> {
        let is_other = |at: &usize| place.entity != Some(*at);
        let in_file = |at: &usize| self.tree.facts[*at].file == place.file;
        let others = || found.iter().copied().filter(is_other);
        others()
            .find(in_file)
            .or_else(|| others().find(|&at| self.sight().is_visible(at, place.file)))
            .or_else(|| if let [only] = found { Some(*only).filter(is_other) } else { None })
    }

    /// A class or alias of that name in a scope that `place` is not in.
    fn type_elsewhere(&self, path: &PathText<'_>, place: &Place<'a>, depth: usize) -> Ty {
        let plain = path.plain();
        let arguments =
            || self.arguments_of(path.last().and_then(|part| part.arguments.as_ref()), place, depth);
        if let Some(class) = self.classes.elsewhere(self.tree, self.reach, &plain, place.file) {
            return Ty::class(self.instance(class, arguments(), depth));
        }
        let ending = format!("::{plain}");
        let found = self.names.aliases_by_name.get(path.name()).map_or(&[][..], Vec::as_slice);
        let mut visible = found.iter().copied().filter(|&at| {
            let qualified = self.tree.facts[at].qualified();
            let named = qualified == plain || qualified.ends_with(&ending);
            named && self.classes.of_member[at].is_none() && self.sight().is_visible(at, place.file)
        });
        match (visible.next(), visible.next()) {
            (Some(only), None) if place.entity != Some(only) => {
                self.declared_type_of(only, &arguments(), &None, depth + 1)
            }
            _ => Ty::of(Base::Named(path.name().into())),
        }
    }
}
