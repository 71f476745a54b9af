//! Tells a usable answer from an empty, looping or meaningless one.

use std::collections::BTreeSet;

use almanac_tables::Answer;

use super::structured;
use crate::{AnswerSchema, FinishReason};

/// An answer that is kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Accepted {
    /// As the ledger keeps it: JSON of the schema, or text.
    pub(super) kept: String,
    /// As it is shown.
    pub(super) shown: String,
    /// Its columns; empty for free text.
    pub(super) answer: Answer,
}

/// A structured answer as it is kept, or why it is not. What the token limit cut off is left out.
pub(super) fn check_structured(
    schema: AnswerSchema,
    text: &str,
    max_tokens: usize,
    system: &str,
) -> Result<Accepted, &'static str> {
    let answer = structured::parse(schema, text, max_tokens).ok_or("the answer is no JSON of its schema")?;
    if answer.role.is_empty() {
        return Err("the answer is empty");
    }
    if is_boilerplate(&answer.role) || echoes(&answer.role, system) {
        return Err("the answer is boilerplate");
    }
    let shown = check(&answer.text(), FinishReason::Stop)?;
    let kept = serde_json::to_string(&answer).map_err(|_| "the answer is no JSON")?;
    Ok(Accepted { kept, shown, answer })
}

/// A free text as it is kept, or why it is not.
pub(super) fn check_text(text: &str, finish: FinishReason, system: &str) -> Result<Accepted, &'static str> {
    let kept = check(text, finish)?;
    let first = kept.lines().next().unwrap_or_default();
    if is_boilerplate(first) || echoes(first, system) {
        return Err("the answer is boilerplate");
    }
    Ok(Accepted { shown: kept.clone(), kept, answer: Answer::default() })
}

/// Beginnings of what models say instead of an answer.
const BOILERPLATE: [&str; 10] = [
    "as an ai",
    "as a language model",
    "i'm sorry",
    "i am sorry",
    "i cannot",
    "i can't",
    "sure,",
    "sure!",
    "certainly",
    "here is",
];

fn is_boilerplate(text: &str) -> bool {
    let text = text.trim_start().to_lowercase();
    BOILERPLATE.iter().any(|beginning| text.starts_with(beginning))
}

/// Words of the shortest phrase that is called a copy.
const COPIED_WORDS: usize = 4;

/// Whether the answer only says what it was asked.
fn echoes(text: &str, system: &str) -> bool {
    let plain = |text: &str| {
        let words =
            text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
    };
    let said = plain(text);
    said.split(' ').count() >= COPIED_WORDS && plain(system).contains(&said)
}

/// The text as it is kept, or why it is not: trimmed, and ended at a sentence when the token
/// limit cut it.
fn check(text: &str, finish: FinishReason) -> Result<String, &'static str> {
    let text = text.trim();
    if !says_something(text) {
        return Err("the answer is empty");
    }
    if !says_something(&outside_fences(text)) {
        return Err("the answer is code without a word about it");
    }
    if loops(text) {
        return Err("the answer repeats itself");
    }
    Ok(match finish {
        FinishReason::Stop => text.to_owned(),
        FinishReason::Length => whole_sentences(text).to_owned(),
    })
}

/// Letters and digits that say anything at all.
const SHORTEST_ANSWER: usize = 8;
/// Words of the longest phrase that is looked for at the end of an answer.
const LONGEST_PHRASE: usize = 24;
/// Words that must follow a pattern before it is called a loop.
const LOOP_WORDS: usize = 12;

fn says_something(text: &str) -> bool {
    text.chars().filter(|character| character.is_alphanumeric()).count() >= SHORTEST_ANSWER
}

/// The text without its fenced code; a fence that is not closed reaches to the end.
fn outside_fences(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

fn loops(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    ends_in_a_loop(&words) || says_little_new(&words)
}

/// Whether the answer's end is one phrase four times or more.
fn ends_in_a_loop(words: &[&str]) -> bool {
    (1..=LONGEST_PHRASE).any(|period| {
        let same = (period..words.len()).rev().take_while(|&at| words[at] == words[at - period]);
        same.count() >= (3 * period).max(LOOP_WORDS)
    })
}

/// Whether more than half of the five-word sequences occur before.
fn says_little_new(words: &[&str]) -> bool {
    let sequences: Vec<&[&str]> = words.windows(5).collect();
    let distinct: BTreeSet<&[&str]> = sequences.iter().copied().collect();
    sequences.len() >= 40 && distinct.len() * 2 < sequences.len()
}

/// `text` up to its last sentence or line end, when that keeps at least a third.
fn whole_sentences(text: &str) -> &str {
    // Code that was cut shows nothing whole.
    let is_open = text.matches("```").count() % 2 == 1;
    let text = text.rfind("```").filter(|_| is_open).map_or(text, |at| text[..at].trim_end());
    let after_mark = |at: usize| text[at + 1..].starts_with(char::is_whitespace);
    let sentence = text
        .rmatch_indices(['.', '!', '?'])
        .map(|(at, _)| at)
        .find(|&at| at + 1 == text.len() || after_mark(at));
    let line = text.rfind('\n').map(|at| at.saturating_sub(1));
    match sentence.max(line) {
        Some(at) if at * 3 >= text.len() => text[..text.ceil_char_boundary(at + 1)].trim_end(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USABLE: &str = "Role: solves the linear system by conjugate gradients.\n\
        Data: takes the right-hand side, returns the solution.";

    #[test]
    fn usable_answers_are_kept() {
        assert_eq!(check(USABLE, FinishReason::Stop).as_deref(), Ok(USABLE));
        let list: String =
            (0..30).map(|i| format!("- `member_{i}`: holds value number {i} of the field.\n")).collect();
        assert!(check(&list, FinishReason::Stop).is_ok());
    }

    #[test]
    fn empty_and_looping_answers_are_not() {
        assert!(check(" \n```\n```", FinishReason::Stop).is_err());
        assert!(check("```cpp\nstruct Cast<T22> {};\n```\n", FinishReason::Stop).is_err());
        assert!(check("```cpp\nstruct Cast<T22> {", FinishReason::Length).is_err());
        assert!(check(&format!("{USABLE}\n```cpp\nint n;\n```"), FinishReason::Stop).is_ok());
        let phrase = "It is used to compute the field. ".repeat(6);
        assert!(check(&phrase, FinishReason::Length).is_err());
        assert!(check(&format!("{USABLE} {}", "the ".repeat(20)), FinishReason::Length).is_err());
        let drifting = format!("{} and then it ends well.", "a b c d e f g h i j ".repeat(8));
        assert!(check(&drifting, FinishReason::Stop).is_err());
    }

    const SYSTEM: &str = "Use only the code. role: what it is for, in one sentence. does: the steps.";

    #[test]
    fn boilerplate_is_no_answer() {
        let text = |text: &str| check_text(text, FinishReason::Stop, SYSTEM).map(|accepted| accepted.kept);
        assert!(text("As an AI language model, I cannot see the code.").is_err());
        assert!(text("Role: what it is for, in one sentence.").is_err());
        assert_eq!(text(USABLE).as_deref(), Ok(USABLE));
        let json = |role: &str, does: &str| {
            let text = format!(r#"{{"role":"{role}","does":"{does}"}}"#);
            check_structured(AnswerSchema::Symbol, &text, 300, SYSTEM)
        };
        assert_eq!(json("What it is for, in one sentence.", "x"), Err("the answer is boilerplate"));
        assert_eq!(json("unclear", "It solves the system."), Err("the answer is empty"));
        assert_eq!(json("a", "b"), Err("the answer is empty"));
        let again = "so it goes on ".repeat(10);
        assert_eq!(json("Solves the system", &again), Err("the answer repeats itself"));
        let good = json("Solves the system.", "Iterates on `x`.").unwrap();
        assert_eq!(good.shown, "Solves the system.\nIterates on `x`.");
        assert!(
            good.kept.starts_with(r#"{"role":"Solves the system.","does":"Iterates on `x`.","inputs":[]"#)
        );
    }

    #[test]
    fn a_cut_answer_ends_at_a_sentence() {
        let cut = format!("{USABLE} And it also does some");
        assert_eq!(check(&cut, FinishReason::Length).as_deref(), Ok(USABLE));
        let in_code = format!("{USABLE}\n```cpp\nint n");
        assert_eq!(check(&in_code, FinishReason::Length).as_deref(), Ok(USABLE));
        let no_end = "version 1.5 of the scheme without an end";
        assert_eq!(check(no_end, FinishReason::Length).as_deref(), Ok(no_end));
    }
}
