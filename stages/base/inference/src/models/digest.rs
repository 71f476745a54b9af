//! SHA-256 of files.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::Result;

/// Bytes read at a time.
const BLOCK: usize = 1 << 20;

/// SHA-256 of a file, hexadecimal.
pub(crate) fn file_sha256(path: &Path) -> Result<String> {
    let mut file = fs_err::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK];
    loop {
        let count = file.read(&mut block)?;
        if count == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(&block[..count]);
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
