//! What an object expression is: fields, parameters, variables and the results of calls.

use almanac_tables::{Entity, EntityKind};

use crate::classes::ClassId;
use crate::lookup::{Lookup, Place};
use crate::names::{
    join, plain, scope_and_name, scopes_outward, split_declarator, split_top_level, tokens, type_name,
};
use crate::overloads::Wanted;
use crate::types::TypeAnswer;

/// Longest chain of member accesses followed.
const MAX_DEPTH: usize = 8;
const CASTS: &[&str] = &["static_cast", "dynamic_cast", "reinterpret_cast", "const_cast"];
const MAKERS: &[&str] = &["make_shared", "make_unique"];
const PASSING: &[&str] = &["move", "forward", "ref", "cref", "as_const"];
const SEQUENCES: &[&str] = &["vector", "array", "deque", "span", "valarray", "list", "unique_ptr"];
const MAPS: &[&str] = &["map", "unordered_map", "multimap"];

/// What an expression is.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    /// An object of a class.
    Object(ClassId, Option<bool>),
    /// Something declared with this type at that place.
    Typed(String, Place<'a>),
    /// Not to be told.
    Unknown,
}

impl<'a> Lookup<'a> {
    /// Class of an object expression, and whether it is `const`.
    pub(crate) fn class_of_expression(
        &self,
        expression: &str,
        place: Place<'a>,
    ) -> (TypeAnswer, Option<bool>) {
        self.class_of_value(&self.value_of(expression, place, 0))
    }

    pub(crate) fn class_of_value(&self, value: &Value<'a>) -> (TypeAnswer, Option<bool>) {
        match value {
            Value::Object(class, is_const) => (TypeAnswer::Class(*class), *is_const),
            Value::Typed(text, place) => {
                let answer = self.resolve_type(text, *place);
                let is_const = match answer {
                    TypeAnswer::Class(_) => Some(is_const_type(text)),
                    _ => None,
                };
                (answer, is_const)
            }
            Value::Unknown => (TypeAnswer::Unknown, None),
        }
    }

    pub(crate) fn value_of(&self, expression: &str, place: Place<'a>, depth: usize) -> Value<'a> {
        let text = expression.trim().trim_start_matches(['*', '&']).trim();
        if depth > MAX_DEPTH || text.is_empty() {
            return Value::Unknown;
        }
        if text == "this" || text == "self" {
            return self.this(place);
        }
        if text.ends_with(']') {
            let Some(open) = opening(text) else { return Value::Unknown };
            return self.element(self.value_of(&text[..open], place, depth + 1));
        }
        if text.ends_with(')') {
            let Some(open) = opening(text) else { return Value::Unknown };
            let (callee, arguments) = (text[..open].trim_end(), &text[open + 1..text.len() - 1]);
            if callee.is_empty() {
                return self.value_of(arguments, place, depth + 1);
            }
            return self.result_of(callee, arguments, place, depth);
        }
        match split_member(text) {
            Some((object, name)) => {
                let object = self.value_of(object, place, depth + 1);
                self.field(&object, name)
            }
            None => self.named_value(text, place),
        }
    }

    /// The object a member function runs on.
    fn this(&self, place: Place<'a>) -> Value<'a> {
        let Some(entity) = place.entity else { return Value::Unknown };
        let is_const = self
            .tree
            .outward(entity)
            .find(|&at| self.classes.of_member[at].is_some())
            .map(|at| self.tree.facts[at].is_const);
        match self.classes.enclosing(self.tree, entity) {
            Some(class) => Value::Object(class, is_const),
            None => Value::Unknown,
        }
    }

    /// A parameter, a field of the class around, or a variable of a namespace.
    pub(crate) fn named_value(&self, name: &str, place: Place<'a>) -> Value<'a> {
        if let Some(entity) = place.entity {
            for at in self.tree.outward(entity) {
                let parameters = &self.tree.facts[at].parameters;
                if let Some(parameter) = parameters.iter().find(|one| one.name == name) {
                    return Value::Typed(parameter.type_text.clone(), self.place_of(at));
                }
            }
            if let Some(class) = self.classes.enclosing(self.tree, entity)
                && let Some(field) = self.field_of(class, name)
            {
                let (_, is_const) = self.class_of_value(&self.this(place));
                return self.part_of(field, is_const);
            }
        }
        let path = plain(name);
        let variable = scopes_outward(place.scope).find_map(|scope| {
            let found = self.names.variables.get(&join(scope, &path))?;
            self.meant(found, place.file).first().copied()
        });
        variable.map_or(Value::Unknown, |at| self.declared(at))
    }

    fn field(&self, object: &Value<'a>, name: &str) -> Value<'a> {
        match self.class_of_value(object) {
            (TypeAnswer::Class(class) | TypeAnswer::Wrapped(class), is_const) => {
                self.field_of(class, name).map_or(Value::Unknown, |at| self.part_of(at, is_const))
            }
            _ => Value::Unknown,
        }
    }

    /// The data member of that name in class or bases.
    pub(crate) fn field_of(&self, class: ClassId, name: &str) -> Option<usize> {
        let members = self.classes.member(class, name)?;
        let is_data = |kind| matches!(kind, EntityKind::Field | EntityKind::Variable);
        members.iter().copied().find(|&at| is_data(self.tree.entities[at].kind))
    }

    /// A data member of an object; what it holds by value is as `const` as the object.
    fn part_of(&self, field: usize, is_const: Option<bool>) -> Value<'a> {
        match self.declared(field) {
            Value::Typed(text, place) if is_const == Some(true) && !text.contains(['*', '&']) => {
                Value::Typed(format!("const {text}"), place)
            }
            other => other,
        }
    }

    fn declared(&self, at: usize) -> Value<'a> {
        Value::Typed(declared_type(&self.tree.entities[at]), self.place_of(at))
    }

    pub(crate) fn place_of(&self, at: usize) -> Place<'a> {
        let facts = &self.tree.facts[at];
        Place { scope: &facts.scope, file: facts.file, entity: Some(at) }
    }

    /// What a call gives back.
    fn result_of(&self, callee: &str, arguments: &str, place: Place<'a>, depth: usize) -> Value<'a> {
        let is_empty = arguments.trim().is_empty();
        let count = if is_empty { 0 } else { split_top_level(arguments, b',').len() };
        if let Some((object, name)) = split_member(callee) {
            let object = self.value_of(object, place, depth + 1);
            return self.result_of_member(&object, &plain(name), count);
        }
        let path = plain(callee);
        let (_, last) = scope_and_name(&path);
        let template_argument = || type_name(callee).and_then(|name| name.arguments.into_iter().next());
        if CASTS.contains(&last) || MAKERS.contains(&last) {
            let Some(text) = template_argument() else { return Value::Unknown };
            return match inside_decltype(&text) {
                Some(inner) => self.value_of(inner, place, depth + 1),
                None => Value::Typed(text, place),
            };
        }
        if PASSING.contains(&last) {
            return self.value_of(arguments, place, depth + 1);
        }
        match self.named_value(&path, place) {
            Value::Unknown => {}
            object => return self.result_of_member(&object, "operator()", count),
        }
        match self.resolve_name(&path, Some(count), place) {
            Some(found) if found.entities.len() == 1 => self.result(found.entities[0]),
            _ => Value::Unknown,
        }
    }

    fn result_of_member(&self, object: &Value<'a>, name: &str, arguments: usize) -> Value<'a> {
        let (answer, is_const) = self.class_of_value(object);
        let (TypeAnswer::Class(class) | TypeAnswer::Wrapped(class)) = answer else {
            return Value::Unknown;
        };
        let members = self.classes.member(class, name).unwrap_or(&[]);
        let wanted = Wanted { arguments: Some(arguments), is_const };
        let symbols = self.overloads(&self.callables(members), wanted);
        let results: Vec<usize> = symbols.into_iter().map(|symbol| self.symbols.canonical(symbol)).collect();
        let same_type = |one: &usize| {
            let first = &self.tree.entities[results[0]].return_type;
            type_name(&self.tree.entities[*one].return_type) == type_name(first)
        };
        match results.first() {
            Some(&first) if results.iter().all(same_type) => self.result(first),
            _ => Value::Unknown,
        }
    }

    /// Value that a callable, or the constructor of a class, gives.
    fn result(&self, at: usize) -> Value<'a> {
        if let Some(class) = self.classes.of_record(at) {
            return Value::Object(class, Some(false));
        }
        let name = &self.tree.facts[at].name;
        if let Some(class) = self.classes.of_member[at]
            && self.classes.get(class).qualified.rsplit("::").next() == Some(name)
        {
            return Value::Object(class, Some(false));
        }
        let row = &self.tree.entities[at];
        let trailing = row.signature.rsplit_once("->").map(|(_, text)| text.trim().to_owned());
        let text = if row.return_type.trim() == "auto" { trailing } else { None };
        Value::Typed(text.unwrap_or_else(|| row.return_type.clone()), self.place_of(at))
    }

    /// One element of an array, container or indexable object.
    fn element(&self, value: Value<'a>) -> Value<'a> {
        if let Value::Typed(text, place) = &value
            && let Some(name) = type_name(text)
        {
            let (_, last) = scope_and_name(&name.path);
            let wanted = usize::from(MAPS.contains(&last));
            if SEQUENCES.contains(&last) || MAPS.contains(&last) {
                let argument = name.arguments.get(wanted).cloned().unwrap_or_default();
                return Value::Typed(argument, *place);
            }
            if name.is_pointer {
                return Value::Typed(text.trim_end().trim_end_matches('*').to_owned(), *place);
            }
        }
        self.result_of_member(&value, "operator[]", 1)
    }
}

/// Type of a field or variable: as the parser gives it, else its signature without the name.
fn declared_type(entity: &Entity) -> String {
    if !entity.return_type.is_empty() {
        return entity.return_type.clone();
    }
    let head = entity.signature.split(['=', '{', ';', '[']).next().unwrap_or("");
    split_declarator(head).0.to_owned()
}

/// Whether the object of a type is `const`: `const T&`, `T const*`, but not `T* const`.
pub(crate) fn is_const_type(text: &str) -> bool {
    let head = text.split(['*', '&']).next().unwrap_or("");
    let outside: &str = head.split('<').next().unwrap_or("");
    let after = head.rsplit_once('>').map_or("", |(_, tail)| tail);
    tokens(outside).contains(&"const") || tokens(after).contains(&"const")
}

/// The expression of `decltype(expression)`.
pub(crate) fn inside_decltype(text: &str) -> Option<&str> {
    text.trim().strip_prefix("decltype(")?.strip_suffix(')')
}

/// Byte of the bracket that the last one of `text` closes.
fn opening(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_i32;
    (0..bytes.len()).rev().find(|&at| {
        depth += match bytes[at] {
            b')' | b']' | b'}' => 1,
            b'(' | b'[' | b'{' => -1,
            _ => 0,
        };
        depth == 0
    })
}

/// Splits at the last `.` or `->` outside brackets.
fn split_member(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut depth = 0_i32;
    for at in (0..bytes.len()).rev() {
        match bytes[at] {
            b'>' if at > 0 && bytes[at - 1] == b'-' && depth == 0 => {
                return Some((&text[..at - 1], text[at + 1..].trim()));
            }
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b')' | b']' | b'}' | b'>' => depth += 1,
            b'(' | b'[' | b'{' | b'<' => depth -= 1,
            b'.' if depth == 0 => return Some((&text[..at], text[at + 1..].trim())),
            _ => {}
        }
    }
    None
}
