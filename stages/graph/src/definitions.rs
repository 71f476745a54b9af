//! Definitions bound to their declarations; together they are one symbol.

use std::collections::BTreeMap;

use almanac_tables::{ArtifactRole, EdgeKind, EntityKind, Resolution};

use crate::classes::{ClassId, Classes, specialisation};
use crate::edges::{EdgeSet, How, Node};
use crate::names::tokens;
use crate::reach::Reach;
use crate::relations::spot_of;
use crate::tree::{Family, Tree};

/// Entities that are one symbol: declarations and definitions of one function or variable.
pub(crate) struct Symbols {
    /// Symbol of each entity.
    pub(crate) of: Vec<usize>,
    /// Entities of each symbol, the one that edges lead to first.
    pub(crate) entities: Vec<Vec<usize>>,
}

impl Symbols {
    /// The symbol of an entity.
    pub(crate) fn of(&self, at: usize) -> usize {
        self.of[at]
    }

    /// The entities of the symbol of an entity.
    pub(crate) fn with(&self, at: usize) -> &[usize] {
        &self.entities[self.of[at]]
    }

    /// The entity that stands for the symbol: its definition, else its declaration.
    pub(crate) fn canonical(&self, symbol: usize) -> usize {
        self.entities[symbol][0]
    }
}

/// What two files have to do with each other, closest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    Unrelated,
    Sees,
    Pair,
    SameFile,
}

/// How well parameter lists of equal length agree, best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Agreement {
    CountOnly,
    Heads,
    Types,
}

/// How well a declaration fits a definition, best last.
type Fit = (bool, Agreement, Closeness, bool, bool);

/// Binds definitions to declarations and adds their edges.
pub(crate) fn bind_definitions(
    tree: &Tree<'_>,
    classes: &Classes<'_>,
    reach: &Reach,
    interface_of: &[Option<usize>],
    edges: &mut EdgeSet,
) -> Symbols {
    let binder = Binder { tree, classes, reach, interface_of };
    let mut bound: Vec<(usize, usize)> = Vec::new();
    for group in binder.callable_groups().into_values() {
        binder.match_group(&group, &mut bound, edges);
    }
    binder.match_variables(&mut bound, edges);
    binder.match_records(edges);
    binder.symbols(&bound)
}

/// Callables that may be one symbol share family, class, name and number of parameters.
type GroupKey = (Family, Option<ClassId>, String, usize);

struct Binder<'a> {
    tree: &'a Tree<'a>,
    classes: &'a Classes<'a>,
    reach: &'a Reach,
    interface_of: &'a [Option<usize>],
}

impl Binder<'_> {
    fn callable_groups(&self) -> BTreeMap<GroupKey, Vec<usize>> {
        let mut groups: BTreeMap<GroupKey, Vec<usize>> = BTreeMap::new();
        let tree = self.tree;
        for at in tree.code_entities().filter(|&at| is_function(tree.entities[at].kind)) {
            let facts = &tree.facts[at];
            let class = self.classes.of_member[at];
            let name = if class.is_some() { facts.name.clone() } else { facts.qualified() };
            let key = (facts.family, class, name, facts.parameters.len());
            groups.entry(key).or_default().push(at);
        }
        groups
    }

    /// Exact parameter types first; what is left over by the heads of its types, then by count.
    fn match_group(&self, group: &[usize], bound: &mut Vec<(usize, usize)>, edges: &mut EdgeSet) {
        let is_definition = |at: &usize| self.tree.entities[*at].is_definition;
        let (mut definitions, declarations): (Vec<usize>, Vec<usize>) =
            group.iter().copied().partition(is_definition);
        let mut open = declarations.clone();
        let is_sole = definitions.len() == 1 && declarations.len() == 1;
        self.join_alternatives(&definitions, bound);
        for wanted in [Agreement::Types, Agreement::Heads, Agreement::CountOnly] {
            let candidates = if wanted == Agreement::Types { declarations.clone() } else { open.clone() };
            if wanted == Agreement::CountOnly && candidates.len() > 1 {
                break;
            }
            let mut taken: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
            definitions.retain(|&definition| {
                let best = self.best(definition, &candidates, wanted, is_sole);
                if best.is_empty() {
                    return true;
                }
                let turn = taken.entry(best.clone()).or_insert(0);
                for declaration in self.bind_one(definition, &best, *turn, wanted, edges) {
                    bound.push((definition, declaration));
                    open.retain(|&at| at != declaration);
                }
                *turn += 1;
                false
            });
        }
    }

    /// Definitions of one file that read the same are branches of a conditional: one symbol.
    fn join_alternatives(&self, definitions: &[usize], bound: &mut Vec<(usize, usize)>) {
        let mut first: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        for &at in definitions {
            let key = (self.tree.facts[at].file, self.tree.entities[at].signature.as_str());
            let one = *first.entry(key).or_insert(at);
            if one != at && !key.1.is_empty() {
                bound.push((at, one));
            }
        }
    }

    /// Declarations that fit best with at least the wanted agreement.
    fn best(&self, definition: usize, candidates: &[usize], wanted: Agreement, is_sole: bool) -> Vec<usize> {
        let fits: Vec<(Fit, usize)> = candidates
            .iter()
            .filter_map(|&at| Some((self.fit(definition, at, is_sole)?, at)))
            .filter(|(fit, _)| fit.1 >= wanted)
            .collect();
        let Some(best) = fits.iter().map(|(fit, _)| *fit).max() else { return Vec::new() };
        fits.into_iter().filter(|(fit, _)| *fit == best).map(|(_, at)| at).collect()
    }

    /// Adds the edges of one definition. A free function may be declared several times; members
    /// that cannot be told apart are paired in the order in which they are written.
    fn bind_one(
        &self,
        definition: usize,
        best: &[usize],
        turn: usize,
        agreement: Agreement,
        edges: &mut EdgeSet,
    ) -> Vec<usize> {
        let is_member = self.classes.of_member[definition].is_some();
        let (resolution, confidence) = match agreement {
            Agreement::Types => (Resolution::Exact, 1.0),
            Agreement::Heads => (Resolution::Exact, 0.95),
            Agreement::CountOnly => (Resolution::Name, 0.8),
        };
        let (chosen, candidates) = if is_member && best.len() > 1 {
            (vec![best[turn % best.len()]], best.len())
        } else {
            (best.to_vec(), 1)
        };
        let how = How::one_of(candidates, resolution, confidence);
        for &declaration in &chosen {
            self.add(definition, declaration, how, edges);
        }
        chosen
    }

    fn add(&self, definition: usize, declaration: usize, how: How, edges: &mut EdgeSet) {
        let (source, target) = (Node::Entity(definition), Node::Entity(declaration));
        edges.add(EdgeKind::Defines, source, target, how, spot_of(self.tree, definition));
    }

    fn fit(&self, definition: usize, declaration: usize, is_sole: bool) -> Option<Fit> {
        let (one, other) = (&self.tree.facts[definition], &self.tree.facts[declaration]);
        let is_member = self.classes.of_member[definition].is_some();
        // A body inside a class is that of no other declaration, such as one in a specialisation.
        let is_inside = one.around.is_some_and(|outer| self.classes.of_record(outer).is_some());
        if is_member && (one.is_const != other.is_const || is_inside) {
            return None;
        }
        let closeness = self.closeness(one.file, other.file);
        let is_declared_in_library = self.role(declaration) == ArtifactRole::Library;
        let may_be_apart =
            is_sole && is_declared_in_library == (self.role(definition) == ArtifactRole::Library);
        if !is_member && closeness == Closeness::Unrelated && !may_be_apart {
            return None;
        }
        let specialised = is_member.then(|| self.same_specialisation(definition, declaration));
        if specialised == Some(Some(false)) {
            return None;
        }
        let (definition_row, declaration_row) =
            (&self.tree.entities[definition], &self.tree.entities[declaration]);
        let returns = |text: &str| tokens(text).last().map(|token| (*token).to_owned());
        Some((
            specialised == Some(Some(true)),
            self.agreement(definition, declaration),
            closeness,
            returns(&definition_row.return_type) == returns(&declaration_row.return_type),
            own_template_parameters(&definition_row.template_parameters)
                == own_template_parameters(&declaration_row.template_parameters),
        ))
    }

    fn role(&self, entity: usize) -> ArtifactRole {
        self.tree.entities[entity].role
    }

    fn closeness(&self, one: usize, other: usize) -> Closeness {
        if one == other {
            Closeness::SameFile
        } else if self.interface_of[one] == Some(other) || self.interface_of[other] == Some(one) {
            Closeness::Pair
        } else if self.reach.sees(one, other) {
            Closeness::Sees
        } else {
            Closeness::Unrelated
        }
    }

    /// Whether both belong to the same specialisation of their class; `None` if neither says.
    fn same_specialisation(&self, definition: usize, declaration: usize) -> Option<bool> {
        let around = self.tree.facts[declaration].around?;
        self.classes.of_record(around)?;
        let class_name = &self.tree.facts[around].name;
        let row = &self.tree.entities[definition];
        let written = specialisation(&row.qualified_name, class_name)
            .or_else(|| specialisation(&row.signature, class_name))
            .or_else(|| specialisation(&row.class_name, class_name));
        let declared = specialisation(&self.tree.entities[around].signature, class_name)
            .or_else(|| specialisation(&self.tree.entities[around].name, class_name));
        let (one, other) = match (written, declared) {
            (None, None) => return None,
            (Some(written), Some(declared)) => (written, declared),
            // `Field<T, Dim>::f` belongs to the primary when its arguments are its parameters.
            (Some(written), None) => {
                let names = &self.tree.facts[definition].template_names;
                let is_parameter = |token: &&str| names.contains(token);
                let mut words = tokens(written).into_iter().filter(|token| !matches!(*token, "," | "..."));
                return Some(words.all(|token| is_parameter(&token)));
            }
            (None, Some(_)) => return None,
        };
        let one = self.placeholders(definition, tokens(one).into_iter());
        let other = self.placeholders(around, tokens(other).into_iter());
        Some(one == other)
    }

    fn agreement(&self, definition: usize, declaration: usize) -> Agreement {
        let types = |at: usize| {
            self.tree.facts[at]
                .parameters
                .iter()
                .map(|parameter| self.placeholders(at, parameter.type_tokens.iter().map(String::as_str)))
                .collect::<Vec<_>>()
        };
        let (one, other) = (types(definition), types(declaration));
        let head = |tokens: &Vec<String>| tokens.iter().find(|token| *token != "const").cloned();
        if one == other {
            Agreement::Types
        } else if one.iter().zip(&other).all(|(one, other)| head(one) == head(other)) {
            Agreement::Heads
        } else {
            Agreement::CountOnly
        }
    }

    /// Tokens with template parameters of the entity and what is around it replaced: their names
    /// may differ between declaration and definition.
    fn placeholders<'t>(&self, at: usize, tokens: impl Iterator<Item = &'t str>) -> Vec<String> {
        let is_parameter = |token: &str| {
            let around = self.tree.outward(at);
            around.into_iter().any(|outer| self.tree.facts[outer].template_names.contains(&token))
        };
        tokens.map(|token| if is_parameter(token) { "$".to_owned() } else { token.to_owned() }).collect()
    }

    /// Static members defined outside their class, and `extern` variables.
    fn match_variables(&self, bound: &mut Vec<(usize, usize)>, edges: &mut EdgeSet) {
        let tree = self.tree;
        let mut groups: BTreeMap<(Option<ClassId>, String), Vec<usize>> = BTreeMap::new();
        let is_variable = |kind| matches!(kind, EntityKind::Variable | EntityKind::Field);
        for at in tree.code_entities().filter(|&at| is_variable(tree.entities[at].kind)) {
            let key = (self.classes.of_member[at], tree.facts[at].qualified());
            groups.entry(key).or_default().push(at);
        }
        for ((class, _), group) in groups {
            let declares = |at: usize| match class {
                Some(_) => {
                    tree.facts[at].around.is_some_and(|around| self.classes.of_record(around).is_some())
                }
                None => !tree.entities[at].is_definition,
            };
            let (declarations, definitions): (Vec<usize>, Vec<usize>) =
                group.iter().partition(|&&at| declares(at));
            for &definition in &definitions {
                for &declaration in &declarations {
                    let (one, other) = (tree.facts[definition].file, tree.facts[declaration].file);
                    let is_sole = definitions.len() == 1 && declarations.len() == 1;
                    if class.is_some() || is_sole || self.closeness(one, other) > Closeness::Unrelated {
                        bound.push((definition, declaration));
                        self.add(definition, declaration, How::EXACT, edges);
                    }
                }
            }
        }
    }

    /// Classes and their forward declarations.
    fn match_records(&self, edges: &mut EdgeSet) {
        for class in &self.classes.all {
            let primary = class.entities[0];
            if !self.tree.entities[primary].is_definition {
                continue;
            }
            for &other in class.entities.iter().filter(|&&at| !self.tree.entities[at].is_definition) {
                self.add(primary, other, How::EXACT, edges);
            }
        }
    }

    fn symbols(&self, bound: &[(usize, usize)]) -> Symbols {
        let count = self.tree.entities.len();
        let mut sets = petgraph::unionfind::UnionFind::new(count);
        for &(definition, declaration) in bound {
            sets.union(definition, declaration);
        }
        let mut grouped: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in 0..count {
            grouped.entry(sets.find(at)).or_default().push(at);
        }
        let mut symbols = Symbols { of: vec![0; count], entities: Vec::new() };
        let mut groups: Vec<Vec<usize>> = grouped.into_values().collect();
        groups.sort();
        for mut group in groups {
            let declared: Vec<usize> = group
                .iter()
                .copied()
                .filter(|&at| !self.tree.entities[at].is_definition)
                .map(|at| self.tree.facts[at].file)
                .collect();
            group.sort_by_key(|&at| {
                let file = self.tree.facts[at].file;
                let closest = declared.iter().map(|&other| self.closeness(file, other)).max();
                (!self.tree.entities[at].is_definition, std::cmp::Reverse(closest), at)
            });
            for &at in &group {
                symbols.of[at] = symbols.entities.len();
            }
            symbols.entities.push(group);
        }
        symbols
    }
}

/// Functions proper; a lambda or test case is its own symbol.
fn is_function(kind: EntityKind) -> bool {
    kind.is_callable() && !matches!(kind, EntityKind::Lambda | EntityKind::TestCase)
}

/// Number of parameters in the last template head, which is the callable's own.
fn own_template_parameters(text: &str) -> usize {
    let heads = text.matches("template").count();
    let last = if heads > 1 { text.rfind("template").unwrap_or(0) } else { 0 };
    crate::names::template_parameter_names(&text[last..]).len()
}
