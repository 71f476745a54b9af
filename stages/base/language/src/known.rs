//! Names a file itself tells to be classes or namespaces.

use std::collections::BTreeSet;

use crate::lexer::{Token, TokenKind};

/// Words of a class head that are looked at.
const LONGEST_HEAD: usize = 24;

/// Unqualified names by what they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownNames {
    /// Classes, structs and unions, declared or defined.
    pub classes: BTreeSet<String>,
    /// Namespaces opened, used or named.
    pub namespaces: BTreeSet<String>,
}

impl KnownNames {
    pub(crate) fn of(text: &str, code: &[Token]) -> Self {
        let mut known = Self::default();
        let word = |at: usize| code.get(at).and_then(|token| text.get(token.start..token.end)).unwrap_or("");
        let is_name = |at: usize| code.get(at).is_some_and(|token| token.kind == TokenKind::Word);
        for at in 0..code.len() {
            match word(at) {
                "namespace" => {
                    let names = (at + 1..code.len())
                        .take_while(|at| is_name(*at) || word(*at) == ":")
                        .filter(|at| is_name(*at) && word(*at) != "inline");
                    known.namespaces.extend(names.map(|at| word(at).to_owned()));
                }
                "class" | "struct" | "union" if at == 0 || word(at - 1) != "enum" => {
                    let end = (at + 1..code.len())
                        .take(LONGEST_HEAD)
                        .find(|at| matches!(word(*at), "{" | ":" | ";" | "<" | ">" | "," | "=" | "*" | "&"));
                    let Some(end) = end.filter(|end| matches!(word(*end), "{" | ":" | ";" | "<")) else {
                        continue;
                    };
                    // The last word that is no attribute: `class API alignas(8) Name final {`.
                    let last = (at + 1..end).rev().find(|at| is_name(*at) && word(*at) != "final");
                    known.classes.extend(last.map(|at| word(at).to_owned()));
                }
                _ => {}
            }
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Scan;

    #[test]
    fn names_are_told_by_the_words_before_them() {
        let text = "namespace a::inline b { template <class T, typename U> class API Box final : X {};\n\
                    struct S; enum class E {}; union U { }; using namespace c::d; namespace e = f;\n\
                    template <> struct Box<int> {}; struct P* p; namespace { } }";
        let known = KnownNames::of(text, &Scan::of(text.as_bytes()).code);
        assert_eq!(known.classes.iter().map(String::as_str).collect::<Vec<_>>(), ["Box", "S", "U"]);
        assert_eq!(
            known.namespaces.iter().map(String::as_str).collect::<Vec<_>>(),
            ["a", "b", "c", "d", "e"]
        );
    }
}
