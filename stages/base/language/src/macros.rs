//! The table of macros that hide C++ from a grammar (`config/macros.toml`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde::Deserialize;

use crate::{Error, Opened, Result};

/// The table that is compiled in. Part of the identity of every tree.
pub const MACROS_TOML: &str = include_str!("../../../../config/macros.toml");

/// What is done with a macro name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MacroAction {
    /// Overwritten with spaces.
    Blank,
    /// Overwritten together with the arguments after it.
    BlankCall,
    /// Overwritten with its arguments where no `;` follows.
    Declaration,
    /// Overwritten, with the parentheses after it, but for what is in them.
    Unwrap,
    /// Overwritten with this text and spaces.
    Replace(String),
    /// Opens namespaces, each with a brace of its own.
    Open(Vec<Opened>),
    /// Closes as many braces.
    Close(usize),
    /// Opens or closes what its arguments say.
    ScopeCall,
}

/// Macro names and what is done with them.
#[derive(Debug, Clone)]
pub struct MacroTable {
    actions: BTreeMap<String, MacroAction>,
    export_suffixes: Vec<String>,
    launchers: BTreeSet<String>,
    suite_tests: BTreeSet<String>,
    named_tests: BTreeSet<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MacroFile {
    export_suffixes: Vec<String>,
    launchers: BTreeSet<String>,
    suite_tests: BTreeSet<String>,
    named_tests: BTreeSet<String>,
    family: Vec<Family>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    #[expect(dead_code, reason = "names the family for people reading the file")]
    name: String,
    blank: Vec<String>,
    blank_call: Vec<String>,
    declaration: Vec<String>,
    #[serde(default)]
    unwrap: Vec<String>,
    replace: BTreeMap<String, String>,
}

impl MacroTable {
    /// The table that is compiled in.
    pub fn builtin() -> &'static Self {
        static TABLE: OnceLock<MacroTable> = OnceLock::new();
        TABLE.get_or_init(|| {
            Self::from_toml(MACROS_TOML, "config/macros.toml")
                .expect("the compiled-in macro table is read by a test")
        })
    }

    /// Reads a table; `origin` names it in errors. Replacements longer than the name are dropped.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self> {
        let file: MacroFile =
            toml::from_str(text).map_err(|source| Error::MacroTable { origin: origin.to_owned(), source })?;
        let mut actions = BTreeMap::new();
        for family in file.family {
            let Family { name: _, blank, blank_call, declaration, unwrap, replace } = family;
            actions.extend(blank.into_iter().map(|name| (name, MacroAction::Blank)));
            actions.extend(blank_call.into_iter().map(|name| (name, MacroAction::BlankCall)));
            actions.extend(declaration.into_iter().map(|name| (name, MacroAction::Declaration)));
            actions.extend(unwrap.into_iter().map(|name| (name, MacroAction::Unwrap)));
            actions.extend(replace.into_iter().filter(|(name, text)| text.len() <= name.len()).map(
                |(name, text)| {
                    let action = MacroAction::of_scope(&text).unwrap_or(MacroAction::Replace(text));
                    (name, action)
                },
            ));
        }
        Ok(Self {
            actions,
            export_suffixes: file.export_suffixes,
            launchers: file.launchers,
            suite_tests: file.suite_tests,
            named_tests: file.named_tests,
        })
    }

    /// What is done with a name.
    pub fn action(&self, name: &str) -> Option<&MacroAction> {
        self.actions.get(name)
    }

    /// Every listed name and what is done with it.
    pub(crate) fn actions(&self) -> impl Iterator<Item = (&str, &MacroAction)> {
        self.actions.iter().map(|(name, action)| (name.as_str(), action))
    }

    /// Whether an all-capitals name ends like an export macro.
    pub fn is_export(&self, name: &str) -> bool {
        is_capitals(name) && self.export_suffixes.iter().any(|suffix| name.ends_with(suffix))
    }

    /// Whether a function runs the callable it is handed (unqualified name).
    pub fn is_launcher(&self, name: &str) -> bool {
        self.launchers.contains(name)
    }

    /// Whether a macro opens a test named by suite and name.
    pub fn is_suite_test(&self, name: &str) -> bool {
        self.suite_tests.contains(name)
    }

    /// Whether a macro opens a test named by a string.
    pub fn is_named_test(&self, name: &str) -> bool {
        self.named_tests.contains(name)
    }
}

/// Whether a name is written as macros are: capitals, digits and underscores, three bytes or more.
pub(crate) fn is_capitals(name: &str) -> bool {
    name.len() >= 3
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && name.bytes().any(|byte| byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiled_in_table_is_read_whole() {
        let file: MacroFile = toml::from_str(MACROS_TOML).expect("valid table");
        for family in &file.family {
            for (name, text) in &family.replace {
                assert!(text.len() <= name.len(), "{name} is shorter than {text}");
            }
        }
        let table = MacroTable::builtin();
        assert_eq!(table.action("KOKKOS_INLINE_FUNCTION"), Some(&MacroAction::Blank));
        let open = MacroAction::Open(vec![Opened::Namespace(vec!["dealii".to_owned()])]);
        assert_eq!(table.action("DEAL_II_NAMESPACE_OPEN"), Some(&open));
        assert_eq!(table.action("KOKKOS_LAMBDA"), Some(&MacroAction::Replace("[=]".to_owned())));
        assert!(table.is_export("CORE_EXPORT") && !table.is_export("Core_EXPORT"));
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_the_table() {
        let error = MacroTable::from_toml("colour = 1", "site.toml").expect_err("unknown key");
        assert_eq!(error.to_string(), "macro table site.toml cannot be read");
    }
}
