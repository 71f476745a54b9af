//! The output schemas of the prompt modes: which columns of an [`Answer`](almanac_tables::Answer) a
//! model fills, and how long each may get.
//!
//! Lengths follow from the token limit, so that a model that fills every field still ends in time.

use almanac_artifact::Encoder;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Characters of prose a token has, at least on average; identifiers have fewer, hence the reserve.
const CHARACTERS_PER_TOKEN: usize = 4;
/// Tokens that a field's name, quotes and comma cost, and those of one more item.
const FIELD_TOKENS: usize = 5;
const ITEM_TOKENS: usize = 2;
/// However small the limit, fields this long can say something.
const SHORTEST_TEXT: usize = 24;
const SHORTEST_ITEM: usize = 12;

/// What a prompt mode asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerSchema {
    /// One symbol or section.
    Symbol,
    /// A file with symbols.
    File,
    /// A file without symbols.
    Document,
    /// A folder.
    Module,
    /// A callable with its callers and callees.
    CallChain,
}

/// One field: its name, its share of the characters and the items of a list.
struct Field {
    name: &'static str,
    share: usize,
    /// 0 for a text.
    items: usize,
}

const fn text(name: &'static str, share: usize) -> Field {
    Field { name, share, items: 0 }
}

const fn list(name: &'static str, share: usize, items: usize) -> Field {
    Field { name, share, items }
}

const SYMBOL: &[Field] = &[
    text("role", 14),
    text("does", 26),
    list("inputs", 13, 4),
    list("outputs", 9, 3),
    text("meaning", 11),
    text("parallelism", 7),
    text("effects", 8),
    list("terms", 12, 6),
    text("uncertainty", 6),
];

const FILE: &[Field] = &[
    text("role", 16),
    text("does", 32),
    list("inputs", 11, 4),
    list("outputs", 11, 4),
    text("meaning", 12),
    text("parallelism", 6),
    list("terms", 12, 6),
    text("uncertainty", 5),
];

const DOCUMENT: &[Field] = &[
    text("role", 20),
    text("does", 40),
    list("inputs", 18, 5),
    list("terms", 16, 6),
    text("uncertainty", 6),
];

const CALL_CHAIN: &[Field] = &[
    text("role", 15),
    text("does", 34),
    list("inputs", 11, 4),
    list("outputs", 9, 3),
    text("meaning", 12),
    text("effects", 8),
    list("terms", 12, 6),
    text("uncertainty", 5),
];

/// How long a field may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) name: &'static str,
    /// Characters of the text, or of one item.
    pub(crate) characters: usize,
    /// Items of a list; 0 for a text.
    pub(crate) items: usize,
}

impl AnswerSchema {
    /// The name it has in front matter and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Symbol => "symbol",
            Self::File => "file",
            Self::Document => "document",
            Self::Module => "module",
            Self::CallChain => "call_chain",
        }
    }

    fn fields(self) -> &'static [Field] {
        match self {
            Self::Symbol => SYMBOL,
            // A folder is told as a file is: what it needs, what it provides.
            Self::File | Self::Module => FILE,
            Self::Document => DOCUMENT,
            Self::CallChain => CALL_CHAIN,
        }
    }

    /// The fields in the order they are written, bounded for an answer of `max_tokens`.
    pub(crate) fn bounds(self, max_tokens: usize) -> Vec<Bound> {
        let fields = self.fields();
        let items: usize = fields.iter().map(|field| field.items).sum();
        let marks = FIELD_TOKENS * fields.len() + ITEM_TOKENS * items;
        let characters = max_tokens.saturating_sub(marks) * CHARACTERS_PER_TOKEN;
        let shares: usize = fields.iter().map(|field| field.share).sum();
        let bound = |field: &Field| {
            let own = characters * field.share / shares;
            let characters = match field.items {
                0 => own.max(SHORTEST_TEXT),
                items => (own / items).max(SHORTEST_ITEM),
            };
            Bound { name: field.name, characters, items: field.items }
        };
        fields.iter().map(bound).collect()
    }

    /// The JSON schema that generation is constrained to.
    pub fn json_schema(self, max_tokens: usize) -> Value {
        let mut properties = Map::new();
        for (at, bound) in self.bounds(max_tokens).into_iter().enumerate() {
            let string =
                |least: usize| json!({"type": "string", "minLength": least, "maxLength": bound.characters});
            let value = match bound.items {
                // Role and deed must be told; whatever else does not apply is an empty string.
                0 => string(usize::from(at < 2)),
                items => json!({"type": "array", "items": string(1), "maxItems": items}),
            };
            properties.insert(bound.name.to_owned(), value);
        }
        let required: Vec<&str> = self.fields().iter().map(|field| field.name).collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
            // No white space between tokens and no escapes but of the quote: what a small model loops on.
            "x-guidance": {"whitespace_flexible": false, "json_allowed_escapes": "\""},
        })
    }

    /// Everything that decides an answer's form, for record keys.
    pub(crate) fn encode(self, encoder: &mut Encoder, max_tokens: usize) {
        encoder.text(self.name());
        for Bound { name, characters, items } in self.bounds(max_tokens) {
            encoder.text(name).length(characters).length(items);
        }
    }
}

#[cfg(test)]
mod tests {
    use almanac_tables::Answer;

    use super::*;

    const ALL: [AnswerSchema; 5] = [
        AnswerSchema::Symbol,
        AnswerSchema::File,
        AnswerSchema::Document,
        AnswerSchema::Module,
        AnswerSchema::CallChain,
    ];

    #[test]
    fn every_field_is_a_column() {
        for schema in ALL {
            let columns = serde_json::to_value(Answer::default()).unwrap();
            for field in schema.fields() {
                let column = columns.get(field.name).unwrap_or_else(|| panic!("{}", field.name));
                assert_eq!(column.is_array(), field.items > 0, "{}", field.name);
            }
            // Written in the order of the columns, so that what is cut off is the least telling.
            let written = schema.json_schema(300);
            let names: Vec<&String> = written["properties"].as_object().unwrap().keys().collect();
            let declared: Vec<&str> = schema.fields().iter().map(|field| field.name).collect();
            assert_eq!(names, declared);
        }
    }

    #[test]
    fn what_fills_every_field_fits_the_limit() {
        for schema in ALL {
            for tokens in [260, 320, 1000] {
                let bounds = schema.bounds(tokens);
                let characters: usize =
                    bounds.iter().map(|bound| bound.characters * bound.items.max(1)).sum();
                let items: usize = bounds.iter().map(|bound| bound.items).sum();
                let needed =
                    characters / CHARACTERS_PER_TOKEN + FIELD_TOKENS * bounds.len() + ITEM_TOKENS * items;
                assert!(needed <= tokens, "{schema:?} {tokens}: {needed}");
            }
        }
    }
}
