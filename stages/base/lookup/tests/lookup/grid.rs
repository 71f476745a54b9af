//! A library of three files, and what an index is built from it.

use std::path::Path;

use almanac_lookup::{SearchIndex, Tables, build};
use almanac_tables::{
    ArtifactRole, Chunk, Embedding, Entity, EntityKind, EntityLevel, File, Language, Module, ModuleKind,
    SourceType, Text, file_node, folder_node,
};

const HEADER: &str = "// Class Grid\n//   A regular grid of cells.\n#pragma once\n\nclass Grid {\npublic:\n    double spacing() const;\n};\n";
const BODY: &str = "#include \"Grid.h\"\n\n// Distance between neighbouring cells.\ndouble Grid::spacing() const {\n    return length / cells;\n}\n";
const TIMER: &str = "double wallTime();\n";

fn file(path: &str, text: &str) -> File {
    File {
        path: path.to_owned(),
        bytes: text.len() as u64,
        lines: text.lines().count() as u32,
        language: Language::Cpp,
        source_type: SourceType::Header,
        role: ArtifactRole::Library,
        ..File::default()
    }
}

fn entity(id: &str, path: &str, kind: EntityKind, name: &str, text: &str, slice: &str) -> Entity {
    let start = text.find(slice).expect("the slice is part of the text");
    let end = start + slice.len();
    let line = |at: usize| text[..at].matches('\n').count() as u32 + 1;
    Entity {
        id: id.to_owned(),
        path: path.to_owned(),
        kind,
        name: name.rsplit("::").next().unwrap_or(name).to_owned(),
        qualified_name: name.to_owned(),
        class_name: if name.contains("::") { "Grid".to_owned() } else { String::new() },
        start_line: line(start),
        end_line: line(end),
        start_byte: start as u64,
        end_byte: end as u64,
        is_definition: kind != EntityKind::MethodDeclaration,
        ..Entity::default()
    }
}

fn chunk(id: &str, subject: &str, level: EntityLevel, path: &str, symbol: &str) -> Chunk {
    Chunk {
        id: id.to_owned(),
        subject: subject.to_owned(),
        level,
        path: path.to_owned(),
        symbol: symbol.to_owned(),
        parts: 1,
        ..Chunk::default()
    }
}

pub(crate) fn tables() -> Tables {
    let texts = [("src/Grid.cpp", BODY), ("src/Grid.h", HEADER), ("src/Timer.h", TIMER)];
    Tables {
        files: texts.iter().map(|(path, text)| file(path, text)).collect(),
        texts: texts
            .iter()
            .map(|&(path, text)| Text { path: path.to_owned(), text: text.to_owned() })
            .collect(),
        entities: vec![
            entity(
                "spacing",
                "src/Grid.cpp",
                EntityKind::MethodDefinition,
                "Grid::spacing",
                BODY,
                "double Grid::spacing() const {\n    return length / cells;\n}",
            ),
            entity(
                "grid",
                "src/Grid.h",
                EntityKind::Class,
                "Grid",
                HEADER,
                "class Grid {\npublic:\n    double spacing() const;\n};",
            ),
            entity(
                "declared",
                "src/Grid.h",
                EntityKind::MethodDeclaration,
                "Grid::spacing",
                HEADER,
                "double spacing() const;",
            ),
            entity(
                "wall",
                "src/Timer.h",
                EntityKind::FunctionDeclaration,
                "wallTime",
                TIMER,
                "double wallTime();",
            ),
        ],
        modules: vec![Module {
            id: folder_node("src"),
            kind: ModuleKind::Folder,
            name: "src".to_owned(),
            ..Module::default()
        }],
        chunks: vec![
            chunk("c0", &folder_node("src"), EntityLevel::Module, "", "src"),
            chunk("c1", &file_node("src/Grid.cpp"), EntityLevel::File, "src/Grid.cpp", "Grid.cpp"),
            chunk("c2", "spacing", EntityLevel::Symbol, "src/Grid.cpp", "spacing"),
            chunk("c3", &file_node("src/Grid.h"), EntityLevel::File, "src/Grid.h", "Grid.h"),
            chunk("c4", "grid", EntityLevel::Symbol, "src/Grid.h", "Grid"),
            chunk("c5", "declared", EntityLevel::Symbol, "src/Grid.h", "spacing"),
            chunk("c6", "wall", EntityLevel::Symbol, "src/Timer.h", "wallTime"),
        ],
        ..Tables::default()
    }
}

/// One axis a chunk, so that distances are known without computing them: 2 between any two.
pub(crate) fn embeddings(chunks: &[Chunk]) -> Vec<Embedding> {
    let dimension = chunks.len();
    chunks
        .iter()
        .enumerate()
        .map(|(at, chunk)| {
            let mut vector = vec![0.0; dimension];
            vector[at] = 1.0;
            Embedding { chunk_id: chunk.id.clone(), vector }
        })
        .collect()
}

pub(crate) fn axis(at: usize) -> Vec<f32> {
    let mut vector = vec![0.0; 7];
    vector[at] = 1.0;
    vector
}

pub(crate) fn built(folder: &Path) -> SearchIndex {
    let tables = tables();
    build(&tables, &embeddings(&tables.chunks), folder).unwrap();
    SearchIndex::open(tables, folder).unwrap()
}
