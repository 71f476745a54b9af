//! From what a model wrote under a schema to the columns it means.
//!
//! A constrained answer is valid JSON unless the token limit cut it; then what is whole is kept.

use almanac_tables::Answer;
use serde_json::{Map, Value};

use crate::AnswerSchema;

/// The columns in `text`; `None` when there is no JSON object of the schema in it. An answer that was
/// cut keeps its whole fields and items, and of a text that was being written its whole words.
pub(super) fn parse(schema: AnswerSchema, text: &str, max_tokens: usize) -> Option<Answer> {
    let start = text.find('{')?;
    let object = read(&text[start..]).or_else(|| read(&close(&text[start..])))?;
    let mut columns = Map::new();
    for bound in schema.bounds(max_tokens) {
        let Some(value) = object.get(bound.name) else { continue };
        let fits = match value {
            Value::String(_) => bound.items == 0,
            Value::Array(items) => bound.items > 0 && items.iter().all(Value::is_string),
            _ => false,
        };
        if !fits {
            return None;
        }
        columns.insert(bound.name.to_owned(), value.clone());
    }
    let answer: Answer = serde_json::from_value(Value::Object(columns)).ok()?;
    Some(tidy(answer))
}

/// The first JSON object; what stands behind it is not looked at.
fn read(text: &str) -> Option<Map<String, Value>> {
    let first = serde_json::Deserializer::from_str(text).into_iter::<Value>().next()?;
    match first.ok()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// `text` with what is open closed: a string after its last whole word, then lists and objects. A name
/// without a value is left out.
fn close(text: &str) -> String {
    let mut open = Vec::new();
    let mut string = None;
    let mut escaped = false;
    // Where the text could be ended, were everything that is open there closed.
    let mut whole = (0, 0);
    for (at, character) in text.char_indices() {
        if let Some(start) = string {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    string = None;
                    let is_name = open.last() == Some(&'}') && !follows_colon(&text[..start]);
                    if !is_name {
                        whole = (at + 1, open.len());
                    }
                }
                _ => {}
            }
            continue;
        }
        match character {
            '"' => string = Some(at),
            '{' => open.push('}'),
            '[' => {
                open.push(']');
                whole = (at + 1, open.len());
            }
            '}' | ']' => {
                open.pop();
                whole = (at + 1, open.len());
            }
            _ => {}
        }
        if whole.0 == 0 && !open.is_empty() {
            whole = (at + 1, open.len());
        }
    }
    if let Some(start) = string {
        let is_value = open.last() == Some(&']') || follows_colon(&text[..start]);
        let words = text[start..].rfind(' ').map(|end| text[start..start + end].trim_end_matches('\\'));
        if let Some(words) = words.filter(|words| is_value && words.len() > 1) {
            return format!("{}{words}\"{}", &text[..start], closing(&open));
        }
    }
    let (end, depth) = whole;
    format!("{}{}", &text[..end], closing(&open[..depth.min(open.len())]))
}

fn follows_colon(before: &str) -> bool {
    before.trim_end().ends_with(':')
}

fn closing(open: &[char]) -> String {
    open.iter().rev().collect()
}

/// Words that stand for nothing.
const NOTHING: [&str; 12] = [
    "",
    "unclear",
    "unknown",
    "none",
    "n/a",
    "na",
    "null",
    "nothing",
    "not applicable",
    "not specified",
    "not clear",
    "string",
];

/// Trimmed, on one line each, without fillers, repeated items and a deed that only repeats the role.
fn tidy(mut answer: Answer) -> Answer {
    let Answer { role, does, inputs, outputs, meaning, parallelism, effects, terms, uncertainty } =
        &mut answer;
    for text in [&mut *role, &mut *does, meaning, parallelism, effects, uncertainty] {
        *text = one_line(text);
    }
    for list in [inputs, outputs, terms] {
        let mut kept: Vec<String> = Vec::new();
        for item in list.iter().map(|item| one_line(item)).filter(|item| !item.is_empty()) {
            if !kept.contains(&item) {
                kept.push(item);
            }
        }
        *list = kept;
    }
    if role == does {
        does.clear();
    }
    answer
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let bare = line.trim_matches(['.', '-', '`', ' ']).to_lowercase();
    if NOTHING.contains(&bare.as_str()) { String::new() } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"role":"solves \"it\" by CG","does":"iterates until done","inputs":["`b`: right-hand side","`b`: right-hand side"],"outputs":[],"meaning":"Poisson equation","parallelism":"none","effects":"","terms":["CG","Poisson"],"uncertainty":"N/A"}"#;

    fn parsed(text: &str) -> Option<Answer> {
        parse(AnswerSchema::Symbol, text, 300)
    }

    #[test]
    fn a_whole_answer_is_tidied() {
        let answer = parsed(&format!("{WHOLE}<|im_end|>")).unwrap();
        assert_eq!(answer.role, "solves \"it\" by CG");
        assert_eq!(answer.inputs, ["`b`: right-hand side"]);
        assert_eq!((answer.parallelism.as_str(), answer.uncertainty.as_str()), ("", ""));
        assert_eq!(answer.terms, ["CG", "Poisson"]);
    }

    #[test]
    fn wherever_an_answer_is_cut_what_was_whole_is_kept() {
        let whole = parsed(WHOLE).unwrap();
        for end in 1..WHOLE.len() {
            let answer = parsed(&WHOLE[..end]).unwrap_or_else(|| panic!("{}", &WHOLE[..end]));
            for (part, of) in
                [(&answer.role, &whole.role), (&answer.does, &whole.does), (&answer.meaning, &whole.meaning)]
            {
                assert!(of.starts_with(part.as_str()), "{end}: {part}");
            }
            assert!(answer.terms.iter().all(|term| whole.terms.contains(term)), "{end}: {:?}", answer.terms);
        }
        let cut = &WHOLE[..WHOLE.find("until").unwrap() + 3];
        let answer = parsed(cut).unwrap();
        assert_eq!((answer.role, answer.does), (whole.role, "iterates".to_owned()));
    }

    #[test]
    fn what_is_no_answer_of_the_schema_is_none() {
        for text in ["", "It solves the system.", "[1, 2]", r#"{"role": 3}"#, r#"{"role":"a","terms":"b"}"#] {
            assert_eq!(parsed(text), None, "{text}");
        }
        assert_eq!(parsed("{").unwrap(), Answer::default());
    }
}
