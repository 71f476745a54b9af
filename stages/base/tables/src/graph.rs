//! What the graph stage writes (paper 3.2.3).

use almanac_artifact::table;

use crate::{EdgeKind, ModuleKind, ReferenceKind, ReferenceOutcome, Resolution};

table! {
    /// A relation between two nodes. A node is an entity id, `file:PATH` or `module:NAME`.
    pub struct Edge in "edges", version 2, sorted by (kind, source, target) {
        /// What relates them.
        kind: EdgeKind,
        /// Node it starts from.
        source: String,
        /// Node it leads to.
        target: String,
        /// How the target was found.
        resolution: Resolution,
        /// Confidence from 0 to 1; shared among the candidates when there are several.
        confidence: f32,
        /// Targets that the reference may mean, this one included.
        candidates: u32,
        /// File of the first reference behind it.
        path: String,
        /// Line of the first reference behind it, from 1; 0 where no one line says it.
        line: u32,
        /// References behind it.
        count: u32,
        /// Name given to a launch; condition of what is built or guarded; name of a target without an
        /// entity; empty otherwise.
        label: String,
    }
}

table! {
    /// How many references of a kind ended how: the measure of what the graph leaves out.
    pub struct Resolved in "resolved", version 1, sorted by (kind, outcome) {
        /// What the references ask for.
        kind: ReferenceKind,
        /// What became of them.
        outcome: ReferenceOutcome,
        /// How many.
        count: u64,
    }
}

table! {
    /// A folder or namespace with what is in it.
    pub struct Module in "modules", version 1, sorted by (id) {
        /// `module:NAME`; for a folder NAME is its path, for a namespace `ns:a::b`.
        id: String,
        /// Folder or namespace.
        kind: ModuleKind,
        /// Folder path or namespace.
        name: String,
        /// Enclosing module's id; empty at the top.
        parent: String,
        /// Files in it, without submodules.
        files: Vec<String>,
        /// Ids of modules directly inside.
        submodules: Vec<String>,
        /// Files in it and below.
        descendant_files: u32,
    }
}

table! {
    /// How central a node is.
    pub struct Rank in "ranks", version 1, sorted by (node) {
        /// Entity id, `file:PATH` or `module:NAME`.
        node: String,
        /// PageRank over calls, includes, inheritance and definitions; sums to one.
        score: f64,
        /// Edges that lead to it.
        incoming: u32,
        /// Edges that start from it.
        outgoing: u32,
    }
}

/// Node name of a file.
pub fn file_node(path: &str) -> String {
    format!("file:{path}")
}

/// Node name of a folder module.
pub fn folder_node(folder: &str) -> String {
    format!("module:{folder}")
}

/// Node name of a namespace module.
pub fn namespace_node(namespace: &str) -> String {
    format!("module:ns:{namespace}")
}
