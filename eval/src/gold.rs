//! Question sets and results, as files have them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;

/// One question with what a good context holds.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Question {
    pub(crate) id: serde_json::Value,
    pub(crate) category: String,
    pub(crate) question: String,
    /// Smallest set of files that answers it.
    pub(crate) gold_files: Vec<String>,
    /// Files that do no harm.
    #[serde(default)]
    pub(crate) acceptable_files: Vec<String>,
    #[serde(default)]
    pub(crate) facts: Vec<Fact>,
}

/// A fact an answer needs: covered when every needle occurs in the context.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Fact {
    pub(crate) fact: String,
    pub(crate) needles: Vec<String>,
}

/// What was found for one question.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct ResultLine {
    pub(crate) id: serde_json::Value,
    pub(crate) files: Vec<String>,
    #[serde(default)]
    pub(crate) context: String,
    pub(crate) seconds: Option<f64>,
}

/// A line of `almanac search --batch`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Found(ResultLine),
    Refused {
        id: serde_json::Value,
        #[serde(rename = "error")]
        _error: String,
    },
}

pub(crate) fn read_questions(path: &Path) -> Result<Vec<Question>, Error> {
    let text = read(path)?;
    serde_json::from_str(&text).map_err(|source| Error::Gold { path: path.to_owned(), source })
}

/// Results by the id's JSON text; of two with one id the later counts.
pub(crate) fn read_results(path: &Path) -> Result<BTreeMap<String, ResultLine>, Error> {
    let mut results = BTreeMap::new();
    for (number, line) in read(path)?.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(line).map_err(|source| Error::Result {
            path: path.to_owned(),
            line: number + 1,
            source,
        })?;
        // A question that was refused found nothing.
        let result = match line {
            Line::Found(result) => result,
            Line::Refused { id, .. } => ResultLine { id, ..ResultLine::default() },
        };
        results.insert(result.id.to_string(), result);
    }
    Ok(results)
}

fn read(path: &Path) -> Result<String, Error> {
    fs_err::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_was_refused_is_one_without_an_answer() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("results.jsonl");
        let lines = [
            r#"{"id": "a", "query": "q", "files": ["x.h"], "context": "c", "seconds": 0.1}"#,
            r#"{"id": "b", "line": 2, "error": "not a query"}"#,
        ];
        fs_err::write(&path, lines.join("\n")).unwrap();
        let results = read_results(&path).unwrap();
        assert_eq!(results["\"a\""].files, ["x.h"]);
        assert!(results["\"b\""].files.is_empty());
        fs_err::write(&path, r#"{"id": "c"}"#).unwrap();
        assert!(matches!(read_results(&path), Err(Error::Result { line: 1, .. })));
    }
}
