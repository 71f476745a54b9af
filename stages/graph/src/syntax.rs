//! Types and expressions read out of the text the parser kept.

/// A built-in type, as far as overloads differ by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Builtin {
    Void,
    Bool,
    Char,
    Short,
    Int,
    Long,
    Unsigned,
    UnsignedLong,
    Float,
    Double,
    Null,
}

/// A type as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TypeText<'t> {
    pub(crate) base: Written<'t>,
    /// Number of `*`, arrays counted.
    pub(crate) pointers: u8,
    pub(crate) reference: Reference,
    /// Whether what it is, refers or points to is `const`.
    pub(crate) is_const: bool,
    pub(crate) is_pack: bool,
}

/// `&`, `&&` or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reference {
    None,
    Left,
    Right,
}

/// What a type is made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Written<'t> {
    /// `auto`, `decltype(auto)`, or nothing.
    Deduced,
    Builtin(Builtin),
    Named(PathText<'t>),
    /// `decltype(expression)`.
    Of(&'t str),
    /// A function type, a value, or what cannot be read.
    Other,
}

/// `::a::b<c>::d`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PathText<'t> {
    pub(crate) is_global: bool,
    pub(crate) parts: Vec<PartText<'t>>,
}

/// One component of a path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PartText<'t> {
    pub(crate) name: &'t str,
    /// Template arguments; `None` when there is no list.
    pub(crate) arguments: Option<Vec<TypeText<'t>>>,
}

impl<'t> PathText<'t> {
    /// Last component.
    pub(crate) fn last(&self) -> Option<&PartText<'t>> {
        self.parts.last()
    }

    /// Name of the last component.
    pub(crate) fn name(&self) -> &'t str {
        self.last().map_or("", |part| part.name)
    }

    /// Names joined with `::`.
    pub(crate) fn plain(&self) -> String {
        self.parts.iter().map(|part| part.name).collect::<Vec<_>>().join("::")
    }
}

impl<'t> TypeText<'t> {
    pub(crate) const DEDUCED: Self = Self {
        base: Written::Deduced,
        pointers: 0,
        reference: Reference::None,
        is_const: false,
        is_pack: false,
    };

    /// Reads a type; what follows it is left out.
    pub(crate) fn read(text: &'t str) -> Self {
        Reader { text, at: 0 }.type_text()
    }

    /// Name of the type, if it is a single word.
    pub(crate) fn word(&self) -> Option<&'t str> {
        match &self.base {
            Written::Named(PathText { is_global: false, parts }) => match parts.as_slice() {
                [PartText { name, arguments: None }] => Some(name),
                _ => None,
            },
            _ => None,
        }
    }
}

/// An expression in the form that the parse stage gives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression<'t> {
    /// Too long, or nothing with a type of its own.
    Unknown,
    Lambda,
    Braces,
    This,
    /// A literal: its type, and whether it is a text.
    Literal(Builtin, bool),
    Name(PathText<'t>),
    Member {
        object: Box<Expression<'t>>,
        path: PathText<'t>,
        is_arrow: bool,
    },
    Call {
        callee: Box<Expression<'t>>,
        arguments: Vec<Expression<'t>>,
    },
    Index {
        object: Box<Expression<'t>>,
        arguments: Vec<Expression<'t>>,
    },
    /// A cast, `T{a}`, or a new object behind a pointer.
    Made {
        of: TypeText<'t>,
        arguments: Vec<Expression<'t>>,
    },
    Operator {
        symbol: &'t str,
        arguments: Vec<Expression<'t>>,
    },
}

impl<'t> Expression<'t> {
    /// Reads one expression.
    pub(crate) fn read(text: &'t str) -> Self {
        Reader { text, at: 0 }.expression()
    }

    /// The names in it, each after a space.
    pub(crate) fn words(&self, out: &mut String) {
        let mut add = |path: &PathText<'_>| {
            for part in &path.parts {
                out.push(' ');
                out.push_str(part.name);
            }
        };
        match self {
            Self::Name(path) => add(path),
            Self::Member { object, path, .. } => {
                add(path);
                object.words(out);
            }
            Self::Call { callee: inner, .. } | Self::Index { object: inner, .. } => inner.words(out),
            Self::Operator { arguments, .. } => arguments.iter().take(1).for_each(|inner| inner.words(out)),
            Self::Made { of: TypeText { base: Written::Named(path), .. }, .. } => add(path),
            _ => {}
        }
    }

    /// Reads expressions separated by commas.
    pub(crate) fn read_list(text: &'t str) -> Vec<Self> {
        let mut reader = Reader { text, at: 0 };
        let mut list = Vec::new();
        while !reader.rest().is_empty() {
            list.push(reader.expression());
            reader.skip_to_comma();
        }
        list
    }
}

/// Words that say how something is declared or elaborate a type.
const SKIPPED: &[&str] = &[
    "volatile",
    "typename",
    "struct",
    "class",
    "enum",
    "union",
    "template",
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
    "restrict",
    "__restrict__",
    "__restrict",
    "public",
    "protected",
    "private",
];

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len();
        }
        found
    }

    /// The identifier or number that comes next; empty if none does.
    fn peek_word(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.bytes().take_while(|&byte| is_word(byte)).count();
        &rest[..end]
    }

    fn skip_char(&mut self) {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        self.at += length;
    }

    /// Skips to the next comma outside brackets and over it; stops before a bracket that closes.
    fn skip_to_comma(&mut self) -> bool {
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

    fn skip_quoted(&mut self) {
        let inner = &self.text[self.at + 1..];
        self.at += inner.find('"').map_or(inner.len() + 1, |end| end + 2);
    }

    /// Skips a bracket and what is in it; at the end of the text if it is never closed.
    fn skip_brackets(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.rest().bytes().next() {
            match byte {
                b'(' | b'[' | b'{' | b'<' => depth += 1,
                b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
                b'-' if self.rest().starts_with("->") => self.at += 1,
                b'"' => {
                    self.skip_quoted();
                    continue;
                }
                _ => {}
            }
            self.skip_char();
            if depth == 0 {
                return;
            }
        }
    }

    fn type_text(&mut self) -> TypeText<'t> {
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
    fn marks(&mut self, found: &mut TypeText<'t>) {
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

    fn decltype(&mut self) -> Written<'t> {
        if !self.rest().starts_with('(') {
            return Written::Other;
        }
        let start = self.at + 1;
        self.skip_brackets();
        let inner = self.text.get(start..self.at.saturating_sub(1)).unwrap_or("").trim();
        if inner == "auto" { Written::Deduced } else { Written::Of(inner) }
    }

    fn path(&mut self) -> PathText<'t> {
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

    fn type_arguments(&mut self) -> Vec<TypeText<'t>> {
        let mut arguments = Vec::new();
        self.at += 1;
        loop {
            let rest = self.rest();
            if rest.is_empty() || self.take(">") {
                return arguments;
            }
            let mut argument = self.type_text();
            let before = self.at;
            if self.skip_to_comma() && self.at > before + 1 {
                argument.base = Written::Other;
            }
            arguments.push(argument);
            if matches!(self.rest().as_bytes().first(), Some(b')' | b']' | b'}')) {
                return arguments;
            }
        }
    }

    /// `operator+`, `operator()`, `operator bool`.
    fn operator_name(&mut self) -> &'t str {
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

    fn expression(&mut self) -> Expression<'t> {
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

    fn member(&mut self, object: Expression<'t>, is_arrow: bool) -> Expression<'t> {
        Expression::Member { object: Box::new(object), path: self.path(), is_arrow }
    }

    /// Expressions in a bracket.
    fn bracketed(&mut self) -> Vec<Expression<'t>> {
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

    fn primary(&mut self) -> Expression<'t> {
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

    fn number(&mut self) -> Expression<'t> {
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

    fn operator(&mut self) -> Expression<'t> {
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

    fn cast(&mut self, word: &'t str) -> Expression<'t> {
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

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

fn is_builtin_word(word: &str) -> bool {
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

fn builtin(words: &[&str]) -> Builtin {
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
fn std_size(base: &Written<'_>) -> bool {
    let Written::Named(path) = base else { return false };
    match path.parts.as_slice() {
        [first, last] => first.name == "std" && last.name == "size_t",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let read = TypeText::read(text);
        let base = match &read.base {
            Written::Deduced => "auto".to_owned(),
            Written::Builtin(kind) => format!("{kind:?}"),
            Written::Named(path) => path.plain(),
            Written::Of(text) => format!("decltype {text}"),
            Written::Other => "other".to_owned(),
        };
        let marks = match read.reference {
            Reference::None => "",
            Reference::Left => "&",
            Reference::Right => "&&",
        };
        let constant = if read.is_const { "const " } else { "" };
        format!("{constant}{base}{}{marks}", "*".repeat(read.pointers as usize))
    }

    #[test]
    fn types_are_read_with_their_marks() {
        for (text, expected) in [
            ("const std::vector<Foo<T, 3>, Alloc<T>>&", "const std::vector&"),
            ("typename A<T>::template B<C>::type *const", "A::B::type*"),
            ("unsigned long long", "UnsignedLong"),
            ("std::size_t", "UnsignedLong"),
            ("T const *", "const T*"),
            ("double (&)[3]", "Double*"),
            ("void (*)(int)", "other"),
            ("std::function<void(int, double)>", "std::function"),
            ("auto&&", "auto&&"),
            ("decltype(a.b(c, d))&", "decltype a.b(c, d)&"),
            ("::Kokkos::View<double**>", "Kokkos::View"),
            ("int[3]", "Int*"),
            ("3", "other"),
            ("", "auto"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn template_arguments_are_types_or_values() {
        let read = TypeText::read("Foo<Bar<int>, N + 1, 3, const Baz*, void(int), sizeof(T) > 2>::type");
        let Written::Named(path) = &read.base else { panic!("a name") };
        let arguments = path.parts[0].arguments.as_ref().expect("arguments");
        let kinds: Vec<bool> =
            arguments.iter().map(|argument| !matches!(argument.base, Written::Other)).collect();
        assert_eq!(&kinds[..5], [true, false, false, true, false]);
        assert_eq!(arguments[3].pointers, 1);
    }

    #[test]
    fn expressions_are_read_in_the_form_of_the_parser() {
        let debug = |text: &str| format!("{:?}", Expression::read(text));
        let name = |text: &'static str| Expression::read(text);
        assert_eq!(
            Expression::read("a.b<int>(c, 0.)[i]->d"),
            Expression::Member {
                object: Box::new(Expression::Index {
                    object: Box::new(Expression::Call {
                        callee: Box::new(name("a.b<int>")),
                        arguments: vec![name("c"), Expression::Literal(Builtin::Double, false)],
                    }),
                    arguments: vec![name("i")],
                }),
                path: PathText { is_global: false, parts: vec![PartText { name: "d", arguments: None }] },
                is_arrow: true,
            }
        );
        assert_eq!(
            Expression::read("operator+(a, operator*(this))"),
            Expression::Operator {
                symbol: "+",
                arguments: vec![
                    name("a"),
                    Expression::Operator { symbol: "*", arguments: vec![Expression::This] },
                ],
            }
        );
        assert!(debug("static_cast<Foo<T>*>(0)->x").contains("Made"));
        assert!(debug("Foo<T>{a, b}").contains("Made"));
        assert_eq!(name("\"a, b\""), Expression::Literal(Builtin::Char, true));
        assert_eq!(Expression::read_list("[], ?, {}, f(a, b), operator<(a, b)").len(), 5);
        assert_eq!(Expression::read_list("").len(), 0);
        // Damaged text ends.
        for text in ["a(((", "f<", "operator", "x.", "->", ">>", "\"open", "ü.é(", "a{b", "~"] {
            let _ = Expression::read_list(text);
            let _ = TypeText::read(text);
        }
    }
}
