//! Digests and the one byte encoding they are taken over.
//!
//! The encoding is specified so that a key computed by another program, or by this one in ten
//! years, is the same: integers little-endian and fixed width, lengths as `u64`, text as its
//! length and UTF-8 bytes, options as one byte and the value, floats as the bits of the value with
//! `-0.0` and every NaN made one. A sequence is its length and its items; a map is a sequence of
//! pairs in key order.

use std::fmt;
use std::io::{Read, Write};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A BLAKE3 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Digest of raw bytes, such as a file.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Digest of whatever `encode` writes.
    pub fn of(encode: impl FnOnce(&mut Encoder)) -> Self {
        let mut encoder = Encoder::default();
        encode(&mut encoder);
        encoder.finish()
    }

    /// Digest of everything `reader` gives, without holding it in memory.
    pub fn of_reader(reader: impl Read) -> std::io::Result<Self> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(reader)?;
        Ok(Self(*hasher.finalize().as_bytes()))
    }

    /// First eight hex digits, for people.
    pub fn short(&self) -> String {
        self.to_string()[..8].to_owned()
    }

    /// First `n` hex digits (at most 64), for ids.
    pub fn hex(&self, n: usize) -> String {
        self.to_string()[..n.min(64)].to_owned()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(blake3::Hash::from(self.0).to_hex().as_str())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        blake3::Hash::from_hex(text)
            .map(|hash| Self(*hash.as_bytes()))
            .map_err(|_| "a digest is 64 hexadecimal digits")
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Hashes bytes as they are written.
#[derive(Default)]
pub struct FileHasher(blake3::Hasher);

impl FileHasher {
    /// The digest of everything written.
    pub fn finish(self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }
}

impl Write for FileHasher {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Writes values in the specified encoding.
#[derive(Default)]
pub struct Encoder {
    hasher: blake3::Hasher,
    /// What is not hashed yet: BLAKE3 takes many small pieces several times as long as a large one.
    pending: Vec<u8>,
}

/// Bytes that are hashed at once.
const PIECE: usize = 64 * 1024;

impl Encoder {
    fn put(&mut self, bytes: &[u8]) {
        if self.pending.len() + bytes.len() > PIECE {
            self.hasher.update(&self.pending);
            self.pending.clear();
        }
        if bytes.len() > PIECE {
            self.hasher.update(bytes);
        } else {
            self.pending.extend_from_slice(bytes);
        }
    }

    /// A length or count.
    pub fn length(&mut self, length: usize) -> &mut Self {
        self.u64(length as u64)
    }

    /// Length-prefixed UTF-8.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    /// Length-prefixed bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.length(bytes.len());
        self.put(bytes);
        self
    }

    /// Four bytes, little-endian.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.put(&value.to_le_bytes());
        self
    }

    /// Eight bytes, little-endian.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.put(&value.to_le_bytes());
        self
    }

    /// One byte.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.put(&[u8::from(value)]);
        self
    }

    /// Four bytes; `-0.0` as `0.0`, NaN as one NaN.
    pub fn f32(&mut self, value: f32) -> &mut Self {
        let value = if value.is_nan() { f32::NAN } else { value + 0.0 };
        self.u32(value.to_bits())
    }

    /// Eight bytes; `-0.0` as `0.0`, NaN as one NaN.
    pub fn f64(&mut self, value: f64) -> &mut Self {
        let value = if value.is_nan() { f64::NAN } else { value + 0.0 };
        self.u64(value.to_bits())
    }

    /// 32 bytes.
    pub fn digest(&mut self, digest: &Digest) -> &mut Self {
        self.put(&digest.0);
        self
    }

    /// One byte, then the value when there is one.
    pub fn option<T>(&mut self, value: Option<T>, encode: impl FnOnce(&mut Self, T)) -> &mut Self {
        self.bool(value.is_some());
        if let Some(value) = value {
            encode(self, value);
        }
        self
    }

    /// The digest of everything encoded.
    pub fn finish(mut self) -> Digest {
        self.hasher.update(&self.pending);
        Digest(*self.hasher.finalize().as_bytes())
    }
}
