//! Members by their name alone, where the type of an object is not known.

use std::collections::{BTreeMap, HashSet};

use almanac_tables::Resolution;

use crate::calls::Answer;
use crate::classes::{ClassId, Classes};
use crate::groups::{Group, MOST, Sight};
use crate::lookup::Lookup;
use crate::names::tokens;
use crate::overloads::Callee;

/// Shortest class name that is recognised inside the name of an object.
const LEAST_HINT: usize = 4;

/// Member functions of one name.
#[derive(Debug, Default)]
pub(crate) struct Methods {
    /// One entity for each symbol.
    all: Group,
    by_class: BTreeMap<ClassId, Vec<usize>>,
}

impl Methods {
    pub(crate) fn new(found: &[usize], classes: &Classes<'_>, sight: Sight<'_>) -> Self {
        let mut methods = Self::default();
        let mut seen = HashSet::new();
        for &at in found {
            let symbol = sight.symbols.of[at];
            if seen.insert(symbol) {
                let at = sight.symbols.canonical(symbol);
                methods.all.push(at);
                if let Some(class) = classes.of_member[at] {
                    methods.by_class.entry(class).or_default().push(at);
                }
            }
        }
        methods.all.finish(sight);
        methods
    }
}

impl<'a> Lookup<'a> {
    /// Members that a call on an object of unknown type may mean; never a free function, never a name
    /// that containers have. `words` are names that may tell the class.
    pub(crate) fn member_by_name(
        &self,
        name: &str,
        arguments: Option<usize>,
        file: usize,
        words: &str,
    ) -> Answer<'a> {
        let is_common = self.params.external_members.iter().any(|member| member == name);
        let Some(methods) = self.names.methods.get(name) else {
            return if is_common { Answer::External } else { Answer::Unresolved };
        };
        let takes = |at: &usize| self.accepts(self.symbols.of[*at], arguments);
        let hinted = self.classes.hinted(words, LEAST_HINT);
        let named: Vec<usize> = hinted
            .iter()
            .filter_map(|class| methods.by_class.get(class))
            .flatten()
            .copied()
            .filter(takes)
            .collect();
        self.visited(named.len() as u64);
        // Visibility chooses among those that take the call: templates call what they never include.
        let mut found = match named.is_empty() {
            false => self.sight().meant(&named, file),
            true => Vec::new(),
        };
        if found.is_empty() && is_common {
            // Any container may be meant.
            return Answer::External;
        }
        if found.is_empty() {
            let mut visits = 0;
            found = self.takers(methods, file, &takes, &mut visits);
            self.visited(visits);
        }
        found.sort_unstable();
        if found.len() > MOST {
            return Answer::TooMany;
        }
        let targets = self.without_overriders(found);
        let callees = targets.into_iter().map(|at| Callee { at, bindings: None }).collect();
        Answer::found(callees, Resolution::Name)
    }

    fn takers(
        &self,
        methods: &Methods,
        file: usize,
        takes: &impl Fn(&usize) -> bool,
        visits: &mut u64,
    ) -> Vec<usize> {
        if methods.all.is_long() {
            let meant = methods.all.meant(self.sight(), file, visits);
            return meant.into_iter().filter(takes).collect();
        }
        *visits += methods.all.all().len() as u64;
        let takers: Vec<usize> = methods.all.all().iter().copied().filter(takes).collect();
        self.sight().meant(&takers, file)
    }

    /// A call that may mean a virtual member means that one rather than what overrides it.
    fn without_overriders(&self, found: Vec<usize>) -> Vec<usize> {
        let class = |at: usize| self.classes.of_member[at];
        let virtuals: HashSet<ClassId> =
            found.iter().copied().filter(|&at| self.is_virtual(at)).filter_map(class).collect();
        let overrides = |one: usize| {
            class(one).is_some_and(|derived| {
                self.classes.with_bases(derived)[1..].iter().any(|base| virtuals.contains(base))
            })
        };
        found.iter().copied().filter(|&one| !overrides(one)).collect()
    }

    /// Whether a member function says that it is virtual.
    pub(crate) fn is_virtual(&self, at: usize) -> bool {
        self.symbols.with(at).iter().any(|&one| {
            let words = tokens(&self.tree.entities[one].signature);
            words.contains(&"virtual") || words.contains(&"override")
        })
    }
}
