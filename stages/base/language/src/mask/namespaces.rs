//! Macros that open and close namespaces: one brace for the grammar, the names beside it.

use crate::MacroAction;
use crate::Opened;
use crate::mask::Masker;
use crate::mask::context::Context;

/// What the grammar sees where a macro opens namespaces; the names are carried beside the tree.
const BLOCK: &str = "namespace{";

impl Masker<'_> {
    /// A macro, with arguments or not, that changes the scope of what follows.
    pub(super) fn scope_macro(&mut self, at: usize, action: &MacroAction) -> usize {
        let last = if matches!(action, MacroAction::ScopeCall) { self.call_end(at) } else { at };
        let of_call = (last > at).then(|| {
            let arguments = &self.source[self.tokens[at + 1].end..self.tokens[last].start];
            self.macros.scope_of_call(self.text(at), str::from_utf8(arguments).unwrap_or(""))
        });
        match of_call.flatten().as_ref().unwrap_or(action) {
            MacroAction::Open(opened) => self.open_namespaces(at, last, opened),
            MacroAction::Close(count) => self.close_namespaces(at, last, *count),
            _ => at + 1,
        }
    }

    /// Only where a declaration may begin: elsewhere the name is somebody else's.
    fn open_namespaces(&mut self, at: usize, last: usize, opened: &[Opened]) -> usize {
        if self.contexts.now() != Context::Namespace || !self.contexts.begins(at) {
            return at + 1;
        }
        let (start, end) = (self.tokens[at].start, self.tokens[last].end);
        let room = self.source[start..end].iter().position(|byte| *byte == b'\n').unwrap_or(end - start);
        // A name too short for the keyword is a block, which holds declarations as well.
        self.put(start, end, if room < BLOCK.len() { "{" } else { BLOCK });
        self.out.opened.push((start, opened.to_vec()));
        self.contexts.open_namespaces(opened.len(), last);
        last + 1
    }

    fn close_namespaces(&mut self, at: usize, last: usize, count: usize) -> usize {
        let (start, end) = (self.tokens[at].start, self.tokens[last].end);
        let braces = self.contexts.close_namespaces(count, last).min(end - start);
        self.put(start, end, &"}".repeat(braces));
        last + 1
    }
}
