//! The head of one GGUF file, read with every length checked against the file before it is believed.
//!
//! The engine's own reader allocates what a length field asks for, and a damaged one asks for
//! anything. What is read here is what [`super::check`] judges; lists are skipped but for their length.

use std::collections::BTreeMap;
use std::io::{BufReader, Read as _};
use std::path::Path;

/// Longest key, tensor name or text: chat templates are the longest there are.
const LONGEST_TEXT: u64 = 1 << 24;
/// Most items of one list: vocabularies and merges have less than a million.
const LONGEST_LIST: u64 = 1 << 22;
/// Lists inside lists.
const DEEPEST_LIST: usize = 2;
/// Most dimensions of a tensor (`GGML_MAX_DIMS`).
const MOST_DIMENSIONS: u32 = 4;
/// Alignment of tensors where the file names none.
const USUAL_ALIGNMENT: u64 = 32;

/// Number, name, values in a block and bytes of a block of the types the engine reads.
const TYPES: [(u32, &str, u64, u64); 15] = [
    (0, "F32", 1, 4),
    (1, "F16", 1, 2),
    (2, "Q4_0", 32, 18),
    (3, "Q4_1", 32, 20),
    (6, "Q5_0", 32, 22),
    (7, "Q5_1", 32, 24),
    (8, "Q8_0", 32, 34),
    (9, "Q8_1", 32, 36),
    (10, "Q2_K", 256, 84),
    (11, "Q3_K", 256, 110),
    (12, "Q4_K", 256, 144),
    (13, "Q5_K", 256, 176),
    (14, "Q6_K", 256, 210),
    (15, "Q8_K", 256, 292),
    (30, "BF16", 1, 2),
];

/// A value of the metadata.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Bool(bool),
    Text(String),
    /// Only its length.
    List(u64),
}

/// What the head says, and where the tensors are.
#[derive(Debug, Default)]
pub(crate) struct Header {
    pub(crate) metadata: BTreeMap<String, Value>,
    /// Dimensions of each tensor, the innermost first.
    pub(crate) tensors: BTreeMap<String, Vec<u64>>,
}

/// Reads the head of `path` and checks that all it announces lies in the file.
pub(crate) fn read(path: &Path) -> crate::Result<Header> {
    let mut reader = HeadReader::open(path)?;
    match reader.header() {
        Ok(header) => Ok(header),
        Err(Stop::Fault(fault)) => Err(crate::Error::Gguf { path: path.to_path_buf(), fault }),
        Err(Stop::Io(error)) => Err(error.into()),
    }
}

/// Why reading stopped.
enum Stop {
    Fault(String),
    Io(std::io::Error),
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

fn fault<T>(fault: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Fault(fault.into()))
}

struct HeadReader {
    file: BufReader<fs_err::File>,
    position: u64,
    length: u64,
}

/// A tensor as announced.
struct Announced {
    name: String,
    offset: u64,
    bytes: u64,
}

impl HeadReader {
    fn open(path: &Path) -> crate::Result<Self> {
        let file = fs_err::File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { file: BufReader::with_capacity(1 << 20, file), position: 0, length })
    }

    fn header(&mut self) -> Result<Header, Stop> {
        let not_gguf = "it does not begin with `GGUF`";
        if self.length < 4 || &self.bytes::<4>()? != b"GGUF" {
            return fault(not_gguf);
        }
        match self.u32()? {
            2 | 3 => {}
            1 => return fault("it is of GGUF version 1, which nothing writes any more: convert it anew"),
            version if (1..=3).contains(&version.swap_bytes()) => {
                return fault("it is written for big-endian machines");
            }
            version => return fault(format!("it is of GGUF version {version}; versions 2 and 3 are known")),
        }
        let tensors = self.u64()?;
        let keys = self.u64()?;
        let mut header = Header::default();
        for _ in 0..keys {
            let key = self.text()?;
            let kind = self.u32()?;
            let value = self.value(kind, 0)?;
            header.metadata.insert(key, value);
        }
        let mut announced = Vec::new();
        for _ in 0..tensors {
            let (tensor, dimensions) = self.tensor()?;
            if header.tensors.insert(tensor.name.clone(), dimensions).is_some() {
                return fault(format!("tensor `{}` is there twice", tensor.name));
            }
            announced.push(tensor);
        }
        self.check_places(&header, &announced)?;
        Ok(header)
    }

    /// Every tensor must lie in the file, at a multiple of the alignment.
    fn check_places(&self, header: &Header, announced: &[Announced]) -> Result<(), Stop> {
        let alignment = match header.metadata.get("general.alignment") {
            None => USUAL_ALIGNMENT,
            Some(Value::Unsigned(alignment)) if (1..=1 << 20).contains(alignment) => *alignment,
            Some(other) => return fault(format!("`general.alignment` is {other:?}")),
        };
        let data = self.position.div_ceil(alignment) * alignment;
        for tensor in announced {
            if tensor.offset % alignment != 0 {
                return fault(format!("tensor `{}` is not aligned to {alignment} bytes", tensor.name));
            }
            let end = data.checked_add(tensor.offset).and_then(|start| start.checked_add(tensor.bytes));
            if end.is_none_or(|end| end > self.length) {
                let (name, length) = (&tensor.name, self.length);
                let end = end.map_or_else(|| "beyond any file".to_owned(), |end| format!("at byte {end}"));
                return fault(format!("it is truncated: tensor `{name}` ends {end} of {length}"));
            }
        }
        Ok(())
    }

    fn tensor(&mut self) -> Result<(Announced, Vec<u64>), Stop> {
        let name = self.text()?;
        let count = self.u32()?;
        if !(1..=MOST_DIMENSIONS).contains(&count) {
            return fault(format!("tensor `{name}` has {count} dimensions, not 1 to {MOST_DIMENSIONS}"));
        }
        let dimensions = (0..count).map(|_| self.u64()).collect::<Result<Vec<u64>, Stop>>()?;
        let kind = self.u32()?;
        let Some((_, kind, block, block_bytes)) = TYPES.into_iter().find(|(number, ..)| *number == kind)
        else {
            return fault(format!(
                "tensor `{name}` has the type number {kind}, which the engine cannot read"
            ));
        };
        let values = dimensions.iter().try_fold(1_u64, |values, size| values.checked_mul(*size));
        let Some(values) = values.filter(|values| *values > 0 && dimensions[0].is_multiple_of(block)) else {
            return fault(format!("tensor `{name}` of type {kind} has the impossible shape {dimensions:?}"));
        };
        let Some(bytes) = (values / block).checked_mul(block_bytes) else {
            return fault(format!("tensor `{name}` has the impossible shape {dimensions:?}"));
        };
        let offset = self.u64()?;
        Ok((Announced { name, offset, bytes }, dimensions))
    }

    fn value(&mut self, kind: u32, depth: usize) -> Result<Value, Stop> {
        Ok(match kind {
            0 => Value::Unsigned(self.bytes::<1>()?[0].into()),
            1 => Value::Signed(i8::from_le_bytes(self.bytes()?).into()),
            2 => Value::Unsigned(u16::from_le_bytes(self.bytes()?).into()),
            3 => Value::Signed(i16::from_le_bytes(self.bytes()?).into()),
            4 => Value::Unsigned(self.u32()?.into()),
            5 => Value::Signed(i32::from_le_bytes(self.bytes()?).into()),
            6 => Value::Float(f32::from_le_bytes(self.bytes()?).into()),
            7 => match self.bytes::<1>()?[0] {
                truth @ (0 | 1) => Value::Bool(truth == 1),
                other => return fault(format!("its head is damaged: a truth value is {other}")),
            },
            8 => Value::Text(self.text()?),
            9 => Value::List(self.list(depth)?),
            10 => Value::Unsigned(self.u64()?),
            11 => Value::Signed(i64::from_le_bytes(self.bytes()?)),
            12 => Value::Float(f64::from_le_bytes(self.bytes()?)),
            other => return fault(format!("its head is damaged: a value is of type {other}")),
        })
    }

    /// Skips a list and gives its length.
    fn list(&mut self, depth: usize) -> Result<u64, Stop> {
        let kind = self.u32()?;
        let items = self.u64()?;
        if items > LONGEST_LIST || depth >= DEEPEST_LIST {
            return fault(format!("its head is damaged: a list of {items} items, {depth} lists deep"));
        }
        match kind {
            0 | 1 => self.skip(items)?,
            2 | 3 => self.skip(2 * items)?,
            4..=6 => self.skip(4 * items)?,
            10..=12 => self.skip(8 * items)?,
            7 => {
                for _ in 0..items {
                    self.value(kind, depth)?;
                }
            }
            8 => {
                for _ in 0..items {
                    let length = self.text_length()?;
                    self.skip(length)?;
                }
            }
            9 => {
                for _ in 0..items {
                    self.list(depth + 1)?;
                }
            }
            other => return fault(format!("its head is damaged: a list is of type {other}")),
        }
        Ok(items)
    }

    fn text(&mut self) -> Result<String, Stop> {
        let length = self.text_length()?;
        let mut bytes = vec![0; length as usize];
        self.file.read_exact(&mut bytes)?;
        self.position += length;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned())
    }

    fn text_length(&mut self) -> Result<u64, Stop> {
        let length = self.u64()?;
        if length > LONGEST_TEXT {
            return fault(format!("its head is damaged: a text of {length} bytes"));
        }
        self.require(length)?;
        Ok(length)
    }

    fn skip(&mut self, bytes: u64) -> Result<(), Stop> {
        self.require(bytes)?;
        // A file is shorter than 2^63 bytes, and what is skipped lies in it.
        self.file.seek_relative(bytes as i64)?;
        self.position += bytes;
        Ok(())
    }

    fn u32(&mut self) -> Result<u32, Stop> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    fn u64(&mut self) -> Result<u64, Stop> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    fn bytes<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], Stop> {
        self.require(COUNT as u64)?;
        let mut bytes = [0; COUNT];
        self.file.read_exact(&mut bytes)?;
        self.position += COUNT as u64;
        Ok(bytes)
    }

    /// The file must go on for so many bytes.
    fn require(&self, bytes: u64) -> Result<(), Stop> {
        if self.position.checked_add(bytes).is_none_or(|end| end > self.length) {
            return fault(format!("it is truncated: its head does not end in {} bytes", self.length));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use candle_core::quantized::GgmlDType as Type;

    use super::*;

    /// The engine's own numbers for the types.
    #[test]
    fn types_are_as_the_engine_has_them() {
        let engine = [
            Type::F32,
            Type::F16,
            Type::Q4_0,
            Type::Q4_1,
            Type::Q5_0,
            Type::Q5_1,
            Type::Q8_0,
            Type::Q8_1,
            Type::Q2K,
            Type::Q3K,
            Type::Q4K,
            Type::Q5K,
            Type::Q6K,
            Type::Q8K,
            Type::BF16,
        ];
        for (found, (_, name, block, bytes)) in engine.into_iter().zip(TYPES) {
            assert_eq!(format!("{found:?}"), name.replace("_K", "K"));
            assert_eq!((found.block_size() as u64, found.type_size() as u64), (block, bytes), "{name}");
        }
    }
}
