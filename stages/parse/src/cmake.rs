//! CMake: functions, targets, options, and the files one script pulls in.

use std::collections::BTreeSet;

use almanac_language::{Grammar, Limits, Stop, parse};
use almanac_tables::{EntityKind, ReferenceKind};
use tree_sitter::Node;

use crate::names::{one_line, shortened};
use crate::rows::{EntityAt, Rows, Source};

/// Longest signature of a command, in characters.
const SHOWN: usize = 240;

/// Commands of CMake itself: calls to anything else are calls to functions of the tree.
const BUILTIN: &[&str] = &[
    "add_compile_definitions",
    "add_compile_options",
    "add_custom_command",
    "add_custom_target",
    "add_definitions",
    "add_dependencies",
    "add_executable",
    "add_library",
    "add_link_options",
    "add_subdirectory",
    "add_test",
    "aux_source_directory",
    "block",
    "break",
    "build_command",
    "cmake_dependent_option",
    "cmake_language",
    "cmake_minimum_required",
    "cmake_parse_arguments",
    "cmake_path",
    "cmake_policy",
    "configure_file",
    "configure_package_config_file",
    "continue",
    "create_test_sourcelist",
    "define_property",
    "enable_language",
    "enable_testing",
    "endblock",
    "execute_process",
    "export",
    "fetchcontent_declare",
    "fetchcontent_getproperties",
    "fetchcontent_makeavailable",
    "fetchcontent_populate",
    "file",
    "find_file",
    "find_library",
    "find_package",
    "find_package_handle_standard_args",
    "find_path",
    "find_program",
    "get_cmake_property",
    "get_directory_property",
    "get_filename_component",
    "get_property",
    "get_source_file_property",
    "get_target_property",
    "get_test_property",
    "gtest_discover_tests",
    "include",
    "include_directories",
    "include_guard",
    "install",
    "link_directories",
    "link_libraries",
    "list",
    "load_cache",
    "mark_as_advanced",
    "math",
    "message",
    "option",
    "project",
    "return",
    "separate_arguments",
    "set",
    "set_directory_properties",
    "set_property",
    "set_source_files_properties",
    "set_target_properties",
    "set_tests_properties",
    "site_name",
    "source_group",
    "string",
    "target_compile_definitions",
    "target_compile_features",
    "target_compile_options",
    "target_include_directories",
    "target_link_directories",
    "target_link_libraries",
    "target_link_options",
    "target_precompile_headers",
    "target_sources",
    "try_compile",
    "try_run",
    "unset",
    "variable_watch",
    "write_basic_package_version_file",
    "check_cxx_compiler_flag",
    "check_cxx_source_compiles",
    "check_include_file",
    "check_ipo_supported",
    "check_symbol_exists",
];

/// Reads a CMake file; gives the bytes the grammar could not place.
pub(crate) fn read(source: &Source<'_>, limits: Limits, rows: &mut Rows) -> Result<u64, Stop> {
    let tree = parse(Grammar::Cmake, source.text.as_bytes(), limits)?;
    let builtin: BTreeSet<&str> = BUILTIN.iter().copied().collect();
    let mut reader = Reader { source, builtin, rows, comment_end: 0, comment_start: None, errors: 0 };
    reader.walk(tree.root_node());
    Ok(reader.errors)
}

struct Reader<'a, 'r> {
    source: &'a Source<'a>,
    builtin: BTreeSet<&'static str>,
    rows: &'r mut Rows,
    /// First byte of the run of comment lines being collected, and where it ends.
    comment_start: Option<usize>,
    comment_end: usize,
    errors: u64,
}

impl<'a> Reader<'a, '_> {
    fn text(&self, node: Node<'_>) -> &'a str {
        self.source.slice(node.start_byte(), node.end_byte())
    }

    /// Visits commands in source order; entries of the stack carry the function around.
    fn walk(&mut self, root: Node<'_>) {
        let mut stack: Vec<(Node<'_>, Option<EntityAt>)> = vec![(root, None)];
        while let Some((node, owner)) = stack.pop() {
            let mut owner = owner;
            match node.kind() {
                "line_comment" => self.comment(node),
                "function_def" | "macro_def" => owner = self.function(node).or(owner),
                "normal_command" => self.command(node, owner),
                "ERROR" => self.errors += node.byte_range().len() as u64,
                _ => {}
            }
            if !matches!(node.kind(), "argument_list" | "line_comment" | "bracket_comment") {
                let mut cursor = node.walk();
                let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
                stack.extend(children.into_iter().rev().map(|child| (child, owner)));
            }
        }
    }

    fn comment(&mut self, node: Node<'_>) {
        let joins = self.comment_start.is_some()
            && self.source.slice(self.comment_end, node.start_byte()).chars().filter(|c| *c == '\n').count()
                <= 1
            && self.source.slice(self.comment_end, node.start_byte()).trim().is_empty();
        if !joins {
            self.comment_start = Some(node.start_byte());
        }
        self.comment_end = node.end_byte();
    }

    fn comment_before(&self, at: usize) -> String {
        let Some(start) = self.comment_start else { return String::new() };
        let gap = self.source.slice(self.comment_end, at);
        if !gap.trim().is_empty() || gap.matches('\n').count() > 1 {
            return String::new();
        }
        let lines: Vec<&str> = self
            .source
            .slice(start, self.comment_end)
            .lines()
            .map(|line| line.trim().trim_start_matches('#').trim())
            .filter(|line| !line.chars().all(|c| matches!(c, '-' | '=' | '~' | '*' | '#')))
            .collect();
        lines.join("\n")
    }

    fn arguments(&self, node: Node<'_>) -> Vec<&'a str> {
        let mut cursor = node.walk();
        let list = node.named_children(&mut cursor).find(|child| child.kind() == "argument_list");
        let Some(list) = list else { return Vec::new() };
        let mut cursor = list.walk();
        list.named_children(&mut cursor)
            .filter(|child| child.kind() == "argument")
            .map(|child| self.text(child))
            .collect()
    }

    fn entity(&mut self, kind: EntityKind, name: &str, node: Node<'_>, head: Node<'_>) -> EntityAt {
        let comment = self.comment_before(node.start_byte());
        let mut entity = self.source.entity(kind, name, node.start_byte(), node.end_byte());
        entity.signature = shortened(&one_line(self.text(head)), SHOWN);
        entity.leading_comment = comment;
        self.rows.push(entity)
    }

    fn function(&mut self, node: Node<'_>) -> Option<EntityAt> {
        let head = node.named_child(0)?;
        let arguments = self.arguments(head);
        let (name, parameters) = arguments.split_first()?;
        let at = self.entity(EntityKind::BuildFunction, name, node, head);
        self.rows.entities[at].parameters = parameters.join(", ");
        let keyword = if node.kind() == "macro_def" { "macro" } else { "function" };
        self.rows.entities[at].return_type = keyword.to_owned();
        Some(at)
    }

    fn command(&mut self, node: Node<'_>, owner: Option<EntityAt>) {
        let Some(identifier) = node.named_child(0) else { return };
        let written = self.text(identifier);
        let name = written.to_ascii_lowercase();
        let arguments = self.arguments(node);
        let first = arguments.first().copied().unwrap_or("");
        match name.as_str() {
            "add_library" | "add_executable" | "add_custom_target" if !first.is_empty() => {
                self.entity(EntityKind::BuildTarget, first, node, node);
            }
            "option" | "cmake_dependent_option" if !first.is_empty() => {
                self.entity(EntityKind::BuildOption, first, node, node);
            }
            "set" if arguments.contains(&"CACHE") => {
                self.entity(EntityKind::BuildOption, first, node, node);
            }
            "include" | "add_subdirectory" if !first.is_empty() => {
                let path = first.trim_matches('"');
                let text = one_line(self.text(node));
                let reference = self.source.reference(ReferenceKind::Include, path, &text, node.start_byte());
                self.rows.refer(owner, reference);
            }
            _ if !self.builtin.contains(name.as_str()) => {
                let mut reference =
                    self.source.reference(ReferenceKind::Call, written, written, node.start_byte());
                reference.arguments = arguments.len() as u32;
                self.rows.refer(owner, reference);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use almanac_language::Classification;
    use almanac_tables::ArtifactRole;

    use super::*;

    #[test]
    fn functions_targets_options_and_includes_are_found() {
        let text = "\
# Adds one test.
function(add_unit name)
  add_executable(${name} ${name}.cpp)
  helper(${name})
endfunction()

option(CORE_ENABLE_GPU \"Build for a GPU\" OFF)
set(CORE_MODE fast CACHE STRING \"Mode\")
set(local 1)
if(CORE_ENABLE_GPU)
  add_library(core STATIC a.cpp)
endif()
include(Options)
add_subdirectory(src)
ADD_UNIT(first)
";
        let class = Classification::of("CMakeLists.txt");
        let source = Source::new("CMakeLists.txt", text, class, ArtifactRole::Build);
        let mut rows = Rows::default();
        let limits = Limits { time: Duration::from_secs(10), nesting: 1000 };
        assert_eq!(read(&source, limits, &mut rows), Ok(0));
        let (entities, references) = rows.finish();
        let found: Vec<_> = entities
            .iter()
            .map(|e| format!("{} {} {}-{}", e.kind, e.name, e.start_line, e.end_line))
            .collect();
        assert_eq!(
            found,
            [
                "build_function add_unit 2-5",
                "build_target ${name} 3-3",
                "build_option CORE_ENABLE_GPU 7-7",
                "build_option CORE_MODE 8-8",
                "build_target core 11-11",
            ]
        );
        assert_eq!(entities[0].leading_comment, "Adds one test.");
        assert_eq!(entities[0].parameters, "name");
        let found: Vec<_> = references
            .iter()
            .map(|r| (r.kind.as_str(), r.name.as_str(), r.entity_id == entities[0].id))
            .collect();
        assert_eq!(
            found,
            [
                ("call", "helper", true),
                ("include", "Options", false),
                ("include", "src", false),
                ("call", "ADD_UNIT", false),
            ]
        );
    }
}
