//! The store's promises: whole or absent, same rows same bytes, damage said and never taken.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use almanac_artifact::{
    ArtifactWriter, Digest, Encoder, Error, KeyParts, Ledger, LedgerRecord, Ref, Store, Table, table,
};
use proptest::prelude::*;

table! {
    /// A row with every kind of column.
    pub struct Sample in "samples", version 3, sorted by (name, number) {
        /// Text.
        name: String,
        /// Integer.
        number: u32,
        /// Optional text.
        note: Option<String>,
        /// Optional integer.
        size: Option<u64>,
        /// List of texts.
        tags: Vec<String>,
        /// Vector.
        vector: Vec<f32>,
        /// Flag.
        flag: bool,
        /// Number.
        score: f64,
    }
}

impl LedgerRecord for Sample {
    fn record_key(&self) -> &str {
        &self.name
    }

    fn supersedes(&self, other: &Self) -> bool {
        self.number > other.number
    }
}

fn sample(name: &str, number: u32) -> Sample {
    Sample {
        name: name.to_owned(),
        number,
        note: number.is_multiple_of(2).then(|| "even".to_owned()),
        size: Some(u64::from(number) << 33),
        tags: vec!["a".to_owned(), String::new()],
        vector: vec![0.5, -1.25],
        flag: true,
        score: 0.1,
    }
}

fn parts() -> KeyParts {
    KeyParts {
        stage: "sample".to_owned(),
        revision: 1,
        params: BTreeMap::from([("limit".to_owned(), "3".to_owned())]),
        inputs: BTreeMap::new(),
        tables: BTreeMap::from([("samples".to_owned(), 3)]),
        identities: BTreeMap::new(),
    }
}

fn commit(store: &Store, rows: Vec<Sample>) -> almanac_artifact::Artifact {
    let mut writer = ArtifactWriter::begin(store, "samples").unwrap();
    writer.write(rows).unwrap();
    writer.commit(parts(), BTreeMap::new(), false, &"provenance").unwrap()
}

fn files_under(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        files.insert(path.strip_prefix(folder).unwrap().to_owned(), std::fs::read(&path).unwrap());
    }
    files
}

#[test]
fn rows_come_back_sorted_and_equal_bytes_follow_from_equal_rows() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let rows: Vec<Sample> =
        (0..5000).map(|number| sample(&format!("{:04}", number * 7919 % 5000), number)).collect();
    let mut reversed = rows.clone();
    reversed.reverse();
    let a = commit(&Store::open_or_create(first.path()).unwrap(), rows.clone());
    let b = commit(&Store::open_or_create(second.path()).unwrap(), reversed);
    assert_eq!(files_under(a.folder()), files_under(b.folder()));

    let mut expected = rows;
    expected.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(a.read::<Sample>().unwrap(), expected);
    a.verify().unwrap();
}

#[test]
fn an_empty_table_is_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = commit(&Store::open_or_create(folder.path()).unwrap(), Vec::new());
    assert_eq!(artifact.read::<Sample>().unwrap(), Vec::new());
}

#[test]
fn two_rows_with_one_key_are_refused_and_nothing_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let mut writer = ArtifactWriter::begin(&store, "samples").unwrap();
    let error = writer.write(vec![sample("a", 1), sample("b", 1), sample("a", 1)]).unwrap_err();
    assert!(matches!(error, Error::DuplicateRow { table: "samples", row: 1, .. }), "{error}");
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path().join(".staging")).unwrap().count(), 0);
    assert!(store.artifact("samples", &parts().key()).unwrap().is_none());
}

#[test]
fn what_was_not_committed_does_not_exist() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let mut writer = ArtifactWriter::begin(&store, "samples").unwrap();
    writer.write(vec![sample("a", 1)]).unwrap();
    // As after SIGKILL: the staging folder stays behind.
    std::mem::forget(writer);
    assert!(store.artifact("samples", &parts().key()).unwrap().is_none());
    commit(&store, vec![sample("a", 1)]);
}

#[test]
fn a_half_written_artifact_under_the_final_name_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let target = store.artifact_folder("samples", &parts().key());
    std::fs::create_dir_all(&target).unwrap();
    std::fs::write(target.join("samples-00000.parquet"), b"PAR1 half").unwrap();
    let artifact = commit(&store, vec![sample("a", 1)]);
    assert_eq!(artifact.read::<Sample>().unwrap().len(), 1);
    assert_eq!(std::fs::read_dir(folder.path().join(".damaged")).unwrap().count(), 1);
}

#[test]
fn committing_the_same_key_twice_keeps_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let first = commit(&store, vec![sample("a", 1)]);
    let before = files_under(first.folder());
    let second = commit(&store, vec![sample("a", 1)]);
    assert_eq!(first.folder(), second.folder());
    assert_eq!(before, files_under(second.folder()));
}

#[test]
fn concurrent_commits_of_one_key_all_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| commit(&store, vec![sample("a", 1), sample("b", 2)]));
        }
    });
    store.artifact("samples", &parts().key()).unwrap().unwrap().verify().unwrap();
}

#[test]
fn a_truncated_part_is_damage_at_open() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let artifact = commit(&store, vec![sample("a", 1)]);
    let part = artifact.folder().join("samples-00000.parquet");
    let bytes = std::fs::read(&part).unwrap();
    std::fs::write(&part, &bytes[..bytes.len() / 2]).unwrap();
    let error = store.artifact("samples", &parts().key()).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }) && error.is_damage(), "{error}");
}

#[test]
fn every_flipped_byte_of_a_part_is_found_and_none_panics() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let artifact = commit(&store, (0..40).map(|n| sample("a", n)).collect());
    let part = artifact.folder().join("samples-00000.parquet");
    let bytes = std::fs::read(&part).unwrap();
    for place in (0..bytes.len()).step_by(37) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x5a;
        std::fs::write(&part, &damaged).unwrap();
        assert!(artifact.verify().unwrap_err().is_damage());
        assert!(artifact.read::<Sample>().unwrap_err().is_damage());
    }
}

/// An artifact with a table and a file of another kind.
fn commit_with_file(store: &Store) -> almanac_artifact::Artifact {
    let mut writer = ArtifactWriter::begin(store, "samples").unwrap();
    writer.write(vec![sample("a", 1)]).unwrap();
    std::fs::create_dir(writer.staging().join("index")).unwrap();
    std::fs::write(writer.staging().join("index/vectors"), [7; 100_000]).unwrap();
    writer.add_files().unwrap();
    writer.commit(parts(), BTreeMap::new(), false, &"provenance").unwrap()
}

fn flip_byte(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let place = bytes.len() / 2;
    bytes[place] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn files_can_be_verified_without_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let artifact = commit_with_file(&store);
    flip_byte(&artifact.folder().join("samples-00000.parquet"));
    artifact.verify_files().unwrap();
    let error = artifact.verify().unwrap_err().to_string();
    assert!(error.contains("samples-00000.parquet"), "{error}");
    flip_byte(&artifact.folder().join("index/vectors"));
    let error = artifact.verify_files().unwrap_err();
    assert!(error.is_damage() && error.to_string().contains("index/vectors"), "{error}");
}

#[test]
fn only_what_is_damaged_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let artifact = commit_with_file(&store);
    let key = parts().key();
    assert!(!store.set_aside_if_damaged("samples", &key));
    assert!(store.artifact("samples", &key).unwrap().is_some());
    flip_byte(&artifact.folder().join("index/vectors"));
    assert!(store.set_aside_if_damaged("samples", &key));
    assert!(store.artifact("samples", &key).unwrap().is_none());
    // Another reader has moved it: it is out of the way all the same.
    assert!(store.set_aside_if_damaged("samples", &key));
    assert_eq!(std::fs::read_dir(folder.path().join(".damaged")).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_set_aside_stays_and_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let artifact = commit_with_file(&store);
    flip_byte(&artifact.folder().join("index/vectors"));
    // In the way of the folder that it would be moved to, for root too.
    std::fs::write(folder.path().join(".damaged"), "").unwrap();
    assert!(!store.set_aside_if_damaged("samples", &parts().key()));
    assert!(artifact.folder().is_dir());
}

fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_pipe_is_damage_and_nothing_waits_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let artifact = commit(&store, vec![sample("a", 1)]);
    let key = parts().key();
    for name in ["samples-00000.parquet", "manifest.json"] {
        std::fs::remove_file(artifact.folder().join(name)).unwrap();
        make_pipe(&artifact.folder().join(name));
        let error = store.artifact("samples", &key).unwrap_err();
        assert!(error.is_damage() && error.to_string().contains(name), "{error}");
    }
    std::fs::create_dir_all(folder.path().join("refs/default")).unwrap();
    make_pipe(&folder.path().join("refs/default/samples.json"));
    assert!(store.read_ref("default", "samples").unwrap_err().is_damage());
    let value = Ref { key, plan: key, complete: true, budget: None, failed: 0, poorly_grounded: 0 };
    store.write_ref("default", "samples", &value).unwrap();
    assert_eq!(store.read_ref("default", "samples").unwrap(), Some(value));

    let ledger = folder.path().join("ledger/samples");
    std::fs::create_dir_all(&ledger).unwrap();
    make_pipe(&ledger.join("pipe.parquet"));
    std::fs::create_dir(ledger.join("folder.parquet")).unwrap();
    let ledger = store.ledger::<Sample>("samples").unwrap();
    assert_eq!((ledger.len(), ledger.damaged().len()), (0, 2));

    std::fs::remove_file(folder.path().join("store.json")).unwrap();
    make_pipe(&folder.path().join("store.json"));
    assert!(matches!(Store::open(folder.path()).unwrap_err(), Error::NotAFile { .. }));
}

#[test]
fn a_file_is_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "text").unwrap();
    for path in [file.clone(), file.join("below")] {
        for error in [Store::open(&path).unwrap_err(), Store::open_or_create(&path).unwrap_err()] {
            assert!(matches!(error, Error::StoreIsFile { .. }), "{error}");
        }
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), "text");
}

#[test]
fn a_ref_of_before_failed_records_were_counted_is_a_ref() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let path = folder.path().join("refs/default/samples.json");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let key = Digest::of_bytes(b"x");
    std::fs::write(
        &path,
        format!("{{\"key\":\"{key}\",\"plan\":\"{key}\",\"complete\":true,\"budget\":null}}"),
    )
    .unwrap();
    assert_eq!(store.read_ref("default", "samples").unwrap().unwrap().failed, 0);
    for damaged in ["", "{\"key\": \"12", "[]"] {
        std::fs::write(&path, damaged).unwrap();
        assert!(store.read_ref("default", "samples").unwrap_err().is_damage(), "{damaged}");
    }
}

/// Process id of a child that has ended.
fn ended_process() -> u32 {
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

/// Gives a file or folder to another process: its id stands in the name.
fn give_to(path: &Path, process: u32) -> PathBuf {
    let name = path.file_name().unwrap().to_str().unwrap();
    let (own, other) = (format!("_{}_", std::process::id()), format!("_{process}_"));
    assert!(name.contains(&own), "{name}");
    let target = path.with_file_name(name.replacen(&own, &other, 1));
    std::fs::rename(path, &target).unwrap();
    target
}

#[test]
fn what_killed_runs_left_is_swept_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let writers: Vec<_> = (0..2).map(|_| ArtifactWriter::begin(&store, "samples").unwrap()).collect();
    let [live, killed] = [&writers[0], &writers[1]].map(|writer| writer.staging().to_owned());
    std::fs::write(killed.join("half.parquet"), "PAR1").unwrap();
    let killed = give_to(&killed, ended_process());
    let suffix = live.file_name().unwrap().to_str().unwrap().strip_prefix("samples-").unwrap().to_owned();
    for sub in ["refs/default", "ledger/samples", "runs"] {
        std::fs::create_dir_all(folder.path().join(sub)).unwrap();
        let temporary = folder.path().join(sub).join(format!(".x.json.{suffix}"));
        std::fs::write(&temporary, "half").unwrap();
        give_to(&temporary, ended_process());
        std::fs::write(temporary, "a live process writes this").unwrap();
        std::fs::write(folder.path().join(sub).join("x.json"), "{}").unwrap();
    }
    // Another machine's: its process cannot be asked for, its age can.
    let other = |began: &str| {
        let path = folder.path().join(format!(".staging/graph-node7_0000beef_4711_{began}_0"));
        std::fs::create_dir(&path).unwrap();
        path
    };
    let (old, young) = (other("16d5b1f6ba2a0000"), other("7fffffffffffffff"));
    store.sweep();
    for gone in [killed, old] {
        assert!(!gone.exists(), "{}", gone.display());
    }
    for there in [live, young] {
        assert!(there.is_dir(), "{}", there.display());
    }
    for sub in ["refs/default", "ledger/samples", "runs"] {
        assert_eq!(std::fs::read_dir(folder.path().join(sub)).unwrap().count(), 2, "{sub}");
    }
}

#[test]
fn small_files_of_killed_writers_are_merged_once_they_are_many() {
    for (killed, left) in [(15, 15 + 1), (16, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::<Sample>::open(folder.path()).unwrap();
        let mut writer = ledger.writer();
        for number in 0..killed {
            writer.append(sample(&format!("killed {number}"), 1));
            writer.flush().unwrap();
        }
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            give_to(&entry.unwrap().path(), ended_process());
        }
        let mut live = ledger.writer();
        live.append(sample("killed 0", 2));
        live.flush().unwrap();
        let mut writer = ledger.writer();
        writer.append(sample("new", 1));
        writer.finish().unwrap();
        // The live writer's file is not touched.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), left + 1);
        let ledger = Ledger::<Sample>::open(folder.path()).unwrap();
        assert_eq!(ledger.len(), killed + 1);
        assert_eq!(ledger.get("killed 0").unwrap().number, 2);
    }
}

#[test]
fn a_run_after_the_tasks_merges_what_they_left() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::<Sample>::open(folder.path()).unwrap();
    let mut tasks: Vec<_> = (0..20).map(|_| ledger.writer()).collect();
    for (number, task) in tasks.iter_mut().enumerate() {
        task.append(sample(&format!("task {number}"), 1));
        task.flush().unwrap();
    }
    let mut commit = ledger.writer();
    commit.append(sample("commit", 1));
    commit.finish_all().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    // A task that was thought to be done goes on.
    let mut late = tasks.pop().unwrap();
    late.append(sample("late", 1));
    late.finish().unwrap();
    let ledger = Ledger::<Sample>::open(folder.path()).unwrap();
    assert_eq!((ledger.len(), ledger.damaged().len()), (22, 0));
}

#[test]
fn an_edited_manifest_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let artifact = commit(&store, vec![sample("a", 1)]);
    let path = artifact.folder().join("manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"limit\": \"3\"", "\"limit\": \"4\"")).unwrap();
    let error = store.artifact("samples", &parts().key()).unwrap_err();
    assert!(matches!(error, Error::ManifestKey { .. }), "{error}");
    for name in ["/etc/passwd", "../../elsewhere", ""] {
        let file = "\"file\": \"samples-00000.parquet\"";
        assert!(text.contains(file), "{text}");
        std::fs::write(&path, text.replace(file, &format!("\"file\": \"{name}\""))).unwrap();
        let error = store.artifact("samples", &parts().key()).unwrap_err();
        assert!(matches!(error, Error::ManifestKey { .. }), "{error}");
    }
    std::fs::write(&path, "{").unwrap();
    assert!(store.artifact("samples", &parts().key()).unwrap_err().is_damage());
}

#[test]
fn a_store_of_another_format_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    Store::open_or_create(folder.path()).unwrap();
    std::fs::write(folder.path().join("store.json"), "{\"format\": 99}").unwrap();
    let error = Store::open_or_create(folder.path()).unwrap_err();
    assert!(matches!(error, Error::StoreFormat { found: 99, expected: 1, .. }), "{error}");
    assert_eq!(std::fs::read_to_string(folder.path().join("store.json")).unwrap(), "{\"format\": 99}");
}

#[test]
fn a_ref_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    assert_eq!(store.read_ref("default", "samples").unwrap(), None);
    let key = Digest::of_bytes(b"x");
    let value = Ref {
        key,
        plan: key,
        complete: false,
        budget: Some(BTreeMap::from([("max_records".to_owned(), 9)])),
        failed: 2,
        poorly_grounded: 1,
    };
    store.write_ref("default", "samples", &value).unwrap();
    assert_eq!(store.read_ref("default", "samples").unwrap(), Some(value));
}

#[test]
fn a_ledger_survives_writers_side_by_side_and_a_damaged_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    let ledger = Ledger::<Sample>::open(&path).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4_u32 {
            let ledger = &ledger;
            scope.spawn(move || {
                let mut file = ledger.writer();
                for number in 0..10 {
                    file.append(sample(&format!("{writer}-{number}"), 1));
                    file.flush().unwrap();
                }
                // Two writers merge, two are killed.
                if writer < 2 {
                    file.finish().unwrap();
                }
            });
        }
    });
    let files = std::fs::read_dir(&path).unwrap().count();
    assert_eq!(files, 2 + 20);
    assert_eq!(Ledger::<Sample>::open(&path).unwrap().len(), 40);

    std::fs::write(path.join("zzz.parquet"), b"half a file").unwrap();
    std::fs::write(path.join(".unfinished.parquet"), b"half a file").unwrap();
    let ledger = Ledger::<Sample>::open(&path).unwrap();
    assert_eq!((ledger.len(), ledger.damaged().len()), (40, 1));
}

#[test]
fn a_ledger_holds_only_the_records_that_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let write = |names: &[&str]| {
        let mut writer = Ledger::<Sample>::open(folder.path()).unwrap().writer();
        names.iter().for_each(|name| writer.append(sample(name, 1)));
        writer.flush().unwrap();
    };
    write(&["old", "one"]);
    let keys = ["one", "two", "three"].map(str::to_owned).into();
    let mut ledger = Ledger::<Sample>::open_for(folder.path(), keys).unwrap();
    let names =
        |ledger: &Ledger<Sample>| -> Vec<String> { ledger.iter().map(|row| row.name.clone()).collect() };
    assert_eq!(names(&ledger), ["one"]);
    write(&["two", "other"]);
    ledger.reload().unwrap();
    assert_eq!(names(&ledger), ["one", "two"]);
    assert_eq!(ledger.take("one"), Some(sample("one", 1)));
    assert_eq!(names(&ledger), ["two"]);
    assert_eq!(Ledger::<Sample>::open(folder.path()).unwrap().len(), 4, "nothing is lost");
}

#[test]
fn of_two_records_with_one_key_every_reader_keeps_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for order in [[1, 2], [2, 1]] {
        let path = folder.path().join(format!("{order:?}"));
        let ledger = Ledger::<Sample>::open(&path).unwrap();
        for number in order {
            let mut writer = ledger.writer();
            writer.append(sample("one", number));
            writer.flush().unwrap();
        }
        assert_eq!(Ledger::<Sample>::open(&path).unwrap().get("one").unwrap().number, 2);
    }
}

/// The bytes are laid out by hand as the module's documentation specifies them.
#[test]
fn the_encoding_is_the_specified_one() {
    let digest = Digest::of(|encoder: &mut Encoder| {
        encoder.text("ab").u32(7);
        encoder.option(Some(9_u64), |encoder, value| {
            encoder.u64(value);
        });
        encoder.f32(-0.0);
    });
    let mut bytes = Vec::new();
    bytes.extend(2_u64.to_le_bytes());
    bytes.extend(b"ab");
    bytes.extend(7_u32.to_le_bytes());
    bytes.push(1);
    bytes.extend(9_u64.to_le_bytes());
    bytes.extend(0.0_f32.to_bits().to_le_bytes());
    assert_eq!(digest, Digest::of_bytes(&bytes));
    assert_eq!(
        Digest::of_bytes(b"abc").to_string(),
        // The BLAKE3 reference value for "abc".
        "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_changed_part_changes_the_key(
        revision in 1_u32..9,
        name in "[a-z]{1,8}",
        value in ".{0,12}",
        digest in any::<[u8; 4]>(),
    ) {
        let base = parts();
        let mut changed = vec![];
        let mut edit = |edit: &dyn Fn(&mut KeyParts)| { let mut p = parts(); edit(&mut p); changed.push(p); };
        edit(&|p| p.revision += revision);
        edit(&|p| { p.params.insert(format!("x{name}"), value.clone()); });
        edit(&|p| { p.params.insert("limit".to_owned(), format!("3{value}x")); });
        edit(&|p| { p.inputs.insert(name.clone(), Digest::of_bytes(&digest)); });
        edit(&|p| { p.identities.insert(name.clone(), value.clone()); });
        edit(&|p| { p.tables.insert(format!("x{name}"), revision); });
        edit(&|p| p.stage.push_str(&name));
        let mut keys: Vec<Digest> = changed.iter().map(KeyParts::key).collect();
        keys.push(base.key());
        let distinct = keys.iter().collect::<std::collections::BTreeSet<_>>().len();
        prop_assert_eq!(distinct, keys.len());
    }

    #[test]
    fn any_rows_come_back(
        names in prop::collection::btree_set(".{0,20}", 0..20),
        vector in prop::collection::vec(-1e6_f32..1e6, 0..5),
        note in prop::option::of(".{0,5}"),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let rows: Vec<Sample> = names.iter().map(|name| Sample {
            vector: vector.clone(), note: note.clone(), ..sample(name, 1)
        }).collect();
        let artifact = commit(&store, rows.clone());
        prop_assert_eq!(artifact.read::<Sample>().unwrap(), rows);
        prop_assert_eq!(Sample::columns().len(), 8);
    }
}
