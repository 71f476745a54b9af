//! The edges that references in the code make: calls, launches, constructions, types, macros.

use almanac_tables::{EdgeKind, EntityKind, Reference, ReferenceKind, ReferenceOutcome, Resolution};
use rayon::prelude::*;

use crate::calls::Answer;
use crate::edges::{EdgeSet, How, Node, Spot};
use crate::expansions::Expansion;
use crate::lookup::{Lookup, Place};
use crate::outcomes::Outcomes;
use crate::overloads::Callee;
use crate::syntax::{Expression, PathText, TypeText, Written};
use crate::tree::Tree;
use crate::types::{Base, Ty};

/// What a reference leads to.
enum Use<'a> {
    /// A call, what a launch runs, and what is called in the macros that it expands.
    Call(Answer<'a>, Vec<usize>, Vec<Expansion<'a>>),
    /// A type, or the alias that names it.
    Type(Result<usize, ReferenceOutcome>),
    /// A macro used without arguments, and what is called in it.
    Macro(Vec<usize>, Vec<Expansion<'a>>),
}

/// Resolves the references of code and adds their edges.
pub(crate) fn add_uses(
    lookup: &Lookup<'_>,
    references: &[Reference],
    edges: &mut EdgeSet,
    outcomes: &mut Outcomes,
) {
    let wanted: Vec<&Reference> = references
        .iter()
        .filter(|reference| {
            use ReferenceKind::{Call, Construct, Expand, Launch, Type};
            let is_code = matches!(reference.kind, Call | Launch | Construct | Type | Expand);
            // What the body of a macro names is meant where the macro is used.
            let owner = lookup.tree.entity(&reference.entity_id);
            is_code && !owner.is_some_and(|owner| lookup.is_macro(owner))
        })
        .collect();
    let uses: Vec<Use<'_>> = wanted.par_iter().map(|reference| lookup.use_of(reference)).collect();
    for (reference, one) in wanted.into_iter().zip(uses) {
        let Some(source) = source_of(lookup.tree, reference) else { continue };
        let spot =
            Spot { file: lookup.tree.file(&reference.path).unwrap_or(usize::MAX), line: reference.line };
        let mut user = User { lookup, reference, source, spot, edges };
        let outcome = match one {
            Use::Call(answer, launched, expansions) => {
                user.add_expansions(expansions);
                user.add_call(answer, &launched)
            }
            Use::Type(Ok(target)) => {
                user.add(EdgeKind::UsesType, target, How::EXACT);
                ReferenceOutcome::Exact
            }
            Use::Type(Err(outcome)) => outcome,
            // Other names in capitals are constants.
            Use::Macro(found, expansions) => {
                user.add_expansions(expansions);
                let how = How::one_of(found.len(), Resolution::Exact, 1.0);
                found.into_iter().for_each(|target| user.add(EdgeKind::Expands, target, how));
                continue;
            }
        };
        outcomes.count(reference.kind, outcome);
    }
}

/// The entity a reference stands in, or its file.
fn source_of(tree: &Tree<'_>, reference: &Reference) -> Option<Node> {
    match tree.entity(&reference.entity_id) {
        Some(at) => Some(Node::Entity(at)),
        None => tree.file(&reference.path).map(Node::File),
    }
}

impl<'a> Lookup<'a> {
    fn use_of(&self, reference: &'a Reference) -> Use<'a> {
        match reference.kind {
            ReferenceKind::Type => Use::Type(self.type_named(reference)),
            ReferenceKind::Expand => {
                let found = self.macro_used(reference);
                let expansions = self.expansions(reference, &found);
                Use::Macro(found, expansions)
            }
            ReferenceKind::Launch => Use::Call(self.resolve(reference), self.launched(reference), Vec::new()),
            _ => {
                let answer = self.resolve(reference);
                let expansions = self.expansions(reference, &self.macros_among(&answer));
                Use::Call(answer, Vec::new(), expansions)
            }
        }
    }

    fn reference_place(&self, reference: &Reference) -> Option<Place<'a>> {
        let file = self.tree.file(&reference.path)?;
        Some(self.place_in(file, self.tree.entity(&reference.entity_id), reference.start_byte))
    }

    /// The class, enumeration or alias that a type reference names.
    fn type_named(&self, reference: &'a Reference) -> Result<usize, ReferenceOutcome> {
        let place = self.reference_place(reference).ok_or(ReferenceOutcome::Unresolved)?;
        let text = TypeText::read(&reference.written);
        let Written::Named(path) = &text.base else { return Err(ReferenceOutcome::External) };
        if let Some(alias) = self.alias_named(path, &place) {
            return Ok(alias);
        }
        let is_self = |at: usize| self.tree.entity(&reference.entity_id) == Some(at);
        match self.type_of(&text, &place, 0).base {
            Base::Class(one) if !is_self(self.named_record(&one)) => Ok(self.named_record(&one)),
            Base::Enum(at) if !is_self(at) => Ok(at),
            Base::Class(..) | Base::Enum(_) => Err(ReferenceOutcome::Exact),
            Base::External(..) | Base::Builtin(_) => Err(ReferenceOutcome::External),
            Base::Parameter(_) => Err(ReferenceOutcome::Dynamic),
            _ => Err(ReferenceOutcome::Unresolved),
        }
    }

    /// An alias in the scopes around, by its single name.
    fn alias_named(&self, path: &PathText<'_>, place: &Place<'a>) -> Option<usize> {
        let [part] = path.parts.as_slice() else { return None };
        let is_alias =
            |at: &usize| self.tree.entities[*at].kind == EntityKind::Alias && place.entity != Some(*at);
        for scope in self.scopes.chain(place.scope) {
            for face in self.faces(scope, place.file) {
                let Some(entry) = self.scopes.declared(face, part.name) else { continue };
                if !entry.classes.is_empty() {
                    return None;
                }
                let aliases: Vec<usize> = entry.types.iter().copied().filter(is_alias).collect();
                let meant = self.sight().meant(&aliases, place.file);
                if let Some(&at) = meant.first() {
                    return Some(at);
                }
            }
        }
        None
    }

    fn macro_used(&self, reference: &'a Reference) -> Vec<usize> {
        let found =
            self.reference_place(reference).and_then(|place| self.macro_named(&reference.name, &place));
        match found {
            Some(Answer::Found { callees, .. }) => callees.into_iter().map(|callee| callee.at).collect(),
            _ => Vec::new(),
        }
    }

    /// What a launch runs: the named lambda, or the call operator of the object, that follows the range
    /// or policy it is given first.
    fn launched(&self, reference: &'a Reference) -> Vec<usize> {
        let Some(place) = self.reference_place(reference) else { return Vec::new() };
        let list = Expression::read_list(&reference.argument_list);
        let mut found: Vec<usize> = Vec::new();
        let is_text = |one: &&Expression<'_>| matches!(one, Expression::Literal(_, true));
        for argument in list.iter().skip_while(is_text).skip(1).take(1) {
            let ty = self.value_of(argument, &place, 0);
            match &ty.base {
                Base::Function(at) => found.push(self.symbols.with(*at)[0]),
                Base::Class(instance) if ty.pointers == 0 => {
                    let members = self.members_called(instance, "operator()", 0);
                    found.extend(
                        members.into_iter().map(|callee: Callee<'a>| self.symbols.with(callee.at)[0]),
                    );
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Adds the edges of one reference.
struct User<'u, 'a> {
    lookup: &'u Lookup<'a>,
    reference: &'u Reference,
    source: Node,
    spot: Spot,
    edges: &'u mut EdgeSet,
}

impl User<'_, '_> {
    fn add(&mut self, kind: EdgeKind, target: usize, how: How) {
        self.edges.add(kind, self.source.clone(), Node::Entity(target), how, self.spot);
    }

    /// Calls in the bodies of macros: they start from the macro.
    fn add_expansions(&mut self, expansions: Vec<Expansion<'_>>) {
        for Expansion { owner, reference, answer } in expansions {
            let spot = Spot { file: self.lookup.tree.facts[owner].file, line: reference.line };
            let (lookup, edges) = (self.lookup, &mut *self.edges);
            let mut user = User { lookup, reference, source: Node::Entity(owner), spot, edges };
            user.add_call(answer, &[]);
        }
    }

    fn add_call(&mut self, answer: Answer<'_>, launched: &[usize]) -> ReferenceOutcome {
        let is_launch = self.reference.kind == ReferenceKind::Launch;
        if is_launch {
            self.add_launch(&answer, launched);
        }
        match answer {
            Answer::Found { callees, resolution, confidence, made } => {
                if let Some(instance) = made.as_ref().and_then(Ty::instance) {
                    self.add(EdgeKind::Instantiates, self.lookup.named_record(instance), How::EXACT);
                }
                if callees.len() > self.lookup.params.max_candidates as usize {
                    return ReferenceOutcome::TooMany;
                }
                let how = How::one_of(callees.len(), resolution, confidence);
                for callee in callees {
                    let kind =
                        if self.lookup.is_macro(callee.at) { EdgeKind::Expands } else { EdgeKind::Calls };
                    self.add(kind, callee.at, how);
                }
                ReferenceOutcome::from_resolution(how.resolution)
            }
            Answer::Made(ty) => match ty.instance() {
                Some(instance) => {
                    self.add(EdgeKind::Instantiates, self.lookup.named_record(instance), How::EXACT);
                    ReferenceOutcome::Exact
                }
                None => ReferenceOutcome::External,
            },
            Answer::TooMany => ReferenceOutcome::TooMany,
            Answer::External => ReferenceOutcome::External,
            Answer::Dynamic => ReferenceOutcome::Dynamic,
            Answer::Unresolved => ReferenceOutcome::Unresolved,
        }
    }

    /// A kernel that is started, what is handed over to be run, or else the function itself, which
    /// holds the lambda that is.
    fn add_launch(&mut self, answer: &Answer<'_>, launched: &[usize]) {
        let list = Expression::read_list(&self.reference.argument_list);
        let has_lambda = list.contains(&Expression::Lambda);
        let label = label_of(&self.reference.argument_list);
        let mut targets: Vec<Node> = launched.iter().map(|&at| Node::Entity(at)).collect();
        if has_lambda {
            targets.push(self.source.clone());
        }
        if targets.is_empty()
            && let Answer::Found { callees, .. } = answer
        {
            targets.extend(callees.iter().map(|callee| Node::Entity(callee.at)));
        }
        for target in targets {
            let source = self.source.clone();
            self.edges.add_labelled(EdgeKind::Launches, source, target, How::EXACT, self.spot, label);
        }
    }
}

/// The text that a launch is given first.
fn label_of(arguments: &str) -> &str {
    arguments.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next()).unwrap_or("")
}

/// What aliases stand for.
pub(crate) fn add_aliases(lookup: &Lookup<'_>, edges: &mut EdgeSet) {
    let tree = lookup.tree;
    for at in tree.code_entities().filter(|&at| tree.entities[at].kind == EntityKind::Alias) {
        let ty = lookup.type_of(&tree.facts[at].type_text, &lookup.place_of(at), 0);
        let target = match ty.base {
            Base::Class(one) => lookup.named_record(&one),
            Base::Enum(target) => target,
            _ => continue,
        };
        let spot = crate::relations::spot_of(tree, at);
        edges.add(EdgeKind::Aliases, Node::Entity(at), Node::Entity(target), How::EXACT, spot);
    }
}
