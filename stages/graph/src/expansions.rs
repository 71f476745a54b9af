//! Macros, and the calls that using one makes.
//!
//! A body belongs to its macro, but what its names mean depends on where the macro is used and on
//! what it is given: each use resolves the body anew, with the arguments in place of the parameters.

use rustc_hash::FxHashMap;

use almanac_tables::{EntityKind, Reference, ReferenceKind, Resolution};

use crate::calls::Answer;
use crate::lookup::{Lookup, Names, Place};
use crate::overloads::Callee;
use crate::syntax::Expression;
use crate::tree::Tree;

/// Macros inside macros that are followed.
const DEEPEST: usize = 4;
/// References of bodies that one use leads to.
const MOST_REFERENCES: usize = 64;
/// Longest argument that is put in; what is longer is not known.
const LONGEST_ARGUMENT: usize = 400;
/// Arguments of a macro whose body ends with a name: those it is given.
const SAME_ARGUMENTS: &str = "...";

/// What the bodies of macros refer to, by the first macro of that name in a file: another one stands
/// in another branch of a conditional.
#[derive(Debug, Default)]
pub(crate) struct MacroBodies<'a>(FxHashMap<usize, Vec<&'a Reference>>);

impl<'a> MacroBodies<'a> {
    pub(crate) fn new(tree: &Tree<'_>, names: &Names, references: &'a [Reference]) -> Self {
        let mut bodies: FxHashMap<usize, Vec<&'a Reference>> = FxHashMap::default();
        for reference in references.iter().filter(|reference| !reference.entity_id.is_empty()) {
            use ReferenceKind::{Call, Construct, Launch};
            let is_call = matches!(reference.kind, Call | Construct | Launch);
            let owner = tree.entity(&reference.entity_id).filter(|_| is_call);
            if let Some(owner) = owner.filter(|&owner| tree.entities[owner].kind == EntityKind::Macro) {
                let facts = &tree.facts[owner];
                let namesakes = names.macros.get(&facts.name).map_or(&[][..], |group| group.all());
                let first = namesakes.iter().find(|&&at| tree.facts[at].file == facts.file);
                bodies.entry(first.copied().unwrap_or(owner)).or_default().push(reference);
            }
        }
        Self(bodies)
    }

    fn of(&self, at: usize) -> &[&'a Reference] {
        self.0.get(&at).map_or(&[], Vec::as_slice)
    }
}

/// A call that stands in the body of a macro.
pub(crate) struct Expansion<'a> {
    /// The macro.
    pub(crate) owner: usize,
    /// The call as the body has it.
    pub(crate) reference: &'a Reference,
    /// What it means in one use.
    pub(crate) answer: Answer<'a>,
}

/// What one use of a macro puts in place of its parameters.
struct Values<'v> {
    parameters: Vec<&'v str>,
    /// Arguments of the use; `None` when they are not known.
    arguments: Option<Vec<&'v str>>,
    /// The same in one text.
    list: &'v str,
    count: u32,
}

impl<'v> Values<'v> {
    /// `given` is the use, with its own arguments put in; none for a macro used as a constant.
    fn new(parameters: &'v str, given: &'v Reference) -> Self {
        let is_call = given.kind != ReferenceKind::Expand;
        let list = given.argument_list.as_str();
        let arguments = Some(Expression::texts(list));
        let arguments = arguments.filter(|found| is_call && found.len() == given.arguments as usize);
        let parameters = parameters.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        Self { parameters, arguments, list, count: given.arguments }
    }

    fn of(&self, word: &str) -> Option<String> {
        let at = self.parameters.iter().position(|parameter| {
            let open = parameter.strip_suffix("...").map(str::trim_end);
            *parameter == word || open.is_some_and(|name| name == word || word == "__VA_ARGS__")
        })?;
        let is_open = self.parameters[at].ends_with("...");
        let text = match (&self.arguments, is_open) {
            (None, _) => "?".to_owned(),
            (Some(arguments), false) => arguments.get(at).copied().unwrap_or("?").to_owned(),
            (Some(arguments), true) => arguments.get(at..).unwrap_or_default().join(", "),
        };
        Some(if text.len() > LONGEST_ARGUMENT { "?".to_owned() } else { text })
    }

    /// A text of the body with arguments in place of parameters; what is quoted stays.
    fn put_into(&self, text: &str) -> String {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let length = match c {
                '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
                _ if is_word(c) => rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()),
                _ => c.len_utf8(),
            };
            let (part, after) = rest.split_at(length);
            match self.of(part).filter(|_| is_word(c)) {
                Some(value) => out.push_str(&value),
                None => out.push_str(part),
            }
            rest = after;
        }
        out
    }

    /// A call of the body as this use makes it.
    fn put_in(&self, body: &Reference) -> Reference {
        let mut call = body.clone();
        if body.argument_list == SAME_ARGUMENTS {
            call.argument_list = self.list.to_owned();
            call.arguments = self.count;
            return call;
        }
        if self.parameters.is_empty() {
            return call;
        }
        call.receiver = self.put_into(&body.receiver);
        call.written = self.put_into(&body.written);
        if call.written != body.written {
            call.name = call.written.rsplit("::").next().unwrap_or(&call.written).to_owned();
        }
        call.argument_list = self.put_into(&body.argument_list);
        // `...` may stand for any number.
        if self.parameters.last().is_some_and(|last| last.ends_with("...")) && self.arguments.is_some() {
            call.arguments = Expression::texts(&call.argument_list).len() as u32;
        }
        call
    }
}

impl<'a> Lookup<'a> {
    /// A macro the file sees.
    pub(crate) fn macro_named(&self, name: &str, place: &Place<'a>) -> Option<Answer<'a>> {
        let group = self.names.macros.get(name)?;
        let mut visits = 0;
        let mut visible: Vec<usize> =
            match group.all().iter().find(|&&at| self.tree.facts[at].file == place.file) {
                Some(&at) => vec![at],
                None => {
                    let meant = group.meant(self.sight(), place.file, &mut visits);
                    meant.into_iter().filter(|&at| self.sight().is_visible(at, place.file)).collect()
                }
            };
        self.visited(visits);
        // A file that defines a macro twice does so in two branches of a conditional.
        visible.dedup_by_key(|at| self.tree.facts[*at].file);
        let callees: Vec<Callee<'a>> = visible.into_iter().map(|at| Callee { at, bindings: None }).collect();
        (!callees.is_empty()).then(|| Answer::found(callees, Resolution::Exact))
    }

    /// Whether an entity is a macro.
    pub(crate) fn is_macro(&self, at: usize) -> bool {
        self.tree.entities[at].kind == EntityKind::Macro
    }

    /// The macros that an answer leads to.
    pub(crate) fn macros_among(&self, answer: &Answer<'a>) -> Vec<usize> {
        let Answer::Found { callees, .. } = answer else { return Vec::new() };
        callees.iter().map(|callee| callee.at).filter(|&at| self.is_macro(at)).collect()
    }

    /// Calls that a use of macros makes: those in their bodies, and in the macros these use.
    pub(crate) fn expansions(&self, reference: &'a Reference, macros: &[usize]) -> Vec<Expansion<'a>> {
        let mut found = Vec::new();
        let is_empty = macros.iter().all(|&at| self.code.macro_bodies.of(at).is_empty());
        let Some(file) = self.tree.file(&reference.path).filter(|_| !is_empty) else { return found };
        let place = self.place_in(file, self.tree.entity(&reference.entity_id), reference.start_byte);
        for &at in macros {
            self.follow(at, reference, &place, 0, &mut found);
        }
        found
    }

    fn follow(
        &self,
        at: usize,
        given: &Reference,
        place: &Place<'a>,
        depth: usize,
        found: &mut Vec<Expansion<'a>>,
    ) {
        let values = Values::new(&self.tree.entities[at].parameters, given);
        for &body in self.code.macro_bodies.of(at) {
            if found.len() >= MOST_REFERENCES {
                return;
            }
            let is_constant = body.argument_list == SAME_ARGUMENTS && given.kind == ReferenceKind::Expand;
            if is_constant {
                continue;
            }
            let call = values.put_in(body);
            let answer = self.resolve_at(&call, place);
            let nested = self.macros_among(&answer);
            found.push(Expansion { owner: at, reference: body, answer });
            for inner in nested.into_iter().filter(|&inner| inner != at && depth < DEEPEST) {
                self.follow(inner, &call, place, depth + 1, found);
            }
        }
    }
}
