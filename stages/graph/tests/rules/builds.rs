//! What build files make, from what, and what decides that it is made.

use crate::rows::{Rows, show};
use almanac_tables::{EdgeKind, EntityKind, Reference, ReferenceKind};

/// Adds a command of a build file; one that is not CMake's own is a call.
fn command(rows: &mut Rows, path: &str, owner: &str, text: &str) {
    let (name, list) = text.split_once('(').expect("a command");
    let own = ["add_unit", "add_program", "wrap"];
    let kind = if own.contains(&name) { ReferenceKind::Call } else { ReferenceKind::Command };
    let line = rows.references.iter().filter(|reference| reference.path == path).count() as u32 + 1;
    rows.references.push(Reference {
        path: path.to_owned(),
        entity_id: owner.to_owned(),
        kind,
        name: name.to_owned(),
        written: name.to_owned(),
        argument_list: list.strip_suffix(')').expect("closed").to_owned(),
        line,
        start_byte: u64::from(line) * 10,
        ..Reference::default()
    });
}

fn commands(rows: &mut Rows, path: &str, owner: &str, lines: &[&str]) {
    for line in lines {
        command(rows, path, owner, line);
    }
}

/// Edges of a kind with their labels.
fn labelled(rows: &Rows, kind: EdgeKind) -> Vec<String> {
    let edges = rows.build().edges;
    let wanted = edges.iter().filter(|edge| edge.kind == kind);
    wanted.map(|edge| format!("{} '{}' {}:{}", show(edge), edge.label, edge.path, edge.line)).collect()
}

#[test]
fn lists_and_patterns_of_files_are_what_a_target_is_made_from() {
    let mut rows = Rows::default();
    rows.file("CMakeLists.txt").file("src/CMakeLists.txt");
    let core = rows.add(EntityKind::BuildTarget, "core");
    rows.file("src/a.cpp").file("src/b.cpp").file("src/deep/c.cpp").file("src/k/d.h").file("src/lone.cpp");
    commands(&mut rows, "CMakeLists.txt", "", &["add_subdirectory(src)"]);
    let list = "src/CMakeLists.txt";
    commands(
        &mut rows,
        list,
        "",
        &[
            "set(SOURCES a.cpp # the first\n ${CMAKE_CURRENT_SOURCE_DIR}/deep/c.cpp)",
            "list(APPEND SOURCES ${CMAKE_SOURCE_DIR}/src/b.cpp missing.cpp)",
            "file(GLOB HEADERS CONFIGURE_DEPENDS k/*.h)",
        ],
    );
    command(&mut rows, list, &core, "add_library(core STATIC ${SOURCES} \"${HEADERS}\")");
    assert_eq!(
        rows.edges(EdgeKind::Builds),
        [
            "file:CMakeLists.txt -> file:src/CMakeLists.txt",
            "src/CMakeLists.txt:core -> file:src/a.cpp",
            "src/CMakeLists.txt:core -> file:src/b.cpp",
            "src/CMakeLists.txt:core -> file:src/deep/c.cpp",
            "src/CMakeLists.txt:core -> file:src/k/d.h",
        ]
    );
}

/// A function of the tree that makes a test, as IPPL writes it.
fn with_function(rows: &mut Rows) -> String {
    rows.file("cmake/AddUnit.cmake");
    let function = rows.add(EntityKind::BuildFunction, "add_unit");
    rows.with(|entity| {
        "NAME".clone_into(&mut entity.parameters);
        "function(add_unit NAME)".clone_into(&mut entity.signature);
    });
    commands(
        rows,
        "cmake/AddUnit.cmake",
        &function,
        &[
            "set(several SOURCES LIBS)",
            "cmake_parse_arguments(UNIT \"SERIAL\" \"\" \"${several}\" ${ARGN})",
            "if(UNIT_SOURCES)",
            "set(_sources ${UNIT_SOURCES})",
            "else()",
            "set(_sources ${NAME}.cpp)",
            "endif()",
            "add_executable(${NAME} ${_sources})",
            "target_link_libraries(${NAME} PRIVATE core ${UNIT_LIBS})",
            "if(NOT UNIT_SERIAL)",
            "add_test(NAME ${NAME} COMMAND mpiexec $<TARGET_FILE:${NAME}>)",
            "endif()",
        ],
    );
    function
}

#[test]
fn a_function_of_the_tree_makes_targets_where_it_is_called() {
    let mut rows = Rows::default();
    rows.file("CMakeLists.txt");
    let core = rows.add(EntityKind::BuildTarget, "core");
    rows.file("test/One.cpp").file("test/Two.cpp").file("test/extra.cpp").file("test/CMakeLists.txt");
    with_function(&mut rows);
    commands(
        &mut rows,
        "test/CMakeLists.txt",
        "",
        &["add_unit(One)", "add_unit(Two SERIAL SOURCES extra.cpp)"],
    );
    commands(&mut rows, "CMakeLists.txt", "", &["include(AddUnit)", "add_subdirectory(test)"]);
    command(&mut rows, "CMakeLists.txt", &core, "add_library(core)");
    let builds = labelled(&rows, EdgeKind::Builds);
    assert_eq!(
        builds,
        [
            "file:CMakeLists.txt -> file:test/CMakeLists.txt '' CMakeLists.txt:2",
            // Both link it; the first says it.
            "file:test/CMakeLists.txt -> CMakeLists.txt:core 'One' test/CMakeLists.txt:1",
            "file:test/CMakeLists.txt -> file:test/One.cpp 'One' test/CMakeLists.txt:1",
            "file:test/CMakeLists.txt -> file:test/extra.cpp 'Two' test/CMakeLists.txt:2",
        ]
    );
}

#[test]
fn the_main_of_what_is_run_as_a_test_exercises_what_it_calls() {
    let mut rows = Rows::default();
    rows.file("CMakeLists.txt").file("lib.h");
    rows.function(EntityKind::FunctionDefinition, "solve", "()");
    rows.file("One.cpp");
    let one = rows.function(EntityKind::FunctionDefinition, "main", "()");
    rows.file("Two.cpp");
    let two = rows.function(EntityKind::FunctionDefinition, "main", "()");
    for (file, main) in [("One.cpp", &one), ("Two.cpp", &two)] {
        rows.include(file, "\"lib.h\"").call(main, "solve", 0);
    }
    with_function(&mut rows);
    commands(&mut rows, "CMakeLists.txt", "", &["add_unit(One)", "add_unit(Two SERIAL)"]);
    assert_eq!(rows.edges(EdgeKind::Tests), ["One.cpp:main -> lib.h:solve"]);
}

#[test]
fn options_decide_what_stands_below_their_conditions() {
    let mut rows = Rows::default();
    rows.file("CMakeLists.txt");
    let gpu = rows.add(EntityKind::BuildOption, "USE_GPU");
    let core = rows.add(EntityKind::BuildTarget, "core");
    let extra = rows.add(EntityKind::BuildTarget, "extra");
    rows.file("gpu.cu.cpp").file("cpu.cpp").file("gpu/CMakeLists.txt");
    let path = "CMakeLists.txt";
    command(&mut rows, path, &gpu, "option(USE_GPU \"Use it\" OFF)");
    command(&mut rows, path, &core, "add_library(core)");
    commands(
        &mut rows,
        path,
        "",
        &[
            "if(USE_GPU AND NOT WIN32)",
            "target_sources(core PRIVATE gpu.cu.cpp)",
            "add_subdirectory(gpu)",
            "else()",
            "target_sources(core PRIVATE cpu.cpp)",
        ],
    );
    command(&mut rows, path, &extra, "add_library(extra)");
    command(&mut rows, path, "", "endif()");
    assert_eq!(
        labelled(&rows, EdgeKind::Configures),
        [
            "CMakeLists.txt:USE_GPU -> CMakeLists.txt:extra 'else of if(USE_GPU AND NOT WIN32)' CMakeLists.txt:6",
            "CMakeLists.txt:USE_GPU -> file:cpu.cpp 'else of if(USE_GPU AND NOT WIN32)' CMakeLists.txt:6",
            "CMakeLists.txt:USE_GPU -> file:gpu.cu.cpp 'if(USE_GPU AND NOT WIN32)' CMakeLists.txt:3",
            "CMakeLists.txt:USE_GPU -> file:gpu/CMakeLists.txt 'if(USE_GPU AND NOT WIN32)' CMakeLists.txt:3",
        ]
    );
}

/// A conditional of the preprocessor in an entity.
fn guard(rows: &mut Rows, path: &str, owner: &str, name: &str, written: &str) {
    rows.references.push(Reference {
        path: path.to_owned(),
        entity_id: owner.to_owned(),
        kind: ReferenceKind::Guard,
        name: name.to_owned(),
        written: written.to_owned(),
        line: 7,
        ..Reference::default()
    });
}

#[test]
fn macros_lead_back_to_who_defines_them() {
    let mut rows = Rows::default();
    rows.file("CMakeLists.txt");
    let mpi = rows.add(EntityKind::BuildOption, "USE_MPI");
    rows.add(EntityKind::BuildOption, "USE_LOG");
    rows.add(EntityKind::BuildOption, "USE_FFT");
    let core = rows.add(EntityKind::BuildTarget, "core");
    rows.file("a.cpp").file("config.h.in");
    let send = rows.function(EntityKind::FunctionDefinition, "send", "()");
    rows.file("b.h");
    command(&mut rows, "CMakeLists.txt", &core, "add_library(core)");
    commands(
        &mut rows,
        "CMakeLists.txt",
        &mpi,
        &["if(USE_MPI)", "target_compile_definitions(core PUBLIC HAVE_MPI=1 $<$<BOOL:X>:FAST>)", "endif()"],
    );
    guard(&mut rows, "config.h.in", &send, "HAVE_MPI", "#ifdef HAVE_MPI");
    guard(&mut rows, "config.h.in", "", "USE_LOG", "#cmakedefine USE_LOG");
    guard(&mut rows, "b.h", "", "USE_LOG", "#if defined(USE_LOG)");
    // Nobody hands it to the compiler.
    guard(&mut rows, "b.h", "", "USE_FFT", "#ifdef USE_FFT");
    guard(&mut rows, "b.h", "", "_OPENMP", "#ifdef _OPENMP");
    assert_eq!(
        labelled(&rows, EdgeKind::Configures),
        [
            "CMakeLists.txt:USE_FFT -> file:b.h (name) '#ifdef USE_FFT' b.h:7",
            "CMakeLists.txt:USE_LOG -> file:b.h '#if defined(USE_LOG)' b.h:7",
            "CMakeLists.txt:USE_LOG -> file:config.h.in '#cmakedefine USE_LOG' config.h.in:7",
            "CMakeLists.txt:USE_MPI -> config.h.in:send '#ifdef HAVE_MPI' config.h.in:7",
            "CMakeLists.txt:core -> config.h.in:send '#ifdef HAVE_MPI' config.h.in:7",
        ]
    );
}

#[test]
fn a_build_that_never_ends_is_followed_for_a_while() {
    let mut rows = Rows::default();
    rows.file("CMakeLists.txt");
    let wrap = rows.add(EntityKind::BuildFunction, "wrap");
    rows.with(|entity| "function(wrap)".clone_into(&mut entity.signature));
    commands(
        &mut rows,
        "CMakeLists.txt",
        &wrap,
        &["set(X \"${X}${X};x\")", "foreach(i ${X})", "wrap(${X} ${X})", "wrap()", "endforeach()"],
    );
    commands(
        &mut rows,
        "CMakeLists.txt",
        "",
        &["wrap(a)", "endforeach()", "endif()", "else()", "set()", "list()"],
    );
    assert_eq!(rows.edges(EdgeKind::Builds), Vec::<String>::new());
}

#[test]
fn variables_reach_where_cmake_lets_them() {
    let mut rows = Rows::default();
    rows.file("CMakeLists.txt");
    let add_program = rows.add(EntityKind::BuildFunction, "add_program");
    rows.with(|entity| {
        "name".clone_into(&mut entity.parameters);
        "macro(add_program name)".clone_into(&mut entity.signature);
    });
    let wrap = rows.add(EntityKind::BuildFunction, "wrap");
    rows.with(|entity| {
        "out".clone_into(&mut entity.parameters);
        "function(wrap out)".clone_into(&mut entity.signature);
    });
    for file in ["a.cpp", "b.cpp", "c.cpp", "d.cpp", "deep/e.cpp"] {
        rows.file(file);
    }
    let path = "CMakeLists.txt";
    // A macro sets where it is called; a function hands over.
    commands(&mut rows, path, &add_program, &["set(MADE ${name}.cpp ${ARGN})"]);
    commands(
        &mut rows,
        path,
        &wrap,
        &["set(HIDDEN c.cpp)", "set(${out} b.cpp PARENT_SCOPE)", "set(EVERYWHERE d.cpp CACHE INTERNAL \"\")"],
    );
    commands(
        &mut rows,
        path,
        "",
        &[
            "set(EVERYWHERE c.cpp)",
            "unset(EVERYWHERE)",
            "add_program(a)",
            "wrap(GIVEN)",
            "list(TRANSFORM LATER PREPEND deep/)",
            "set(NAMES e)",
            "list(TRANSFORM NAMES PREPEND deep/ OUTPUT_VARIABLE LATER)",
            "foreach(one IN LISTS MADE GIVEN LATER)",
            "get_filename_component(stem ${one} NAME_WE)",
            "string(TOUPPER ${stem} upper)",
            "add_executable(${upper} ${one} ${LATER}.cpp ${HIDDEN})",
            "endforeach()",
        ],
    );
    let labels: Vec<(String, String)> = rows
        .build()
        .edges
        .into_iter()
        .filter(|edge| edge.kind == EdgeKind::Builds)
        .map(|edge| (edge.target, edge.label))
        .collect();
    let expected = [("file:a.cpp", "A"), ("file:b.cpp", "B"), ("file:deep/e.cpp", "A")];
    assert_eq!(labels, expected.map(|(file, name)| (file.to_owned(), name.to_owned())));
}

#[test]
fn what_a_condition_leaves_open_is_followed_both_ways() {
    let mut rows = Rows::default();
    rows.file("CMakeLists.txt").file("a.cpp").file("b.cpp").file("c.cpp").file("d.cpp");
    commands(
        &mut rows,
        "CMakeLists.txt",
        "",
        &[
            "set(SOURCES a.cpp)",
            "if(WIN32)",
            "list(APPEND SOURCES b.cpp)",
            "else()",
            "list(APPEND SOURCES c.cpp)",
            "endif()",
            "if(FALSE)",
            "list(APPEND SOURCES d.cpp)",
            "endif()",
            "if(1 OR (X))",
            "add_executable(run ${SOURCES})",
            "endif()",
        ],
    );
    assert_eq!(
        rows.edges(EdgeKind::Builds),
        [
            "file:CMakeLists.txt -> file:a.cpp",
            "file:CMakeLists.txt -> file:b.cpp",
            "file:CMakeLists.txt -> file:c.cpp"
        ]
    );
}

#[test]
fn links_lead_through_aliases_to_targets_made_later() {
    let mut rows = Rows::default();
    rows.file("CMakeLists.txt");
    let run = rows.add(EntityKind::BuildTarget, "run");
    let alias = rows.add(EntityKind::BuildTarget, "Core::core");
    rows.with(|entity| "Core::core".clone_into(&mut entity.name));
    let core = rows.add(EntityKind::BuildTarget, "core");
    let path = "CMakeLists.txt";
    command(&mut rows, path, &run, "add_executable(run)");
    command(&mut rows, path, "", "target_link_libraries(run PRIVATE Core::core Kokkos::kokkos -lm)");
    command(&mut rows, path, &core, "add_library(core)");
    command(&mut rows, path, &alias, "add_library(Core::core ALIAS core)");
    assert_eq!(
        rows.edges(EdgeKind::Builds),
        ["CMakeLists.txt:Core::core -> CMakeLists.txt:core", "CMakeLists.txt:run -> CMakeLists.txt:core"]
    );
}
