//! Hostile bundles, each made by hand, and what has to become of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use almanac_artifact::Digest;
use tar::{EntryType, Header};
use tempfile::TempDir;

use crate::{BUNDLE_FORMAT, Error, Limits, Manifest, Member, open, verify};

const STORE: &[u8] = b"{\"format\": 1}\n";

/// One entry of a tar, whatever its name.
struct Piece(&'static str, EntryType, Vec<u8>);

fn file(name: &'static str, bytes: &[u8]) -> Piece {
    Piece(name, EntryType::Regular, bytes.to_vec())
}

fn manifest(members: &[(&str, &[u8])]) -> Manifest {
    let member = |bytes: &[u8]| Member { bytes: bytes.len() as u64, digest: Digest::of_bytes(bytes) };
    Manifest {
        format: BUNDLE_FORMAT,
        version: "0".to_owned(),
        project: "demo".to_owned(),
        profile: "default".to_owned(),
        commit: None,
        dirty: None,
        key: Digest::of_bytes(b""),
        revisions: BTreeMap::new(),
        identities: BTreeMap::new(),
        settings: BTreeMap::new(),
        counts: BTreeMap::new(),
        licence_notes: String::new(),
        members: members.iter().map(|(name, bytes)| ((*name).to_owned(), member(bytes))).collect(),
    }
}

fn described(members: &[(&str, &[u8])]) -> Piece {
    file("manifest.json", &serde_json::to_vec(&manifest(members)).unwrap())
}

fn tar(pieces: &[Piece]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Piece(name, kind, content) in pieces {
        let mut header = Header::new_ustar();
        // `set_path` refuses what is tested here.
        header.as_ustar_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_cksum();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

fn packed(pieces: &[Piece]) -> Vec<u8> {
    zstd::encode_all(&tar(pieces)[..], 3).unwrap()
}

/// A good bundle with one more entry that its manifest names too.
fn with(name: &'static str, kind: EntryType) -> Vec<u8> {
    let store = file("store/store.json", STORE);
    packed(&[described(&[("store/store.json", STORE), (name, b"")]), store, Piece(name, kind, Vec::new())])
}

fn good() -> Vec<u8> {
    packed(&[described(&[("store/store.json", STORE)]), file("store/store.json", STORE)])
}

fn at(folder: &Path, bytes: &[u8]) -> PathBuf {
    let path = folder.join("x.almanac");
    fs_err::write(&path, bytes).unwrap();
    path
}

fn hostile() -> Vec<(Vec<u8>, &'static str)> {
    let members: &[(&str, &[u8])] = &[("store/store.json", STORE)];
    let store = || file("store/store.json", STORE);
    let mut other_format = serde_json::to_value(manifest(members)).unwrap();
    let mut of_format = |format: u32| {
        other_format["format"] = format.into();
        packed(&[file("manifest.json", &serde_json::to_vec(&other_format).unwrap()), store()])
    };
    let mut damaged = good();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    let zeros = vec![0_u8; 100_000_000];
    let bomb = packed(&[described(&[("store/zeros", &zeros)]), file("store/zeros", &zeros)]);
    let mut followed = tar(&[described(members), store()]);
    followed.resize(followed.len() + 100_000, 7);
    vec![
        (b"PK\x03\x04 a zip, say".to_vec(), "does not begin as one"),
        (Vec::new(), "does not begin as one"),
        (good()[..good().len() - 40].to_vec(), "ends too early"),
        (damaged, "refused"),
        (zstd::encode_all(&[][..], 3).unwrap(), "it is empty"),
        (packed(&[store(), described(members)]), "where its manifest should be"),
        (packed(&[file("manifest.json", b"{"), store()]), "manifest is invalid"),
        (of_format(BUNDLE_FORMAT + 1), "has format 2, this program reads format 1"),
        (of_format(0), "has format 0, this program reads format 1"),
        (with("/etc/almanac", EntryType::Regular), "is an absolute path"),
        (with("store/../../x", EntryType::Regular), "leads out of the bundle"),
        (with("store//x", EntryType::Regular), "is not a plain path"),
        (with("store/link", EntryType::Symlink), "is a link"),
        (with("store/link", EntryType::Link), "is a link"),
        (with("store/null", EntryType::Char), "is a device"),
        (with("store/disk", EntryType::Block), "is a device"),
        (with("store/pipe", EntryType::Fifo), "is a pipe"),
        (with("store/folder", EntryType::Directory), "is a folder entry"),
        (with("store/long", EntryType::GNULongName), "of a kind that bundles do not have"),
        (packed(&[described(members), store(), store()]), "is in it twice"),
        (packed(&[described(members), store(), file("store/x", b"x")]), "is not in its manifest"),
        (packed(&[described(members)]), "is missing"),
        (
            packed(&[described(members), file("store/store.json", b"short")]),
            "has 5 bytes, its manifest says 14",
        ),
        (
            packed(&[described(members), file("store/store.json", b"{\"format\": 2}\n")]),
            "does not match its digest",
        ),
        (bomb, "to one"),
        (zstd::encode_all(&followed[..], 3).unwrap(), "something follows its last member"),
    ]
}

#[test]
fn hostile_bundles_are_refused_with_what_is_wrong_and_leave_nothing() {
    for (number, (bytes, wanted)) in hostile().into_iter().enumerate() {
        let folder = TempDir::new().unwrap();
        let path = at(folder.path(), &bytes);
        let cache = folder.path().join("cache");
        for error in [
            open(&path, &cache, &Limits::default()).unwrap_err(),
            verify(&path, &Limits::default()).unwrap_err(),
        ] {
            assert!(error.to_string().contains(wanted), "{number}: {error}, not {wanted}");
            assert!(matches!(error, Error::Refused { .. } | Error::Format { .. }), "{number}: {error:?}");
        }
        assert_eq!(fs_err::read_dir(&cache).unwrap().count(), 0, "{number} {wanted}");
    }
}

#[test]
fn more_than_the_limit_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = at(folder.path(), &good());
    let limits = Limits { total_bytes: 13, ..Limits::default() };
    assert!(verify(&path, &limits).unwrap_err().to_string().contains("more than 13 bytes"));
    let limits = Limits { manifest_bytes: 10, ..Limits::default() };
    assert!(verify(&path, &limits).unwrap_err().to_string().contains("more than 10 bytes"));
}

#[test]
fn a_good_bundle_opens_once_and_is_mended_when_its_folder_was_changed() {
    let folder = TempDir::new().unwrap();
    let path = at(folder.path(), &good());
    let cache = folder.path().join("cache");
    let opened = open(&path, &cache, &Limits::default()).unwrap();
    let file = opened.store.join("store.json");
    assert_eq!(fs_err::read(&file).unwrap(), STORE);
    fs_err::write(&file, b"{\"format\": 9}\n").unwrap();
    let again = open(&path, &cache, &Limits::default()).unwrap();
    assert_eq!(again.store, opened.store);
    assert_eq!(fs_err::read(&file).unwrap(), STORE);
    assert_eq!(fs_err::read_dir(&cache).unwrap().count(), 1);
}

#[test]
fn what_is_not_there_is_said() {
    let folder = TempDir::new().unwrap();
    let missing = folder.path().join("none.almanac");
    assert!(matches!(verify(&missing, &Limits::default()), Err(Error::Missing { .. })));
}
