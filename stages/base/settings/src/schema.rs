//! The keys and types of `config/defaults.toml`, which every other layer must keep to.

use std::collections::{BTreeMap, BTreeSet};

use toml::Value;

use crate::layer::Layer;
use crate::ranges::Ranges;
use crate::suggestion;
use crate::{Error, Origin, Result};

/// What settings exist.
#[derive(Debug)]
pub(crate) struct Schema {
    defaults: toml::Table,
    leaves: BTreeMap<String, Value>,
    tables: BTreeSet<String>,
    ranges: Ranges,
}

impl Schema {
    /// The schema that a file of defaults and one of ranges set.
    pub(crate) fn new(defaults: &str, ranges: &str) -> Result<Self> {
        let defaults = crate::layer::parse_file(defaults, &Origin::Default)?;
        let mut schema = Self {
            defaults: toml::Table::new(),
            leaves: BTreeMap::new(),
            tables: BTreeSet::new(),
            ranges: Ranges::parse(ranges)?,
        };
        schema.collect("", &defaults);
        schema.defaults = defaults;
        Ok(schema)
    }

    fn collect(&mut self, prefix: &str, table: &toml::Table) {
        for (name, value) in table {
            let key = join(prefix, name);
            match value {
                Value::Table(table) => {
                    self.collect(&key, table);
                    self.tables.insert(key);
                }
                leaf => {
                    self.leaves.insert(key, leaf.clone());
                }
            }
        }
    }

    /// The lowest layer.
    pub(crate) fn as_layer(&self) -> Layer {
        Layer::new(Origin::Default, self.defaults.clone(), self.leaves.keys().cloned().collect())
    }

    /// Default of a setting, if the key names one.
    pub(crate) fn default_of(&self, key: &str) -> Option<&Value> {
        self.leaves.get(key)
    }

    /// What the numbers may be.
    pub(crate) fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// Keys of the settings.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        self.leaves.keys().map(String::as_str)
    }

    /// Checks a value or table of settings against the defaults, gives it the default's type
    /// where that loses nothing, and notes the keys of the settings in it.
    pub(crate) fn conform(
        &self,
        key: &str,
        value: Value,
        origin: &Origin,
        keys: &mut Vec<String>,
    ) -> Result<Value> {
        if let Some(default) = self.leaves.get(key) {
            let value = conform_leaf(key, value, default, origin)?;
            if let Some(range) = self.ranges.of(key).filter(|range| !range.holds(&value)) {
                return Err(Error::WrongValue {
                    key: key.to_owned(),
                    found: value.to_string(),
                    origin: origin.clone(),
                    expected: range.to_string(),
                });
            }
            keys.push(key.to_owned());
            return Ok(value);
        }
        match value {
            Value::Table(table) if key.is_empty() || self.tables.contains(key) => {
                let mut conformed = toml::Table::new();
                for (name, value) in table {
                    let value = self.conform(&join(key, &name), value, origin, keys)?;
                    conformed.insert(name, value);
                }
                Ok(Value::Table(conformed))
            }
            other if self.tables.contains(key) => Err(wrong_type(key, &other, "a table", origin)),
            other => Err(self.unknown(key, &other, origin)),
        }
    }

    fn unknown(&self, key: &str, value: &Value, origin: &Origin) -> Error {
        // In a misspelt table the first setting says most about what was meant.
        let mut key = key.to_owned();
        let mut value = value;
        while let Value::Table(table) = value {
            let Some((name, inner)) = table.iter().next() else {
                break;
            };
            key = join(&key, name);
            value = inner;
        }
        let known = self.keys().chain(self.tables.iter().map(String::as_str));
        let hint = suggestion::nearest_keys(&key, known).map_or_else(
            || "`almanac config` lists every setting".to_owned(),
            |nearest| format!("did you mean {nearest}?"),
        );
        Error::UnknownKey { key, origin: origin.clone(), hint }
    }
}

fn conform_leaf(key: &str, value: Value, default: &Value, origin: &Origin) -> Result<Value> {
    match (value, default) {
        (Value::Integer(value), Value::Float(_)) => Ok(Value::Float(value as f64)),
        (Value::Array(elements), Value::Array(defaults)) => {
            // Lists of settings hold text unless their default says otherwise.
            let element = defaults.first().cloned().unwrap_or(Value::String(String::new()));
            let mut conformed = Vec::with_capacity(elements.len());
            for (index, value) in elements.into_iter().enumerate() {
                conformed.push(conform_leaf(&format!("{key}[{index}]"), value, &element, origin)?);
            }
            Ok(Value::Array(conformed))
        }
        (value, default) if value.same_type(default) => Ok(value),
        (value, default) => Err(wrong_type(key, &value, describe(default), origin)),
    }
}

fn wrong_type(key: &str, value: &Value, expected: &'static str, origin: &Origin) -> Error {
    Error::WrongValue {
        key: key.to_owned(),
        found: format!("{value}, {}", describe(value)),
        origin: origin.clone(),
        expected: expected.to_owned(),
    }
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "an integer",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

/// What a reader of settings expected, in words where it names one of Rust's number types.
pub(crate) fn describe_expected(expected: &str) -> String {
    let (least, number) = match expected.strip_prefix("a nonzero ") {
        Some(number) => (1, number),
        None => (0, expected),
    };
    match number {
        "u8" => format!("a whole number from {least} to {}", u8::MAX),
        "u16" => format!("a whole number from {least} to {}", u16::MAX),
        "u32" => format!("a whole number from {least} to {}", u32::MAX),
        // TOML ends at the largest i64, so there is no upper limit to speak of.
        "u64" | "usize" => format!("a whole number from {least}"),
        _ => expected.to_owned(),
    }
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}
