//! Includes and macro definitions, and the expansion of macros where a declaration hides in one.

use almanac_language::Define;
use almanac_tables::{EntityKind, ReferenceKind};

use crate::cpp::Extractor;
use crate::cpp::declarations::VALUE_SHOWN;
use crate::cpp::scope::Scope;
use crate::names::{one_line, shortened};

impl Extractor<'_> {
    /// Reads `#include` and `#define` lines, which the grammar does not see.
    pub(crate) fn directives(&mut self) {
        for (start, end) in self.code.includes() {
            self.include(start, end);
        }
        for define in self.defines.iter().filter(|define| !define.is_guard) {
            self.macro_definition(define);
        }
    }

    fn include(&mut self, start: usize, end: usize) {
        let line = self.source.slice(start, end);
        let Some(at) = line.find(['"', '<']) else { return };
        let close = if line[at..].starts_with('<') { '>' } else { '"' };
        let Some(length) = line[at + 1..].find(close) else { return };
        let written = &line[at..at + length + 2];
        let name = written[1..written.len() - 1].trim();
        if !name.is_empty() {
            let reference = self.source.reference(ReferenceKind::Include, name, written, start);
            self.rows.refer(None, reference);
        }
    }

    fn macro_definition(&mut self, define: &Define) {
        let range = (define.start, define.end);
        let mut entity = self.entity(EntityKind::Macro, &define.name, range, &Scope::default());
        let list = define.parameters.as_ref().map(|names| names.join(", "));
        let head = match &list {
            Some(list) => format!("#define {}({list})", define.name),
            None => format!("#define {}", define.name),
        };
        let shown = one_line(&define.body);
        entity.signature = if list.is_none() && !shown.is_empty() {
            shortened(&format!("{head} {shown}"), VALUE_SHOWN)
        } else {
            head
        };
        entity.parameters = list.unwrap_or_default();
        self.rows.push(entity);
    }

    /// The text of a macro call, `NAME(arguments)` or `NAME`, with the definition put in.
    pub(crate) fn expanded(&self, call: &str, before: usize) -> Option<String> {
        let (name, arguments) = call_parts(call)?;
        let expansion = self.definitions(name, before).into_iter().find_map(|one| one.expand(arguments))?;
        Some(one_line(&expansion))
    }

    /// Definitions of a macro: the last one before byte `before`, others of this file, others of the tree.
    pub(crate) fn definitions(&self, name: &str, before: usize) -> Vec<&Define> {
        let own = || self.defines.iter().filter(|define| define.name == name);
        // Inside an expansion, what counts is where its call stands.
        let before = self.expansion.call.unwrap_or(before);
        let last = own().rfind(|define| define.start < before);
        let mut found: Vec<&Define> = last.into_iter().chain(own()).collect();
        // The last of several is the one of an `#else`.
        found.extend(self.code.macros().defines(name).iter().rev());
        found
    }
}

/// The name and the arguments of `NAME(arguments)`; no arguments of `NAME`.
pub(crate) fn call_parts(call: &str) -> Option<(&str, Option<&str>)> {
    match call.split_once('(') {
        Some((name, rest)) => Some((name.trim(), Some(rest.trim_end().strip_suffix(')')?))),
        None => Some((call.trim(), None)),
    }
}
