//! What documents name, and what tests are named after.

use crate::rows::Rows;
use almanac_tables::{ArtifactRole, EdgeKind, EntityKind, Reference, ReferenceKind};

/// Adds a mention with its markup.
fn mention(rows: &mut Rows, path: &str, owner: &str, written: &str) {
    let bare = written.trim_matches('`').trim_start_matches("-D").trim_end_matches("()");
    rows.references.push(Reference {
        path: path.to_owned(),
        entity_id: owner.to_owned(),
        kind: ReferenceKind::Mention,
        name: bare.to_owned(),
        written: written.to_owned(),
        line: rows.references.len() as u32 + 1,
        ..Reference::default()
    });
}

/// A small tree, and a guide with a section.
fn tree() -> (Rows, String) {
    let mut rows = Rows::default();
    rows.file("CMakeLists.txt").add(EntityKind::BuildOption, "PIC_MPI");
    rows.file("src/Field/Field.h").open(EntityKind::Namespace, "pic");
    rows.open(EntityKind::Class, "pic::Field");
    rows.function(EntityKind::MethodDeclaration, "pic::Field::fill", "()");
    rows.function(EntityKind::MethodDeclaration, "pic::Field::apply", "()");
    rows.function(EntityKind::MethodDeclaration, "pic::Field::apply", "(int)");
    rows.close().open(EntityKind::Class, "pic::HaloField");
    rows.with(|entity| {
        entity.bases = vec!["Field".to_owned()];
        "class HaloField : public Field".clone_into(&mut entity.signature);
    });
    rows.close().open(EntityKind::Class, "pic::Layout");
    rows.function(EntityKind::MethodDeclaration, "pic::Layout::fill", "()");
    rows.close().close();
    rows.file("test/Field.h").add(EntityKind::Class, "Field");
    rows.files.last_mut().expect("a file").role = ArtifactRole::Test;
    rows.with(|entity| entity.role = ArtifactRole::Test);
    rows.file("docs/guide.md");
    let section = rows.add(EntityKind::Section, "Guide");
    (rows, section)
}

/// What one mention leads to.
fn documented(written: &str) -> Vec<String> {
    let (mut rows, section) = tree();
    mention(&mut rows, "docs/guide.md", &section, written);
    let edges = rows.edges(EdgeKind::Documents);
    edges
        .iter()
        .map(|edge| edge.strip_prefix("docs/guide.md:Guide -> ").expect("the section").to_owned())
        .collect()
}

#[test]
fn qualified_names_mean_what_ends_with_them() {
    assert_eq!(documented("`Field::fill`"), ["src/Field/Field.h:pic::Field::fill"]);
    assert_eq!(documented("pic::Field"), ["src/Field/Field.h:pic::Field"]);
    assert_eq!(
        documented("`Field::apply`"),
        [
            "src/Field/Field.h:pic::Field::apply (overload_set, 1 of 2)",
            "src/Field/Field.h:pic::Field::apply#2 (overload_set, 1 of 2)"
        ]
    );
    // A member of the base class.
    assert_eq!(documented("`HaloField::fill`"), ["src/Field/Field.h:pic::Field::fill"]);
    for elsewhere in ["std::Field", "`Other::fill`", "Field::nothing"] {
        assert!(documented(elsewhere).is_empty(), "{elsewhere}");
    }
}

#[test]
fn single_names_count_as_far_as_they_are_marked() {
    // That of the product rather than that of a test.
    assert_eq!(documented("`Field`"), ["src/Field/Field.h:pic::Field (name)"]);
    assert_eq!(documented("HaloField"), ["src/Field/Field.h:pic::HaloField (name)"]);
    // Of two classes: no one knows which.
    assert!(documented("`fill()`").is_empty());
    assert_eq!(documented("-DPIC_MPI"), ["CMakeLists.txt:PIC_MPI"]);
    assert_eq!(documented("PIC_MPI"), ["CMakeLists.txt:PIC_MPI"]);
    assert!(documented("-DPIC_FFT").is_empty());
}

#[test]
fn paths_are_files_and_folders() {
    assert_eq!(documented("`src/Field/Field.h`"), ["file:src/Field/Field.h"]);
    assert_eq!(documented("../src/Field"), ["module:src/Field"]);
    assert_eq!(documented("src/Field/"), ["module:src/Field"]);
    assert_eq!(
        documented("Field.h"),
        ["file:src/Field/Field.h (name, 1 of 2)", "file:test/Field.h (name, 1 of 2)"]
    );
    assert!(documented("client/server").is_empty() && documented("guide.md").is_empty());
}

#[test]
fn many_mentions_are_one_edge_that_counts() {
    let (mut rows, section) = tree();
    for _ in 0..10_000 {
        mention(&mut rows, "docs/guide.md", &section, "`Field::fill`");
        mention(&mut rows, "docs/guide.md", &section, "`Field::none`");
    }
    let edges = rows.build().edges;
    let found: Vec<u32> =
        edges.iter().filter(|edge| edge.kind == EdgeKind::Documents).map(|edge| edge.count).collect();
    assert_eq!(found, [10_000]);
}

#[test]
fn an_old_manual_says_less() {
    let (mut rows, section) = tree();
    rows.files.last_mut().expect("the guide").role = ArtifactRole::Obsolete;
    mention(&mut rows, "docs/guide.md", &section, "`Field::fill`");
    let edges = rows.build().edges;
    let edge = edges.iter().find(|edge| edge.kind == EdgeKind::Documents).expect("an edge");
    assert_eq!((edge.resolution.as_str(), edge.confidence), ("name", 0.5));
}

#[test]
fn files_of_tests_are_named_after_what_they_test() {
    let mut rows = Rows::default();
    rows.file("src/ParticleBC.h").open(EntityKind::Class, "ParticleBC");
    rows.close().file("src/ParticleBC.hpp");
    rows.file("src/Other.h").add(EntityKind::Class, "Cos");
    for test in ["test/test_particle_bc.cpp", "test/TestOther.cpp", "test/TestCos.cpp"] {
        rows.file(test);
        rows.files.last_mut().expect("a file").role = ArtifactRole::Test;
    }
    rows.include("test/test_particle_bc.cpp", "\"ParticleBC.h\"");
    // `TestOther` does not see `Other.h`, and `Cos` may be anything.
    rows.include("test/TestCos.cpp", "\"Other.h\"");
    assert_eq!(
        rows.edges(EdgeKind::Tests),
        [
            "file:test/test_particle_bc.cpp -> file:src/ParticleBC.h (name)",
            "file:test/test_particle_bc.cpp -> src/ParticleBC.h:ParticleBC (name)",
        ]
    );
}

#[test]
fn tests_exercise_what_they_and_their_helpers_use() {
    let mut rows = Rows::default();
    rows.file("src/solver.h");
    rows.function(EntityKind::FunctionDefinition, "solve", "()");
    rows.function(EntityKind::FunctionDefinition, "setup", "()");
    rows.file("test/cases.cpp");
    rows.files.last_mut().expect("a file").role = ArtifactRole::Test;
    let mut test = |kind, name: &str| {
        let id = rows.function(kind, name, "()");
        rows.with(|entity| entity.role = ArtifactRole::Test);
        id
    };
    let helper = test(EntityKind::FunctionDefinition, "prepare");
    let case = test(EntityKind::TestCase, "Solver.Solves");
    let idle = test(EntityKind::TestCase, "Solver.Idles");
    rows.include("test/cases.cpp", "\"solver.h\"");
    rows.call(&helper, "setup", 0).call(&case, "prepare", 0).call(&case, "solve", 0);
    rows.call(&idle, "missing", 0);
    let edges = rows.build().edges;
    let found: Vec<(String, f32)> = edges
        .iter()
        .filter(|edge| edge.kind == EdgeKind::Tests)
        .map(|edge| (format!("{} -> {}", edge.source, edge.target), edge.confidence))
        .collect();
    let expected = [
        ("test/cases.cpp:Solver.Solves -> src/solver.h:setup".to_owned(), 0.8),
        ("test/cases.cpp:Solver.Solves -> src/solver.h:solve".to_owned(), 1.0),
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_documents_and_tests_name_is_no_more_central_for_it() {
    let (mut rows, section) = tree();
    let before = rows.build().ranks;
    for written in ["`Field::fill`", "src/Field", "PIC_MPI"] {
        mention(&mut rows, "docs/guide.md", &section, written);
    }
    assert_eq!(rows.edges(EdgeKind::Documents).len(), 3);
    assert_eq!(rows.build().ranks, before);
}
