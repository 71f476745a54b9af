//! Which files are in the tree, and what must not stop or hang the walk.

use std::fs;
use std::path::Path;
use std::process::Command;

use almanac_freshness::Error;
use almanac_freshness::tree::{Tree, TreeRules};
use tempfile::TempDir;

fn tree_of(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn scan(root: &Path, store: &Path) -> almanac_freshness::Result<Vec<String>> {
    let rules = TreeRules { max_file_bytes: 1000, ignore: vec!["*.dat".to_owned()], include_hidden: true };
    Ok(Tree::scan(root, &rules, store)?.files.into_iter().map(|file| file.path).collect())
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn ignore_files_of_the_tree_decide() {
    let tree = tree_of(&[
        ("a.h", ""),
        ("b.dat", ""),
        (".gitignore", "build/\n"),
        ("build/c.h", ""),
        ("sub/.ignore", "*.tmp\n"),
        ("sub/d.tmp", ""),
        ("sub/e.h", ""),
        (".git/config", ""),
    ]);
    let found = scan(tree.path(), &tree.path().join("store")).unwrap();
    assert_eq!(found, [".gitignore", "a.h", "sub/.ignore", "sub/e.h"]);
}

#[test]
fn an_ignore_file_that_never_ends_leaves_its_folder_out() {
    for (name, make) in [
        (".gitignore", make_pipe as fn(&Path)),
        (".ignore", make_pipe),
        (".gitignore", |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap()),
        (".ignore", |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
    ] {
        let tree = tree_of(&[("a.h", ""), ("sub/b.h", ""), ("sub/deep/c.h", ""), ("other/d.h", "")]);
        make(&tree.path().join("sub").join(name));
        assert_eq!(scan(tree.path(), Path::new("/nonexistent")).unwrap(), ["a.h", "other/d.h"], "{name}");
        let error = scan(&tree.path().join("sub"), Path::new("/nonexistent")).unwrap_err();
        assert!(matches!(&error, Error::IgnoreFile { path } if path.ends_with(name)), "{error}");
    }
}

#[test]
fn pipes_and_links_are_no_files_of_the_tree() {
    let tree = tree_of(&[("a.h", ""), ("rules/real", "*.o\n"), ("sub/b.o", ""), ("sub/c.h", "")]);
    make_pipe(&tree.path().join("pipe.cpp"));
    std::os::unix::fs::symlink("a.h", tree.path().join("link.h")).unwrap();
    // A link to rules is rules; one to nowhere is nothing.
    std::os::unix::fs::symlink("../rules/real", tree.path().join("sub/.gitignore")).unwrap();
    std::os::unix::fs::symlink("nowhere", tree.path().join(".ignore")).unwrap();
    let found = scan(tree.path(), Path::new("/nonexistent")).unwrap();
    assert_eq!(found, ["a.h", "rules/real", "sub/c.h"]);
}

#[test]
fn the_store_may_lie_in_the_tree_but_not_be_it() {
    let tree = tree_of(&[("a.h", ""), ("store/sources/x/files.parquet", "")]);
    assert_eq!(scan(tree.path(), &tree.path().join("store")).unwrap(), ["a.h"]);
    let link = TempDir::new().unwrap();
    let link = link.path().join("link");
    std::os::unix::fs::symlink(tree.path(), &link).unwrap();
    for store in [tree.path().to_owned(), tree.path().join("store/.."), link] {
        let error = scan(tree.path(), &store).unwrap_err();
        assert!(matches!(error, Error::StoreIsTree { .. }), "{error}");
    }
    assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 2);
}
