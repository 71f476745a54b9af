//! Macros that open or close namespaces.

use crate::defines::Define;
use crate::expand::{Defines, Expander};
use crate::lexer::{Lexer, TokenKind};
use crate::{MacroAction, TreeMacros};

/// What one `{` of a macro opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// `namespace a::b {`, its names outermost first; none where it has no name.
    Namespace(Vec<String>),
    /// `inline namespace a {`; no name where the definitions of the tree leave it open.
    Inline(Vec<String>),
    /// `extern "C" {`.
    Linkage,
}

/// Words with parentheses that may stand before a namespace or its name.
const ANNOTATIONS: &[&str] = &["_Pragma", "__pragma", "__attribute__", "__declspec", "alignas"];

impl MacroAction {
    /// What C++ that opens or closes namespaces does to the code behind it.
    pub(crate) fn of_scope(code: &str) -> Option<Self> {
        scope(&words(code), false)
    }

    /// Whether it opens or closes something.
    pub(crate) fn is_scope(&self) -> bool {
        matches!(self, Self::Open(_) | Self::Close(_) | Self::ScopeCall)
    }

    /// Whether nothing is left of the macro.
    pub(crate) fn is_blank(&self) -> bool {
        matches!(self, Self::Blank | Self::BlankCall)
    }
}

impl TreeMacros {
    /// What a call of a macro opens or closes.
    pub(crate) fn scope_of_call(&self, name: &str, arguments: &str) -> Option<MacroAction> {
        let call = format!("{name}({arguments})");
        let mut expander = Expander::new(&self.defines);
        let code = expander.expand(&call);
        scope(&words(&code), expander.is_ambiguous)
    }

    /// Names of a namespace whose written name may be a macro: `namespace LIB_NAMESPACE {`.
    pub fn namespace_names(&self, written: &str) -> Vec<String> {
        let is_macro = |word: &str| !self.defines(word).is_empty();
        let code = if written.split("::").any(|part| is_macro(part.trim())) {
            Expander::new(&self.defines).expand(written)
        } else {
            written.to_owned()
        };
        path(&words(&code))
    }

    /// A text with all its macros replaced.
    #[cfg(test)]
    pub(crate) fn expanded(&self, text: &str) -> String {
        Expander::new(&self.defines).expand(text)
    }

    /// A text with the macros replaced that make names by pasting.
    pub fn with_pasted_names(&self, text: &str) -> String {
        Expander::of_pasted_names(&self.defines).expand(text)
    }
}

/// What a definition opens or closes, if that is all it does.
pub(crate) fn scope_of(define: &Define, defines: &Defines) -> Option<MacroAction> {
    let mut expander = Expander::new(defines);
    let code = expander.expand(&define.body);
    let action = scope(&words(&code), expander.is_ambiguous)?;
    Some(if define.parameters.is_some() { MacroAction::ScopeCall } else { action })
}

fn scope(words: &[String], is_ambiguous: bool) -> Option<MacroAction> {
    let mut opened: Vec<Opened> = Vec::new();
    let mut closed = 0;
    let mut rest: Vec<&str> = words.iter().map(String::as_str).collect();
    while let Some(first) = rest.first().copied() {
        let next = rest.get(1).copied().unwrap_or("");
        let used = match first {
            "}" => {
                if opened.pop().is_none() {
                    closed += 1;
                }
                1
            }
            ";" => 1,
            "using" => 1 + rest.iter().position(|word| *word == ";")?,
            "extern" if next.starts_with('"') && rest.get(2) == Some(&"{") => {
                opened.push(Opened::Linkage);
                3
            }
            "inline" if next == "namespace" => {
                let (mut names, used) = head(&rest[1..])?;
                if is_ambiguous {
                    names.clear();
                }
                opened.push(Opened::Inline(names));
                1 + used
            }
            "namespace" => {
                let (names, used) = head(&rest)?;
                opened.push(Opened::Namespace(names));
                used
            }
            _ if next == "(" && ANNOTATIONS.contains(&first) => 1 + length_of_call(&rest[1..])?,
            _ => return None,
        };
        rest.drain(..used);
    }
    match (opened.is_empty(), closed) {
        (false, 0) => Some(MacroAction::Open(opened)),
        (true, closed) if closed > 0 => Some(MacroAction::Close(closed)),
        _ => None,
    }
}

/// Names between `namespace` and `{`, and how many words that takes.
fn head(words: &[&str]) -> Option<(Vec<String>, usize)> {
    let open = words.iter().position(|word| *word == "{")?;
    if words[..open].iter().any(|word| matches!(*word, ";" | "=" | "}")) {
        return None;
    }
    let owned: Vec<String> = words[1..open].iter().map(|word| (*word).to_owned()).collect();
    Some((path(&owned), open + 1))
}

/// The names of a path, attributes left out.
fn path(words: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0usize;
    for (at, word) in words.iter().enumerate() {
        let is_called = words.get(at + 1).is_some_and(|next| next == "(");
        match word.as_str() {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            ":" | "inline" => {}
            _ if depth > 0 || is_called => {}
            _ if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => names.push(word.clone()),
            _ => {}
        }
    }
    names
}

/// Words of a parenthesised list, its parentheses included.
fn length_of_call(words: &[&str]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, word) in words.iter().enumerate() {
        match *word {
            "(" => depth += 1,
            ")" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn words(code: &str) -> Vec<String> {
    Lexer::inside_directive(code.as_bytes())
        .filter(|token| !matches!(token.kind, TokenKind::Space | TokenKind::Comment))
        .filter_map(|token| code.get(token.start..token.end).map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::defines;

    fn check(text: &str, name: &str, expected: Option<MacroAction>) {
        assert_eq!(TreeMacros::new(defines(text)).action(name), expected.as_ref(), "{text}");
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn each_brace_of_a_macro_opens_what_stands_before_it() {
        check(
            "#define A_BEGIN namespace a { inline namespace v1 {\n",
            "A_BEGIN",
            Some(MacroAction::Open(vec![Opened::Namespace(names(&["a"])), Opened::Inline(names(&["v1"]))])),
        );
        check("#define A_END }}\n", "A_END", Some(MacroAction::Close(2)));
        check(
            "#define A_OPEN namespace a::b [[gnu::visibility(\"hidden\")]] {\n",
            "A_OPEN",
            Some(MacroAction::Open(vec![Opened::Namespace(names(&["a", "b"]))])),
        );
        check("#define C_BEGIN extern \"C\" {\n#define C_BEGIN\n", "C_BEGIN", {
            Some(MacroAction::Open(vec![Opened::Linkage]))
        });
        check("#define A namespace a {} using namespace a;\n", "A", Some(MacroAction::Declaration));
    }

    #[test]
    fn macros_made_of_macros_open_what_those_make_of_their_arguments() {
        let text = "#define MAJOR 3\n#define CAT_(a, b) a ## b\n#define CAT(a, b) CAT_(a, b)\n\
                    #define BEGIN namespace lib { inline namespace CAT(v, MAJOR) {\n#define END } }\n\
                    #define BOTH BEGIN namespace part {\n";
        let outer = [Opened::Namespace(names(&["lib"])), Opened::Inline(names(&["v3"]))];
        check(text, "BEGIN", Some(MacroAction::Open(outer.to_vec())));
        let mut both = outer.to_vec();
        both.push(Opened::Namespace(names(&["part"])));
        check(text, "BOTH", Some(MacroAction::Open(both)));
    }

    #[test]
    fn an_inline_name_that_the_tree_leaves_open_is_none() {
        let text = "#define TAG _diag\n#define TAG\n#define CAT_(a, b) a ## b\n#define CAT(a, b) CAT_(a, b)\n\
                    #define BEGIN namespace lib { inline namespace CAT(abi, TAG) {\n";
        check(
            text,
            "BEGIN",
            Some(MacroAction::Open(vec![Opened::Namespace(names(&["lib"])), Opened::Inline(Vec::new())])),
        );
    }

    #[test]
    fn a_call_opens_what_it_is_handed() {
        let macros = TreeMacros::new(defines(
            "#define NS_BEGIN(name) namespace name {\n#define NS_END(name) }\n#define LIB lib __attribute__((x))\n",
        ));
        assert_eq!(macros.action("NS_BEGIN"), Some(&MacroAction::ScopeCall));
        assert_eq!(
            macros.scope_of_call("NS_BEGIN", "LIB"),
            Some(MacroAction::Open(vec![Opened::Namespace(names(&["lib"]))]))
        );
        assert_eq!(macros.scope_of_call("NS_END", "LIB"), Some(MacroAction::Close(1)));
        assert_eq!(macros.namespace_names("LIB::detail"), names(&["lib", "detail"]));
    }
}
