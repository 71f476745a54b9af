//! Which entity a call means.

mod members;

use almanac_tables::{Reference as Row, ReferenceKind, Resolution};

use crate::classes::ClassId;
use crate::edges::confidence_of;
use crate::groups::MOST;
use crate::instances::{Arguments, Instance};
use crate::lookup::{Lookup, Place};
use crate::overloads::{Callee, Given};
use crate::scopes::{Entry, GLOBAL, ScopeId};
use crate::strangers::Stranger;
use crate::syntax::{Expression, PathText, Reference};
use crate::tree::Family;
use crate::types::{Base, POINTERS, Ty};

/// Members of smart pointers themselves, not of what they point to.
const POINTER_MEMBERS: &[&str] = &["get", "reset", "release", "use_count", "swap"];

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer<'a> {
    /// It leads to these targets, one for each symbol.
    Found {
        callees: Vec<Callee<'a>>,
        resolution: Resolution,
        /// Confidence, were there only one.
        confidence: f32,
        /// The object that is made, if one is.
        made: Option<Ty>,
    },
    /// It makes an object by a constructor that nobody wrote.
    Made(Ty),
    /// More targets than say anything.
    TooMany,
    /// It leads into another library.
    External,
    /// A value is called, such as a parameter.
    Dynamic,
    /// Nothing in the tree answers to it.
    Unresolved,
}

impl<'a> Answer<'a> {
    pub(crate) fn found(callees: Vec<Callee<'a>>, resolution: Resolution) -> Self {
        if callees.is_empty() {
            return Self::Unresolved;
        }
        Self::Found { callees, resolution, confidence: confidence_of(resolution), made: None }
    }

    fn is_nothing(&self) -> bool {
        matches!(self, Self::Unresolved)
    }

    fn making(self, ty: &Ty) -> Self {
        match self {
            Self::Found { callees, resolution, confidence, .. } => {
                Self::Found { callees, resolution, confidence, made: Some(ty.clone()) }
            }
            other => other,
        }
    }
}

impl<'a> Lookup<'a> {
    /// Resolves one call, launch or construction.
    pub(crate) fn resolve(&self, reference: &'a Row) -> Answer<'a> {
        let Some(file) = self.tree.file(&reference.path) else { return Answer::Unresolved };
        let family = Family::of(self.tree.files[file].language);
        if family == Family::Build {
            return self.build_call(reference, file);
        }
        let entity = self.tree.entity(&reference.entity_id);
        self.resolve_at(reference, &self.place_in(file, entity, reference.start_byte))
    }

    /// Resolves a reference as if it were written at `place`.
    pub(crate) fn resolve_at(&self, reference: &Row, place: &Place<'a>) -> Answer<'a> {
        let list = Expression::read_list(&reference.argument_list);
        let count = Some(reference.arguments as usize);
        let list = if list.len() == reference.arguments as usize { list } else { Vec::new() };
        let given = Given::new(count, &list, place, 0);
        if reference.kind == ReferenceKind::Construct {
            return self.construction(reference, &given, place);
        }
        if is_operator(reference) {
            return self.call_operator(&reference.written, &given);
        }
        match reference.receiver.as_str() {
            "" => self.plain_call(reference, &given, place),
            receiver => self.call_on(reference, receiver, &given, place),
        }
    }

    fn plain_call(&self, reference: &Row, given: &Given<'_, 'a>, place: &Place<'a>) -> Answer<'a> {
        let written = if reference.written.is_empty() { &reference.name } else { &reference.written };
        let Expression::Name(path) = Expression::read(written) else { return Answer::Unresolved };
        self.call_name(&path, given, place)
    }

    fn call_on(
        &self,
        reference: &Row,
        receiver: &str,
        given: &Given<'_, 'a>,
        place: &Place<'a>,
    ) -> Answer<'a> {
        let (text, is_arrow) = match receiver.strip_suffix("->") {
            Some(text) => (text, true),
            None => (receiver.strip_suffix('.').unwrap_or(receiver), false),
        };
        let expression = Expression::read(text);
        let written = if reference.written.is_empty() { &reference.name } else { &reference.written };
        let path = match (Expression::read(written), Expression::read(&reference.name)) {
            (Expression::Name(path), _) | (_, Expression::Name(path)) => path,
            _ => PathText::default(),
        };
        if path.name() == "operator()" && reference.written != "operator()" {
            let object = self.object(&expression, is_arrow, place, 0);
            return self.call_object(&object, given);
        }
        self.call_through(&expression, is_arrow, &path, given, place)
    }

    /// A member called on what an expression is, by its type, else by its name alone.
    pub(crate) fn call_through(
        &self,
        expression: &Expression<'_>,
        is_arrow: bool,
        path: &PathText<'_>,
        given: &Given<'_, 'a>,
        place: &Place<'a>,
    ) -> Answer<'a> {
        let object = self.value_of(expression, place, given.depth);
        let is_pointer = matches!(&object.base, Base::External(name, _) if POINTERS.contains(&&**name));
        if !is_arrow && is_pointer && POINTER_MEMBERS.contains(&path.name()) {
            return Answer::External;
        }
        let object = if is_arrow { self.behind(object, given.depth) } else { object };
        let answer = self.call_member(&object, path, given, place);
        if !answer.is_nothing() {
            return answer;
        }
        match &object.base {
            Base::External(..) => Answer::External,
            Base::Builtin(_) | Base::Enum(_) | Base::Closure => Answer::Unresolved,
            // A class that is known whole has no such member.
            Base::Class(one) if !self.is_open_class(one.class) => match self.is_external_class(one.class) {
                true => Answer::External,
                false => Answer::Unresolved,
            },
            Base::Function(_) | Base::Braces => Answer::Unresolved,
            _ => self.by_name(path, expression, &object, given, place),
        }
    }

    pub(crate) fn is_external_class(&self, class: ClassId) -> bool {
        self.classes.with_bases(class).iter().any(|&one| self.classes.get(one).has_external_base)
    }

    /// Whether a class or one of its bases has a base that is not known.
    pub(crate) fn is_open_class(&self, class: ClassId) -> bool {
        self.classes.with_bases(class).iter().any(|&one| self.classes.get(one).has_open_base)
    }

    fn by_name(
        &self,
        path: &PathText<'_>,
        expression: &Expression<'_>,
        object: &Ty,
        given: &Given<'_, 'a>,
        place: &Place<'a>,
    ) -> Answer<'a> {
        if let Expression::Name(name) = expression
            && name.parts.first().is_some_and(|first| self.is_external_name(first.name, name.parts.len() > 1))
        {
            return Answer::External;
        }
        let of_type = match &object.base {
            Base::Parameter(name) | Base::Named(name) => name,
            Base::Class(one) => self.classes.name(one.class),
            _ => "",
        };
        let mut words = of_type.to_owned();
        expression.words(&mut words);
        let object = Stranger {
            words: &words,
            demands: self.code.demands.on(place.entity, expression),
            among: self.selves(object, place),
        };
        self.member_by_name(path.name(), given.count, place.file, &object)
    }

    /// Classes one of which an object is whose type is the template parameter of the class around that
    /// stands for the class that derives from it.
    fn selves(&self, object: &Ty, place: &Place<'a>) -> Option<&'a [ClassId]> {
        let Base::Parameter(name) = &object.base else { return None };
        let class = self.classes.enclosing(self.tree, place.entity?)?;
        let heirs = self.classes.heirs(class);
        (self.classes.is_self(self.tree, class, name) && !heirs.is_empty()).then_some(heirs)
    }

    /// Targets of a function, class or object named without a receiver.
    pub(crate) fn call_name(
        &self,
        path: &PathText<'_>,
        given: &Given<'_, 'a>,
        place: &Place<'a>,
    ) -> Answer<'a> {
        if path.name().is_empty() {
            Answer::Unresolved
        } else if path.parts.len() == 1 && !path.is_global {
            self.unqualified(path, given, place)
        } else {
            self.qualified(path, given, place)
        }
    }

    fn explicit(&self, path: &PathText<'_>, place: &Place<'a>, depth: usize) -> Vec<Ty> {
        let texts = path.last().and_then(|part| part.arguments.as_ref());
        texts.into_iter().flatten().map(|text| self.type_of(text, place, depth + 1)).collect()
    }

    fn qualified(&self, path: &PathText<'_>, given: &Given<'_, 'a>, place: &Place<'a>) -> Answer<'a> {
        let Some((_, qualifier)) = path.parts.split_last() else { return Answer::Unresolved };
        let explicit = self.explicit(path, place, given.depth);
        if qualifier.is_empty() {
            return self.in_scope(GLOBAL, path, given, place, &explicit).unwrap_or(Answer::Unresolved);
        }
        let holder = PathText { is_global: path.is_global, parts: qualifier.to_vec() };
        let start = if path.is_global { GLOBAL } else { place.scope };
        let names: Vec<&str> = holder.parts.iter().map(|part| part.name).collect();
        let names = names.join("::");
        let scopes = self.scopes.chain(start).filter_map(|scope| self.opened(scope, &names, place));
        for scope in scopes {
            if self.classes.of_path(self.scopes.path(scope)).is_none()
                && let Some(answer) = self.in_scope(scope, path, given, place, &explicit)
            {
                return answer;
            }
        }
        let first = holder.parts[0].name;
        let ty = self.named_type(&holder, place, given.depth);
        match &ty.base {
            Base::Class(instance) => {
                let answer = self.member_of_class(instance, path.name(), given, None, &explicit);
                match answer {
                    Answer::Unresolved if self.is_open_class(instance.class) => {
                        let object = Stranger { words: &names, ..Stranger::default() };
                        self.member_by_name(path.name(), given.count, place.file, &object)
                    }
                    other => other,
                }
            }
            Base::External(..) => Answer::External,
            Base::Builtin(_) | Base::Enum(_) => Answer::Unresolved,
            _ if self.is_external_name(first, true) => Answer::External,
            _ if self.is_template_parameter(first, place) => {
                let among = if holder.parts.len() == 1 { self.selves(&ty, place) } else { None };
                let object = Stranger { words: &names, among, ..Stranger::default() };
                self.member_by_name(path.name(), given.count, place.file, &object)
            }
            _ => self.ending_with(path, given, place, &explicit),
        }
    }

    /// A namespace below `scope`, found through what is inline or opened there.
    fn opened(&self, scope: ScopeId, path: &str, place: &Place<'a>) -> Option<ScopeId> {
        let mut parts = path.split("::");
        let first = parts.next()?;
        let child =
            self.faces(scope, place.file).into_iter().find_map(|face| self.scopes.child(face, first))?;
        parts.try_fold(child, |scope, name| {
            self.faces(scope, place.file).into_iter().find_map(|face| self.scopes.child(face, name))
        })
    }

    /// A free function or class whose qualified name ends with what is written.
    fn ending_with(
        &self,
        path: &PathText<'_>,
        given: &Given<'_, 'a>,
        place: &Place<'a>,
        explicit: &[Ty],
    ) -> Answer<'a> {
        let plain = path.plain();
        let ending = format!("::{plain}");
        let mut visits = 0;
        let group = self.names.free.get(path.name());
        let meant = group.map(|group| group.meant(self.sight(), place.file, &mut visits)).unwrap_or_default();
        self.visited(visits);
        let named = meant.into_iter().filter(|&at| self.tree.facts[at].qualified().ends_with(&ending));
        let callees = named.map(|at| Callee { at, bindings: None }).collect();
        let chosen = self.choose(callees, given, None, explicit);
        if !chosen.is_empty() {
            return self.deduced(chosen, Resolution::Name, given, explicit);
        }
        match self.classes.elsewhere(self.tree, self.reach, &plain, place.file) {
            Some(class) => self.construct_class(class, explicit, given),
            None => Answer::Unresolved,
        }
    }

    fn unqualified(&self, path: &PathText<'_>, given: &Given<'_, 'a>, place: &Place<'a>) -> Answer<'a> {
        let name = path.name();
        if let Some(answer) = self.macro_named(name, place) {
            return answer;
        }
        if let Some(lambda) = self.lambda(name, place) {
            return Answer::found(vec![Callee { at: lambda, bindings: None }], Resolution::Exact);
        }
        if let Some(local) = self.local_alias(name, place) {
            return self.construct(&local, given);
        }
        let explicit = self.explicit(path, place, given.depth);
        if explicit.is_empty()
            && let Some(object) = self.variable(name, place, given.depth)
        {
            return self.call_object(&object, given);
        }
        if self.is_template_parameter(name, place) {
            return match self.named_type(path, place, given.depth + 1) {
                ty if ty.is_open() => Answer::Dynamic,
                ty => self.construct(&ty, given),
            };
        }
        for scope in self.scopes.chain(place.scope) {
            if let Some(class) = self.class_at(scope, place)
                && let Some(answer) = self.implicit_member(class, path, given, place, &explicit)
            {
                return answer;
            }
            if let Some(answer) = self.in_scope(scope, path, given, place, &explicit) {
                return answer;
            }
        }
        self.beyond_scopes(path, given, place, &explicit)
    }

    /// By its arguments, else by its name alone.
    fn beyond_scopes(
        &self,
        path: &PathText<'_>,
        given: &Given<'_, 'a>,
        place: &Place<'a>,
        explicit: &[Ty],
    ) -> Answer<'a> {
        let name = path.name();
        let associated = self.by_arguments(name, given);
        let chosen = self.choose(associated, given, None, explicit);
        if !chosen.is_empty() {
            return self.deduced(chosen, Resolution::Exact, given, explicit);
        }
        let is_listed = self.params.external_functions.iter().any(|function| function == name);
        if is_listed || self.is_external_name(name, false) {
            return Answer::External;
        }
        self.elsewhere(path, given, place, explicit)
    }

    /// A named lambda of the functions around.
    pub(crate) fn lambda(&self, name: &str, place: &Place<'a>) -> Option<usize> {
        let entity = place.entity?;
        let lambdas = self.names.lambdas.get(name)?;
        let around: Vec<usize> = self.tree.outward(entity).collect();
        lambdas
            .iter()
            .copied()
            .rev()
            .find(|&at| self.tree.facts[at].around.is_some_and(|outer| around.contains(&outer)))
    }

    /// A member of the class around or of its bases.
    fn implicit_member(
        &self,
        class: ClassId,
        path: &PathText<'_>,
        given: &Given<'_, 'a>,
        place: &Place<'a>,
        explicit: &[Ty],
    ) -> Option<Answer<'a>> {
        if !self.classes.mentions(class, path.name()) {
            return None;
        }
        let own = self.own_instance(class, place);
        let is_const = place.entity.and_then(|entity| {
            self.tree
                .outward(entity)
                .find(|&at| self.classes.of_member[at] == Some(class))
                .map(|at| self.tree.facts[at].is_const)
        });
        let object = is_const.map(|is_const| {
            let mut object = Ty::class(own.clone());
            object.is_const = is_const;
            object.reference = Reference::Left;
            object
        });
        match self.member_of_class(&own, path.name(), given, object.as_ref(), explicit) {
            Answer::Unresolved => None,
            Answer::Found { callees, confidence, made, .. } => {
                let resolution = Resolution::Exact;
                Some(Answer::Found { callees, resolution, confidence, made })
            }
            answer => Some(answer),
        }
    }

    /// What `scope` itself declares under that name; `None` to look further out.
    fn in_scope(
        &self,
        scope: ScopeId,
        path: &PathText<'_>,
        given: &Given<'_, 'a>,
        place: &Place<'a>,
        explicit: &[Ty],
    ) -> Option<Answer<'a>> {
        let name = path.name();
        let mut found: Vec<usize> = Vec::new();
        let mut others: Vec<&Entry> = Vec::new();
        let mut is_external = false;
        let mut visits = 0;
        for face in self.faces(scope, place.file) {
            let Some(entry) = self.scopes.declared(face, name) else { continue };
            found.extend(entry.functions.meant(self.sight(), place.file, &mut visits));
            for (file, target) in &entry.imports {
                if !self.reach.sees(place.file, *file) {
                    continue;
                }
                let imported = target.and_then(|target| self.scopes.declared(target, name));
                match imported {
                    Some(imported) => {
                        found.extend(imported.functions.meant(self.sight(), place.file, &mut visits));
                        others.push(imported);
                    }
                    None => is_external = true,
                }
            }
            others.push(entry);
        }
        self.visited(visits);
        if !found.is_empty() {
            let mut callees: Vec<Callee<'a>> =
                found.into_iter().map(|at| Callee { at, bindings: None }).collect();
            if path.parts.len() == 1 && !path.is_global {
                callees.extend(self.by_arguments(name, given));
            }
            let chosen = self.choose(callees, given, None, explicit);
            if chosen.len() > MOST {
                return Some(Answer::TooMany);
            }
            if !chosen.is_empty() {
                return Some(self.deduced(chosen, Resolution::Exact, given, explicit));
            }
        }
        for entry in others {
            let class = self.pick_class(&entry.classes, place.file);
            if let Some(class) = class.filter(|&class| !self.has_own_type(entry, class, place)) {
                return Some(self.construct_class(class, explicit, given));
            }
            if !entry.types.is_empty() {
                let ty = self.named_type(path, place, given.depth + 1);
                return Some(self.construct(&ty, given));
            }
            if let Some(&at) = self.sight().meant(&entry.variables, place.file).first() {
                let object = self.declared_value(at, given.depth);
                return Some(self.call_object(&object, given));
            }
        }
        if is_external {
            let callees = self.by_arguments(name, given);
            let chosen = self.choose(callees, given, None, explicit);
            return Some(match chosen.is_empty() {
                true => Answer::External,
                false => self.deduced(chosen, Resolution::Exact, given, explicit),
            });
        }
        None
    }

    /// Functions of that name in the namespaces of the arguments.
    fn by_arguments(&self, name: &str, given: &Given<'_, 'a>) -> Vec<Callee<'a>> {
        if !self.names.free.contains_key(name) {
            return Vec::new();
        }
        let mut spaces: Vec<ScopeId> = Vec::new();
        for ty in given.types(self) {
            self.associated(ty, &mut spaces, 0);
        }
        let mut callees = Vec::new();
        let mut visits = 0;
        for space in spaces {
            for face in self.faces(space, given.place.file) {
                let Some(entry) = self.scopes.declared(face, name) else { continue };
                let meant = entry.functions.meant(self.sight(), given.place.file, &mut visits);
                callees.extend(meant.into_iter().map(|at| Callee { at, bindings: None }));
            }
        }
        self.visited(visits);
        callees
    }

    /// Namespaces in which functions that take such an argument are looked for.
    fn associated(&self, ty: &Ty, spaces: &mut Vec<ScopeId>, depth: usize) {
        let mut add = |at: usize| {
            let space = self.scopes.namespace(self.classes, self.scopes.of(at));
            if !spaces.contains(&space) {
                spaces.push(space);
            }
        };
        match &ty.base {
            Base::Enum(at) => add(*at),
            Base::Class(instance) => {
                for &one in self.classes.with_bases(instance.class) {
                    add(self.classes.node(one));
                }
                if depth < 2 {
                    instance
                        .arguments
                        .iter()
                        .for_each(|argument| self.associated(argument, spaces, depth + 1));
                }
            }
            Base::External(_, arguments) if depth < 2 => {
                arguments.iter().for_each(|argument| self.associated(argument, spaces, depth + 1));
            }
            _ => {}
        }
    }

    /// A function or class of that name in a scope that is not around the call.
    fn elsewhere(
        &self,
        path: &PathText<'_>,
        given: &Given<'_, 'a>,
        place: &Place<'a>,
        explicit: &[Ty],
    ) -> Answer<'a> {
        let mut visits = 0;
        let group = self.names.free.get(path.name());
        let meant = group.map(|group| group.meant(self.sight(), place.file, &mut visits)).unwrap_or_default();
        self.visited(visits);
        let callees = meant.into_iter().map(|at| Callee { at, bindings: None }).collect();
        let chosen = self.choose(callees, given, None, explicit);
        if chosen.len() > MOST {
            return Answer::TooMany;
        }
        if !chosen.is_empty() {
            return self.deduced(chosen, Resolution::Name, given, explicit);
        }
        match self.classes.elsewhere(self.tree, self.reach, path.name(), place.file) {
            Some(class) => self.construct_class(class, explicit, given),
            None => Answer::Unresolved,
        }
    }

    /// Targets with what their template parameters are.
    fn deduced(
        &self,
        chosen: Vec<Callee<'a>>,
        resolution: Resolution,
        given: &Given<'_, 'a>,
        explicit: &[Ty],
    ) -> Answer<'a> {
        let callees = chosen
            .into_iter()
            .map(|callee| Callee { bindings: self.deduce(&callee, given, explicit), ..callee })
            .collect();
        Answer::found(callees, resolution)
    }

    /// CMake commands ignore case and have one scope.
    fn build_call(&self, reference: &Row, file: usize) -> Answer<'a> {
        let name = reference.name.to_ascii_lowercase();
        let Some(group) = self.names.build.get(&name) else { return Answer::Unresolved };
        let mut visits = 0;
        let meant = group.meant(self.sight(), file, &mut visits);
        self.visited(visits);
        let resolution = match meant.iter().all(|&at| self.sight().is_visible(at, file)) {
            true => Resolution::Exact,
            false => Resolution::Name,
        };
        Answer::found(meant.into_iter().map(|at| Callee { at, bindings: None }).collect(), resolution)
    }
}

/// How a member is found through an object.
fn through(object: Option<&Ty>) -> Resolution {
    match object {
        None => Resolution::Exact,
        Some(object) if object.is_guess => Resolution::Name,
        Some(_) => Resolution::Receiver,
    }
}

/// Whether a reference is an operator written between or before its operands.
fn is_operator(reference: &Row) -> bool {
    reference.receiver.is_empty()
        && reference.name.strip_prefix("operator").is_some_and(|symbol| symbol == reference.written)
}
