//! Tells a usable answer from an empty or looping one.

use std::collections::BTreeSet;

use crate::FinishReason;

/// The answer as it is kept, or why it is not: trimmed, and ended at a sentence when the token
/// limit cut it.
pub(crate) fn check(text: &str, finish: FinishReason) -> Result<String, &'static str> {
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
