//! A few files of C++ and the graph of them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use almanac_freshness::tree::TreeRules;
use almanac_graph::{GraphParams, GraphRows, Sources, build};
use almanac_parse::{ParseInput, ParseParams, ParseRun, ReadSettings, parse_all};
use almanac_tables::{Edge, EdgeKind, Entity, File, Local, Reference};

/// The rows of some files, and their graph.
pub(crate) struct Graph {
    pub(crate) entities: BTreeMap<String, Entity>,
    pub(crate) rows: GraphRows,
}

impl Graph {
    pub(crate) fn read(inputs: Vec<ParseInput>) -> Self {
        let tree = TreeRules { max_file_bytes: 1 << 20, ignore: Vec::new(), include_hidden: true };
        let params = ParseParams { max_chunk_size: 1000, max_file_steps: 100_000_000, tree };
        let run = ParseRun { threads: 1 };
        let interrupted = AtomicBool::new(false);
        let settings = ReadSettings { params: &params, run, interrupted: &interrupted };
        let parsed = parse_all(&inputs, settings).expect("threads");
        let (mut files, mut entities) = (Vec::<File>::new(), Vec::<Entity>::new());
        let (mut references, mut locals) = (Vec::<Reference>::new(), Vec::<Local>::new());
        for one in parsed {
            files.push(one.file);
            entities.extend(one.entities);
            references.extend(one.references);
            locals.extend(one.locals);
        }
        let sources =
            Sources { files: &files, entities: &entities, references: &references, locals: &locals };
        let rows = build(sources, &params_of_defaults());
        let entities = entities.into_iter().map(|entity| (entity.id.clone(), entity)).collect();
        Self { entities, rows }
    }

    /// Edges of a kind.
    pub(crate) fn edges(&self, kind: EdgeKind) -> impl Iterator<Item = &Edge> {
        self.rows.edges.iter().filter(move |edge| edge.kind == kind)
    }

    /// Qualified name of an entity, or the node as it is.
    pub(crate) fn name<'g>(&'g self, node: &'g str) -> &'g str {
        self.entities.get(node).map_or(node, |entity| entity.qualified_name.as_str())
    }
}

fn params_of_defaults() -> GraphParams {
    let defaults: toml::Table = include_str!("../../config/defaults.toml").parse().expect("valid TOML");
    defaults["graph"]["params"].clone().try_into().expect("the settings of the stage")
}
