//! Graph stage: what the names in a source tree refer to, and what is central in it.
//!
//! Reads `files`, `entities` and `references`; writes `edges`, `modules` and `ranks` (paper 3.2.3).
//! It works on rows alone and must not know where they are kept, how they were parsed or who asks:
//! [`build`] is a pure function, and the same rows give the same graph whatever their order or the
//! number of threads. Bump the stage's revision when the same rows may give another graph.
//!
//! A name is resolved the way the language would as far as text allows: scopes outward, receiver
//! type, bases, includes. Where that leaves several targets, each is kept as ambiguous up to a
//! limit; a name that belongs to another library leads nowhere rather than to a namesake.

mod calls;
mod classes;
mod definitions;
mod edges;
mod error;
mod includes;
mod lookup;
mod modules;
mod names;
mod overloads;
mod pairs;
mod params;
mod ranks;
mod reach;
mod receivers;
mod relations;
mod tree;
mod types;

use almanac_tables::{Edge, Entity, File, Module, Rank, Reference, Resolution};

pub use error::Error;
pub use params::{GraphParams, RankParams, RankWeights};

use crate::classes::Classes;
use crate::edges::EdgeSet;
use crate::lookup::{Lookup, Names};
use crate::reach::Reach;
use crate::tree::Tree;

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
    pub counts: GraphCounts,
}

/// References by kind and by what became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GraphCounts {
    /// Includes.
    pub includes: TargetCounts,
    /// Calls and launches.
    pub calls: TargetCounts,
    /// Base classes.
    pub bases: TargetCounts,
}

/// How many references ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TargetCounts {
    /// One target by qualified name or path.
    pub exact: u64,
    /// One target by scope, receiver or reachability.
    pub scoped: u64,
    /// The only target of that name.
    pub unique: u64,
    /// Several targets, all kept.
    pub ambiguous: u64,
    /// More targets than are kept; no edge.
    pub too_many: u64,
    /// Belongs to another library; no edge.
    pub external: u64,
    /// Nothing in the tree answers to the name; no edge.
    pub unresolved: u64,
}

impl TargetCounts {
    fn add(&mut self, resolution: Resolution) {
        match resolution {
            Resolution::Exact => self.exact += 1,
            Resolution::Scoped => self.scoped += 1,
            Resolution::Unique => self.unique += 1,
            Resolution::Ambiguous => self.ambiguous += 1,
        }
    }

    /// All references of the kind.
    pub fn total(&self) -> u64 {
        let Self { exact, scoped, unique, ambiguous, too_many, external, unresolved } = *self;
        exact + scoped + unique + ambiguous + too_many + external + unresolved
    }
}

/// Builds the graph of a tree from its rows.
pub fn build(
    files: &[File],
    entities: &[Entity],
    references: &[Reference],
    params: &GraphParams,
) -> GraphRows {
    let tree = Tree::new(files, entities);
    let mut edges = EdgeSet::default();
    let mut counts = GraphCounts::default();
    let includes = includes::resolve_includes(&tree, references, params, &mut edges, &mut counts.includes);
    let interface_of = pairs::pair_files(&tree, &includes, &mut edges);
    let reach = Reach::new(&tree, &includes, &interface_of);
    let mut classes = Classes::new(&tree, &reach);
    relations::add_ownership(&tree, &classes, &mut edges);
    let symbols = definitions::bind_definitions(&tree, &classes, &reach, &interface_of, &mut edges);
    let names = Names::new(&tree, &classes);
    let bases = {
        let (tree, reach, classes, symbols, names) = (&tree, &reach, &classes, &symbols, &names);
        let lookup = Lookup { tree, reach, classes, symbols, names, params };
        relations::find_bases(&lookup, &mut counts.bases)
    };
    relations::add_bases(&tree, &bases, &mut classes, &mut edges);
    let (tree, reach, classes, symbols, names) = (&tree, &reach, &classes, &symbols, &names);
    let lookup = Lookup { tree, reach, classes, symbols, names, params };
    relations::add_calls(&lookup, references, &mut edges, &mut counts.calls);
    let edges = edges.into_rows();
    let modules = modules::modules(tree);
    let ranks = ranks::rank_nodes(files, entities, &modules, &edges, &params.rank);
    GraphRows { edges, modules, ranks, counts }
}
