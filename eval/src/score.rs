//! Recall of gold files and coverage of facts.
//!
//! Full recall: every gold file is there (FRR is the mean). Pair recall: a header or
//! implementation of the same stem in the same folder counts as the file. Micro recall and
//! precision are over all questions together; acceptable files are left out of the precision.
//! Tokens are characters over four.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{Question, ResultLine};

const CHARACTERS_PER_TOKEN: usize = 4;

/// Scores of a set, of its categories, and what was missed.
#[derive(Debug, Serialize)]
pub(crate) struct Scores {
    pub(crate) all: ScoreLine,
    pub(crate) categories: Vec<ScoreLine>,
    pub(crate) missed: Vec<Missed>,
}

/// Means over a group of questions.
#[derive(Debug, Serialize)]
pub(crate) struct ScoreLine {
    pub(crate) name: String,
    pub(crate) questions: usize,
    pub(crate) frr: f64,
    pub(crate) pair_frr: f64,
    pub(crate) micro_recall: f64,
    pub(crate) micro_precision: f64,
    pub(crate) facts: f64,
    pub(crate) context_tokens: f64,
    pub(crate) median_seconds: Option<f64>,
}

/// What one question lacked.
#[derive(Debug, Serialize)]
pub(crate) struct Missed {
    pub(crate) id: String,
    pub(crate) files: Vec<String>,
    pub(crate) facts: Vec<String>,
}

struct Row {
    category: String,
    full: bool,
    pair: bool,
    hit: usize,
    gold: usize,
    predicted: usize,
    facts_covered: usize,
    facts: usize,
    tokens: f64,
    seconds: Option<f64>,
}

pub(crate) fn score(
    questions: &[Question],
    results: &BTreeMap<String, ResultLine>,
    max_tokens: Option<usize>,
) -> Scores {
    let nothing = ResultLine::default();
    let mut missed = Vec::new();
    let rows: Vec<Row> = questions
        .iter()
        .map(|question| {
            let id = question.id.to_string();
            let (row, missing) = score_one(question, results.get(&id).unwrap_or(&nothing), max_tokens);
            missed.extend(missing);
            row
        })
        .collect();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.category.as_str()).collect();
    let categories =
        names.into_iter().map(|name| line(name, rows.iter().filter(|row| row.category == name))).collect();
    Scores { all: line("all", rows.iter()), categories, missed }
}

fn score_one(question: &Question, result: &ResultLine, max_tokens: Option<usize>) -> (Row, Option<Missed>) {
    let files: BTreeSet<&str> = result.files.iter().map(String::as_str).collect();
    let stems: BTreeSet<&str> = files.iter().map(|file| stem(file)).collect();
    let gold = &question.gold_files;
    let missing: Vec<String> = gold.iter().filter(|file| !files.contains(file.as_str())).cloned().collect();
    let acceptable: BTreeSet<&str> = question.acceptable_files.iter().map(String::as_str).collect();
    let is_gold = |file: &str| gold.iter().any(|wanted| wanted == file);
    let limit = max_tokens.map_or(usize::MAX, |tokens| tokens.saturating_mul(CHARACTERS_PER_TOKEN));
    let context: String = result.context.chars().take(limit).collect();
    let folded = fold(&context);
    let uncovered: Vec<String> = question
        .facts
        .iter()
        .filter(|fact| !fact.needles.iter().all(|needle| folded.contains(&fold(needle))))
        .map(|fact| fact.fact.clone())
        .collect();
    let row = Row {
        category: question.category.clone(),
        full: missing.is_empty(),
        pair: gold.iter().all(|file| stems.contains(stem(file))),
        hit: gold.len() - missing.len(),
        gold: gold.len(),
        predicted: files.iter().filter(|file| is_gold(file) || !acceptable.contains(*file)).count(),
        facts_covered: question.facts.len() - uncovered.len(),
        facts: question.facts.len(),
        tokens: context.chars().count() as f64 / CHARACTERS_PER_TOKEN as f64,
        seconds: result.seconds,
    };
    let anything = !missing.is_empty() || !uncovered.is_empty();
    (row, anything.then(|| Missed { id: question.id.to_string(), files: missing, facts: uncovered }))
}

/// Path without its extension.
fn stem(path: &str) -> &str {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    match path[name..].rfind('.') {
        Some(dot) if dot > 0 => &path[..name + dot],
        _ => path,
    }
}

/// White space folded to single blanks.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut blank = false;
    for character in text.chars() {
        if character.is_whitespace() {
            if !blank {
                folded.push(' ');
            }
            blank = true;
        } else {
            folded.push(character);
            blank = false;
        }
    }
    folded
}

fn line<'a>(name: &str, rows: impl Iterator<Item = &'a Row> + Clone) -> ScoreLine {
    let questions = rows.clone().count();
    let sum = |value: fn(&Row) -> usize| rows.clone().map(value).sum::<usize>() as f64;
    let of = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let count = questions as f64;
    let mut seconds: Vec<f64> = rows.clone().filter_map(|row| row.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    ScoreLine {
        name: name.to_owned(),
        questions,
        frr: of(sum(|row| row.full.into()), count),
        pair_frr: of(sum(|row| row.pair.into()), count),
        micro_recall: of(sum(|row| row.hit), sum(|row| row.gold)),
        micro_precision: of(sum(|row| row.hit), sum(|row| row.predicted).max(1.0)),
        facts: of(sum(|row| row.facts_covered), sum(|row| row.facts)),
        context_tokens: of(rows.clone().map(|row| row.tokens).sum(), count),
        median_seconds: median(&seconds),
    }
}

fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions() -> Vec<Question> {
        serde_json::from_str(
            r#"[
              {"id": 1, "category": "a", "question": "?", "gold_files": ["src/A.h", "src/B.cpp"],
               "acceptable_files": ["src/C.h"],
               "facts": [{"fact": "f", "needles": ["x =  1"]}, {"fact": "g", "needles": ["y", "z"]}]},
              {"id": "two", "category": "b", "question": "?", "gold_files": ["D.h"], "facts": []}
            ]"#,
        )
        .unwrap()
    }

    fn result(id: serde_json::Value, files: &[&str], context: &str) -> (String, ResultLine) {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        (id.to_string(), ResultLine { id, files, context: context.to_owned(), seconds: Some(0.5) })
    }

    /// By hand: question 1 hits A.h and the sibling B.h of B.cpp; C.h does not count against it.
    /// Predicted: A.h, B.h and Z.h, so 1 of 3 gold files hit and 1 of 3 predicted right.
    #[test]
    fn the_measures_are_those_of_the_definition() {
        let results = BTreeMap::from([result(
            1.into(),
            &["src/A.h", "src/B.h", "src/C.h", "Z.h", "Z.h"],
            "x =\n 1; y",
        )]);
        let scores = score(&questions(), &results, None);
        let all = &scores.all;
        assert_eq!((all.questions, all.frr, all.pair_frr), (2, 0.0, 0.5));
        assert_eq!((all.micro_recall, all.micro_precision, all.facts), (1.0 / 3.0, 1.0 / 3.0, 0.5));
        assert_eq!((all.context_tokens, all.median_seconds), (9.0 / 4.0 / 2.0, Some(0.5)));
        assert_eq!(scores.missed[0].files, ["src/B.cpp"]);
        assert_eq!(scores.missed[0].facts, ["g"]);
        assert_eq!(score(&questions(), &results, Some(1)).all.facts, 0.0);
    }

    #[test]
    fn a_stem_keeps_its_folder() {
        assert_eq!(stem("src/a.b/File.hpp"), "src/a.b/File");
        assert_eq!(stem("src/a.b/Makefile"), "src/a.b/Makefile");
        assert_eq!(stem(".clang-format"), ".clang-format");
    }
}
