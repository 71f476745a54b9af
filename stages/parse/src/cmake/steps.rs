//! The commands that decide what is built: kept with their arguments, for the graph to follow.

use almanac_tables::ReferenceKind;
use tree_sitter::Node;

use super::{Command, Reader};
use crate::rows::EntityAt;

/// Commands that make targets, give them sources, links and definitions, hold lists of files, or say
/// under which condition.
const STEPS: &[&str] = &[
    "add_compile_definitions",
    "add_custom_target",
    "add_definitions",
    "add_dependencies",
    "add_executable",
    "add_library",
    "add_subdirectory",
    "add_test",
    "cmake_parse_arguments",
    "configure_file",
    "else",
    "elseif",
    "endforeach",
    "endif",
    "file",
    "foreach",
    "get_filename_component",
    "gtest_discover_tests",
    "if",
    "include",
    "list",
    "option",
    "project",
    "set",
    "string",
    "target_compile_definitions",
    "target_link_libraries",
    "target_sources",
    "unset",
];

/// First arguments of commands with many uses, of which the others make no list of files.
const USES: &[(&str, &[&str])] = &[
    ("file", &["GLOB", "GLOB_RECURSE"]),
    ("string", &["APPEND", "PREPEND", "CONCAT", "TOUPPER", "TOLOWER", "REPLACE"]),
    ("list", &["APPEND", "PREPEND", "REMOVE_ITEM", "TRANSFORM"]),
];

impl<'a> Reader<'a, '_> {
    /// Keeps a command that decides what is built.
    pub(super) fn step(&mut self, node: Node<'a>, command: &Command<'a>, owner: Option<EntityAt>) {
        let name = command.name.as_str();
        let is_used = |(other, uses): &(&str, &[&str])| *other != name || uses.contains(&command.first());
        if !STEPS.contains(&name) || !USES.iter().all(is_used) {
            return;
        }
        let written = self.source.slice(node.start_byte(), node.start_byte() + name.len());
        let mut reference = self.source.reference(ReferenceKind::Command, name, written, node.start_byte());
        reference.arguments = command.arguments.len() as u32;
        command.list.clone_into(&mut reference.argument_list);
        self.rows.refer(owner, reference);
    }
}
