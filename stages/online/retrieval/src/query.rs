//! What a question names and asks about (paper 3.3.2).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use almanac_lookup::{SearchIndex, WeightedTerm, identifier_parts, is_stop_word, words};
use almanac_tables::{ArtifactRole, EntityKind};

use crate::Result;
use crate::building::also_called;
use crate::intent::{Intent, Mentions, route};

/// Words of questions that say how is asked, not about what. Written as the analyzer stems them.
const QUESTION_TERMS: &[&str] = &[
    "actual",
    "avail",
    "between",
    "call",
    "class",
    "code",
    "come",
    "compar",
    "defin",
    "describ",
    "differ",
    "differenti",
    "doe",
    "each",
    "exact",
    "exampl",
    "explain",
    "file",
    "function",
    "give",
    "happen",
    "header",
    "help",
    "implement",
    "insid",
    "look",
    "main",
    "mean",
    "method",
    "mean",
    "need",
    "one",
    "other",
    "overal",
    "perform",
    "project",
    "provid",
    "purpos",
    "respons",
    "role",
    "show",
    "structur",
    "typic",
    "us",
    "use",
    "usual",
    "way",
    "work",
];
const QUESTION_TERM_WEIGHT: f32 = 0.25;
/// Weight of a term that is part of an identifier which is itself in the question.
const PART_WEIGHT: f32 = 0.4;
/// Weight of an initialism or joined word that names something in the store.
const DERIVED_WEIGHT: f32 = 0.8;
/// Weight of what build files call a word of a question about building.
const BUILDING_WEIGHT: f32 = 0.7;
/// Words that name the part a file plays.
const ROLE_WORDS: &[(&str, ArtifactRole)] = &[
    ("benchmark", ArtifactRole::Benchmark),
    ("benchmarks", ArtifactRole::Benchmark),
    ("ci", ArtifactRole::Ci),
    ("continuous", ArtifactRole::Ci),
    ("script", ArtifactRole::Script),
    ("scripts", ArtifactRole::Script),
];
/// Words of questions about past changes.
const HISTORY_WORDS: &[&str] = &[
    "changed",
    "changelog",
    "changes",
    "history",
    "release",
    "released",
    "releases",
    "since",
    "version",
    "versions",
];
/// Weight of the project's own name, which stands everywhere.
const EVERYWHERE_WEIGHT: f32 = 0.05;
/// A longer word is data, not a name or a word of a language.
const LONGEST_WORD_BYTES: usize = 256;
/// A longer path names no file.
const LONGEST_PATH_BYTES: usize = 1024;
/// Terms taken from one word; an identifier has fewer parts.
const TERMS_OF_A_WORD: usize = 16;

/// A symbol the question names.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SymbolMention {
    /// As written.
    pub(crate) written: String,
    /// Entities with this name.
    pub(crate) entities: Vec<usize>,
    /// Whether it is written like code (case, underscore, `::`), not like a word.
    pub(crate) like_code: bool,
}

/// Everything taken from the question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Signals {
    pub(crate) intent: Intent,
    /// Roles of files that the question speaks of.
    pub(crate) roles: BTreeSet<ArtifactRole>,
    /// Whether it is about what was changed when.
    pub(crate) asks_for_history: bool,
    /// Files named with extension.
    pub(crate) files: Vec<usize>,
    /// Files named by their stem only.
    pub(crate) stem_files: Vec<usize>,
    pub(crate) symbols: Vec<SymbolMention>,
    pub(crate) modules: Vec<usize>,
    pub(crate) terms: Vec<WeightedTerm>,
    pub(crate) known: Vec<KnownTerm>,
    /// Words of the question that occur nowhere in the store.
    pub(crate) unknown: Vec<String>,
    /// Number of words that carry meaning.
    pub(crate) content_words: usize,
}

/// One word of the question.
struct Word<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

/// The beginning of a question up to its `most`-th word, and the number of words after it.
pub(crate) fn beginning(question: &str, most: usize) -> (&str, usize) {
    let words = words(question);
    match words.get(most) {
        Some(_) => (&question[..words[..most].last().map_or(0, |word| word.end)], words.len() - most),
        None => (question, 0),
    }
}

/// Time and memory grow with the words of the question, not with their square.
pub(crate) fn read(index: &SearchIndex, question: &str) -> Result<Signals> {
    let words: Vec<Word<'_>> = words(question)
        .into_iter()
        .filter(|range| range.len() <= LONGEST_WORD_BYTES)
        .map(|range| Word { text: &question[range.clone()], start: range.start, end: range.end })
        .collect();
    let everywhere = index.root_scopes();
    let (files, file_words) = file_mentions(index, question, &words);
    let symbols = symbol_mentions(index, question, &words, everywhere, &file_words);
    let stem_files = stem_mentions(index, &words, everywhere, &file_words);
    let modules = module_mentions(index, &words, everywhere);
    let mentions =
        Mentions { files: !files.is_empty(), symbols: !symbols.is_empty(), modules: !modules.is_empty() };
    let intent = route(question, &mentions);
    let terms = weighted_terms(index, &words, everywhere, intent);
    let known = known_terms(index, &terms)?;
    let (unknown, content_words) = unknown_words(index, &words, &terms, &known);
    let lower: HashSet<String> = words.iter().map(|word| word.text.to_lowercase()).collect();
    let named = ROLE_WORDS.iter().filter(|(word, _)| lower.contains(*word));
    Ok(Signals {
        intent,
        roles: named.map(|&(_, role)| role).collect(),
        asks_for_history: HISTORY_WORDS.iter().any(|word| lower.contains(*word)),
        files,
        stem_files,
        symbols,
        modules,
        terms,
        known,
        unknown,
        content_words,
    })
}

fn starts_upper(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_uppercase)
}

/// Files named with their extension, and the places of the words that name them.
fn file_mentions(index: &SearchIndex, question: &str, words: &[Word<'_>]) -> (Vec<usize>, BTreeSet<usize>) {
    let mut files = Distinct::default();
    let mut used = BTreeSet::new();
    // Where the path that the word ends begins: after the last character that no path has.
    let (mut path_start, mut looked) = (0, 0);
    for (at, word) in words.iter().enumerate() {
        if let Some((before, c)) = question[looked..word.start].char_indices().rfind(|(_, c)| !in_path(*c)) {
            path_start = looked + before + c.len_utf8();
        }
        looked = word.end;
        let Some(next) = words.get(at + 1) else { continue };
        if &question[word.end..next.start] != "." {
            continue;
        }
        // A path before the name narrows it down.
        let written = question[path_start..next.end].trim_start_matches(['/', '.']);
        let mut named =
            if written.len() <= LONGEST_PATH_BYTES { index.files_named(written) } else { Vec::new() };
        if named.is_empty() {
            named = index.files_named(&question[word.start..next.end]);
        }
        if !named.is_empty() {
            used.extend([at, at + 1]);
            files.extend(named);
        }
    }
    (files.list, used)
}

fn in_path(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '.')
}

/// Places in the order they were named first.
#[derive(Default)]
struct Distinct {
    list: Vec<usize>,
    seen: HashSet<usize>,
}

impl Distinct {
    fn extend(&mut self, more: impl IntoIterator<Item = usize>) {
        self.list.extend(more.into_iter().filter(|&item| self.seen.insert(item)));
    }
}

/// Written like code: mixed case inside, underscore, digit after a letter, or scope beside it.
fn like_code(question: &str, word: &Word<'_>) -> bool {
    let scoped = question[word.end..].starts_with("::") || question[..word.start].ends_with("::");
    let marked = question[..word.start].ends_with('`') || question[word.end..].starts_with("()");
    scoped || marked || word.text.contains('_') || identifier_parts(word.text).len() > 1
}

fn symbol_mentions(
    index: &SearchIndex,
    question: &str,
    words: &[Word<'_>],
    everywhere: &BTreeSet<String>,
    file_words: &BTreeSet<usize>,
) -> Vec<SymbolMention> {
    let mut mentions: Vec<SymbolMention> = Vec::new();
    let mut tried: HashSet<(&str, bool)> = HashSet::new();
    let mut mentioned: HashSet<&str> = HashSet::new();
    let mut at = 0;
    while at < words.len() {
        let first = at;
        while at + 1 < words.len() && &question[words[at].end..words[at + 1].start] == "::" {
            at += 1;
        }
        let word = &words[at];
        at += 1;
        let lower = word.text.to_lowercase();
        if file_words.contains(&(at - 1)) || everywhere.contains(&lower) || is_stop_word(&lower) {
            continue;
        }
        let code = like_code(question, word);
        // A plain word counts when it is capitalised inside the sentence and names a type.
        let proper = starts_upper(word.text) && first > 0;
        if !code && !proper {
            continue;
        }
        let written = &question[words[first].start..word.end];
        if mentioned.contains(written) || !tried.insert((written, code)) {
            continue;
        }
        let mut entities = index.entities_named(written);
        if entities.is_empty() && first + 1 < at {
            entities = index.entities_named(word.text);
        }
        if !code {
            entities.retain(|&entity| {
                let kind = index.tables().entities[entity].kind;
                kind.is_record() || matches!(kind, EntityKind::Alias | EntityKind::Concept)
            });
        }
        if !entities.is_empty() {
            mentioned.insert(written);
            mentions.push(SymbolMention { written: written.to_owned(), entities, like_code: code });
        }
    }
    mentions
}

/// Files whose stem is a word of the question, case and all.
fn stem_mentions(
    index: &SearchIndex,
    words: &[Word<'_>],
    everywhere: &BTreeSet<String>,
    file_words: &BTreeSet<usize>,
) -> Vec<usize> {
    let mut files = Distinct::default();
    for (at, word) in words.iter().enumerate() {
        let lower = word.text.to_lowercase();
        if file_words.contains(&at) || everywhere.contains(&lower) || !starts_upper(word.text) {
            continue;
        }
        let named = index.files_named(word.text).into_iter().filter(|&file| {
            let path = &index.tables().files[file].path;
            path.rsplit('/').next().is_some_and(|name| name.starts_with(word.text))
        });
        files.extend(named);
    }
    files.list
}

fn module_mentions(index: &SearchIndex, words: &[Word<'_>], everywhere: &BTreeSet<String>) -> Vec<usize> {
    let mut modules = Distinct::default();
    for word in words {
        let lower = word.text.to_lowercase();
        if !everywhere.contains(&lower) && !is_stop_word(&lower) && lower.len() > 2 {
            modules.extend(index.modules_named(&lower));
        }
    }
    modules.list
}

/// Terms for the text index, each once, with the largest weight it got.
fn weighted_terms(
    index: &SearchIndex,
    words: &[Word<'_>],
    everywhere: &BTreeSet<String>,
    intent: Intent,
) -> Vec<WeightedTerm> {
    let mut weights: BTreeMap<String, f32> = BTreeMap::new();
    let mut add = |term: &str, weight: f32| {
        let slot = weights.entry(term.to_owned()).or_insert(0.0);
        *slot = slot.max(weight);
    };
    for word in words {
        let lower = word.text.to_lowercase();
        let base = if everywhere.contains(&lower) { EVERYWHERE_WEIGHT } else { 1.0 };
        for (at, term) in index.analyzer().prose_terms(word.text).iter().take(TERMS_OF_A_WORD).enumerate() {
            let part = if at > 0 { PART_WEIGHT } else { 1.0 };
            let asking = if QUESTION_TERMS.contains(&term.as_str()) && !starts_upper(word.text) {
                QUESTION_TERM_WEIGHT
            } else {
                1.0
            };
            add(term, base * part * asking);
        }
        if intent == Intent::BuildAndInstall {
            for written in also_called(&lower) {
                for term in index.analyzer().code_terms(written).iter().take(1) {
                    add(term, BUILDING_WEIGHT);
                }
            }
        }
    }
    for derived in derived_names(index, words) {
        for term in index.analyzer().code_terms(&derived).iter().take(1) {
            add(term, DERIVED_WEIGHT);
        }
    }
    weights.into_iter().map(|(term, weight)| WeightedTerm { term, weight }).collect()
}

/// Names the store knows that neighbouring words make when joined (`halo cells`: `HaloCells`) or
/// by their initials (`conjugate gradient`: `CG`).
fn derived_names(index: &SearchIndex, words: &[Word<'_>]) -> Vec<String> {
    let known = |name: &str| !index.files_named(name).is_empty() || !index.entities_named(name).is_empty();
    let mut names = Vec::new();
    for start in 0..words.len() {
        for length in 2..=4 {
            let Some(run) = words.get(start..start + length) else { break };
            if is_stop_word(&run[0].text.to_lowercase()) {
                break;
            }
            let last = run[length - 1].text.to_lowercase();
            if is_stop_word(&last) {
                continue;
            }
            let initials: String =
                run.iter().filter_map(|word| word.text.chars().next()).collect::<String>().to_uppercase();
            if known(&initials) {
                names.push(initials);
            }
            let camel: String = run.iter().map(|word| capitalised(word.text)).collect();
            if length <= 3 && known(&camel) {
                names.push(camel);
            }
        }
    }
    names.dedup();
    names
}

fn capitalised(word: &str) -> String {
    let mut characters = word.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}

/// A term with what it tells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KnownTerm {
    pub(crate) term: String,
    /// Weight in the question times rarity among the files.
    pub(crate) importance: f32,
    /// Files that hold it.
    pub(crate) files: BTreeSet<usize>,
}

fn known_terms(index: &SearchIndex, terms: &[WeightedTerm]) -> Result<Vec<KnownTerm>> {
    let mut known = Vec::new();
    for WeightedTerm { term, weight } in terms {
        let files: BTreeSet<usize> = index.files_with(term)?.into_iter().collect();
        let share = files.len() as f32 / index.file_count().max(1) as f32;
        // A term of every file tells no places apart; one of a single file does.
        let importance = weight * -(share + 0.001).min(1.0).ln();
        known.push(KnownTerm { term: term.clone(), importance, files });
    }
    Ok(known)
}

/// Words that carry meaning and occur in no file, as written; and how many carry meaning.
fn unknown_words(
    index: &SearchIndex,
    words: &[Word<'_>],
    terms: &[WeightedTerm],
    known: &[KnownTerm],
) -> (Vec<String>, usize) {
    let carrying: HashSet<&str> =
        terms.iter().filter(|term| term.weight >= 1.0).map(|term| term.term.as_str()).collect();
    let somewhere: HashSet<&str> =
        known.iter().filter(|term| !term.files.is_empty()).map(|term| term.term.as_str()).collect();
    let mut unknown: Vec<String> = Vec::new();
    let mut told: HashSet<&str> = HashSet::new();
    let mut content = 0;
    for word in words {
        let own = index.analyzer().prose_terms(word.text);
        if !own.first().is_some_and(|first| carrying.contains(first.as_str())) {
            continue;
        }
        content += 1;
        // One part of a compound that is known is enough to look further.
        let found = own.iter().any(|term| somewhere.contains(term.as_str()));
        if !found && told.insert(word.text) {
            unknown.push(word.text.to_owned());
        }
    }
    (unknown, content)
}

#[cfg(test)]
mod tests {
    use super::beginning;

    #[test]
    fn a_question_is_cut_after_a_word() {
        assert_eq!(beginning("Where is Grid.h?", 9), ("Where is Grid.h?", 0));
        assert_eq!(beginning("Where is Grid.h?", 4), ("Where is Grid.h?", 0));
        assert_eq!(beginning("Where is Grid.h?", 3), ("Where is Grid", 1));
        assert_eq!(beginning("größe der Zelle", 1), ("größe", 2));
    }
}
