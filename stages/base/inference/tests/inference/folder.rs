//! The files of models on this machine.

use fs_err as fs;
use std::path::Path;

use almanac_inference::models::{ModelCatalog, ModelState};
use miette::Diagnostic as _;

/// SHA-256 of `abc` and of the empty text: FIPS 180-2, appendix B.1, and RFC 6234.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn catalog(source: &str, files: &str) -> ModelCatalog {
    let text = format!(
        "[[model]]\nname = \"m\"\nrole = \"llm\"\nformat = \"gguf\"\narchitecture = \"llama\"\n\
         context_length = 8\nlicense = \"MIT\"\n{source}\n{files}\n"
    );
    ModelCatalog::parse(&text, "test.toml").unwrap()
}

fn pinned() -> ModelCatalog {
    catalog(
        "hub = { repo = \"a/b\", revision = \"main\" }",
        &format!(
            "files = [{{ name = \"one\", size = 3, sha256 = \"{ABC}\" }}, \
             {{ name = \"two\", size = 0, sha256 = \"{EMPTY}\" }}]"
        ),
    )
}

fn state(catalog: &ModelCatalog, dir: &Path) -> ModelState {
    catalog.list(dir).unwrap().remove(0).state
}

#[test]
fn states_in_the_order_of_a_life() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let catalog = pinned();
    assert_eq!(state(&catalog, dir), ModelState::Missing);
    let folder = dir.join("m");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("one"), "abc").unwrap();
    assert_eq!(state(&catalog, dir), ModelState::Incomplete { missing: vec!["two".to_owned()] });
    fs::write(folder.join("two"), "").unwrap();
    assert_eq!(state(&catalog, dir), ModelState::Present);

    let verified = catalog.verify("m", dir).unwrap();
    assert_eq!(verified[0].sha256, ABC);
    assert!(verified.iter().all(|file| file.pinned));
    assert_eq!(state(&catalog, dir), ModelState::Verified);

    fs::write(folder.join("one"), "abcd").unwrap();
    assert_eq!(state(&catalog, dir), ModelState::WrongSize { file: "one".to_owned(), expected: 3, found: 4 });
    // Same length, other contents: seen once somebody looks inside.
    fs::write(folder.join("one"), "abd").unwrap();
    assert_eq!(state(&catalog, dir), ModelState::Present);
    let error = catalog.verify("m", dir).unwrap_err();
    assert_eq!(state(&catalog, dir), ModelState::WrongDigest { file: "one".to_owned() });
    let text = error.to_string();
    // SHA-256 of `abd`, by sha256sum.
    let found = "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9";
    for part in [folder.join("one").to_str().unwrap(), ABC, found] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(error.code().unwrap().to_string(), "almanac::data");
}

#[test]
fn verify_names_what_is_missing_or_too_short() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let catalog = pinned();
    let error = catalog.verify("m", dir).unwrap_err();
    let path = dir.join("m/one");
    assert_eq!(error.to_string(), format!("model `m` lacks `{}`", path.display()));
    assert_eq!(error.code().unwrap().to_string(), "almanac::unavailable");
    assert!(error.help().unwrap().to_string().contains("almanac models get m"));
    fs::create_dir(dir.join("m")).unwrap();
    fs::write(&path, "ab").unwrap();
    let error = catalog.verify("m", dir).unwrap_err();
    assert_eq!(error.to_string(), format!("`{}` has 2 bytes, model `m` declares 3", path.display()));
}

#[test]
fn identity_of_unpinned_files_follows_their_contents() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("models");
    let weights = scratch.path().join("mine.gguf");
    let catalog = catalog(&format!("path = {:?}", weights.to_str().unwrap()), "");
    assert_eq!(state(&catalog, &dir), ModelState::Missing);
    let error = catalog.identity("m", &dir).unwrap_err();
    assert!(error.help().unwrap().to_string().contains("`path`"), "{error:?}");

    fs::write(&weights, "one").unwrap();
    let one = catalog.identity("m", &dir).unwrap();
    assert_eq!(catalog.identity("m", &dir).unwrap(), one);
    assert_eq!(state(&catalog, &dir), ModelState::Present);
    fs::write(&weights, "three").unwrap();
    assert_ne!(catalog.identity("m", &dir).unwrap(), one);
    fs::write(&weights, "one").unwrap();
    assert_eq!(catalog.identity("m", &dir).unwrap(), one);

    // The same file found in a folder, where other files do not count.
    let folder = scratch.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("mine.gguf"), "one").unwrap();
    fs::write(folder.join("README.md"), "about").unwrap();
    let catalog = self::catalog(&format!("path = {:?}", folder.to_str().unwrap()), "");
    assert_eq!(catalog.identity("m", &dir).unwrap(), one);
    let verified = catalog.verify("m", &dir).unwrap();
    assert_eq!(verified.len(), 1);
    assert!(!verified[0].pinned);
}
