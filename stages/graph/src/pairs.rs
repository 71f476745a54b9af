//! Headers and the implementations that belong to them.

use std::collections::BTreeMap;

use almanac_tables::{EdgeKind, Resolution};

use crate::edges::{EdgeSet, How, NEAR, Node, Spot};
use crate::tree::{Family, Tree};

/// Interface first: a file implements the nearest earlier rank of its stem.
const INTERFACES: &[&str] = &["h", "hh", "hpp", "hxx", "cuh"];
const BODIES: &[&str] = &["hpp", "hxx", "ipp", "tpp", "inl", "cc", "cpp", "cxx", "c", "cu", "hip"];

/// Adds the pair edges (header to implementation) and returns each implementation's header.
pub(crate) fn pair_files(
    tree: &Tree<'_>,
    includes: &[Vec<usize>],
    edges: &mut EdgeSet,
) -> Vec<Option<usize>> {
    let mut by_stem: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, file) in tree.files.iter().enumerate() {
        if Family::of(file.language) == Family::Native {
            by_stem.entry((&file.folder, stem(&file.path))).or_default().push(at);
        }
    }
    let mut interface_of = vec![None; tree.files.len()];
    for group in by_stem.values() {
        let Some(header) = header_of(tree, group) else { continue };
        for &body in group.iter().filter(|&&body| body != header) {
            if BODIES.contains(&extension(&tree.files[body].path)) {
                interface_of[body] = Some(header);
                add(edges, header, body, How::EXACT);
            }
        }
    }
    pair_across_folders(tree, includes, &mut interface_of, edges);
    interface_of
}

/// `src/x.cpp` pairs with `include/x.h` when it includes it and has no header beside it.
fn pair_across_folders(
    tree: &Tree<'_>,
    includes: &[Vec<usize>],
    interface_of: &mut [Option<usize>],
    edges: &mut EdgeSet,
) {
    for body in 0..tree.files.len() {
        let path = &tree.files[body].path;
        if interface_of[body].is_some() || !BODIES[5..].contains(&extension(path)) {
            continue;
        }
        let same_stem = includes[body].iter().copied().find(|&header| {
            let other = &tree.files[header].path;
            stem(other) == stem(path) && INTERFACES.contains(&extension(other))
        });
        if let Some(header) = same_stem {
            interface_of[body] = Some(header);
            add(edges, header, body, How::one_of(1, Resolution::Name, NEAR));
        }
    }
}

fn add(edges: &mut EdgeSet, header: usize, body: usize, how: How) {
    let spot = Spot { file: body, line: 0 };
    edges.add(EdgeKind::Pairs, Node::File(header), Node::File(body), how, spot);
}

/// The file of a group that is its interface: the first extension of `INTERFACES` that occurs.
fn header_of(tree: &Tree<'_>, group: &[usize]) -> Option<usize> {
    INTERFACES
        .iter()
        .find_map(|wanted| group.iter().copied().find(|&at| extension(&tree.files[at].path) == *wanted))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn stem(path: &str) -> &str {
    file_name(path).rsplit_once('.').map_or(file_name(path), |(stem, _)| stem)
}

fn extension(path: &str) -> &str {
    file_name(path).rsplit_once('.').map_or("", |(_, extension)| extension)
}
