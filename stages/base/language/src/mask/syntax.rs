//! C++ that the grammar lacks: lists after `using`, explicit instantiations, digraphs, calls of
//! operators by name, braces as default arguments, kernel launches.

use crate::lexer::TokenKind;
use crate::mask::Masker;
use crate::mask::context::Context;

impl Masker<'_> {
    pub(super) fn punctuation(&mut self, at: usize) -> usize {
        let start = self.tokens[at].start;
        let rest = &self.source[start..];
        match rest[0] {
            b'<' if rest.starts_with(b"<<<") => return self.launch(at),
            // `<::` is `< ::` unless `:` or `>` follows.
            b'<' if rest.starts_with(b"<:")
                && (rest.get(2) != Some(&b':') || matches!(rest.get(3), Some(b':' | b'>'))) =>
            {
                self.put(start, start + 2, "[");
                return at + 2;
            }
            b':' if rest.starts_with(b":>") && !(self.previous(at) == b":" && self.is_adjacent(at)) => {
                self.put(start, start + 2, " ]");
                return at + 2;
            }
            // `<unspecified> f();`, as documentation has it.
            b'<' if self.contexts.begins(at) && self.is_word(at + 1) && self.is(at + 2, ">") => {
                self.blank(at, at);
                self.blank(at + 2, at + 2);
            }
            b'<' if rest.starts_with(b"<%") => {
                self.put(start, start + 2, "{");
                return at + 2;
            }
            b'%' if rest.starts_with(b"%>") => {
                self.put(start, start + 2, " }");
                return at + 2;
            }
            b'=' if self.contexts.in_parens() && self.is(at + 1, "{") => return self.default_braces(at),
            b'=' if self.contexts.now() != Context::Body => return self.default_value(at),
            b'(' if self.parenthesised_name(at) => {}
            b'(' => return self.member_pointer(at),
            // A comparison among template arguments; `!=` cannot end them.
            b'>' if rest.starts_with(b">=")
                && self.contexts.now() != Context::Body
                && !matches!(self.previous(at), b"operator" | b">") =>
            {
                self.put(start, start + 2, "!=");
                return at + 2;
            }
            // `(this->*f)(x)`
            b'*' if self.previous(at) == b">" && self.is_adjacent(at) && at > 1 && self.is(at - 2, "-") => {
                self.blank(at, at);
            }
            // `new T*[n]`
            b'*' if self.is(at + 1, "[") && self.contexts.now() == Context::Body => self.blank(at, at),
            b'~' => return self.destructor_call(at),
            b'[' if self.contexts.now() == Context::Enum && rest.starts_with(b"[[") => {
                if let Some(close) = self.closing(at) {
                    self.annotate(at, close);
                    return close + 1;
                }
            }
            _ => {}
        }
        at + 1
    }

    /// `T x = {}` in a parameter list: the grammar knows no braces there.
    fn default_braces(&mut self, at: usize) -> usize {
        let Some(close) = self.closing(at + 1) else { return at + 1 };
        let is_empty = close == at + 2;
        let in_declaration = matches!(self.contexts.now(), Context::Namespace | Context::Class);
        if (is_empty || in_declaration) && matches!(self.bytes(close + 1), b"," | b")") {
            self.blank(at, close);
            return close + 1;
        }
        at + 1
    }

    /// `const char* = 0` without a name, and `f(A&) = delete` outside a class.
    fn default_value(&mut self, at: usize) -> usize {
        let unnamed = matches!(self.previous(at), b"*" | b"&") && !self.is_adjacent(at);
        let deleted = self.contexts.now() == Context::Namespace
            && !self.contexts.in_parens()
            && self.is(at + 1, "delete")
            && self.is(at + 2, ";");
        if deleted {
            self.blank(at, at + 1);
            return at + 2;
        }
        if !unnamed {
            return at + 1;
        }
        let mut end = at + 1;
        loop {
            match self.bytes(end) {
                b"(" | b"{" | b"[" => match self.closing(end) {
                    Some(close) => end = close,
                    None => return at + 1,
                },
                b"," | b")" | b">" | b";" => break,
                b"" | b"}" => return at + 1,
                _ => {}
            }
            end += 1;
        }
        self.blank(at, end - 1);
        end
    }

    /// `void (A<T>::*)(int)`: the class goes, the pointer stays.
    fn member_pointer(&mut self, at: usize) -> usize {
        if !self.is_word(at + 1) {
            return at + 1;
        }
        let mut end = at + 2;
        let mut angles = 0usize;
        while end < at + 40 {
            match self.bytes(end) {
                b"<" => angles += 1,
                b">" if angles > 0 => angles -= 1,
                b"*" if angles == 0 && self.is_pair(end - 2, "::") => {
                    self.blank(at + 1, end - 1);
                    return end;
                }
                b":" => {}
                _ if angles > 0 => {}
                _ if self.is_word(end) && !self.is_word(end - 1) => {}
                _ => break,
            }
            end += 1;
        }
        at + 1
    }

    /// `T A::* pointer`: the class goes, the pointer stays.
    pub(super) fn member_pointer_type(&mut self, at: usize) -> usize {
        let after_type =
            (self.previous(at) != b"return" && at > 0 && self.is_word(at - 1)) || self.previous(at) == b">";
        if after_type {
            self.blank(at, at + 2);
        }
        at + 3
    }

    /// `x.~A<T>()` and `x->A::~A()`: only the plain name of a destructor can be called.
    fn destructor_call(&mut self, at: usize) -> usize {
        if self.contexts.now() != Context::Body || !self.is_word(at + 1) {
            return at + 1;
        }
        if let Some(first) = self.qualifier_after_arrow(at) {
            self.blank(first, at - 1);
        }
        if self.is(at + 2, "<") {
            let open = (at + 2..self.tokens.len()).take(60).find(|end| self.is(*end, "("));
            if let Some(open) = open.filter(|open| self.is(open - 1, ">")) {
                self.blank(at + 2, open - 1);
                return open;
            }
        }
        at + 2
    }

    /// First token of `A::B::` before `at`, if `.` or `->` stands before it.
    fn qualifier_after_arrow(&self, at: usize) -> Option<usize> {
        let mut first = at;
        while first >= 3 && self.is_pair(first - 2, "::") && self.is_word(first - 3) {
            first -= 3;
        }
        let after_arrow = first > 0 && matches!(self.previous(first), b"." | b">");
        (first < at && after_arrow).then_some(first)
    }

    /// Whether `operator` names what is called rather than declared.
    pub(super) fn names_operator(&self, at: usize) -> bool {
        self.contexts.now() == Context::Body
            || matches!(self.previous(at), b".")
            || (self.previous(at) == b">" && at > 1 && self.is(at - 2, "-"))
            || self.qualifier_after_arrow(at).is_some()
    }

    /// `T friend f()`: the word stands first or not at all.
    pub(super) fn friend(&mut self, at: usize) -> usize {
        // In a file that a class includes.
        if self.contexts.now() == Context::Namespace && self.contexts.begins(at) {
            self.blank(at, at);
            return at + 1;
        }
        let after_type = at > 0
            && (self.is_word(at - 1) && self.previous(at) != b"constexpr"
                || matches!(self.previous(at), b">" | b"&" | b"*"));
        if !self.contexts.begins(at) && after_type {
            self.blank(at, at);
        }
        at + 1
    }

    /// `decltype(x)(y)` and `decltype(f(), true)`: a name that is called, and one expression.
    pub(super) fn decltype(&mut self, at: usize) -> usize {
        let Some(close) = self.is(at + 1, "(").then(|| self.closing(at + 1)).flatten() else { return at + 1 };
        let token = self.tokens[at];
        if self.is(close + 1, "(") && self.contexts.now() == Context::Body && !self.contexts.begins(at) {
            self.put(token.start, token.end, "decltyp_");
        }
        let (mut depth, mut angles) = (0usize, 0usize);
        for inner in at + 2..close {
            match self.bytes(inner) {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => depth = depth.saturating_sub(1),
                b"<" => angles += 1,
                b">" => angles = angles.saturating_sub(1),
                b"," if depth == 0 && angles == 0 => {
                    let comma = self.tokens[inner].start;
                    self.out.bytes[comma] = b'+';
                }
                _ => {}
            }
        }
        at + 1
    }

    /// `long(x)`: of the built-in types only those of one word can be called.
    pub(super) fn builtin_cast(&mut self, at: usize) -> usize {
        let argument = self.text(at + 2);
        let is_declarator =
            matches!(argument, "*" | "&" | ")" | "..." | ".") || crate::mask::BUILTINS.contains(&argument);
        let after_operator = matches!(
            self.previous(at),
            b"=" | b"("
                | b","
                | b"?"
                | b":"
                | b"+"
                | b"-"
                | b"*"
                | b"/"
                | b"%"
                | b"&"
                | b"|"
                | b"^"
                | b"!"
                | b"~"
                | b"<"
                | b">"
                | b"["
                | b"{"
                | b"return"
        );
        let in_list = matches!(self.previous(at), b"<" | b",") && self.contexts.now() != Context::Body;
        if self.is(at + 1, "(") && !is_declarator && after_operator && !in_list {
            let token = self.tokens[at];
            self.put(token.start, token.end, "int");
        }
        at + 1
    }

    /// `using A::x, B::y;` and `using typename A::x;`: only what the grammar knows is left.
    pub(super) fn using(&mut self, at: usize) -> usize {
        let mut end = at + 1;
        let mut comma = None;
        let mut angles = 0usize;
        loop {
            match self.bytes(end) {
                b";" => break,
                b"=" | b"{" | b"}" | b"" => return at + 1,
                b"<" => angles += 1,
                b">" => angles = angles.saturating_sub(1),
                b"," if angles == 0 && comma.is_none() => comma = Some(end),
                _ => {}
            }
            end += 1;
        }
        if self.is(at + 1, "typename") {
            self.blank(at + 1, at + 1);
        }
        if let Some(comma) = comma {
            self.blank(comma, end - 1);
        }
        // `using Bases::f...;`
        let last = comma.unwrap_or(end);
        if last > at + 4 && self.is_pair(last - 3, "...") {
            self.blank(last - 3, last - 1);
        }
        end
    }

    /// `extern template class A<int>;`: without `template` the grammar reads a declaration.
    pub(super) fn instantiation(&mut self, at: usize) -> usize {
        let is_extern = self.previous(at) == b"extern";
        let first = if is_extern { at - 1 } else { at };
        if self.is(at + 1, "<") || !self.is_word(at + 1) || !self.contexts.begins(first) {
            return at + 1;
        }
        self.blank(first, at);
        self.out.instantiations.push(self.tokens[at + 1].start);
        self.contexts.skip(first, at);
        at + 1
    }

    /// `return typename T::x(0)`: an object is made; the word says nothing the grammar needs.
    pub(super) fn typename(&mut self, at: usize) -> usize {
        let in_expression = matches!(
            self.previous(at),
            b"return" | b"=" | b"?" | b"+" | b"-" | b"*" | b"/" | b"&" | b"|" | b"!" | b"(" | b"," | b"{"
        );
        let begins = self.contexts.now() == Context::Body && self.contexts.begins(at);
        if !in_expression && !begins {
            return at + 1;
        }
        let mut end = at + 1;
        let mut angles = 0usize;
        let mut is_qualified = false;
        loop {
            match self.bytes(end) {
                b"<" => angles += 1,
                b">" if angles > 0 => angles -= 1,
                b"(" | b")" | b"," | b";" | b"{" | b"}" | b"" if angles == 0 => break,
                b";" | b"{" | b"}" | b"" => break,
                b":" => is_qualified |= angles == 0,
                _ if angles > 0 => {}
                _ if self.kind(end) == Some(TokenKind::Word) => {
                    // Two words in a row: a type and a name.
                    if self.is_word(end + 1) && !self.is(end, "template") {
                        return at + 1;
                    }
                }
                _ => break,
            }
            end += 1;
        }
        // In parentheses without a name after it: an argument of a macro, or an unnamed parameter.
        let unnamed = is_qualified
            && matches!(self.previous(at), b"(" | b",")
            && matches!(self.bytes(end), b"," | b")")
            && self.contexts.in_parens();
        let may_declare =
            begins || matches!(self.previous(at), b"(" | b",") || self.contexts.now() != Context::Body;
        let made = matches!(self.bytes(end), b"(" | b"{")
            && !(may_declare && matches!(self.bytes(end + 1), b"*" | b"&"));
        if unnamed || made {
            self.blank(at, at);
        }
        at + 1
    }

    /// `x->operator+=(y)`: the symbol becomes part of a name; the name itself is read from the file.
    pub(super) fn operator_call(&mut self, at: usize) -> usize {
        let mut open = at + 1;
        if self.is_word(open) && self.is(open + 1, "(") {
            // `x.operator bool()`
            self.out.bytes[self.tokens[at].end..self.tokens[open].start].fill(b'_');
            return open + 1;
        }
        if matches!(self.bytes(open), b"(" | b"[") {
            open += 2;
        }
        while self.kind(open) == Some(TokenKind::Punctuation) && !self.is(open, "(") {
            open += 1;
        }
        // `operator=<T>(x)`
        let has_arguments = open > at + 2 && self.is(open - 1, "<") && self.is_word(open);
        open -= usize::from(has_arguments);
        if open == at + 1 || !(has_arguments || self.is(open, "(")) {
            return at + 1;
        }
        let (start, end) = (self.tokens[at + 1].start, self.tokens[open - 1].end);
        if start != self.tokens[at].end {
            return at + 1;
        }
        self.out.bytes[start..end].fill(b'_');
        open
    }

    /// `kernel<<<grid, block>>>(arguments)`: the configuration goes, the call stays.
    fn launch(&mut self, at: usize) -> usize {
        let called = at > 0 && (self.is_word(at - 1) || matches!(self.previous(at), b">" | b")"));
        let mut depth = 0usize;
        let mut close = at + 3;
        while called && close + 3 < self.tokens.len() {
            match self.bytes(close) {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => depth = depth.saturating_sub(1),
                b";" => break,
                b">" if depth == 0 && self.is_pair(close, ">>>") && self.is(close + 3, "(") => {
                    self.blank(at, close + 2);
                    self.out.launches.push(self.tokens[close + 3].start);
                    return close + 3;
                }
                _ => {}
            }
            close += 1;
        }
        at + 3
    }
}
