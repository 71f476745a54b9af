//! Names a file itself tells to be classes or namespaces.

use std::collections::BTreeSet;

use tree_sitter::Node;

use crate::cpp::named;

/// Unqualified names by what they are.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) classes: BTreeSet<String>,
    pub(crate) namespaces: BTreeSet<String>,
}

impl Known {
    /// Collects from a tree, with an explicit stack: files may nest deeper than a thread's stack.
    pub(crate) fn of(root: Node<'_>, text: &str) -> Self {
        let mut known = Self::default();
        let mut stack = vec![root];
        let slice = |node: Node<'_>| text.get(node.byte_range()).unwrap_or("").to_owned();
        while let Some(node) = stack.pop() {
            match node.kind() {
                "namespace_definition" => {
                    let name = node.child_by_field_name("name").map(slice).unwrap_or_default();
                    known.namespaces.extend(name.split("::").map(|part| part.trim().to_owned()));
                }
                "using_declaration" if slice(node).contains("namespace ") => {
                    let parts = named(node).into_iter().map(slice).collect::<Vec<_>>().join("::");
                    known.namespaces.extend(parts.split("::").map(|part| part.trim().to_owned()));
                }
                "namespace_alias_definition" => {
                    known.namespaces.extend(node.child_by_field_name("name").map(slice));
                }
                "class_specifier" | "struct_specifier" | "union_specifier" => {
                    let name = node.child_by_field_name("name");
                    let name = name.map(|name| name.child_by_field_name("name").unwrap_or(name));
                    known.classes.extend(name.map(slice));
                }
                // Nothing inside says more, and most of a file is there.
                "compound_statement" | "argument_list" | "preproc_function_def" => continue,
                _ => {}
            }
            stack.extend(named(node));
        }
        known.namespaces.remove("");
        known
    }
}
