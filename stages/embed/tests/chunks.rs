//! What the chunks of a file and of summaries look like.

use std::collections::BTreeSet;

use almanac_embed::{Params, Sources, chunk_all};
use almanac_tables::{
    ArtifactRole, Chunk, Entity, EntityKind, EntityLevel, Explanation, File, Language, RecordStatus,
    SourceType, Summary, Text,
};

const DEFAULTS: &str = include_str!("../../../config/defaults.toml");

fn params() -> Params {
    let defaults: toml::Table = DEFAULTS.parse().unwrap();
    defaults["embed"]["params"].clone().try_into().unwrap()
}

const HEADER: &str = "\
#define PIC_ORDER 2
using Real = double;
namespace pic {
/// A regular grid with ghost cells on every side.
class Grid {
 public:
  /// Fills the ghost cells from the neighbours.
  void fillHalo();
  int size() const { return n_m; }
  double norm() const {
    double sum = 0;
    for (int i = 0; i < n_m; ++i) { sum += data_m[i] * data_m[i]; }
    return std::sqrt(sum);
  }
 private:
  int n_m;
};
enum class Side { Low, High };
}
";

struct Rows {
    entities: Vec<Entity>,
    texts: Vec<Text>,
}

fn entity(kind: EntityKind, name: &str, text: &str, from: &str, to: &str) -> Entity {
    let start = text.find(from).unwrap_or_else(|| panic!("no `{from}`"));
    let end = start + text[start..].find(to).unwrap() + to.len();
    let line = |at: usize| text[..at].matches('\n').count() as u32 + 1;
    Entity {
        id: format!("{kind}:{name}"),
        path: "src/Grid.h".into(),
        kind,
        name: name.into(),
        qualified_name: format!("pic::{name}"),
        parent: "pic".into(),
        signature: text[start..].split(" {").next().unwrap().to_owned(),
        start_byte: start as u64,
        end_byte: end as u64,
        start_line: line(start),
        end_line: line(end),
        is_definition: !kind.as_str().ends_with("declaration"),
        ..Entity::default()
    }
}

fn grid() -> Rows {
    use EntityKind as Kind;
    let of = |kind, name, from, to| entity(kind, name, HEADER, from, to);
    let mut class = of(Kind::Class, "Grid", "class Grid", "};");
    class.leading_comment = "A regular grid with ghost cells on every side.".into();
    let mut fill = of(Kind::MethodDeclaration, "fillHalo", "void fillHalo", ";");
    fill.leading_comment = "Fills the ghost cells from the neighbours.".into();
    Rows {
        entities: vec![
            of(Kind::Macro, "PIC_ORDER", "#define PIC_ORDER", "2"),
            of(Kind::Alias, "Real", "using Real", ";"),
            of(Kind::Namespace, "pic", "namespace pic", "\n}\n"),
            class,
            fill,
            of(Kind::MethodDefinition, "size", "int size()", "}"),
            of(Kind::MethodDefinition, "norm", "double norm()", "\n  }"),
            of(Kind::Field, "n_m", "int n_m", ";"),
            of(Kind::Enum, "Side", "enum class Side", "};"),
            of(Kind::Enumerator, "Low", "Low", "w"),
        ],
        texts: vec![Text { path: "src/Grid.h".into(), text: HEADER.into() }],
    }
}

fn chunks(rows: &Rows, explanations: &[Explanation], params: &Params) -> Vec<Chunk> {
    let sources =
        Sources { files: &[], texts: &rows.texts, entities: &rows.entities, explanations, summaries: &[] };
    chunk_all(&sources, params)
}

fn symbols(chunks: &[Chunk]) -> Vec<(&str, u32, u32)> {
    chunks.iter().map(|chunk| (chunk.symbol.as_str(), chunk.start_line, chunk.end_line)).collect()
}

#[test]
fn small_things_share_and_members_stay_with_their_class() {
    let chunks = chunks(&grid(), &[], &params());
    let expected =
        [("PIC_ORDER, Real", 1, 2), ("Grid", 5, 17), ("fillHalo", 8, 8), ("norm", 10, 14), ("Side", 18, 18)];
    assert_eq!(symbols(&chunks), expected);
    assert_eq!(
        chunks[1].text,
        "File: src/Grid.h\nSymbol: pic::Grid\nChunk Type: class\nParent Symbol: pic\n\
         Comment:\nA regular grid with ghost cells on every side.\nCode:\n\
         class Grid {\n public:\n  /// Fills the ghost cells from the neighbours.\n  void fillHalo();\n\
         \x20 int size() const { return n_m; }\n  double norm() const { ... }\n private:\n  int n_m;\n};"
    );
}

#[test]
fn an_explanation_is_in_the_first_part() {
    let explanation = Explanation {
        entity_id: "method_definition:norm".into(),
        text: "Role: the Euclidean norm.\nCode:\nnone".into(),
        ..Explanation::default()
    };
    let missing = Explanation {
        entity_id: "class:Grid".into(),
        status: RecordStatus::Missing,
        ..Explanation::default()
    };
    let params = Params { chunk_tokens: 60, ..params() };
    let chunks = chunks(&grid(), &[missing, explanation], &params);
    let norm: Vec<&Chunk> = chunks.iter().filter(|chunk| chunk.symbol == "norm").collect();
    assert_eq!(norm[0].explanation, "Role: the Euclidean norm.\n Code:\nnone");
    assert!(
        norm[0].text.contains(
            "Generated Explanation:\nRole: the Euclidean norm.\n Code:\nnone\nCode:\ndouble norm()"
        )
    );
    assert!(norm.len() > 1);
    for (at, part) in norm.iter().enumerate() {
        assert_eq!((part.part as usize, part.parts as usize), (at, norm.len()));
        assert!(part.text.starts_with("File: src/Grid.h\nSymbol: pic::norm\n"), "{}", part.text);
        assert!(at == 0 || part.explanation.is_empty());
    }
    assert!(chunks.iter().filter(|chunk| chunk.symbol == "Grid").all(|c| c.explanation.is_empty()));
}

/// Non-blank lines of every entity must be in a chunk whose range holds them.
fn assert_covered(rows: &Rows, chunks: &[Chunk]) {
    for (number, line) in (1..).zip(rows.texts[0].text.lines()) {
        let inside = rows.entities.iter().any(|entity| {
            entity.kind != EntityKind::Namespace && (entity.start_line..=entity.end_line).contains(&number)
        });
        let words: Vec<&str> = line.split_whitespace().collect();
        let found = chunks.iter().any(|chunk| {
            let body: Vec<&str> = chunk.text.split_whitespace().collect();
            (chunk.start_line..=chunk.end_line).contains(&number)
                && (words.is_empty() || body.windows(words.len()).any(|window| window == words))
        });
        assert!(!inside || words.is_empty() || found, "line {number} is lost: {line}");
    }
}

#[test]
fn all_code_is_in_some_chunk() {
    let rows = grid();
    for size in [20, 60, 100, 5000] {
        let params = Params { chunk_tokens: size, ..params() };
        let chunks = chunks(&rows, &[], &params);
        if size > 60 {
            assert_covered(&rows, &chunks);
        }
        let bodies: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
        for word in ["data_m[i];", "std::sqrt(sum);", "n_m;", "High", "PIC_ORDER"] {
            assert!(bodies.contains(word), "{word} with parts of {size}");
        }
    }
}

#[test]
fn a_long_function_is_embedded_to_its_last_line() {
    let body: String = (0..400).map(|i| format!("  field_m[{i}] = source_m[{i}] * weight_{i};\n")).collect();
    let text = format!("void assemble() {{\n{body}}}\n");
    let mut function = entity(EntityKind::FunctionDefinition, "assemble", &text, "void assemble", "\n}");
    function.leading_comment = "Assembles the right-hand side of the whole system.".into();
    let rows = Rows {
        entities: vec![function],
        texts: vec![Text { path: "src/Grid.h".into(), text: text.clone() }],
    };
    let params = params();
    let chunks = chunks(&rows, &[], &params);
    assert_covered(&rows, &chunks);
    assert_eq!((chunks[0].start_line, chunks.last().unwrap().end_line), (1, 402));
    for pair in chunks.windows(2) {
        assert_eq!(pair[0].end_line + 1, pair[1].start_line, "parts follow one another");
    }
    for chunk in &chunks {
        let words = chunk.text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        assert!(words.count() <= params.chunk_tokens, "{}", chunk.text);
    }
    assert_eq!(chunks.iter().filter(|chunk| chunk.text.contains("\nComment:\n")).count(), 1);
}

#[test]
fn ids_change_with_the_text_alone() {
    let (rows, params) = (grid(), params());
    let ids = |rows: &Rows| -> Vec<String> {
        chunks(rows, &[], &params).into_iter().map(|chunk| chunk.id).collect()
    };
    let before = ids(&rows);
    let mut moved = grid();
    moved.texts[0].text.insert_str(0, "// licence\n");
    for entity in &mut moved.entities {
        entity.start_byte += 11;
        entity.end_byte += 11;
        entity.start_line += 1;
        entity.end_line += 1;
    }
    assert_eq!(before, ids(&moved));
    moved.texts[0].text = moved.texts[0].text.replace("sum = 0", "sum = 1");
    let after = ids(&moved);
    assert_eq!(before.iter().zip(&after).filter(|(a, b)| a != b).count(), 1);
    assert!(before.iter().all(|id| id.len() == 20));
}

/// Which blocks of a thousand bytes of a file that is read as text have a chunk.
fn blocks(role: ArtifactRole, source_type: SourceType, text: &str) -> BTreeSet<usize> {
    let block = |start: usize| Entity {
        id: (start / 1000).to_string(),
        path: "run/file".into(),
        kind: EntityKind::TextBlock,
        language: Language::Text,
        role,
        source_type,
        start_byte: start as u64,
        end_byte: (start + 1000).min(text.len()) as u64,
        ..Entity::default()
    };
    let entities = (0..text.len()).step_by(1000).map(block).collect();
    let rows = Rows { entities, texts: vec![Text { path: "run/file".into(), text: text.into() }] };
    chunks(&rows, &[], &params()).iter().map(|chunk| chunk.subject.parse().unwrap()).collect()
}

#[test]
fn data_has_no_chunks_but_for_a_readable_beginning() {
    use ArtifactRole as Role;
    use SourceType as Type;
    let numbers = "0.125 3.5e-07 12 -4.75\n".repeat(200);
    let settings = "solver tolerance and maximum iterations\n".repeat(100);
    for role in [Role::Data, Role::Test, Role::Documentation] {
        assert!(blocks(role, Type::Configuration, &numbers).is_empty(), "{role}");
    }
    assert!(blocks(Role::Documentation, Type::Documentation, &numbers).is_empty());
    assert_eq!(blocks(Role::Data, Type::Configuration, &settings), [0, 1].into());
    assert_eq!(blocks(Role::Test, Type::Configuration, &settings), [0, 1, 2, 3].into());
    // Code in a language that is read as text stays, whatever it looks like.
    assert_eq!(blocks(Role::Library, Type::Source, &numbers).len(), 5);
}

#[test]
fn every_summary_that_tells_something_is_a_chunk() {
    let file = File { path: "src/Grid.h".into(), lines: 20, ..File::default() };
    let summary = |id: &str, level, title: &str, path: &str, module: &str, text: &str| Summary {
        id: id.into(),
        level,
        title: title.into(),
        path: path.into(),
        module: module.into(),
        facts: format!("facts of {id}"),
        text: text.into(),
        ..Summary::default()
    };
    let rows = grid();
    let chain = "chain:method_definition:norm";
    let summaries = [
        summary(chain, EntityLevel::CallChain, "pic::norm", "src/Grid.h", "src", "Workflow: norms."),
        // Its facts repeat what its symbol and the graph say.
        summary("chain:other", EntityLevel::CallChain, "pic::size", "src/Grid.h", "src", ""),
        summary("file:src/Grid.h", EntityLevel::File, "Grid.h", "src/Grid.h", "src", "Role: grid."),
        summary("module:src", EntityLevel::Module, "src", "", ".", ""),
    ];
    let sources = Sources {
        files: &[file],
        texts: &[],
        entities: &rows.entities,
        explanations: &[],
        summaries: &summaries,
    };
    let chunks = chunk_all(&sources, &params());
    let told: Vec<(EntityKind, &str, u32, u32, &str)> = chunks
        .iter()
        .map(|c| (c.kind, c.symbol.as_str(), c.start_line, c.end_line, c.base_name.as_str()))
        .collect();
    let expected = [
        (EntityKind::ModuleSummary, "src", 0, 0, "src"),
        (EntityKind::FileSummary, "Grid.h", 1, 20, "Grid"),
        (EntityKind::CallChainSummary, "norm", 10, 14, "Grid"),
    ];
    assert_eq!(told, expected);
    assert_eq!(chunks[1].explanation, "Role: grid.");
    assert_eq!(
        chunks[1].text,
        "File: src/Grid.h\nSymbol: Grid.h\nChunk Type: file_level\nParent Symbol: src\n\
         Generated Explanation:\nRole: grid.\nFacts:\nfacts of file:src/Grid.h"
    );
}
