//! Following commands in order: branches, loops, files and functions.

use almanac_tables::{EntityKind, Resolution};

use super::conditions::Truth;
use super::words::{Word, items};
use super::{
    ALIKE, Condition, DEPTH, Follower, HELPER_SHARE, LEAST_CALL, LONGEST_CALL, Place, Scope, Step, Steps,
    Value, rooted,
};
use crate::edges::{How, Node, Spot};

/// What is open around a command in the same run.
enum Block {
    Branch {
        now: Truth,
        /// Whether a branch before was taken, or may have been.
        before: Truth,
        head: String,
    },
    Loop {
        start: usize,
        name: String,
        /// Items to come, last first; `None` where the loop is not entered.
        left: Option<Vec<String>>,
    },
}

impl Block {
    fn truth(&self) -> Truth {
        match self {
            Self::Branch { now, .. } => *now,
            Self::Loop { left: Some(_), .. } => Truth::Yes,
            Self::Loop { left: None, .. } => Truth::No,
        }
    }
}

fn truth_of(blocks: &[Block]) -> Truth {
    blocks.iter().map(Block::truth).min().unwrap_or(Truth::Yes)
}

impl<'a> Follower<'a, '_> {
    /// Follows commands in order.
    pub(super) fn run(&mut self, steps: &Steps<'a>, place: &Place) {
        let mut blocks: Vec<Block> = Vec::new();
        let conditions = self.conditions.len();
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            if self.left == 0 || self.share == 0 {
                break;
            }
            self.spend(1);
            at = match step.name.as_str() {
                "if" | "elseif" | "else" | "endif" => {
                    self.branch(step, &mut blocks, place);
                    at + 1
                }
                "foreach" => {
                    let left = (truth_of(&blocks) > Truth::No).then(|| self.loop_items(step)).flatten();
                    let (name, left) = left.map_or((String::new(), None), |(name, left)| (name, Some(left)));
                    blocks.push(Block::Loop { start: at, name, left });
                    self.turn(&mut blocks).unwrap_or(at) + 1
                }
                "endforeach" => match self.turn(&mut blocks) {
                    Some(start) => start + 1,
                    None => {
                        if matches!(blocks.last(), Some(Block::Loop { .. })) {
                            blocks.pop();
                        }
                        at + 1
                    }
                },
                _ => {
                    let truth = truth_of(&blocks);
                    if truth > Truth::No {
                        self.command(step, truth == Truth::Yes, place);
                    }
                    at + 1
                }
            };
        }
        self.conditions.truncate(conditions);
    }

    fn branch(&mut self, step: &Step<'_>, blocks: &mut Vec<Block>, place: &Place) {
        let condition = |text: String| Condition {
            text,
            options: step.options.clone(),
            spot: Spot { file: place.file, line: step.line },
        };
        if step.name == "if" {
            let is_dead = truth_of(blocks) == Truth::No;
            let now = if is_dead { Truth::No } else { self.truth(&step.words) };
            let head = if is_dead { String::new() } else { head_of(step) };
            self.conditions.push(condition(head.clone()));
            blocks.push(Block::Branch { now, before: now, head });
            return;
        }
        let Some(Block::Branch { now, before, head }) = blocks.last_mut() else { return };
        if step.name == "endif" {
            blocks.pop();
            self.conditions.pop();
            return;
        }
        let own = if step.name == "else" { Truth::Yes } else { self.truth(&step.words) };
        *now = match *before {
            Truth::Yes => Truth::No,
            Truth::Maybe => own.min(Truth::Maybe),
            Truth::No => own,
        };
        *before = own.max(*before);
        let mut condition =
            condition(if step.name == "else" { format!("else of {head}") } else { head_of(step) });
        if let Some(last) = self.conditions.pop() {
            for option in last.options {
                if !condition.options.contains(&option) {
                    condition.options.push(option);
                }
            }
        }
        self.conditions.push(condition);
    }

    /// Goes to the next item of the innermost loop; gives where the loop begins.
    fn turn(&mut self, blocks: &mut [Block]) -> Option<usize> {
        let Some(Block::Loop { start, name, left }) = blocks.last_mut() else { return None };
        let (start, name) = (*start, name.clone());
        match left.as_mut().and_then(Vec::pop) {
            Some(item) => {
                self.assign(&name, item, true);
                Some(start)
            }
            None => {
                *left = None;
                None
            }
        }
    }

    /// Variable and items of a loop, last first.
    fn loop_items(&mut self, step: &Step<'_>) -> Option<(String, Vec<String>)> {
        let (name, rest) = step.words.split_first()?;
        let given = self.arguments(rest);
        let mut found: Vec<String> = Vec::new();
        if given.first().is_some_and(|first| first == "IN") {
            let mut is_list = false;
            for word in &given[1..] {
                match word.as_str() {
                    "LISTS" => is_list = true,
                    "ITEMS" => is_list = false,
                    name if is_list => {
                        let value = self.variable(name).map_or("", |value| value.text.as_str());
                        found.extend(items(value).map(str::to_owned));
                    }
                    item => found.push(item.to_owned()),
                }
            }
        } else if given.first().is_some_and(|first| first == "RANGE") {
            // Numbers name no files of their own: once is enough to see what is in the loop.
            found.push("0".to_owned());
        } else {
            found = given;
        }
        found.reverse();
        Some((name.text.to_owned(), found))
    }

    fn command(&mut self, step: &Step<'a>, is_certain: bool, place: &Place) {
        let list = step.words.as_slice();
        match step.name.as_str() {
            "add_subdirectory" | "subdirs" => self.enter_folder(list, step, place),
            "include" => self.enter_file(list, step, place),
            "project" => {
                let name = self.arguments(list).into_iter().next().unwrap_or_default();
                let folder = place.folder.clone().unwrap_or_default();
                self.assign("PROJECT_SOURCE_DIR", rooted(&folder), true);
                self.assign(&format!("{name}_SOURCE_DIR"), rooted(&folder), true);
                self.assign("PROJECT_NAME", name, true);
            }
            name if self.functions.contains_key(name) => self.call(step, list, place),
            _ if self.set_variables(step, list, is_certain, place) => {}
            _ => self.make(step, list, place),
        }
    }

    fn enter_folder(&mut self, list: &[Word<'_>], step: &Step<'_>, place: &Place) {
        let given = self.arguments(list);
        let Some(folder) = given.first().and_then(|first| self.path_of(first, place)) else { return };
        let path =
            if folder.is_empty() { "CMakeLists.txt".to_owned() } else { format!("{folder}/CMakeLists.txt") };
        let Some(file) = self.tree.file(&path).filter(|&file| file != place.file) else { return };
        let spot = self.spot(place, step.line);
        let label = self.condition_text(place);
        let (from, to) = (Node::File(spot.file), Node::File(file));
        self.edges.add_labelled(almanac_tables::EdgeKind::Builds, from, to.clone(), place.how, spot, &label);
        self.configure(&to, place);
        // A folder is part of one build once.
        if place.depth >= DEPTH || self.followed.contains(&file) {
            return;
        }
        self.scopes.push(Scope::default());
        let inner = Place {
            file,
            folder: Some(folder),
            call: None,
            how: place.how,
            depth: place.depth + 1,
            conditions: self.conditions.len(),
        };
        // A folder is no part of the call that adds it.
        let share = std::mem::replace(&mut self.share, u64::MAX);
        self.follow_file(&inner);
        self.share = share;
        self.scopes.pop();
    }

    fn enter_file(&mut self, list: &[Word<'_>], step: &Step<'_>, place: &Place) {
        let given = self.arguments(list);
        let Some(name) = given.first() else { return };
        let Some(file) = self.included(name, place).filter(|&file| file != place.file) else { return };
        self.configure(&Node::File(file), place);
        if place.depth >= DEPTH {
            return;
        }
        let inner = Place {
            file,
            folder: place.folder.clone(),
            call: place.call.filter(|_| step.line == 0),
            how: place.how,
            depth: place.depth + 1,
            conditions: self.conditions.len(),
        };
        self.follow_file(&inner);
        if let Some(folder) = &place.folder {
            self.assign("CMAKE_CURRENT_SOURCE_DIR", rooted(folder), true);
        }
    }

    /// The file that `include` means: a path, or the nearest module of that name.
    fn included(&self, name: &str, place: &Place) -> Option<usize> {
        if let Some(file) = self.file_named(name, place) {
            return Some(file);
        }
        if name.contains('/') {
            return None;
        }
        let found = self.modules.get(format!("{name}.cmake").as_str())?;
        let shared = |at: usize| self.tree.shared_folders(place.file, at);
        let most = found.iter().map(|&at| shared(at)).max()?;
        let mut near = found.iter().copied().filter(|&at| shared(at) == most);
        near.next().filter(|_| near.next().is_none())
    }

    /// Follows the functions that a call may mean.
    fn call(&mut self, step: &Step<'a>, list: &[Word<'_>], place: &Place) {
        let found = self.meant(&step.name, place);
        let has_body = found.iter().any(|function| self.bodies.contains_key(function));
        if place.depth >= DEPTH || found.len() > ALIKE || !has_body {
            return;
        }
        let given = self.arguments(list);
        let how = if found.len() > 1 { How::one_of(found.len(), Resolution::Exact, 1.0) } else { place.how };
        let before = self.share;
        let share = match place.call {
            None => LONGEST_CALL,
            // Helpers must leave something to what calls them.
            Some(_) => (before / HELPER_SHARE).max(LEAST_CALL),
        };
        let share = share.min(before);
        self.share = share;
        for function in found {
            // One that calls itself says nothing new the second time.
            if self.active.contains(&function) {
                continue;
            }
            let inner = Place {
                file: self.tree.facts[function].file,
                folder: place.folder.clone(),
                call: Some(self.spot(place, step.line)),
                how,
                depth: place.depth + 1,
                conditions: place.conditions,
            };
            self.active.push(function);
            self.follow_function(function, &given, &inner);
            self.active.pop();
        }
        self.share = before - (share - self.share);
    }

    fn follow_function(&mut self, function: usize, given: &[String], place: &Place) {
        let Some(body) = self.bodies.get(&function).cloned() else { return };
        let bound = self.bound(function, given);
        if !self.is_macro(function) {
            self.scopes.push(bound);
            self.run(&body, place);
            self.scopes.pop();
            return;
        }
        let before: Vec<(String, Option<Value>)> =
            bound.keys().map(|name| (name.clone(), self.variable(name).cloned())).collect();
        for (name, value) in bound {
            self.assign(&name, value.text, value.is_known);
        }
        self.run(&body, place);
        for (name, value) in before {
            match (value, self.scopes.last_mut()) {
                (Some(value), Some(scope)) => drop(scope.insert(name, value)),
                (None, Some(scope)) => drop(scope.remove(&name)),
                _ => {}
            }
        }
    }

    /// Functions of a name: those of the file itself, else the nearest.
    fn meant(&self, name: &str, place: &Place) -> Vec<usize> {
        let tree = self.tree;
        let all = self.functions.get(name).map_or(&[][..], Vec::as_slice);
        let is_function = |at: &usize| tree.entities[*at].kind == EntityKind::BuildFunction;
        let own: Vec<usize> =
            all.iter().copied().filter(is_function).filter(|&at| tree.facts[at].file == place.file).collect();
        if !own.is_empty() {
            return own;
        }
        let shared = |at: usize| tree.shared_folders(place.file, tree.facts[at].file);
        let most = all.iter().map(|&at| shared(at)).max().unwrap_or(0);
        all.iter().copied().filter(|&at| shared(at) == most).collect()
    }

    /// Parameters of a function with what they are given.
    fn bound(&self, function: usize, given: &[String]) -> Scope {
        let known = |text: String| Value { text, is_known: true };
        let names: Vec<&str> = self.tree.entities[function].parameters.split_whitespace().collect();
        let mut scope = Scope::default();
        for (nth, name) in names.iter().enumerate() {
            scope.insert((*name).to_owned(), known(given.get(nth).cloned().unwrap_or_default()));
        }
        for (nth, value) in given.iter().enumerate() {
            scope.insert(format!("ARGV{nth}"), known(value.clone()));
        }
        scope.insert("ARGC".to_owned(), known(given.len().to_string()));
        scope.insert("ARGV".to_owned(), known(given.join(";")));
        scope.insert("ARGN".to_owned(), known(given.get(names.len()..).unwrap_or_default().join(";")));
        scope
    }
}

/// `if(A AND B)` in one line.
fn head_of(step: &Step<'_>) -> String {
    const LONGEST: usize = 120;
    let list = step.list.split_whitespace().collect::<Vec<_>>().join(" ");
    let list: String = list.chars().take(LONGEST).collect();
    format!("{}({list})", step.name)
}
