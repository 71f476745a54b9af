//! Conditions of CMake: what can be told of them without configuring.

use super::words::{Word, is_open};
use super::{Follower, Value};

/// Whether a branch is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Truth {
    No,
    /// It depends on options, the platform or what is installed.
    Maybe,
    Yes,
}

impl Truth {
    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }
}

impl Follower<'_, '_> {
    /// What a condition comes to: alternatives of `AND`; with parentheses nothing is told.
    pub(super) fn truth(&self, words: &[Word<'_>]) -> Truth {
        let is = |word: &Word<'_>, text: &str| !word.is_quoted && word.text == text;
        if words.is_empty() || words.iter().any(|word| is(word, "(")) {
            return Truth::Maybe;
        }
        let any = words.split(|word| is(word, "OR")).map(|all| {
            let all = all.split(|word| is(word, "AND")).map(|atom| {
                let negations = atom.iter().take_while(|word| is(word, "NOT")).count();
                let truth = self.atom(&atom[negations..]);
                if negations % 2 == 1 { truth.not() } else { truth }
            });
            all.min().unwrap_or(Truth::Maybe)
        });
        any.max().unwrap_or(Truth::Maybe)
    }

    fn atom(&self, words: &[Word<'_>]) -> Truth {
        match words {
            [word] => self.value_truth(word),
            [defined, name] if defined.text == "DEFINED" => match self.variable(name.text) {
                Some(Value { is_known: true, text }) => truth_of(!text.is_empty()),
                _ => Truth::Maybe,
            },
            [one, operator, other] if operator.text == "STREQUAL" => {
                match (self.operand(one), self.operand(other)) {
                    (Some(one), Some(other)) => truth_of(one == other),
                    _ => Truth::Maybe,
                }
            }
            _ => Truth::Maybe,
        }
    }

    /// A constant, or a variable whose value follows from the call it is in.
    fn value_truth(&self, word: &Word<'_>) -> Truth {
        let text = self.fill(word.text);
        if is_open(&text) {
            return Truth::Maybe;
        }
        if let Some(truth) = constant(&text) {
            return truth;
        }
        match self.variable(&text) {
            Some(Value { is_known: true, text }) if !is_open(text) => constant(text).unwrap_or(Truth::Yes),
            _ => Truth::Maybe,
        }
    }

    fn operand(&self, word: &Word<'_>) -> Option<String> {
        let text = self.fill(word.text);
        if is_open(&text) {
            return None;
        }
        match self.variable(&text) {
            Some(value) if !word.is_quoted => Some(value.text.clone()).filter(|_| value.is_known),
            // What is filled in may have come from alternatives.
            _ if word.text.contains('$') && !self.is_known(word.text) => None,
            _ => Some(text),
        }
    }

    /// Whether every variable that a text names is known.
    fn is_known(&self, text: &str) -> bool {
        text.split("${").skip(1).all(|rest| {
            let name = rest.split('}').next().unwrap_or("");
            self.variable(name).is_some_and(|value| value.is_known)
        })
    }
}

fn truth_of(is: bool) -> Truth {
    if is { Truth::Yes } else { Truth::No }
}

fn constant(text: &str) -> Option<Truth> {
    let upper = text.to_ascii_uppercase();
    match upper.as_str() {
        "1" | "ON" | "YES" | "TRUE" | "Y" => Some(Truth::Yes),
        "" | "0" | "OFF" | "NO" | "FALSE" | "N" | "IGNORE" | "NOTFOUND" => Some(Truth::No),
        _ if upper.ends_with("-NOTFOUND") => Some(Truth::No),
        _ => None,
    }
}
