//! The contract between a Rust row type and a Parquet table.

use std::cmp::Ordering;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::{Encoder, Result};

/// One column as the documentation of the store shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDoc {
    /// Column name in the Parquet file.
    pub name: &'static str,
    /// Arrow type, as text.
    pub data_type: String,
    /// Whether the column may hold nulls.
    pub nullable: bool,
    /// First paragraph of the field's documentation.
    pub doc: &'static str,
}

/// A row type that is a table. Implemented by [`crate::table!`] only.
pub trait Table: Sized + Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Table name, also the stem of its part files.
    const NAME: &'static str;
    /// Bumped when columns change; part of every key that writes or reads the table.
    const VERSION: u32;
    /// What a row is.
    const DOC: &'static str;
    /// Columns that order the rows and tell them apart.
    const KEY: &'static [&'static str];

    /// The columns, in file order.
    fn columns() -> Vec<ColumnDoc>;
    /// The Arrow schema, in file order.
    fn schema() -> SchemaRef;
    /// Rows to one batch.
    fn to_batch(rows: &[Self]) -> Result<RecordBatch>;
    /// One batch to rows; an unexpected column or type is an error.
    fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>>;
    /// Order by the declared key.
    fn compare(&self, other: &Self) -> Ordering;
    /// The row in the specified encoding, for content digests.
    fn encode(&self, encoder: &mut Encoder);
}

/// Declares a table: the struct, its columns and its order, in one place.
///
/// ```
/// almanac_artifact::table! {
///     /// One visited file.
///     pub struct Visit in "visits", version 1, sorted by (path) {
///         /// Path relative to the source tree.
///         path: String,
///         /// Size in bytes.
///         bytes: u64,
///     }
/// }
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident in $table:literal, version $version:literal, sorted by ($($key:ident),+) {
            $( $(#[doc = $column_doc:literal])+ $column:ident : $type:ty ),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Default, ::serde::Serialize, ::serde::Deserialize)]
        pub struct $name {
            $( $(#[doc = $column_doc])+ pub $column: $type, )+
        }

        impl $crate::Table for $name {
            const NAME: &'static str = $table;
            const VERSION: u32 = $version;
            const DOC: &'static str = concat!($($doc, "\n"),+);
            const KEY: &'static [&'static str] = &[$(stringify!($key)),+];

            fn columns() -> Vec<$crate::ColumnDoc> {
                vec![$( $crate::ColumnDoc {
                    name: stringify!($column),
                    data_type: <$type as $crate::Column>::data_type().to_string(),
                    nullable: <$type as $crate::Column>::NULLABLE,
                    doc: concat!($($column_doc, "\n"),+),
                } ),+]
            }

            fn schema() -> $crate::export::SchemaRef {
                $crate::export::Arc::new($crate::export::Schema::new(vec![$(
                    $crate::export::Field::new(
                        stringify!($column),
                        <$type as $crate::Column>::data_type(),
                        <$type as $crate::Column>::NULLABLE,
                    )
                ),+]))
            }

            fn to_batch(rows: &[Self]) -> $crate::Result<$crate::export::RecordBatch> {
                let columns: Vec<$crate::export::ArrayRef> = vec![$(
                    <$type as $crate::Column>::to_array(rows.iter().map(|row| &row.$column))
                ),+];
                $crate::export::RecordBatch::try_new(Self::schema(), columns)
                    .map_err(|source| $crate::Error::arrow(Self::NAME, source))
            }

            fn from_batch(batch: &$crate::export::RecordBatch) -> $crate::Result<Vec<Self>> {
                $(
                    let mut $column = <$type as $crate::Column>::from_array(
                        batch.column_by_name(stringify!($column)).ok_or_else(|| {
                            $crate::Error::missing_column(Self::NAME, stringify!($column))
                        })?,
                    )
                    .ok_or_else(|| $crate::Error::wrong_column(Self::NAME, stringify!($column)))?
                    .into_iter();
                )+
                let mut rows = Vec::with_capacity(batch.num_rows());
                for _ in 0..batch.num_rows() {
                    rows.push(Self {
                        $( $column: $column.next().ok_or_else(|| {
                            $crate::Error::wrong_column(Self::NAME, stringify!($column))
                        })?, )+
                    });
                }
                Ok(rows)
            }

            fn compare(&self, other: &Self) -> ::std::cmp::Ordering {
                ::std::cmp::Ordering::Equal
                    $( .then_with(|| ::std::cmp::Ord::cmp(&self.$key, &other.$key)) )+
            }

            fn encode(&self, encoder: &mut $crate::Encoder) {
                // Destructured without `..`, so that a new column cannot be left out.
                let Self { $( $column ),+ } = self;
                $( $crate::Column::encode($column, encoder); )+
            }
        }
    };
}

/// Declares an enum that is stored as its text, so that files stay readable by other tools.
///
/// The first variant is the default.
#[macro_export]
macro_rules! symbol_enum {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident { $( $(#[doc = $variant_doc:literal])+ $variant:ident = $text:literal ),+ $(,)? }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[doc = $variant_doc])+ $variant ),+ }

        impl $name {
            /// Every value, in declared order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The stored text.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $text ),+ }
            }

            /// The value with this stored text.
            pub fn from_text(text: &str) -> Option<Self> {
                match text { $( $text => Some(Self::$variant), )+ _ => None }
            }
        }

        impl Default for $name {
            fn default() -> Self { Self::ALL[0] }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = <String as ::serde::Deserialize>::deserialize(d)?;
                Self::from_text(&text).ok_or_else(|| {
                    <D::Error as ::serde::de::Error>::custom(format!(
                        "`{text}` is not one of: {}", [$($text),+].join(", ")
                    ))
                })
            }
        }

        impl $crate::Column for $name {
            const NULLABLE: bool = false;

            fn data_type() -> $crate::export::DataType {
                <String as $crate::Column>::data_type()
            }

            fn to_array<'a>(values: impl ExactSizeIterator<Item = &'a Self>) -> $crate::export::ArrayRef {
                let texts: Vec<String> = values.map(|value| value.as_str().to_owned()).collect();
                <String as $crate::Column>::to_array(texts.iter())
            }

            fn from_array(array: &$crate::export::ArrayRef) -> Option<Vec<Self>> {
                <String as $crate::Column>::from_array(array)?
                    .iter().map(|text| Self::from_text(text)).collect()
            }

            fn encode(&self, encoder: &mut $crate::Encoder) {
                encoder.text(self.as_str());
            }
        }
    };
}
