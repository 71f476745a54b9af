//! How well an argument fits a parameter.

use almanac_tables::EntityKind;

use crate::classes::ClassId;
use crate::instances::{Arguments, Instance};
use crate::lookup::Lookup;
use crate::syntax::{Builtin, Reference, TypeText, Written};
use crate::types::{Base, Ty};

/// What it takes to turn an argument into a parameter, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    Never,
    /// The argument's type is not known, and the parameter takes any.
    Likely,
    /// `...`.
    Ellipsis,
    /// A constructor or conversion function of a class.
    User,
    /// A number of another type, a base class, `void*`.
    Standard,
    /// A wider number.
    Promotion,
    /// The same, but it binds less well: `const T&` to what is no constant.
    Bound,
    Exact,
}

/// Types of the standard library that text turns into.
const TEXTS: &[&str] = &["string", "string_view", "basic_string", "basic_string_view", "path"];

impl<'a> Lookup<'a> {
    /// How `argument` fits `parameter`; `None` where that cannot be told.
    pub(crate) fn fit(&self, argument: &Ty, parameter: &Ty) -> Option<Fit> {
        if let Base::External(name, _) = &parameter.base
            && &**name == "initializer_list"
            && !matches!(argument.base, Base::Braces | Base::External(..))
        {
            return Some(Fit::Never);
        }
        if argument.is_open() {
            // The same template parameter, seen from inside the template.
            let is_same = argument.base == parameter.base && argument.pointers == parameter.pointers;
            return (is_same && argument.base != Base::Unknown).then(|| binding(argument, parameter));
        }
        let by_base = match &parameter.base {
            Base::Unknown | Base::Named(_) => return None,
            Base::Parameter(_) => Some(self.fit_generic(argument, parameter)),
            Base::Builtin(kind) => self.fit_builtin(argument, *kind, parameter),
            Base::Class(instance) => self.fit_class(argument, instance, parameter),
            Base::Enum(at) => self.fit_enum(argument, *at, parameter),
            Base::External(name, arguments) => self.fit_external(argument, name, arguments, parameter),
            Base::Function(_) | Base::Closure | Base::Braces | Base::Value(_) => None,
        }?;
        Some(if by_base == Fit::Exact { binding(argument, parameter) } else { by_base })
    }

    fn fit_generic(&self, argument: &Ty, parameter: &Ty) -> Fit {
        let is_list = matches!(argument.base, Base::Braces);
        if is_list || parameter.pointers > argument.pointers { Fit::Never } else { Fit::Exact }
    }

    fn fit_builtin(&self, argument: &Ty, kind: Builtin, parameter: &Ty) -> Option<Fit> {
        let is_null = argument.base == Base::Builtin(Builtin::Null);
        if parameter.pointers > 0 {
            return match &argument.base {
                _ if is_null => Some(Fit::Standard),
                Base::Builtin(Builtin::Int) if argument.pointers == 0 && is_rvalue(argument) => {
                    // `0` is a pointer too.
                    Some(Fit::Standard)
                }
                _ if argument.pointers == 0 => self.converts(argument),
                Base::Builtin(other) if argument.pointers == parameter.pointers && *other == kind => {
                    Some(Fit::Exact)
                }
                _ if kind == Builtin::Void => Some(Fit::Standard),
                _ => Some(Fit::Never),
            };
        }
        if argument.pointers > 0 {
            return Some(if kind == Builtin::Bool { Fit::Standard } else { Fit::Never });
        }
        match &argument.base {
            Base::Builtin(Builtin::Null) => Some(Fit::Never),
            Base::Builtin(other) if *other == kind => Some(Fit::Exact),
            // A reference that is not `const` binds to nothing else.
            Base::Builtin(_) if is_writable(parameter) => Some(Fit::Never),
            Base::Builtin(other) => Some(conversion(*other, kind)),
            Base::Enum(at) => match self.is_scoped_enum(*at) {
                true => Some(Fit::Never),
                false => Some(if kind == Builtin::Int { Fit::Promotion } else { Fit::Standard }),
            },
            Base::External(name, _) => TEXTS.contains(&&**name).then_some(Fit::Never),
            Base::Class(..) => self.converts(argument),
            Base::Closure | Base::Function(_) => Some(Fit::Never),
            Base::Braces => None,
            _ => None,
        }
    }

    /// An object of a class where something else is wanted: by a conversion function, if it has one.
    fn converts(&self, argument: &Ty) -> Option<Fit> {
        let Base::Class(Instance { class, .. }) = &argument.base else {
            return if argument.is_external() { None } else { Some(Fit::Never) };
        };
        if argument.pointers > 0 {
            return Some(Fit::Never);
        }
        let lineage = self.classes.with_bases(*class);
        let has_conversion = lineage.iter().any(|&one| self.classes.has_conversion(one));
        let is_open = lineage.iter().any(|&one| self.classes.get(one).has_open_base);
        match (has_conversion, is_open) {
            (true, _) => Some(Fit::User),
            (false, true) => None,
            (false, false) => Some(Fit::Never),
        }
    }

    fn fit_class(&self, argument: &Ty, wanted: &Instance, parameter: &Ty) -> Option<Fit> {
        let class = wanted.class;
        if parameter.pointers > 0 {
            let is_null = matches!(argument.base, Base::Builtin(Builtin::Null | Builtin::Int));
            return match &argument.base {
                _ if is_null && argument.pointers == 0 => Some(Fit::Standard),
                Base::Class(other) if argument.pointers == parameter.pointers => {
                    self.derives(other.class, class)
                }
                _ if argument.pointers == 0 && !argument.is_external() => self.converts(argument),
                Base::External(..) => None,
                _ => Some(Fit::Never),
            };
        }
        let is_made = is_writable(parameter);
        match &argument.base {
            Base::Class(other) if argument.pointers == 0 => {
                if other.class == class && !agree(&other.arguments, &wanted.arguments) {
                    return Some(Fit::Never);
                }
                match self.derives(other.class, class) {
                    Some(Fit::Never) if !is_made && self.makes_from(class, argument) => Some(Fit::User),
                    Some(Fit::Never) => self.converts(argument).filter(|_| !is_made).or(Some(Fit::Never)),
                    known => known,
                }
            }
            _ if is_made => Some(Fit::Never),
            Base::Braces => None,
            _ if self.makes_from(class, argument) => Some(Fit::User),
            Base::External(..) if argument.pointers == 0 => None,
            _ => Some(Fit::Never),
        }
    }

    /// Whether objects of `derived` are objects of `base`; `None` where a base is not known.
    fn derives(&self, derived: ClassId, base: ClassId) -> Option<Fit> {
        if derived == base {
            return Some(Fit::Exact);
        }
        let lineage = self.classes.with_bases(derived);
        if lineage.contains(&base) {
            return Some(Fit::Standard);
        }
        let is_open = lineage.iter().any(|&one| self.classes.get(one).has_open_base);
        if is_open { None } else { Some(Fit::Never) }
    }

    /// Whether a class has a constructor that takes one argument like this without being asked for.
    fn makes_from(&self, class: ClassId, argument: &Ty) -> bool {
        let Some(constructors) = self.classes.get(class).members.get(self.classes.name(class)) else {
            return false;
        };
        constructors.iter().any(|&at| {
            let facts = &self.tree.facts[at];
            let entity = &self.tree.entities[at];
            let takes_one = entity.kind.is_callable()
                && facts.parameters.first().is_some_and(|first| !first.is_of_class(self.classes.name(class)))
                && facts.parameters.iter().skip(1).all(|other| other.has_default || other.is_pack);
            if !takes_one || entity.signature.split(['(', ' ']).any(|word| word == "explicit") {
                return false;
            }
            let wanted = &facts.parameters[0].type_text;
            // What leads on to other constructors is not followed.
            match &wanted.base {
                Written::Builtin(kind) => match &argument.base {
                    Base::Builtin(given) => {
                        (wanted.pointers > 0) == (argument.pointers > 0)
                            && (wanted.pointers == 0 || given == kind || *kind == Builtin::Void)
                    }
                    _ => false,
                },
                Written::Named(path) => match &argument.base {
                    Base::Class(other) => {
                        path.name() == self.classes.name(other.class) || self.is_own_parameter(at, wanted)
                    }
                    Base::External(name, _) => path.name() == &**name || self.is_own_parameter(at, wanted),
                    Base::Builtin(Builtin::Char) if argument.pointers == 1 => {
                        TEXTS.contains(&path.name()) || self.is_own_parameter(at, wanted)
                    }
                    _ => self.is_own_parameter(at, wanted),
                },
                _ => false,
            }
        })
    }

    /// Whether a type is a template parameter of the callable itself.
    pub(crate) fn is_own_parameter(&self, at: usize, text: &TypeText<'_>) -> bool {
        text.word().is_some_and(|word| self.own_templates(at).contains(&word))
    }

    fn fit_enum(&self, argument: &Ty, at: usize, parameter: &Ty) -> Option<Fit> {
        match &argument.base {
            Base::Enum(other) if argument.pointers == parameter.pointers => {
                Some(if *other == at { Fit::Exact } else { Fit::Never })
            }
            Base::External(..) | Base::Braces => None,
            Base::Class(..) => self.converts(argument),
            _ => Some(Fit::Never),
        }
    }

    fn is_scoped_enum(&self, at: usize) -> bool {
        debug_assert_eq!(self.tree.entities[at].kind, EntityKind::Enum);
        let signature = &self.tree.entities[at].signature;
        signature.starts_with("enum class") || signature.starts_with("enum struct")
    }
}

/// Whether two argument lists can be the same: what is known of both does not differ.
fn agree(one: &Arguments, other: &Arguments) -> bool {
    one.iter().zip(other.iter()).all(|(one, other)| {
        let is_open = |ty: &Ty| ty.is_open();
        if is_open(one) || is_open(other) {
            return true;
        }
        match (&one.base, &other.base) {
            (Base::Class(a), Base::Class(b)) => a.class == b.class && agree(&a.arguments, &b.arguments),
            (Base::Value(a), Base::Value(b)) => a == b,
            (Base::External(a, _), Base::External(b, _)) => a == b,
            (Base::Builtin(a), Base::Builtin(b)) => a == b && one.pointers == other.pointers,
            (Base::Enum(a), Base::Enum(b)) => a == b,
            (Base::External(..), _) | (_, Base::External(..)) => true,
            _ => false,
        }
    })
}

impl Lookup<'_> {
    fn fit_external(&self, argument: &Ty, name: &str, arguments: &Arguments, parameter: &Ty) -> Option<Fit> {
        match &argument.base {
            // Text is made of nothing that does not turn into it by itself.
            Base::Class(_) if TEXTS.contains(&name) => self.converts(argument),
            Base::Class(one) if name == "function" && argument.pointers == 0 => {
                let is_callable = self.classes.mentions(one.class, "operator()");
                Some(if is_callable { Fit::User } else { Fit::Never })
            }
            _ => fit_foreign(argument, name, arguments, parameter),
        }
    }
}

fn fit_foreign(argument: &Ty, name: &str, arguments: &Arguments, parameter: &Ty) -> Option<Fit> {
    match &argument.base {
        Base::External(other, given) if other.as_ref() == name => {
            let is_same = argument.pointers == parameter.pointers && agree(given, arguments);
            Some(if is_same { Fit::Exact } else { Fit::Never })
        }
        Base::Builtin(Builtin::Char) if argument.pointers == 1 && TEXTS.contains(&name) => {
            Some(if is_writable(parameter) { Fit::Never } else { Fit::User })
        }
        Base::Builtin(_) if argument.pointers == 0 && TEXTS.contains(&name) => Some(Fit::Never),
        Base::Closure | Base::Function(_) if name == "function" => Some(Fit::User),
        Base::Closure => Some(Fit::Never),
        _ => None,
    }
}

/// Whether a parameter is a reference through which its argument is changed.
fn is_writable(parameter: &Ty) -> bool {
    parameter.reference == Reference::Left && !parameter.is_const
}

fn is_rvalue(argument: &Ty) -> bool {
    argument.reference != Reference::Left
}

/// How well an argument of the right type binds to `T&`, `const T&` and `T&&`.
fn binding(argument: &Ty, parameter: &Ty) -> Fit {
    let is_generic = matches!(parameter.base, Base::Parameter(_));
    match (parameter.reference, argument.reference) {
        (Reference::Left, Reference::Left) if parameter.is_const && !argument.is_const => Fit::Bound,
        (Reference::Left, Reference::Left) if !parameter.is_const && argument.is_const && !is_generic => {
            Fit::Never
        }
        (Reference::Left, Reference::Left) => Fit::Exact,
        (Reference::Left, _) if parameter.is_const => Fit::Bound,
        (Reference::Left, _) => Fit::Never,
        (Reference::Right, Reference::Left) if !is_generic => Fit::Never,
        _ if parameter.pointers > 0 && parameter.is_const && !argument.is_const => Fit::Bound,
        _ if parameter.pointers > 0 && !parameter.is_const && argument.is_const && !is_generic => Fit::Never,
        _ => Fit::Exact,
    }
}

/// From one kind of number to another.
fn conversion(from: Builtin, to: Builtin) -> Fit {
    use Builtin::{Bool, Char, Double, Float, Int, Short, Void};
    match (from, to) {
        (_, Void) | (Void, _) => Fit::Never,
        (Bool | Char | Short, Int) | (Float, Double) => Fit::Promotion,
        _ => Fit::Standard,
    }
}
