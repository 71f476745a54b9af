//! Which entity a call means.

use std::collections::HashSet;

use almanac_tables::{Reference, Resolution};

use crate::classes::ClassId;
use crate::edges::{UNIQUE_MEMBER, confidence_of};
use crate::lookup::{Lookup, Place};
use crate::names::{join, plain, scope_and_name, scopes_outward, tokens};
use crate::overloads::Wanted;
use crate::receivers::{inside_decltype, is_const_type};
use crate::tree::Family;
use crate::types::TypeAnswer;

/// Members of smart pointers themselves, not of what they point to.
const POINTER_MEMBERS: &[&str] = &["get", "reset", "release", "use_count", "swap"];

/// Shortest class name that is recognised inside the name of an object.
const LEAST_HINT: usize = 4;

/// Targets of a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// Entities, one for each symbol.
    pub(crate) entities: Vec<usize>,
    /// How they were found, were there only one.
    pub(crate) resolution: Resolution,
    /// Confidence, were there only one.
    pub(crate) confidence: f32,
}

impl Found {
    fn new(entities: Vec<usize>, resolution: Resolution) -> Option<Self> {
        let confidence = confidence_of(resolution);
        (!entities.is_empty()).then_some(Self { entities, resolution, confidence })
    }
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    /// It leads to these targets.
    Found(Found),
    /// It leads into another library.
    External,
    /// Nothing in the tree answers to it.
    Unresolved,
}

impl<'a> Lookup<'a> {
    /// Resolves one call or launch.
    pub(crate) fn resolve_call(&self, reference: &Reference) -> Outcome {
        let Some(file) = self.tree.file(&reference.path) else { return Outcome::Unresolved };
        let entity = self.tree.entity(&reference.entity_id);
        let place = match entity {
            Some(entity) => Place { file, ..self.inner_place(entity) },
            None => Place { scope: "", file, entity: None },
        };
        if Family::of(self.tree.files[file].language) == Family::Build {
            return self.build_call(reference, file);
        }
        let arguments = Some(reference.arguments as usize);
        if !reference.receiver.trim().is_empty() {
            return self.member_call(reference, place);
        }
        let written = if reference.written.is_empty() { &reference.name } else { &reference.written };
        let path = plain(written);
        let is_global = written.trim_start().starts_with("::");
        let place = if is_global { Place { scope: "", file, entity: None } } else { place };
        match self.resolve_name(&path, arguments, place) {
            Some(found) => Outcome::Found(found),
            None if self.is_external(&path) => Outcome::External,
            None => Outcome::Unresolved,
        }
    }

    /// Place of names written inside an entity: a class sees its own scope.
    fn inner_place(&self, entity: usize) -> Place<'a> {
        let scope_of = |class: ClassId| self.classes.get(class).qualified.as_str();
        let class = self.classes.enclosing(self.tree, entity);
        let scope = class.map_or(self.tree.facts[entity].scope.as_str(), scope_of);
        Place { scope, ..self.place_of(entity) }
    }

    /// Targets of a function or class named without a receiver.
    pub(crate) fn resolve_name(
        &self,
        path: &str,
        arguments: Option<usize>,
        place: Place<'a>,
    ) -> Option<Found> {
        let (qualifier, name) = scope_and_name(path);
        if name.is_empty() {
            None
        } else if qualifier.is_empty() {
            self.unqualified(name, arguments, place)
        } else {
            self.qualified(path, arguments, place)
        }
    }

    fn qualified(&self, path: &str, arguments: Option<usize>, place: Place<'a>) -> Option<Found> {
        let (qualifier, name) = scope_and_name(path);
        let wanted = Wanted { arguments, is_const: None };
        let by_scope = scopes_outward(place.scope).find_map(|scope| {
            let full = join(scope, path);
            let free = self.names.free.get(&full).map(|found| self.meant(found, place.file));
            let free = free.map(|found| self.targets(&found, wanted)).unwrap_or_default();
            if !free.is_empty() {
                return Found::new(free, Resolution::Exact);
            }
            if let Some(class) = self.class(&join(scope, qualifier), place.file) {
                return self.member_targets(class, name, wanted, Resolution::Exact);
            }
            let class = self.class(&full, place.file)?;
            Found::new(self.constructors(class, arguments), Resolution::Exact)
        });
        if by_scope.is_some() || self.is_external(path) {
            return by_scope;
        }
        match self.resolve_type(qualifier, place) {
            TypeAnswer::Class(class) | TypeAnswer::Wrapped(class) => {
                return self.member_targets(class, name, wanted, Resolution::Scoped);
            }
            TypeAnswer::External => return None,
            TypeAnswer::Unknown => {}
        }
        let first = qualifier.split("::").next().unwrap_or(qualifier);
        if self.is_template_parameter(first, place) {
            return self.member_of_unknown(name, arguments, place.file, &[qualifier]);
        }
        self.ending_with(path, wanted, place)
    }

    /// A free function or class whose qualified name ends with what is written.
    fn ending_with(&self, path: &str, wanted: Wanted, place: Place<'a>) -> Option<Found> {
        let (_, name) = scope_and_name(path);
        let ending = format!("::{path}");
        let found = self.names.free_by_name.get(name).map_or(&[][..], Vec::as_slice);
        let named = found.iter().copied().filter(|&at| {
            let qualified = self.tree.facts[at].qualified();
            qualified.ends_with(&ending)
        });
        let meant = self.meant(&named.collect::<Vec<_>>(), place.file);
        let targets = self.targets(&meant, wanted);
        if !targets.is_empty() {
            return Found::new(targets, Resolution::Unique);
        }
        let class = self.classes.elsewhere(self.tree, self.reach, path, place.file)?;
        Found::new(self.constructors(class, wanted.arguments), Resolution::Unique)
    }

    fn unqualified(&self, name: &str, arguments: Option<usize>, place: Place<'a>) -> Option<Found> {
        let wanted = Wanted { arguments, is_const: None };
        if let Some(found) = self.macro_or_lambda(name, place) {
            return Some(found);
        }
        if self.is_parameter(name, place) {
            return self.called_object(name, arguments, place);
        }
        if let Some(answer) = self.implicit_member(name, arguments, place) {
            return answer;
        }
        for scope in scopes_outward(place.scope) {
            if let Some(answer) = self.in_scope(scope, name, wanted, place) {
                return answer;
            }
        }
        let is_global = self.params.external_functions.iter().any(|function| function == name);
        if is_global || self.is_external(name) || self.is_template_parameter(name, place) {
            return None;
        }
        self.elsewhere(name, wanted, place)
    }

    /// A macro the file sees, else a named lambda of the functions around.
    fn macro_or_lambda(&self, name: &str, place: Place<'a>) -> Option<Found> {
        let seen = |at: usize| self.reach.sees(place.file, self.tree.facts[at].file);
        let macros = self.names.macros.get(name).map_or(&[][..], Vec::as_slice);
        let mut visible: Vec<usize> = match macros.iter().find(|&&at| self.tree.facts[at].file == place.file)
        {
            Some(&at) => vec![at],
            None => macros.iter().copied().filter(|&at| seen(at)).collect(),
        };
        // A file that defines a macro twice does so in two branches of a conditional.
        visible.dedup_by_key(|at| self.tree.facts[*at].file);
        if !visible.is_empty() {
            return Found::new(visible, Resolution::Exact);
        }
        let entity = place.entity?;
        let around: Vec<usize> = self.tree.outward(entity).collect();
        let lambda = self
            .names
            .lambdas
            .get(name)?
            .iter()
            .copied()
            .rev()
            .find(|&at| self.tree.facts[at].around.is_some_and(|outer| around.contains(&outer)))?;
        Found::new(vec![lambda], Resolution::Exact)
    }

    fn is_parameter(&self, name: &str, place: Place<'a>) -> bool {
        place.entity.is_some_and(|entity| {
            self.tree
                .outward(entity)
                .any(|at| self.tree.facts[at].parameters.iter().any(|one| one.name == name))
        })
    }

    /// `object(arguments)`: the call operator of what the name holds.
    fn called_object(&self, name: &str, arguments: Option<usize>, place: Place<'a>) -> Option<Found> {
        let (answer, is_const) = self.class_of_value(&self.named_value(name, place));
        let (TypeAnswer::Class(class) | TypeAnswer::Wrapped(class)) = answer else { return None };
        let wanted = Wanted { arguments, is_const };
        self.member_targets(class, "operator()", wanted, Resolution::Scoped)
    }

    /// A member of the class around or of its bases; `Some(None)` when the name is a data member
    /// that cannot be called.
    fn implicit_member(
        &self,
        name: &str,
        arguments: Option<usize>,
        place: Place<'a>,
    ) -> Option<Option<Found>> {
        let entity = place.entity?;
        let class = self.classes.enclosing(self.tree, entity)?;
        if self.field_of(class, name).is_some() {
            return Some(self.called_object(name, arguments, place));
        }
        let (_, is_const) = self.class_of_expression("this", place);
        let wanted = Wanted { arguments, is_const };
        self.member_targets(class, name, wanted, Resolution::Scoped).map(Some)
    }

    /// What `scope` itself declares under that name; `Some(None)` when that ends the search.
    fn in_scope(&self, scope: &str, name: &str, wanted: Wanted, place: Place<'a>) -> Option<Option<Found>> {
        let full = join(scope, name);
        if let Some(found) = self.names.free.get(&full) {
            let targets = self.targets(&self.meant(found, place.file), wanted);
            if !targets.is_empty() {
                return Some(Found::new(targets, Resolution::Scoped));
            }
        }
        if let Some(class) = self.class(&full, place.file) {
            let targets = self.constructors(class, wanted.arguments);
            return Some(Found::new(targets, Resolution::Scoped));
        }
        if let Some(class) = self.class(scope, place.file)
            && let Some(found) = self.member_targets(class, name, wanted, Resolution::Scoped)
        {
            return Some(Some(found));
        }
        if self.names.aliases.contains_key(&full) {
            return Some(match self.resolve_type(name, place) {
                TypeAnswer::Class(class) => {
                    Found::new(self.constructors(class, wanted.arguments), Resolution::Scoped)
                }
                _ => None,
            });
        }
        let is_seen = |found: &Vec<usize>| !self.meant(found, place.file).is_empty();
        self.names
            .variables
            .get(&full)
            .filter(|found| is_seen(found))
            .map(|_| self.called_object(name, wanted.arguments, place))
    }

    /// A function or class of that name in a scope that is not around the call.
    fn elsewhere(&self, name: &str, wanted: Wanted, place: Place<'a>) -> Option<Found> {
        let found = self.names.free_by_name.get(name).map_or(&[][..], Vec::as_slice);
        let meant = self.meant(found, place.file);
        let targets = self.targets(&meant, wanted);
        if !targets.is_empty() {
            let is_seen = targets.iter().all(|&at| self.is_visible(at, place.file));
            let mut found = Found::new(targets, Resolution::Unique)?;
            if !is_seen {
                found.confidence = UNIQUE_MEMBER;
            }
            return Some(found);
        }
        let class = self.classes.elsewhere(self.tree, self.reach, name, place.file)?;
        Found::new(self.constructors(class, wanted.arguments), Resolution::Unique)
    }

    fn member_call(&self, reference: &Reference, place: Place<'a>) -> Outcome {
        let path = plain(&reference.name);
        let (_, name) = scope_and_name(&path);
        let arguments = Some(reference.arguments as usize);
        let answer = self.receiver(reference, place);
        let found = match answer {
            (TypeAnswer::Wrapped(_), _) if POINTER_MEMBERS.contains(&name) => {
                return Outcome::External;
            }
            (TypeAnswer::Class(class) | TypeAnswer::Wrapped(class), is_const) => {
                let wanted = Wanted { arguments, is_const };
                self.member_targets(class, name, wanted, Resolution::Scoped)
            }
            (TypeAnswer::External, _) => return Outcome::External,
            (TypeAnswer::Unknown, _) => {
                if self.is_external(reference.receiver.trim()) {
                    return Outcome::External;
                }
                let hints = [reference.receiver.as_str(), reference.receiver_type.as_str()];
                self.member_of_unknown(name, arguments, place.file, &hints)
            }
        };
        found.map_or(Outcome::Unresolved, Outcome::Found)
    }

    /// Class of the object a call goes through, and whether the object is `const`. The type that
    /// the file shows decides; constness, which it leaves out, is traced.
    fn receiver(&self, reference: &Reference, place: Place<'a>) -> (TypeAnswer, Option<bool>) {
        // A type that the file leaves to another one is an expression to follow from here.
        let expression = inside_decltype(&reference.receiver_type).unwrap_or(&reference.receiver);
        let traced = self.class_of_expression(expression, place);
        let shown = match reference.receiver_type.trim() {
            "" => TypeAnswer::Unknown,
            text => self.resolve_type(text, place),
        };
        match shown {
            TypeAnswer::Unknown => traced,
            _ if is_const_type(&reference.receiver_type) => (shown, Some(true)),
            _ if shown == traced.0 => traced,
            _ => (shown, None),
        }
    }

    /// A member by its name alone; never a free function, never a name that containers have.
    fn member_of_unknown(
        &self,
        name: &str,
        arguments: Option<usize>,
        file: usize,
        hints: &[&str],
    ) -> Option<Found> {
        if self.params.external_members.iter().any(|member| member == name) {
            return None;
        }
        // Visibility chooses among those that take the call: templates call what they never include.
        let wanted = Wanted { arguments, is_const: None };
        let takers: Vec<usize> = self
            .overloads(self.names.methods.get(name)?, wanted)
            .into_iter()
            .map(|symbol| self.symbols.canonical(symbol))
            .collect();
        let targets = self.hinted(self.without_overriders(self.meant(&takers, file)), hints);
        let mut found = Found::new(targets, Resolution::Unique)?;
        found.confidence = UNIQUE_MEMBER;
        Some(found)
    }

    /// A call that may mean a virtual member means that one rather than what overrides it.
    fn without_overriders(&self, found: Vec<usize>) -> Vec<usize> {
        let class = |at: usize| self.classes.of_member[at];
        let virtuals: HashSet<ClassId> =
            found.iter().copied().filter(|&at| self.is_virtual(at)).filter_map(class).collect();
        let overrides = |one: usize| {
            class(one).is_some_and(|derived| {
                self.classes.with_bases(derived)[1..].iter().any(|base| virtuals.contains(base))
            })
        };
        found.iter().copied().filter(|&one| !overrides(one)).collect()
    }

    fn is_virtual(&self, at: usize) -> bool {
        self.symbols.entities[self.symbols.of[at]].iter().any(|&one| {
            let words = tokens(&self.tree.entities[one].signature);
            words.contains(&"virtual") || words.contains(&"override")
        })
    }

    /// Of several members those whose class is named in what they are called on, if any are:
    /// `field.apply()` and a template parameter `FieldType` mean a field.
    fn hinted(&self, found: Vec<usize>, hints: &[&str]) -> Vec<usize> {
        if found.len() < 2 {
            return found;
        }
        let hinted = self.classes.hinted(&hints.join(" "), LEAST_HINT);
        let is_named = |at: &usize| self.classes.of_member[*at].is_some_and(|class| hinted.contains(&class));
        let named: Vec<usize> = found.iter().copied().filter(is_named).collect();
        if named.is_empty() { found } else { named }
    }

    fn member_targets(
        &self,
        class: ClassId,
        name: &str,
        wanted: Wanted,
        resolution: Resolution,
    ) -> Option<Found> {
        if self.class_name(class) == name {
            return Found::new(self.constructors(class, wanted.arguments), resolution);
        }
        let members = self.callables(self.classes.member(class, name)?);
        Found::new(self.targets(&members, wanted), resolution)
    }

    fn class_name(&self, class: ClassId) -> &str {
        scope_and_name(&self.classes.get(class).qualified).1
    }

    /// Constructors that take the call, else the class.
    fn constructors(&self, class: ClassId, arguments: Option<usize>) -> Vec<usize> {
        let members = self.classes.get(class).members.get(self.class_name(class));
        let declared = self.callables(members.map_or(&[][..], Vec::as_slice));
        let targets = self.targets(&declared, Wanted { arguments, is_const: None });
        if targets.is_empty() { vec![self.classes.node(class)] } else { targets }
    }

    pub(crate) fn callables(&self, found: &[usize]) -> Vec<usize> {
        found.iter().copied().filter(|&at| self.tree.entities[at].kind.is_callable()).collect()
    }

    /// The entities of the overloads that take the call.
    fn targets(&self, found: &[usize], wanted: Wanted) -> Vec<usize> {
        self.overloads(found, wanted).into_iter().map(|symbol| self.symbols.canonical(symbol)).collect()
    }

    /// CMake commands ignore case and have one scope.
    fn build_call(&self, reference: &Reference, file: usize) -> Outcome {
        let name = reference.name.to_ascii_lowercase();
        let found = self.names.build.get(&name).map_or(&[][..], Vec::as_slice);
        let meant = self.meant(found, file);
        let resolution = match meant.iter().all(|&at| self.is_visible(at, file)) {
            true => Resolution::Scoped,
            false => Resolution::Unique,
        };
        Found::new(meant, resolution).map_or(Outcome::Unresolved, Outcome::Found)
    }
}
