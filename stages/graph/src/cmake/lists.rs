//! Variables and lists: `set`, `list`, `file(GLOB)` and what is taken from paths and arguments.

use rustc_hash::FxHashSet;

use super::words::{Word, fits, is_open, items};
use super::{Follower, LONGEST_VALUE, Place, Step, Value, rooted};

impl Follower<'_, '_> {
    /// Follows a command that changes variables; false for any other.
    pub(super) fn set_variables(
        &mut self,
        step: &Step<'_>,
        list: &[Word<'_>],
        is_certain: bool,
        place: &Place,
    ) -> bool {
        let given = self.arguments(list);
        match step.name.as_str() {
            "set" => self.set(&given, is_certain),
            "unset" => {
                if let (Some(name), true) = (given.first(), is_certain) {
                    self.assign(&name.clone(), String::new(), false);
                }
            }
            "list" => self.change_list(&given, is_certain),
            "file" => self.glob(&given, is_certain, place),
            "string" => self.change_text(&given, is_certain),
            "get_filename_component" => self.part_of_path(&given, place),
            "cmake_parse_arguments" => self.parse_arguments(&given),
            _ => return false,
        }
        true
    }

    fn set(&mut self, given: &[String], is_certain: bool) {
        let Some((name, rest)) = given.split_first() else { return };
        let end = rest.iter().position(|word| word == "CACHE").unwrap_or(rest.len());
        if end < rest.len() {
            let is_forced = rest[end..].iter().any(|word| word == "INTERNAL" || word == "FORCE");
            // The user may say something else, unless it is forced.
            if is_forced || self.variable(name).is_none() {
                let value = rest[..end].join(";");
                if let Some(scope) = self.scopes.first_mut() {
                    scope.insert(name.clone(), Value { text: value, is_known: false });
                }
            }
            return;
        }
        match rest.split_last() {
            Some((last, values)) if last == "PARENT_SCOPE" => {
                let value = values.join(";");
                if self.scopes.len() > 1 {
                    let inner = self.scopes.pop();
                    self.store(name, value, is_certain, false);
                    self.scopes.extend(inner);
                }
            }
            _ => self.store(name, rest.join(";"), is_certain, self.scopes.len() > 1),
        }
    }

    /// Sets a variable; where that may not happen, what it held before stays as well.
    fn store(&mut self, name: &str, value: String, is_certain: bool, is_inside: bool) {
        // What a caller or folder above has under that name is most likely another thing.
        let own = self.scopes.last().and_then(|scope| scope.get(name));
        let before = own.filter(|_| !is_certain).map(|before| before.text.clone());
        // A value that grew holds what was there.
        match before.filter(|before| !before.is_empty() && !value.contains(before.as_str())) {
            Some(before) if before.len() + value.len() < LONGEST_VALUE => {
                let known: FxHashSet<&str> = items(&before).collect();
                let new: Vec<&str> = items(&value).filter(|item| !known.contains(item)).collect();
                let text = if new.is_empty() { before } else { format!("{before};{}", new.join(";")) };
                self.spend(text.len() as u64 / 256);
                self.assign(name, text, false);
            }
            _ => {
                let is_known = is_certain && is_inside && !is_open(&value);
                self.assign(name, value, is_known);
            }
        }
    }

    fn change_list(&mut self, given: &[String], is_certain: bool) {
        let [action, name, rest @ ..] = given else { return };
        let before = self.variable(name).cloned().unwrap_or_default();
        let (rest, name) = match rest {
            [kept @ .., word, other] if word == "OUTPUT_VARIABLE" => (kept, other),
            _ => (rest, name),
        };
        let parts = || items(&before.text).map(str::to_owned);
        let after: Vec<String> = match (action.as_str(), rest) {
            ("APPEND", _) => parts().chain(rest.iter().cloned()).collect(),
            ("PREPEND", _) => rest.iter().cloned().chain(parts()).collect(),
            ("REMOVE_ITEM", _) if is_certain => parts().filter(|item| !rest.contains(item)).collect(),
            ("TRANSFORM", [how, text]) if how == "PREPEND" => {
                parts().map(|item| format!("{text}{item}")).collect()
            }
            ("TRANSFORM", [how, text]) if how == "APPEND" => {
                parts().map(|item| format!("{item}{text}")).collect()
            }
            _ => return,
        };
        let text = after.join(";");
        if text.len() <= LONGEST_VALUE {
            self.spend(text.len() as u64 / 256);
            self.assign(name, text, before.is_known && is_certain);
        }
    }

    /// Files of the tree that patterns take.
    fn glob(&mut self, given: &[String], is_certain: bool, place: &Place) {
        let [action, name, rest @ ..] = given else { return };
        let is_deep = action == "GLOB_RECURSE";
        let mut found: Vec<usize> = Vec::new();
        let mut patterns = rest.iter();
        while let Some(pattern) = patterns.next() {
            match pattern.as_str() {
                "CONFIGURE_DEPENDS" | "FOLLOW_SYMLINKS" => {}
                "RELATIVE" | "LIST_DIRECTORIES" => drop(patterns.next()),
                pattern => self.files_like(pattern, is_deep, place, &mut found),
            }
        }
        found.sort_unstable();
        found.dedup();
        self.spend(found.len() as u64 / 4);
        let paths: Vec<String> = found.iter().map(|&at| rooted(&self.tree.files[at].path)).collect();
        self.store(name, paths.join(";"), is_certain, false);
    }

    fn files_like(&self, pattern: &str, is_deep: bool, place: &Place, found: &mut Vec<usize>) {
        let Some(pattern) = self.path_of(pattern, place) else { return };
        let (folder, name) = pattern.rsplit_once('/').unwrap_or(("", &pattern));
        let is_inside = |other: &str| {
            let other = if other == "." { "" } else { other };
            let deeper =
                || other.strip_prefix(folder).is_some_and(|rest| folder.is_empty() || rest.starts_with('/'));
            fits(other, folder) || (is_deep && deeper())
        };
        let folders = self.folders.iter().filter(|(other, _)| is_inside(other));
        for &at in folders.flat_map(|(_, files)| files) {
            let path = &self.tree.files[at].path;
            if fits(path.rsplit('/').next().unwrap_or(path), name) {
                found.push(at);
            }
        }
    }

    fn change_text(&mut self, given: &[String], is_certain: bool) {
        let (name, text) = match given {
            [action, name, rest @ ..] if matches!(action.as_str(), "APPEND" | "PREPEND" | "CONCAT") => {
                let before = self.variable(name).map_or("", |value| value.text.as_str());
                let text = match action.as_str() {
                    "APPEND" => format!("{before}{}", rest.concat()),
                    "PREPEND" => format!("{}{before}", rest.concat()),
                    _ => rest.concat(),
                };
                (name, text)
            }
            [action, text, name] if action == "TOUPPER" => (name, text.to_ascii_uppercase()),
            [action, text, name] if action == "TOLOWER" => (name, text.to_ascii_lowercase()),
            [action, from, to, name, rest @ ..] if action == "REPLACE" && !from.is_empty() => {
                (name, rest.concat().replace(from.as_str(), to))
            }
            _ => return,
        };
        if text.len() <= LONGEST_VALUE {
            self.store(name, text, is_certain, true);
        }
    }

    fn part_of_path(&mut self, given: &[String], place: &Place) {
        let [name, path, mode, ..] = given else { return };
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let text = match mode.as_str() {
            "NAME" => file.to_owned(),
            "NAME_WE" => file.split('.').next().unwrap_or(file).to_owned(),
            "NAME_WLE" => file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_owned(),
            "DIRECTORY" | "PATH" => folder.to_owned(),
            "ABSOLUTE" | "REALPATH" => match self.path_of(path, place) {
                Some(path) => rooted(&path),
                None => return,
            },
            _ => return,
        };
        let is_known = !is_open(&text);
        self.assign(name, text, is_known);
    }

    /// `cmake_parse_arguments`: keywords and what follows each.
    fn parse_arguments(&mut self, given: &[String]) {
        let all;
        let (prefix, options, ones, several, rest) = match given {
            [argv, from, prefix, options, ones, several, ..] if argv == "PARSE_ARGV" => {
                let list = self.variable("ARGV").map_or("", |value| value.text.as_str());
                let skipped = from.parse().unwrap_or(0);
                all = items(list).skip(skipped).map(str::to_owned).collect::<Vec<_>>();
                (prefix, options, ones, several, all.as_slice())
            }
            [prefix, options, ones, several, rest @ ..] => (prefix, options, ones, several, rest),
            _ => return,
        };
        let has = |list: &str, word: &str| items(list).any(|item| item == word);
        let mut values: Vec<(String, Vec<String>)> = Vec::new();
        for name in items(options) {
            values.push((name.to_owned(), vec!["FALSE".to_owned()]));
        }
        for name in items(ones).chain(items(several)) {
            values.push((name.to_owned(), Vec::new()));
        }
        values.push(("UNPARSED_ARGUMENTS".to_owned(), Vec::new()));
        let unparsed = values.len() - 1;
        let mut current = unparsed;
        let mut is_one = false;
        for word in rest {
            let found = values[..unparsed].iter().position(|(name, _)| name == word);
            if let Some(at) = found {
                let is_option = has(options, word);
                if is_option {
                    values[at].1 = vec!["TRUE".to_owned()];
                }
                current = if is_option { unparsed } else { at };
                is_one = has(ones, word);
                continue;
            }
            values[current].1.push(word.clone());
            if is_one {
                current = unparsed;
                is_one = false;
            }
        }
        let prefix = prefix.clone();
        for (name, words) in values {
            let value = Value { text: words.join(";"), is_known: true };
            self.assign(&format!("{prefix}_{name}"), value.text, value.is_known);
        }
    }
}
