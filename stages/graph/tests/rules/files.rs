//! Includes, pairs and modules.

use crate::rows::Rows;
use almanac_tables::{EdgeKind, EntityKind};

fn includes(build: impl FnOnce(&mut Rows)) -> Vec<String> {
    let mut rows = Rows::default();
    build(&mut rows);
    rows.edges(EdgeKind::Includes)
}

#[test]
fn an_include_is_looked_up_beside_its_file_first() {
    let found = includes(|rows| {
        rows.file("src/Field/Field.h").file("src/Field/Halo.h").file("src/Halo.h");
        rows.include("src/Field/Field.h", "\"Halo.h\"").include("src/Field/Field.h", "\"../Halo.h\"");
    });
    assert_eq!(
        found,
        ["file:src/Field/Field.h -> file:src/Field/Halo.h", "file:src/Field/Field.h -> file:src/Halo.h"]
    );
}

#[test]
fn an_include_path_may_be_the_end_of_a_path() {
    let found = includes(|rows| {
        rows.file("src/Types/Vector.h").file("app/main.cpp");
        rows.include("app/main.cpp", "\"Types/Vector.h\"");
    });
    assert_eq!(found, ["file:app/main.cpp -> file:src/Types/Vector.h (name)"]);
}

#[test]
fn of_two_files_of_one_name_the_nearer_is_meant() {
    let found = includes(|rows| {
        rows.file("src/Manager/datatypes.h").file("alpine/datatypes.h").file("alpine/lib/run.cpp");
        rows.include("alpine/lib/run.cpp", "\"datatypes.h\"");
    });
    assert_eq!(found, ["file:alpine/lib/run.cpp -> file:alpine/datatypes.h (name)"]);
}

#[test]
fn equally_near_files_are_ambiguous() {
    let found = includes(|rows| {
        rows.file("a/config.h").file("b/config.h").file("c/run.cpp");
        rows.include("c/run.cpp", "\"config.h\"");
    });
    assert_eq!(
        found,
        [
            "file:c/run.cpp -> file:a/config.h (name, 1 of 2)",
            "file:c/run.cpp -> file:b/config.h (name, 1 of 2)"
        ]
    );
}

#[test]
fn system_headers_lead_nowhere_but_a_tree_may_include_itself_in_brackets() {
    let found = includes(|rows| {
        rows.file("core/src/Kokkos_Core.hpp").file("src/string.h").file("x.cpp");
        for written in ["<vector>", "<string.h>", "<mpi.h>", "<Kokkos_Core.hpp>"] {
            rows.include("x.cpp", written);
        }
    });
    assert_eq!(found, ["file:x.cpp -> file:core/src/Kokkos_Core.hpp (name)"]);
}

#[test]
fn cmake_files_include_modules_and_folders() {
    let found = includes(|rows| {
        rows.file("CMakeLists.txt").file("cmake/Options.cmake").file("src/CMakeLists.txt");
        rows.file("src/src/CMakeLists.txt");
        rows.include("CMakeLists.txt", "src");
        rows.include("src/CMakeLists.txt", "Options");
        rows.include("CMakeLists.txt", "${PROJECT_SOURCE_DIR}/cmake/Options.cmake");
        rows.include("CMakeLists.txt", "CTest");
    });
    assert_eq!(
        found,
        [
            "file:CMakeLists.txt -> file:cmake/Options.cmake",
            "file:CMakeLists.txt -> file:src/CMakeLists.txt",
            "file:src/CMakeLists.txt -> file:cmake/Options.cmake (name)"
        ]
    );
}

#[test]
fn python_files_import_modules_and_packages() {
    let found = includes(|rows| {
        rows.file("tools/plot.py").file("tools/energy.py").file("tools/lib/__init__.py").file("base.py");
        for written in ["energy", ".energy", "lib", "..base", "numpy"] {
            rows.include("tools/plot.py", written);
        }
    });
    assert_eq!(
        found,
        [
            "file:tools/plot.py -> file:base.py",
            "file:tools/plot.py -> file:tools/energy.py",
            "file:tools/plot.py -> file:tools/lib/__init__.py"
        ]
    );
}

#[test]
fn a_configured_header_comes_from_its_template() {
    let found = includes(|rows| {
        rows.file("src/Versions.h.in").file("src/main.cpp").include("src/main.cpp", "\"Versions.h\"");
    });
    assert_eq!(found, ["file:src/main.cpp -> file:src/Versions.h.in"]);
}

#[test]
fn a_header_pairs_with_the_bodies_of_its_stem() {
    let mut rows = Rows::default();
    rows.file("src/Field.h").file("src/Field.hpp").file("src/Field.cpp").file("other/Field.cpp");
    rows.file("include/Timer.h").file("src/Timer.cpp").file("src/Lone.hpp").file("src/Field.md");
    rows.include("src/Timer.cpp", "\"Timer.h\"");
    assert_eq!(
        rows.edges(EdgeKind::Pairs),
        [
            "file:include/Timer.h -> file:src/Timer.cpp (name)",
            "file:src/Field.h -> file:src/Field.cpp",
            "file:src/Field.h -> file:src/Field.hpp",
        ]
    );
}

#[test]
fn folders_are_modules_with_all_that_is_below_them() {
    let mut rows = Rows::default();
    rows.file("README.md").file("src/a/x.h").file("src/a/y.h").file("src/b/c/z.h");
    let modules = rows.build().modules;
    let shown: Vec<(&str, &str, usize, u32, String)> = modules
        .iter()
        .map(|m| (&*m.id, &*m.parent, m.files.len(), m.descendant_files, m.submodules.join(" ")))
        .collect();
    let expected = [
        ("module:.", "", 1, 4, "module:src"),
        ("module:src", "module:.", 0, 3, "module:src/a module:src/b"),
        ("module:src/a", "module:src", 2, 2, ""),
        ("module:src/b", "module:src", 0, 1, "module:src/b/c"),
        ("module:src/b/c", "module:src/b", 1, 1, ""),
    ];
    assert_eq!(shown, expected.map(|(a, b, c, d, e)| (a, b, c, d, e.to_owned())));
}

#[test]
fn namespaces_are_modules_over_files() {
    let mut rows = Rows::default();
    rows.file("a.h").open(EntityKind::Namespace, "pic");
    rows.add(EntityKind::Class, "pic::Mesh");
    rows.open(EntityKind::Namespace, "pic::detail");
    rows.add(EntityKind::Class, "pic::detail::Impl");
    rows.close().close();
    rows.file("b.h").open(EntityKind::Namespace, "pic::detail");
    rows.add(EntityKind::Class, "pic::detail::Other");
    rows.close();
    let modules = rows.build().modules;
    let namespaces: Vec<(&str, &str, String, u32)> = modules
        .iter()
        .filter(|module| module.id.starts_with("module:ns:"))
        .map(|m| (&*m.name, &*m.parent, m.files.join(" "), m.descendant_files))
        .collect();
    assert_eq!(
        namespaces,
        [("pic", "", "a.h".to_owned(), 2), ("pic::detail", "module:ns:pic", "a.h b.h".to_owned(), 2)]
    );
}
