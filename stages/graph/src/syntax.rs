//! Types and expressions read out of the text the parser kept.

mod reader;
#[cfg(test)]
mod tests;

use reader::Reader;

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
    /// Whether it is a reference to an array.
    pub(crate) is_array: bool,
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
    /// A number, `true` or `false`, as an argument of a template.
    Value(&'t str),
    /// A function type, another value, or what cannot be read.
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
        is_array: false,
    };

    /// Reads a type; what follows it is left out.
    pub(crate) fn read(text: &'t str) -> Self {
        Reader { text, at: 0 }.type_text()
    }

    /// Reads types separated by commas.
    pub(crate) fn read_list(text: &'t str) -> Vec<Self> {
        let mut reader = Reader { text, at: 0 };
        let mut list = Vec::new();
        while !reader.rest().is_empty() {
            list.push(reader.type_argument());
            if matches!(reader.rest().as_bytes().first(), Some(b')' | b']' | b'}' | b'>')) {
                reader.skip_char();
            }
        }
        list
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

    /// The texts of expressions separated by commas.
    pub(crate) fn texts(text: &'t str) -> Vec<&'t str> {
        let mut reader = Reader { text, at: 0 };
        let mut list = Vec::new();
        while !reader.rest().is_empty() {
            let start = reader.at;
            reader.expression();
            list.push(text[start..reader.at].trim());
            reader.skip_to_comma();
        }
        list
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
