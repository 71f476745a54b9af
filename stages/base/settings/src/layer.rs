//! One source of settings, checked against the schema.

use figment::value::{Dict, Map};
use figment::{Metadata, Profile, Provider};
use toml::Value;

use crate::schema::Schema;
use crate::{Error, Origin, Result, environment, suggestion};

/// Checked settings of one origin.
#[derive(Debug)]
pub(crate) struct Layer {
    origin: Origin,
    table: toml::Table,
    keys: Vec<String>,
}

impl Layer {
    pub(crate) fn new(origin: Origin, table: toml::Table, keys: Vec<String>) -> Self {
        Self { origin, table, keys }
    }

    /// The settings in the text of a file.
    pub(crate) fn from_file(text: &str, origin: Origin, schema: &Schema) -> Result<Self> {
        let table = parse_file(text, &origin)?;
        Self::checked(table, origin, schema)
    }

    /// The setting in an `ALMANAC_*` variable.
    pub(crate) fn from_variable(variable: &str, text: &str, schema: &Schema) -> Result<Self> {
        let origin = Origin::Environment { variable: variable.to_owned() };
        let Some(key) = environment::key_of_variable(variable) else {
            let known = schema.keys().map(environment::variable_of_key);
            let known: Vec<String> =
                known.chain(environment::KNOWN.iter().map(ToString::to_string)).collect();
            let known = known.iter().map(String::as_str);
            let hint = suggestion::nearest(variable, known).map_or_else(
                || "a setting is named like ALMANAC_EXPLAIN__RUN__MAX_SECONDS".to_owned(),
                |nearest| format!("did you mean {nearest}?"),
            );
            return Err(Error::UnknownVariable { variable: variable.to_owned(), hint });
        };
        Self::from_text(&key, text, origin, schema)
    }

    /// The setting in a `--set key=value`.
    pub(crate) fn from_flag(assignment: &str, schema: &Schema) -> Result<Self> {
        match assignment.split_once('=') {
            Some((key, text)) if !key.trim().is_empty() => {
                Self::from_text(key.trim(), text.trim(), Origin::Flag, schema)
            }
            _ => Err(Error::Assignment { text: assignment.to_owned() }),
        }
    }

    fn from_text(key: &str, text: &str, origin: Origin, schema: &Schema) -> Result<Self> {
        let default = schema.default_of(key);
        if let (Some(Value::Integer(_)), true) = (default, is_too_long(text)) {
            let range = schema.ranges().of(key).map(|range| range.to_string());
            return Err(Error::WrongValue {
                key: key.to_owned(),
                found: text.to_owned(),
                origin,
                expected: range.unwrap_or_else(|| format!("a whole number up to {}", i64::MAX)),
            });
        }
        let mut value = parse_value(text, default);
        for name in key.rsplit('.') {
            value = Value::Table(toml::Table::from_iter([(name.to_owned(), value)]));
        }
        match value {
            Value::Table(table) => Self::checked(table, origin, schema),
            _ => Err(Error::Assignment { text: key.to_owned() }),
        }
    }

    fn checked(table: toml::Table, origin: Origin, schema: &Schema) -> Result<Self> {
        let mut keys = Vec::new();
        let value = schema.conform("", Value::Table(table), &origin, &mut keys)?;
        let table = match value {
            Value::Table(table) => table,
            _ => toml::Table::new(),
        };
        Ok(Self { origin, table, keys })
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Keys of the settings in this layer.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(String::as_str)
    }
}

impl Provider for Layer {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.origin.to_string())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let value = figment::value::Value::serialize(&self.table)?;
        Ok(Map::from([(Profile::Default, value.into_dict().unwrap_or_default())]))
    }
}

/// Parses a configuration file.
pub(crate) fn parse_file(text: &str, origin: &Origin) -> Result<toml::Table> {
    text.parse().map_err(|error: toml::de::Error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        Error::Syntax {
            origin: origin.clone(),
            line: 1 + text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count(),
            reason: error.message().to_owned(),
        }
    })
}

/// Whether a text is a whole number that TOML cannot hold.
fn is_too_long(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).replace('_', "");
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<i64>().is_err()
}

/// Parses the value of a variable or flag: TOML, or a bare word as a string. Where a string is
/// wanted, only quotes are TOML, so `2024` and `true` need none.
fn parse_value(text: &str, default: Option<&Value>) -> Value {
    let parsed = text.parse::<Value>().ok();
    match (parsed, default) {
        (Some(Value::String(value)), _) => Value::String(value),
        (Some(_), Some(Value::String(_))) | (None, _) => Value::String(text.to_owned()),
        (Some(value), _) => value,
    }
}
