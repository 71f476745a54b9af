//! Overwrites what a grammar cannot read, byte for byte.
//!
//! The result has the length and the line breaks of the source, so that every offset of its tree
//! is an offset of the file. Comments, strings and directives are left alone.

use std::collections::BTreeSet;

use crate::lexer::{Lexer, Token, TokenKind};
use crate::macros::is_capitals;
use crate::{MacroAction, MacroTable};

const BUILTINS: &[&str] = &[
    "bool", "char", "char8_t", "char16_t", "char32_t", "double", "float", "int", "long", "short", "signed",
    "unsigned", "void", "wchar_t",
];

/// A source as the grammar sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    /// The bytes, as many as in the source.
    pub bytes: Vec<u8>,
    /// First byte of the argument list of every `kernel<<<...>>>(...)`.
    pub launches: Vec<usize>,
    /// Ranges of macro calls that stand for declarations and were overwritten.
    pub declarations: Vec<(usize, usize)>,
    /// Number of places overwritten.
    pub edits: usize,
}

/// Masks `source`. Names in `learned` are overwritten like annotations; functions named in
/// `generators` are macros of this file that stand for declarations.
pub fn mask(
    source: &[u8],
    table: &MacroTable,
    learned: &BTreeSet<String>,
    generators: &BTreeSet<String>,
) -> Masked {
    let tokens = Lexer::new(source)
        .filter(|token| !matches!(token.kind, TokenKind::Space | TokenKind::Comment))
        .collect();
    let mut masker = Masker {
        source,
        tokens,
        table,
        learned,
        generators,
        out: Masked { bytes: source.to_vec(), launches: Vec::new(), declarations: Vec::new(), edits: 0 },
    };
    let mut at = 0;
    while at < masker.tokens.len() {
        at = masker.visit(at).max(at + 1);
    }
    masker.out
}

struct Masker<'a> {
    source: &'a [u8],
    tokens: Vec<Token>,
    table: &'a MacroTable,
    learned: &'a BTreeSet<String>,
    generators: &'a BTreeSet<String>,
    out: Masked,
}

impl Masker<'_> {
    /// Looks at one token; returns the index to go on with.
    fn visit(&mut self, at: usize) -> usize {
        let token = self.tokens[at];
        match token.kind {
            TokenKind::Word => self.word(at),
            TokenKind::Punctuation => self.punctuation(at),
            _ => at + 1,
        }
    }

    fn text(&self, at: usize) -> &str {
        self.tokens
            .get(at)
            .map_or("", |token| str::from_utf8(&self.source[token.start..token.end]).unwrap_or(""))
    }

    fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word)
    }

    fn previous(&self, at: usize) -> &str {
        if at == 0 { "" } else { self.text(at - 1) }
    }

    /// Whether token `at` follows the one before it without space.
    fn is_adjacent(&self, at: usize) -> bool {
        at > 0 && self.tokens[at - 1].end == self.tokens[at].start
    }

    /// Index of the bracket that closes the one at `open`; `None` when there is none.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in open..self.tokens.len() {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn overwrite(&mut self, start: usize, end: usize, text: &str) {
        for byte in &mut self.out.bytes[start..end] {
            if *byte != b'\n' && *byte != b'\r' {
                *byte = b' ';
            }
        }
        self.out.bytes[start..start + text.len()].copy_from_slice(text.as_bytes());
        self.out.edits += 1;
    }

    fn blank(&mut self, first: usize, last: usize) {
        self.overwrite(self.tokens[first].start, self.tokens[last].end, "");
    }

    fn word(&mut self, at: usize) -> usize {
        let name = self.text(at).to_owned();
        match self.table.action(&name).cloned() {
            Some(MacroAction::Blank) => self.blank(at, at),
            Some(MacroAction::BlankCall) => return self.blank_call(at),
            Some(MacroAction::Declaration) => return self.declaration(at),
            // A keyword stands where a statement begins; elsewhere the name is somebody else's.
            Some(MacroAction::Replace(text))
                if text.starts_with(char::is_alphabetic) && !self.begins_statement(at) => {}
            Some(MacroAction::Replace(text)) => {
                self.overwrite(self.tokens[at].start, self.tokens[at].end, &text);
            }
            None if self.generators.contains(&name) => return self.declaration(at),
            None if self.learned.contains(&name) => return self.blank_call(at),
            None => return self.plain_word(at, &name),
        }
        at + 1
    }

    fn plain_word(&mut self, at: usize, name: &str) -> usize {
        match name {
            "class" | "struct" | "union" => self.type_head(at + 1),
            "enum" => {
                let named = matches!(self.text(at + 1), "class" | "struct");
                self.type_head(at + 1 + usize::from(named))
            }
            "using" => self.using(at),
            "public" | "private" | "protected" => self.base_macro(at),
            "operator" if matches!(self.previous(at), ">" | ".") => self.operator_call(at),
            _ if (name == "typeid" || is_capitals(name)) && self.is_builtin_argument(at + 1) => {
                self.builtin_argument(at + 1)
            }
            _ if self.table.is_named_test(name) => self.named_test(at),
            _ if self.table.is_export(name) && self.is_word(at + 1) => {
                self.blank(at, at);
                at + 1
            }
            _ => at + 1,
        }
    }

    /// Overwrites a name and, if it has any, its arguments.
    fn blank_call(&mut self, at: usize) -> usize {
        let last = match self.text(at + 1) {
            "(" => self.closing(at + 1).unwrap_or(at),
            _ => at,
        };
        self.blank(at, last);
        last + 1
    }

    fn begins_statement(&self, at: usize) -> bool {
        at == 0
            || matches!(self.previous(at), ";" | "{" | "}" | ")" | ":")
            || self.tokens[at - 1].kind == TokenKind::Preprocessor
    }

    /// Overwrites a call that stands for declarations: one that begins where a declaration may
    /// begin and that neither `;` nor an operator follows.
    fn declaration(&mut self, at: usize) -> usize {
        let begins = self.begins_statement(at);
        let last = match self.text(at + 1) {
            "(" => self.closing(at + 1).unwrap_or(at),
            _ => at,
        };
        let ends = !matches!(
            self.text(last + 1),
            ";" | ","
                | "."
                | "+"
                | "-"
                | "*"
                | "/"
                | "<"
                | ">"
                | "="
                | "?"
                | "&"
                | "|"
                | "["
                | "("
                | ")"
                | "{"
        );
        if !(begins && ends) {
            return at + 1;
        }
        self.blank(at, last);
        self.out.declarations.push((self.tokens[at].start, self.tokens[last].end));
        last + 1
    }

    /// After `class`, `struct`, `union` or `enum`: a macro before the type's own name.
    fn type_head(&mut self, at: usize) -> usize {
        let name = self.text(at).to_owned();
        if !self.is_word(at) || !is_capitals(&name) {
            return at;
        }
        let last = match self.text(at + 1) {
            "(" => self.closing(at + 1).unwrap_or(at),
            _ => at,
        };
        let after = self.text(last + 2);
        let heads_a_body = matches!(after, "{" | ":" | "<" | "final" | "::")
            || (after == ";" && (last > at || self.table.is_export(&name)));
        if self.is_word(last + 1) && self.text(last + 1) != "final" && heads_a_body {
            self.blank(at, last);
            return last + 1;
        }
        at
    }

    /// `using A::x, B::y;` and `using typename A::x;`: only what the grammar knows is left.
    fn using(&mut self, at: usize) -> usize {
        let mut end = at + 1;
        let mut comma = None;
        let mut angles = 0usize;
        while end < self.tokens.len() {
            match self.text(end) {
                ";" => break,
                "=" | "{" | "}" => return at + 1,
                "<" => angles += 1,
                ">" => angles = angles.saturating_sub(1),
                "," if angles == 0 && comma.is_none() => comma = Some(end),
                _ => {}
            }
            end += 1;
        }
        if end == self.tokens.len() {
            return at + 1;
        }
        if self.text(at + 1) == "typename" {
            self.blank(at + 1, at + 1);
        }
        if let Some(comma) = comma {
            self.blank(comma, end - 1);
            return end;
        }
        at + 1
    }

    /// `: public BASE(arguments)`: the arguments go, the name stays.
    fn base_macro(&mut self, at: usize) -> usize {
        let name = at + 1;
        if !(self.is_word(name) && is_capitals(self.text(name)) && self.text(name + 1) == "(") {
            return at + 1;
        }
        match self.closing(name + 1) {
            Some(close) if matches!(self.text(close + 1), "{" | ",") => {
                self.blank(name + 1, close);
                close + 1
            }
            _ => at + 1,
        }
    }

    /// `x->operator+=(y)`: the symbol becomes part of a name; the name itself is read from the file.
    fn operator_call(&mut self, at: usize) -> usize {
        let mut open = at + 1;
        if matches!(self.text(open), "(" | "[") {
            open += 2;
        }
        while open < self.tokens.len()
            && self.tokens[open].kind == TokenKind::Punctuation
            && self.text(open) != "("
        {
            open += 1;
        }
        if open == at + 1 || self.text(open) != "(" {
            return at + 1;
        }
        let (start, end) = (self.tokens[at + 1].start, self.tokens[open - 1].end);
        if start != self.tokens[at].end {
            return at + 1;
        }
        self.out.bytes[start..end].fill(b'_');
        self.out.edits += 1;
        open
    }

    fn is_builtin_argument(&self, open: usize) -> bool {
        let close = (open + 1..self.tokens.len()).find(|at| !BUILTINS.contains(&self.text(*at)));
        self.text(open) == "(" && close.is_some_and(|close| close > open + 1 && self.text(close) == ")")
    }

    /// `typeid(unsigned long)`: a built-in type is no expression to the grammar, a name is.
    fn builtin_argument(&mut self, open: usize) -> usize {
        let close = self.closing(open).unwrap_or(open);
        let (start, end) = (self.tokens[open].end, self.tokens[close].start);
        self.overwrite(start, end, "t");
        close + 1
    }

    /// `TEST_CASE("name", "[tag]") {`: made a function, since a string is no parameter.
    fn named_test(&mut self, at: usize) -> usize {
        let Some(close) = (self.text(at + 1) == "(").then(|| self.closing(at + 1)).flatten() else {
            return at + 1;
        };
        if self.text(close + 1) != "{" {
            return at + 1;
        }
        let (start, end) = (self.tokens[at].start, self.tokens[close].end);
        self.overwrite(start, end, "void t()");
        close + 1
    }

    fn punctuation(&mut self, at: usize) -> usize {
        let token = self.tokens[at];
        let pair = self.source.get(token.start..token.start + 2).unwrap_or_default();
        match pair {
            b"<<" if self.source[token.start..].starts_with(b"<<<") => return self.launch(at),
            // `<::` is `< ::` unless `:` or `>` follows.
            b"<:"
                if !self.source[token.start..].starts_with(b"<::") || self.is_digraph_scope(token.start) =>
            {
                self.overwrite(token.start, token.start + 2, "[");
            }
            b":>" if self.previous(at) != ":" || !self.is_adjacent(at) => {
                self.overwrite(token.start, token.start + 2, " ]");
            }
            b"={" | b"= " if self.is_empty_default(at) => {
                self.blank(at, at + 2);
                return at + 3;
            }
            b"<%" => self.overwrite(token.start, token.start + 2, "{"),
            b"%>" => self.overwrite(token.start, token.start + 2, " }"),
            _ => return at + 1,
        }
        at + 2
    }

    /// `T x = {}` in a parameter list: the grammar knows no braces there.
    fn is_empty_default(&self, at: usize) -> bool {
        self.text(at) == "="
            && self.text(at + 1) == "{"
            && self.text(at + 2) == "}"
            && matches!(self.text(at + 3), "," | ")")
    }

    fn is_digraph_scope(&self, start: usize) -> bool {
        matches!(self.source.get(start + 3), Some(b':' | b'>'))
    }

    /// `kernel<<<grid, block>>>(arguments)`: the configuration goes, the call stays.
    fn launch(&mut self, at: usize) -> usize {
        let called = at > 0 && (self.is_word(at - 1) || self.previous(at) == ">");
        let mut depth = 0usize;
        let mut close = at + 3;
        while called && close + 3 < self.tokens.len() {
            match self.text(close) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                ";" => break,
                ">" if depth == 0
                    && self.source[self.tokens[close].start..].starts_with(b">>>")
                    && self.text(close + 3) == "(" =>
                {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(source: &str) -> Masked {
        let generators = BTreeSet::from(["DefineSum".to_owned()]);
        let learned = BTreeSet::from(["LEARNED".to_owned()]);
        mask(source.as_bytes(), MacroTable::builtin(), &learned, &generators)
    }

    /// Masks, checks that nothing moved, and compares with runs of spaces made one.
    fn check(source: &str, expected: &str) {
        let masked = masked(source);
        let text = String::from_utf8(masked.bytes).expect("ASCII edits");
        assert_eq!(text.len(), source.len());
        let breaks = |s: &str| s.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(breaks(&text), breaks(source));
        let squeezed: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(squeezed.join(" "), expected, "{source}");
    }

    #[test]
    fn annotations_go_and_lambdas_become_lambdas() {
        check("KOKKOS_INLINE_FUNCTION void f() const;", "void f() const;");
        check("p(n, KOKKOS_LAMBDA(const int i) { g(i); });", "p(n, [=] (const int i) { g(i); });");
        check("p(n, KOKKOS_CLASS_LAMBDA (int i) {});", "p(n, [=,*this] (int i) {});");
        check("[=] AMREX_GPU_DEVICE (int i) noexcept {}", "[=] (int i) noexcept {}");
        check("__global__ void __launch_bounds__(256, 2) k(int* p) {}", "void k(int* p) {}");
        check("LEARNED(a, b) void f();", "void f();");
        check("DEAL_II_NAMESPACE_OPEN int x; DEAL_II_NAMESPACE_CLOSE", "namespace dealii { int x; }");
        check("{ forAll(cells, i) { f(i); } }", "{ while (cells, i) { f(i); } }");
        check("bool forAll(P p) { return x.forAll(p); }", "bool forAll(P p) { return x.forAll(p); }");
    }

    #[test]
    fn comments_strings_and_definitions_stay() {
        for source in [
            "// KOKKOS_FUNCTION",
            "f(\"KOKKOS_FUNCTION\");",
            "#define X KOKKOS_FUNCTION \\",
            "int KOKKOS_FUNCTION_COUNT;",
        ] {
            check(source, source);
        }
    }

    #[test]
    fn export_macros_go_and_types_stay() {
        check("class CORE_EXPORT Solver : public Base {", "class Solver : public Base {");
        check("struct ALIGNED(16) V final {", "struct V final {");
        check("enum class LIB_API Kind { A };", "enum class Kind { A };");
        check("struct FFT final {", "struct FFT final {");
        check("struct FFT X;", "struct FFT X;");
        check("class CG {", "class CG {");
        check("class LIB_API Forward;", "class Forward;");
        check("LIB_API void f();", "void f();");
    }

    #[test]
    fn digraphs_are_rewritten_but_not_scopes() {
        check("x(v<:i:>);", "x(v[ i ]);");
        check("struct S<::ns::T> : B<% %>;", "struct S<::ns::T> : B{ };");
        check("f<::A::B>(a::b);", "f<::A::B>(a::b);");
    }

    #[test]
    fn lists_after_using_are_cut_and_aliases_kept() {
        check("using A::x, B::y;", "using A::x ;");
        check("using typename B::t, typename B::u;", "using B::t ;");
        check("using V = T<int, 3>;", "using V = T<int, 3>;");
        check("using B<T, Dim>::x;", "using B<T, Dim>::x;");
    }

    #[test]
    fn launches_are_calls_that_are_remembered() {
        let source = "void h() { k<<<dim3(a, b), 256, 0, s>>>(x); std::cout << a << b; }";
        check(source, "void h() { k (x); std::cout << a << b; }");
        assert_eq!(masked(source).launches, [source.find("(x)").expect("arguments")]);
        assert!(masked("int a = b <<<<<<< c;").launches.is_empty());
    }

    #[test]
    fn generating_calls_go_only_where_they_stand_alone() {
        let source = "int a;\nDefineSum(Sum, sum)\nint b;";
        check(source, "int a; int b;");
        assert_eq!(masked(source).declarations, [(7, 26)]);
        check("int a = DefineSum(x, y);", "int a = DefineSum(x, y);");
        check("int a; DefineSum(x, y);", "int a; DefineSum(x, y);");
    }

    #[test]
    fn what_the_grammar_lacks_is_rewritten() {
        check("a->operator+=(b); c.operator()(d);", "a->operator__(b); c.operator__(d);");
        check("T& T::operator+=(int b);", "T& T::operator+=(int b);");
        check("{typeid(unsigned long), X}", "{typeid(t ), X}");
        check("void f(V v = {}, W w = {});", "void f(V v , W w );");
        check("V v = {};", "V v = {};");
    }

    #[test]
    fn string_tests_and_macro_bases() {
        check("TEST_CASE(\"adds up\", \"[math]\") { f(); }", "void t() { f(); }");
        check("class A : public BASE(X, y) {", "class A : public BASE {");
    }
}
