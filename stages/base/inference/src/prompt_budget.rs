//! Fits a prompt into a number of tokens without a tokenizer.
//!
//! A record's key is a digest of its rendered prompt, and keys must be known without loading a
//! model. So what goes into a prompt is decided by an estimate from bytes that never changes; the
//! model's own count only guards the generation itself.

/// Bytes that are counted as one token: less than C++ has under any tokenizer in use (3.2 to 3.8).
const BYTES_PER_TOKEN: usize = 3;

/// Tokens `text` has at most, by its length.
pub fn estimate_tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// Tokens `text` probably has: between C++ and prose. For what is told beforehand, never for a limit.
pub fn expected_tokens(text: &str) -> usize {
    text.len() * 10 / 36
}

/// The longest head of `text` that is estimated at no more than `tokens`, ended between lines or
/// words where there is one in its last third.
pub fn clip(text: &str, tokens: usize) -> &str {
    let limit = tokens.saturating_mul(BYTES_PER_TOKEN);
    if text.len() <= limit {
        return text;
    }
    let head = &text[..text.floor_char_boundary(limit)];
    let least = head.len() / 3 * 2;
    let at_line = head.rfind('\n').filter(|&at| at >= least);
    let at = at_line.or_else(|| head.rfind(char::is_whitespace).filter(|&at| at >= least));
    head[..at.unwrap_or(head.len())].trim_end()
}

/// The first sentence of `text` on one line, at most `limit` bytes.
pub fn first_sentence(text: &str, limit: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        let ends = word.ends_with(['.', '!', '?']) && !ABBREVIATIONS.contains(&word);
        if line.len() >= limit || (ends && line.len() >= SHORTEST_SENTENCE) {
            break;
        }
    }
    line[..line.floor_char_boundary(limit)].trim_end().to_owned()
}

const SHORTEST_SENTENCE: usize = 12;
const ABBREVIATIONS: [&str; 4] = ["e.g.", "i.e.", "etc.", "cf."];

/// Tokens still free in a prompt. What is asked for first is kept first.
#[derive(Debug, Clone)]
pub struct PromptBudget {
    left: usize,
}

/// Tokens a fact's label costs.
const LABEL: usize = 6;

impl PromptBudget {
    /// A prompt of `tokens`.
    pub fn new(tokens: usize) -> Self {
        Self { left: tokens }
    }

    /// Tokens left.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Takes what `text` needs, whether or not it is there.
    pub fn spend(&mut self, text: &str) {
        self.left = self.left.saturating_sub(estimate_tokens(text));
    }

    /// As much of `text` as fits and as `most` allows; empty when its label would not.
    pub fn text(&mut self, text: &str, most: usize) -> String {
        let room = most.min(self.left.saturating_sub(LABEL));
        let kept = clip(text.trim(), room);
        if kept.is_empty() {
            return String::new();
        }
        self.left -= LABEL;
        self.spend(kept);
        kept.to_owned()
    }

    /// The first items that fit, whole, at most `most`.
    pub fn list(&mut self, items: &[String], most: usize) -> Vec<String> {
        let mut kept = Vec::new();
        for item in items.iter().take(most) {
            let label = if kept.is_empty() { LABEL } else { 1 };
            let cost = estimate_tokens(item) + label;
            if cost > self.left {
                break;
            }
            self.left -= cost;
            kept.push(item.clone());
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_between_lines_and_never_inside_a_character() {
        assert_eq!(clip("int a;\nint b;\nint c;", 5), "int a;\nint b;");
        assert_eq!(clip("αβγδε", 1), "α");
        assert_eq!(clip("short", 10), "short");
    }

    #[test]
    fn first_sentences() {
        assert_eq!(first_sentence("Solves it, e.g. by CG. Then more.", 80), "Solves it, e.g. by CG.");
        assert_eq!(first_sentence("one\n two", 80), "one two");
        assert_eq!(first_sentence("äää ööö üüü", 7), "äää");
    }

    #[test]
    fn a_budget_keeps_the_first_and_drops_the_rest() {
        let mut budget = PromptBudget::new(20);
        assert_eq!(budget.list(&["abcdef".into(), "ghijkl".into(), "x".repeat(60)], 8), ["abcdef", "ghijkl"]);
        assert_eq!(budget.left(), 20 - 8 - 3);
        assert_eq!(budget.text("nine char", 100), "nine char");
        assert_eq!(budget.text("nothing left", 100), "");
    }
}
