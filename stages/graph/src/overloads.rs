//! Which of several functions of one name a call can mean.

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
        let mut symbols: Vec<usize> = Vec::new();
        for &at in found {
            let symbol = self.symbols.of[at];
            if !symbols.contains(&symbol) && self.accepts(symbol, wanted.arguments) {
                symbols.push(symbol);
            }
        }
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
        let facts = |symbol: usize| &self.tree.facts[self.symbols.canonical(symbol)];
        let is_defined = |symbol: usize| self.tree.entities[self.symbols.canonical(symbol)].is_definition;
        let is_same = |one: usize, other: usize| {
            self.classes.of_member[self.symbols.canonical(one)]
                == self.classes.of_member[self.symbols.canonical(other)]
                && facts(one).is_const == facts(other).is_const
                && facts(one).parameters.len() == facts(other).parameters.len()
                && self.symbols.entities[other].len() == 1
        };
        let all = symbols.clone();
        symbols.retain(|&one| {
            is_defined(one) || !all.iter().any(|&other| is_defined(other) && is_same(one, other))
        });
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
