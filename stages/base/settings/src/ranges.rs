//! What numbers a setting may be: `config/ranges.toml`.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use toml::Value;

use crate::{Error, Result, files};

/// The least and the most of a number, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Of a setting that is a whole number.
    Whole {
        /// Least.
        least: i64,
        /// Most.
        most: i64,
    },
    /// Of a setting that may have a fraction. Neither NaN nor infinity lies in it.
    Number {
        /// Least.
        least: f64,
        /// Most.
        most: f64,
    },
}

impl Range {
    /// Whether a value is a number of this kind and lies inside.
    pub(crate) fn holds(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Whole { least, most }, Value::Integer(value)) => (least..=most).contains(value),
            (Self::Number { least, most }, Value::Float(value)) => (least..=most).contains(value),
            _ => false,
        }
    }

    fn of(value: &Value) -> Option<Self> {
        match value.as_array()?.as_slice() {
            [Value::Integer(least), Value::Integer(most)] => Some(Self::Whole { least: *least, most: *most }),
            [Value::Float(least), Value::Float(most)] => Some(Self::Number { least: *least, most: *most }),
            _ => None,
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole { least, most } => write!(f, "a whole number from {least} to {most}"),
            Self::Number { least, most } => write!(f, "a number from {least} to {most}"),
        }
    }
}

/// A setting that must be less than another.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Less {
    pub(crate) key: String,
    pub(crate) than: String,
}

/// Every range, by dotted key, and every order between two settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ranges {
    by_key: BTreeMap<String, Range>,
    pub(crate) less: Vec<Less>,
}

impl Ranges {
    /// Reads the text of `ranges.toml`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let unreadable =
            |reason: String| Error::Unreadable { section: "config/ranges.toml".to_owned(), reason };
        let mut table: toml::Table = text.parse().map_err(|error| unreadable(format!("{error}")))?;
        let less = match table.remove("less") {
            Some(value) => value.try_into().map_err(|error| unreadable(format!("{error}")))?,
            None => Vec::new(),
        };
        let mut ranges = Self { by_key: BTreeMap::new(), less };
        ranges.collect("", &table).map_err(unreadable)?;
        Ok(ranges)
    }

    fn collect(&mut self, prefix: &str, table: &toml::Table) -> Result<(), String> {
        for (name, value) in table {
            let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            match value {
                Value::Table(table) => self.collect(&key, table)?,
                value => {
                    let range = Range::of(value).ok_or_else(|| format!("`{key}` is no pair of numbers"))?;
                    self.by_key.insert(key, range);
                }
            }
        }
        Ok(())
    }

    /// Range of a setting, if it is a number.
    pub(crate) fn of(&self, key: &str) -> Option<Range> {
        self.by_key.get(key).copied()
    }

    #[cfg(test)]
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.by_key.keys().map(String::as_str)
    }
}

/// What a number of `config/defaults.toml` may be, for options of the command line that stand for
/// it. `None` for what is no number.
pub fn range_of(key: &str) -> Option<Range> {
    // The file is compiled in and tested to be valid.
    Ranges::parse(files::RANGES).ok()?.of(key)
}
