//! Look-ups by name, built when the store is opened.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use almanac_tables::{EdgeKind, EntityKind, EntityLevel};

use crate::{Tables, Unit, UnitSource};

/// Share of the scoped code from which a namespace is the project's own.
const ROOT_SHARE: f64 = 0.25;

/// Places by name. Lists are in table order; names are compared as said at each look-up.
pub(crate) struct Names {
    /// Lower-case file name with extension.
    pub(crate) files_by_name: HashMap<String, Vec<usize>>,
    /// Lower-case file name without extension.
    pub(crate) files_by_stem: HashMap<String, Vec<usize>>,
    /// Unqualified name, case kept.
    pub(crate) entities_by_name: HashMap<String, Vec<usize>>,
    /// Entity id.
    pub(crate) entities_by_id: HashMap<String, usize>,
    /// Lower-case full name and lower-case last component.
    pub(crate) modules_by_name: HashMap<String, Vec<usize>>,
    /// Chunks of a subject, in part order.
    pub(crate) chunks_by_subject: HashMap<String, Vec<usize>>,
    /// File-level chunks by place of their file.
    pub(crate) file_chunks: HashMap<usize, Vec<usize>>,
    /// Entities of each file, as a range of the entities table.
    pub(crate) entities_of_file: Vec<Range<usize>>,
    /// Innermost entity around each entity, namespaces left out.
    pub(crate) enclosing: Vec<Option<usize>>,
    /// Unit of each row that has one.
    pub(crate) units: HashMap<UnitSource, usize>,
    /// Edges by source node.
    pub(crate) edges_from: HashMap<String, Vec<usize>>,
    /// Edges by target node.
    pub(crate) edges_to: HashMap<String, Vec<usize>>,
    /// Lower-case outermost scopes that hold a large share of the code.
    pub(crate) root_scopes: BTreeSet<String>,
}

/// File name without its last extension.
pub(crate) fn stem(file_name: &str) -> &str {
    match file_name.rfind('.') {
        Some(dot) if dot > 0 => &file_name[..dot],
        _ => file_name,
    }
}

/// Last component of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Names {
    pub(crate) fn new(tables: &Tables, units: &[Unit]) -> Self {
        let mut files_by_name: HashMap<String, Vec<usize>> = HashMap::new();
        let mut files_by_stem: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, file) in tables.files.iter().enumerate() {
            let name = file_name(&file.path).to_lowercase();
            files_by_stem.entry(stem(&name).to_owned()).or_default().push(at);
            files_by_name.entry(name).or_default().push(at);
        }
        let mut entities_by_name: HashMap<String, Vec<usize>> = HashMap::new();
        let mut entities_by_id = HashMap::new();
        for (at, entity) in tables.entities.iter().enumerate() {
            entities_by_id.insert(entity.id.clone(), at);
            if !entity.kind.is_document() {
                entities_by_name.entry(entity.name.clone()).or_default().push(at);
            }
        }
        let (edges_from, edges_to) = edges(tables);
        Self {
            files_by_name,
            files_by_stem,
            entities_by_name,
            entities_by_id,
            modules_by_name: modules(tables),
            chunks_by_subject: chunks(tables),
            file_chunks: file_chunks(tables),
            entities_of_file: ranges(tables),
            enclosing: enclosing(tables),
            units: units.iter().enumerate().map(|(at, unit)| (unit.source, at)).collect(),
            edges_from,
            edges_to,
            root_scopes: root_scopes(tables),
        }
    }
}

/// Outermost scopes of at least [`ROOT_SHARE`] of what stands in a scope.
fn root_scopes(tables: &Tables) -> BTreeSet<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for entity in &tables.entities {
        if let Some((outermost, _)) = entity.qualified_name.split_once("::") {
            *counts.entry(outermost).or_default() += 1;
        }
    }
    let total: usize = counts.values().sum();
    let large = |count: usize| count as f64 >= ROOT_SHARE * total as f64;
    counts.into_iter().filter(|&(_, count)| large(count)).map(|(name, _)| name.to_lowercase()).collect()
}

type EdgeMap = HashMap<String, Vec<usize>>;

fn edges(tables: &Tables) -> (EdgeMap, EdgeMap) {
    let mut from = EdgeMap::new();
    let mut to = EdgeMap::new();
    for (at, edge) in tables.edges.iter().enumerate() {
        // Ownership is known from byte ranges and is by far the largest kind.
        if edge.kind != EdgeKind::Owns {
            from.entry(edge.source.clone()).or_default().push(at);
            to.entry(edge.target.clone()).or_default().push(at);
        }
    }
    (from, to)
}

fn modules(tables: &Tables) -> HashMap<String, Vec<usize>> {
    let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, module) in tables.modules.iter().enumerate() {
        let full = module.name.to_lowercase();
        let last = full.rsplit(['/', ':']).next().unwrap_or(&full).to_owned();
        if last != full {
            by_name.entry(last).or_default().push(at);
        }
        by_name.entry(full).or_default().push(at);
    }
    by_name
}

fn chunks(tables: &Tables) -> HashMap<String, Vec<usize>> {
    let mut by_subject: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, chunk) in tables.chunks.iter().enumerate() {
        by_subject.entry(chunk.subject.clone()).or_default().push(at);
    }
    for list in by_subject.values_mut() {
        list.sort_by_key(|&at| tables.chunks[at].part);
    }
    by_subject
}

fn file_chunks(tables: &Tables) -> HashMap<usize, Vec<usize>> {
    let mut by_file: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, chunk) in tables.chunks.iter().enumerate() {
        if chunk.level == EntityLevel::File
            && let Some(file) = tables.file(&chunk.path)
        {
            by_file.entry(file).or_default().push(at);
        }
    }
    by_file
}

fn ranges(tables: &Tables) -> Vec<Range<usize>> {
    let place = |path: &str| {
        let start = tables.entities.partition_point(|entity| entity.path.as_str() < path);
        let end = tables.entities.partition_point(|entity| entity.path.as_str() <= path);
        start..end
    };
    tables.files.iter().map(|file| place(&file.path)).collect()
}

fn enclosing(tables: &Tables) -> Vec<Option<usize>> {
    let entities = &tables.entities;
    // Rows come by path, first byte, last byte: of two that start together the shorter is first,
    // so the order of opening is by first byte and then longest first.
    let mut order: Vec<usize> = (0..entities.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&entities[a], &entities[b]);
        (a.path.as_str(), a.start_byte)
            .cmp(&(b.path.as_str(), b.start_byte))
            .then(b.end_byte.cmp(&a.end_byte))
    });
    let mut around = vec![None; entities.len()];
    let mut open: Vec<usize> = Vec::new();
    for at in order {
        let entity = &entities[at];
        while open.last().is_some_and(|&last| {
            entities[last].path != entity.path || entities[last].end_byte < entity.end_byte
        }) {
            open.pop();
        }
        around[at] = open.last().copied();
        if entity.kind != EntityKind::Namespace {
            open.push(at);
        }
    }
    around
}
