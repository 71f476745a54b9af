//! The corpora of `eval/graph/corpora.toml`, and bringing their trees here.

use std::path::{Path, PathBuf};
use std::process::Command;

use almanac_artifact::Digest;
use serde::Deserialize;

use crate::error::Error;

/// All corpora.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Corpora {
    /// Version of libclang.
    pub(crate) clang: u32,
    pub(crate) corpus: Vec<Corpus>,
}

/// A tree, and the translation units that show it to the compiler.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Corpus {
    pub(crate) name: String,
    /// What it is, for the table.
    pub(crate) about: String,
    /// Folder of the repository that is the tree.
    pub(crate) folder: Option<PathBuf>,
    /// Debian package whose files are the tree.
    pub(crate) package: Option<String>,
    /// Folder of the package below which the tree is.
    #[serde(default)]
    pub(crate) below: PathBuf,
    /// What is taken from there; everything when empty.
    #[serde(default)]
    pub(crate) take: Vec<PathBuf>,
    /// Packages whose headers are needed to compile.
    #[serde(default)]
    pub(crate) needs: Vec<String>,
    /// Units in the tree.
    #[serde(default)]
    pub(crate) units: Vec<PathBuf>,
    /// Units of our own, beside the list of corpora.
    #[serde(default)]
    pub(crate) drivers: Vec<Driver>,
    /// Flags; `{tree}`, `{drivers}` and `{packages}` stand for folders.
    #[serde(default)]
    pub(crate) flags: Vec<String>,
}

/// A unit of our own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Driver {
    pub(crate) file: PathBuf,
    /// Flags behind those of the corpus.
    #[serde(default)]
    pub(crate) flags: Vec<String>,
}

impl Corpora {
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let text =
            fs_err::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        toml::from_str(&text)
            .map_err(|source| Error::Corpora { path: path.to_owned(), source: Box::new(source) })
    }
}

/// Where things lie.
#[derive(Debug)]
pub(crate) struct Folders {
    /// Top of the repository.
    pub(crate) repository: PathBuf,
    /// Where trees, stores and truths are kept.
    pub(crate) work: PathBuf,
}

impl Folders {
    pub(crate) fn evaluation(&self) -> PathBuf {
        self.repository.join("eval/graph")
    }

    pub(crate) fn of(&self, corpus: &Corpus) -> PathBuf {
        self.work.join(&corpus.name)
    }

    pub(crate) fn tree(&self, corpus: &Corpus) -> PathBuf {
        self.of(corpus).join("tree")
    }

    fn packages(&self) -> PathBuf {
        self.work.join("packages")
    }

    /// A flag with its folders.
    pub(crate) fn flag(&self, flag: &str, corpus: &Corpus) -> String {
        flag.replace("{tree}", &self.tree(corpus).to_string_lossy())
            .replace("{drivers}", &self.evaluation().join("drivers").to_string_lossy())
            .replace("{packages}", &self.packages().to_string_lossy())
    }
}

/// Brings a corpus's tree and what it needs into the work folder.
pub(crate) fn prepare(corpus: &Corpus, folders: &Folders) -> Result<(), Error> {
    for package in corpus.package.iter().chain(&corpus.needs) {
        fetch(package, folders)?;
    }
    let tree = folders.tree(corpus);
    let from = match (&corpus.folder, &corpus.package) {
        (Some(folder), _) => folders.repository.join(folder),
        (None, Some(package)) => folders.packages().join(package).join(&corpus.below),
        (None, None) => return Err(Error::NoTree { corpus: corpus.name.clone() }),
    };
    let everything = [PathBuf::new()];
    let take: &[PathBuf] = if corpus.take.is_empty() { &everything } else { &corpus.take };
    let key = Digest::of(|encoder| {
        for part in take {
            encoder.text(&part.to_string_lossy());
            for (path, bytes) in files_below(&from.join(part)) {
                encoder.text(&path).bytes(&bytes);
            }
        }
    });
    // A tree that is there already is left alone: another run may be reading it.
    let stamp = folders.of(corpus).join("tree.key");
    if fs_err::read_to_string(&stamp).is_ok_and(|text| text == key.to_string()) {
        return Ok(());
    }
    let io = |path: &Path, source| Error::Copy { path: path.to_owned(), source };
    if tree.exists() {
        fs_err::remove_dir_all(&tree).map_err(|source| io(&tree, source))?;
    }
    for part in take {
        copy(&from.join(part), &tree.join(part)).map_err(|source| io(&from.join(part), source))?;
    }
    fs_err::write(&stamp, key.to_string()).map_err(|source| io(&stamp, source))
}

/// Files below a folder with their bytes, by path; an unreadable one is empty.
pub(crate) fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(current) = pending.pop() {
        for entry in fs_err::read_dir(&current).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
                files.push((name, fs_err::read(&path).unwrap_or_default()));
            }
        }
    }
    files.sort();
    files
}

/// Unpacks a Debian package into the work folder; nothing is installed. One that is installed is
/// copied, which needs no network.
fn fetch(package: &str, folders: &Folders) -> Result<(), Error> {
    let folder = folders.packages().join(package);
    if folder.is_dir() {
        return Ok(());
    }
    let failed = |what: &str| Error::Package { package: package.to_owned(), what: what.to_owned() };
    if let Some(files) = installed(package) {
        for file in files {
            let to = folder.join(file.strip_prefix("/").unwrap_or(&file));
            copy(&file, &to).map_err(|source| Error::Copy { path: to, source })?;
        }
        return Ok(());
    }
    let downloads = folders.packages().join(format!("{package}.download"));
    fs_err::create_dir_all(&downloads).map_err(|source| Error::Copy { path: downloads.clone(), source })?;
    run(Command::new("apt-get").args(["download", "-qq", package]).current_dir(&downloads))
        .map_err(|what| failed(&what))?;
    let archive = fs_err::read_dir(&downloads)
        .ok()
        .and_then(|mut entries| entries.next()?.ok())
        .ok_or_else(|| failed("nothing was downloaded"))?;
    let unpacked = folders.packages().join(format!("{package}.unpacked"));
    run(Command::new("dpkg-deb").arg("-x").arg(archive.path()).arg(&unpacked))
        .map_err(|what| failed(&what))?;
    fs_err::rename(&unpacked, &folder).map_err(|source| Error::Copy { path: folder, source })
}

/// Files of an installed package.
fn installed(package: &str) -> Option<Vec<PathBuf>> {
    let output = Command::new("dpkg").args(["-L", package]).output().ok().filter(|it| it.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let files: Vec<PathBuf> = text.lines().map(PathBuf::from).filter(|path| path.is_file()).collect();
    (!files.is_empty()).then_some(files)
}

/// Runs a command; what it said when it fails.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

/// Copies a file, or a folder with what is in it; links are followed.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        fs_err::create_dir_all(to.parent().unwrap_or(to))?;
        return fs_err::copy(from, to).map(|_| ());
    }
    fs_err::create_dir_all(to)?;
    for entry in fs_err::read_dir(from)? {
        let name = entry?.file_name();
        copy(&from.join(&name), &to.join(&name))?;
    }
    Ok(())
}
