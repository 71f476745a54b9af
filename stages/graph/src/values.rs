//! What expressions are: fields, parameters, variables, elements and results of calls.

use almanac_tables::{EntityKind, Resolution};

use crate::calls::Answer;
use crate::instances::{Arguments, Instance};
use crate::lookup::{Lookup, Place};
use crate::overloads::{Callee, Given};
use crate::scopes::GLOBAL;
use crate::syntax::{Builtin, Expression, PathText, Reference};
use crate::types::{Base, MAX_DEPTH, POINTERS, Ty};

/// Functions that make a pointer to what their template argument names.
const MAKERS: &[&str] = &["make_shared", "make_unique", "static_pointer_cast", "dynamic_pointer_cast"];
/// Functions that give back what they are given.
const PASSING: &[&str] = &["move", "forward", "ref", "cref", "as_const", "launder", "addressof"];
/// Containers of their first argument.
const SEQUENCES: &[&str] = &[
    "vector",
    "array",
    "deque",
    "span",
    "valarray",
    "list",
    "forward_list",
    "set",
    "unordered_set",
    "multiset",
    "initializer_list",
    "queue",
    "stack",
    "optional",
];
/// Containers of their second argument.
const MAPS: &[&str] = &["map", "unordered_map", "multimap"];
/// Members of a container that give one of its elements.
const ELEMENTS: &[&str] = &["at", "front", "back", "operator[]", "top", "value", "emplace_back"];
/// Members of a container that give a pointer-like thing to its elements.
const ITERATORS: &[&str] = &["begin", "end", "cbegin", "cend", "rbegin", "rend", "find", "data"];

impl<'a> Lookup<'a> {
    /// What an expression is. An object with a name has a reference, a result by value has none.
    pub(crate) fn value_of(&self, expression: &Expression<'_>, place: &Place<'a>, depth: usize) -> Ty {
        if depth > MAX_DEPTH {
            return Ty::unknown();
        }
        match expression {
            Expression::Unknown => Ty::unknown(),
            Expression::Lambda => Ty::of(Base::Closure),
            Expression::Braces => Ty::of(Base::Braces),
            Expression::This => self.this(place),
            Expression::Literal(kind, is_text) => {
                let mut ty = Ty::of(Base::Builtin(*kind));
                ty.pointers = u8::from(*is_text);
                ty.is_const = *is_text;
                ty
            }
            Expression::Name(path) => self.named_value(path, place, depth),
            Expression::Member { object, path, is_arrow } => {
                let object = self.object(object, *is_arrow, place, depth + 1);
                self.field(&object, path, depth)
            }
            Expression::Index { object, arguments } => {
                let object = self.value_of(object, place, depth + 1);
                self.element(&object, arguments, place, depth + 1)
            }
            Expression::Made { of, .. } => self.type_of(of, place, depth + 1),
            Expression::Operator { symbol, arguments } => self.operated(symbol, arguments, place, depth + 1),
            Expression::Call { callee, arguments } => self.result_of(callee, arguments, place, depth + 1),
        }
    }

    /// The object that a member is taken of: behind a pointer for `->`.
    pub(crate) fn object(
        &self,
        expression: &Expression<'_>,
        is_arrow: bool,
        place: &Place<'a>,
        depth: usize,
    ) -> Ty {
        let object = self.value_of(expression, place, depth);
        if is_arrow { self.behind(object, depth) } else { object }
    }

    /// What `->` leads to.
    pub(crate) fn behind(&self, pointer: Ty, depth: usize) -> Ty {
        if pointer.pointers > 0 {
            return pointer.pointee();
        }
        match &pointer.base {
            Base::External(name, arguments) => match arguments.first() {
                Some(first) if POINTERS.contains(&&**name) || name.ends_with("iterator") => {
                    let mut object = first.clone();
                    object.reference = Reference::Left;
                    object
                }
                _ => Ty::unknown(),
            },
            Base::Class(instance) if depth <= MAX_DEPTH => {
                let callees = self.members_called(instance, "operator->", depth);
                match callees.first() {
                    Some(callee) => {
                        let result = self.result(callee, depth + 1);
                        self.behind(result, depth + 1)
                    }
                    None => pointer,
                }
            }
            _ => pointer,
        }
    }

    /// The object a member function runs on, as a pointer.
    fn this(&self, place: &Place<'a>) -> Ty {
        let Some(entity) = place.entity else { return Ty::unknown() };
        let Some(class) = self.classes.enclosing(self.tree, entity) else { return Ty::unknown() };
        let method = self.tree.outward(entity).find(|&at| self.classes.of_member[at].is_some());
        let mut ty = Ty::class(self.own_instance(class, place));
        ty.pointers = 1;
        ty.is_const = method.is_some_and(|at| self.tree.facts[at].is_const);
        ty
    }

    /// A variable, parameter, field, enumerator or function.
    fn named_value(&self, path: &PathText<'_>, place: &Place<'a>, depth: usize) -> Ty {
        if path.parts.len() > 1 || path.is_global {
            return self.qualified_value(path, place, depth);
        }
        let name = path.name();
        if let Some(ty) = self.variable(name, place, depth) {
            return ty;
        }
        if let Some(lambda) = self.lambda(name, place) {
            return Ty::of(Base::Function(lambda));
        }
        for scope in self.scopes.chain(place.scope) {
            for face in self.faces(scope, place.file) {
                let Some(entry) = self.scopes.declared(face, name) else { continue };
                if let Some(ty) = self.value_in_entry(entry, place, depth) {
                    return ty;
                }
            }
        }
        Ty::unknown()
    }

    fn value_in_entry(&self, entry: &'a crate::scopes::Entry, place: &Place<'a>, depth: usize) -> Option<Ty> {
        let seen = self.sight().meant(&entry.variables, place.file);
        if let Some(&at) = seen.first() {
            return Some(self.declared(at, &None, depth));
        }
        let mut visits = 0;
        let functions = entry.functions.meant(self.sight(), place.file, &mut visits);
        self.visited(visits);
        functions.first().map(|&at| Ty::of(Base::Function(at)))
    }

    /// A local, a parameter or a field of the class around.
    pub(crate) fn variable(&self, name: &str, place: &Place<'a>, depth: usize) -> Option<Ty> {
        let lvalue = |mut ty: Ty| {
            ty.reference = Reference::Left;
            ty
        };
        if let Some(local) = self.local(name, place) {
            return Some(lvalue(local));
        }
        let entity = place.entity?;
        for at in self.tree.outward(entity) {
            let parameters = &self.tree.facts[at].parameters;
            if let Some(parameter) = parameters.iter().find(|one| one.name == name) {
                let place = Place { bindings: place.bindings.clone(), ..self.place_inside(at) };
                return Some(lvalue(self.type_of(&parameter.type_text, &place, depth + 1)));
            }
        }
        let class = self.classes.enclosing(self.tree, entity)?;
        if !self.classes.mentions(class, name) {
            return None;
        }
        let this = self.this(place);
        let (field, holder) = self.field_of(this.instance()?, name, depth)?;
        Some(self.part_of(field, &holder, &this, depth))
    }

    /// Where the parameters of a callable are read: its own template parameters are in sight.
    fn place_inside(&self, at: usize) -> Place<'a> {
        self.place_of(at)
    }

    fn qualified_value(&self, path: &PathText<'_>, place: &Place<'a>, depth: usize) -> Ty {
        let Some((last, qualifier)) = path.parts.split_last() else { return Ty::unknown() };
        if qualifier.is_empty() {
            let entry = self.scopes.declared(GLOBAL, last.name);
            return entry
                .and_then(|entry| self.value_in_entry(entry, place, depth))
                .unwrap_or_else(Ty::unknown);
        }
        let holder = PathText { is_global: path.is_global, parts: qualifier.to_vec() };
        let names: Vec<&str> = holder.parts.iter().map(|part| part.name).collect();
        if let Some(scope) = self.scopes.outward(place.scope, &names.join("::")) {
            for face in self.faces(scope, place.file) {
                if let Some(entry) = self.scopes.declared(face, last.name)
                    && let Some(ty) = self.value_in_entry(entry, place, depth)
                {
                    return ty;
                }
            }
        }
        let holder = self.named_type(&holder, place, depth + 1);
        match &holder.base {
            Base::Enum(_) => holder,
            Base::Class(..) => self.field(&holder, path, depth),
            Base::External(..) => Ty::unknown(),
            _ => Ty::unknown(),
        }
    }

    /// A data member of an object.
    fn field(&self, object: &Ty, path: &PathText<'_>, depth: usize) -> Ty {
        let Base::Class(instance) = &object.base else { return Ty::unknown() };
        if object.pointers > 0 {
            return Ty::unknown();
        }
        match self.field_of(instance, path.name(), depth) {
            Some((field, holder)) => self.part_of(field, &holder, object, depth),
            None => {
                let callees = self.members_called(instance, path.name(), depth);
                callees.first().map_or_else(Ty::unknown, |callee| Ty::of(Base::Function(callee.at)))
            }
        }
    }

    /// The data member of that name in class or bases, and where it was found.
    pub(crate) fn field_of(
        &self,
        instance: &Instance,
        name: &str,
        depth: usize,
    ) -> Option<(usize, Instance)> {
        let is_data = |kind| matches!(kind, EntityKind::Field | EntityKind::Variable);
        self.in_lineage(instance, depth, |holder| {
            let members = self.own_members(holder, name);
            let field = members.into_iter().find(|&at| is_data(self.tree.entities[at].kind))?;
            Some((field, holder.clone()))
        })
    }

    /// A data member of an object; what it holds by value is as `const` as the object.
    fn part_of(&self, field: usize, holder: &Instance, object: &Ty, depth: usize) -> Ty {
        let bindings = self.class_bindings(field, holder, depth);
        let mut ty = self.declared(field, &bindings, depth);
        ty.is_guess |= object.is_guess;
        if object.is_const
            && ty.pointers == 0
            && self.tree.facts[field].type_text.reference == Reference::None
        {
            ty.is_const = true;
        }
        ty
    }

    /// A variable or field as declared.
    fn declared(&self, at: usize, bindings: &crate::types::Bindings<'a>, depth: usize) -> Ty {
        let entity = &self.tree.entities[at];
        if entity.kind == EntityKind::Enumerator {
            let outer = self.tree.facts[at].around;
            let of_enum = outer.filter(|&outer| self.tree.entities[outer].kind == EntityKind::Enum);
            return of_enum.map_or_else(|| Ty::of(Base::Builtin(Builtin::Int)), |at| Ty::of(Base::Enum(at)));
        }
        let place = Place { bindings: bindings.clone(), ..self.place_of(at) };
        let mut ty = self.type_of(&self.tree.facts[at].type_text, &place, depth + 1);
        ty.reference = Reference::Left;
        ty
    }

    /// What a call gives back.
    fn result_of(
        &self,
        callee: &Expression<'_>,
        list: &[Expression<'_>],
        place: &Place<'a>,
        depth: usize,
    ) -> Ty {
        if let Some(ty) = self.library_result(callee, list, place, depth) {
            return ty;
        }
        let given = Given::new(Some(list.len()), list, place, depth);
        let answer = match callee {
            Expression::Name(path) => self.call_name(path, &given, place),
            Expression::Member { object, path, is_arrow } => {
                self.call_through(object, *is_arrow, path, &given, place)
            }
            other => {
                let object = self.value_of(other, place, depth + 1);
                self.call_object(&object, &given)
            }
        };
        self.result_of_answer(answer, depth)
    }

    pub(crate) fn result_of_answer(&self, answer: Answer<'a>, depth: usize) -> Ty {
        match answer {
            Answer::Found { made: Some(ty), .. } | Answer::Made(ty) => ty.value(),
            Answer::Found { callees, resolution, .. } => {
                let mut results = callees.iter().map(|callee| self.result(callee, depth + 1));
                let Some(mut first) = results.next() else { return Ty::unknown() };
                first.is_guess |= resolution == Resolution::Name;
                if results.all(|other| other.base == first.base) { first } else { Ty::unknown() }
            }
            _ => Ty::unknown(),
        }
    }

    /// Results of functions that other libraries define.
    fn library_result(
        &self,
        callee: &Expression<'_>,
        list: &[Expression<'_>],
        place: &Place<'a>,
        depth: usize,
    ) -> Option<Ty> {
        match callee {
            Expression::Name(path) => {
                let part = path.last()?;
                let is_standard = path.parts.first().is_some_and(|first| first.name == "std");
                if !is_standard && path.parts.len() > 1 {
                    return None;
                }
                if MAKERS.contains(&part.name) {
                    let of = part.arguments.as_ref()?.first()?;
                    let mut ty = self.type_of(of, place, depth);
                    ty.pointers = ty.pointers.saturating_add(1);
                    return Some(ty);
                }
                if part.name == "declval" {
                    return Some(self.type_of(part.arguments.as_ref()?.first()?, place, depth));
                }
                if PASSING.contains(&part.name) && list.len() == 1 {
                    let mut ty = self.value_of(&list[0], place, depth);
                    if part.name == "move" {
                        ty.reference = Reference::Right;
                    }
                    return Some(ty);
                }
                None
            }
            Expression::Member { object, path, is_arrow } => {
                let object = self.object(object, *is_arrow, place, depth + 1);
                let Base::External(name, arguments) = &object.base else { return None };
                self.container_member(name, arguments, path.name(), &object)
            }
            _ => None,
        }
    }

    fn container_member(&self, name: &str, arguments: &Arguments, member: &str, object: &Ty) -> Option<Ty> {
        let holds = element_of(name, arguments)?;
        if ELEMENTS.contains(&member) {
            let mut ty = holds.clone();
            ty.reference = Reference::Left;
            ty.is_const |= object.is_const;
            return Some(ty);
        }
        if ITERATORS.contains(&member) && SEQUENCES.contains(&name) {
            let mut ty = holds.clone();
            ty.pointers = ty.pointers.saturating_add(1);
            return Some(ty);
        }
        let is_pointer = POINTERS.contains(&name) && member == "get";
        is_pointer.then(|| {
            let mut ty = holds.clone();
            ty.pointers = ty.pointers.saturating_add(1);
            ty
        })
    }

    /// Value that a callable, or the constructor of a class, gives.
    pub(crate) fn result(&self, callee: &Callee<'a>, depth: usize) -> Ty {
        let at = callee.at;
        if let Some(class) = self.classes.of_record(at) {
            return Ty::class(self.instance(class, Arguments::from([]), depth));
        }
        if self.is_constructor(at)
            && let Some(class) = self.classes.of_member[at]
        {
            return Ty::class(self.instance(class, Arguments::from([]), depth));
        }
        if depth > MAX_DEPTH {
            return Ty::unknown();
        }
        let text = &self.tree.facts[at].type_text;
        let is_deduced = text.base == crate::syntax::Written::Deduced;
        if is_deduced && let Some(known) = self.deduced_result(at) {
            return known;
        }
        let place = Place { bindings: callee.bindings.clone(), ..self.place_of(at) };
        self.type_of(text, &place, depth + 1)
    }

    pub(crate) fn is_constructor(&self, at: usize) -> bool {
        self.tree.entities[at].kind.is_callable()
            && self.classes.of_member[at]
                .is_some_and(|class| self.classes.name(class) == self.tree.facts[at].name)
    }

    /// One element of an array, container or indexable object.
    fn element(&self, object: &Ty, arguments: &[Expression<'_>], place: &Place<'a>, depth: usize) -> Ty {
        if object.pointers > 0 {
            return object.clone().pointee();
        }
        match &object.base {
            Base::External(name, types) => {
                self.container_member(name, types, "operator[]", object).unwrap_or_else(Ty::unknown)
            }
            Base::Class(..) => {
                let given = Given::new(Some(arguments.len()), arguments, place, depth);
                let answer = self.call_member_named(object, "operator[]", &given, place);
                self.result_of_answer(answer, depth)
            }
            _ => Ty::unknown(),
        }
    }

    /// What an operator gives.
    fn operated(&self, symbol: &str, list: &[Expression<'_>], place: &Place<'a>, depth: usize) -> Ty {
        let Some(first) = list.first() else { return Ty::unknown() };
        let left = self.value_of(first, place, depth);
        let right = list.get(1).map(|second| self.value_of(second, place, depth));
        match (symbol, list.len()) {
            ("each", _) => return self.each(&left, place, depth),
            (part, _) if part.starts_with("part") => {
                return self.bound_part(&left, part["part".len()..].parse().unwrap_or(0), depth);
            }
            ("?", _) => return if left.is_open() { right.unwrap_or_else(Ty::unknown) } else { left },
            ("&", 1) => {
                let mut ty = left;
                ty.pointers = ty.pointers.saturating_add(1);
                return ty.value();
            }
            ("*", 1) if left.pointers > 0 => return left.pointee(),
            ("*", 1) if left.is_external() => return self.behind(left, depth),
            ("!" | "&&" | "||" | "and" | "or" | "not", _) => return Ty::of(Base::Builtin(Builtin::Bool)),
            _ => {}
        }
        let is_plain = |ty: &Ty| {
            ty.pointers > 0 || matches!(ty.base, Base::Builtin(_) | Base::Enum(_) | Base::External(..))
        };
        if is_plain(&left) && right.as_ref().is_none_or(is_plain) {
            return plain_result(symbol, left, right);
        }
        let types: Vec<Ty> = std::iter::once(left.clone()).chain(right).collect();
        let given = Given::typed(types, place, depth);
        match self.call_operator(symbol, &given) {
            Answer::Found { callees, resolution, confidence, made } => {
                self.result_of_answer(Answer::Found { callees, resolution, confidence, made }, depth)
            }
            // The language's own assignment and comparison.
            _ if symbol.ends_with('=') && !matches!(symbol, "==" | "!=" | "<=" | ">=") => left,
            _ if matches!(symbol, "==" | "!=" | "<" | ">" | "<=" | ">=") => {
                Ty::of(Base::Builtin(Builtin::Bool))
            }
            _ => Ty::unknown(),
        }
    }

    /// What a loop over `range` gives one after the other.
    fn each(&self, range: &Ty, place: &Place<'a>, depth: usize) -> Ty {
        if range.pointers > 0 {
            return range.clone().pointee();
        }
        match &range.base {
            Base::External(name, arguments) if SEQUENCES.contains(&&**name) => {
                let mut ty = arguments.first().cloned().unwrap_or_else(Ty::unknown);
                ty.reference = Reference::Left;
                ty.is_const |= range.is_const;
                ty
            }
            Base::External(name, arguments) if MAPS.contains(&&**name) => {
                Ty::of(Base::External("pair".into(), arguments.clone()))
            }
            Base::Class(..) => {
                let given = Given::typed(Vec::new(), place, depth);
                let begin = self.call_member_named(range, "begin", &given, place);
                let iterator = self.result_of_answer(begin, depth);
                if iterator.pointers > 0 {
                    return iterator.pointee();
                }
                let element = self.call_member_named(&iterator, "operator*", &given, place);
                self.result_of_answer(element, depth)
            }
            _ => Ty::unknown(),
        }
    }

    /// One of the names of `auto [a, b] = value`.
    fn bound_part(&self, value: &Ty, index: usize, depth: usize) -> Ty {
        match &value.base {
            Base::External(name, arguments) if matches!(&**name, "pair" | "tuple") => {
                arguments.get(index).cloned().unwrap_or_else(Ty::unknown)
            }
            Base::External(name, arguments) if &**name == "array" => {
                arguments.first().cloned().unwrap_or_else(Ty::unknown)
            }
            Base::Class(instance) => {
                let fields = self.classes.fields(self.tree, instance.class);
                match fields.get(index) {
                    Some(&field) => self.part_of(field, instance, value, depth),
                    None => Ty::unknown(),
                }
            }
            _ => Ty::unknown(),
        }
    }
}

/// What a container of the standard library holds.
fn element_of<'t>(name: &str, arguments: &'t Arguments) -> Option<&'t Ty> {
    match name {
        _ if MAPS.contains(&name) => arguments.get(1),
        _ if SEQUENCES.contains(&name) || POINTERS.contains(&name) => arguments.first(),
        _ => None,
    }
}

/// What an operator of the language gives.
fn plain_result(symbol: &str, left: Ty, right: Option<Ty>) -> Ty {
    match symbol {
        "==" | "!=" | "<" | ">" | "<=" | ">=" => Ty::of(Base::Builtin(Builtin::Bool)),
        "<<" | ">>" => left,
        _ if symbol.ends_with('=') || matches!(symbol, "++" | "--") => left,
        _ => {
            let Some(right) = right else { return left.value() };
            let rank = |ty: &Ty| match ty.base {
                _ if ty.pointers > 0 => 9,
                Base::Builtin(Builtin::Double) => 7,
                Base::Builtin(Builtin::Float) => 6,
                Base::Builtin(Builtin::UnsignedLong) => 5,
                Base::Builtin(Builtin::Long) => 4,
                Base::Builtin(Builtin::Unsigned) => 3,
                Base::Builtin(_) => 2,
                Base::External(..) => 8,
                _ => 1,
            };
            if rank(&right) > rank(&left) { right.value() } else { left.value() }
        }
    }
}
