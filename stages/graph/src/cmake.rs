//! What a build made of CMake builds: its files followed from the top, with variables, lists, loops
//! and the tree's own functions, as far as that needs no configuring.
//!
//! Where a condition depends on options or the platform, both branches are followed: an edge says
//! what can be built, and its label under which condition. Work is bounded by a budget that grows
//! with the number of commands, so a build that calls itself without end stops.

mod conditions;
mod idle;
mod lists;
mod run;
mod targets;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

use almanac_tables::{EntityKind, Reference, ReferenceKind};

use crate::edges::{EdgeSet, How, Node, Spot};
use crate::tree::{Family, Tree};
use words::{LONGEST_VALUE, Word, filled, items};

/// Commands followed for each one written: what calls of functions come to.
const BUDGET: u64 = 256;
const LEAST_BUDGET: u64 = 10_000;

/// Commands followed for one call outside functions: what no configuring decides may go on for long.
const LONGEST_CALL: u64 = 20_000;

/// The part of that for a call inside another, and the least there is.
const HELPER_SHARE: u64 = 8;
const LEAST_CALL: u64 = 500;

/// Files and functions inside one another.
const DEPTH: usize = 24;

/// Functions of one name that a call may mean.
const ALIKE: usize = 4;

/// What the build says to the rest of the graph.
#[derive(Debug, Default)]
pub(crate) struct Build {
    /// Files made into programs that ctest runs.
    pub(crate) tested: BTreeSet<usize>,
    /// Options and cache variables by name.
    pub(crate) options: BTreeMap<String, Vec<usize>>,
    /// Macros that the build hands to the compiler: what decides them, and where.
    pub(crate) definitions: BTreeMap<String, Vec<(Node, Spot, How)>>,
}

/// Follows the build files of a tree and adds their edges.
pub(crate) fn follow_builds(tree: &Tree<'_>, references: &[Reference], edges: &mut EdgeSet) -> Build {
    let mut follower = Follower::new(tree, references, edges);
    follower.follow_all();
    follower.finish()
}

/// A command as written.
#[derive(Debug)]
struct Step<'a> {
    /// Lower case.
    name: String,
    list: &'a str,
    words: Vec<Word<'a>>,
    /// Options that a condition names.
    options: Vec<String>,
    line: u32,
    /// Target, option or function it stands for or in.
    entity: Option<usize>,
}

type Steps<'a> = Rc<Vec<Step<'a>>>;

/// A variable.
#[derive(Debug, Clone, Default)]
struct Value {
    text: String,
    /// Whether it is the only value it can have; one that is known and empty is not set.
    is_known: bool,
}

type Scope = FxHashMap<String, Value>;

/// A condition around what is followed.
#[derive(Debug, Clone)]
struct Condition {
    text: String,
    options: Vec<String>,
    spot: Spot,
}

/// Where a command is followed.
#[derive(Debug, Clone)]
struct Place {
    /// File it is written in.
    file: usize,
    /// Folder that relative paths start from; `None` where nobody says.
    folder: Option<String>,
    /// First call that led here.
    call: Option<Spot>,
    /// How surely that call means what is followed.
    how: How,
    depth: usize,
    /// Conditions below this one belong to other files.
    conditions: usize,
}

/// A target that was made.
#[derive(Debug, Clone)]
struct Target {
    /// Its entity, or the build file that a function of the tree makes it for.
    node: Node,
    /// Its name where no entity has it.
    label: String,
}

/// A target that another needs, by its name.
#[derive(Debug)]
struct Link {
    from: Target,
    to: String,
    spot: Spot,
    how: How,
}

struct Follower<'a, 'e> {
    tree: &'a Tree<'a>,
    edges: &'e mut EdgeSet,
    /// Commands of each file outside functions.
    files: BTreeMap<usize, Steps<'a>>,
    /// Commands of each function.
    bodies: FxHashMap<usize, Steps<'a>>,
    /// Functions and macros by name in lower case.
    functions: FxHashMap<String, Vec<usize>>,
    /// Files of CMake by file name.
    modules: FxHashMap<&'a str, Vec<usize>>,
    /// Files of each folder.
    folders: BTreeMap<&'a str, Vec<usize>>,
    scopes: Vec<Scope>,
    conditions: Vec<Condition>,
    /// Functions that are being followed.
    active: Vec<usize>,
    followed: FxHashSet<usize>,
    targets: BTreeMap<String, Vec<Target>>,
    aliases: FxHashMap<String, String>,
    sources: BTreeMap<String, BTreeSet<usize>>,
    tested: BTreeSet<String>,
    links: Vec<Link>,
    build: Build,
    /// Commands that may still be followed.
    left: u64,
    /// Those of the call that is followed; outside calls there is no end to them.
    share: u64,
}

impl<'a, 'e> Follower<'a, 'e> {
    fn new(tree: &'a Tree<'a>, references: &'a [Reference], edges: &'e mut EdgeSet) -> Self {
        let mut follower = Self {
            tree,
            edges,
            files: BTreeMap::new(),
            bodies: FxHashMap::default(),
            functions: FxHashMap::default(),
            modules: FxHashMap::default(),
            folders: BTreeMap::new(),
            scopes: Vec::new(),
            conditions: Vec::new(),
            active: Vec::new(),
            followed: FxHashSet::default(),
            targets: BTreeMap::new(),
            aliases: FxHashMap::default(),
            sources: BTreeMap::new(),
            tested: BTreeSet::new(),
            links: Vec::new(),
            build: Build::default(),
            left: 0,
            share: u64::MAX,
        };
        follower.index_entities();
        follower.index_steps(references);
        follower.drop_idle_functions();
        if !follower.files.is_empty() {
            for (at, file) in tree.files.iter().enumerate() {
                follower.folders.entry(&file.folder).or_default().push(at);
                if Family::of(file.language) == Family::Build {
                    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
                    follower.modules.entry(name).or_default().push(at);
                }
            }
        }
        follower
    }

    fn index_entities(&mut self) {
        let tree = self.tree;
        for at in tree.code_entities().filter(|&at| tree.facts[at].family == Family::Build) {
            let name = &tree.entities[at].name;
            match tree.entities[at].kind {
                EntityKind::BuildFunction => {
                    self.functions.entry(name.to_ascii_lowercase()).or_default().push(at);
                }
                EntityKind::BuildOption => self.build.options.entry(name.clone()).or_default().push(at),
                _ => {}
            }
        }
    }

    fn index_steps(&mut self, references: &'a [Reference]) {
        let mut files: BTreeMap<usize, Vec<Step<'a>>> = BTreeMap::new();
        let mut bodies: BTreeMap<usize, Vec<Step<'a>>> = BTreeMap::new();
        let tree = self.tree;
        let is_step =
            |reference: &&Reference| matches!(reference.kind, ReferenceKind::Command | ReferenceKind::Call);
        for reference in references.iter().filter(is_step) {
            let Some(file) = tree.file(&reference.path) else { continue };
            if Family::of(tree.files[file].language) != Family::Build {
                continue;
            }
            let entity = tree.entity(&reference.entity_id);
            let name = reference.name.to_ascii_lowercase();
            let words = words::words(&reference.argument_list);
            let options = if name.ends_with("if") { self.options_in(&words) } else { Vec::new() };
            let step =
                Step { name, list: &reference.argument_list, words, options, line: reference.line, entity };
            let is_function = |at: &usize| tree.entities[*at].kind == EntityKind::BuildFunction;
            let function = entity.and_then(|entity| tree.outward(entity).find(is_function));
            match function {
                Some(function) => bodies.entry(function).or_default().push(step),
                None => files.entry(file).or_default().push(step),
            }
            self.left += BUDGET;
        }
        self.left += LEAST_BUDGET;
        self.files = files.into_iter().map(|(file, steps)| (file, Rc::new(steps))).collect();
        self.bodies = bodies.into_iter().map(|(function, steps)| (function, Rc::new(steps))).collect();
    }

    fn options_in(&self, words: &[Word<'_>]) -> Vec<String> {
        let mut options: Vec<String> = Vec::new();
        for word in words {
            let name = word.text.trim_start_matches("${").trim_end_matches('}');
            if self.build.options.contains_key(name) && !options.iter().any(|one| one == name) {
                options.push(name.to_owned());
            }
        }
        options
    }

    /// Every build file, from the top; then those that no other leads to.
    fn follow_all(&mut self) {
        let tree = self.tree;
        let mut roots: Vec<usize> = self.files.keys().copied().collect();
        let is_list = |at: usize| tree.files[at].path.ends_with("CMakeLists.txt");
        let depth = |at: usize| tree.files[at].path.matches('/').count();
        roots.sort_by_key(|&at| (!is_list(at), depth(at), at));
        let has_top = tree.file("CMakeLists.txt").is_some();
        for file in roots {
            if self.followed.contains(&file) {
                continue;
            }
            let folder = self.folder_of(file);
            let top = if has_top { String::new() } else { folder.clone() };
            self.scopes = vec![Scope::default()];
            self.conditions.clear();
            for name in ["CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR"] {
                self.assign(name, rooted(&top), true);
            }
            let place = Place {
                file,
                folder: is_list(file).then(|| folder.clone()),
                call: None,
                how: How::EXACT,
                depth: 0,
                conditions: 0,
            };
            self.follow_file(&place);
        }
    }

    fn folder_of(&self, file: usize) -> String {
        self.tree.files[file].path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
    }

    /// Follows a file in the scope that is open.
    fn follow_file(&mut self, place: &Place) {
        self.followed.insert(place.file);
        let Some(steps) = self.files.get(&place.file).cloned() else { return };
        let before = self.variable("CMAKE_CURRENT_LIST_DIR").cloned();
        self.assign("CMAKE_CURRENT_LIST_DIR", rooted(&self.folder_of(place.file)), true);
        if let Some(folder) = &place.folder {
            self.assign("CMAKE_CURRENT_SOURCE_DIR", rooted(folder), true);
        }
        self.run(&steps, place);
        if let Some(before) = before {
            self.assign("CMAKE_CURRENT_LIST_DIR", before.text, before.is_known);
        }
    }

    fn variable(&self, name: &str) -> Option<&Value> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn fill(&self, text: &str) -> String {
        filled(text, &|name| self.variable(name).map(|value| value.text.as_str()))
    }

    fn assign(&mut self, name: &str, text: String, is_known: bool) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), Value { text, is_known });
        }
    }

    /// The items that the arguments of a command come to.
    fn arguments(&mut self, words: &[Word<'_>]) -> Vec<String> {
        let mut found = Vec::new();
        for word in words {
            let text = self.fill(word.text);
            self.spend(text.len() as u64 / 256);
            if word.is_quoted {
                found.push(text);
            } else {
                found.extend(items(&text).map(str::to_owned));
            }
        }
        found
    }

    /// Counts work against what is left.
    fn spend(&mut self, work: u64) {
        self.left = self.left.saturating_sub(work);
        self.share = self.share.saturating_sub(work);
    }

    /// Where a command is written that leads here: the first call outside functions.
    fn spot(&self, place: &Place, line: u32) -> Spot {
        place.call.unwrap_or(Spot { file: place.file, line })
    }

    /// The file that a path means, as `place` would find it.
    fn file_named(&self, path: &str, place: &Place) -> Option<usize> {
        self.path_of(path, place).and_then(|path| self.tree.file(&path))
    }

    /// A path of the tree: under its top, or relative to the folder that is followed.
    fn path_of(&self, path: &str, place: &Place) -> Option<String> {
        // `$<CONDITION:path>`.
        let path = match path.strip_prefix("$<") {
            Some(inner) if !inner.starts_with("TARGET_") => inner.trim_end_matches('>').rsplit(':').next()?,
            Some(_) => return None,
            None => path,
        };
        if path.is_empty() || words::is_open(path) {
            return None;
        }
        match path.strip_prefix("//") {
            Some(rest) => words::below("", rest),
            None if path.starts_with('/') => None,
            None => words::below(place.folder.as_deref()?, path),
        }
    }
}

/// A folder of the tree as the value of a variable.
fn rooted(folder: &str) -> String {
    format!("//{folder}")
}
