//! Which of several functions of one name a call can mean.
//!
//! A name such as `initialize` may stand in every file: nothing here compares pairs of functions.

use std::collections::HashSet;

use almanac_tables::EntityKind;

use crate::lookup::Lookup;

/// What a call shows of the function it wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// Number of arguments; `None` when it is not known.
    pub(crate) arguments: Option<usize>,
    /// Whether the object called on is `const`; `None` when that is not known.
    pub(crate) is_const: Option<bool>,
}

impl Lookup<'_> {
    /// Symbols among `found` that take the call, each once, in order.
    pub(crate) fn overloads(&self, found: &[usize], wanted: Wanted) -> Vec<usize> {
        let mut seen: HashSet<usize> = HashSet::with_capacity(found.len());
        let mut symbols: Vec<usize> = found.iter().map(|&at| self.symbols.of[at]).collect();
        symbols.retain(|&symbol| seen.insert(symbol) && self.accepts(symbol, wanted.arguments));
        self.drop_lone_declarations(&mut symbols);
        self.prefer_constness(&mut symbols, wanted.is_const);
        symbols
    }

    /// Whether any entity of the symbol takes that many arguments. Only declarations know defaults.
    fn accepts(&self, symbol: usize, arguments: Option<usize>) -> bool {
        let Some(arguments) = arguments else { return true };
        self.symbols.entities[symbol].iter().any(|&at| {
            if self.tree.entities[at].kind == EntityKind::Macro {
                return true;
            }
            let parameters = &self.tree.facts[at].parameters;
            let is_open = parameters.iter().any(|parameter| parameter.is_pack);
            let optional = |parameter: &&crate::names::Parameter| parameter.has_default || parameter.is_pack;
            let least = parameters.len() - parameters.iter().filter(optional).count();
            least <= arguments && (is_open || arguments <= parameters.len())
        })
    }

    /// A declaration without definition steps back where an overload of equal length has one: most
    /// likely it is the same function, spelt in a way that could not be matched.
    fn drop_lone_declarations(&self, symbols: &mut Vec<usize>) {
        let is_defined = |symbol: usize| self.tree.entities[self.symbols.canonical(symbol)].is_definition;
        let shape = |symbol: usize| {
            let at = self.symbols.canonical(symbol);
            let facts = &self.tree.facts[at];
            (self.classes.of_member[at], facts.is_const, facts.parameters.len())
        };
        let is_lone = |symbol: usize| is_defined(symbol) && self.symbols.entities[symbol].len() == 1;
        let lone: HashSet<_> = symbols.iter().copied().filter(|&one| is_lone(one)).map(shape).collect();
        symbols.retain(|&one| is_defined(one) || !lone.contains(&shape(one)));
    }

    /// On a `const` object only `const` members; on another the others first, as the language has it.
    fn prefer_constness(&self, symbols: &mut Vec<usize>, is_const: Option<bool>) {
        let Some(wanted) = is_const else { return };
        let fits = |symbol: &usize| self.tree.facts[self.symbols.canonical(*symbol)].is_const == wanted;
        if symbols.iter().any(fits) {
            symbols.retain(fits);
        }
    }
}
