//! Rows to Parquet files and back, with every choice that changes bytes pinned.

use std::io::{BufWriter, Write};
use std::path::Path;

use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

use crate::{Error, FileHasher, PartEntry, Result, Table};

/// Rows of one batch; part of the byte layout, hence fixed.
const BATCH_ROWS: usize = 4096;
/// Rows of one row group.
const ROW_GROUP_ROWS: usize = 16 * BATCH_ROWS;
/// Rows of one part file.
pub(crate) const PART_ROWS: usize = 16 * ROW_GROUP_ROWS;

fn properties<T: Table>() -> WriterProperties {
    // zstd level 3 is the library's own default and always valid.
    let level = ZstdLevel::try_new(3).unwrap_or_default();
    let mut builder = WriterProperties::builder()
        .set_created_by("almanac".to_owned())
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(level))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS));
    for column in T::columns() {
        if column.data_type.contains("Float32") && column.data_type.starts_with("List") {
            // Vectors: a dictionary or statistics cost time and space for nothing.
            let path = ColumnPath::from(vec![column.name.to_owned(), "list".to_owned(), "item".to_owned()]);
            builder = builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT);
        }
    }
    builder.build()
}

/// Writes sorted rows to one file and says what was written.
pub(crate) fn write_part<T: Table>(path: &Path, rows: &[T]) -> Result<PartEntry> {
    let failed = |source| Error::WriteTable { table: T::NAME, path: path.to_owned(), source };
    let file = fs_err::File::create(path).map_err(Error::io("create", path))?;
    let mut sink = HashingWriter { inner: BufWriter::new(file), hasher: FileHasher::default(), bytes: 0 };
    let mut writer = ArrowWriter::try_new(&mut sink, T::schema(), Some(properties::<T>())).map_err(failed)?;
    for batch in rows.chunks(BATCH_ROWS) {
        writer.write(&T::to_batch(batch)?).map_err(failed)?;
    }
    writer.close().map_err(failed)?;
    sink.inner.flush().map_err(Error::io("write", path))?;
    sink.inner.get_ref().sync_all().map_err(Error::io("sync", path))?;
    Ok(PartEntry {
        file: path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        rows: rows.len() as u64,
        bytes: sink.bytes,
        digest: sink.hasher.finish(),
    })
}

/// Reads every row of one file.
pub fn read_part<T: Table>(path: &Path) -> Result<Vec<T>> {
    let failed = |source| Error::ReadTable { table: T::NAME, path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(Error::io("open", path))?;
    // A damaged footer can send the decoder into arithmetic that panics; damage is an error here.
    let read = std::panic::catch_unwind(|| -> Result<Vec<T>> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .and_then(|builder| builder.with_batch_size(BATCH_ROWS).build())
            .map_err(failed)?;
        let mut rows = Vec::new();
        for batch in reader {
            let batch = batch.map_err(|error| read_failure::<T>(path, error))?;
            rows.extend(T::from_batch(&batch)?);
        }
        Ok(rows)
    });
    read.unwrap_or_else(|_| {
        Err(failed(ParquetError::General("the decoder gave up on damaged data".to_owned())))
    })
}

/// A file system that fails while a file is read is no damage of the file.
fn read_failure<T: Table>(path: &Path, error: arrow_schema::ArrowError) -> Error {
    match error {
        arrow_schema::ArrowError::IoError(_, source) => Error::io("read", path)(source),
        other => {
            Error::ReadTable { table: T::NAME, path: path.to_owned(), source: ParquetError::from(other) }
        }
    }
}

/// Hashes and counts what passes through, so that a part is read only once.
struct HashingWriter<W> {
    inner: W,
    hasher: FileHasher,
    bytes: u64,
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.hasher.write_all(&buffer[..written])?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}
