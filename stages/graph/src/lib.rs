//! Graph stage: what the names in a source tree refer to, and what is central in it.
//!
//! Reads `files`, `entities`, `references` and `locals`; writes `edges`, `modules`, `ranks` and
//! `resolved` (paper 3.2.3). It works on rows alone and must not know where they are kept, how they
//! were parsed or who asks: [`build`] is a pure function, and the same rows give the same graph
//! whatever their order or the number of threads. Bump the stage's revision when the same rows may
//! give another graph.
//!
//! A name is resolved the way the language would as far as text allows: locals, scopes outward with
//! what is opened in them, the type of the object and its bases, the namespaces of arguments, the
//! number and types of arguments. Where that leaves several targets, each is kept as one of a set up
//! to a limit; a name that belongs to another library leads nowhere rather than to a namesake.
//!
//! Besides code, build files are followed as far as needs no configuring, documents are read for what
//! they name, and tests for what they exercise. None of this counts in the ranks: how central code is
//! follows from code alone.

mod calls;
mod classes;
mod cmake;
mod configures;
mod definitions;
mod demands;
mod documents;
mod edges;
mod error;
mod exercised;
mod expansions;
mod fit;
mod groups;
mod includes;
mod instances;
mod locals;
mod lookup;
mod modules;
mod names;
mod outcomes;
mod overloads;
mod pairs;
mod params;
mod ranks;
mod reach;
mod relations;
mod scopes;
mod strangers;
mod syntax;
mod tree;
mod types;
mod uses;
mod values;

use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use almanac_tables::{Edge, Entity, File, Local, Module, Rank, Reference};

pub use error::Error;
pub use outcomes::Outcomes;
pub use params::{GraphParams, RankParams, RankWeights};

use crate::classes::Classes;
use crate::edges::EdgeSet;
use crate::groups::Sight;
use crate::locals::Locals;
use crate::lookup::{Code, Lookup, Names};
use crate::reach::Reach;
use crate::scopes::Scopes;
use crate::tree::Tree;

/// Rounds in which functions with a deduced result may need one another.
const DEDUCTIONS: usize = 2;

/// The rows a graph is built from.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// Files.
    pub files: &'a [File],
    /// Entities, in table order.
    pub entities: &'a [Entity],
    /// References, in table order.
    pub references: &'a [Reference],
    /// Variables inside functions, in table order.
    pub locals: &'a [Local],
}

/// The stage's tables, each in its declared order, and how resolution went.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GraphRows {
    /// Relations between nodes, one per kind, source and target.
    pub edges: Vec<Edge>,
    /// Folders and namespaces.
    pub modules: Vec<Module>,
    /// Centrality of every entity, file and module.
    pub ranks: Vec<Rank>,
    /// References by what became of them.
    pub outcomes: Outcomes,
    /// Candidates looked at while references were resolved: the measure of the work.
    pub visits: u64,
}

/// Builds the graph of a tree from its rows.
pub fn build(sources: Sources<'_>, params: &GraphParams) -> GraphRows {
    let Sources { files, entities, references, locals } = sources;
    let tree = Tree::new(files, entities);
    let mut edges = EdgeSet::default();
    let mut outcomes = Outcomes::default();
    let includes = includes::resolve_includes(&tree, references, params, &mut edges, &mut outcomes);
    let interface_of = pairs::pair_files(&tree, &includes, &mut edges);
    let reach = Reach::new(&tree, &includes, &interface_of);
    let mut classes = Classes::new(&tree, &reach);
    relations::add_ownership(&tree, &classes, &mut edges);
    relations::add_specialisations(&tree, &classes, &mut edges);
    let symbols = definitions::bind_definitions(&tree, &classes, &reach, &interface_of, &mut edges);
    classes.settle_homes(&tree, &symbols);
    let sight = Sight { tree: &tree, reach: &reach, symbols: &symbols };
    let names = Names::new(&tree, &classes, sight);
    let scopes = Scopes::new(&tree, &classes, references, sight);
    let code = Code::new(&tree, &names, references);
    let visits = AtomicU64::new(0);
    let none = Locals::new(&tree, &[], FxHashMap::default());
    let bases = {
        let (tree, reach, classes, symbols) = (&tree, &reach, &classes, &symbols);
        let (names, scopes, locals, code, visits) = (&names, &scopes, &none, &code, &visits);
        let lookup = Lookup { tree, reach, classes, symbols, names, scopes, locals, code, params, visits };
        relations::find_bases(&lookup, references, &mut outcomes)
    };
    relations::add_bases(&tree, &bases, &mut classes, &mut edges);
    classes.settle_lineages();
    classes.settle_selves(&tree);
    let mut known = Locals::new(&tree, locals, FxHashMap::default());
    let rounds = if known.has_results() { DEDUCTIONS } else { 0 };
    for round in 0..=rounds {
        let (tree, reach, classes, symbols) = (&tree, &reach, &classes, &symbols);
        let (names, scopes, locals, code, visits) = (&names, &scopes, &known, &code, &visits);
        let lookup = Lookup { tree, reach, classes, symbols, names, scopes, locals, code, params, visits };
        lookup.type_locals();
        if round < rounds {
            let results = lookup.deduced_results();
            known = known.again(results);
        }
    }
    let (tree, reach, classes, symbols) = (&tree, &reach, &classes, &symbols);
    let (names, scopes, locals, code) = (&names, &scopes, &known, &code);
    let lookup =
        Lookup { tree, reach, classes, symbols, names, scopes, locals, code, params, visits: &visits };
    relations::add_overrides(&lookup, &mut edges);
    uses::add_uses(&lookup, references, &mut edges, &mut outcomes);
    uses::add_aliases(&lookup, &mut edges);
    let made = cmake::follow_builds(tree, references, &mut edges);
    configures::add_guards(tree, references, &made, &mut edges);
    documents::add_documents(&lookup, references, &mut edges, &mut outcomes);
    exercised::add_tests(&lookup, &interface_of, &made.tested, &mut edges);
    let edges = edges.into_rows(tree);
    let modules = modules::modules(tree);
    let ranks = ranks::rank_nodes(files, entities, &modules, &edges, &params.rank);
    GraphRows { edges, modules, ranks, outcomes, visits: visits.load(Ordering::Relaxed) }
}
