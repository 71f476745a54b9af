//! CMake: functions, macros, targets, options and cache variables, and the files they name.
//!
//! The statements between them become text blocks, so that every line of a build file is found.

mod steps;

use std::ops::Range;

use almanac_language::{Grammar, Stop, Watch, parse};
use almanac_tables::{EntityKind, ReferenceKind};
use tree_sitter::Node;

use crate::documents;
use crate::names::shortened;
use crate::rows::{EntityAt, Rows, Source};
use crate::script::{Taken, comment_before, walk};

/// Longest signature, in characters; a target may list hundreds of files.
const LONGEST_SIGNATURE: usize = 300;

/// Commands that end a block and say nothing by themselves.
const ENDINGS: [&str; 7] = ["else", "endif", "endforeach", "endwhile", "endfunction", "endmacro", "endblock"];

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

/// Reads a CMake file and gives the bytes the grammar could not place.
pub(crate) fn read(
    source: &Source<'_>,
    max_chunk_size: usize,
    watch: &Watch<'_>,
    rows: &mut Rows,
) -> Result<u64, Stop> {
    let tree = parse(Grammar::Cmake, &without_placeholders(source.text), watch)?;
    let mut reader = Reader { source, rows, owner: None, taken: Taken::default() };
    let error_bytes = walk(&tree, watch, |node| !reader.visit(node))?;
    let gaps = reader.gaps();
    documents::read_between(source, &gaps, max_chunk_size, rows);
    Ok(error_bytes)
}

struct Reader<'a, 'r> {
    source: &'a Source<'a>,
    rows: &'r mut Rows,
    /// Function or macro whose body is being walked, and where it ends.
    owner: Option<(EntityAt, usize)>,
    /// Ranges of outermost entities with the comments before them.
    taken: Taken,
}

/// A command: its name in lower case, its arguments without quotes, and the list as written.
struct Command<'a> {
    name: String,
    arguments: Vec<(&'a str, usize)>,
    list: &'a str,
}

impl Command<'_> {
    fn first(&self) -> &str {
        self.arguments.first().map_or("", |(text, _)| text)
    }
}

impl<'a> Reader<'a, '_> {
    /// Takes what a node says; true for a command, which holds no further commands.
    fn visit(&mut self, node: Node<'a>) -> bool {
        if self.owner.is_some_and(|(_, end)| node.start_byte() >= end) {
            self.owner = None;
        }
        match node.kind() {
            "function_def" | "macro_def" => {
                self.definition(node);
                false
            }
            "normal_command" => {
                let command = self.command(node);
                let owner = self.named(node, &command).or(self.owner.map(|(at, _)| at));
                self.files(&command, owner);
                self.call(node, &command, owner);
                self.step(node, &command, owner);
                true
            }
            kind if kind.ends_with("_command") => {
                let command = self.command(node);
                self.step(node, &command, self.owner.map(|(at, _)| at));
                true
            }
            _ => false,
        }
    }

    fn command(&self, node: Node<'a>) -> Command<'a> {
        let mut cursor = node.walk();
        let mut name = String::new();
        let mut arguments = Vec::new();
        let mut list = "";
        for child in node.named_children(&mut cursor) {
            if child.kind() == "argument_list" {
                list = self.text(child).trim();
                let mut inner = child.walk();
                arguments.extend(
                    child
                        .named_children(&mut inner)
                        .filter(|argument| argument.kind() == "argument")
                        .map(|argument| (unquoted(self.text(argument)), argument.start_byte())),
                );
            } else if name.is_empty() {
                name = self.text(child).to_ascii_lowercase();
            }
        }
        Command { name, arguments, list }
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        self.source.slice(node.start_byte(), node.end_byte())
    }

    fn definition(&mut self, node: Node<'a>) {
        let Some(head) = node.child(0) else { return };
        let command = self.command(head);
        if command.first().is_empty() || self.owner.is_some() {
            return;
        }
        let at = self.entity(EntityKind::BuildFunction, node, head, &command);
        let parameters: Vec<&str> = command.arguments.iter().skip(1).map(|(text, _)| *text).collect();
        self.rows.entities[at].parameters = parameters.join(" ");
        self.owner = Some((at, node.end_byte()));
    }

    /// The entity a command makes, if its name is written out.
    fn named(&mut self, node: Node<'a>, command: &Command<'a>) -> Option<EntityAt> {
        let argument = |at: usize| command.arguments.get(at).map_or("", |(text, _)| text);
        let (kind, doc) = match command.name.as_str() {
            "add_library" | "add_executable" | "add_custom_target" => (EntityKind::BuildTarget, ""),
            "option" | "cmake_dependent_option" => (EntityKind::BuildOption, argument(1)),
            "set" => {
                let cache = command.arguments.iter().position(|(text, _)| *text == "CACHE")?;
                (EntityKind::BuildOption, argument(cache + 2))
            }
            _ => return None,
        };
        if command.first().is_empty() || command.first().contains('$') {
            return None;
        }
        let at = self.entity(kind, node, node, command);
        let comment = &mut self.rows.entities[at].leading_comment;
        if !doc.is_empty() {
            if !comment.is_empty() {
                comment.push('\n');
            }
            comment.push_str(doc);
        }
        Some(at)
    }

    /// An entity over `node` whose signature is `head`.
    fn entity(
        &mut self,
        kind: EntityKind,
        node: Node<'a>,
        head: Node<'a>,
        command: &Command<'a>,
    ) -> EntityAt {
        let (comment_start, comment) = comment_before(self.source.text, node.start_byte());
        let mut entity = self.source.entity(kind, command.first(), node.start_byte(), node.end_byte());
        entity.leading_comment = comment;
        let signature = self.text(head).split_whitespace().collect::<Vec<_>>().join(" ");
        entity.signature = shortened(&signature, LONGEST_SIGNATURE);
        if let Some((owner, _)) = self.owner {
            entity.parent = self.rows.entities[owner].name.clone();
        } else {
            self.taken.take(comment_start..node.end_byte());
        }
        self.rows.push(entity)
    }

    /// References to the files, folders and packages a command names.
    fn files(&mut self, command: &Command<'a>, owner: Option<EntityAt>) {
        let named: Vec<(&str, usize)> = match command.name.as_str() {
            "include" | "add_subdirectory" | "find_package" => {
                command.arguments.first().filter(|(text, _)| !text.is_empty()).copied().into_iter().collect()
            }
            "add_library" | "add_executable" | "target_sources" => {
                command.arguments.iter().skip(1).filter(|(text, _)| is_file(text)).copied().collect()
            }
            _ => return,
        };
        for (written, at) in named {
            let reference = self.source.reference(ReferenceKind::Include, written, written, at);
            self.rows.refer(owner, reference);
        }
    }

    /// A call of a function that is not CMake's own.
    fn call(&mut self, node: Node<'a>, command: &Command<'a>, owner: Option<EntityAt>) {
        if command.name.is_empty() || BUILTIN.contains(&command.name.as_str()) {
            return;
        }
        let written = self.source.slice(node.start_byte(), node.start_byte() + command.name.len());
        let mut reference = self.source.reference(ReferenceKind::Call, written, written, node.start_byte());
        reference.arguments = command.arguments.len() as u32;
        command.list.clone_into(&mut reference.argument_list);
        self.rows.refer(owner, reference);
    }

    /// What stands between the entities and says something.
    fn gaps(&self) -> Vec<Range<usize>> {
        let mut gaps = self.taken.gaps(self.source.text.len());
        gaps.retain(|gap| {
            self.source.text[gap.clone()]
                .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .any(|word| !word.is_empty() && !ENDINGS.contains(&word.to_ascii_lowercase().as_str()))
        });
        gaps
    }
}

/// The text with lines such as `@PACKAGE_INIT@`, which are no commands, overwritten.
fn without_placeholders(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let written = line.trim();
        if written.len() > 2 && written.starts_with('@') && written.ends_with('@') {
            bytes[at..at + line.trim_end().len()].fill(b' ');
        }
        at += line.len();
    }
    bytes
}

/// Whether an argument is a file with a suffix, as written in a list of sources.
fn is_file(argument: &str) -> bool {
    let name = argument.rsplit('/').next().unwrap_or(argument);
    let suffix = name.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    suffix.starts_with(|c: char| c.is_ascii_alphabetic())
        && suffix.chars().all(|c| c.is_ascii_alphanumeric() || c == '+')
        && !argument.contains("$<")
}

/// An argument without its quotes or brackets.
fn unquoted(argument: &str) -> &str {
    if let Some(inner) = argument.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return inner;
    }
    let bracketed = argument.strip_prefix('[').map(|rest| rest.trim_start_matches('='));
    match bracketed.and_then(|rest| rest.strip_prefix('[')) {
        Some(inner) => inner.trim_end_matches(']').trim_end_matches('=').trim_end_matches(']').trim(),
        None => argument,
    }
}

#[cfg(test)]
mod tests {
    use almanac_language::Classification;
    use almanac_tables::{ArtifactRole, Entity, Reference};

    use super::*;

    fn rows(text: &str) -> (Vec<Entity>, Vec<Reference>) {
        let class = Classification::of("CMakeLists.txt");
        let source = Source::new("CMakeLists.txt", text, class, ArtifactRole::Build);
        let mut rows = Rows::default();
        let errors = read(&source, 2000, &crate::tests::watch(), &mut rows).expect("tree");
        assert_eq!(errors, 0, "{text}");
        rows.finish()
    }

    #[test]
    fn named_things_and_the_text_between() {
        let text = "cmake_minimum_required(VERSION 3.20)\n\n# ----\n# Adds one test.\n\
                    function(add_one_test NAME SOURCE)\n  add_executable(${NAME} ${SOURCE})\n  include(Rules)\n\
                    endfunction()\n\nif(UNIX)\n  option(USE_FFT \"Use the FFT\" ON)\nendif()\n\
                    set(PLATFORMS \"SERIAL\" CACHE STRING \"Where to run\")\n\
                    add_library(core STATIC a.cpp ${DIR}/b.cu $<$<BOOL:X>:c.cpp>)\n";
        let (entities, references) = rows(text);
        let found: Vec<_> = entities.iter().map(|entity| (entity.kind, entity.name.as_str())).collect();
        assert_eq!(
            found,
            [
                (EntityKind::TextBlock, "CMakeLists.txt_1"),
                (EntityKind::BuildFunction, "add_one_test"),
                (EntityKind::TextBlock, "CMakeLists.txt_2"),
                (EntityKind::BuildOption, "USE_FFT"),
                (EntityKind::BuildOption, "PLATFORMS"),
                (EntityKind::BuildTarget, "core"),
            ]
        );
        let function = &entities[1];
        assert_eq!(function.signature, "function(add_one_test NAME SOURCE)");
        assert_eq!(function.parameters, "NAME SOURCE");
        assert_eq!(function.leading_comment, "Adds one test.");
        assert_eq!((function.start_line, function.end_line), (5, 8));
        assert!(function.slice(text).ends_with("endfunction()"));
        assert_eq!(entities[2].slice(text), "if(UNIX)");
        assert_eq!(entities[3].leading_comment, "Use the FFT");
        assert_eq!(entities[4].leading_comment, "Where to run");
        let named: Vec<_> = references
            .iter()
            .filter(|r| r.kind == ReferenceKind::Include)
            .map(|r| (r.name.as_str(), r.line, r.entity_id.as_str()))
            .collect();
        assert_eq!(
            named,
            [
                ("Rules", 7, function.id.as_str()),
                ("a.cpp", 14, entities[5].id.as_str()),
                ("${DIR}/b.cu", 14, entities[5].id.as_str()),
            ]
        );
    }

    #[test]
    fn folders_packages_and_sources_are_references() {
        let text = "add_subdirectory(src)\nFIND_PACKAGE(Kokkos 4.1 REQUIRED)\ninclude(\"cmake/A.cmake\")\n\
                    target_sources(core PRIVATE x.hpp)\n";
        let (_, references) = rows(text);
        let includes = references.iter().filter(|reference| reference.kind == ReferenceKind::Include);
        let names: Vec<_> = includes.map(|reference| reference.name.as_str()).collect();
        assert_eq!(names, ["src", "Kokkos", "cmake/A.cmake", "x.hpp"]);
        assert!(references.iter().all(|reference| reference.entity_id.is_empty()));
    }

    #[test]
    fn commands_that_decide_what_is_built_are_kept_as_written() {
        let text = "if(UNIX AND\n   NOT X)\n  set(A \"b c\" # why\n      d)\n  string(FIND a b c)\nelse()\n  list(LENGTH A n)\n\
                    endif()\nforeach(x ${A})\n  Target_Sources(t PRIVATE ${x})\nendforeach()\n";
        let (_, references) = rows(text);
        let commands = references.iter().filter(|reference| reference.kind == ReferenceKind::Command);
        let found: Vec<_> = commands.map(|r| (r.name.as_str(), r.line, r.argument_list.as_str())).collect();
        assert_eq!(
            found,
            [
                ("if", 1, "UNIX AND\n   NOT X"),
                ("set", 3, "A \"b c\" # why\n      d"),
                ("else", 6, ""),
                ("endif", 8, ""),
                ("foreach", 9, "x ${A}"),
                ("target_sources", 10, "t PRIVATE ${x}"),
                ("endforeach", 11, ""),
            ]
        );
    }

    #[test]
    fn calls_are_those_of_the_tree() {
        let text = "@PACKAGE_INIT@\nADD_UNIT(first 2)\nmessage(STATUS x)\n";
        let (entities, references) = rows(text);
        assert_eq!(entities[0].slice(text), text.trim_end());
        let calls: Vec<_> =
            references.iter().map(|r| (r.kind, r.name.as_str(), r.arguments, r.line)).collect();
        assert_eq!(calls, [(ReferenceKind::Call, "ADD_UNIT", 2, 2)]);
    }

    #[test]
    fn addresses_are_kept_and_made_up_names_are_not() {
        let text = "set(SOURCE https://a.org/b CACHE STRING \"From\")\nadd_library(${NAME} a.cpp)\n";
        let (entities, _) = rows(text);
        assert_eq!(entities[0].signature, "set(SOURCE https://a.org/b CACHE STRING \"From\")");
        assert_eq!((entities[1].kind, entities.len()), (EntityKind::TextBlock, 2));
    }

    #[test]
    fn comments_lose_their_markers() {
        assert_eq!(comment_before("x()\n## a\n# ----\n#\n# b\noption(", 22), (4, "a\nb".to_owned()));
        assert_eq!(comment_before("# a\n\noption(", 5), (5, String::new()));
    }
}
