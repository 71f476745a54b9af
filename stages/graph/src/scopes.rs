//! Namespaces, classes and functions as scopes, and what each declares.

use rustc_hash::FxHashMap;

use almanac_tables::{EntityKind, Reference, ReferenceKind};

use crate::classes::{ClassId, Classes};
use crate::groups::{Group, Sight};
use crate::names::{join, plain, scope_and_name};
use crate::tree::{Family, Tree};

/// A scope: a namespace, a class or a function with something in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ScopeId(pub(crate) u32);

/// The scope around everything.
pub(crate) const GLOBAL: ScopeId = ScopeId(0);

/// What a scope declares under one name.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    /// Free functions.
    pub(crate) functions: Group,
    /// Aliases and enumerations.
    pub(crate) types: Vec<usize>,
    /// Variables and enumerators.
    pub(crate) variables: Vec<usize>,
    /// Classes.
    pub(crate) classes: Vec<ClassId>,
    /// Scope of that name.
    pub(crate) scope: Option<ScopeId>,
    /// `using a::name`: where it stands, and what it brings; `None` from another library.
    pub(crate) imports: Vec<(usize, Option<ScopeId>)>,
}

/// All scopes of the tree.
#[derive(Debug)]
pub(crate) struct Scopes<'t> {
    parents: Vec<ScopeId>,
    paths: Vec<String>,
    by_path: FxHashMap<String, ScopeId>,
    entries: Vec<FxHashMap<&'t str, Entry>>,
    /// Inline namespaces in each scope.
    inline: FxHashMap<ScopeId, Vec<ScopeId>>,
    /// `using namespace` in each scope: where it stands, and what it opens; `None` from elsewhere.
    directives: FxHashMap<ScopeId, Vec<(usize, Option<ScopeId>)>>,
    /// Scope each entity stands in.
    of: Vec<ScopeId>,
}

impl<'t> Scopes<'t> {
    /// Sorts the entities of a tree into scopes.
    pub(crate) fn new(
        tree: &'t Tree<'_>,
        classes: &Classes<'_>,
        references: &'t [Reference],
        sight: Sight<'_>,
    ) -> Self {
        let mut scopes = Self {
            parents: vec![GLOBAL],
            paths: vec![String::new()],
            by_path: FxHashMap::from_iter([(String::new(), GLOBAL)]),
            entries: vec![FxHashMap::default()],
            inline: FxHashMap::default(),
            directives: FxHashMap::default(),
            of: vec![GLOBAL; tree.entities.len()],
        };
        for at in tree.code_entities() {
            scopes.of[at] = scopes.open(&tree.facts[at].scope);
        }
        for at in tree.code_entities() {
            scopes.declare(tree, classes, at);
        }
        scopes.name_namespaces(tree);
        scopes.apply_usings(tree, references);
        for entry in scopes.entries.iter_mut().flat_map(FxHashMap::values_mut) {
            entry.functions.finish(sight);
        }
        scopes
    }

    /// The scope of this path, made with all around it if there is none yet.
    fn open(&mut self, path: &str) -> ScopeId {
        if let Some(&scope) = self.by_path.get(path) {
            return scope;
        }
        let parent = self.open(scope_and_name(path).0);
        let scope = ScopeId(self.paths.len() as u32);
        self.paths.push(path.to_owned());
        self.parents.push(parent);
        self.entries.push(FxHashMap::default());
        self.by_path.insert(path.to_owned(), scope);
        scope
    }

    fn declare(&mut self, tree: &'t Tree<'_>, classes: &Classes<'_>, at: usize) {
        let facts = &tree.facts[at];
        let entity = &tree.entities[at];
        let scope = self.of[at];
        let is_member = classes.of_member[at].is_some();
        let name = facts.name.as_str();
        match entity.kind {
            EntityKind::Namespace => {
                let inside = self.open(&facts.qualified());
                if entity.signature.starts_with("inline") && inside != scope {
                    let inline = self.inline.entry(scope).or_default();
                    if !inline.contains(&inside) {
                        inline.push(inside);
                    }
                }
            }
            EntityKind::Alias | EntityKind::Enum => self.entry(scope, name).types.push(at),
            EntityKind::Variable if !is_member => self.entry(scope, name).variables.push(at),
            EntityKind::Enumerator => {
                self.entry(scope, name).variables.push(at);
                // An unscoped enumeration shows its values around it.
                let outer = facts.around.filter(|&outer| tree.entities[outer].kind == EntityKind::Enum);
                if outer.is_some_and(|outer| !is_scoped(&tree.entities[outer].signature)) {
                    let around = self.parents[scope.0 as usize];
                    self.entry(around, name).variables.push(at);
                }
            }
            EntityKind::TestCase | EntityKind::BuildFunction | EntityKind::Lambda => {}
            kind if kind.is_record() => {
                let inside = self.open(&facts.qualified());
                let entry = self.entry(scope, name);
                entry.scope = Some(inside);
                if let Some(class) = classes.of_record(at)
                    && !entry.classes.contains(&class)
                {
                    entry.classes.push(class);
                }
            }
            kind if kind.is_callable() && !is_member && (tree.is_free(at) || facts.around.is_none()) => {
                self.entry(scope, name).functions.push(at);
            }
            _ => {}
        }
    }

    fn entry(&mut self, scope: ScopeId, name: &'t str) -> &mut Entry {
        self.entries[scope.0 as usize].entry(name).or_default()
    }

    /// `namespace short = a::b;`.
    fn name_namespaces(&mut self, tree: &'t Tree<'_>) {
        for at in tree.code_entities().filter(|&at| tree.entities[at].kind == EntityKind::Alias) {
            let signature = tree.entities[at].signature.trim_start();
            let Some(rest) = signature.strip_prefix("namespace ") else { continue };
            let Some((_, target)) = rest.split_once('=') else { continue };
            let scope = self.of[at];
            let target = self.outward(scope, &plain(target));
            if target.is_some() {
                self.entry(scope, tree.facts[at].name.as_str()).scope = target;
            }
        }
    }

    fn apply_usings(&mut self, tree: &'t Tree<'_>, references: &'t [Reference]) {
        for reference in references.iter().filter(|one| one.kind == ReferenceKind::Using) {
            let Some(file) = tree.file(&reference.path) else { continue };
            if Family::of(tree.files[file].language) != Family::Native {
                continue;
            }
            let scope = match tree.entity(&reference.entity_id) {
                Some(owner) => self.open_inside(tree, owner),
                None => GLOBAL,
            };
            match reference.written.strip_prefix("namespace ") {
                Some(path) => {
                    let target = self.outward(scope, &plain(path));
                    self.directives.entry(scope).or_default().push((file, target));
                }
                None => {
                    let path = plain(&reference.written);
                    let (qualifier, _) = scope_and_name(&path);
                    let target = self.outward(scope, qualifier).filter(|_| !qualifier.is_empty());
                    let entry = self.entry(scope, reference.name.as_str());
                    entry.imports.push((file, target));
                }
            }
        }
    }

    /// Scope that what stands inside an entity sees first.
    fn open_inside(&mut self, tree: &Tree<'_>, entity: usize) -> ScopeId {
        self.open(&tree.facts[entity].qualified())
    }

    /// The scope inside an entity, as far as it holds anything; else the one around it.
    pub(crate) fn inside(&self, tree: &Tree<'_>, entity: usize) -> ScopeId {
        let facts = &tree.facts[entity];
        self.by_path.get(join(&facts.scope, &facts.name).as_str()).copied().unwrap_or(self.of[entity])
    }

    /// Scope an entity stands in.
    pub(crate) fn of(&self, entity: usize) -> ScopeId {
        self.of[entity]
    }

    pub(crate) fn path(&self, scope: ScopeId) -> &str {
        &self.paths[scope.0 as usize]
    }

    pub(crate) fn parent(&self, scope: ScopeId) -> Option<ScopeId> {
        (scope != GLOBAL).then(|| self.parents[scope.0 as usize])
    }

    /// `scope` and what is around it, innermost first.
    pub(crate) fn chain(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> {
        std::iter::successors(Some(scope), |&scope| self.parent(scope))
    }

    /// What a scope itself declares under a name.
    pub(crate) fn declared(&self, scope: ScopeId, name: &str) -> Option<&Entry> {
        self.entries[scope.0 as usize].get(name)
    }

    /// Whether `using x::name` stands in the scope of that path.
    pub(crate) fn brings(&self, path: &str, name: &str) -> bool {
        let scope = self.by_path.get(path).copied();
        let entry = scope.and_then(|scope| self.declared(scope, name));
        entry.is_some_and(|entry| !entry.imports.is_empty())
    }

    /// The scope named `name` directly in `scope`.
    pub(crate) fn child(&self, scope: ScopeId, name: &str) -> Option<ScopeId> {
        let aliased = self.declared(scope, name).and_then(|entry| entry.scope);
        aliased.or_else(|| self.by_path.get(join(self.path(scope), name).as_str()).copied())
    }

    /// The scope of a relative path, found from `scope` outward.
    pub(crate) fn outward(&self, scope: ScopeId, path: &str) -> Option<ScopeId> {
        self.chain(scope).find_map(|outer| self.below(outer, path))
    }

    fn below(&self, scope: ScopeId, path: &str) -> Option<ScopeId> {
        path.split("::").try_fold(scope, |scope, name| {
            let inline = self.inline.get(&scope).map_or(&[][..], Vec::as_slice);
            std::iter::once(scope).chain(inline.iter().copied()).find_map(|one| self.child(one, name))
        })
    }

    /// `scope`, its inline namespaces, and what `file` opens in it, each once.
    pub(crate) fn faces(&self, scope: ScopeId, sees: impl Fn(usize) -> bool) -> Vec<ScopeId> {
        let mut faces = vec![scope];
        let mut next = 0;
        while next < faces.len() {
            let face = faces[next];
            next += 1;
            let inline = self.inline.get(&face).into_iter().flatten().copied();
            let opened = self.directives.get(&face).into_iter().flatten();
            let opened = opened.filter(|(file, _)| sees(*file)).filter_map(|(_, target)| *target);
            for one in inline.chain(opened) {
                if !faces.contains(&one) {
                    faces.push(one);
                }
            }
        }
        faces
    }

    /// The innermost namespace around a scope.
    pub(crate) fn namespace(&self, classes: &Classes<'_>, scope: ScopeId) -> ScopeId {
        self.chain(scope).find(|&one| !classes.has(self.path(one))).unwrap_or(GLOBAL)
    }
}

fn is_scoped(signature: &str) -> bool {
    signature.starts_with("enum class") || signature.starts_with("enum struct")
}
