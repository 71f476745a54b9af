//! What code asks of an object of unknown type: the members that it names on it.
//!
//! A template says of its parameter only what it does with it. A class that has one of the members
//! that a function calls on an object, but not the others, is not meant.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use almanac_tables::{Reference, ReferenceKind};

use crate::syntax::Expression;
use crate::tree::Tree;

/// Members named on one object; more tell nothing new.
const MOST: usize = 16;

/// Members by function and object.
#[derive(Debug, Default)]
pub(crate) struct Demands<'a>(FxHashMap<(usize, String), BTreeSet<&'a str>>);

impl<'a> Demands<'a> {
    pub(crate) fn new(tree: &Tree<'_>, references: &'a [Reference]) -> Self {
        let mut demands: FxHashMap<(usize, String), BTreeSet<&'a str>> = FxHashMap::default();
        let calls =
            references.iter().filter(|one| one.kind == ReferenceKind::Call && !one.receiver.is_empty());
        for reference in calls.filter(|one| !one.name.starts_with("operator")) {
            let Some(owner) = tree.entity(&reference.entity_id) else { continue };
            let text = reference.receiver.trim_end_matches("->").trim_end_matches('.');
            let Some(object) = object_of(&Expression::read(text)) else { continue };
            let names = demands.entry((owner, object)).or_default();
            if names.len() < MOST {
                names.insert(&reference.name);
            }
        }
        demands.retain(|_, names| names.len() > 1);
        Self(demands)
    }

    /// Members that the function `owner` names on an object, besides the one that is looked for.
    pub(crate) fn on(&self, owner: Option<usize>, object: &Expression<'_>) -> Option<&BTreeSet<&'a str>> {
        self.0.get(&(owner?, object_of(object)?))
    }
}

/// The object that an expression is, told from others of the function: a name, a field, or what a
/// function without arguments gives.
fn object_of(expression: &Expression<'_>) -> Option<String> {
    match expression {
        Expression::Name(path) if path.parts.len() == 1 => Some(path.name().to_owned()),
        Expression::Member { object, path, .. } if **object == Expression::This => {
            Some(path.name().to_owned())
        }
        Expression::Call { callee, arguments } if arguments.is_empty() => {
            object_of(callee).map(|name| name + "()")
        }
        _ => None,
    }
}
