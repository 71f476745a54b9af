//! Names and texts as both sides are brought to one spelling.
//!
//! The rules, all of them:
//! 1. Blanks and comments do not count; texts are compared token by token.
//! 2. A qualified name carries no template arguments.
//! 3. Unnamed and inline namespaces are left out; which are inline, the compiler says.
//! 4. `A.B`, a GoogleTest case, is `A_B_Test::TestBody`.
//! 5. An enumerator is its last name: whether the enumeration is part of it is a matter of taste.
//! 6. A parameter list `void` is empty.
//! 7. `class` before a template parameter is `typename`.

use std::collections::BTreeSet;

/// A qualified name under rules 1 to 3.
pub(crate) fn qualified(name: &str, inline_namespaces: &BTreeSet<String>) -> String {
    let parts = components(name);
    let last = parts.len().saturating_sub(1);
    let kept = parts.into_iter().enumerate().filter(|(at, part)| {
        let is_unnamed = part.is_empty() || part.starts_with('(');
        *at == last || !(is_unnamed || inline_namespaces.contains(part))
    });
    kept.map(|(_, part)| part).collect::<Vec<_>>().join("::")
}

/// The last name of a qualified one.
pub(crate) fn last(name: &str) -> String {
    components(name).pop().unwrap_or_default()
}

/// Parts of a qualified name without template arguments and blanks.
fn components(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = name.trim();
    loop {
        let (part, next) = component(rest);
        parts.push(part);
        match next {
            Some(next) => rest = next,
            None => return parts,
        }
    }
}

/// The first component and what follows its `::`.
fn component(text: &str) -> (String, Option<&str>) {
    if let Some(sign) = text.strip_prefix("operator")
        && !sign.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    {
        return operator(sign);
    }
    let mut part = String::new();
    let (mut depth, mut parentheses) = (0usize, 0usize);
    for (at, character) in text.char_indices() {
        match character {
            '(' if depth > 0 => parentheses += 1,
            ')' if depth > 0 => parentheses = parentheses.saturating_sub(1),
            '<' if parentheses == 0 => depth += 1,
            '>' if parentheses == 0 => depth = depth.saturating_sub(1),
            ':' if depth == 0 && text[at..].starts_with("::") => return (part, Some(text[at + 2..].trim())),
            _ if depth == 0 && !character.is_whitespace() => part.push(character),
            _ => {}
        }
    }
    (part, None)
}

/// `operator` and its sign, or the type of a conversion, which ends the name.
fn operator(sign: &str) -> (String, Option<&str>) {
    let sign = sign.trim_start();
    let is_word = sign.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '"');
    if is_word {
        return (format!("operator {}", tokens(sign).join(" ")), None);
    }
    let end = sign.find("::").unwrap_or(sign.len());
    // `operator< <int>` and `operator<<int>`: arguments follow a sign that is complete.
    let signs: String = sign[..end].chars().filter(|c| !c.is_whitespace()).collect();
    let whole = signs
        .find(|c: char| c.is_alphanumeric() || c == '_')
        .map_or(signs.as_str(), |at| signs[..at].strip_suffix('<').unwrap_or(&signs[..at]));
    (format!("operator{whole}"), sign.get(end + 2..).map(str::trim))
}

/// A text as tokens, without comments.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            continue;
        } else if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
            continue;
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
            continue;
        } else if first == '"' || first == '\'' {
            quoted(rest, first)
        } else if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.' && first.is_ascii_digit()))
                .unwrap_or(rest.len())
        } else if rest.starts_with("::") || rest.starts_with("->") {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    tokens
}

/// Length of a literal with its quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        if !escaped && character == quote {
            return at + character.len_utf8();
        }
        escaped = !escaped && character == '\\';
    }
    text.len()
}

/// A parameter list under rules 1 and 6.
pub(crate) fn parameters(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    if tokens == ["void"] { Vec::new() } else { tokens }
}

/// Template parameter lists under rules 1 and 7, the angle brackets around each removed.
pub(crate) fn template_parameters(lists: &str) -> Vec<String> {
    let mut found = tokens(lists);
    for token in &mut found {
        if token == "class" {
            "typename".clone_into(token);
        }
    }
    found
}

/// `const`, `volatile` and reference qualifiers behind the parameter list in a signature.
pub(crate) fn qualifiers(signature: &str, parameters: &str) -> Vec<String> {
    let signature = tokens(signature);
    let mut list = tokens(parameters);
    list.insert(0, "(".to_owned());
    list.push(")".to_owned());
    let Some(at) = signature.windows(list.len()).position(|window| window == list) else {
        return Vec::new();
    };
    let mut depth = 0usize;
    let mut found = Vec::new();
    for token in &signature[at + list.len()..] {
        match token.as_str() {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "{" | ";" | ":" | "=" | "->" | "requires" if depth == 0 => break,
            "const" | "volatile" | "&" if depth == 0 => found.push(token.clone()),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(name: &str) -> String {
        let inline = BTreeSet::from(["v9".to_owned()]);
        qualified(name, &inline)
    }

    #[test]
    fn template_arguments_and_hidden_namespaces_are_no_part_of_a_name() {
        assert_eq!(plain("fmt::v9::detail::buffer<T, (1 > 0)>::grow"), "fmt::detail::buffer::grow");
        assert_eq!(plain("a::(anonymous namespace)::f"), "a::f");
        assert_eq!(plain("fmt::v9"), "fmt::v9");
    }

    #[test]
    fn operators_keep_their_signs() {
        for name in ["operator<", "operator<<", "operator()", "operator->", "operator<=>", "operator[]"] {
            assert_eq!(plain(&format!("a::B<int>::{name}")), format!("a::B::{name}"));
        }
        assert_eq!(plain("A::operator ()::Local::f"), "A::operator()::Local::f");
        assert_eq!(plain("A::operator  new"), "A::operator new");
        assert_eq!(plain("A::operator std::vector<T>"), plain("A::operator std :: vector < T >"));
        assert_eq!(plain("operatorName<int>"), "operatorName");
        assert_eq!(last("A::operator<<int>"), "operator<");
    }

    #[test]
    fn texts_are_compared_by_token() {
        assert_eq!(parameters("const  T &x, int = 3 /* why */"), parameters("const T& x,int=3"));
        assert_eq!(parameters("void"), parameters(" "));
        assert_ne!(parameters("unsigned int"), parameters("unsignedint"));
        assert_eq!(template_parameters("<class T, int N>"), template_parameters("< typename T, int N >"));
        assert_eq!(tokens(r#""a\"b" 'c' 1.5e3"#), [r#""a\"b""#, "'c'", "1.5e3"]);
    }

    #[test]
    fn qualifiers_stand_behind_the_list() {
        assert_eq!(qualifiers("int f(const A& a) const noexcept(x) &", "const A& a"), ["const", "&"]);
        assert_eq!(qualifiers("auto f() -> const int&", ""), Vec::<String>::new());
        assert_eq!(qualifiers("T operator()() const", ""), ["const"]);
    }
}
