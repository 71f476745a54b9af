//! Fields of C and C++ nodes by number: the grammars would look a name up with every call.

use std::num::NonZeroU16;
use std::sync::LazyLock;

use tree_sitter::{Language, Node, TreeCursor};

macro_rules! fields {
    ($( $variant:ident = $name:literal ),+ $(,)?) => {
        /// A field of the C and C++ grammars.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Field { $( #[doc = concat!("`", $name, "`.")] $variant ),+ }

        /// Every name, in the order of the variants.
        const NAMES: &[&str] = &[$($name),+];
    };
}

fields! {
    Alternative = "alternative",
    Argument = "argument",
    Arguments = "arguments",
    Base = "base",
    Body = "body",
    Captures = "captures",
    Condition = "condition",
    Consequence = "consequence",
    Declarator = "declarator",
    DefaultValue = "default_value",
    Field = "field",
    Function = "function",
    Index = "index",
    Indices = "indices",
    Initializer = "initializer",
    Left = "left",
    Name = "name",
    Operator = "operator",
    Parameters = "parameters",
    Path = "path",
    Placement = "placement",
    Right = "right",
    Scope = "scope",
    Size = "size",
    TemplateParameters = "template_parameters",
    Type = "type",
    Update = "update",
    Value = "value",
}

/// Numbers of the fields in one grammar.
struct Numbers {
    language: Language,
    ids: Vec<Option<NonZeroU16>>,
}

impl Numbers {
    fn of(language: Language) -> Self {
        let ids = NAMES.iter().map(|name| language.field_id_for_name(name)).collect();
        Self { language, ids }
    }
}

static C: LazyLock<Numbers> = LazyLock::new(|| Numbers::of(tree_sitter_c::LANGUAGE.into()));
static CPP: LazyLock<Numbers> = LazyLock::new(|| Numbers::of(tree_sitter_cpp::LANGUAGE.into()));

fn id(node: &Node<'_>, field: Field) -> Option<NonZeroU16> {
    let numbers = if *node.language() == C.language { &*C } else { &*CPP };
    numbers.ids[field as usize]
}

/// Fields of a node of a C or C++ tree.
pub trait Fields<'t>: Sized {
    /// The child in a field; the first if there are several.
    fn field(self, field: Field) -> Option<Node<'t>>;

    /// All children in a field.
    fn fields(self, field: Field) -> Vec<Node<'t>>;
}

impl<'t> Fields<'t> for Node<'t> {
    fn field(self, field: Field) -> Option<Self> {
        self.child_by_field_id(id(&self, field)?.get())
    }

    fn fields(self, field: Field) -> Vec<Self> {
        let mut cursor: TreeCursor<'t> = self.walk();
        match id(&self, field) {
            Some(id) => self.children_by_field_id(id, &mut cursor).collect(),
            None => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::{Grammar, Limits, Watch, parse};

    #[test]
    fn fields_are_those_of_the_grammar() {
        let calm = AtomicBool::new(false);
        let limits = Limits { steps: 10_000_000, nesting: 1000 };
        for grammar in [Grammar::C, Grammar::Cpp] {
            let text = "int f(int a, int b) { return a; }\nint x, y;\n";
            let tree = parse(grammar, text.as_bytes(), &Watch::start(limits, &calm)).expect("tree");
            let function = tree.root_node().child(0).expect("function");
            let declarator = function.field(Field::Declarator).expect("declarator");
            assert_eq!(
                &text[declarator.field(Field::Parameters).expect("list").byte_range()],
                "(int a, int b)"
            );
            assert_eq!(declarator.field(Field::Body), None);
            let variables = tree.root_node().child(1).expect("declaration");
            let names: Vec<&str> =
                variables.fields(Field::Declarator).iter().map(|node| &text[node.byte_range()]).collect();
            assert_eq!(names, ["x", "y"]);
        }
    }
}
