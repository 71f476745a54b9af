//! Rows in, files out, look-ups through the files.

mod damage;
mod grid;

use std::collections::BTreeMap;
use std::path::Path;

use almanac_lookup::{
    CONTENTS_FILE, Error, FieldBoosts, LEXICAL_FOLDER, SearchIndex, UnitSource, VECTORS_FILE, WeightedTerm,
    build, use_threads,
};
use almanac_tables::Embedding;

use grid::{axis, built, embeddings, tables};

fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for folder in [folder.to_owned(), folder.join(LEXICAL_FOLDER)] {
        for entry in fs_err::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                files.insert(name, fs_err::read(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    built(one.path());
    let tables = tables();
    let mut shuffled = embeddings(&tables.chunks);
    shuffled.reverse();
    use_threads(3);
    build(&tables, &shuffled, two.path()).unwrap();
    let (one, two) = (bytes(one.path()), bytes(two.path()));
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    for (name, content) in &one {
        assert!(two[name] == *content, "{name} differs");
    }
    assert!(one.contains_key(VECTORS_FILE) && one.contains_key("meta.json"));
}

#[test]
fn opening_leaves_the_folder_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path());
    let before = bytes(folder.path());
    let index = SearchIndex::open(tables(), folder.path()).unwrap();
    assert_eq!(index.nearest(&axis(4), 1).unwrap()[0].chunk, 4);
    assert_eq!(bytes(folder.path()), before);
}

#[test]
fn nearest_is_exact_and_ties_are_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let index = built(folder.path());
    let hits = index.nearest(&axis(2), 100).unwrap();
    assert_eq!(hits.len(), 7);
    assert_eq!((hits[0].chunk, hits[0].distance), (2, 0.0));
    let rest: Vec<usize> = hits[1..].iter().map(|hit| hit.chunk).collect();
    assert_eq!(rest, [0, 1, 3, 4, 5, 6]);
    assert!(hits[1..].iter().all(|hit| hit.distance == 2.0));
    let scoped = index.nearest_in_files(&["src/Grid.h"], &axis(5), 3).unwrap();
    assert_eq!(scoped.iter().map(|hit| hit.chunk).collect::<Vec<_>>(), [5, 4]);
}

#[test]
fn a_full_file_name_brings_its_siblings_at_their_own_distance() {
    let folder = tempfile::tempdir().unwrap();
    let index = built(folder.path());
    let full = index.chunks_by_file_names(&["Grid.h"], Some(&axis(1)));
    assert_eq!(full.iter().map(|hit| (hit.chunk, hit.distance)).collect::<Vec<_>>(), [(3, 0.0), (1, 0.0)]);
    let far = index.chunks_by_file_names(&["Grid.h"], Some(&axis(0)));
    assert_eq!(far.iter().map(|hit| (hit.chunk, hit.distance)).collect::<Vec<_>>(), [(3, 0.0), (1, 2.0)]);
    let stem = index.chunks_by_file_names(&["Grid"], Some(&axis(0)));
    assert_eq!(stem.iter().map(|hit| (hit.chunk, hit.distance)).collect::<Vec<_>>(), [(1, 0.0), (3, 0.0)]);
}

#[test]
fn a_symbol_named_with_its_class_comes_before_others_and_two_are_enough() {
    let folder = tempfile::tempdir().unwrap();
    let index = built(folder.path());
    let hits = index.chunks_by_symbols(&["spacing", "Grid"]);
    assert_eq!(hits.len(), 2);
    assert_eq!((hits[0].chunk, hits[0].distance), (2, 0.0), "the definition in context is first");
    assert_eq!(index.chunks_by_module_names(&["SRC"])[0].chunk, 0);
}

#[test]
fn names_find_files_symbols_and_what_is_around() {
    let folder = tempfile::tempdir().unwrap();
    let index = built(folder.path());
    assert_eq!(index.files_named("src/grid.h"), [1]);
    assert_eq!(index.files_named("GRID"), [0, 1]);
    assert_eq!(index.files_named("nothing.h"), Vec::<usize>::new());
    assert_eq!(index.siblings(1), [0]);
    assert_eq!(index.entities_named("Grid::spacing").len(), 2);
    assert_eq!(index.entities_named("Other::spacing").len(), 0);
    let declared = index.entity("declared").unwrap();
    assert_eq!(index.enclosing(declared), index.entity("grid"));
}

#[test]
fn words_of_a_question_rank_the_symbol_they_describe() {
    let folder = tempfile::tempdir().unwrap();
    let index = built(folder.path());
    let boosts = FieldBoosts { path: 1.0, symbol: 1.0, code: 1.0, prose: 1.0 };
    let terms: Vec<WeightedTerm> = index
        .analyzer()
        .prose_terms("Which function gives the wall time?")
        .into_iter()
        .map(|term| WeightedTerm { term, weight: 1.0 })
        .collect();
    let hits = index.lexical(&terms, &boosts).unwrap();
    let UnitSource::Entity(best) = index.units()[hits[0].unit].source else { panic!("{hits:?}") };
    assert_eq!(index.tables().entities[best].name, "wallTime");
    // `regular` stands only in the comment that opens Grid.h.
    assert_eq!(index.files_with(&index.analyzer().code_terms("regular")[0]).unwrap(), [1]);
}

#[test]
fn a_query_of_another_dimension_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let index = built(folder.path());
    let error = index.nearest(&[1.0, 0.0], 1).unwrap_err();
    assert!(matches!(error, Error::Dimension { found: 2, expected: 7, .. }), "{error}");
}

#[test]
fn vectors_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables();
    let refused = |change: &dyn Fn(&mut Vec<Embedding>)| {
        let mut embeddings = embeddings(&tables.chunks);
        change(&mut embeddings);
        build(&tables, &embeddings, folder.path()).unwrap_err()
    };
    assert!(matches!(refused(&|rows| rows[3].vector.truncate(2)), Error::Dimension { .. }));
    assert!(matches!(refused(&|rows| rows[3].vector[0] = f32::NAN), Error::NotFinite { .. }));
    assert!(matches!(refused(&|rows| rows[3].chunk_id = "gone".to_owned()), Error::UnknownChunk { .. }));
}

#[test]
fn a_store_without_vectors_still_searches_text() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables();
    build(&tables, &[], folder.path()).unwrap();
    assert!(!folder.path().join(VECTORS_FILE).exists());
    let index = SearchIndex::open(tables, folder.path()).unwrap();
    assert!(index.vectors().is_none());
    assert!(matches!(index.nearest(&axis(0), 1), Err(Error::NoVectors)));
}

#[test]
fn damage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path());
    let open = || SearchIndex::open(tables(), folder.path()).map(|_| ()).unwrap_err();
    for file in [VECTORS_FILE.to_owned(), format!("{LEXICAL_FOLDER}/meta.json"), CONTENTS_FILE.to_owned()] {
        let path = folder.path().join(&file);
        let whole = fs_err::read(&path).unwrap();
        fs_err::write(&path, &whole[..whole.len() / 2]).unwrap();
        let error = open();
        assert!(matches!(error, Error::Damaged { .. }), "{file}: {error:?}");
        assert!(error.to_string().contains(file.rsplit('/').next().unwrap()), "{error}");
        fs_err::remove_file(&path).unwrap();
        assert!(matches!(open(), Error::MissingFile { .. }), "{file}");
        fs_err::write(&path, &whole).unwrap();
    }
    // Same length, other content: the vector index says what is wrong, nothing crashes.
    let path = folder.path().join(VECTORS_FILE);
    let length = fs_err::metadata(&path).unwrap().len() as usize;
    fs_err::write(&path, vec![0x5a; length]).unwrap();
    assert!(matches!(open(), Error::Vectors { .. } | Error::Damaged { .. }));
}

#[test]
fn rows_of_another_run_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    built(folder.path());
    let mut other = tables();
    other.chunks.pop();
    let error = SearchIndex::open(other, folder.path()).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::OtherRows { .. }), "{error}");
}
