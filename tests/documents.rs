//! Documents that are made from the types, kept true.
//!
//! `ALMANAC_TEST_REWRITE=1 cargo test --release -p almanac-tests --test documents` writes them anew.

use std::fmt::Write;

use almanac_artifact::Table;
use almanac_catalog::PIPELINE;
use almanac_tables::{
    Chunk, Edge, Embedding, EmbeddingRecord, Entity, Explanation, File, GenerationRecord, Local, Module,
    Rank, Reference, Resolved, Summary, Text,
};
use almanac_tests::repository_root;

const BEGIN: &str = "<!-- generated from the types; see tests/documents.rs -->";
const END: &str = "<!-- end of the generated part -->";

/// Compares the generated part of a document with what the types give, or rewrites it.
fn check(document: &str, generated: &str) {
    let path = repository_root().join(document);
    let text = fs_err::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once(BEGIN).expect("the document marks its generated part");
    let (present, tail) = rest.split_once(END).expect("the document marks its end");
    if std::env::var_os("ALMANAC_TEST_REWRITE").is_some() {
        fs_err::write(&path, format!("{head}{BEGIN}\n\n{generated}\n{END}{tail}")).unwrap();
    } else {
        assert_eq!(
            present.trim(),
            generated.trim(),
            "{document} is out of date: run with ALMANAC_TEST_REWRITE=1"
        );
    }
}

fn first_paragraph(doc: &str) -> String {
    doc.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn table<T: Table>(text: &mut String) {
    writeln!(text, "### `{}` (version {})\n", T::NAME, T::VERSION).unwrap();
    writeln!(text, "{} Sorted by `{}`.\n", first_paragraph(T::DOC), T::KEY.join("`, `")).unwrap();
    writeln!(text, "| column | type | null | meaning |\n|---|---|---|---|").unwrap();
    for column in T::columns() {
        let data_type = if column.data_type.starts_with("List") {
            let item = if column.data_type.contains("Float32") { "Float32" } else { "Utf8" };
            format!("List of {item}")
        } else {
            column.data_type
        };
        let null = if column.nullable { "yes" } else { "no" };
        let meaning = first_paragraph(column.doc).replace('|', "\\|");
        writeln!(text, "| `{}` | {data_type} | {null} | {meaning} |", column.name).unwrap();
    }
    text.push('\n');
}

#[test]
fn every_table_and_column_is_documented() {
    let mut text = String::new();
    for stage in PIPELINE {
        writeln!(text, "## `{}/` (written by `{}`)\n", stage.artifact, stage.binary()).unwrap();
        for written in stage.writes {
            match written.table {
                "files" => table::<File>(&mut text),
                "texts" => table::<Text>(&mut text),
                "entities" => table::<Entity>(&mut text),
                "references" => table::<Reference>(&mut text),
                "locals" => table::<Local>(&mut text),
                "edges" => table::<Edge>(&mut text),
                "resolved" => table::<Resolved>(&mut text),
                "modules" => table::<Module>(&mut text),
                "ranks" => table::<Rank>(&mut text),
                "explanations" => table::<Explanation>(&mut text),
                "summaries" => table::<Summary>(&mut text),
                "chunks" => table::<Chunk>(&mut text),
                "embeddings" => table::<Embedding>(&mut text),
                other => panic!("table {other} is not in this test"),
            }
        }
        if stage.writes.is_empty() {
            text.push_str("No tables: `vectors.faiss` (FAISS, exact L2) and `bm25/` (tantivy). The manifest names the\nartifacts that it belongs to.\n\n");
        }
    }
    text.push_str("## `ledger/`\n\n`explanations/`, `summaries/` and `imported/` (what `almanac-explain import` took in) hold\n`generations`, `embeddings/` holds `vectors`.\n\n");
    table::<GenerationRecord>(&mut text);
    table::<EmbeddingRecord>(&mut text);
    check("artifacts/README.md", &text);
}

#[test]
fn the_pipeline_is_documented_as_the_catalogue_has_it() {
    let mut text =
        String::from("| stage | reads | writes | revision | what it does |\n|---|---|---|---|---|\n");
    for stage in PIPELINE {
        let list = |tables: &[almanac_catalog::TableSpec]| {
            tables.iter().map(almanac_catalog::TableSpec::name).collect::<Vec<_>>().join(", ")
        };
        let reads = if stage.reads.is_empty() { "the source tree".to_owned() } else { list(stage.reads) };
        let writes = if stage.writes.is_empty() {
            format!("{} (FAISS, BM25)", stage.artifact)
        } else {
            list(stage.writes)
        };
        writeln!(text, "| `{}` | {reads} | {writes} | {} | {} |", stage.name, stage.revision, stage.summary)
            .unwrap();
    }
    check("stages/README.md", &text);
}
