//! An index in a store whose files were changed: an error with what to do, or the same results.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use almanac_artifact::{Artifact, ArtifactWriter, KeyParts, Ref, Store};
use almanac_lookup::{Check, Error, FieldBoosts, SearchIndex, Tables, VECTORS_FILE, WeightedTerm, build};
use almanac_tables::{Chunk, Embedding};
use miette::Diagnostic;

use crate::grid::{axis, embeddings, tables};

const PROFILE: &str = "default";
/// Bytes of a FAISS file before its vectors: what is counted and how.
const FAISS_HEADER: usize = 64;

fn commit(store: &Store, name: &str, read: &[&Artifact], fill: impl FnOnce(&mut ArtifactWriter)) -> Artifact {
    let mut writer = ArtifactWriter::begin(store, name).unwrap();
    fill(&mut writer);
    writer.add_files().unwrap();
    let parts = KeyParts {
        stage: name.to_owned(),
        revision: 1,
        params: BTreeMap::new(),
        inputs: BTreeMap::new(),
        tables: BTreeMap::new(),
        identities: BTreeMap::new(),
    };
    let read = read.iter().map(|artifact| artifact.manifest());
    let read = read.map(|manifest| (manifest.artifact.clone(), manifest.key)).collect();
    let artifact = writer.commit(parts, read, false, &"the test").unwrap();
    let key = artifact.manifest().key;
    let current = Ref { key, plan: key, complete: true, budget: None, failed: 0, poorly_grounded: 0 };
    store.write_ref(PROFILE, name, &current).unwrap();
    artifact
}

fn filled(folder: &Path) -> Store {
    let store = Store::open_or_create(folder).unwrap();
    let rows = tables();
    let vectors = embeddings(&rows.chunks);
    let sources = commit(&store, "sources", &[], |writer| {
        writer.write(rows.files).unwrap();
        writer.write(rows.texts).unwrap();
        writer.write(rows.entities).unwrap();
    });
    let graph = commit(&store, "graph", &[&sources], |writer| writer.write(rows.modules).unwrap());
    let embedded = commit(&store, "embeddings", &[&sources], |writer| {
        writer.write(rows.chunks).unwrap();
        writer.write(vectors).unwrap();
    });
    let stored = Tables {
        files: sources.read().unwrap(),
        texts: sources.read().unwrap(),
        entities: sources.read().unwrap(),
        modules: graph.read().unwrap(),
        chunks: embedded.read::<Chunk>().unwrap(),
        ..Tables::default()
    };
    let vectors: Vec<Embedding> = embedded.read().unwrap();
    commit(&store, "index", &[&sources, &graph, &embedded], |writer| {
        build(&stored, &vectors, writer.staging()).unwrap();
    });
    store
}

fn open(store: &Store, check: Check) -> Result<SearchIndex, Error> {
    SearchIndex::open_store(store, PROFILE, check)
}

/// Results that every file of the index has a part in.
fn answers(index: &SearchIndex) -> Result<String, Error> {
    let boosts = FieldBoosts { path: 1.0, symbol: 1.0, code: 1.0, prose: 1.0 };
    let terms: Vec<WeightedTerm> = index
        .analyzer()
        .prose_terms("regular grid of cells, spacing, wall time, neighbouring length")
        .into_iter()
        .map(|term| WeightedTerm { term, weight: 1.0 })
        .collect();
    let near = (0..7).map(|at| index.nearest(&axis(at), 7)).collect::<Result<Vec<_>, _>>()?;
    let files = terms.iter().map(|term| index.files_with(&term.term)).collect::<Result<Vec<_>, _>>()?;
    let lexical = index.lexical(&terms, &boosts)?;
    Ok(format!("{near:?} {files:?} {lexical:?} {:?}", index.files_named("Grid")))
}

/// Every file below `folder` with its bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs_err::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let bytes = fs_err::read(&path).unwrap();
                found.insert(path, bytes);
            }
        }
    }
    found
}

fn write_all(files: &BTreeMap<PathBuf, Vec<u8>>) {
    for (path, bytes) in files {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, bytes).unwrap();
    }
}

/// Some forty places of a file: all of its beginning and end, and evenly between.
fn places(length: usize) -> Vec<usize> {
    let even = (0..16).map(|at| at * length / 16);
    let mut places: Vec<usize> = (0..12).chain(even).chain(length.saturating_sub(12)..length).collect();
    places.retain(|&at| at < length);
    places.sort_unstable();
    places.dedup();
    places
}

/// The code of the exit status for damaged data, and advice.
#[track_caller]
fn says_what_to_do(error: &Error, what: &str) {
    assert_eq!(
        error.code().map(|code| code.to_string()).as_deref(),
        Some("almanac::data"),
        "{what}: {error}"
    );
    let help = error.help().unwrap_or_else(|| panic!("{what}: no hint with {error}")).to_string();
    assert!(help.contains("almanac build") || help.contains("Almanac version"), "{what}: {help}");
}

#[test]
fn a_changed_byte_anywhere_is_damage_or_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    let index = store.current(PROFILE, "index", "index").unwrap();
    let whole = files(index.folder());
    assert!(whole.len() > 8, "vectors, contents, manifest, provenance and the text index: {}", whole.len());
    let expected = answers(&open(&store, Check::Digests).unwrap()).unwrap();
    let mut damaged = 0;
    for (path, bytes) in &whole {
        for place in places(bytes.len()) {
            for bit in [0x01, 0x80] {
                let mut changed = bytes.clone();
                changed[place] ^= bit;
                fs_err::write(path, &changed).unwrap();
                let what = format!("{} byte {place} bit {bit:#x}", path.display());
                match open(&store, Check::Digests) {
                    Ok(index) => assert_eq!(answers(&index).unwrap(), expected, "{what}"),
                    Err(error) => {
                        says_what_to_do(&error, &what);
                        damaged += 1;
                        for artifact in ["sources", "graph", "embeddings"] {
                            assert!(store.current(PROFILE, artifact, "").is_ok(), "{what}: {artifact}");
                        }
                        if error.is_damage() {
                            let gone = open(&store, Check::Digests).map(|_| ()).unwrap_err();
                            let gone = gone.to_string();
                            assert!(gone.contains("no artifact `index`"), "{what}: not set aside: {gone}");
                        }
                    }
                }
                write_all(&whole);
            }
        }
    }
    assert!(damaged > 300, "{damaged} changes were noticed");
    assert_eq!(answers(&open(&store, Check::Digests).unwrap()).unwrap(), expected);
}

#[test]
fn without_digests_damage_still_never_panics() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    let index = store.current(PROFILE, "index", "index").unwrap();
    let whole = files(index.folder());
    let mut failed = 0;
    for (path, bytes) in whole.iter().filter(|(path, _)| !path.ends_with("manifest.json")) {
        let first = if path.ends_with(VECTORS_FILE) { FAISS_HEADER } else { 0 };
        for place in places(bytes.len()).into_iter().filter(|&place| place >= first) {
            let mut changed = bytes.clone();
            changed[place] ^= 0xff;
            fs_err::write(path, &changed).unwrap();
            let what = format!("{} byte {place}", path.display());
            if let Err(error) = open(&store, Check::Lengths).and_then(|index| answers(&index)) {
                says_what_to_do(&error, &what);
                failed += 1;
            }
            write_all(&whole);
        }
    }
    assert!(failed > 20, "{failed} changes were noticed");
}

#[test]
fn a_store_that_cannot_be_changed_keeps_what_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    // Stands for a file system that refuses, which it does for root, too.
    fs_err::write(store.root().join(".damaged"), "").unwrap();
    let index = store.current(PROFILE, "index", "index").unwrap();
    let path = index.folder().join(VECTORS_FILE);
    let mut bytes = fs_err::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs_err::write(&path, bytes).unwrap();
    for _ in 0..2 {
        let error = open(&store, Check::Digests).map(|_| ()).unwrap_err();
        assert!(matches!(&error, Error::DamagedStore { artifact, .. } if artifact == "index"), "{error:?}");
        let help = error.help().unwrap().to_string();
        assert!(help.starts_with("it is left as it is") && help.contains("--verify"), "{help}");
    }
}

#[test]
fn damaged_tables_are_set_aside_and_the_index_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    let embedded = store.current(PROFILE, "embeddings", "embed").unwrap();
    let path = embedded.folder().join("chunks-00000.parquet");
    let mut bytes = fs_err::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs_err::write(&path, bytes).unwrap();
    let error = open(&store, Check::Digests).map(|_| ()).unwrap_err();
    assert!(matches!(&error, Error::DamagedStore { artifact, .. } if artifact == "embeddings"), "{error:?}");
    says_what_to_do(&error, "chunks");
    assert!(!embedded.folder().exists());
    assert!(store.current(PROFILE, "index", "index").is_ok());
    // With its tables gone the index is of no use either.
    let error = open(&store, Check::Digests).map(|_| ()).unwrap_err();
    assert!(matches!(&error, Error::DamagedStore { artifact, .. } if artifact == "index"), "{error:?}");
    says_what_to_do(&error, "index");
    assert!(store.current(PROFILE, "index", "index").is_err());
}

#[test]
fn another_version_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    for artifact in ["sources", "index"] {
        let path = store.current(PROFILE, artifact, "").unwrap().folder().join("manifest.json");
        let manifest = fs_err::read_to_string(&path).unwrap();
        let newer = match artifact {
            "sources" => {
                let (head, rest) = manifest.split_once("\"entities\": {").unwrap();
                let (version, rest) = rest.split_once(',').unwrap();
                assert!(version.contains("version"), "{version}");
                format!("{head}\"entities\": {{\"version\": 999,{rest}")
            }
            _ => {
                let contents = path.with_file_name("contents.json");
                let text = fs_err::read_to_string(&contents).unwrap();
                fs_err::write(contents, text.replacen("\"format\": 1", "\"format\": 9", 1)).unwrap();
                manifest.clone()
            }
        };
        fs_err::write(&path, newer).unwrap();
        let error = open(&store, Check::Lengths).map(|_| ()).unwrap_err();
        assert!(!matches!(error, Error::DamagedStore { .. }), "{error}");
        says_what_to_do(&error, artifact);
        assert!(error.to_string().contains("this program reads"), "{error}");
        fs_err::write(&path, manifest).unwrap();
        assert!(path.exists(), "{artifact} is where it was");
    }
}
