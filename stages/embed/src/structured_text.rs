//! The structured text of a chunk (paper, listing 7), written and taken apart again.

use almanac_tables::Chunk;

/// Sections of a chunk's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sections {
    /// `File:`, `Symbol:`, `Chunk Type:`, `Parent Symbol:`, `Section Path:` lines.
    pub(crate) head: String,
    /// Generated explanation; may be empty.
    pub(crate) explanation: String,
    /// Comment of the entity; may be empty.
    pub(crate) comment: String,
    /// Label of the body.
    pub(crate) label: &'static str,
    /// Code, prose or facts.
    pub(crate) body: String,
}

/// Body of a symbol.
pub(crate) const CODE: &str = "Code:";
/// Body of a piece of a document.
pub(crate) const TEXT: &str = "Text:";
/// Body of a summary.
pub(crate) const FACTS: &str = "Facts:";
pub(crate) const EXPLANATION: &str = "Generated Explanation:";
pub(crate) const COMMENT: &str = "Comment:";

/// The head lines; empty values are left out.
pub(crate) fn head(file: &str, symbol: &str, kind: &str, parent: &str, section_path: &str) -> String {
    let lines = [
        ("File", file),
        ("Symbol", symbol),
        ("Chunk Type", kind),
        ("Parent Symbol", parent),
        ("Section Path", section_path),
    ];
    let told = lines.iter().filter(|(_, value)| !value.is_empty());
    told.map(|(label, value)| format!("{label}: {}", one_line(value))).collect::<Vec<_>>().join("\n")
}

fn one_line(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `text` with no line that could be taken for a label.
pub(crate) fn without_labels(text: &str) -> String {
    let lines = text.trim().lines().map(|line| {
        let line = line.trim_end();
        if [CODE, TEXT, FACTS, EXPLANATION, COMMENT].contains(&line) {
            format!(" {line}")
        } else {
            line.to_owned()
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

impl Sections {
    /// The text of the chunk.
    pub(crate) fn compose(&self) -> String {
        let mut text = self.head.clone();
        let sections = [(EXPLANATION, &self.explanation), (COMMENT, &self.comment), (self.label, &self.body)];
        for (label, section) in sections {
            if !section.is_empty() {
                text.push('\n');
                text.push_str(label);
                text.push('\n');
                text.push_str(section);
            }
        }
        text
    }

    /// The sections of a chunk that [`Self::compose`] wrote.
    pub(crate) fn parse(chunk: &Chunk) -> Self {
        let text = chunk.text.as_str();
        let (before, label, body) = [CODE, TEXT, FACTS]
            .into_iter()
            .filter_map(|label| {
                let (before, body) = split(text, label)?;
                Some((before, label, body))
            })
            .min_by_key(|(before, ..)| before.len())
            .unwrap_or((text, CODE, ""));
        let (before, comment) = split(before, COMMENT).unwrap_or((before, ""));
        let (head, explanation) = split(before, EXPLANATION).unwrap_or((before, ""));
        Self {
            head: head.to_owned(),
            explanation: explanation.to_owned(),
            comment: comment.to_owned(),
            label,
            body: body.to_owned(),
        }
    }
}

/// What stands before and after the first line that is `label`.
fn split<'a>(text: &'a str, label: &str) -> Option<(&'a str, &'a str)> {
    let at = text.find(&format!("\n{label}\n"))?;
    Some((&text[..at], &text[at + label.len() + 2..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_survive_the_round_trip() {
        let sections = Sections {
            head: head("src/a.h", "ns::f", "function_definition", "ns", ""),
            explanation: without_labels("Says:\nCode:\n"),
            comment: without_labels("Comment:\nText:"),
            label: CODE,
            body: "int f()\nText:\nFacts:\nComment:\n{}".into(),
        };
        let chunk = Chunk { text: sections.compose(), ..Chunk::default() };
        assert_eq!(Sections::parse(&chunk), sections);
        let bare = Sections { explanation: String::new(), comment: String::new(), ..sections };
        let chunk = Chunk { text: bare.compose(), ..Chunk::default() };
        assert_eq!(Sections::parse(&chunk), bare);
    }

    #[test]
    fn follows_listing_7() {
        let sections = Sections {
            head: head("a.md", "Use", "section", "", "Guide > Use"),
            explanation: "Why.".into(),
            label: TEXT,
            body: "How.".into(),
            ..Sections::default()
        };
        assert_eq!(
            sections.compose(),
            "File: a.md\nSymbol: Use\nChunk Type: section\nSection Path: Guide > Use\n\
             Generated Explanation:\nWhy.\nText:\nHow."
        );
    }
}
