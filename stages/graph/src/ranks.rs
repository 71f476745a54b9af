//! Centrality by PageRank.
//!
//! Nodes are all entities, files and modules. Score flows from caller to callee or to the class it
//! makes an object of, from including to
//! included file, from derived to base class and from definition to declaration; besides, what is
//! owned passes a share to its owners (member, class, file, folder, folder above), so that a used
//! function raises what holds it. Scores sum to one over all nodes. Degrees count the edges that
//! express use: calls, launches, objects made, includes, inheritance and definitions.

use rustc_hash::FxHashMap;

use almanac_tables::{Edge, EdgeKind, Entity, File, Module, ModuleKind, Rank, file_node};

use crate::params::{RankParams, RankWeights};

/// Ranks every node, in table order.
pub(crate) fn rank_nodes(
    files: &[File],
    entities: &[Entity],
    modules: &[Module],
    edges: &[Edge],
    params: &RankParams,
) -> Vec<Rank> {
    let file_nodes: Vec<String> = files.iter().map(|file| file_node(&file.path)).collect();
    let mut names: Vec<&str> = entities.iter().map(|entity| entity.id.as_str()).collect();
    names.extend(file_nodes.iter().map(String::as_str));
    names.extend(modules.iter().map(|module| module.id.as_str()));
    names.sort_unstable();
    names.dedup();
    let at: FxHashMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    let mut degrees = vec![(0_u32, 0_u32); names.len()];
    for edge in edges.iter().filter(|edge| expresses_use(edge.kind)) {
        if let (Some(&from), Some(&to)) = (at.get(&*edge.source), at.get(&*edge.target)) {
            degrees[from].1 += 1;
            degrees[to].0 += 1;
        }
    }
    let links = links(&at, modules, edges, &params.weights);
    let scores = page_rank(&links, params);
    names
        .iter()
        .zip(scores.iter().zip(degrees))
        .map(|(node, (score, (incoming, outgoing)))| Rank {
            node: (*node).to_owned(),
            score: *score,
            incoming,
            outgoing,
        })
        .collect()
}

/// Weighted links out of each node, in a fixed order.
fn links(
    at: &FxHashMap<&str, usize>,
    modules: &[Module],
    edges: &[Edge],
    weights: &RankWeights,
) -> Vec<Vec<(usize, f64)>> {
    let mut links = vec![Vec::new(); at.len()];
    let mut link = |from: &str, to: &str, weight: f64| {
        if let (Some(&from), Some(&to)) = (at.get(from), at.get(to))
            && from != to
            && weight > 0.0
        {
            links[from].push((to, weight));
        }
    };
    for edge in edges {
        let confidence = f64::from(edge.confidence);
        match edge.kind {
            EdgeKind::Calls | EdgeKind::Launches | EdgeKind::Instantiates => {
                link(&edge.source, &edge.target, weights.calls * confidence)
            }
            EdgeKind::Includes => link(&edge.source, &edge.target, weights.includes * confidence),
            EdgeKind::Inherits => link(&edge.source, &edge.target, weights.inherits * confidence),
            EdgeKind::Defines => link(&edge.source, &edge.target, weights.defines * confidence),
            EdgeKind::Owns => link(&edge.target, &edge.source, weights.owned),
            _ => {}
        }
    }
    for module in modules {
        link(&module.id, &module.parent, weights.owned);
        if module.kind == ModuleKind::Folder {
            for path in &module.files {
                link(&file_node(path), &module.id, weights.owned);
            }
        }
    }
    links
}

fn expresses_use(kind: EdgeKind) -> bool {
    use EdgeKind::{Calls, Defines, Includes, Inherits, Instantiates, Launches};
    matches!(kind, Calls | Launches | Instantiates | Includes | Inherits | Defines)
}

/// Power iteration; what dead ends would pass on is spread evenly.
fn page_rank(links: &[Vec<(usize, f64)>], params: &RankParams) -> Vec<f64> {
    let count = links.len();
    if count == 0 {
        return Vec::new();
    }
    let even = 1.0 / count as f64;
    let totals: Vec<f64> = links.iter().map(|out| out.iter().map(|(_, weight)| weight).sum()).collect();
    let mut scores = vec![even; count];
    for _ in 0..params.max_iterations {
        let stuck: f64 = scores.iter().zip(&totals).filter(|(_, total)| **total == 0.0).map(|(s, _)| s).sum();
        let floor = (1.0 - params.damping + params.damping * stuck) * even;
        let mut next = vec![floor; count];
        for (from, out) in links.iter().enumerate() {
            for &(to, weight) in out {
                next[to] += params.damping * scores[from] * weight / totals[from];
            }
        }
        let moved: f64 = scores.iter().zip(&next).map(|(old, new)| (old - new).abs()).sum();
        scores = next;
        if moved < params.tolerance {
            break;
        }
    }
    // Rounding must not let the sum drift.
    let sum: f64 = scores.iter().sum();
    scores.iter().map(|score| score / sum).collect()
}
