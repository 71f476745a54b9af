//! `config.json` of a model folder as the Hugging Face hub has it, its sizes judged before an engine
//! divides by them or allocates for them.

use std::ops::RangeInclusive;
use std::path::Path;

use serde_json::Value;

use crate::error::Cause;

/// The names a size goes by.
type Names = &'static [&'static str];

const WIDTH: Names = &["hidden_size", "n_embd"];
const HEADS: Names = &["num_attention_heads", "n_head"];
const POSITIONS: Names = &["max_position_embeddings", "n_positions"];

/// Sizes with what any model has.
const SIZES: [(Names, RangeInclusive<u64>); 8] = [
    (&["vocab_size"], 1..=1 << 22),
    (WIDTH, 1..=1 << 17),
    (&["num_hidden_layers", "n_layer"], 1..=1_000),
    (HEADS, 1..=1 << 12),
    (&["num_key_value_heads"], 1..=1 << 12),
    (&["intermediate_size", "n_inner"], 1..=1 << 20),
    (POSITIONS, 1..=1 << 24),
    (&["type_vocab_size"], 0..=1 << 10),
];

/// Most positions times width of a head: engines make tables of that many numbers.
const LARGEST_POSITION_TABLE: u64 = 1 << 29;

/// A config whose sizes are possible, where it gives them.
#[derive(Debug)]
pub(crate) struct HubConfig {
    text: String,
    value: Value,
}

impl HubConfig {
    /// Reads the file.
    pub(crate) fn read(path: &Path) -> Result<Self, Cause> {
        let text = fs_err::read_to_string(path)?;
        let value: Value = serde_json::from_str(&text).map_err(|error| format!("`config.json`: {error}"))?;
        if !value.is_object() {
            return Err("`config.json` is not a JSON object".into());
        }
        let config = Self { text, value };
        config.check()?;
        Ok(config)
    }

    /// The text, for an engine's own type.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Requires keys that an engine's type would replace by a default of its own.
    pub(crate) fn require(&self, keys: &[&str]) -> Result<(), Cause> {
        let missing = keys.iter().find(|key| self.value.get(**key).is_none_or(Value::is_null));
        missing.map_or(Ok(()), |key| Err(format!("`config.json` lacks `{key}`").into()))
    }

    fn check(&self) -> Result<(), Cause> {
        for (names, range) in &SIZES {
            if let Some((name, value)) = self.named(names)
                && !value.as_u64().is_some_and(|size| range.contains(&size))
            {
                let (least, most) = (range.start(), range.end());
                return Err(format!("`{name}` in `config.json` is {value}, not {least} to {most}").into());
            }
        }
        let size = |names| self.named(names)?.1.as_u64();
        let (Some(width), Some(heads)) = (size(WIDTH), size(HEADS)) else { return Ok(()) };
        let of_head = match self.value.get("head_dim").and_then(Value::as_u64) {
            Some(size) => size,
            None if width.is_multiple_of(heads) => width / heads,
            None => return Err(format!("{heads} attention heads cannot divide a width of {width}").into()),
        };
        let positions = size(POSITIONS).unwrap_or(1);
        if positions.saturating_mul(of_head) > LARGEST_POSITION_TABLE {
            return Err(format!("{positions} positions with heads of {of_head} fit no memory").into());
        }
        Ok(())
    }

    fn named(&self, names: Names) -> Option<(&'static str, &Value)> {
        let there = names.iter().find_map(|name| Some((*name, self.value.get(*name)?)));
        there.filter(|(_, value)| !value.is_null())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        fs_err::write(&path, text).unwrap();
        HubConfig::read(&path).and_then(|config| config.require(&["vocab_size"])).unwrap_err().to_string()
    }

    #[test]
    fn impossible_configs_are_refused() {
        for (text, words) in [
            ("", "config.json"),
            ("<html>", "config.json"),
            ("[1, 2]", "not a JSON object"),
            (r#"{"hidden_size": 16}"#, "lacks `vocab_size`"),
            (r#"{"hidden_size": 0}"#, "`hidden_size` in `config.json` is 0"),
            (r#"{"hidden_size": -4}"#, "is -4"),
            (r#"{"hidden_size": "wide"}"#, "is \"wide\""),
            (r#"{"n_layer": 1000000000}"#, "`n_layer` in `config.json` is 1000000000"),
            (
                r#"{"hidden_size": 16, "num_attention_heads": 3}"#,
                "3 attention heads cannot divide a width of 16",
            ),
            (r#"{"n_embd": 98304, "n_head": 1, "n_positions": 16777216}"#, "fit no memory"),
        ] {
            let found = fault(text);
            assert!(found.contains(words), "{text}: {found}");
        }
    }
}
