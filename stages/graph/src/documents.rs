//! What documents name: the symbols, files, folders, targets and options behind their mentions.
//!
//! A qualified name means what ends with it, a path what it leads to. A single name counts where its
//! form or its markup shows that it is one; a name that many things have leads nowhere.

mod paths;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use almanac_tables::{
    ArtifactRole, EdgeKind, EntityKind, Reference, ReferenceKind, ReferenceOutcome, Resolution, SourceType,
};

use crate::edges::{EdgeSet, How, NEAR, Node, Spot};
use crate::lookup::Lookup;
use crate::names::{plain, scope_and_name};
use crate::outcomes::Outcomes;
use crate::tree::Family;
use paths::Paths;

/// Things of one name that a single name may mean.
const ALIKE: usize = 3;

/// Share of its confidence that is left to a name in the manual of an earlier interface.
const OBSOLETE: f32 = 0.5;

/// Adds the edges of documents; build presets set options.
pub(crate) fn add_documents(
    lookup: &Lookup<'_>,
    references: &[Reference],
    edges: &mut EdgeSet,
    outcomes: &mut Outcomes,
) {
    let mut mentions = references.iter().filter(|one| one.kind == ReferenceKind::Mention).peekable();
    if mentions.peek().is_none() {
        return;
    }
    let tree = lookup.tree;
    let reader = Reader { lookup, named: named(lookup), paths: Paths::new(tree) };
    // A document may name one thing a thousand times.
    let mut known: FxHashMap<(&str, &str, &str), Meant> = FxHashMap::default();
    for mention in mentions {
        let Some(file) = tree.file(&mention.path) else { continue };
        let row = &tree.files[file];
        let key = (row.folder.as_str(), mention.name.as_str(), mention.written.as_str());
        let is_preset = row.source_type == SourceType::Build;
        let meant = known.entry(key).or_insert_with(|| match is_preset {
            true => reader.option(&mention.name),
            false => reader.meant(mention, file),
        });
        outcomes.count(ReferenceKind::Mention, meant.outcome);
        let source = tree.entity(&mention.entity_id).map_or(Node::File(file), Node::Entity);
        let kind = if is_preset { EdgeKind::Configures } else { EdgeKind::Documents };
        let spot = Spot { file, line: mention.line };
        for node in meant.nodes.iter().filter(|node| **node != Node::File(file)) {
            let mut how = meant.how;
            if row.role == ArtifactRole::Obsolete {
                how.resolution = Resolution::Name;
                how.confidence *= OBSOLETE;
            }
            edges.add(kind, source.clone(), node.clone(), how, spot);
        }
    }
}

/// What a mention means.
struct Meant {
    nodes: Vec<Node>,
    how: How,
    outcome: ReferenceOutcome,
}

impl Meant {
    const NOTHING: Self = Self { nodes: Vec::new(), how: How::EXACT, outcome: ReferenceOutcome::Unresolved };

    fn of(nodes: Vec<Node>, resolution: Resolution, confidence: f32) -> Self {
        let how = How::one_of(nodes.len(), resolution, confidence);
        let outcome = if nodes.is_empty() {
            ReferenceOutcome::Unresolved
        } else {
            ReferenceOutcome::from_resolution(how.resolution)
        };
        Self { nodes, how, outcome }
    }
}

/// Entities by their last name that documents may mean.
fn named<'a>(lookup: &Lookup<'a>) -> FxHashMap<&'a str, Vec<usize>> {
    let tree = lookup.tree;
    let mut named: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for at in tree.code_entities() {
        let kind = tree.entities[at].kind;
        let is_left_out = matches!(
            kind,
            EntityKind::Namespace | EntityKind::Lambda | EntityKind::TestCase | EntityKind::DeductionGuide
        );
        // A variable inside a function is nobody's to name.
        let is_local = tree.outward(at).skip(1).any(|outer| tree.entities[outer].kind.is_callable());
        if !is_left_out && !is_local {
            named.entry(tree.facts[at].name.as_str()).or_default().push(at);
        }
    }
    named
}

/// How a name is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `-DNAME`.
    Option,
    /// `CAPITALS_ONLY`, or a type in plain text: `TwoHumps`.
    Constant,
    Humps,
    /// `name()`.
    Call,
    /// Marked as code.
    Code,
}

struct Reader<'l, 'a> {
    lookup: &'l Lookup<'a>,
    named: FxHashMap<&'a str, Vec<usize>>,
    paths: Paths<'a>,
}

impl Reader<'_, '_> {
    fn meant(&self, mention: &Reference, file: usize) -> Meant {
        let (name, written) = (mention.name.as_str(), mention.written.as_str());
        let is_marked = written.starts_with(['`', '@', '\\', ':']);
        if !name.contains("::") && name.contains(['/', '.']) {
            return self.paths.meant(name, &self.lookup.tree.files[file].folder);
        }
        let name = plain(name);
        if name.contains("::") {
            return self.qualified(&name, file);
        }
        let is_constant = name.contains('_') && !name.contains(|c: char| c.is_ascii_lowercase());
        let form = match written {
            _ if written.starts_with("-D") => Form::Option,
            _ if written.trim_end_matches('`').ends_with(')') => Form::Call,
            _ if is_marked => Form::Code,
            _ if is_constant || name.contains('_') => Form::Constant,
            _ => Form::Humps,
        };
        self.single(&name, form, file)
    }

    fn option(&self, name: &str) -> Meant {
        let nodes = self.of_kind(name, |kind| kind == EntityKind::BuildOption);
        Meant::of(nodes.into_iter().map(Node::Entity).collect(), Resolution::Exact, 1.0)
    }

    fn of_kind(&self, name: &str, is_wanted: impl Fn(EntityKind) -> bool) -> Vec<usize> {
        let all = self.named.get(name).map_or(&[][..], Vec::as_slice);
        all.iter().copied().filter(|&at| is_wanted(self.lookup.tree.entities[at].kind)).collect()
    }

    /// A name with its scope: what ends with it, in the scope itself or in a base class.
    fn qualified(&self, name: &str, file: usize) -> Meant {
        let (tree, params) = (self.lookup.tree, self.lookup.params);
        let (scope, last) = scope_and_name(name);
        let is_whole = |at: &usize| tree.facts[*at].qualified() == name;
        let ends_with = |at: &usize| {
            let facts = &tree.facts[*at];
            facts.name == last && (facts.scope == scope || facts.scope.ends_with(&format!("::{scope}")))
        };
        let all = self.named.get(last).map_or(&[][..], Vec::as_slice);
        let mut found: Vec<usize> = all.iter().copied().filter(is_whole).collect();
        let first = name.split("::").next().unwrap_or(name);
        // `std::vector` is not a `vector` of some `std` inside the tree.
        let is_foreign = params.external_namespaces.iter().any(|one| one == first);
        if found.is_empty() && !is_foreign {
            found = all.iter().copied().filter(ends_with).collect();
        }
        if found.is_empty() && !is_foreign {
            found = self.inherited(scope, last, file);
        }
        let found = self.settled(found, file);
        if found.len() > params.max_candidates as usize {
            return Meant { outcome: ReferenceOutcome::TooMany, ..Meant::NOTHING };
        }
        Meant::of(found.into_iter().map(Node::Entity).collect(), Resolution::Exact, 1.0)
    }

    /// Members of the bases of the class that a scope names.
    fn inherited(&self, scope: &str, member: &str, file: usize) -> Vec<usize> {
        let lookup = self.lookup;
        let (outer, class) = scope_and_name(scope);
        let records = self.of_kind(class, EntityKind::is_record);
        let is_scope = |at: &usize| outer.is_empty() || lookup.tree.facts[*at].scope.ends_with(outer);
        let records = self.settled(records.into_iter().filter(is_scope).collect(), file);
        let [record] = records.as_slice() else { return Vec::new() };
        let Some(class) = lookup.classes.of_record(*record) else { return Vec::new() };
        let bases = lookup.classes.with_bases(class).iter().skip(1);
        let members = bases.filter_map(|base| lookup.classes.get(*base).members.get(member));
        members.flatten().copied().collect()
    }

    /// A name without scope.
    fn single(&self, name: &str, form: Form, file: usize) -> Meant {
        use EntityKind::{
            Alias, BuildFunction, BuildOption, BuildTarget, Concept, Enum, Enumerator, Field, Macro,
        };
        let params = self.lookup.params;
        let is_listed = |list: &[String]| list.iter().any(|one| one == name);
        if is_listed(&params.external_members)
            || is_listed(&params.external_functions)
            || params.external_prefixes.iter().any(|prefix| name.starts_with(prefix.as_str()))
        {
            return Meant { outcome: ReferenceOutcome::External, ..Meant::NOTHING };
        }
        let is_type = |kind: EntityKind| kind.is_record() || matches!(kind, Alias | Concept | Enum);
        let found = match form {
            Form::Option => self.of_kind(name, |kind| kind == BuildOption),
            Form::Constant => self.of_kind(name, |kind| matches!(kind, BuildOption | Macro | BuildFunction)),
            Form::Humps => self.of_kind(name, is_type),
            Form::Call => self.of_kind(name, EntityKind::is_callable),
            Form::Code => self.of_kind(name, |kind| !matches!(kind, Field | Enumerator)),
        };
        // An option says more than a macro of its name, a type more than what makes it.
        let rank = |kind: EntityKind| match kind {
            BuildOption | BuildTarget => 0,
            kind if kind.is_record() => 1,
            kind if is_type(kind) => 2,
            _ => 3,
        };
        let kind = |at: &usize| self.lookup.tree.entities[*at].kind;
        let best = found.iter().map(|at| rank(kind(at))).min().unwrap_or(0);
        let found: Vec<usize> = found.into_iter().filter(|at| rank(kind(at)) == best).collect();
        let found = self.settled(found, file);
        // A word of everyday language must be the name of one thing, a function one with its overloads.
        let is_word = !name.contains('_') && !name.chars().skip(1).any(|c| c.is_ascii_uppercase());
        let most = if form == Form::Code && is_word { 1 } else { ALIKE };
        let facts = &self.lookup.tree.facts;
        let scopes: BTreeSet<&str> = found.iter().map(|&at| facts[at].scope.as_str()).collect();
        // In the manual of an earlier interface it is most likely one of then.
        let is_old = self.lookup.tree.files[file].role == ArtifactRole::Obsolete;
        if found.len() > most || (best == 3 && (is_old || scopes.len() > 1)) {
            return Meant { outcome: ReferenceOutcome::TooMany, ..Meant::NOTHING };
        }
        let resolution = if best == 0 { Resolution::Exact } else { Resolution::Name };
        let confidence = if best == 0 { 1.0 } else { NEAR };
        Meant::of(found.into_iter().map(Node::Entity).collect(), resolution, confidence)
    }

    /// One entity for each symbol and class: those of the document's folder, else of the product,
    /// else of what uses it.
    fn settled(&self, found: Vec<usize>, file: usize) -> Vec<usize> {
        let lookup = self.lookup;
        let tree = lookup.tree;
        let folder = tree.files[file].folder.as_str();
        let is_beside = |at: usize| {
            let other = &tree.files[tree.facts[at].file].folder;
            folder != "."
                && other.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let tier = |at: usize| match tree.entities[at].role {
            _ if is_beside(at) => 0,
            ArtifactRole::Library | ArtifactRole::Build => 1,
            ArtifactRole::Application | ArtifactRole::Example | ArtifactRole::Script => 2,
            ArtifactRole::Test | ArtifactRole::Benchmark | ArtifactRole::Ci => 3,
            _ => 4,
        };
        let canonical = |at: usize| match lookup.classes.of_record(at) {
            Some(class) => lookup.classes.node(class),
            None => lookup.symbols.with(at)[0],
        };
        let settled: BTreeSet<(u8, usize)> = found.into_iter().map(|at| (tier(at), canonical(at))).collect();
        let best = settled.first().map_or(0, |(tier, _)| *tier);
        let mut kept: Vec<usize> =
            settled.into_iter().filter(|(tier, _)| *tier == best).map(|(_, at)| at).collect();
        kept.dedup();
        // Without the rest of its family a name of C++ in CMake's would be a chance.
        let is_native = kept.iter().any(|&at| tree.facts[at].family == Family::Native);
        kept.retain(|&at| !is_native || tree.facts[at].family != Family::Python);
        kept
    }
}
