//! The finished indexes that references are resolved against.

use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use almanac_tables::{EntityKind, Reference};

use crate::GraphParams;
use crate::classes::{ClassId, Classes};
use crate::definitions::Symbols;
use crate::demands::Demands;
use crate::expansions::MacroBodies;
use crate::groups::{Group, Sight};
use crate::locals::Locals;
use crate::reach::Reach;
use crate::scopes::{ScopeId, Scopes};
use crate::strangers::Methods;
use crate::tree::Tree;
use crate::types::Bindings;

/// Entities by name alone, in table order.
pub(crate) type Named = FxHashMap<String, Vec<usize>>;

/// Entities by name, wherever they are declared.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Free functions.
    pub(crate) free: FxHashMap<String, Group>,
    /// CMake functions and macros, in lower case.
    pub(crate) build: FxHashMap<String, Group>,
    /// Member functions.
    pub(crate) methods: FxHashMap<String, Methods>,
    /// Macros.
    pub(crate) macros: FxHashMap<String, Group>,
    /// Lambdas bound to a name.
    pub(crate) lambdas: Named,
    /// Aliases.
    pub(crate) aliases_by_name: Named,
}

impl Names {
    /// Indexes the tree's names.
    pub(crate) fn new(tree: &Tree<'_>, classes: &Classes<'_>, sight: Sight<'_>) -> Self {
        let mut names = Self::default();
        let mut methods: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for at in tree.code_entities() {
            let facts = &tree.facts[at];
            let name = || facts.name.clone();
            let is_member = classes.of_member[at].is_some();
            match tree.entities[at].kind {
                EntityKind::Macro => names.macros.entry(name()).or_default().push(at),
                EntityKind::Lambda => names.lambdas.entry(name()).or_default().push(at),
                EntityKind::Alias => names.aliases_by_name.entry(name()).or_default().push(at),
                EntityKind::TestCase => {}
                EntityKind::BuildFunction => {
                    names.build.entry(facts.name.to_ascii_lowercase()).or_default().push(at);
                }
                kind if kind.is_callable() && is_member => methods.entry(name()).or_default().push(at),
                kind if kind.is_callable() && tree.is_free(at) => {
                    names.free.entry(name()).or_default().push(at)
                }
                _ => {}
            }
        }
        for groups in [&mut names.free, &mut names.build, &mut names.macros] {
            groups.values_mut().for_each(|group| group.finish(sight));
        }
        names.methods =
            methods.into_iter().map(|(name, found)| (name, Methods::new(&found, classes, sight))).collect();
        names
    }
}

/// What references say before they are resolved.
#[derive(Debug)]
pub(crate) struct Code<'a> {
    /// What the bodies of macros refer to.
    pub(crate) macro_bodies: MacroBodies<'a>,
    /// What is asked of objects.
    pub(crate) demands: Demands<'a>,
}

impl<'a> Code<'a> {
    pub(crate) fn new(tree: &Tree<'_>, names: &Names, references: &'a [Reference]) -> Self {
        let macro_bodies = MacroBodies::new(tree, names, references);
        Self { macro_bodies, demands: Demands::new(tree, references) }
    }
}

/// Everything that references are resolved against.
pub(crate) struct Lookup<'a> {
    pub(crate) tree: &'a Tree<'a>,
    pub(crate) reach: &'a Reach,
    pub(crate) classes: &'a Classes<'a>,
    pub(crate) symbols: &'a Symbols,
    pub(crate) names: &'a Names,
    pub(crate) scopes: &'a Scopes<'a>,
    pub(crate) locals: &'a Locals<'a>,
    pub(crate) code: &'a Code<'a>,
    pub(crate) params: &'a GraphParams,
    /// Candidates looked at so far.
    pub(crate) visits: &'a AtomicU64,
}

/// Where a name is written: what scopes, file, locals and template parameters it sees.
#[derive(Debug, Clone)]
pub(crate) struct Place<'a> {
    /// File.
    pub(crate) file: usize,
    /// Innermost scope.
    pub(crate) scope: ScopeId,
    /// Entity it stands in or is; `None` at file level.
    pub(crate) entity: Option<usize>,
    /// Byte at which locals are looked for; `None` outside functions.
    pub(crate) byte: Option<u64>,
    /// What template parameters around it stand for.
    pub(crate) bindings: Bindings<'a>,
}

impl<'a> Lookup<'a> {
    pub(crate) fn sight(&self) -> Sight<'a> {
        Sight { tree: self.tree, reach: self.reach, symbols: self.symbols }
    }

    /// The place an entity is declared at.
    pub(crate) fn place_of(&self, at: usize) -> Place<'a> {
        let facts = &self.tree.facts[at];
        // A class or lambda inside a function sees what the function named before it.
        let is_local = facts.around.is_some_and(|outer| {
            self.tree.outward(outer).any(|outer| self.tree.entities[outer].kind.is_callable())
        });
        let byte = is_local.then(|| self.tree.entities[at].start_byte);
        Place { file: facts.file, scope: self.scopes.of(at), entity: Some(at), byte, bindings: None }
    }

    /// The place of something inside an entity.
    pub(crate) fn place_in(&self, file: usize, entity: Option<usize>, byte: u64) -> Place<'a> {
        let scope = entity.map_or(crate::scopes::GLOBAL, |entity| self.scopes.inside(self.tree, entity));
        Place { file, scope, entity, byte: Some(byte), bindings: None }
    }

    /// Whether a path belongs to another library by its first name.
    pub(crate) fn is_external_name(&self, first: &str, is_qualified: bool) -> bool {
        let is_listed = |list: &[String]| list.iter().any(|name| name == first);
        (is_qualified && is_listed(&self.params.external_namespaces))
            || self.params.external_prefixes.iter().any(|prefix| first.starts_with(prefix.as_str()))
    }

    /// Whether `name` is a template parameter where `place` is.
    pub(crate) fn is_template_parameter(&self, name: &str, place: &Place<'a>) -> bool {
        let names = |at: usize| self.tree.facts[at].template_names.iter();
        place.entity.is_some_and(|entity| {
            let own = self.tree.outward(entity).any(|at| names(at).any(|one| *one == name));
            let of_class = || {
                let class = self.classes.enclosing(self.tree, entity);
                class.is_some_and(|class| {
                    let record = self.classes.node(class);
                    self.tree.outward(record).any(|at| names(at).any(|one| *one == name))
                })
            };
            own || of_class()
        })
    }

    /// The class that a scope is, as `place` means it.
    pub(crate) fn class_at(&self, scope: ScopeId, place: &Place<'a>) -> Option<ClassId> {
        let found = self.classes.of_path(self.scopes.path(scope))?;
        if let Some(entity) = place.entity {
            let own = self.tree.outward(entity).find_map(|at| {
                let class = self.classes.of_record(at).or(self.classes.of_member[at]);
                class.filter(|class| found.contains(class))
            });
            if own.is_some() {
                return own;
            }
        }
        self.pick_class(found, place.file)
    }

    /// Of classes of one name the one that `file` means.
    pub(crate) fn pick_class(&self, found: &[ClassId], file: usize) -> Option<ClassId> {
        match found {
            [] => None,
            _ => self.classes.pick(self.tree, self.reach, found, file),
        }
    }

    /// A scope with its inline namespaces and what `file` opens in it.
    pub(crate) fn faces(&self, scope: ScopeId, file: usize) -> Vec<ScopeId> {
        self.scopes.faces(scope, |other| self.reach.sees(file, other))
    }

    pub(crate) fn visited(&self, count: u64) {
        self.visits.fetch_add(count, Ordering::Relaxed);
    }
}
