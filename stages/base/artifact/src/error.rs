//! What can go wrong with the store.

use std::path::{Path, PathBuf};

use miette::Diagnostic;
use thiserror::Error;

/// Errors of the store. Messages name the artifact, table or file; helps say what to do next.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// The file system refused.
    #[error("failed to {action} {}", path.display())]
    #[diagnostic(
        code(almanac::io),
        help("check permissions, free space and quota; nothing that was committed is lost")
    )]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },

    /// A folder is no store.
    #[error("{} is not an Almanac store", path.display())]
    #[diagnostic(
        code(almanac::missing),
        help("run `almanac build --source TREE --store DIR` first, or name another folder with --store")
    )]
    NotAStore {
        /// The folder.
        path: PathBuf,
    },

    /// Where the store should be is a file.
    #[error("{} cannot be a store: it or a folder it lies in is a file", path.display())]
    #[diagnostic(code(almanac::config), help("name a folder with --store, or move the file away"))]
    StoreIsFile {
        /// The path given.
        path: PathBuf,
    },

    /// The store has another format.
    #[error("store {} has format {found}, this program reads format {expected}", path.display())]
    #[diagnostic(
        code(almanac::data),
        help(
            "use the Almanac version that wrote it, or build into a new folder with --store DIR; this store is left as it is"
        )
    )]
    StoreFormat {
        /// The store.
        path: PathBuf,
        /// Format in the store.
        found: u32,
        /// Format of this program.
        expected: u32,
    },

    /// An artifact was never built or its ref is gone.
    #[error("no artifact `{artifact}` for profile `{profile}` in {}", store.display())]
    #[diagnostic(code(almanac::missing), help("{hint}"))]
    NoArtifact {
        /// Artifact name.
        artifact: String,
        /// Profile asked for.
        profile: String,
        /// The store.
        store: PathBuf,
        /// What to do.
        hint: String,
    },

    /// A manifest or another JSON file of the store cannot be read.
    #[error("{} is not a valid {what}", path.display())]
    #[diagnostic(
        code(almanac::data),
        help(
            "this one file is damaged or from another version; move it away and run `almanac build` again; keep the store's `ledger` folder, and nothing is generated twice"
        )
    )]
    Json {
        /// What it should be.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: serde_json::Error,
    },

    /// A pipe, socket, device or folder stands where a file should.
    #[error("{} is not a regular file", path.display())]
    #[diagnostic(code(almanac::data), help("move it away and run `almanac build` again"))]
    NotAFile {
        /// The path.
        path: PathBuf,
    },

    /// A manifest contradicts itself.
    #[error("manifest {} contradicts itself: {detail}", path.display())]
    #[diagnostic(
        code(almanac::data),
        help("run `almanac build` again: the damaged artifact is set aside and rebuilt, ledgers are kept")
    )]
    ManifestKey {
        /// The manifest.
        path: PathBuf,
        /// Which part.
        detail: String,
    },

    /// A file of an artifact is missing, too short or changed.
    #[error("artifact file {} does not match its manifest: {detail}", path.display())]
    #[diagnostic(
        code(almanac::data),
        help(
            "run `almanac build --verify`: every artifact that is damaged is set aside and rebuilt, ledgers are kept"
        )
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Expected and found.
        detail: String,
    },

    /// A Parquet file cannot be read.
    #[error("failed to read table `{table}` from {}", path.display())]
    #[diagnostic(
        code(almanac::data),
        help(
            "the file is damaged; run `almanac build --verify`: the artifact is set aside and rebuilt, ledgers are kept"
        )
    )]
    ReadTable {
        /// The table.
        table: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: parquet::errors::ParquetError,
    },

    /// A Parquet file cannot be written.
    #[error("failed to write table `{table}` to {}", path.display())]
    #[diagnostic(code(almanac::io), help("check free space and quota of the store"))]
    WriteTable {
        /// The table.
        table: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: parquet::errors::ParquetError,
    },

    /// Arrow refused a batch.
    #[error("failed to form a batch of table `{table}`")]
    #[diagnostic(code(almanac::bug), help("please report this"))]
    Arrow {
        /// The table.
        table: &'static str,
        /// Why.
        #[source]
        source: arrow_schema::ArrowError,
    },

    /// A column is absent.
    #[error("table `{table}` has no column `{column}`")]
    #[diagnostic(
        code(almanac::data),
        help("the store was written by another schema version; run `almanac build` to bring it up to date")
    )]
    MissingColumn {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
    },

    /// A column has another type, a null or an unknown value.
    #[error("column `{column}` of table `{table}` has an unexpected type or value")]
    #[diagnostic(
        code(almanac::data),
        help("the store was written by another schema version; run `almanac build` to bring it up to date")
    )]
    WrongColumn {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
    },

    /// An artifact holds another version of a table.
    #[error(
        "artifact `{artifact}` holds version {found} of table `{table}`, this program reads version {expected}"
    )]
    #[diagnostic(code(almanac::data), help("run `almanac build` to bring the store up to date"))]
    TableVersion {
        /// The artifact.
        artifact: String,
        /// The table.
        table: &'static str,
        /// Version in the store.
        found: u32,
        /// Version of this program.
        expected: u32,
    },

    /// Two rows of a table have the same key.
    #[error("table `{table}` would hold two rows with the key of row {row}: {key}")]
    #[diagnostic(code(almanac::bug), help("please report this with the source file that caused it"))]
    DuplicateRow {
        /// The table.
        table: &'static str,
        /// Row number after sorting.
        row: usize,
        /// Debug view of the row, shortened.
        key: String,
    },

    /// The same key gave other rows than before.
    #[error("artifact `{artifact}` {key} is in the store with other contents of `{name}`")]
    #[diagnostic(
        code(almanac::bug),
        help(
            "the stage is not reproducible, or its revision was not bumped with its code: please report this; to take the new rows, move {} away and build again", folder.display()
        )
    )]
    OtherContents {
        /// The artifact.
        artifact: String,
        /// Its key, short.
        key: String,
        /// Table that differs.
        name: String,
        /// Folder of the artifact that is there.
        folder: PathBuf,
    },

    /// A ledger file was written with another table version.
    #[error("ledger file {} holds version {found} of its table, this program reads version {expected}", path.display())]
    #[diagnostic(
        code(almanac::data),
        help(
            "use the Almanac version that wrote it; records cost model time, so nothing is thrown away unasked: move the file away to have them generated again"
        )
    )]
    LedgerVersion {
        /// The file.
        path: PathBuf,
        /// Version in its name.
        found: String,
        /// Version of this program.
        expected: u32,
    },

    /// A ledger's folder keeps naming files that are not there.
    #[error("ledger folder {} names a file that is not there", path.display())]
    #[diagnostic(
        code(almanac::io),
        help("look for a dangling link or a stale network file system, and run again")
    )]
    LedgerFolder {
        /// The folder.
        path: PathBuf,
    },

    /// A stage wrote a table twice, or not at all.
    #[error("artifact `{artifact}` has no table or file `{name}`")]
    #[diagnostic(code(almanac::data), help("run `almanac build` to bring the store up to date"))]
    NoTable {
        /// The artifact.
        artifact: String,
        /// The table or file.
        name: String,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// A batch could not be formed.
    #[doc(hidden)]
    pub fn arrow(table: &'static str, source: arrow_schema::ArrowError) -> Self {
        Self::Arrow { table, source }
    }

    /// A column is absent.
    #[doc(hidden)]
    pub fn missing_column(table: &'static str, column: &'static str) -> Self {
        Self::MissingColumn { table, column }
    }

    /// A column does not fit.
    #[doc(hidden)]
    pub fn wrong_column(table: &'static str, column: &'static str) -> Self {
        Self::WrongColumn { table, column }
    }

    /// Whether rebuilding the artifact would mend it.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Json { .. }
                | Self::NotAFile { .. }
                | Self::ManifestKey { .. }
                | Self::Damaged { .. }
                | Self::ReadTable { .. }
                | Self::MissingColumn { .. }
                | Self::WrongColumn { .. }
                | Self::TableVersion { .. }
                | Self::NoTable { .. }
        )
    }
}
