//! What the fixture library's build makes, what its options decide, what its documents name and what
//! its tests exercise: read off its files by hand.

use almanac_tables::EdgeKind;

use crate::picolib::picolib;
use crate::source::Graph;

/// Edges of a kind as `source -> target @ file:line`, sorted.
fn found(graph: &Graph, kind: EdgeKind) -> Vec<String> {
    let show = |node: &str| graph.name(node).to_owned();
    let mut found: Vec<String> = graph
        .edges(kind)
        .map(|edge| format!("{} -> {} @ {}:{}", show(&edge.source), show(&edge.target), edge.path, edge.line))
        .collect();
    found.sort();
    found
}

#[test]
fn targets_are_made_from_their_sources_through_the_functions_of_the_tree() {
    assert_eq!(
        found(&picolib(), EdgeKind::Builds),
        [
            "file:CMakeLists.txt -> file:examples/two_stream/TwoStream.cpp @ CMakeLists.txt:13",
            "file:CMakeLists.txt -> file:src/CMakeLists.txt @ CMakeLists.txt:10",
            "file:CMakeLists.txt -> file:test/TestPic.cpp @ CMakeLists.txt:19",
            // `pico_add_program` links it for both.
            "file:CMakeLists.txt -> pico @ CMakeLists.txt:13",
            "pico -> file:src/Core/Communicator.cpp @ src/CMakeLists.txt:1",
            "pico -> file:src/Core/Timers.cpp @ src/CMakeLists.txt:1",
            "pico -> file:src/Particles/DepositKernel.cu @ src/CMakeLists.txt:7",
        ]
    );
}

#[test]
fn options_decide_about_sources_and_guarded_code() {
    let code = [
        ("file:src/Core/Communicator.cpp", 11),
        ("pico::Communicator::barrier", 35),
        ("pico::Communicator::abort", 42),
        ("pico::initialize", 51),
    ];
    let mut right = vec![
        "PICO_ENABLE_CUDA -> file:src/Particles/DepositKernel.cu @ src/CMakeLists.txt:5".to_owned(),
        "PICO_ENABLE_EXAMPLES -> file:examples/two_stream/TwoStream.cpp @ CMakeLists.txt:12".to_owned(),
        "PICO_ENABLE_TESTS -> file:test/TestPic.cpp @ CMakeLists.txt:17".to_owned(),
    ];
    // The option, and the target that hands the macro to the compiler.
    for (node, line) in code {
        for source in ["PICO_ENABLE_MPI", "pico"] {
            right.push(format!("{source} -> {node} @ src/Core/Communicator.cpp:{line}"));
        }
    }
    right.sort();
    assert_eq!(found(&picolib(), EdgeKind::Configures), right);
}

#[test]
fn documents_name_what_they_mark_and_nothing_else() {
    let graph = picolib();
    let of_file = |path: &str| -> Vec<String> {
        let edges = graph.edges(EdgeKind::Documents).filter(|edge| edge.path == path);
        let mut names: Vec<String> = edges.map(|edge| graph.name(&edge.target).to_owned()).collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(
        of_file("docs/boundary_conditions.rst"),
        [
            "pico::BoundaryConditions::set",
            "pico::Field::setBoundaryConditions",
            "pico::ParticleBoundary::Absorbing",
            "pico::ParticleBoundary::Periodic",
            "pico::Particles::update",
        ]
    );
    assert_eq!(
        of_file("docs/architecture.md"),
        [
            "TwoStreamManager",
            "pico::Attribute::gather",
            "pico::BoundaryConditions::apply",
            "pico::BoundaryConditions::assignGhostToInterior",
            "pico::Communicator",
            "pico::Communicator::gather",
            "pico::Field",
            "pico::Field::accumulateHalo",
            "pico::Field::fillHalo",
            "pico::Field::ghosts",
            "pico::Field::offset",
            "pico::IndexBox",
            "pico::Layout",
            "pico::detail::HaloExchange",
        ]
    );
    assert_eq!(
        of_file("docs/tutorial/first_steps.hpp"),
        [
            "pico::Comm",
            "pico::Field",
            "pico::Layout",
            "pico::Particles::addAttribute",
            "pico::Particles::create",
            "pico::PicManager",
            "pico::PicManager::run",
            "pico::UniformMesh",
        ]
    );
    // The old manual documents what is no more.
    assert!(of_file("manual/particles.tex").is_empty());
}

#[test]
fn tests_exercise_what_they_call_and_what_their_fixture_sets_up() {
    let graph = picolib();
    let of_test = |test: &str| -> Vec<(String, u32)> {
        let edges = graph.edges(EdgeKind::Tests).filter(|edge| graph.name(&edge.source) == test);
        let mut names: Vec<(String, u32)> =
            edges.map(|edge| (graph.name(&edge.target).to_owned(), edge.line)).collect();
        names.sort();
        names
    };
    let right = |list: &[(&str, u32)]| -> Vec<(String, u32)> {
        list.iter().map(|(name, line)| ((*name).to_owned(), *line)).collect()
    };
    assert_eq!(
        of_test("BorisPusher.RotationKeepsTheSpeed"),
        right(&[
            ("pico::BorisPusher", 87),
            ("pico::BorisPusher::BorisPusher", 87),
            ("pico::BorisPusher::rotate", 92),
            ("pico::Vector", 88),
            ("pico::Vector::Vector", 88),
            ("pico::Vector::norm", 90),
        ])
    );
    assert_eq!(
        of_test("PicTest.HaloOfAPeriodicFieldWrapsAround"),
        right(&[
            ("pico::Field", 32),
            ("pico::Field::Field", 32),
            ("pico::Field::fillHalo", 36),
            ("pico::Field::operator()", 34),
            ("pico::Field::ownedCell", 34),
            ("pico::Field::ownedCells", 33),
            // In `SetUp`.
            ("pico::Layout", 20),
            ("pico::Layout::Layout", 20),
            ("pico::initialize", 18),
        ])
    );
}
