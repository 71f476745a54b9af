//! What a line is about, of what the store knows.
//!
//! Another tool names symbols in its own way, and says nothing of overloads. So lines that name the same
//! are looked at together: as many as there are such symbols stand in the order of the source; otherwise
//! each goes to the symbol whose code has most of the names that it mentions.

use std::collections::{BTreeMap, BTreeSet};

use almanac_tables::{Entity, File, Imported, Module, Text, file_node};

use super::lines::{Level, Line};

/// Something a text can be about.
pub(super) struct Subject {
    /// Id of the entity or summary.
    pub(super) id: String,
    /// What stands for its content.
    pub(super) content: String,
    /// Text whose names the explanation may mention.
    pub(super) shown: String,
}

/// What the store has of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Its files.
    pub files: &'a [File],
    /// Their texts.
    pub texts: &'a [Text],
    /// Symbols and sections, in table order, which is that of the source.
    pub entities: &'a [Entity],
    /// Folders and namespaces.
    pub modules: &'a [Module],
}

type Found = Result<Subject, &'static str>;

/// Files, modules and symbols by the names that other tools give them.
pub(super) struct Subjects<'a> {
    files: BTreeMap<&'a str, &'a File>,
    texts: BTreeMap<&'a str, &'a str>,
    modules: &'a [Module],
    symbols: BTreeMap<(&'a str, &'a str), Vec<&'a Entity>>,
    /// Names of classes: a line that names one as a parent means that class and no other.
    classes: BTreeSet<&'a str>,
}

impl<'a> Subjects<'a> {
    pub(super) fn new(known: &Known<'a>) -> Self {
        let Known { files, texts, entities, modules } = *known;
        let mut symbols: BTreeMap<(&str, &str), Vec<&Entity>> = BTreeMap::new();
        for entity in entities.iter().filter(|entity| entity.kind.is_callable() || entity.kind.is_record()) {
            symbols.entry((&entity.path, &entity.name)).or_default().push(entity);
        }
        let records = entities.iter().filter(|entity| entity.kind.is_record());
        Self {
            files: files.iter().map(|file| (file.path.as_str(), file)).collect(),
            texts: texts.iter().map(|text| (text.path.as_str(), text.text.as_str())).collect(),
            modules,
            symbols,
            classes: records.map(|entity| entity.name.as_str()).collect(),
        }
    }

    /// What each line is about.
    pub(super) fn find(&self, lines: &[Line]) -> Vec<Found> {
        let mut found: Vec<Option<Found>> = lines.iter().map(|_| None).collect();
        let mut groups: BTreeMap<(Level, &str, &str, &str, bool), Vec<usize>> = BTreeMap::new();
        for (place, line) in lines.iter().enumerate() {
            match line.level {
                Level::File => found[place] = Some(self.file(&line.path)),
                Level::Module => found[place] = Some(self.module(&line.path)),
                Level::Symbol | Level::CallChain => {
                    let key = (
                        line.level,
                        line.path.as_str(),
                        base(&line.symbol),
                        base(&line.parent),
                        is_record(line),
                    );
                    groups.entry(key).or_default().push(place);
                }
            }
        }
        for places in groups.into_values() {
            let group: Vec<&Line> = places.iter().map(|place| &lines[*place]).collect();
            for (place, entity) in places.iter().zip(self.assign(&group)) {
                found[*place] = Some(entity.map(|entity| self.symbol(entity, lines[*place].level)));
            }
        }
        found.into_iter().map(|found| found.unwrap_or(Err("nothing is known of it"))).collect()
    }

    fn text(&self, path: &str) -> &'a str {
        self.texts.get(path).copied().unwrap_or("")
    }

    fn file(&self, path: &str) -> Found {
        let file = self.files.get(path).ok_or("the store has no such file")?;
        Ok(Subject {
            id: file_node(path),
            content: Imported::file_content(file).to_owned(),
            shown: format!("{path} {}", self.text(path)),
        })
    }

    /// The folder that is called so; else, of those whose path ends so, the one with most files below it.
    fn module(&self, path: &str) -> Found {
        let name = path.rsplit_once(':').map_or(path, |(_, name)| name).trim_matches('/');
        let exact = self.modules.iter().find(|module| module.name == name);
        let ending = format!("/{name}");
        let mut similar: Vec<&Module> =
            self.modules.iter().filter(|module| module.name.ends_with(&ending)).collect();
        similar.sort_by_key(|module| std::cmp::Reverse(module.descendant_files));
        let module = match (exact, &similar[..]) {
            (Some(module), _) => module,
            (None, [module]) => module,
            (None, [most, next, ..]) if most.descendant_files > next.descendant_files => most,
            (None, []) => return Err("the store has no such folder"),
            (None, _) => return Err("several folders are called so"),
        };
        let mut shown = format!("{name} {}", module.files.join(" "));
        for path in &module.files {
            shown.push(' ');
            shown.push_str(self.text(path));
        }
        Ok(Subject { id: module.id.clone(), content: Imported::MODULE_CONTENT.to_owned(), shown })
    }

    fn symbol(&self, entity: &Entity, level: Level) -> Subject {
        let id = if level == Level::CallChain { format!("chain:{}", entity.id) } else { entity.id.clone() };
        let shown = format!("{} {} {}", entity.qualified_name, entity.path, self.text(&entity.path));
        Subject { id, content: entity.text_digest.clone(), shown }
    }

    /// The symbols that lines with the same name are about, in their order.
    fn assign(&self, lines: &[&Line]) -> Vec<Result<&'a Entity, &'static str>> {
        let candidates = match self.candidates(lines[0]) {
            Ok(candidates) => candidates,
            Err(reason) => return vec![Err(reason); lines.len()],
        };
        let by_words = self.by_words(lines, &candidates);
        if candidates.len() != lines.len() {
            return by_words;
        }
        // As many lines as symbols: the order of the source, unless the words say clearly otherwise.
        let names = |pairs: &[Result<&Entity, &str>]| -> usize {
            let pairs = lines.iter().zip(pairs);
            pairs.filter_map(|(line, entity)| Some(self.shared(line, entity.ok()?).0)).sum()
        };
        let in_order: Vec<_> = candidates.into_iter().map(Ok).collect();
        let (ordered, worded) = (names(&in_order), names(&by_words));
        if worded > ordered + ordered / 10 { by_words } else { in_order }
    }

    /// Each line with the symbol that is left whose code has most of the names it mentions.
    fn by_words(&self, lines: &[&Line], candidates: &[&'a Entity]) -> Vec<Result<&'a Entity, &'static str>> {
        let mut left: Vec<&Entity> = candidates.to_vec();
        let mut assigned = Vec::with_capacity(lines.len());
        for line in lines {
            // The first of the best, for `max_by_key` would take the last.
            let best = left.iter().enumerate().rev().max_by_key(|(_, entity)| self.shared(line, entity));
            assigned.push(match best.map(|(place, _)| place) {
                Some(place) => Ok(left.remove(place)),
                None => Err("every symbol of this name has a text already"),
            });
        }
        assigned
    }

    /// Names that a text and a symbol's code have in common; of two that share as many, the shorter is
    /// meant more closely.
    fn shared(&self, line: &Line, entity: &Entity) -> (usize, std::cmp::Reverse<usize>) {
        let code = words(entity.slice(self.text(&entity.path)));
        (words(&line.explanation).intersection(&code).count(), std::cmp::Reverse(code.len()))
    }

    /// Symbols that a line may be about, in source order.
    fn candidates(&self, line: &Line) -> Result<Vec<&'a Entity>, &'static str> {
        if !self.files.contains_key(line.path.as_str()) {
            return Err("the store has no such file");
        }
        let named =
            self.symbols.get(&(line.path.as_str(), base(&line.symbol))).map_or(&[][..], Vec::as_slice);
        let of_kind = |entity: &&&Entity| {
            if is_record(line) {
                entity.kind.is_record()
            } else {
                entity.kind.is_callable() || line.chunk_type.is_empty()
            }
        };
        let mut candidates: Vec<&Entity> = named.iter().filter(of_kind).copied().collect();
        if candidates.is_empty() {
            return Err("the file has no such symbol");
        }
        let parent = base(&line.parent);
        let is_inside =
            |entity: &Entity| base(&entity.class_name) == parent || base(&entity.parent) == parent;
        // Some tools give a class as its own parent.
        let is_class = parent != base(&line.symbol) && self.classes.contains(parent);
        if is_class && !candidates.iter().any(|entity| is_inside(entity)) {
            return Err("the file has no such symbol in that class");
        }
        // A rule that leaves nothing is not kept: parents are named in many ways.
        narrow(&mut candidates, |entity| parent.is_empty() || is_inside(entity));
        narrow(&mut candidates, |entity| entity.is_definition);
        Ok(candidates)
    }
}

fn narrow(candidates: &mut Vec<&Entity>, keep: impl Fn(&Entity) -> bool) {
    if candidates.iter().any(|entity| keep(entity)) {
        candidates.retain(|entity| keep(entity));
    }
}

fn is_record(line: &Line) -> bool {
    matches!(line.chunk_type.as_str(), "class" | "struct" | "union")
}

/// The last part of a qualified name, without template arguments.
fn base(name: &str) -> &str {
    let plain = name.split('<').next().unwrap_or(name).trim();
    // `operator<` begins with what looks like arguments.
    let plain = if plain.ends_with("operator") { name.trim() } else { plain };
    plain.rsplit("::").next().unwrap_or(plain)
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 1).collect()
}
