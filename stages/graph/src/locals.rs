//! Variables inside functions, and what they are.

use rustc_hash::FxHashMap;
use std::sync::OnceLock;

use almanac_tables::Local;
use rayon::prelude::*;

use crate::lookup::{Lookup, Place};
use crate::scopes::{GLOBAL, Scopes};
use crate::syntax::{Expression, TypeText};
use crate::tree::Tree;
use crate::types::Ty;

/// Marks a local that names a type.
const TYPE: &str = "using";
/// Marks what a function with a deduced result gives back.
const RESULT: &str = "return";

/// Locals of the tree by file and name.
#[derive(Debug)]
pub(crate) struct Locals<'t> {
    rows: &'t [Local],
    /// File and innermost entity around each local; `None` if its file has no row.
    stands: Vec<Option<(usize, Option<usize>)>>,
    /// In order of appearance.
    by_name: FxHashMap<(usize, &'t str), Vec<usize>>,
    /// What each local is.
    types: Vec<OnceLock<Ty>>,
    /// What each function with a deduced result gives back.
    results: FxHashMap<usize, Ty>,
}

impl<'t> Locals<'t> {
    /// Sorts locals by file and name; `results` are what functions with a deduced result give back,
    /// as far as that is known already.
    pub(crate) fn new(tree: &Tree<'_>, rows: &'t [Local], results: FxHashMap<usize, Ty>) -> Self {
        let stands: Vec<Option<(usize, Option<usize>)>> = rows
            .iter()
            .map(|local| Some((tree.file(&local.path)?, tree.innermost(&local.path, local.start_byte))))
            .collect();
        let mut by_name: FxHashMap<(usize, &str), Vec<usize>> = FxHashMap::default();
        for (at, local) in rows.iter().enumerate() {
            if let Some((file, _)) = stands[at] {
                by_name.entry((file, local.name.as_str())).or_default().push(at);
            }
        }
        let types = rows.iter().map(|_| OnceLock::new()).collect();
        Self { rows, stands, by_name, types, results }
    }

    /// The same locals, not known yet, where the results of more functions are.
    pub(crate) fn again(self, results: FxHashMap<usize, Ty>) -> Self {
        let types = self.rows.iter().map(|_| OnceLock::new()).collect();
        Self { types, results, ..self }
    }

    /// Whether any function has a deduced result.
    pub(crate) fn has_results(&self) -> bool {
        self.rows.iter().any(|local| local.name == RESULT)
    }

    /// The local of that name in sight at a byte of a file, the innermost one.
    fn find(&self, name: &str, file: usize, byte: u64) -> Option<usize> {
        let found = self.by_name.get(&(file, name))?;
        let end = found.partition_point(|&at| self.rows[at].start_byte <= byte);
        found[..end].iter().rev().copied().find(|&at| byte < self.rows[at].end_byte)
    }

    fn found(&self, name: &str, place: &Place<'_>) -> Option<usize> {
        self.find(name, place.file, place.byte?)
    }

    fn ty(&self, at: usize) -> Ty {
        self.types[at].get().cloned().unwrap_or_else(Ty::unknown)
    }
}

impl<'a> Lookup<'a> {
    /// A variable in sight: its type, unknown where it is deduced from what is not known.
    pub(crate) fn local(&self, name: &str, place: &Place<'a>) -> Option<Ty> {
        let at = self.locals.found(name, place)?;
        (self.locals.rows[at].value != TYPE).then(|| self.locals.ty(at))
    }

    /// A type named inside the function.
    pub(crate) fn local_alias(&self, name: &str, place: &Place<'a>) -> Option<Ty> {
        let at = self.locals.found(name, place)?;
        (self.locals.rows[at].value == TYPE).then(|| self.locals.ty(at))
    }

    /// What a function with a deduced result gives back.
    pub(crate) fn deduced_result(&self, at: usize) -> Option<Ty> {
        self.locals.results.get(&at).cloned()
    }

    /// Finds out what every local is; each file's in order, since each may need those before it.
    pub(crate) fn type_locals(&self) {
        let stands = &self.locals.stands;
        let file = |at: usize| stands[at].map(|(file, _)| file);
        let mut bounds: Vec<usize> =
            (0..stands.len()).filter(|&at| at == 0 || file(at) != file(at - 1)).collect();
        bounds.push(stands.len());
        bounds.par_windows(2).for_each(|range| {
            for at in range[0]..range[1] {
                let ty = self.type_local(at);
                // Nobody else sets it.
                let _ = self.locals.types[at].set(ty);
            }
        });
    }

    fn type_local(&self, at: usize) -> Ty {
        let Some((file, entity)) = self.locals.stands[at] else { return Ty::unknown() };
        let local = &self.locals.rows[at];
        let scope = entity.map_or(GLOBAL, |entity| Scopes::inside(self.scopes, self.tree, entity));
        // Its own name is not in sight yet.
        let place = Place { file, scope, entity, byte: local.start_byte.checked_sub(1), bindings: None };
        if !local.type_text.is_empty() {
            return self.type_of(&TypeText::read(&local.type_text), &place, 0);
        }
        if local.value.is_empty() {
            Ty::unknown()
        } else {
            self.value_of(&Expression::read(&local.value), &place, 0).value()
        }
    }

    /// What functions with a deduced result give back, by what is known of locals.
    pub(crate) fn deduced_results(&self) -> FxHashMap<usize, Ty> {
        let rows = self.locals.rows.iter().enumerate().filter(|(_, local)| local.name == RESULT);
        let known = rows.filter_map(|(at, _)| {
            let (_, function) = self.locals.stands[at]?;
            let ty = self.locals.ty(at);
            (!ty.is_open()).then_some((function?, ty))
        });
        known.collect()
    }
}
