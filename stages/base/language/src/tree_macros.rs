//! What the macros of a whole tree mean to a parser: the known ones (`config/macros.toml`) and those
//! whose own definitions tell.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::defines::Define;
use crate::expand::Defines;
use crate::lexer::{Lexer, TokenKind};
use crate::mask::BUILTINS;
use crate::scopes::scope_of;
use crate::vocabulary::{ATTRIBUTES, KEYWORDS, SPECIFIERS, is_source_annotation};
use crate::{MacroAction, MacroTable};

/// Definitions kept of one name; more of them say the same again.
const DEFINITIONS: usize = 16;
/// Macros inside macros that are followed.
const DEPTH: usize = 6;
/// Macros inside macros that may open a namespace.
const SCOPE_DEPTH: usize = 3;

/// The macros of a tree.
#[derive(Debug, Clone, Default)]
pub struct TreeMacros {
    actions: FxHashMap<String, MacroAction>,
    pub(crate) defines: Defines,
}

impl TreeMacros {
    /// Macros given by their definitions, in an order that the caller fixes.
    pub fn new(definitions: impl IntoIterator<Item = Define>) -> Self {
        let mut defines: Defines = Defines::default();
        for define in definitions.into_iter().filter(|define| !define.is_guard) {
            let named = defines.entry(define.name.clone()).or_default();
            let is_new =
                !named.iter().any(|known| known.parameters == define.parameters && known.body == define.body);
            if is_new && named.len() < DEFINITIONS {
                named.push(Define { start: 0, end: 0, ..define });
            }
        }
        let table = MacroTable::builtin();
        let inference = Inference { table, defines: &defines };
        let mut actions: FxHashMap<String, MacroAction> =
            table.actions().map(|(name, action)| (name.to_owned(), action.clone())).collect();
        for name in defines.keys() {
            if !actions.contains_key(name)
                && let Some(action) = inference.action(name, DEPTH)
            {
                actions.insert(name.clone(), action);
            }
        }
        Self { actions, defines }
    }

    /// What is done with a name.
    pub fn action(&self, name: &str) -> Option<&MacroAction> {
        self.actions.get(name)
    }

    /// Definitions of a name anywhere in the tree.
    pub fn defines(&self, name: &str) -> &[Define] {
        self.defines.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether some definition of the name takes arguments.
    pub fn is_function_like(&self, name: &str) -> bool {
        self.defines(name).iter().any(|define| define.parameters.is_some())
    }

    /// The definitions that reading a text depends on: those of its words and of the words in their
    /// bodies, by name.
    pub fn used_by(&self, text: &str) -> BTreeMap<&str, &[Define]> {
        let mut used = BTreeMap::new();
        let mut open = self.named_in(text, &mut used);
        while let Some(found) = open.pop() {
            for define in found {
                open.extend(self.named_in(&define.body, &mut used));
            }
        }
        used
    }

    /// Definitions of the words of a text that are not used yet.
    fn named_in<'m>(&'m self, text: &str, used: &mut BTreeMap<&'m str, &'m [Define]>) -> Vec<&'m [Define]> {
        let mut found = Vec::new();
        for token in Lexer::new(text.as_bytes()).filter(|token| token.kind == TokenKind::Word) {
            let word = text.get(token.start..token.end).unwrap_or("");
            if let Some((name, defines)) = self.defines.get_key_value(word)
                && used.insert(name.as_str(), defines.as_slice()).is_none()
            {
                found.push(defines.as_slice());
            }
        }
        found
    }
}

struct Inference<'a> {
    table: &'a MacroTable,
    defines: &'a Defines,
}

impl Inference<'_> {
    /// What the definitions of a name say, if they agree.
    fn action(&self, name: &str, depth: usize) -> Option<MacroAction> {
        if KEYWORDS.contains(&name) || BUILTINS.contains(&name) {
            return None;
        }
        let mut agreed: Option<MacroAction> = None;
        let defines = self.defines.get(name)?;
        // A build without exceptions has something else in the place of each.
        if let Some(word) = ["try", "catch"].into_iter().find(|word| stands_for(defines, word)) {
            return (word.len() <= name.len()).then(|| MacroAction::Replace(word.to_owned()));
        }
        for define in defines {
            let action = self.meaning(define, depth)?;
            agreed = Some(match (agreed, action) {
                (None, action) => action,
                (Some(before), action) if before == action => action,
                // One platform needs nothing where another needs something.
                (Some(MacroAction::Blank), replace @ MacroAction::Replace(_))
                | (Some(replace @ MacroAction::Replace(_)), MacroAction::Blank) => replace,
                (Some(MacroAction::BlankCall), other @ (MacroAction::Declaration | MacroAction::Unwrap))
                | (Some(other @ (MacroAction::Declaration | MacroAction::Unwrap)), MacroAction::BlankCall) => {
                    other
                }
                (Some(MacroAction::Blank), MacroAction::Declaration)
                | (Some(MacroAction::Declaration), MacroAction::Blank) => MacroAction::Declaration,
                (Some(MacroAction::Replace(one)), MacroAction::Replace(other)) => {
                    MacroAction::Replace(stricter_access(one, other)?)
                }
                // What is opened in one way here is opened in another there; the first is kept, as
                // it is of what closes it.
                (Some(before), after) if before.is_scope() || after.is_scope() => {
                    match (before.is_scope(), after.is_scope()) {
                        (true, true) => before,
                        (true, false) if after.is_blank() => before,
                        (false, true) if before.is_blank() => after,
                        _ => return None,
                    }
                }
                _ => return None,
            });
        }
        agreed
    }

    fn meaning(&self, define: &Define, depth: usize) -> Option<MacroAction> {
        let words = words(&define.body);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let parameters = define.parameters.as_deref();
        if is_template_head(&words) || self.is_annotation(&words, parameters.unwrap_or(&[]), depth) {
            return Some(if parameters.is_some() { MacroAction::BlankCall } else { MacroAction::Blank });
        }
        if may_change_scope(&words, self.defines, SCOPE_DEPTH)
            && let Some(action) = scope_of(define, self.defines)
        {
            return Some(action);
        }
        if let Some(parameters) = parameters {
            if let [only] = parameters
                && self.wraps(&words, only, depth)
            {
                return Some(MacroAction::Unwrap);
            }
            return declares(&words, parameters).then_some(MacroAction::Declaration);
        }
        self.replacement(define, &words, depth)
            .or_else(|| declares(&words, &[]).then_some(MacroAction::Declaration))
    }

    /// Nothing, attributes and specifiers.
    fn is_annotation(&self, words: &[&str], parameters: &[String], depth: usize) -> bool {
        let mut at = 0;
        while at < words.len() {
            let word = words[at];
            let call = words.get(at + 1) == Some(&"(");
            let known = || self.known(word, depth);
            let is_parameter = parameters.iter().any(|name| name == word);
            at = match word {
                "[" if words.get(at + 1) == Some(&"[") => match closing(words, at) {
                    Some(close) => close + 1,
                    None => return false,
                },
                "extern" if words.get(at + 1).is_some_and(|next| next.starts_with('"')) => at + 2,
                _ if call && (ATTRIBUTES.contains(&word) || known() == Some(MacroAction::BlankCall)) => {
                    match closing(words, at + 1) {
                        Some(close) => close + 1,
                        None => return false,
                    }
                }
                _ if (SPECIFIERS.contains(&word) || is_source_annotation(word)) && !is_parameter => at + 1,
                _ if known() == Some(MacroAction::Blank) => at + 1,
                _ => return false,
            };
        }
        true
    }

    /// The one parameter, maybe with annotations around it.
    fn wraps(&self, words: &[&str], parameter: &str, depth: usize) -> bool {
        let parameter =
            if parameter == "..." { "__VA_ARGS__" } else { parameter.trim_end_matches("...").trim() };
        let mut parts = words.split(|word| *word == parameter);
        let (Some(before), Some(after), None) = (parts.next(), parts.next(), parts.next()) else {
            return false;
        };
        self.is_annotation(before, &[], depth) && self.is_annotation(after, &[], depth)
    }

    fn known(&self, name: &str, depth: usize) -> Option<MacroAction> {
        if let Some(action) = self.table.action(name) {
            return Some(action.clone());
        }
        depth.checked_sub(1).and_then(|depth| self.action(name, depth))
    }

    /// Code that a name can be overwritten with.
    fn replacement(&self, define: &Define, words: &[&str], depth: usize) -> Option<MacroAction> {
        let text = match words {
            ["[", ..] => {
                let close = closing(words, 0)?;
                let captures = words[..=close].concat();
                let is_capture = matches!(captures.as_str(), "[=]" | "[&]" | "[=,this]" | "[=,*this]" | "[]");
                (is_capture && self.is_annotation(&words[close + 1..], &[], depth)).then_some(captures)?
            }
            [word] if ACCESS.contains(word) => (*word).to_owned(),
            _ => return None,
        };
        (text.len() <= define.name.len()).then_some(MacroAction::Replace(text))
    }
}

/// `template <...>` and nothing after it: it stands before a declaration as annotations do.
fn is_template_head(words: &[&str]) -> bool {
    let [first, second, rest @ ..] = words else { return false };
    let mut depth = 1usize;
    *first == "template"
        && *second == "<"
        && rest.iter().enumerate().all(|(at, word)| {
            match *word {
                "<" => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                ";" | "{" => return false,
                _ => {}
            }
            depth > 0 || at + 1 == rest.len()
        })
        && depth == 0
}

/// Access of members, strictest first.
const ACCESS: [&str; 3] = ["private", "protected", "public"];

/// The stricter of two: what tests may see is not what the class says.
fn stricter_access(one: String, other: String) -> Option<String> {
    let both = ACCESS.contains(&one.as_str()) && ACCESS.contains(&other.as_str());
    both.then(|| if other < one { other } else { one })
}

/// Whether some definition is this word alone, maybe with the one parameter in parentheses.
fn stands_for(defines: &[Define], word: &str) -> bool {
    defines.iter().any(|define| match define.parameters.as_deref() {
        None => define.body == word,
        Some([parameter]) => {
            let parameter = if parameter == "..." { "__VA_ARGS__" } else { parameter.as_str() };
            words(&define.body) == [word, "(", parameter, ")"]
        }
        Some(_) => false,
    })
}

/// Whether a body may open or close namespaces and do nothing else: a first look.
fn may_change_scope(words: &[&str], defines: &Defines, depth: usize) -> bool {
    let Some(first) = words.first().copied() else { return false };
    match first {
        "}" | "namespace" => true,
        "inline" => words.get(1) == Some(&"namespace"),
        "extern" => words.get(1).is_some_and(|word| word.starts_with('"')),
        "_Pragma" | "__pragma" => words.contains(&"namespace"),
        _ => defines.get(first).filter(|_| depth > 0).is_some_and(|inner| {
            inner.iter().any(|define| {
                let inner = self::words(&define.body);
                let inner: Vec<&str> = inner.iter().map(String::as_str).collect();
                may_change_scope(&inner, defines, depth - 1)
            })
        }),
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether a body is made of declarations: it ends like one, and begins with a type, a keyword or a
/// block rather than with a call or an assignment.
fn declares(words: &[&str], parameters: &[String]) -> bool {
    // What can begin nothing else.
    const HEADS: &[&str] = &[
        "template",
        "class",
        "struct",
        "union",
        "enum",
        "namespace",
        "typedef",
        "using",
        "public",
        "private",
        "protected",
        "friend",
        "static",
        "inline",
        "virtual",
        "explicit",
        "extern",
        "constexpr",
    ];
    const MAY_BEGIN: &[&str] = &["typename", "operator", "const", "~"];
    let Some((first, rest)) = words.split_first() else { return false };
    let has_block = words.contains(&"{");
    let ends = matches!(words.last(), Some(&";" | &"}"));
    let begins = MAY_BEGIN.contains(first)
        || BUILTINS.contains(first)
        || (is_name(first)
            && rest.first().is_some_and(|next| is_name(next) || matches!(*next, "<" | ":" | "&" | "*")));
    let is_statement = matches!(
        *first,
        "do" | "if" | "for" | "while" | "switch" | "return" | "case" | "goto" | "throw" | "delete" | "new"
    );
    // `T(const T&) = delete` for a parameter `T`.
    let makes = parameters.iter().any(|name| name == first)
        && rest.first() == Some(&"(")
        && words.windows(2).any(|pair| pair[0] == "=" && matches!(pair[1], "delete" | "default"));
    makes || HEADS.contains(first) || (begins && (ends || has_block) && !is_statement)
}

/// Tokens of a body as text.
fn words(body: &str) -> Vec<String> {
    Lexer::inside_directive(body.as_bytes())
        .filter(|token| !matches!(token.kind, TokenKind::Space | TokenKind::Comment))
        .filter_map(|token| body.get(token.start..token.end).map(str::to_owned))
        .collect()
}

/// Index of the bracket that closes the one at `open`.
fn closing(words: &[&str], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, word) in words.iter().enumerate().skip(open) {
        match *word {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::defines;

    fn check(text: &str, name: &str, expected: Option<MacroAction>) {
        assert_eq!(TreeMacros::new(defines(text)).action(name), expected.as_ref(), "{text}");
    }

    #[test]
    fn annotations_are_told_by_their_bodies() {
        check(
            "#define LIB_INLINE inline __attribute__((always_inline))\n",
            "LIB_INLINE",
            Some(MacroAction::Blank),
        );
        check("#define LIB_API\n", "LIB_API", Some(MacroAction::Blank));
        check(
            "#define LIB_CONST [[gnu::const]]\n#define LIB_FN LIB_CONST static\n",
            "LIB_FN",
            Some(MacroAction::Blank),
        );
        check("#define OLD(msg) [[deprecated(msg)]]\n", "OLD", Some(MacroAction::BlankCall));
        check("#define LIB_FN KOKKOS_INLINE_FUNCTION\n", "LIB_FN", Some(MacroAction::Blank));
        check("#define REAL double\n", "REAL", None);
        check("#define LIMIT 3\n", "LIMIT", None);
        check("#define inline\n", "inline", None);
        check("#define TPL template <class T, template <class> class A>\n", "TPL", Some(MacroAction::Blank));
        check("#define TPL template <class T> class A;\n", "TPL", Some(MacroAction::Declaration));
        check("#define NOT_NULL _Ret_notnull_\n#define NOT_NULL\n", "NOT_NULL", Some(MacroAction::Blank));
    }

    #[test]
    fn platforms_that_disagree_are_joined_where_they_can_be() {
        check("#define D __declspec(dllexport)\n#define D\n", "D", Some(MacroAction::Blank));
        check("#define CHECK(x)\n#define CHECK(x) if (!(x)) abort()\n", "CHECK", None);
        check("#define L [=]\n#define L [=] __device__\n", "L", None);
        let lambda = MacroAction::Replace("[=]".to_owned());
        check("#define LIB_L [=]\n#define LIB_L [=] __device__\n", "LIB_L", Some(lambda));
    }

    #[test]
    fn words_that_depend_on_the_build_are_the_ones_that_say_most() {
        let access =
            "#if TESTED\n#define MAY_BE_PRIVATE public\n#else\n#define MAY_BE_PRIVATE private\n#endif\n";
        check(access, "MAY_BE_PRIVATE", Some(MacroAction::Replace("private".to_owned())));
        let exceptions = "#define LIB_TRY try\n#define LIB_TRY if (true)\n#define LIB_CATCH(x) if (false)\n\
                          #define LIB_CATCH(x) catch (x)\n";
        check(exceptions, "LIB_TRY", Some(MacroAction::Replace("try".to_owned())));
        check(exceptions, "LIB_CATCH", Some(MacroAction::Replace("catch".to_owned())));
    }

    #[test]
    fn wrapped_types_stay() {
        check("#define API(type) LIB_EXPORT type\n#define LIB_EXPORT\n", "API", Some(MacroAction::Unwrap));
        check("#define ID(...) __VA_ARGS__\n", "ID", Some(MacroAction::Unwrap));
        check("#define TWICE(x) x x\n", "TWICE", None);
    }

    #[test]
    fn bodies_of_declarations_generate() {
        let text = "#define ADD(T) template <> struct is_fine<T> {};\n#define GET(t, n) t get_##n() const { return n; }\n\
                    #define NO_COPY(T) T(const T&) = delete; T& operator=(const T&) = delete\n\
                    #define ASSERT(x) do { if (!(x)) abort(); } while (0)\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n";
        check(text, "ADD", Some(MacroAction::Declaration));
        check(text, "GET", Some(MacroAction::Declaration));
        check(text, "NO_COPY", Some(MacroAction::Declaration));
        let two =
            "#define DeclareError(E) class E : public Base { }\n#define DeclareError(E) static Base &E()\n";
        check(two, "DeclareError", Some(MacroAction::Declaration));
        check(text, "ASSERT", None);
        check(text, "MAX", None);
    }

    #[test]
    fn a_text_depends_on_the_macros_of_its_words_and_of_theirs() {
        let macros = TreeMacros::new(defines("#define A B\n#define B 1\n#define C 2\n#define G\n"));
        let used: Vec<&str> = macros.used_by("int x = A; // C\n#if G\n").into_keys().collect();
        assert_eq!(used, ["A", "B"]);
    }
}
