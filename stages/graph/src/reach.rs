//! Which files a file can see through its includes, directly or not.

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::tree::Tree;

/// The include relation closed over itself, one bit for each pair of files.
pub(crate) struct Reach {
    component_of: Vec<usize>,
    seen: Vec<Vec<u64>>,
}

impl Reach {
    /// Closes `includes`; `interface_of` leads from an implementation to its header, which a body
    /// file sees although the header includes it and not the other way round.
    pub(crate) fn new(tree: &Tree<'_>, includes: &[Vec<usize>], interface_of: &[Option<usize>]) -> Self {
        let count = tree.files.len();
        let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(count, count * 4);
        for _ in 0..count {
            graph.add_node(());
        }
        let mut includers = vec![Vec::new(); count];
        for (from, targets) in includes.iter().enumerate() {
            for &to in targets {
                graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
                includers[to].push(from);
            }
        }
        for (body, interface) in interface_of.iter().enumerate() {
            let seen_from: &[usize] = match interface {
                Some(header) => std::slice::from_ref(header),
                // A fragment that includes nothing sees what the one file around it sees.
                None if includes[body].is_empty() && is_fragment(&tree.files[body].path) => {
                    if includers[body].len() <= 2 { &includers[body] } else { &[] }
                }
                None => &[],
            };
            for &to in seen_from {
                graph.add_edge(NodeIndex::new(body), NodeIndex::new(to), ());
            }
        }
        Self::close(&graph)
    }

    fn close(graph: &DiGraph<(), ()>) -> Self {
        let words = graph.node_count().div_ceil(64);
        let components = tarjan_scc(graph);
        let mut component_of = vec![0; graph.node_count()];
        for (at, component) in components.iter().enumerate() {
            component.iter().for_each(|node| component_of[node.index()] = at);
        }
        // Components come with everything they lead to before them.
        let mut seen: Vec<Vec<u64>> = Vec::with_capacity(components.len());
        for (at, component) in components.iter().enumerate() {
            let mut bits = vec![0_u64; words];
            for node in component {
                bits[node.index() / 64] |= 1 << (node.index() % 64);
                for next in graph.neighbors(*node) {
                    let other = component_of[next.index()];
                    if other != at {
                        bits.iter_mut().zip(&seen[other]).for_each(|(bit, more)| *bit |= more);
                    }
                }
            }
            seen.push(bits);
        }
        Self { component_of, seen }
    }

    /// Files in `files`, one bit each, that `from` sees.
    pub(crate) fn seen_among<'r>(
        &'r self,
        from: usize,
        files: &'r [u64],
    ) -> impl Iterator<Item = usize> + 'r {
        let seen = self.component_of.get(from).map_or(&[][..], |&component| self.seen[component].as_slice());
        seen.iter().zip(files).enumerate().flat_map(|(word, (seen, wanted))| {
            let mut both = seen & wanted;
            std::iter::from_fn(move || {
                let bit = both.trailing_zeros();
                both &= both.wrapping_sub(1);
                (bit < 64).then_some(word * 64 + bit as usize)
            })
        })
    }

    /// Whether `from` sees `to`; a file sees itself.
    pub(crate) fn sees(&self, from: usize, to: usize) -> bool {
        match (self.component_of.get(from), to / 64, to % 64) {
            (Some(&component), word, bit) => {
                self.seen[component].get(word).is_some_and(|bits| bits >> bit & 1 == 1)
            }
            (None, ..) => false,
        }
    }
}

/// Whether the file is one that others include.
fn is_fragment(path: &str) -> bool {
    let extensions = [".h", ".hh", ".hpp", ".hxx", ".ipp", ".tpp", ".inl", ".cuh"];
    extensions.iter().any(|extension| path.ends_with(extension))
}
