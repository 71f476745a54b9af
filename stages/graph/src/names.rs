//! Reading names, parameter lists and types out of the text the parser kept.

use crate::syntax::{TypeText, Written};

const ELABORATION: &[&str] = &["typename", "class", "struct", "enum", "union", "template"];
const QUALIFIERS: &[&str] = &[
    "const",
    "volatile",
    "static",
    "inline",
    "constexpr",
    "consteval",
    "constinit",
    "mutable",
    "extern",
    "virtual",
    "explicit",
    "friend",
    "register",
    "thread_local",
    "noexcept",
];
const BUILTINS: &[&str] = &[
    "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "size_t",
    "char8_t", "char16_t", "char32_t", "wchar_t", "auto", "decltype",
];

/// Whether `byte` may stand inside an identifier.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

/// Where an `operator` name starts in `text`.
fn operator_start(text: &str) -> Option<usize> {
    text.match_indices("operator").map(|(at, _)| at).find(|&at| {
        let before = at == 0 || !is_word(text.as_bytes()[at - 1]);
        let after = text.as_bytes().get(at + "operator".len());
        before && after.is_none_or(|&byte| !is_word(byte))
    })
}

/// `text` without template arguments, whitespace and a leading `::`; operator names keep theirs.
pub(crate) fn plain(text: &str) -> String {
    let (path, operator) = match operator_start(text) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    for token in tokens(path) {
        match token {
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            _ if depth > 0 || ELABORATION.contains(&token) => {}
            _ => out.push_str(token),
        }
    }
    if !operator.is_empty() {
        let symbol = operator["operator".len()..].trim();
        out.push_str("operator");
        if symbol.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            out.push(' ');
        }
        out.extend(symbol.chars().filter(|c| !c.is_whitespace()));
    }
    out.strip_prefix("::").map(str::to_owned).unwrap_or(out)
}

/// Splits a plain qualified name into its scope (without the last `::`) and last component.
pub(crate) fn scope_and_name(plain: &str) -> (&str, &str) {
    let head = operator_start(plain).unwrap_or(plain.len());
    match plain[..head].trim_end_matches(':').len() {
        length if head < plain.len() => (&plain[..length], &plain[head..]),
        _ => plain.rsplit_once("::").unwrap_or(("", plain)),
    }
}

/// `scope::name`, or `name` in the global scope.
pub(crate) fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}::{name}") }
}

/// `a::b::c`, `a::b`, `a` and the empty global scope.
pub(crate) fn scopes_outward(scope: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(scope);
    std::iter::from_fn(move || {
        let current = next?;
        next = (!current.is_empty()).then(|| current.rsplit_once("::").map_or("", |(out, _)| out));
        Some(current)
    })
}

/// The name without parts that stand for an anonymous namespace.
pub(crate) fn without_anonymous(plain: &str) -> String {
    let anonymous = |part: &str| part.is_empty() || part.starts_with(['(', '{', '<']) || part == "anonymous";
    let (scope, name) = scope_and_name(plain);
    let mut parts: Vec<&str> = scope.split("::").filter(|part| !anonymous(part)).collect();
    if !anonymous(name) || name.starts_with("operator") {
        parts.push(name);
    }
    parts.join("::")
}

/// Splits at `separator` outside brackets of any kind.
pub(crate) fn split_top_level(text: &str, separator: u8) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b'>' if at > 0 && matches!(bytes[at - 1], b'-' | b'=') => {}
            b')' | b']' | b'}' | b'>' => depth -= 1,
            _ if byte == separator && depth <= 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Byte of the first `wanted` outside brackets.
fn find_top_level(text: &str, wanted: u8) -> Option<usize> {
    let head = split_top_level(text, wanted)[0];
    (head.len() < text.len()).then_some(head.len())
}

/// Words, `::` and punctuation of `text`.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut at, mut out) = (0, Vec::new());
    while at < bytes.len() {
        let start = at;
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        } else if is_word(bytes[at]) {
            while at < bytes.len() && is_word(bytes[at]) {
                at += 1;
            }
        } else if text[at..].starts_with("...") {
            at += 3;
        } else if text[at..].starts_with("::") || text[at..].starts_with("&&") {
            at += 2;
        } else {
            at += 1;
        }
        out.push(&text[start..at]);
    }
    out
}

fn is_word_token(token: &str) -> bool {
    token.bytes().all(is_word)
}

/// Names of the parameters of one or more template heads.
pub(crate) fn template_parameter_names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let mut depth = 0_i32;
        let bytes = rest.as_bytes();
        let close = (open..bytes.len()).find(|&at| {
            depth += match bytes[at] {
                b'<' | b'(' => 1,
                b')' => -1,
                b'>' if bytes[at - 1] != b'-' => -1,
                _ => 0,
            };
            depth == 0
        });
        let close = close.unwrap_or(rest.len());
        for parameter in split_top_level(&rest[open + 1..close], b',') {
            let head = &parameter[..find_top_level(parameter, b'=').unwrap_or(parameter.len())];
            let words = tokens(head);
            if words.len() > 1
                && let Some(name) = words.last().filter(|word| is_word_token(word))
            {
                names.push(*name);
            }
        }
        rest = rest.get(close + 1..).unwrap_or("");
    }
    names
}

/// One parameter of a callable, reduced to what tells overloads apart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter<'t> {
    /// Type in tokens, without qualification, name and default.
    pub(crate) type_tokens: Vec<String>,
    /// Name; empty if there is none.
    pub(crate) name: &'t str,
    /// Type, without name and default.
    pub(crate) type_text: TypeText<'t>,
    /// Whether it may be left out.
    pub(crate) has_default: bool,
    /// Whether it takes any number of arguments.
    pub(crate) is_pack: bool,
}

impl Parameter<'_> {
    /// Whether it takes an object of the class itself: to copy or move it.
    pub(crate) fn is_of_class(&self, name: &str) -> bool {
        match &self.type_text.base {
            Written::Named(path) => path.name() == name,
            _ => false,
        }
    }
}

/// Reads a parameter list, with or without its parentheses.
pub(crate) fn parameters(text: &str) -> Vec<Parameter<'_>> {
    let inner = text.trim();
    let inner = inner.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(inner);
    if inner.trim().is_empty() || inner.trim() == "void" {
        return Vec::new();
    }
    split_top_level(inner, b',').into_iter().map(parameter).collect()
}

fn parameter(text: &str) -> Parameter<'_> {
    let equals = find_top_level(text, b'=');
    let head = text[..equals.unwrap_or(text.len())].trim();
    // `T (&x)[N]` is a reference to an array and stays whole.
    let array = head.ends_with(']').then(|| head.rfind('[')).flatten();
    let array = array.filter(|&at| !head[..at].trim_end().ends_with(')'));
    let head = head[..array.unwrap_or(head.len())].trim();
    let (written, name) = split_declarator(head);
    let mut type_tokens = normalised_type(written);
    let mut type_text = TypeText::read(written);
    if array.is_some() {
        // An array parameter is a pointer.
        type_tokens.push("*".to_owned());
        type_text.pointers = type_text.pointers.saturating_add(1);
        if type_text.is_const && type_tokens.first().is_none_or(|first| first != "const") {
            type_tokens.insert(0, "const".to_owned());
        }
    }
    Parameter { is_pack: head.contains("..."), has_default: equals.is_some(), name, type_tokens, type_text }
}

/// Splits `const T& name` into its type and name; the name is empty if there is none.
pub(crate) fn split_declarator(text: &str) -> (&str, &str) {
    let text = text.trim();
    let start = text.len() - text.bytes().rev().take_while(|&byte| is_word(byte)).count();
    let (before, name) = (text[..start].trim_end(), &text[start..]);
    let keyword = |word: &str| QUALIFIERS.contains(&word) || ELABORATION.contains(&word);
    let previous = tokens(before).last().copied().unwrap_or("");
    let completes_type = match previous {
        ">" | "&" | "&&" | "*" | "..." | "]" | ")" => true,
        word if is_word_token(word) && !word.is_empty() => {
            !keyword(word) || tokens(before).iter().any(|word| is_word_token(word) && !keyword(word))
        }
        _ => false,
    };
    if name.is_empty() || !completes_type || keyword(name) || BUILTINS.contains(&name) {
        (text, "")
    } else {
        (before, name)
    }
}

/// Tokens of a type without qualification, elaboration and the `const` of a value.
fn normalised_type(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut constant = false;
    for token in tokens(text) {
        match token {
            "const" => constant = true,
            "::" => {
                // Drop the qualifying name and its template arguments.
                pop_component(&mut out);
            }
            word if ELABORATION.contains(&word) || QUALIFIERS.contains(&word) => {}
            "..." => {}
            other => out.push(other.to_owned()),
        }
    }
    let wide = |word: &str| matches!(word, "unsigned" | "long" | "short" | "signed");
    if out.iter().any(|word| wide(word)) {
        out.retain(|word| word != "int");
    }
    if constant && out.iter().any(|token| matches!(token.as_str(), "&" | "*" | "&&")) {
        out.insert(0, "const".to_owned());
    }
    out
}

fn pop_component(out: &mut Vec<String>) {
    if out.last().is_some_and(|token| token == ">") {
        let mut depth = 0_i32;
        while let Some(token) = out.pop() {
            depth += i32::from(token == ">") - i32::from(token == "<");
            if depth == 0 {
                break;
            }
        }
    }
    if out.last().is_some_and(|token| is_word_token(token)) {
        out.pop();
    }
}

/// What of a signature follows its parameters.
pub(crate) fn after_parameters<'t>(signature: &'t str, parameters: &str) -> &'t str {
    match (parameters.is_empty(), signature.rfind(parameters)) {
        (false, Some(at)) => {
            let tail = &signature[at + parameters.len()..];
            tail.strip_prefix(')').unwrap_or(tail)
        }
        _ => signature.rsplit_once(')').map_or("", |(_, tail)| tail),
    }
}

/// Whether the signature ends in the `const` of a member function.
pub(crate) fn is_const_member(signature: &str, parameters: &str) -> bool {
    let tail = after_parameters(signature, parameters).split(['=', '{', ':']).next().unwrap_or("");
    tokens(tail.split("->").next().unwrap_or("")).contains(&"const")
}

/// Byte of the bracket that closes the one `text` starts with.
pub(crate) fn matching(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0_i32;
    (0..bytes.len()).find(|&at| {
        depth += match bytes[at] {
            b'(' | b'[' | b'{' | b'<' => 1,
            b'>' if at > 0 && matches!(bytes[at - 1], b'-' | b'=') => 0,
            b')' | b']' | b'}' | b'>' => -1,
            _ => 0,
        };
        depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_lose_template_arguments_but_not_operators() {
        for (written, expected) in [
            ("ippl::Field<T, Vector<double, 3>>::sum", "ippl::Field::sum"),
            (" ::a :: b ", "a::b"),
            ("Vector<T, D>::operator<", "Vector::operator<"),
            ("operator<<", "operator<<"),
            ("Index::operator () ", "Index::operator()"),
            ("A::operator  bool", "A::operator bool"),
            ("typename T::template rebind<int>::type", "T::rebind::type"),
            ("my_operator", "my_operator"),
            ("Foo<T>::~Foo", "Foo::~Foo"),
        ] {
            assert_eq!(plain(written), expected);
        }
    }

    #[test]
    fn scope_and_name_are_the_two_ends_of_a_qualified_name() {
        assert_eq!(scope_and_name("a::b::c"), ("a::b", "c"));
        assert_eq!(scope_and_name("c"), ("", "c"));
        assert_eq!(scope_and_name("a::operator std::string"), ("a", "operator std::string"));
        assert_eq!(scopes_outward("a::b").collect::<Vec<_>>(), ["a::b", "a", ""]);
        assert_eq!(without_anonymous("a::(anonymous)::f"), "a::f");
    }

    #[test]
    fn parameters_are_reduced_to_their_types() {
        let shown = |text: &str| -> Vec<String> {
            parameters(text).iter().map(|one| format!("{} {}", one.type_tokens.concat(), one.name)).collect()
        };
        assert_eq!(shown("()"), Vec::<String>::new());
        assert_eq!(shown("(void)"), Vec::<String>::new());
        assert_eq!(
            shown("(const Vector<T, Dim>& origin, unsigned int n = 3, T const * const p)"),
            ["constVector<T,Dim>& origin", "unsigned n", "constT* p"]
        );
        assert_eq!(shown("(Args&&... args)"), ["Args&& args"]);
        assert_eq!(shown("(typename A::template B<C> x, const int)"), ["B<C> x", "int "]);
        assert_eq!(shown("(std::function<void(int, double)> f)"), ["function<void(int,double)> f"]);
        assert!(parameters("(int a = f(1, 2), ...)")[0].has_default);
        assert!(parameters("(int a = f(1, 2), ...)")[1].is_pack);
    }

    #[test]
    fn template_heads_give_their_parameter_names() {
        let heads = "template <typename T, unsigned Dim = 3, template <class> class V, class... A> \
                     template <class = void, typename U = Foo<T>>";
        assert_eq!(template_parameter_names(heads), ["T", "Dim", "V", "A", "U"]);
    }

    #[test]
    fn const_members_are_told_by_what_follows_the_parameters() {
        assert!(is_const_member("T f(const int a) const noexcept", "(const int a)"));
        assert!(!is_const_member("const T& f(const int a)", "(const int a)"));
        assert!(!is_const_member("Foo(const A& a) : a_m(a)", "(const A& a)"));
        assert!(is_const_member("auto size() const -> const int&", "()"));
    }
}
