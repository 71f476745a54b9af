//! A store written as a bundle: the same store gives the same bytes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use almanac_artifact::{Artifact, Digest, FileHasher, STORE_FORMAT, Store};
use almanac_catalog::{PARSE, PIPELINE};
use serde_json::Value;
use tar::{EntryType, Header};

use crate::manifest::MANIFEST;
use crate::{BUNDLE_FORMAT, Error, Manifest, Member, Result};

/// Fixed, for the bytes depend on it.
const COMPRESSION_LEVEL: i32 = 12;

const LICENCE_NOTES: &str = "Holds the text of the indexed source files, which keeps the licence of the \
     project it comes from. Model weights are not included; texts were made by the models that \
     `identities` names.";

/// A finished bundle.
#[derive(Debug)]
pub struct Created {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its first member.
    pub manifest: Manifest,
    /// Bytes before compression, by artifact.
    pub parts: BTreeMap<String, u64>,
}

/// Where the bytes of a member are.
enum Content {
    Bytes(Vec<u8>),
    File(PathBuf),
}

/// Writes the current artifacts of `profile` to `<folder>/<project>-<commit8>-<key8>.almanac`. The
/// file has a temporary name until it is whole.
///
/// # Errors
/// An artifact that is missing or damaged, or a folder that cannot be written.
pub fn create(store: &Store, profile: &str, project: &str, folder: &Path) -> Result<Created> {
    let mut contents = BTreeMap::new();
    let description = format!("{{\n  \"format\": {STORE_FORMAT}\n}}\n");
    contents.insert("store/store.json".to_owned(), Content::Bytes(description.into_bytes()));
    let mut artifacts = Vec::new();
    for stage in PIPELINE {
        let artifact = store.current(profile, stage.artifact, stage.name)?;
        artifact.verify()?;
        for file in files_of(&artifact) {
            let path = artifact.folder().join(&file);
            let name = format!("store/{}/{}/{file}", stage.artifact, artifact.manifest().key.hex(32));
            contents.insert(name, Content::File(path));
        }
        let current = store.root().join(format!("refs/{profile}/{}.json", stage.artifact));
        contents.insert(format!("store/refs/{profile}/{}.json", stage.artifact), Content::File(current));
        artifacts.push(artifact);
    }
    let manifest = describe(project, profile, &artifacts, &contents)?;
    let commit = manifest.commit.as_deref().map_or("nocommit", |commit| &commit[..commit.len().min(8)]);
    let path = folder.join(format!("{project}-{commit}-{}.almanac", manifest.key.short()));
    let bytes = write(&path, folder, &manifest, &contents)?;
    let mut parts = BTreeMap::new();
    for (name, member) in &manifest.members {
        let part = name.split('/').nth(1).unwrap_or_default();
        *parts.entry(part.to_owned()).or_insert(0) += member.bytes;
    }
    Ok(Created { path, bytes, manifest, parts })
}

/// The manifest and what it names. Provenance, which has times and hosts, stays behind.
fn files_of(artifact: &Artifact) -> Vec<String> {
    let manifest = artifact.manifest();
    let parts = manifest.tables.values().flat_map(|table| &table.parts).map(|part| part.file.clone());
    let files = manifest.files.iter().map(|file| file.file.clone());
    parts.chain(files).chain(["manifest.json".to_owned()]).collect()
}

fn describe(
    project: &str,
    profile: &str,
    artifacts: &[Artifact],
    contents: &BTreeMap<String, Content>,
) -> Result<Manifest> {
    let mut members = BTreeMap::new();
    for (name, content) in contents {
        members.insert(name.clone(), measured(content)?);
    }
    let each = || artifacts.iter().map(Artifact::manifest);
    let sources = artifacts.iter().find(|artifact| artifact.manifest().artifact == PARSE.artifact);
    let provenance = sources.and_then(|sources| fs_err::read(sources.folder().join("provenance.json")).ok());
    let provenance: Value =
        provenance.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    // Part of a file name, so nothing but a commit will do.
    let is_commit = |text: &&str| text.len() >= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok(Manifest {
        format: BUNDLE_FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        project: project.to_owned(),
        profile: profile.to_owned(),
        commit: provenance["commit"].as_str().filter(is_commit).map(str::to_owned),
        dirty: provenance["dirty"].as_bool(),
        key: each().next_back().map_or_else(|| Digest::of_bytes(b""), |index| index.key),
        revisions: each().map(|found| (found.parts.stage.clone(), found.parts.revision)).collect(),
        identities: each().map(|found| (found.artifact.clone(), found.parts.identities.clone())).collect(),
        settings: each().map(|found| (found.artifact.clone(), found.parts.params.clone())).collect(),
        counts: each()
            .flat_map(|found| found.tables.iter().map(|(name, table)| (name.clone(), table.rows)))
            .collect(),
        licence_notes: LICENCE_NOTES.to_owned(),
        members,
    })
}

/// Size and digest of a member.
fn measured(content: &Content) -> Result<Member> {
    match content {
        Content::Bytes(bytes) => Ok(Member { bytes: bytes.len() as u64, digest: Digest::of_bytes(bytes) }),
        Content::File(path) => {
            let failed = || Error::io("read", path);
            let file = fs_err::File::open(path).map_err(failed())?;
            let bytes = file.metadata().map_err(failed())?.len();
            Ok(Member { bytes, digest: Digest::of_reader(file).map_err(failed())? })
        }
    }
}

fn write(
    path: &Path,
    folder: &Path,
    manifest: &Manifest,
    contents: &BTreeMap<String, Content>,
) -> Result<u64> {
    fs_err::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let failed = || Error::io("write", path);
    let readable = std::fs::Permissions::from_mode(0o644);
    // Removed when dropped, so an error leaves nothing.
    let mut file = tempfile::Builder::new().permissions(readable).tempfile_in(folder).map_err(failed())?;
    let mut encoder = zstd::Encoder::new(file.as_file_mut(), COMPRESSION_LEVEL).map_err(failed())?;
    let described = serde_json::to_vec_pretty(manifest).map_err(|error| failed()(error.into()))?;
    let size = described.len() as u64;
    append(&mut encoder, MANIFEST, size, &mut described.as_slice()).map_err(failed())?;
    for (name, content) in contents {
        let Some(member) = manifest.members.get(name) else { continue };
        let written = match content {
            Content::Bytes(bytes) => append(&mut encoder, name, member.bytes, &mut bytes.as_slice()),
            Content::File(path) => fs_err::File::open(path)
                .and_then(|mut file| append(&mut encoder, name, member.bytes, &mut file)),
        };
        if written.map_err(failed())? != member.digest {
            return Err(failed()(std::io::Error::other(format!("{name} changed while it was read"))));
        }
    }
    // Two empty blocks end a tar.
    encoder.write_all(&[0; 1024]).map_err(failed())?;
    encoder.finish().map_err(failed())?;
    file.as_file().sync_all().map_err(failed())?;
    let bytes = file.as_file().metadata().map_err(failed())?.len();
    file.persist(path).map_err(|error| failed()(error.error))?;
    Ok(bytes)
}

/// One member with nothing in its header that differs between machines; gives the digest of its bytes,
/// which are never held all at once.
fn append(to: &mut impl Write, name: &str, size: u64, bytes: &mut impl Read) -> std::io::Result<Digest> {
    let mut header = Header::new_ustar();
    header.set_path(name)?;
    header.set_size(size);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_entry_type(EntryType::Regular);
    header.set_cksum();
    to.write_all(header.as_bytes())?;
    let mut hasher = FileHasher::default();
    let mut buffer = vec![0; 1 << 16];
    let mut written = 0;
    loop {
        let length = bytes.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        hasher.write_all(&buffer[..length])?;
        to.write_all(&buffer[..length])?;
        written += length as u64;
    }
    if written != size {
        return Err(std::io::Error::other(format!("{name} changed while it was read")));
    }
    let padding = (size.next_multiple_of(512) - size) as usize;
    to.write_all(&[0; 512][..padding])?;
    Ok(hasher.finish())
}
