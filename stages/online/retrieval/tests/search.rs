//! A small library in memory, built, opened and asked.

use std::path::Path;

use almanac_lookup::{SearchIndex, Tables, build};
use almanac_retrieval::{Error, Intent, RetrievalSettings, Role, SearchResult, estimate_tokens, search};
use almanac_tables::{
    ArtifactRole, Edge, EdgeKind, Entity, EntityKind, File, Language, Resolution, SourceType, Text,
};

const GRID_H: &str = "\
// A regular grid of cells with ghost layers around it.
#pragma once

namespace pic {
    /// Holds the cells that one process owns.
    class Grid {
    public:
        double spacing(int axis) const;
        void fillGhosts();
    };
}
";

const GRID_CPP: &str = "\
#include \"Grid.h\"

namespace pic {
    double Grid::spacing(int axis) const {
        return length[axis] / cells[axis];
    }

    void Grid::fillGhosts() {
        exchangeLayers(neighbours);
    }
}
";

const SOLVER_H: &str = "\
// Solves the electrostatic potential with multigrid.
#pragma once

namespace pic {
    /// Smoother of the multigrid cycle.
    void relax(Grid& grid) {
        sweep(grid);
    }

    /// One multigrid cycle for the potential.
    void solvePotential(Grid& grid) {
        relax(grid);
        relax(grid);
    }
}
";

const TEST_CPP: &str = "\
#include \"Solver.h\"

TEST(Solver, Potential) {
    pic::Grid grid;
    pic::solvePotential(grid);
    // multigrid potential multigrid potential multigrid potential
}
";

fn long_function() -> String {
    let mut text = String::from("namespace pic {\nvoid longFunction() {\n");
    for number in 0..600 {
        text.push_str(&format!("    accumulate(buffer, {number});\n"));
        if number == 431 {
            text.push_str("    quenchMagnet(buffer);\n");
        }
    }
    text.push_str("}\n}\n");
    text
}

struct Project {
    tables: Tables,
}

impl Project {
    fn file(&mut self, path: &str, text: &str, role: ArtifactRole) -> &mut Self {
        self.tables.files.push(File {
            path: path.to_owned(),
            language: Language::Cpp,
            source_type: SourceType::Header,
            role,
            lines: text.lines().count() as u32,
            ..File::default()
        });
        self.tables.texts.push(Text { path: path.to_owned(), text: text.to_owned() });
        self
    }

    fn entity(&mut self, id: &str, kind: EntityKind, name: &str, first: &str, last: &str) -> &mut Self {
        let file = self.tables.files.last().expect("a file comes first").clone();
        let text = &self.tables.texts.last().expect("a file comes first").text;
        let start = text.find(first).unwrap_or_else(|| panic!("{first} in {}", file.path));
        let end = start + text[start..].find(last).expect("the end follows") + last.len();
        let line = |at: usize| text[..at].matches('\n').count() as u32 + 1;
        self.tables.entities.push(Entity {
            id: id.to_owned(),
            path: file.path,
            kind,
            name: name.rsplit("::").next().unwrap_or(name).to_owned(),
            qualified_name: name.to_owned(),
            signature: first.to_owned(),
            start_line: line(start),
            end_line: line(end),
            start_byte: start as u64,
            end_byte: end as u64,
            role: file.role,
            is_definition: kind != EntityKind::MethodDeclaration,
            ..Entity::default()
        });
        self
    }
}

fn project() -> Tables {
    use EntityKind::{Class, FunctionDefinition, MethodDeclaration, MethodDefinition, TestCase};
    let mut project = Project { tables: Tables::default() };
    project
        .file("src/Grid.cpp", GRID_CPP, ArtifactRole::Library)
        .entity("spacing", MethodDefinition, "pic::Grid::spacing", "double Grid::spacing", "    }")
        .entity("ghosts", MethodDefinition, "pic::Grid::fillGhosts", "void Grid::fillGhosts", "    }")
        .file("src/Grid.h", GRID_H, ArtifactRole::Library)
        .entity("grid", Class, "pic::Grid", "class Grid {", "};")
        .entity("declared", MethodDeclaration, "pic::Grid::spacing", "double spacing", ";")
        .file("src/Long.h", &long_function(), ArtifactRole::Library)
        .entity("long", FunctionDefinition, "pic::longFunction", "void longFunction()", "\n}")
        .file("src/Solver.h", SOLVER_H, ArtifactRole::Library)
        .entity("relax", FunctionDefinition, "pic::relax", "void relax", "    }")
        .entity("solve", FunctionDefinition, "pic::solvePotential", "void solvePotential", "    }")
        .file("test/SolverTest.cpp", TEST_CPP, ArtifactRole::Test)
        .entity("case", TestCase, "Solver.Potential", "TEST(Solver", "\n}");
    let mut tables = project.tables;
    tables.edges = vec![Edge {
        kind: EdgeKind::Calls,
        source: "solve".to_owned(),
        target: "relax".to_owned(),
        resolution: Resolution::Exact,
        confidence: 1.0,
        count: 2,
        ..Edge::default()
    }];
    tables
}

fn settings() -> RetrievalSettings {
    #[derive(serde::Deserialize)]
    struct Defaults {
        retrieval: RetrievalSettings,
    }
    let text = include_str!("../../../../config/defaults.toml");
    toml::from_str::<Defaults>(text).expect("the defaults hold every setting").retrieval
}

fn opened(folder: &Path) -> SearchIndex {
    let tables = project();
    build(&tables, &[], folder).unwrap();
    SearchIndex::open(tables, folder).unwrap()
}

fn ask(question: &str) -> SearchResult {
    let folder = tempfile::tempdir().unwrap();
    search(&opened(folder.path()), None, question, &settings(), &estimate_tokens).unwrap()
}

#[test]
fn a_named_file_is_first_and_shows_its_text() {
    let found = ask("What is Grid.h for?");
    assert_eq!(found.intent, Intent::FilePurpose);
    assert_eq!(found.files[0], "src/Grid.h");
    assert!(found.context.contains("Holds the cells that one process owns"), "{}", found.context);
}

#[test]
fn header_and_implementation_come_together() {
    let found = ask("How does the Grid class fill its ghost layers?");
    for path in ["src/Grid.h", "src/Grid.cpp"] {
        assert!(found.files.iter().any(|file| file == path), "{path} not in {:?}", found.files);
    }
    assert!(found.context.contains("exchangeLayers(neighbours)"));
}

#[test]
fn lines_of_a_chunk_are_those_of_the_file() {
    let found = ask("Where is solvePotential implemented?");
    let chunk = found.chunks.iter().find(|chunk| chunk.symbol == "pic::solvePotential").unwrap();
    // The comment above belongs to it.
    assert_eq!((chunk.path.as_str(), chunk.start_line, chunk.end_line), ("src/Solver.h", 10, 14));
    assert_eq!(found.intent, Intent::LocationLookup);
}

#[test]
fn the_tests_of_a_symbol_rank_below_it_unless_they_are_asked_for() {
    let place = |found: &SearchResult, path: &str| found.files.iter().position(|file| file == path);
    let code = ask("Where is the multigrid cycle for the potential implemented?");
    assert_eq!(place(&code, "src/Solver.h"), Some(0), "{:?}", code.files);
    let tests = ask("Which test covers the multigrid potential?");
    assert_eq!(tests.intent, Intent::Testing);
    assert_eq!(place(&tests, "test/SolverTest.cpp"), Some(0), "{:?}", tests.files);
}

#[test]
fn the_graph_adds_what_a_primary_chunk_calls() {
    let folder = tempfile::tempdir().unwrap();
    let index = opened(folder.path());
    let mut settings = settings();
    settings.selection.files = 1;
    // Room for one chunk; the rest of the budget is the graph's.
    settings.selection.primary_share = 0.04;
    settings.budget_tokens = 3_000;
    let found = search(&index, None, "solvePotential", &settings, &estimate_tokens).unwrap();
    let relax = found.chunks.iter().find(|chunk| chunk.symbol == "pic::relax");
    assert_eq!(relax.map(|chunk| chunk.role), Some(Role::Structural), "{:?}", found.chunks);
    settings.structural = false;
    let without = search(&index, None, "solvePotential", &settings, &estimate_tokens).unwrap();
    assert!(without.chunks.iter().all(|chunk| chunk.role != Role::Structural));
}

#[test]
fn a_long_function_keeps_its_signature_and_the_lines_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    let index = opened(folder.path());
    let mut settings = settings();
    settings.budget_tokens = 1_000;
    let question = "How is the magnet quenched?";
    let found = search(&index, None, question, &settings, &estimate_tokens).unwrap();
    let chunk = found.chunks.iter().find(|chunk| chunk.symbol == "pic::longFunction").unwrap();
    assert!(chunk.cut && chunk.shown.len() > 1, "{:?}", chunk.shown);
    assert!(found.context.contains("void longFunction() {"), "{}", found.context);
    assert!(found.context.contains("quenchMagnet(buffer);"));
    assert!(found.context.contains("left out]"));
}

#[test]
fn the_budget_is_never_exceeded() {
    let folder = tempfile::tempdir().unwrap();
    let index = opened(folder.path());
    let mut settings = settings();
    // A counter that is not linear in the characters, as tokenizers are not.
    let count = |text: &str| text.split_whitespace().count() * 2 + text.matches(['(', ';', '{']).count();
    for budget in [100, 150, 250, 400, 1_000, 4_000] {
        settings.budget_tokens = budget;
        for question in ["What is Long.h for?", "How does the grid work?", "longFunction accumulate"] {
            let found = search(&index, None, question, &settings, &count).unwrap();
            assert!(found.context_tokens <= budget, "{budget}: {}", found.context_tokens);
            assert_eq!(found.context_tokens, count(&found.context));
        }
    }
    settings.budget_tokens = 20;
    assert!(matches!(search(&index, None, "grid", &settings, &count), Err(Error::Budget { budget: 20, .. })));
}

#[test]
fn what_is_not_there_is_said_to_be_missing() {
    let found = ask("How are neutrino oscillations simulated?");
    assert!(!found.evidence);
    assert_eq!(found.unknown_words, ["neutrino", "oscillations", "simulated"]);
    assert!(ask("How does the multigrid cycle relax the potential?").evidence);
}

#[test]
fn the_namespace_of_everything_is_no_name() {
    // `pic` holds all of the code: it must not pull in whatever carries it.
    let with = ask("Where does pic fill ghosts?");
    let without = ask("Where does it fill ghosts?");
    assert_eq!(with.files[0], without.files[0]);
    assert!(with.chunks.iter().all(|chunk| !chunk.reasons.iter().any(|why| why.contains("symbol"))));
}

/// The library with what builds, tests, documents and records it; each speaks of the same things.
fn project_with_its_build() -> Tables {
    use ArtifactRole::{Build, Ci, Documentation, Test};
    let mut project = Project { tables: Tables::default() };
    let history =
        "# 2.0\nGPU and CUDA support, installation and dependencies changed.\nCUDA, GPU, install.\n";
    let guide = "# Requirements\nA compiler and CUDA.\n\n# Installation\nmake install for GPU or not.\n";
    let options = "option(PIC_CUDA \"build for GPU\" OFF)\nfind_package(FFTW REQUIRED)\n";
    let tests =
        "option(PIC_CUDA_TESTS \"GPU tests\" OFF)\nfind_package(GTest REQUIRED)\n# GPU, CUDA, build\n";
    let workflow = "jobs:\n  gpu:\n    run: cmake --build . # CUDA, GPU\n";
    project
        .file(".github/workflows/gpu.yml", workflow, Ci)
        .file("CHANGELOG.md", history, Documentation)
        .file("CMakeLists.txt", options, Build)
        .file("INSTALL.md", guide, Documentation)
        .file(
            "src/Cuda.h",
            "// GPU build of CUDA kernels, installed\nvoid launchCuda();\n",
            ArtifactRole::Library,
        )
        .entity("launch", EntityKind::FunctionDeclaration, "launchCuda", "void launchCuda", ";")
        .file("test/CMakeLists.txt", tests, Build)
        .file("test/CudaTest.cpp", "TEST(Cuda, Gpu) {\n}\n", Test)
        .entity("case", EntityKind::TestCase, "Cuda.Gpu", "TEST(Cuda", "}");
    project.tables
}

#[test]
fn questions_about_building_find_guides_and_build_files_first() {
    let folder = tempfile::tempdir().unwrap();
    let tables = project_with_its_build();
    build(&tables, &[], folder.path()).unwrap();
    let index = SearchIndex::open(tables, folder.path()).unwrap();
    let files = |question: &str| {
        let found = search(&index, None, question, &settings(), &estimate_tokens).unwrap();
        assert_eq!(found.intent, Intent::BuildAndInstall, "{question}");
        found.files
    };
    let place =
        |files: &[String], path: &str| files.iter().position(|file| file == path).unwrap_or(usize::MAX);
    let gpu = files("How is a GPU build configured?");
    for earlier in ["CMakeLists.txt", "INSTALL.md"] {
        for later in ["CHANGELOG.md", "test/CMakeLists.txt", "src/Cuda.h", ".github/workflows/gpu.yml"] {
            assert!(place(&gpu, earlier) < place(&gpu, later), "{earlier} after {later}: {gpu:?}");
        }
    }
    // No word of the question is in these files; what build files call it is.
    let dependencies = files("Which third-party packages are its dependencies?");
    assert!(place(&dependencies, "CMakeLists.txt") < 3, "{dependencies:?}");
    assert!(place(&dependencies, "INSTALL.md") < 3, "{dependencies:?}");
    let ci = files("How is the GPU build run in continuous integration?");
    assert_eq!(place(&ci, ".github/workflows/gpu.yml"), 0, "{ci:?}");
}

#[test]
fn a_long_question_is_read_up_to_its_limit_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let index = opened(folder.path());
    let mut settings = settings();
    let ask = |question: &str, settings: &RetrievalSettings| {
        search(&index, None, question, settings, &estimate_tokens).unwrap()
    };
    let filler = "and then something else happened ".repeat(100);
    let question = format!("Where is solvePotential implemented? {filler} fillGhosts");
    let all = ask(&question, &settings);
    assert_eq!(all.words_left_out, 0);
    assert!(all.files.contains(&"src/Grid.cpp".to_owned()), "{:?}", all.files);
    settings.max_query_words = 4;
    let cut = ask(&question, &settings);
    assert_eq!(cut.words_left_out, 501);
    assert_eq!(cut.query, question);
    let short = ask("Where is solvePotential implemented?", &settings);
    assert_eq!(cut.context, short.context, "what is left out has no part in the search");
}

#[test]
fn questions_of_very_many_words_are_answered() {
    // Each word is new, names a file, joins into one path or chains into one scope: whoever compares
    // words with all other words does not come back from this.
    let folder = tempfile::tempdir().unwrap();
    let index = opened(folder.path());
    let mut settings = settings();
    settings.max_query_words = 100_000;
    for separator in [" ", "/", ".", "::", ".h "] {
        let words: Vec<String> = (0..30_000).map(|number| format!("Word{number}x")).collect();
        let found = search(&index, None, &words.join(separator), &settings, &estimate_tokens).unwrap();
        assert_eq!(found.words_left_out, 0);
        assert!(!found.evidence);
    }
    // One word of many parts, and one that is data.
    for word in ["aB".repeat(100), "aB".repeat(1_000_000), "x".repeat(3_000_000)] {
        assert!(!search(&index, None, &word, &settings, &estimate_tokens).unwrap().evidence);
    }
}

#[test]
fn the_same_question_gives_the_same_context() {
    let folder = tempfile::tempdir().unwrap();
    let index = opened(folder.path());
    let once = |_| search(&index, None, "grid ghosts", &settings(), &estimate_tokens).unwrap();
    let results: Vec<SearchResult> = (0..3).map(once).collect();
    assert!(results.iter().all(|found| found.context == results[0].context));
}

#[test]
fn an_empty_question_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let index = opened(folder.path());
    assert!(matches!(search(&index, None, "  ", &settings(), &estimate_tokens), Err(Error::EmptyQuery)));
    let odd = search(&index, None, "??? ::: ()", &settings(), &estimate_tokens).unwrap();
    assert!(odd.chunks.is_empty() && !odd.evidence);
}
