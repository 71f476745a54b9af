//! Classes as one unit each: primary definition, specialisations, members from every file, bases.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::OnceLock;

use almanac_tables::{EntityKind, SourceType};

use crate::definitions::Symbols;
use crate::names::{matching, tokens};
use crate::reach::Reach;
use crate::syntax::{TypeText, Written};
use crate::tree::{Family, Tree};
use crate::types::Ty;

/// Longer words hint at nothing.
const LONGEST_HINT: usize = 64;

/// Position of a class in [`Classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClassId(pub(crate) usize);

/// A class with everything that belongs to it.
#[derive(Debug)]
pub(crate) struct Class<'a> {
    /// Scope and name without template arguments.
    pub(crate) qualified: String,
    /// Primary definition first, then specialisations, then forward declarations.
    pub(crate) entities: Vec<usize>,
    /// Members by name, from all files, in table order.
    pub(crate) members: FxHashMap<String, Vec<usize>>,
    /// Bases found in the tree, in order of mention.
    pub(crate) bases: Vec<BaseLink<'a>>,
    /// The class and its bases, those of bases included, nearest first.
    lineage: Vec<ClassId>,
    /// Classes that derive from it, directly or not.
    heirs: Vec<ClassId>,
    /// Positions of the template parameters that its heirs put themselves in place of.
    selves: Vec<usize>,
    /// Its specialisations that have a body.
    pub(crate) specialisations: Vec<Specialisation<'a>>,
    /// Its primary record, if that has a body.
    primary: Option<usize>,
    /// Whether the primary has several bodies, in branches of a conditional.
    has_branches: bool,
    /// Whether it has a base that is not known, such as a template parameter.
    pub(crate) has_open_base: bool,
    /// Whether it has a base of another library.
    pub(crate) has_external_base: bool,
    /// Whether it has a conversion function.
    has_conversion: bool,
}

/// A base class as a record names it.
#[derive(Debug)]
pub(crate) struct BaseLink<'a> {
    pub(crate) class: ClassId,
    /// Record that names it.
    pub(crate) record: usize,
    /// As written, with template arguments.
    pub(crate) text: TypeText<'a>,
}

/// A specialisation of a class template.
#[derive(Debug)]
pub(crate) struct Specialisation<'a> {
    pub(crate) record: usize,
    /// Its template arguments as written.
    pub(crate) patterns: Vec<TypeText<'a>>,
    /// The same as types, once they are asked for.
    pub(crate) shape: OnceLock<Vec<Ty>>,
}

impl Specialisation<'_> {
    pub(crate) fn has_pack(&self) -> bool {
        self.patterns.last().is_some_and(|last| last.is_pack)
    }
}

/// All classes of the tree.
pub(crate) struct Classes<'a> {
    pub(crate) all: Vec<Class<'a>>,
    by_qualified: FxHashMap<String, Vec<ClassId>>,
    by_name: FxHashMap<String, Vec<ClassId>>,
    by_lower_case: FxHashMap<String, Vec<ClassId>>,
    /// Class of each record entity.
    of_record: Vec<Option<ClassId>>,
    /// Class that each entity is a member of.
    pub(crate) of_member: Vec<Option<ClassId>>,
    /// Record that each member is declared in.
    homes: Vec<Option<usize>>,
}

impl<'a> Classes<'a> {
    /// Groups record entities into classes and binds members, in-class and out-of-line.
    pub(crate) fn new(tree: &Tree<'a>, reach: &Reach) -> Self {
        let mut classes = Self {
            all: Vec::new(),
            by_qualified: FxHashMap::default(),
            by_name: FxHashMap::default(),
            by_lower_case: FxHashMap::default(),
            of_record: vec![None; tree.entities.len()],
            of_member: vec![None; tree.entities.len()],
            homes: vec![None; tree.entities.len()],
        };
        classes.group_records(tree, reach);
        classes.bind_members(tree, reach);
        classes
    }

    /// Finds the record of each member, of those defined elsewhere through their declarations.
    pub(crate) fn settle_homes(&mut self, tree: &Tree<'_>, symbols: &Symbols) {
        for at in 0..tree.entities.len() {
            let Some(class) = self.of_member[at] else { continue };
            let record =
                |&one: &usize| tree.facts[one].around.filter(|&outer| self.of_record[outer] == Some(class));
            self.homes[at] = record(&at).or_else(|| symbols.with(at).iter().find_map(record));
        }
    }

    /// Record that a member is declared in.
    pub(crate) fn home(&self, member: usize) -> Option<usize> {
        self.homes[member]
    }

    /// The one record of a class that has a body.
    pub(crate) fn only_record(&self, class: ClassId) -> Option<usize> {
        let class = self.get(class);
        (class.specialisations.is_empty() && !class.has_branches).then_some(class.entities[0])
    }

    /// The primary record of a class template, if it has a body.
    pub(crate) fn primary(&self, class: ClassId) -> Option<usize> {
        self.get(class).primary
    }

    /// A record that is a specialisation.
    pub(crate) fn specialisation(&self, class: ClassId, record: usize) -> Option<&Specialisation<'a>> {
        self.get(class).specialisations.iter().find(|one| one.record == record)
    }

    /// Template arguments of a record that is a specialisation.
    pub(crate) fn patterns(&self, class: ClassId, record: usize) -> Option<&[TypeText<'a>]> {
        self.specialisation(class, record).map(|one| one.patterns.as_slice())
    }

    pub(crate) fn get(&self, class: ClassId) -> &Class<'a> {
        &self.all[class.0]
    }

    /// Class a record entity is part of.
    pub(crate) fn of_record(&self, entity: usize) -> Option<ClassId> {
        self.of_record[entity]
    }

    /// Class around an entity: its own for a record, else that of the nearest member around it.
    pub(crate) fn enclosing(&self, tree: &Tree<'_>, entity: usize) -> Option<ClassId> {
        tree.outward(entity).find_map(|at| self.of_record[at].or(self.of_member[at]))
    }

    /// The class of exactly this qualified name that `file` means.
    pub(crate) fn exact(
        &self,
        tree: &Tree<'_>,
        reach: &Reach,
        qualified: &str,
        file: usize,
    ) -> Option<ClassId> {
        self.pick(tree, reach, self.by_qualified.get(qualified)?, file)
    }

    /// A class whose qualified name ends with `path`, wherever it is.
    pub(crate) fn elsewhere(
        &self,
        tree: &Tree<'_>,
        reach: &Reach,
        path: &str,
        file: usize,
    ) -> Option<ClassId> {
        let last = path.rsplit("::").next().unwrap_or(path);
        let ending = format!("::{path}");
        let found: Vec<ClassId> = self
            .by_name
            .get(last)?
            .iter()
            .copied()
            .filter(|&class| {
                let qualified = &self.get(class).qualified;
                qualified == path || qualified.ends_with(&ending)
            })
            .collect();
        self.pick(tree, reach, &found, file)
    }

    /// `class` and its bases, nearest first, each once.
    pub(crate) fn with_bases(&self, class: ClassId) -> &[ClassId] {
        &self.get(class).lineage
    }

    /// Whether `class` or a base of it is called `name` or has a member of that name.
    pub(crate) fn mentions(&self, class: ClassId, name: &str) -> bool {
        self.with_bases(class)
            .iter()
            .any(|&one| self.name(one) == name || self.get(one).members.contains_key(name))
    }

    /// Notes the bases of every class, those of bases included.
    pub(crate) fn settle_lineages(&mut self) {
        for at in 0..self.all.len() {
            self.all[at].lineage = self.lineage(ClassId(at));
            // What was read of them while bases were being found may be more by now.
            self.all[at].specialisations.iter_mut().for_each(|one| one.shape = OnceLock::new());
        }
        for at in 0..self.all.len() {
            let bases = self.all[at].lineage[1..].to_vec();
            for base in bases {
                self.all[base.0].heirs.push(ClassId(at));
            }
        }
    }

    /// Finds the template parameters that stand for the class that derives: `class A : Base<A>`, and
    /// through `class Base : Root<Derived>` those of `Root`.
    pub(crate) fn settle_selves(&mut self, tree: &Tree<'_>) {
        let mut is_new = true;
        while is_new {
            let mut found: Vec<(ClassId, usize)> = Vec::new();
            for (at, class) in self.all.iter().enumerate() {
                for link in &class.bases {
                    let Written::Named(path) = &link.text.base else { continue };
                    let arguments = path.last().and_then(|part| part.arguments.as_ref());
                    for (position, argument) in arguments.into_iter().flatten().enumerate() {
                        let Written::Named(named) = &argument.base else { continue };
                        let names = &tree.facts[link.record].template_names;
                        let is_self = named.name() == self.name(ClassId(at))
                            || names
                                .iter()
                                .position(|name| Some(*name) == argument.word())
                                .is_some_and(|own| class.selves.contains(&own));
                        if is_self && !self.get(link.class).selves.contains(&position) {
                            found.push((link.class, position));
                        }
                    }
                }
            }
            is_new = !found.is_empty();
            for (class, position) in found {
                if !self.all[class.0].selves.contains(&position) {
                    self.all[class.0].selves.push(position);
                }
            }
        }
    }

    /// Classes that derive from a class, directly or not.
    pub(crate) fn heirs(&self, class: ClassId) -> &[ClassId] {
        &self.get(class).heirs
    }

    /// Whether a template parameter of a class stands for the class that derives from it.
    pub(crate) fn is_self(&self, tree: &Tree<'_>, class: ClassId, parameter: &str) -> bool {
        let names = &tree.facts[self.node(class)].template_names;
        names
            .iter()
            .position(|name| *name == parameter)
            .is_some_and(|at| self.get(class).selves.contains(&at))
    }

    /// Whether a class is there to be derived from by classes that name themselves.
    pub(crate) fn is_for_heirs(&self, class: ClassId) -> bool {
        !self.get(class).selves.is_empty()
    }

    fn lineage(&self, class: ClassId) -> Vec<ClassId> {
        let mut order = vec![class];
        let mut seen = FxHashSet::from_iter([class]);
        let mut next = 0;
        while next < order.len() {
            let bases = &self.get(order[next]).bases;
            order.extend(bases.iter().map(|base| base.class).filter(|&base| seen.insert(base)));
            next += 1;
        }
        order
    }

    /// Classes whose names stand in `words`, in any case.
    pub(crate) fn hinted(&self, words: &str, least: usize) -> BTreeSet<ClassId> {
        let mut hinted = BTreeSet::new();
        for word in tokens(words).into_iter().filter(|word| word.is_ascii() && word.len() <= LONGEST_HINT) {
            let word = word.to_lowercase();
            for start in 0..word.len() {
                for end in start + least..=word.len() {
                    let named = self.by_lower_case.get(&word[start..end]);
                    hinted.extend(named.into_iter().flatten().copied());
                }
            }
        }
        hinted
    }

    /// Makes the class of record `base` a base of the class of `record`.
    pub(crate) fn add_base(&mut self, record: usize, base: usize, text: TypeText<'a>) {
        if let (Some(class), Some(base)) = (self.of_record[record], self.of_record[base])
            && class != base
        {
            self.all[class.0].bases.push(BaseLink { class: base, record, text });
        }
    }

    /// Notes that a record has a base that is not in the tree, or not known.
    pub(crate) fn add_foreign_base(&mut self, record: usize, is_external: bool) {
        if let Some(class) = self.of_record[record] {
            self.all[class.0].has_external_base |= is_external;
            self.all[class.0].has_open_base |= !is_external;
        }
    }

    /// Classes of exactly this qualified name.
    pub(crate) fn of_path(&self, qualified: &str) -> Option<&[ClassId]> {
        self.by_qualified.get(qualified).map(Vec::as_slice)
    }

    /// Whether a path is that of a class.
    pub(crate) fn has(&self, qualified: &str) -> bool {
        self.by_qualified.contains_key(qualified)
    }

    /// Scope and name of a class without template arguments.
    pub(crate) fn qualified(&self, class: ClassId) -> &str {
        &self.get(class).qualified
    }

    /// Name of a class without its scope.
    pub(crate) fn name(&self, class: ClassId) -> &str {
        let qualified = &self.get(class).qualified;
        qualified.rsplit("::").next().unwrap_or(qualified)
    }

    /// Whether objects of the class turn into something else by themselves.
    pub(crate) fn has_conversion(&self, class: ClassId) -> bool {
        self.get(class).has_conversion
    }

    /// Whether a record is a specialisation of its template.
    pub(crate) fn is_specialisation(&self, tree: &Tree<'_>, record: usize) -> bool {
        tree.entities[record].is_definition && !is_primary(tree, record)
    }

    /// Data members in the order in which they are declared.
    pub(crate) fn fields(&self, tree: &Tree<'_>, class: ClassId) -> Vec<usize> {
        let members = self.get(class).members.values().flatten().copied();
        let mut fields: Vec<usize> =
            members.filter(|&at| tree.entities[at].kind == EntityKind::Field).collect();
        fields.sort_unstable();
        fields
    }

    /// The entity an edge to the class leads to.
    pub(crate) fn node(&self, class: ClassId) -> usize {
        self.get(class).entities[0]
    }

    /// Of several classes of one name the one `file` means; `None` when nothing tells.
    pub(crate) fn pick(
        &self,
        tree: &Tree<'_>,
        reach: &Reach,
        found: &[ClassId],
        file: usize,
    ) -> Option<ClassId> {
        if let [only] = found {
            return self.may_mean(tree, reach, *only, file).then_some(*only);
        }
        let files = |class: ClassId| self.get(class).entities.iter().map(|&at| tree.facts[at].file);
        let closeness = |class: ClassId| -> usize {
            files(class)
                .map(|other| match (other == file, reach.sees(file, other)) {
                    (true, _) => usize::MAX,
                    (false, true) => usize::MAX / 2 + tree.shared_folders(file, other),
                    (false, false) => tree.shared_folders(file, other),
                })
                .max()
                .unwrap_or(0)
        };
        let usable = found.iter().copied().filter(|&at| self.may_mean(tree, reach, at, file));
        let ranked: Vec<(usize, ClassId)> = usable.map(|class| (closeness(class), class)).collect();
        let best = ranked.iter().map(|(score, _)| *score).max()?;
        let mut first = ranked.iter().filter(|(score, _)| *score == best);
        match (first.next(), first.next()) {
            (Some((_, class)), None) => Some(*class),
            _ => None,
        }
    }

    /// A class local to a `.cpp` file is meant by nobody who does not see that file.
    fn may_mean(&self, tree: &Tree<'_>, reach: &Reach, class: ClassId, file: usize) -> bool {
        self.get(class).entities.iter().any(|&at| {
            let other = tree.facts[at].file;
            tree.entities[at].source_type != SourceType::Source || other == file || reach.sees(file, other)
        })
    }

    fn group_records(&mut self, tree: &Tree<'a>, reach: &Reach) {
        let mut by_name: BTreeMap<(Family, String), Vec<usize>> = BTreeMap::new();
        for at in tree.code_entities().filter(|&at| tree.entities[at].kind.is_record()) {
            let facts = &tree.facts[at];
            by_name.entry((facts.family, facts.qualified())).or_default().push(at);
        }
        for ((_, qualified), records) in by_name {
            let (primary, rest): (Vec<usize>, Vec<usize>) =
                records.into_iter().partition(|&at| is_primary(tree, at));
            let mut groups = group_primaries(tree, &primary);
            if groups.is_empty() {
                groups.push(rest);
            } else {
                for at in rest {
                    let home = home_of(tree, reach, &groups, tree.facts[at].file);
                    groups[home].push(at);
                }
            }
            groups.into_iter().for_each(|group| self.add_class(tree, &qualified, group));
        }
    }

    fn add_class(&mut self, tree: &Tree<'a>, qualified: &str, mut entities: Vec<usize>) {
        let id = ClassId(self.all.len());
        entities.sort_by_key(|&at| {
            let has_body = tree.entities[at].is_definition;
            (!has_body, !is_primary(tree, at), at)
        });
        for &at in &entities {
            self.of_record[at] = Some(id);
        }
        let name = qualified.rsplit("::").next().unwrap_or(qualified).to_owned();
        self.by_qualified.entry(qualified.to_owned()).or_default().push(id);
        self.by_lower_case.entry(name.to_lowercase()).or_default().push(id);
        self.by_name.entry(name).or_default().push(id);
        let defined = || entities.iter().copied().filter(|&at| tree.entities[at].is_definition);
        let specialisations = defined().filter(|&at| !is_primary(tree, at));
        let specialisations = specialisations.map(|record| specialised(tree, record)).collect();
        let mut primaries = defined().filter(|&at| is_primary(tree, at));
        let (primary, has_branches) = (primaries.next(), primaries.next().is_some());
        self.all.push(Class {
            qualified: qualified.to_owned(),
            members: FxHashMap::default(),
            bases: Vec::new(),
            lineage: vec![id],
            heirs: Vec::new(),
            selves: Vec::new(),
            specialisations,
            primary,
            has_branches,
            entities,
            has_open_base: false,
            has_external_base: false,
            has_conversion: false,
        });
    }

    fn bind_members(&mut self, tree: &Tree<'_>, reach: &Reach) {
        for at in tree.code_entities() {
            let class = self.class_of_member(tree, reach, at);
            self.of_member[at] = class;
            if let Some(class) = class {
                let name = tree.facts[at].name.clone();
                let is_conversion =
                    name.starts_with("operator ") && !name.contains("new") && !name.contains("delete");
                self.all[class.0].has_conversion |= is_conversion;
                self.all[class.0].members.entry(name).or_default().push(at);
            }
        }
    }

    /// Lexical containment first, then the class its qualified name spells.
    fn class_of_member(&self, tree: &Tree<'_>, reach: &Reach, at: usize) -> Option<ClassId> {
        let facts = &tree.facts[at];
        let entity = &tree.entities[at];
        if let Some(around) = facts.around
            && tree.entities[around].kind != EntityKind::Namespace
        {
            let is_friend = tree.is_free(at);
            return self.of_record[around].filter(|_| !is_friend);
        }
        let may_be_member = entity.kind.is_callable()
            || entity.kind.is_record()
            || matches!(entity.kind, EntityKind::Field | EntityKind::Variable | EntityKind::Enum);
        if !may_be_member || facts.scope.is_empty() {
            return None;
        }
        self.exact(tree, reach, &facts.scope, facts.file).or_else(|| {
            let is_method = !entity.class_name.is_empty();
            is_method.then(|| self.elsewhere(tree, reach, &facts.scope, facts.file)).flatten()
        })
    }
}

/// A specialisation with its template arguments.
fn specialised<'a>(tree: &Tree<'a>, record: usize) -> Specialisation<'a> {
    let entity = &tree.entities[record];
    let name = &tree.facts[record].name;
    let written = specialisation(&entity.signature, name).or_else(|| specialisation(&entity.name, name));
    let patterns = written.map(TypeText::read_list).unwrap_or_default();
    Specialisation { record, patterns, shape: OnceLock::new() }
}

/// Primary definitions of one name in different files are different classes: two programs of one
/// tree may each have their own.
fn group_primaries(tree: &Tree<'_>, primary: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &at in primary {
        groups.entry(tree.facts[at].file).or_default().push(at);
    }
    groups.into_values().collect()
}

/// The group a specialisation or forward declaration in `file` belongs to.
fn home_of(tree: &Tree<'_>, reach: &Reach, groups: &[Vec<usize>], file: usize) -> usize {
    let closeness = |at: usize| {
        let other = tree.facts[groups[at][0]].file;
        let is_seen = reach.sees(file, other);
        (is_seen, reach.sees(other, file), tree.shared_folders(file, other), std::cmp::Reverse(at))
    };
    (0..groups.len()).max_by_key(|&at| closeness(at)).unwrap_or(0)
}

/// Whether a record is neither a specialisation nor a forward declaration.
fn is_primary(tree: &Tree<'_>, at: usize) -> bool {
    let entity = &tree.entities[at];
    entity.is_definition
        && !entity.name.contains('<')
        && specialisation(&entity.signature, &tree.facts[at].name).is_none()
}

/// Template arguments that follow `name` in a signature, template heads left out.
pub(crate) fn specialisation<'t>(signature: &'t str, name: &str) -> Option<&'t str> {
    let mut head = signature.trim_start();
    while let Some(rest) = head.strip_prefix("template") {
        let rest = rest.trim_start();
        head = rest[matching(rest).map_or(0, |close| close + 1)..].trim_start();
        if head.len() == signature.trim_start().len() {
            break;
        }
    }
    let at = word_position(head, name)?;
    let rest = head[at + name.len()..].trim_start();
    let close = rest.starts_with('<').then(|| matching(rest)).flatten()?;
    Some(&rest[1..close])
}

/// First place where `word` stands alone in `text`.
fn word_position(text: &str, word: &str) -> Option<usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .map(|(at, _)| at)
        .find(|&at| !text[..at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word))
}
