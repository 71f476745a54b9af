//! Every name of the tree by how it can be asked for.

use std::collections::HashMap;

use almanac_tables::{ArtifactRole, EntityKind, SourceType};

use crate::GraphParams;
use crate::classes::{ClassId, Classes};
use crate::definitions::Symbols;
use crate::reach::Reach;
use crate::tree::{Family, Tree};

/// Entities by name, in table order.
pub(crate) type Named = HashMap<String, Vec<usize>>;

/// Entities by each way of asking for them.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Free functions by qualified name.
    pub(crate) free: Named,
    /// Free functions by name.
    pub(crate) free_by_name: Named,
    /// CMake functions and macros by lower-case name.
    pub(crate) build: Named,
    /// Member functions by name.
    pub(crate) methods: Named,
    /// Macros by name.
    pub(crate) macros: Named,
    /// Lambdas bound to a name.
    pub(crate) lambdas: Named,
    /// Aliases by qualified name.
    pub(crate) aliases: Named,
    /// Aliases by name.
    pub(crate) aliases_by_name: Named,
    /// Variables at namespace scope by qualified name.
    pub(crate) variables: Named,
}

impl Names {
    /// Indexes the tree's names.
    pub(crate) fn new(tree: &Tree<'_>, classes: &Classes) -> Self {
        let mut names = Self::default();
        for at in tree.code_entities() {
            let facts = &tree.facts[at];
            let kind = tree.entities[at].kind;
            let is_member = classes.of_member[at].is_some();
            let is_free = facts.around.is_none_or(|outer| tree.entities[outer].kind == EntityKind::Namespace);
            let (by_qualified, by_name) = match kind {
                EntityKind::Macro => (None, Some(&mut names.macros)),
                EntityKind::Lambda => (None, Some(&mut names.lambdas)),
                EntityKind::Alias => (Some(&mut names.aliases), Some(&mut names.aliases_by_name)),
                EntityKind::Variable if !is_member => (Some(&mut names.variables), None),
                EntityKind::TestCase => (None, None),
                EntityKind::BuildFunction => {
                    names.build.entry(facts.name.to_ascii_lowercase()).or_default().push(at);
                    (None, None)
                }
                kind if kind.is_callable() && is_member => (None, Some(&mut names.methods)),
                kind if kind.is_callable() && is_free => {
                    (Some(&mut names.free), Some(&mut names.free_by_name))
                }
                _ => (None, None),
            };
            if let Some(index) = by_qualified {
                index.entry(facts.qualified()).or_default().push(at);
            }
            if let Some(index) = by_name {
                index.entry(facts.name.clone()).or_default().push(at);
            }
        }
        names
    }
}

/// The finished indexes that references are resolved against.
pub(crate) struct Lookup<'a> {
    pub(crate) tree: &'a Tree<'a>,
    pub(crate) reach: &'a Reach,
    pub(crate) classes: &'a Classes,
    pub(crate) symbols: &'a Symbols,
    pub(crate) names: &'a Names,
    pub(crate) params: &'a GraphParams,
}

/// Where a name is written: what scopes, file and template parameters it sees.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'p> {
    /// Scope, namespaces and classes.
    pub(crate) scope: &'p str,
    /// File.
    pub(crate) file: usize,
    /// Entity it stands in or is; `None` at file level.
    pub(crate) entity: Option<usize>,
}

impl<'a> Lookup<'a> {
    /// Whether `path` starts with a namespace of another library that the tree does not open.
    pub(crate) fn is_external(&self, path: &str) -> bool {
        let first = path.split("::").next().unwrap_or(path);
        let is_listed = |list: &[String]| list.iter().any(|name| name == first);
        (is_listed(&self.params.external_namespaces) && first.len() < path.len())
            || self.params.external_prefixes.iter().any(|prefix| first.starts_with(prefix.as_str()))
    }

    /// Whether `name` is a template parameter where `place` is.
    pub(crate) fn is_template_parameter(&self, name: &str, place: Place<'_>) -> bool {
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

    /// Class of exactly this qualified name, as seen from `file`.
    pub(crate) fn class(&self, qualified: &str, file: usize) -> Option<ClassId> {
        self.classes.exact(self.tree, self.reach, qualified, file)
    }

    /// Whether any entity of the symbol of `at` is in a file that `file` sees.
    pub(crate) fn is_visible(&self, at: usize, file: usize) -> bool {
        self.symbols.entities[self.symbols.of[at]]
            .iter()
            .any(|&other| self.reach.sees(file, self.tree.facts[other].file))
    }

    /// Whether a reference in `file` can mean `at` although no include leads there: not when it is
    /// private to a source file, nor when a library would use a program's code.
    pub(crate) fn is_usable(&self, at: usize, file: usize) -> bool {
        let declared_in_header = self.symbols.entities[self.symbols.of[at]]
            .iter()
            .any(|&other| self.tree.entities[other].source_type == SourceType::Header);
        let family = self.tree.facts[at].family;
        let same_program = match self.tree.entities[at].role {
            ArtifactRole::Library | ArtifactRole::Vendored => true,
            _ => self.tree.files[self.tree.facts[at].file].folder == self.tree.files[file].folder,
        };
        same_program && (declared_in_header || family != Family::Native)
    }

    /// Those of `found` in the family of `file`, seen from it or usable without being seen.
    pub(crate) fn meant(&self, found: &[usize], file: usize) -> Vec<usize> {
        let family = Family::of(self.tree.files[file].language);
        let of_family = found.iter().copied().filter(|&at| self.tree.facts[at].family == family);
        let (visible, hidden): (Vec<usize>, Vec<usize>) =
            of_family.partition(|&at| self.is_visible(at, file));
        if visible.is_empty() {
            hidden.into_iter().filter(|&at| self.is_usable(at, file)).collect()
        } else {
            visible
        }
    }
}
