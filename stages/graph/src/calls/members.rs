//! Calls on an object: its members, its constructors, its operators.

use super::*;

impl<'a> Lookup<'a> {
    /// A member called on an object.
    pub(crate) fn call_member(
        &self,
        object: &Ty,
        path: &PathText<'_>,
        given: &Given<'_, 'a>,
        place: &Place<'a>,
    ) -> Answer<'a> {
        let explicit = self.explicit(path, place, given.depth);
        let Base::Class(instance) = &object.base else { return Answer::Unresolved };
        if object.pointers > 0 {
            return Answer::Unresolved;
        }
        // `object.Base::f()` names the class that has it.
        if let Some((_, qualifier)) = path.parts.split_last().filter(|(_, qualifier)| !qualifier.is_empty()) {
            let holder = PathText { is_global: path.is_global, parts: qualifier.to_vec() };
            if let Base::Class(holder) = self.named_type(&holder, place, given.depth + 1).base {
                return self.member_of_class(&holder, path.name(), given, Some(object), &explicit);
            }
        }
        self.member_of_class(instance, path.name(), given, Some(object), &explicit)
    }

    pub(crate) fn call_member_named(
        &self,
        object: &Ty,
        name: &str,
        given: &Given<'_, 'a>,
        place: &Place<'a>,
    ) -> Answer<'a> {
        let _ = place;
        match &object.base {
            Base::Class(instance) if object.pointers == 0 => {
                self.member_of_class(instance, name, given, Some(object), &[])
            }
            _ => Answer::Unresolved,
        }
    }

    /// Members of that name in the first of class and bases that has one.
    /// Where the arguments do not tell the record of a class template, those of each it may be.
    pub(crate) fn members_called(&self, instance: &Instance, name: &str, depth: usize) -> Vec<Callee<'a>> {
        let records = self.possible_records(instance);
        if records.is_empty() {
            return self.members_of_one(instance, name, depth);
        }
        let one = |record: usize| Instance { record: Some(record), ..instance.clone() };
        let mut found: Vec<Callee<'a>> = Vec::new();
        for record in records {
            for callee in self.members_of_one(&one(record), name, depth) {
                if !found.iter().any(|other| other.at == callee.at) {
                    found.push(callee);
                }
            }
        }
        if found.is_empty() { self.members_of_one(instance, name, depth) } else { found }
    }

    fn members_of_one(&self, instance: &Instance, name: &str, depth: usize) -> Vec<Callee<'a>> {
        let mut found: Vec<Callee<'a>> = Vec::new();
        self.in_lineage(instance, depth, |holder| {
            let own = self.own_members(holder, name).into_iter();
            for at in own.filter(|&at| self.tree.entities[at].kind.is_callable()) {
                if !found.iter().any(|nearer| self.hides(nearer.at, at)) {
                    found.push(Callee { at, bindings: self.class_bindings(at, holder, depth) });
                }
            }
            // `using Base::f;` adds those of the base.
            let is_whole =
                !found.is_empty() && !self.scopes.brings(self.classes.qualified(holder.class), name);
            is_whole.then_some(())
        });
        found
    }

    /// Whether a member stands before the one of a base that is brought in.
    fn hides(&self, nearer: usize, other: usize) -> bool {
        let (one, two) = (&self.tree.facts[nearer], &self.tree.facts[other]);
        self.classes.of_member[nearer] != self.classes.of_member[other]
            && one.is_const == two.is_const
            && one.parameters.len() == two.parameters.len()
            && one.parameters.iter().zip(&two.parameters).all(|(a, b)| a.type_tokens == b.type_tokens)
    }

    pub(super) fn member_of_class(
        &self,
        instance: &Instance,
        name: &str,
        given: &Given<'_, 'a>,
        object: Option<&Ty>,
        explicit: &[Ty],
    ) -> Answer<'a> {
        if self.classes.name(instance.class) == name {
            return self.construct(&Ty::class(instance.clone()), given);
        }
        let members = self.members_called(instance, name, given.depth);
        if members.is_empty() {
            // A field that holds something to call.
            return match self.field_of(instance, name, given.depth) {
                Some((field, ..)) => self.call_object(&self.declared_value(field, given.depth), given),
                None => Answer::Unresolved,
            };
        }
        let chosen = self.choose(members, given, object, explicit);
        self.deduced(chosen, through(object), given, explicit)
    }

    pub(super) fn declared_value(&self, at: usize, depth: usize) -> Ty {
        let place = self.place_of(at);
        self.type_of(&self.tree.facts[at].type_text, &place, depth + 1)
    }

    /// `object(arguments)`: the call operator of what an object is.
    pub(crate) fn call_object(&self, object: &Ty, given: &Given<'_, 'a>) -> Answer<'a> {
        match &object.base {
            Base::Function(at) => Answer::found(vec![Callee { at: *at, bindings: None }], Resolution::Exact),
            Base::Class(instance) if object.pointers == 0 => {
                let members = self.members_called(instance, "operator()", given.depth);
                let chosen = self.choose(members, given, Some(object), &[]);
                match self.deduced(chosen, through(Some(object)), given, &[]) {
                    Answer::Unresolved => Answer::Dynamic,
                    answer => answer,
                }
            }
            Base::External(..) => Answer::External,
            _ => Answer::Dynamic,
        }
    }

    pub(super) fn construct_class(
        &self,
        class: ClassId,
        arguments: &[Ty],
        given: &Given<'_, 'a>,
    ) -> Answer<'a> {
        let arguments: Arguments = arguments.iter().cloned().collect();
        self.construct(&Ty::class(self.instance(class, arguments, given.depth)), given)
    }

    /// An object of a type is made.
    pub(crate) fn construct(&self, ty: &Ty, given: &Given<'_, 'a>) -> Answer<'a> {
        let Base::Class(instance) = &ty.base else {
            return match &ty.base {
                Base::External(..) => Answer::External,
                Base::Builtin(_) | Base::Enum(_) => Answer::Made(ty.clone()),
                _ => Answer::Dynamic,
            };
        };
        if ty.pointers > 0 {
            return Answer::Made(ty.clone());
        }
        let mut callees = self.constructors(instance, given.depth);
        if self.is_copied(instance.class, given) {
            callees.retain(|callee| {
                let first = self.tree.facts[callee.at].parameters.first();
                first.is_some_and(|first| first.is_of_class(self.classes.name(instance.class)))
            });
        }
        let lists: Vec<Callee<'a>> =
            callees.iter().filter(|callee| self.takes_list(callee.at)).cloned().collect();
        let mut chosen = self.choose(callees, given, None, &[]);
        if chosen.is_empty() && given.count.is_some_and(|count| count > 0) {
            // `T{a, b, c}` hands over a list.
            chosen = lists;
        }
        match Answer::found(chosen, Resolution::Exact).making(ty) {
            Answer::Unresolved => Answer::Made(ty.clone()),
            answer => answer,
        }
    }

    /// Constructors of a class, those of each record it may be.
    fn constructors(&self, instance: &Instance, depth: usize) -> Vec<Callee<'a>> {
        let name = self.classes.name(instance.class);
        let mut records: Vec<Option<usize>> = self.possible_records(instance).into_iter().map(Some).collect();
        if records.is_empty() {
            records.push(instance.record);
        }
        let mut found: Vec<Callee<'a>> = Vec::new();
        for record in records {
            let one = Instance { record, ..instance.clone() };
            let own = self.own_members(&one, name).into_iter();
            let new = own.filter(|&at| self.tree.entities[at].kind.is_callable());
            for at in new {
                if !found.iter().any(|other| other.at == at) {
                    found.push(Callee { at, bindings: self.class_bindings(at, &one, depth) });
                }
            }
        }
        found
    }

    /// Whether an object is made from one of its own class.
    pub(super) fn is_copied(&self, class: ClassId, given: &Given<'_, 'a>) -> bool {
        given.count == Some(1)
            && given.types(self).first().is_some_and(|only| {
                only.pointers == 0
                    && only.instance().is_some_and(|one| self.classes.with_bases(one.class).contains(&class))
            })
    }

    /// Whether a constructor takes a list of any length.
    pub(super) fn takes_list(&self, at: usize) -> bool {
        self.tree.facts[at].parameters.first().is_some_and(|first| first.is_of_class("initializer_list"))
    }

    /// `T x(a)`, `T{a}`, `new T`, and what a constructor initialises.
    pub(super) fn construction(
        &self,
        reference: &Row,
        given: &Given<'_, 'a>,
        place: &Place<'a>,
    ) -> Answer<'a> {
        let Expression::Name(path) = Expression::read(&reference.written) else { return Answer::Unresolved };
        if !reference.receiver.is_empty()
            && let Some(class) = place.entity.and_then(|entity| self.classes.enclosing(self.tree, entity))
            && let own = self.own_instance(class, place)
            && let Some((field, _)) = self.field_of(&own, path.name(), given.depth)
        {
            let made = self.declared_value(field, given.depth);
            // A reference is bound to an object that is there.
            let is_bound = made.reference != Reference::None;
            return if is_bound { Answer::External } else { self.construct(&made, given) };
        }
        let ty = self.named_type(&path, place, given.depth);
        match &ty.base {
            Base::Unknown if self.is_external_name(path.parts.first().map_or("", |part| part.name), true) => {
                Answer::External
            }
            Base::Unknown => Answer::Unresolved,
            _ => self.construct(&ty, given),
        }
    }

    /// An operator on objects: a member of the first, or a function that takes them.
    pub(crate) fn call_operator(&self, symbol: &str, given: &Given<'_, 'a>) -> Answer<'a> {
        let types = given.types(self);
        let Some(left) = types.first() else { return Answer::Unresolved };
        let is_object = |ty: &Ty| ty.pointers == 0 && matches!(ty.base, Base::Class(..) | Base::Enum(_));
        if !types.iter().any(is_object) {
            return match types.iter().any(Ty::is_open) {
                true => Answer::Dynamic,
                false => Answer::External,
            };
        }
        let name = format!("operator{symbol}");
        if let Base::Class(instance) = &left.base
            && left.pointers == 0
        {
            let members = self.members_called(instance, &name, given.depth);
            let rest = Given::typed(types[1..].to_vec(), given.place, given.depth);
            let chosen = self.choose(members, &rest, Some(left), &[]);
            if !chosen.is_empty() {
                return self.deduced(chosen, through(Some(left)), &rest, &[]);
            }
        }
        let mut callees = self.by_arguments(&name, given);
        for scope in self.scopes.chain(given.place.scope) {
            let faces = self.faces(scope, given.place.file);
            let entries = faces.into_iter().filter_map(|face| self.scopes.declared(face, &name));
            let mut visits = 0;
            let found: Vec<usize> = entries
                .flat_map(|entry| entry.functions.meant(self.sight(), given.place.file, &mut visits))
                .collect();
            self.visited(visits);
            if !found.is_empty() {
                callees.extend(found.into_iter().map(|at| Callee { at, bindings: None }));
                break;
            }
        }
        let has_class = types.iter().any(|ty| matches!(ty.base, Base::Class(..)));
        if !has_class {
            // What is written for any class is not meant by numbers and enumerators.
            callees.retain(|callee| self.takes_enum(callee.at));
        }
        let chosen = self.choose(callees, given, None, &[]);
        match self.deduced(chosen, Resolution::Exact, given, &[]) {
            // The language's own, or another library's.
            Answer::Unresolved => Answer::External,
            answer => answer,
        }
    }

    /// Whether a parameter of a function is of an enumeration.
    fn takes_enum(&self, at: usize) -> bool {
        let (place, own) = (self.place_of(at), self.own_templates(at));
        let parameters = &self.tree.facts[at].parameters;
        parameters.iter().any(|one| {
            let ty = self.parameter_type(&one.type_text, &place, own, 0);
            matches!(ty.base, Base::Enum(_))
        })
    }
}
