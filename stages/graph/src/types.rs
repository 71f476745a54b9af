//! What class a type, written somewhere, is.

use crate::classes::ClassId;
use crate::lookup::{Lookup, Place};
use crate::names::{join, scope_and_name, scopes_outward, split_declarator, type_name};

/// Longest chain of aliases and wrappers followed.
const MAX_DEPTH: usize = 12;

/// Types that hand on `->` and `.` to their first argument.
const WRAPPERS: &[&str] =
    &["shared_ptr", "unique_ptr", "weak_ptr", "optional", "reference_wrapper", "atomic"];

/// What is known of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeAnswer {
    /// A class of the tree.
    Class(ClassId),
    /// A class of the tree behind a smart pointer.
    Wrapped(ClassId),
    /// A type of another library or a built-in one.
    External,
    /// Not to be told: a template parameter, `auto`, or a name nobody declares.
    Unknown,
}

impl Lookup<'_> {
    /// The class that `text` names at `place`.
    pub(crate) fn resolve_type(&self, text: &str, place: Place<'_>) -> TypeAnswer {
        self.type_at_depth(text, place, 0)
    }

    pub(crate) fn type_at_depth(&self, text: &str, place: Place<'_>, depth: usize) -> TypeAnswer {
        let Some(name) = type_name(text) else {
            let is_deduced = text.contains("auto") || text.contains("decltype") || text.trim().is_empty();
            return if is_deduced { TypeAnswer::Unknown } else { TypeAnswer::External };
        };
        if depth > MAX_DEPTH {
            return TypeAnswer::Unknown;
        }
        let (qualifier, last) = scope_and_name(&name.path);
        if WRAPPERS.contains(&last) && matches!(qualifier, "" | "std") {
            let inner = name.arguments.first().map_or("", String::as_str);
            return match self.type_at_depth(inner, place, depth + 1) {
                TypeAnswer::Class(class) => TypeAnswer::Wrapped(class),
                other => other,
            };
        }
        let first = name.path.split("::").next().unwrap_or(&name.path);
        if self.is_template_parameter(first, place) {
            return TypeAnswer::Unknown;
        }
        let scope = if name.is_global { "" } else { place.scope };
        if let Some(answer) = self.type_in_scopes(&name.path, Place { scope, ..place }, depth) {
            return answer;
        }
        if self.is_external(&name.path) {
            return TypeAnswer::External;
        }
        if let Some(answer) = self.nested_type(&name.path, place, depth) {
            return answer;
        }
        self.type_elsewhere(&name.path, place, depth)
    }

    /// A class or alias found from the scope of `place` outward.
    fn type_in_scopes(&self, path: &str, place: Place<'_>, depth: usize) -> Option<TypeAnswer> {
        scopes_outward(place.scope).find_map(|scope| {
            let holders = match self.class(scope, place.file) {
                Some(class) => self.classes.with_bases(class),
                None => Vec::new(),
            };
            let holder_names = holders.iter().map(|&class| self.classes.get(class).qualified.as_str());
            let mut names: Vec<&str> = holder_names.collect();
            if names.is_empty() {
                names.push(scope);
            }
            names.into_iter().find_map(|holder| {
                let qualified = join(holder, path);
                self.class(&qualified, place.file)
                    .map(TypeAnswer::Class)
                    .or_else(|| self.alias(&qualified, place, depth))
            })
        })
    }

    /// `Base::value_type` where `Base` is itself an alias or class.
    fn nested_type(&self, path: &str, place: Place<'_>, depth: usize) -> Option<TypeAnswer> {
        let (outer, last) = scope_and_name(path);
        if outer.is_empty() {
            return None;
        }
        let class = match self.type_at_depth(outer, place, depth + 1) {
            TypeAnswer::Class(class) | TypeAnswer::Wrapped(class) => class,
            TypeAnswer::External => return Some(TypeAnswer::External),
            TypeAnswer::Unknown => return None,
        };
        self.classes.with_bases(class).into_iter().find_map(|holder| {
            let qualified = join(&self.classes.get(holder).qualified, last);
            self.class(&qualified, place.file)
                .map(TypeAnswer::Class)
                .or_else(|| self.alias(&qualified, place, depth))
        })
    }

    /// A class or alias of that name in a scope that `place` is not in.
    fn type_elsewhere(&self, path: &str, place: Place<'_>, depth: usize) -> TypeAnswer {
        if let Some(class) = self.classes.elsewhere(self.tree, self.reach, path, place.file) {
            return TypeAnswer::Class(class);
        }
        let (_, last) = scope_and_name(path);
        let ending = format!("::{path}");
        let found = self.names.aliases_by_name.get(last).map_or(&[][..], Vec::as_slice);
        let visible: Vec<usize> = found
            .iter()
            .copied()
            .filter(|&at| {
                let qualified = self.tree.facts[at].qualified();
                let named = qualified == path || qualified.ends_with(&ending);
                named && self.classes.of_member[at].is_none() && self.is_visible(at, place.file)
            })
            .collect();
        match visible.as_slice() {
            [only] => self.alias_target(*only, depth),
            _ => TypeAnswer::Unknown,
        }
    }

    /// What the alias of this qualified name stands for; the one in the same or a visible file.
    fn alias(&self, qualified: &str, place: Place<'_>, depth: usize) -> Option<TypeAnswer> {
        let found = self.names.aliases.get(qualified)?;
        let same_file = found.iter().find(|&&at| self.tree.facts[at].file == place.file);
        let visible = || found.iter().find(|&&at| self.is_visible(at, place.file));
        let sole = || if let [only] = found.as_slice() { Some(only) } else { None };
        let chosen = same_file.or_else(visible).or_else(sole)?;
        // An alias that names itself (`using T = typename X::T`) would lead nowhere.
        (place.entity != Some(*chosen)).then(|| self.alias_target(*chosen, depth))
    }

    fn alias_target(&self, alias: usize, depth: usize) -> TypeAnswer {
        let facts = &self.tree.facts[alias];
        let place = Place { scope: &facts.scope, file: facts.file, entity: Some(alias) };
        self.type_at_depth(&alias_text(&self.tree.entities[alias].signature), place, depth + 1)
    }
}

/// The type on the right of `using X = …` or on the left of a typedef's name.
pub(crate) fn alias_text(signature: &str) -> String {
    let text = signature.trim().trim_end_matches(';').trim_end();
    let using = text.rfind("using ").map(|at| &text[at..]);
    if let Some((_, target)) = using.and_then(|text| text.split_once('=')) {
        return target.trim().to_owned();
    }
    let typedef = text.rfind("typedef").map_or(text, |at| &text[at + "typedef".len()..]);
    split_declarator(typedef).0.to_owned()
}
