//! Names in parentheses, and what only a class may hold in a file that a class includes.

use crate::macros::is_capitals;
use crate::mask::Masker;
use crate::mask::context::Context;

impl Masker<'_> {
    /// `T (max)(const T& a)`, `bool (operator==)(B b)`: a name in parentheses, so that no macro of that
    /// name is meant. The grammar takes the type for the function.
    pub(super) fn parenthesised_name(&mut self, at: usize) -> bool {
        if !self.contexts.declares_in_parens() || at == 0 {
            return false;
        }
        let Some(close) = self.name_end(at + 1) else { return false };
        let before = self.text(at - 1);
        let is_macro = is_capitals(before) || self.macros.is_function_like(before);
        let follows_type = (self.is_word(at - 1) || matches!(before, ">" | "&" | "*"))
            && !matches!(before, "decltype" | "noexcept" | "alignas" | "explicit" | "operator" | "requires")
            && !before.starts_with("__")
            && !is_macro;
        let follows_annotation = self.contexts.begins_in_parens(at);
        if !self.is(close + 1, "(") || !(follows_type || follows_annotation) {
            return false;
        }
        self.blank(at, at);
        self.blank(close, close);
        true
    }

    /// The parenthesis that ends `max)` or `operator+)`.
    fn name_end(&self, at: usize) -> Option<usize> {
        if !self.is(at, "operator") {
            return (self.is_word(at) && self.is(at + 1, ")")).then_some(at + 1);
        }
        // `operator()` has parentheses of its own.
        let from = if self.is(at + 1, "(") { at + 3 } else { at + 1 };
        (from..from + 4).find(|end| self.is(*end, ")"))
    }

    /// `const DECLARE(x, 1);` in a body, where the macro begins with a type: a call is left.
    pub(super) fn without_const(&mut self, at: usize, last: usize) {
        let follows_const = at > 0 && self.is(at - 1, "const") && self.contexts.begins(at - 1);
        if follows_const && self.contexts.now() == Context::Body && self.is(last + 1, ";") {
            self.blank(at - 1, at - 1);
        }
    }

    /// `protected:` outside any class.
    pub(super) fn is_label_outside(&self, at: usize) -> bool {
        self.contexts.now() == Context::Namespace
            && self.contexts.begins(at)
            && self.is(at + 1, ":")
            && !self.is(at + 2, ":")
    }

    /// The file is included in a class.
    pub(super) fn label_outside(&mut self, at: usize) -> usize {
        self.blank(at, at + 1);
        self.contexts.begin(at + 2);
        at + 2
    }
}
