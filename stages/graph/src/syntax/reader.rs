//! Reads types and expressions token by token.

use super::*;

pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn rest(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    pub(super) fn take(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    /// The identifier or number that comes next; empty if none does.
    pub(super) fn peek_word(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.bytes().take_while(|&byte| is_word(byte)).count();
        &rest[..end]
    }

    pub(super) fn skip_char(&mut self) {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        self.at += length;
    }

    /// Skips to the next comma outside brackets and over it; stops before a bracket that closes.
    pub(super) fn skip_to_comma(&mut self) -> bool {
        let mut skipped = false;
        loop {
            let rest = self.rest();
            match rest.as_bytes().first() {
                None | Some(b')' | b']' | b'}' | b'>') => return skipped,
                Some(b',') => {
                    self.at += 1;
                    return skipped;
                }
                Some(b'(' | b'[' | b'{' | b'<') => self.skip_brackets(),
                Some(b'"') => self.skip_quoted(),
                _ => self.skip_char(),
            }
            skipped = true;
        }
    }

    pub(super) fn skip_quoted(&mut self) {
        let inner = &self.text[self.at + 1..];
        self.at += inner.find('"').map_or(inner.len() + 1, |end| end + 2);
    }

    /// Skips a bracket and what is in it; at the end of the text if it is never closed. Inside other
    /// brackets `<` and `>` compare.
    pub(super) fn skip_brackets(&mut self) {
        let mut open: Vec<u8> = Vec::new();
        while let Some(byte) = self.rest().bytes().next() {
            let is_angle = open.last().is_none_or(|last| *last == b'<');
            match byte {
                b'(' | b'[' | b'{' => open.push(byte),
                b'<' if is_angle => open.push(byte),
                b')' | b']' | b'}' => {
                    // What was no template argument list ends here too.
                    while open.pop().is_some_and(|last| last == b'<') {}
                }
                b'>' if is_angle => _ = open.pop(),
                b'-' if self.rest().starts_with("->") => self.at += 1,
                b'"' => {
                    self.skip_quoted();
                    continue;
                }
                _ => {}
            }
            self.skip_char();
            if open.is_empty() {
                return;
            }
        }
    }

    pub(super) fn type_text(&mut self) -> TypeText<'t> {
        let mut found = TypeText::DEDUCED;
        let mut words: Vec<&str> = Vec::new();
        let mut is_set = false;
        loop {
            let word = self.peek_word();
            if word.is_empty() {
                if !is_set && words.is_empty() && self.rest().starts_with("::") {
                    found.base = Written::Named(self.path());
                    is_set = true;
                    continue;
                }
                break;
            }
            if word == "const" {
                found.is_const = true;
            } else if word == "decltype" {
                self.at += word.len();
                found.base = self.decltype();
                is_set = true;
                continue;
            } else if word == "auto" {
                is_set = true;
            } else if is_builtin_word(word) {
                words.push(word);
            } else if !SKIPPED.contains(&word) {
                if is_set || !words.is_empty() {
                    break;
                }
                if word.starts_with(|c: char| c.is_ascii_digit()) {
                    self.at += word.len();
                    found.base = Written::Other;
                } else {
                    found.base = Written::Named(self.path());
                }
                is_set = true;
                continue;
            }
            self.at += word.len();
        }
        if !words.is_empty() && !matches!(found.base, Written::Named(_)) {
            found.base = Written::Builtin(builtin(&words));
        }
        if found.word() == Some("size_t") || std_size(&found.base) {
            found.base = Written::Builtin(Builtin::UnsignedLong);
        }
        self.marks(&mut found);
        found
    }

    /// `*`, `&`, `&&`, `...`, array bounds and the `const` between them.
    pub(super) fn marks(&mut self, found: &mut TypeText<'t>) {
        loop {
            let rest = self.rest();
            if self.take("...") {
                found.is_pack = true;
            } else if self.take("&&") {
                found.reference = Reference::Right;
            } else if self.take("&") {
                found.reference = Reference::Left;
            } else if self.take("*") {
                found.pointers = found.pointers.saturating_add(1);
            } else if rest.starts_with('[') {
                self.skip_brackets();
                found.pointers = found.pointers.saturating_add(1);
            } else if rest.starts_with('(') {
                // `T (&)[N]` is an array, `R (*)(A)` and `R(A)` are functions.
                let is_array =
                    rest.find(')').is_some_and(|end| rest[end + 1..].trim_start().starts_with('['));
                self.skip_brackets();
                if !is_array {
                    found.base = Written::Other;
                    return;
                }
                found.is_array = true;
            } else if matches!(self.peek_word(), "const" | "volatile" | "__restrict__" | "restrict") {
                let word = self.peek_word();
                self.at += word.len();
                // `T const&` is `const T&`, `T* const` says nothing of the object.
                found.is_const |= word == "const" && found.pointers == 0;
            } else {
                return;
            }
        }
    }

    pub(super) fn decltype(&mut self) -> Written<'t> {
        if !self.rest().starts_with('(') {
            return Written::Other;
        }
        let start = self.at + 1;
        self.skip_brackets();
        let inner = self.text.get(start..self.at.saturating_sub(1)).unwrap_or("").trim();
        if inner == "auto" { Written::Deduced } else { Written::Of(inner) }
    }

    pub(super) fn path(&mut self) -> PathText<'t> {
        let mut path = PathText { is_global: self.take("::"), parts: Vec::new() };
        loop {
            let mut word = self.peek_word();
            if word == "template" {
                self.at += word.len();
                word = self.peek_word();
            }
            if word == "operator" {
                let name = self.operator_name();
                path.parts.push(PartText { name, arguments: None });
                return path;
            }
            let is_destructor = word.is_empty() && self.rest().starts_with('~');
            if is_destructor {
                let start = self.at;
                self.at += 1;
                self.at += self.peek_word().len();
                path.parts.push(PartText { name: &self.text[start..self.at], arguments: None });
                return path;
            }
            if word.is_empty() {
                return path;
            }
            self.at += word.len();
            let arguments = self.rest().starts_with('<').then(|| self.type_arguments());
            path.parts.push(PartText { name: word, arguments });
            if !self.take("::") {
                return path;
            }
        }
    }

    /// One template argument: a type or a value.
    pub(super) fn type_argument(&mut self) -> TypeText<'t> {
        self.rest();
        let start = self.at;
        let mut argument = self.type_text();
        let is_value = self.text[start..].starts_with(|c: char| c.is_ascii_digit() || c == '-')
            || argument.word().is_some_and(|word| matches!(word, "true" | "false"));
        let before = self.at;
        if self.skip_to_comma() {
            argument = TypeText { base: Written::Other, ..TypeText::DEDUCED };
        }
        if is_value {
            let end = if self.at > before { self.at } else { before };
            let text = self.text[start..end].trim().trim_end_matches(',').trim_end();
            argument = TypeText { base: Written::Value(text), ..TypeText::DEDUCED };
        }
        argument
    }

    pub(super) fn type_arguments(&mut self) -> Vec<TypeText<'t>> {
        let mut arguments = Vec::new();
        self.at += 1;
        loop {
            let rest = self.rest();
            if rest.is_empty() || self.take(">") {
                return arguments;
            }
            arguments.push(self.type_argument());
            if matches!(self.rest().as_bytes().first(), Some(b')' | b']' | b'}')) {
                return arguments;
            }
        }
    }

    /// `operator+`, `operator()`, `operator bool`.
    pub(super) fn operator_name(&mut self) -> &'t str {
        let start = self.at;
        self.at += "operator".len();
        let rest = &self.text[self.at..];
        let symbol = match rest {
            _ if rest.starts_with("()") => 2,
            _ => rest.find(['(', ',', ')']).unwrap_or(rest.len()),
        };
        self.at += symbol;
        &self.text[start..self.at]
    }

    pub(super) fn expression(&mut self) -> Expression<'t> {
        let mut found = self.primary();
        loop {
            let rest = self.rest();
            if rest.starts_with('(') {
                let arguments = self.bracketed();
                found = Expression::Call { callee: Box::new(found), arguments };
            } else if rest.starts_with('[') {
                let arguments = self.bracketed();
                found = Expression::Index { object: Box::new(found), arguments };
            } else if rest.starts_with('{') {
                let arguments = self.bracketed();
                found = match found {
                    Expression::Name(path) => {
                        let of = TypeText { base: Written::Named(path), ..TypeText::DEDUCED };
                        Expression::Made { of, arguments }
                    }
                    _ => Expression::Unknown,
                };
            } else if self.take("->") {
                found = self.member(found, true);
            } else if rest.starts_with('.') && !rest.starts_with("..") {
                self.at += 1;
                found = self.member(found, false);
            } else {
                return found;
            }
        }
    }

    pub(super) fn member(&mut self, object: Expression<'t>, is_arrow: bool) -> Expression<'t> {
        Expression::Member { object: Box::new(object), path: self.path(), is_arrow }
    }

    /// Expressions in a bracket.
    pub(super) fn bracketed(&mut self) -> Vec<Expression<'t>> {
        self.at += 1;
        let mut list = Vec::new();
        loop {
            match self.rest().as_bytes().first() {
                None => return list,
                Some(b')' | b']' | b'}') => {
                    self.at += 1;
                    return list;
                }
                Some(b'>') => self.at += 1,
                _ => {
                    list.push(self.expression());
                    self.skip_to_comma();
                }
            }
        }
    }

    pub(super) fn primary(&mut self) -> Expression<'t> {
        let rest = self.rest();
        let word = self.peek_word();
        match rest.as_bytes().first() {
            None => Expression::Unknown,
            Some(b'?') => {
                self.at += 1;
                Expression::Unknown
            }
            Some(b'[') => {
                self.skip_brackets();
                Expression::Lambda
            }
            Some(b'{') => {
                self.skip_brackets();
                Expression::Braces
            }
            Some(b'"') => {
                self.skip_quoted();
                Expression::Literal(Builtin::Char, true)
            }
            Some(b'\'') => {
                self.at += rest[1..].find('\'').map_or(rest.len(), |end| end + 2);
                Expression::Literal(Builtin::Char, false)
            }
            Some(b'0'..=b'9') => self.number(),
            Some(b'(') => {
                let mut inner = self.bracketed();
                inner.pop().unwrap_or(Expression::Unknown)
            }
            _ if matches!(word, "this" | "self" | "cls") => {
                self.at += word.len();
                Expression::This
            }
            _ if word == "true" => {
                self.at += word.len();
                Expression::Literal(Builtin::Bool, false)
            }
            _ if word == "nullptr" => {
                self.at += word.len();
                Expression::Literal(Builtin::Null, false)
            }
            _ if word == "operator" => self.operator(),
            _ if word.ends_with("_cast") && CASTS.contains(&word) => self.cast(word),
            _ if !word.is_empty() && is_builtin_word(word) => {
                let of = self.type_text();
                let is_call = self.rest().starts_with(['(', '{']);
                let arguments = if is_call { self.bracketed() } else { Vec::new() };
                Expression::Made { of, arguments }
            }
            _ if !word.is_empty() || rest.starts_with("::") || rest.starts_with('~') => {
                Expression::Name(self.path())
            }
            _ => {
                self.skip_char();
                Expression::Unknown
            }
        }
    }

    pub(super) fn number(&mut self) -> Expression<'t> {
        let rest = self.rest();
        let end = rest.bytes().take_while(|&byte| is_word(byte) || byte == b'.').count();
        self.at += end;
        let text = &rest[..end];
        let kind = match (text.contains('.'), text) {
            (true, _) if text.ends_with('f') => Builtin::Float,
            (true, _) => Builtin::Double,
            (false, _) if text.ends_with("ul") => Builtin::UnsignedLong,
            (false, _) if text.ends_with('l') => Builtin::Long,
            (false, _) if text.ends_with('u') => Builtin::Unsigned,
            _ => Builtin::Int,
        };
        Expression::Literal(kind, false)
    }

    pub(super) fn operator(&mut self) -> Expression<'t> {
        let start = self.at;
        let name = self.operator_name();
        let symbol = name["operator".len()..].trim();
        if symbol == "()" || symbol == "[]" || !self.rest().starts_with('(') {
            let _ = start;
            let part = PartText { name, arguments: None };
            return Expression::Name(PathText { is_global: false, parts: vec![part] });
        }
        Expression::Operator { symbol, arguments: self.bracketed() }
    }

    pub(super) fn cast(&mut self, word: &'t str) -> Expression<'t> {
        self.at += word.len();
        if !self.take("<") {
            return Expression::Unknown;
        }
        let of = self.type_text();
        while !matches!(self.rest().as_bytes().first(), None | Some(b'>')) {
            self.skip_char();
        }
        self.take(">");
        let arguments = if self.rest().starts_with('(') { self.bracketed() } else { Vec::new() };
        Expression::Made { of, arguments }
    }
}

const CASTS: &[&str] = &["static_cast", "dynamic_cast", "reinterpret_cast", "const_cast"];

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

pub(super) fn is_builtin_word(word: &str) -> bool {
    matches!(
        word,
        "void"
            | "bool"
            | "char"
            | "short"
            | "int"
            | "long"
            | "float"
            | "double"
            | "signed"
            | "unsigned"
            | "char8_t"
            | "char16_t"
            | "char32_t"
            | "wchar_t"
            | "int8_t"
            | "int16_t"
            | "int32_t"
            | "int64_t"
            | "uint8_t"
            | "uint16_t"
            | "uint32_t"
            | "uint64_t"
            | "size_t"
            | "ptrdiff_t"
            | "ssize_t"
            | "intptr_t"
            | "uintptr_t"
    )
}

pub(super) fn builtin(words: &[&str]) -> Builtin {
    let has = |word: &str| words.contains(&word);
    let is_unsigned = has("unsigned");
    match words {
        _ if has("void") => Builtin::Void,
        _ if has("bool") => Builtin::Bool,
        _ if has("double") => Builtin::Double,
        _ if has("float") => Builtin::Float,
        _ if ["char", "int8_t", "uint8_t", "char8_t", "char16_t", "char32_t", "wchar_t"]
            .iter()
            .any(|w| has(w)) =>
        {
            Builtin::Char
        }
        _ if has("short") || has("int16_t") || has("uint16_t") => Builtin::Short,
        _ if has("size_t") || has("uint64_t") || has("uintptr_t") => Builtin::UnsignedLong,
        _ if has("ptrdiff_t") || has("int64_t") || has("ssize_t") || has("intptr_t") => Builtin::Long,
        _ if has("long") && is_unsigned => Builtin::UnsignedLong,
        _ if has("long") => Builtin::Long,
        _ if is_unsigned || has("uint32_t") => Builtin::Unsigned,
        _ => Builtin::Int,
    }
}

/// `std::size_t` and its like.
pub(super) fn std_size(base: &Written<'_>) -> bool {
    let Written::Named(path) = base else { return false };
    match path.parts.as_slice() {
        [first, last] => first.name == "std" && last.name == "size_t",
        _ => false,
    }
}
