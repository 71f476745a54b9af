//! Names: macros that are known, inferred or learned, and those that only a place tells.

use crate::MacroAction;
use crate::lexer::TokenKind;
use crate::macros::is_capitals;
use crate::mask::context::Context;
use crate::mask::{BUILTINS, Masker};

/// Words that no name stands before, so that a macro does.
const AFTER_ANNOTATION: &[&str] = &[
    "static",
    "inline",
    "virtual",
    "explicit",
    "constexpr",
    "consteval",
    "extern",
    "friend",
    "typedef",
    "template",
    "class",
    "struct",
    "union",
    "enum",
    "typename",
    "auto",
    "mutable",
    "using",
    "namespace",
];

/// Parts of macro names that say which attribute they stand for.
const ATTRIBUTE_NAMES: &[&str] = &[
    "DEPRECATED",
    "NODISCARD",
    "NORETURN",
    "ALWAYS_INLINE",
    "FORCEINLINE",
    "FORCE_INLINE",
    "NO_UNIQUE_ADDRESS",
];

impl Masker<'_> {
    pub(super) fn word(&mut self, at: usize) -> usize {
        let name = self.text(at);
        match self.macros.action(name) {
            Some(MacroAction::Blank) => self.annotate(at, at),
            Some(MacroAction::BlankCall) => return self.blank_call(at),
            Some(MacroAction::Declaration) => return self.declaration(at),
            Some(MacroAction::Unwrap) => return self.unwrap(at),
            Some(MacroAction::Replace(text)) => return self.replace(at, text),
            Some(action) => return self.scope_macro(at, action),
            None if !self.learned.is_empty() && self.learned.contains(name) => return self.blank_call(at),
            None => return self.plain_word(at, name),
        }
        at + 1
    }

    fn plain_word(&mut self, at: usize, name: &str) -> usize {
        match name {
            "class" | "struct" | "union" => return self.type_head(at + 1),
            "enum" => return self.enumeration(at),
            "friend" => return self.friend(at),
            "decltype" => return self.decltype(at),
            "long" | "short" | "unsigned" | "signed" => return self.builtin_cast(at),
            "extern" if self.is(at + 2, "typedef") => {
                self.blank(at, at + 1);
                return at + 2;
            }
            // `template <class T = const U>`
            "const" if self.previous(at) == b"=" => {
                self.blank(at, at);
                return at + 1;
            }
            "using" => return self.using(at),
            "template" => return self.instantiation(at),
            "typename" => return self.typename(at),
            "public" | "private" | "protected" if self.is_label_outside(at) => return self.label_outside(at),
            "public" | "private" | "protected" => return self.base_macro(at),
            "operator" if self.names_operator(at) => return self.operator_call(at),
            "typeid" if self.is(at + 1, "(") => {
                let token = self.tokens[at];
                self.put(token.start, token.end, "type_");
                return self.builtin_argument(at);
            }
            _ => {}
        }
        // `"%" PRId64 " of"`
        let is_literal = |at: Option<usize>| at.and_then(|at| self.kind(at)) == Some(TokenKind::Literal);
        if is_literal(Some(at + 1)) && is_literal(at.checked_sub(1)) {
            self.blank(at, at);
            return at + 1;
        }
        if self.is_pair(at + 1, "::") && self.is(at + 3, "*") {
            return self.member_pointer_type(at);
        }
        if is_capitals(name) {
            return self.capitals(at, name);
        }
        let is_macro = self.is(at + 1, "(") && self.macros.is_function_like(name);
        if is_macro { self.call(at) } else { at + 1 }
    }

    /// A name written like a macro of which nothing is known.
    fn capitals(&mut self, at: usize, name: &str) -> usize {
        let table = crate::MacroTable::builtin();
        if table.is_named_test(name) {
            return self.named_test(at);
        }
        if table.is_export(name) && self.is_word(at + 1) {
            self.annotate(at, at);
            return at + 1;
        }
        if ATTRIBUTE_NAMES.iter().any(|part| name.contains(part)) && !self.contexts.in_parens() {
            return self.blank_call(at);
        }
        if self.is(at + 1, "(") {
            return self.call(at);
        }
        if self.precedes_declaration(at) || self.trails(at, at) {
            self.annotate(at, at);
        }
        at + 1
    }

    /// `NAME static ...`, `NAME int ...`: what follows cannot follow a type.
    fn precedes_declaration(&self, at: usize) -> bool {
        let next = self.text(at + 1);
        let follows = AFTER_ANNOTATION.contains(&next) || BUILTINS.contains(&next);
        let begins = !matches!(
            self.previous(at),
            b":" | b"."
                | b">"
                | b"class"
                | b"struct"
                | b"union"
                | b"enum"
                | b"typename"
                | b"namespace"
                | b"using"
        );
        self.is_word(at + 1) && follows && (begins || self.contexts.begins(at))
    }

    /// Between a parameter list and the end of a declaration or its body.
    fn trails(&self, at: usize, last: usize) -> bool {
        let after = matches!(self.previous(at), b")" | b"const" | b"noexcept" | b"override" | b"final");
        let ends = matches!(self.bytes(last + 1), b";" | b"{" | b"=") || self.is_pair(last + 1, "->");
        after && ends && self.contexts.declares() && !self.contexts.begins(at)
    }

    /// A call that may be a macro: what stands for declarations or statements where no `;` ends it,
    /// what annotates a declaration, or a built-in type as an argument.
    fn call(&mut self, at: usize) -> usize {
        let last = self.call_end(at);
        if last == at {
            return at + 1;
        }
        let in_body = self.contexts.now() == Context::Body;
        let stands_alone = self.ends_without_semicolon(last)
            || (in_body && matches!(self.bytes(last + 1), b"else" | b"const" | b"volatile"));
        if self.contexts.begins(at) && stands_alone {
            if in_body {
                return self.statement(at, last);
            }
            if self.contexts.declares() {
                return self.generate(at, last);
            }
        }
        if self.contexts.declares() && self.is_body(at, last) {
            return self.body(at, last);
        }
        if is_capitals(self.text(at)) && self.trails(at, last) {
            self.annotate(at, last);
            return last + 1;
        }
        if self.is_type_call(at, last) {
            self.blank(at + 1, last);
            return last + 1;
        }
        // `static TABLE(NAME, 0);`: values are no parameters.
        let has_values =
            || (at + 2..last).any(|at| matches!(self.kind(at), Some(TokenKind::Number | TokenKind::Literal)));
        let is_declared = self.contexts.declares() || (in_body && self.previous(at) == b"static");
        if is_declared && self.is(last + 1, ";") && self.follows_specifiers(at) && has_values() {
            return self.generate(at, last);
        }
        self.without_const(at, last);
        // In a declaration they are the types of parameters.
        if self.contexts.declares() { at + 1 } else { self.builtin_argument(at) }
    }

    /// Overwrites a call that stands for declarations, and remembers it.
    fn generate(&mut self, at: usize, last: usize) -> usize {
        self.drop_tokens(self.contexts.start().min(at), last);
        self.out.declarations.push((self.tokens[at].start, self.tokens[last].end));
        self.contexts.begin(last + 1);
        last + 1
    }

    /// Whether a new declaration or statement begins after token `last`, which no `;` ends.
    fn ends_without_semicolon(&self, last: usize) -> bool {
        let Some(kind) = self.kind(last + 1) else { return true };
        let next = self.bytes(last + 1);
        let goes_on = matches!(
            next,
            b"const"
                | b"volatile"
                | b"noexcept"
                | b"override"
                | b"final"
                | b"try"
                | b"requires"
                | b"throw"
                | b"and"
                | b"or"
                | b"xor"
                | b"not_eq"
                | b"bitand"
                | b"bitor"
                | b"else"
        );
        match kind {
            TokenKind::Word => !goes_on,
            TokenKind::Punctuation => next == b"}" || self.is_pair(last + 1, "[["),
            _ => false,
        }
    }

    /// `CHECK(f(x))` without `;` in a body: the call goes, its arguments stay as a statement.
    fn statement(&mut self, at: usize, last: usize) -> usize {
        let has_types = (at + 2..last).any(|at| {
            let text = self.text(at);
            BUILTINS.contains(&text) || matches!(text, "{" | ";" | "const" | "auto" | "typename")
        });
        if has_types || last == at + 2 {
            self.blank(at, last);
            self.contexts.skip(at, last);
            return last + 1;
        }
        self.blank(at, at + 1);
        let close = self.tokens[last];
        self.put(close.start, close.end, ";");
        // The parenthesis is gone, so what is in it is looked at by itself, up to the new `;`.
        self.contexts.skip(at, at + 1);
        let mut inner = at + 2;
        while inner < last {
            inner = self.visit(inner).max(inner + 1);
        }
        self.contexts.begin(last + 1);
        last + 1
    }

    /// `auto f(int a) RETURNS(g(a))`: a macro that holds the body of a function.
    fn is_body(&self, at: usize, last: usize) -> bool {
        let after = matches!(self.previous(at), b")" | b"const" | b"noexcept" | b"override");
        let has_body = |define: &crate::Define| define.body.contains("return") && define.body.contains('{');
        let ends = self.ends_without_semicolon(last) || self.is(last + 1, ";");
        after && ends && self.macros.defines(self.text(at)).iter().any(has_body)
    }

    fn body(&mut self, at: usize, last: usize) -> usize {
        const OPEN: &str = "{return ";
        let (start, open) = (self.tokens[at].start, self.tokens[at + 1].start);
        let close = self.tokens[last].end;
        if self.is(last + 1, ";") {
            return self.body_with_semicolon(at, last);
        }
        let next = self.tokens.get(last + 1).map_or(self.source.len(), |token| token.start);
        let free = |byte: &u8| *byte == b' ' || *byte == b'\t';
        let room: Vec<usize> = (close..next).filter(|at| free(&self.source[*at])).take(2).collect();
        let [semicolon, brace] = room[..] else {
            self.blank(at, last);
            return last + 1;
        };
        if open - start < OPEN.len() || !self.source[close..next].iter().all(u8::is_ascii_whitespace) {
            self.blank(at, last);
            return last + 1;
        }
        self.put(start, open, OPEN);
        self.out.bytes[semicolon] = b';';
        self.out.bytes[brace] = b'}';
        let mut inner = at + 2;
        while inner < last {
            inner = self.visit(inner).max(inner + 1);
        }
        self.contexts.begin(last + 1);
        last + 1
    }

    /// `auto f(int a) RETURNS(g(a));`, where the macro leaves something for a `;` to end.
    fn body_with_semicolon(&mut self, at: usize, last: usize) -> usize {
        const OPEN: &str = "{return ";
        let (start, inside) = (self.tokens[at].start, self.tokens[at + 1].end);
        if inside - start < OPEN.len() || self.source[start..inside].contains(&b'\n') {
            self.blank(at, last);
            return last + 1;
        }
        self.put(start, inside, OPEN);
        self.out.bytes[self.tokens[last].start] = b';';
        self.out.bytes[self.tokens[last + 1].start] = b'}';
        let mut inner = at + 2;
        while inner < last {
            inner = self.visit(inner).max(inner + 1);
        }
        self.contexts.begin(last + 2);
        last + 2
    }

    /// `WRAP(type)`: only what is in the parentheses is left.
    fn unwrap(&mut self, at: usize) -> usize {
        let last = self.call_end(at);
        if last == at {
            return at + 1;
        }
        let (mut first, mut close) = (at + 1, last);
        // `IF_ON_HOST((f(x);))` has parentheses of its own.
        if self.is(at + 2, "(") && self.closing(at + 2) == Some(last - 1) {
            (first, close) = (at + 2, last - 1);
        }
        self.drop_tokens(at, first);
        self.drop_tokens(close, last);
        self.out.annotations.push((self.tokens[at].start, self.tokens[first].end));
        self.contexts.skip(at, first);
        let mut inner = first + 1;
        while inner < close {
            inner = self.visit(inner).max(inner + 1);
        }
        self.contexts.skip(close, last);
        last + 1
    }

    fn replace(&mut self, at: usize, text: &str) -> usize {
        // A keyword stands where a statement begins; elsewhere the name is somebody else's.
        if text.starts_with(char::is_alphabetic) && !self.contexts.begins(at) {
            return at + 1;
        }
        let token = self.tokens[at];
        self.put(token.start, token.end, text);
        if matches!(text, "private" | "protected" | "public") && self.is(at + 1, ":") {
            self.contexts.begin(at + 2);
            return at + 2;
        }
        at + 1
    }

    /// Overwrites a name and, if it has any, its arguments.
    fn blank_call(&mut self, at: usize) -> usize {
        let last = self.call_end(at);
        self.annotate(at, last);
        last + 1
    }

    /// A macro that is known to stand for declarations, where one may begin.
    fn declaration(&mut self, at: usize) -> usize {
        let last = self.call_end(at);
        let in_body = self.contexts.now() == Context::Body;
        let ends = self.ends_without_semicolon(last) || (!in_body && self.is(last + 1, ";"));
        if in_body {
            if self.contexts.begins(at) && ends {
                return self.statement(at, last);
            }
            self.without_const(at, last);
            return at + 1;
        }
        if self.contexts.declares() && ends && self.follows_specifiers(at) {
            return self.generate(at, last);
        }
        self.call(at)
    }

    /// Whether nothing but words such as `static` stands before a token in its declaration.
    fn follows_specifiers(&self, at: usize) -> bool {
        let head = self.contexts.head();
        (head..at)
            .all(|at| matches!(self.bytes(at), b"static" | b"inline" | b"constexpr" | b"const" | b"extern"))
    }

    /// A macro that gives a type (`const REAL(3)& x`, `typedef VECTOR(T) name;`): its name alone does.
    fn is_type_call(&self, at: usize, last: usize) -> bool {
        let before = matches!(
            self.previous(at),
            b"typedef"
                | b"const"
                | b"typename"
                | b"static"
                | b"inline"
                | b"constexpr"
                | b"virtual"
                | b"mutable"
        );
        let in_list = matches!(self.previous(at), b"(" | b",") && self.contexts.in_parens();
        let next = last + 1;
        let names = self.is_word(next) && !matches!(self.bytes(next), b"const" | b"noexcept" | b"override");
        let points = matches!(self.bytes(next), b"*" | b"&") && self.is_word(next + 1);
        match self.contexts.now() {
            Context::Namespace | Context::Class => (before || in_list) && (names || points),
            _ => matches!(self.previous(at), b"typedef" | b"typename" | b"const") && names,
        }
    }

    /// `enum : bool {`: an enumeration without a name takes no type in the grammar.
    fn enumeration(&mut self, at: usize) -> usize {
        let named = matches!(self.bytes(at + 1), b"class" | b"struct");
        if self.is(at + 1, ":") {
            let open = (at + 1..self.tokens.len()).take(16).find(|at| self.is(*at, "{"));
            if let Some(open) = open {
                self.blank(at + 1, open - 1);
                return open;
            }
        }
        let name = at + 1 + usize::from(named);
        // `enum Kind UNDERLYING(unsigned char) {`
        if self.is_word(name) && self.is_word(name + 1) && self.is(name + 2, "(") {
            let last = self.call_end(name + 1);
            if self.is(last + 1, "{") {
                self.annotate(name + 1, last);
                return last + 1;
            }
        }
        self.type_head(name)
    }

    /// After `class`, `struct`, `union` or `enum`: a macro before the type's own name.
    fn type_head(&mut self, at: usize) -> usize {
        let name = self.text(at);
        if !self.is_word(at) || !is_capitals(name) || self.macros.action(name).is_some() {
            return at;
        }
        let last = self.call_end(at);
        let after = self.bytes(last + 2);
        let heads_a_body = matches!(after, b"{" | b":" | b"<" | b"final")
            || (after == b";" && (last > at || crate::MacroTable::builtin().is_export(name)));
        if self.is_word(last + 1) && !self.is(last + 1, "final") && heads_a_body {
            self.annotate(at, last);
            return last + 1;
        }
        at
    }

    /// `: public BASE(arguments)`: the arguments go, the name stays.
    fn base_macro(&mut self, at: usize) -> usize {
        let name = at + 1;
        if !(self.is_word(name) && is_capitals(self.text(name)) && self.is(name + 1, "(")) {
            return at + 1;
        }
        match self.closing(name + 1) {
            Some(close) if matches!(self.bytes(close + 1), b"{" | b",") => {
                self.blank(name + 1, close);
                close + 1
            }
            _ => at + 1,
        }
    }

    /// `typeid(unsigned long)`, `MAKE(int, x, 1)`: a built-in type is no expression to the grammar, a
    /// name is. Gives the token after the call where the first argument is one.
    fn builtin_argument(&mut self, at: usize) -> usize {
        let Some(close) = self.is(at + 1, "(").then(|| self.closing(at + 1)).flatten() else { return at + 1 };
        let mut next = at + 1;
        let mut depth = 0usize;
        for inner in at + 1..close {
            match self.bytes(inner) {
                b"(" | b"[" | b"{" => depth += 1,
                b")" | b"]" | b"}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth != 1 || !matches!(self.bytes(inner), b"(" | b",") {
                continue;
            }
            let first = inner + 1;
            let end = (first..=close).find(|at| !BUILTINS.contains(&self.text(*at))).unwrap_or(first);
            if end > first && matches!(self.bytes(end), b"," | b")") {
                let (start, end_byte) = (self.tokens[first].start, self.tokens[end - 1].end);
                self.put(start, end_byte, "t");
                if inner == at + 1 {
                    next = end + usize::from(end == close);
                }
            }
        }
        next
    }

    /// `TEST_CASE("name", "[tag]") {`: made a function, since a string is no parameter.
    fn named_test(&mut self, at: usize) -> usize {
        let last = self.call_end(at);
        if last == at || !self.is(last + 1, "{") {
            return at + 1;
        }
        let (start, end) = (self.tokens[at].start, self.tokens[last].end);
        self.put(start, end, "void t()");
        last + 1
    }
}
