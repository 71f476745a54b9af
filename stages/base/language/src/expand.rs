//! Expansion of macros inside a text: arguments first, then pasting, then what the result still names.

use rustc_hash::FxHashMap;

use crate::defines::{Define, split_arguments};
use crate::lexer::{Lexer, Token, TokenKind};

/// Macros inside macros that are followed.
const DEPTH: usize = 12;
/// Macros inside macros that are looked into for pasting.
const PASTING_DEPTH: usize = 3;
/// Bytes that an expansion may take; more of them is no name and no declaration.
const LONGEST: usize = 32 * 1024;

/// Definitions by name.
pub(crate) type Defines = FxHashMap<String, Vec<Define>>;

/// Expands texts.
pub(crate) struct Expander<'a> {
    defines: &'a Defines,
    /// Only macros that make names by pasting, and what those are handed.
    pasting_only: bool,
    /// Whether a macro was met of which there are several definitions.
    pub(crate) is_ambiguous: bool,
    open: Vec<&'a str>,
}

impl<'a> Expander<'a> {
    pub(crate) fn new(defines: &'a Defines) -> Self {
        Self { defines, pasting_only: false, is_ambiguous: false, open: Vec::new() }
    }

    /// Leaves everything in place but macros that make names.
    pub(crate) fn of_pasted_names(defines: &'a Defines) -> Self {
        Self { pasting_only: true, ..Self::new(defines) }
    }

    /// The text with its macros replaced.
    pub(crate) fn expand(&mut self, text: &str) -> String {
        let tokens: Vec<Token> = Lexer::inside_directive(text.as_bytes()).collect();
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while at < tokens.len() && out.len() < LONGEST {
            let token = tokens[at];
            let word = &text[token.start..token.end];
            let call = (token.kind == TokenKind::Word).then(|| Call::at(text, &tokens, at)).flatten();
            let chosen = if token.kind == TokenKind::Word { self.chosen(word, call.is_some()) } else { None };
            match (chosen, call) {
                (Some(define), Some(call)) if define.parameters.is_some() => {
                    self.replace(define, Some(call.arguments), &mut out);
                    at = call.end;
                    continue;
                }
                (Some(define), _) => self.replace(define, None, &mut out),
                (None, _) => out.push_str(word),
            }
            at += 1;
        }
        out
    }

    /// The definition that a word stands for.
    fn chosen(&mut self, word: &str, is_call: bool) -> Option<&'a Define> {
        let (name, defines) = self.defines.get_key_value(word)?;
        if self.open.len() >= DEPTH || self.open.contains(&name.as_str()) {
            return None;
        }
        if self.pasting_only && !self.pastes(defines, PASTING_DEPTH) {
            return None;
        }
        let fitting = || defines.iter().filter(|define| define.parameters.is_none() || is_call);
        let define = fitting().find(|define| !define.body.is_empty()).or_else(|| fitting().next())?;
        self.is_ambiguous |= defines.len() > 1;
        Some(define)
    }

    fn replace(&mut self, define: &'a Define, arguments: Option<&str>, out: &mut String) {
        let body = match arguments {
            Some(arguments) => self.with_arguments(define, arguments),
            None => Some(define.substitute(|_| None)),
        };
        let Some(body) = body else { return };
        self.open.push(&define.name);
        let expanded = self.expand(&body);
        self.open.pop();
        out.push_str(&expanded);
    }

    /// The body of a macro with its arguments: as written where they are pasted or quoted, expanded
    /// elsewhere.
    fn with_arguments(&mut self, define: &Define, arguments: &str) -> Option<String> {
        let written = define.values(arguments)?;
        let expanded: Vec<(&str, String)> =
            written.iter().map(|(name, text)| (*name, self.expand(text))).collect();
        Some(define.substitute(|word| {
            let at = written.iter().position(|(name, _)| *name == word)?;
            Some((written[at].1.as_str(), expanded[at].1.as_str()))
        }))
    }

    /// Whether some definition pastes, by itself or through the macros it calls.
    fn pastes(&self, defines: &[Define], depth: usize) -> bool {
        defines.iter().filter(|define| define.parameters.is_some()).any(|define| {
            define.body.contains("##")
                || (depth > 0
                    && Lexer::inside_directive(define.body.as_bytes())
                        .filter(|token| token.kind == TokenKind::Word)
                        .filter_map(|token| define.body.get(token.start..token.end))
                        .filter(|word| *word != define.name)
                        .filter_map(|word| self.defines.get(word))
                        .any(|inner| self.pastes(inner, depth - 1)))
        })
    }
}

/// The parentheses after a name.
struct Call<'t> {
    /// What is in them.
    arguments: &'t str,
    /// Token after them.
    end: usize,
}

impl<'t> Call<'t> {
    fn at(text: &'t str, tokens: &[Token], at: usize) -> Option<Self> {
        let is_blank = |token: &Token| matches!(token.kind, TokenKind::Space | TokenKind::Comment);
        let open = (at + 1..tokens.len()).find(|at| !is_blank(&tokens[*at]))?;
        let is = |at: usize, sign: &str| &text[tokens[at].start..tokens[at].end] == sign;
        if !is(open, "(") {
            return None;
        }
        let mut depth = 0usize;
        for close in open..tokens.len() {
            if is(close, "(") {
                depth += 1;
            } else if is(close, ")") {
                depth -= 1;
                if depth == 0 {
                    return Some(Self {
                        arguments: &text[tokens[open].end..tokens[close].start],
                        end: close + 1,
                    });
                }
            }
        }
        None
    }
}

impl Define {
    /// Parameters with their arguments, `...` under the names it goes by.
    fn values<'d>(&'d self, text: &str) -> Option<Vec<(&'d str, String)>> {
        let parameters = self.parameters.as_ref()?;
        let arguments = split_arguments(text);
        let is_open = parameters.last().is_some_and(|last| last.ends_with("..."));
        let named = parameters.len() - usize::from(is_open);
        if arguments.len() < named || (parameters.is_empty() && !text.trim().is_empty()) {
            return None;
        }
        let mut values: Vec<(&str, String)> = parameters
            .iter()
            .take(named)
            .zip(&arguments)
            .map(|(name, text)| (name.as_str(), text.trim().to_owned()))
            .collect();
        if is_open {
            let rest = arguments.get(named..).unwrap_or_default().join(",").trim().to_owned();
            let name = parameters.last().map_or("", |last| last.trim_end_matches("...").trim());
            if !name.is_empty() {
                values.push((name, rest.clone()));
            }
            values.push(("__VA_ARGS__", rest));
        }
        Some(values)
    }

    /// The body with values in place of words, each as written and expanded; `##` pastes, `#x` quotes.
    fn substitute<'v>(&self, value: impl Fn(&str) -> Option<(&'v str, &'v str)>) -> String {
        let body = self.body.as_str();
        let tokens: Vec<Token> = Lexer::inside_directive(body.as_bytes()).collect();
        let text = |at: usize| tokens.get(at).map_or("", |token| &body[token.start..token.end]);
        let is_space = |at: usize| tokens.get(at).is_some_and(|token| token.kind == TokenKind::Space);
        let mut out = String::with_capacity(body.len());
        let mut pasted = false;
        let mut at = 0;
        while at < tokens.len() {
            if text(at) == "#" && text(at + 1) == "#" {
                out.truncate(out.trim_end().len());
                at += 2;
                while is_space(at) {
                    at += 1;
                }
                pasted = true;
                continue;
            }
            let after = (at + 1..tokens.len()).find(|at| !is_space(*at)).unwrap_or(tokens.len());
            let pastes = pasted || (text(after) == "#" && text(after + 1) == "#");
            match value(text(at)).filter(|_| tokens[at].kind == TokenKind::Word) {
                Some((written, _)) if out.ends_with('#') => {
                    out.pop();
                    out.push('"');
                    out.push_str(written);
                    out.push('"');
                }
                Some((written, _)) if pastes => out.push_str(written),
                Some((_, expanded)) => out.push_str(expanded),
                None => out.push_str(text(at)),
            }
            pasted = false;
            at += 1;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use crate::{TreeMacros, defines};

    fn expanded(definitions: &str, text: &str) -> String {
        TreeMacros::new(defines(definitions)).expanded(text)
    }

    #[test]
    fn arguments_are_expanded_unless_they_are_pasted_or_quoted() {
        let definitions = "#define MAJOR 3\n#define CAT_(a, b) a ## b\n#define CAT(a, b) CAT_(a, b)\n\
                           #define STR(x) #x\n";
        assert_eq!(expanded(definitions, "CAT(v, MAJOR) CAT_(v, MAJOR)"), "v3 vMAJOR");
        assert_eq!(expanded(definitions, "STR(MAJOR)"), "\"MAJOR\"");
    }

    #[test]
    fn a_macro_does_not_expand_inside_itself_and_needs_its_parentheses() {
        assert_eq!(expanded("#define f(x) f(x + 1)\n", "f(2); f;"), "f(2 + 1); f;");
        assert_eq!(expanded("#define a b\n#define b a\n", "a b"), "a b");
    }

    #[test]
    fn further_arguments_go_where_the_dots_are() {
        assert_eq!(expanded("#define CALL(f, ...) f(__VA_ARGS__)\n", "CALL(g, 1, 2)"), "g(1, 2)");
    }
}
