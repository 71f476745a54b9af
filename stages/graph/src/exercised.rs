//! What tests exercise: the symbols that a test case, or the `main` of a test, uses directly or
//! through helpers of its own file, and the file or class that a file of tests is named after.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use almanac_tables::{ArtifactRole, EdgeKind, EntityKind, Resolution};

use crate::edges::{EdgeSet, How, NEAR, Node, Spot, confidence_of};
use crate::lookup::Lookup;
use crate::tree::{Family, Tree};

/// Helpers looked through for one test.
const HELPERS: usize = 64;

/// Helpers of helpers.
const DEPTH: u32 = 3;

/// Members of a fixture that run around each of its tests.
const AROUND: &[&str] = &["SetUp", "TearDown", "SetUpTestSuite", "TearDownTestSuite"];

/// What the names of files of tests have besides what they test, in lower case.
const MARKS: &[&str] = &["unittests", "unittest", "tests", "test", "spec"];

/// Shortest name of a class that is meant without a file of its name.
const LEAST_CLASS: usize = 5;

/// A use of something by a symbol.
#[derive(Debug, Clone, Copy)]
struct Use {
    target: usize,
    how: How,
    spot: Spot,
}

/// Adds the edges of tests. `tested` are the files of programs that the build runs as tests.
pub(crate) fn add_tests(
    lookup: &Lookup<'_>,
    interface_of: &[Option<usize>],
    tested: &BTreeSet<usize>,
    edges: &mut EdgeSet,
) {
    let tree = lookup.tree;
    let uses = uses(tree, edges);
    let tests = tests(tree, tested);
    if tests.is_empty() {
        return add_names(lookup, interface_of, edges);
    }
    let around = around(tree);
    let mut found: BTreeMap<(usize, usize), Use> = BTreeMap::new();
    for &test in &tests {
        for (depth, one) in exercised(tree, test, &uses, &around) {
            let mut how = one.how;
            how.confidence *= NEAR.powi(depth as i32);
            let known = found.entry((test, one.target)).or_insert(Use { how, ..one });
            if how.confidence > known.how.confidence {
                *known = Use { how, ..one };
            }
        }
    }
    for ((test, target), one) in found {
        edges.add(EdgeKind::Tests, Node::Entity(test), Node::Entity(target), one.how, one.spot);
    }
    add_names(lookup, interface_of, edges);
}

/// What each symbol uses, in a fixed order; what is inside a symbol is used by it.
fn uses(tree: &Tree<'_>, edges: &EdgeSet) -> FxHashMap<usize, Vec<Use>> {
    let mut uses: FxHashMap<usize, Vec<Use>> = FxHashMap::default();
    for kind in [EdgeKind::Calls, EdgeKind::Launches, EdgeKind::Instantiates] {
        for (source, target, how, spot) in edges.of_kind(kind) {
            if let (&Node::Entity(source), &Node::Entity(target)) = (source, target)
                && source != target
            {
                let is_outer = |at: &usize| {
                    let entity = &tree.entities[*at];
                    entity.kind.is_callable() && entity.kind != EntityKind::Lambda
                };
                let user = tree.outward(source).filter(is_outer).last().unwrap_or(source);
                uses.entry(user).or_default().push(Use { target, how, spot });
            }
        }
    }
    for list in uses.values_mut() {
        list.sort_by_key(|one| (one.target, one.spot));
    }
    uses
}

/// Test cases, and `main` of files of tests and of programs that are run as tests.
fn tests(tree: &Tree<'_>, tested: &BTreeSet<usize>) -> Vec<usize> {
    let is_test = |at: &usize| {
        let (entity, facts) = (&tree.entities[*at], &tree.facts[*at]);
        let is_main = entity.kind == EntityKind::FunctionDefinition && facts.qualified() == "main";
        entity.kind == EntityKind::TestCase
            || (is_main && (entity.role == ArtifactRole::Test || tested.contains(&facts.file)))
    };
    tree.code_entities().filter(|at| tree.facts[*at].family == Family::Native).filter(is_test).collect()
}

/// What a test uses outside tests, with the number of helpers in between.
fn exercised(
    tree: &Tree<'_>,
    test: usize,
    uses: &FxHashMap<usize, Vec<Use>>,
    around: &FxHashMap<(usize, &str), Vec<usize>>,
) -> Vec<(u32, Use)> {
    let file = tree.facts[test].file;
    let mut helpers: Vec<(usize, u32)> = vec![(test, 0)];
    let mut seen: BTreeSet<usize> = BTreeSet::from([test]);
    let fixture = tree.entities[test].class_name.rsplit("::").next().unwrap_or("");
    for &member in around.get(&(file, fixture)).into_iter().flatten() {
        if seen.insert(member) {
            helpers.push((member, 1));
        }
    }
    let mut found = Vec::new();
    let mut next = 0;
    while let Some(&(helper, depth)) = helpers.get(next) {
        next += 1;
        for one in uses.get(&helper).into_iter().flatten() {
            let target = &tree.entities[one.target];
            if tree.facts[one.target].file == file {
                let is_callable = target.kind.is_callable() && target.kind != EntityKind::TestCase;
                if is_callable && depth < DEPTH && helpers.len() < HELPERS && seen.insert(one.target) {
                    helpers.push((one.target, depth + 1));
                }
            } else if !matches!(target.role, ArtifactRole::Test | ArtifactRole::Vendored) && is_sure(one.how)
            {
                found.push((depth, *one));
            }
        }
    }
    found
}

/// Whether it is more than one of several things of a name.
fn is_sure(how: How) -> bool {
    how.resolution != Resolution::Name || how.candidates == 1
}

/// What runs around the tests of each fixture, by its file and name.
fn around<'a>(tree: &'a Tree<'_>) -> FxHashMap<(usize, &'a str), Vec<usize>> {
    let mut around: FxHashMap<(usize, &str), Vec<usize>> = FxHashMap::default();
    for (at, entity) in tree.entities.iter().enumerate() {
        let class = entity.class_name.rsplit("::").next().unwrap_or("");
        let is_around = AROUND.contains(&entity.name.as_str()) || entity.name == class;
        if entity.kind == EntityKind::MethodDefinition && is_around {
            around.entry((tree.facts[at].file, class)).or_default().push(at);
        }
    }
    around
}

/// Files of tests and what they are named after.
fn add_names(lookup: &Lookup<'_>, interface_of: &[Option<usize>], edges: &mut EdgeSet) {
    let tree = lookup.tree;
    let is_native = |at: &usize| Family::of(tree.files[*at].language) == Family::Native;
    let is_product = |role: ArtifactRole| {
        !matches!(role, ArtifactRole::Test | ArtifactRole::Vendored | ArtifactRole::Generated)
    };
    let mut files: FxHashMap<String, BTreeSet<usize>> = FxHashMap::default();
    for at in (0..tree.files.len()).filter(is_native).filter(|&at| is_product(tree.files[at].role)) {
        files.entry(key(stem(&tree.files[at].path))).or_default().insert(interface_of[at].unwrap_or(at));
    }
    let mut classes: FxHashMap<String, BTreeSet<usize>> = FxHashMap::default();
    for at in tree.code_entities().filter(|&at| tree.entities[at].kind.is_record()) {
        let entity = &tree.entities[at];
        if entity.is_definition && is_product(entity.role) && tree.facts[at].family == Family::Native {
            let class = lookup.classes.of_record(at).map_or(at, |class| lookup.classes.node(class));
            classes.entry(key(&tree.facts[at].name)).or_default().insert(class);
        }
    }
    let is_test = |at: &usize| tree.files[*at].role == ArtifactRole::Test;
    for test in (0..tree.files.len()).filter(is_native).filter(is_test) {
        let Some(name) = tested_name(stem(&tree.files[test].path)) else { continue };
        let file = |at: &usize| Some(*at);
        let of_class = |at: &usize| Some(tree.facts[*at].file);
        let seen = |found: Option<&BTreeSet<usize>>, file: &dyn Fn(&usize) -> Option<usize>| -> Vec<usize> {
            let all = found.into_iter().flatten().copied();
            all.filter(|at| file(at).is_some_and(|file| lookup.reach.sees(test, file))).collect()
        };
        let mut nodes = [
            seen(files.get(&name), &file).into_iter().map(Node::File).collect::<Vec<_>>(),
            seen(classes.get(&name), &of_class).into_iter().map(Node::Entity).collect(),
        ];
        // `TestCos` need not be about the class `Cos` of something else.
        if nodes[0].is_empty() && name.len() < LEAST_CLASS {
            nodes[1].clear();
        }
        for nodes in &mut nodes {
            if nodes.len() > lookup.params.max_candidates as usize {
                continue;
            }
            let how = How::one_of(nodes.len(), Resolution::Name, confidence_of(Resolution::Name));
            for node in nodes.drain(..) {
                edges.add(EdgeKind::Tests, Node::File(test), node, how, Spot { file: test, line: 0 });
            }
        }
    }
}

/// What a file of tests is named after, as a key.
fn tested_name(stem: &str) -> Option<String> {
    let name = key(stem);
    let bare = MARKS.iter().find_map(|mark| name.strip_prefix(mark).or_else(|| name.strip_suffix(mark)));
    let bare = bare.unwrap_or(&name);
    (bare.len() > 2).then(|| bare.to_owned())
}

/// Lower case without underscores: `test_particle_bc` is named after `ParticleBC`.
fn key(name: &str) -> String {
    name.chars().filter(|c| *c != '_' && *c != '-').map(|c| c.to_ascii_lowercase()).collect()
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}
