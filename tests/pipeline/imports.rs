//! Texts that were generated elsewhere, imported into a store: what they are about, and what they spare.

use almanac_tables::{Chunk, Entity, Explanation, RecordStatus, Summary};
use almanac_tests::{Bench, RECORDS, built_bench};
use serde_json::{Value, json};

/// Two overloads, so that a line's own words must tell which it is about.
const OVERLOADS: &str = "\
namespace pico {
    inline double scale(double value) {
        const double doubled = value + value;
        return doubled > 100.0 ? 100.0 : doubled;
    }

    inline double scale(double value, int order) {
        double powered = 1.0;
        for (int i = 0; i < order; ++i) {
            powered *= value;
        }
        return powered;
    }

    inline double raised(double value) {
        const double squared = value * value;
        return squared > 100.0 ? 100.0 : squared;
    }

    inline double raised(double value, double factor, double offset) {
        const double multiplied = value * factor;
        return multiplied + offset;
    }
}
";

fn line(level: &str, path: &str, symbol: &str, parent: &str, kind: &str, text: &str) -> Value {
    json!({"level": level, "path": path, "symbol": symbol, "parent": parent, "chunk_type": kind,
           "module": "", "model": "elsewhere:14b", "explanation": text})
}

fn import(bench: &Bench, lines: &str) -> almanac_tests::Run {
    let file = bench.path("texts.jsonl");
    fs_err::write(&file, lines).unwrap();
    bench.run("almanac-explain", &["import", file.to_str().unwrap(), "--json"])
}

fn as_lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The explanation of the symbol whose first line holds these words.
fn explanation(bench: &Bench, path: &str, first_line: &str) -> Explanation {
    let source = fs_err::read_to_string(bench.tree().join(path)).unwrap();
    let number = 1 + source.lines().position(|line| line.contains(first_line)).unwrap() as u32;
    let entities: Vec<Entity> = bench.rows("sources");
    let entity = entities.iter().find(|entity| {
        // A template's entity begins with its header.
        let is_here = (entity.start_line..=entity.start_line + 1).contains(&number);
        entity.path == path && is_here && entity.kind.is_callable()
    });
    let id = &entity.unwrap_or_else(|| panic!("no symbol at {path}:{number}")).id;
    let rows: Vec<Explanation> = bench.rows("explanations");
    rows.into_iter().find(|row| row.entity_id == *id).unwrap()
}

fn summary(bench: &Bench, title: &str, path: &str) -> Summary {
    let rows: Vec<Summary> = bench.rows("summaries");
    rows.into_iter().find(|row| row.title == title && row.path == path).unwrap()
}

#[test]
fn imported_texts_stand_in_until_the_code_changes() {
    let bench = built_bench();
    fs_err::write(bench.tree().join("src/Field/Scale.hpp"), OVERLOADS).unwrap();
    bench.build(RECORDS, &["--until", "graph"]).exits(0);
    let conditions = "src/Field/BoundaryConditions.h";
    let field = "src/Field/Field.hpp";
    let lines = as_lines(&[
        // The method of another class has the same name, and each tool names classes in its own way.
        line(
            "function_level",
            conditions,
            "apply",
            "DirichletFace<FieldType>",
            "method_definition",
            "Mirrors `ghost` about `value_m`.",
        ),
        line(
            "symbol_level",
            conditions,
            "apply",
            "pico::ExtrapolateFace",
            "",
            "Copies `interior` into `ghost`.",
        ),
        line(
            "function_level",
            "src/Field/Scale.hpp",
            "scale",
            "",
            "function_definition",
            "Takes `value` to the power `order` in a loop.",
        ),
        // As many lines as overloads, in another order than theirs.
        line(
            "function_level",
            "src/Field/Scale.hpp",
            "raised",
            "",
            "",
            "Multiplies `value` by `factor` and adds `offset`.",
        ),
        line(
            "function_level",
            "src/Field/Scale.hpp",
            "raised",
            "",
            "",
            "Gives `squared`, made of `value` alone.",
        ),
        // The file has an `apply`, but none in that class.
        line("function_level", conditions, "apply", "PoissonSolver", "", "Nothing."),
        line("file_level", field, "Field.hpp", "source:Field", "file_level", "Bodies of the field class."),
        line("module_level", "source:Field", "Field", "", "module_level", "Fields and their ghosts."),
        line(
            "call_chain_level",
            field,
            "fillHalo",
            "Field",
            "call_chain_level",
            "Called before a stencil; calls `exchange` and `inventedHere`.",
        ),
        line("function_level", field, "notThere", "Field", "method_definition", "Nothing."),
    ]);
    let report = import(&bench, &lines).exits(0).json();
    assert_eq!((&report["lines"], &report["added"], &report["present"]), (&json!(10), &json!(8), &json!(0)));
    for (place, line, reason) in [(0, 6, "no such symbol in that class"), (1, 10, "no such symbol")] {
        let unmatched = &report["unmatched"][place];
        assert_eq!(unmatched["line"], line);
        assert!(unmatched["reason"].as_str().unwrap().ends_with(reason), "{unmatched}");
    }

    let asked = bench.made("explain");
    bench.build(RECORDS, &[]).exits(0);
    assert!(bench.made("explain") <= asked + u64::from(RECORDS), "an imported text is not generated");
    let mirrors = explanation(&bench, conditions, "void DirichletFace<FieldType>::apply");
    assert_eq!((mirrors.status, &*mirrors.text), (RecordStatus::Done, "Mirrors `ghost` about `value_m`."));
    assert_eq!((&*mirrors.model, mirrors.grounding), ("elsewhere:14b", Some(1.0)));
    assert!(mirrors.prompt.starts_with("imported "), "{}", mirrors.prompt);
    let copies = explanation(&bench, conditions, "void ExtrapolateFace<FieldType>::apply");
    assert_eq!(copies.text, "Copies `interior` into `ghost`.");
    let powers = explanation(&bench, "src/Field/Scale.hpp", "int order) {");
    assert_eq!(powers.text, "Takes `value` to the power `order` in a loop.");
    assert_ne!(
        explanation(&bench, "src/Field/Scale.hpp", "scale(double value) {").status,
        RecordStatus::Done
    );
    let multiplies = explanation(&bench, "src/Field/Scale.hpp", "double offset) {");
    assert_eq!(multiplies.text, "Multiplies `value` by `factor` and adds `offset`.");
    let squares = explanation(&bench, "src/Field/Scale.hpp", "raised(double value) {");
    assert_eq!(squares.text, "Gives `squared`, made of `value` alone.");
    assert_eq!(summary(&bench, "Field.hpp", field).text, "Bodies of the field class.");
    assert_eq!(summary(&bench, "src/Field", "").text, "Fields and their ghosts.");
    let chains: Vec<Summary> = bench.rows("summaries");
    let chain =
        chains.iter().find(|row| row.id.starts_with("chain:") && row.text.starts_with("Called before"));
    let chain = chain.unwrap();
    assert!(chain.title.ends_with("Field::fillHalo"), "{}", chain.title);
    assert_eq!((chain.grounding, &chain.ungrounded), (Some(0.5), &vec!["inventedHere".to_owned()]));
    // And they are searched.
    let chunks: Vec<Chunk> = bench.rows("embeddings");
    assert!(chunks.iter().any(|chunk| chunk.text.contains("Mirrors `ghost` about `value_m`.")));

    let again = import(&bench, &lines).exits(0).json();
    assert_eq!((&again["added"], &again["present"]), (&json!(0), &json!(8)));
    let built = bench.build(RECORDS, &[]).exits(0).json();
    assert_eq!(built["ran"], json!([]));

    bench.edit(conditions, "value_type(2) * value_m", "value_type(3) * value_m");
    bench.build(RECORDS, &["--until", "explain"]).exits(0);
    assert_ne!(
        explanation(&bench, conditions, "void DirichletFace<FieldType>::apply").status,
        RecordStatus::Done,
        "the text is about other code"
    );
    assert_eq!(
        explanation(&bench, conditions, "void ExtrapolateFace<FieldType>::apply").text,
        "Copies `interior` into `ghost`."
    );
    bench.build(RECORDS, &["--until", "explain", "--set", "explain.params.imported=false"]).exits(0);
    let unused = explanation(&bench, conditions, "void ExtrapolateFace<FieldType>::apply");
    assert_ne!(unused.text, "Copies `interior` into `ghost`.");
}

#[test]
fn a_file_with_a_fault_is_not_imported_at_all() {
    let bench = built_bench();
    let good = line("file_level", "src/Field/Field.hpp", "", "", "", "Bodies.").to_string();
    for (second, words) in [
        ("{\"level\": \"file_level\"", "texts.jsonl:2"),
        ("{\"level\": \"planet_level\", \"path\": \"a\", \"explanation\": \"b\"}", "planet_level"),
        ("{\"level\": \"file_level\", \"path\": \"a\"}", "missing field `explanation`"),
        (
            "{\"level\": \"file_level\", \"path\": \"a\", \"explanation\": \"  \"}",
            "texts.jsonl:2: the explanation is empty",
        ),
        ("[1, 2]", "texts.jsonl:2"),
    ] {
        let run = import(&bench, &format!("{good}\n{second}\n")).exits(65);
        assert!(run.stderr.contains(words), "{second}: {}", run.stderr);
    }
    // The beginning of an xz file, and no more.
    let file = bench.path("cut.xz");
    fs_err::write(&file, b"\xfd7zXZ\x00\x00\x04").unwrap();
    bench.run("almanac-explain", &["import", file.to_str().unwrap()]).exits(65);
    bench.run("almanac-explain", &["import", "nowhere.jsonl"]).exits(66);
    bench.run("almanac-entities", &["import", "nowhere.jsonl"]).exits(2);
    assert!(!bench.store().join("ledger/imported").exists());
}
