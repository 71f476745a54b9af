//! Rust types that can be a column.

use std::sync::Arc;

use arrow_array::builder::{Float32Builder, ListBuilder, StringBuilder};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, ListArray, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{DataType, Field};

use crate::Encoder;

/// A Rust type with one Arrow representation and one digest encoding.
pub trait Column: Sized {
    /// Whether the column may hold nulls.
    const NULLABLE: bool;
    /// The Arrow type.
    fn data_type() -> DataType;
    /// Values to an Arrow array.
    fn to_array<'a>(values: impl ExactSizeIterator<Item = &'a Self>) -> ArrayRef
    where
        Self: 'a;
    /// An Arrow array to values; `None` when the type or a null does not fit.
    fn from_array(array: &ArrayRef) -> Option<Vec<Self>>;
    /// The value in the specified digest encoding.
    fn encode(&self, encoder: &mut Encoder);
}

macro_rules! primitive_column {
    ($type:ty, $array:ty, $data_type:expr, $method:ident) => {
        impl Column for $type {
            const NULLABLE: bool = false;

            fn data_type() -> DataType {
                $data_type
            }

            fn to_array<'a>(values: impl ExactSizeIterator<Item = &'a Self>) -> ArrayRef {
                Arc::new(<$array>::from(values.copied().collect::<Vec<_>>()))
            }

            fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
                let array = array.as_any().downcast_ref::<$array>()?;
                (array.null_count() == 0).then(|| array.iter().flatten().collect())
            }

            fn encode(&self, encoder: &mut Encoder) {
                encoder.$method(*self);
            }
        }

        impl Column for Option<$type> {
            const NULLABLE: bool = true;

            fn data_type() -> DataType {
                $data_type
            }

            fn to_array<'a>(values: impl ExactSizeIterator<Item = &'a Self>) -> ArrayRef {
                Arc::new(<$array>::from(values.copied().collect::<Vec<_>>()))
            }

            fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
                let array = array.as_any().downcast_ref::<$array>()?;
                Some(array.iter().collect())
            }

            fn encode(&self, encoder: &mut Encoder) {
                encoder.option(self.as_ref(), |encoder, value| {
                    encoder.$method(*value);
                });
            }
        }
    };
}

primitive_column!(u32, UInt32Array, DataType::UInt32, u32);
primitive_column!(u64, UInt64Array, DataType::UInt64, u64);
primitive_column!(f32, Float32Array, DataType::Float32, f32);
primitive_column!(f64, Float64Array, DataType::Float64, f64);
primitive_column!(bool, BooleanArray, DataType::Boolean, bool);

impl Column for String {
    const NULLABLE: bool = false;

    fn data_type() -> DataType {
        DataType::Utf8
    }

    fn to_array<'a>(values: impl ExactSizeIterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(StringArray::from_iter_values(values))
    }

    fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
        let array = array.as_any().downcast_ref::<StringArray>()?;
        (array.null_count() == 0).then(|| array.iter().flatten().map(str::to_owned).collect())
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.text(self);
    }
}

impl Column for Option<String> {
    const NULLABLE: bool = true;

    fn data_type() -> DataType {
        DataType::Utf8
    }

    fn to_array<'a>(values: impl ExactSizeIterator<Item = &'a Self>) -> ArrayRef {
        Arc::new(values.map(Option::as_deref).collect::<StringArray>())
    }

    fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
        let array = array.as_any().downcast_ref::<StringArray>()?;
        Some(array.iter().map(|value| value.map(str::to_owned)).collect())
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.option(self.as_ref(), |encoder, value| {
            encoder.text(value);
        });
    }
}

fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", item, false)))
}

fn list_lengths_fit(array: &ListArray) -> bool {
    array.null_count() == 0 && array.values().null_count() == 0
}

impl Column for Vec<String> {
    const NULLABLE: bool = false;

    fn data_type() -> DataType {
        list_of(DataType::Utf8)
    }

    fn to_array<'a>(values: impl ExactSizeIterator<Item = &'a Self>) -> ArrayRef {
        let field = Field::new("item", DataType::Utf8, false);
        let mut builder = ListBuilder::new(StringBuilder::new()).with_field(Arc::new(field));
        for list in values {
            for item in list {
                builder.values().append_value(item);
            }
            builder.append(true);
        }
        Arc::new(builder.finish())
    }

    fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
        let array = array.as_any().downcast_ref::<ListArray>()?;
        if !list_lengths_fit(array) {
            return None;
        }
        array
            .iter()
            .map(|item| {
                let item = item?;
                let texts = item.as_any().downcast_ref::<StringArray>()?;
                Some(texts.iter().flatten().map(str::to_owned).collect())
            })
            .collect()
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.length(self.len());
        for item in self {
            encoder.text(item);
        }
    }
}

impl Column for Vec<f32> {
    const NULLABLE: bool = false;

    fn data_type() -> DataType {
        list_of(DataType::Float32)
    }

    fn to_array<'a>(values: impl ExactSizeIterator<Item = &'a Self>) -> ArrayRef {
        let field = Field::new("item", DataType::Float32, false);
        let mut builder = ListBuilder::new(Float32Builder::new()).with_field(Arc::new(field));
        for list in values {
            builder.values().append_slice(list);
            builder.append(true);
        }
        Arc::new(builder.finish())
    }

    fn from_array(array: &ArrayRef) -> Option<Vec<Self>> {
        let array = array.as_any().downcast_ref::<ListArray>()?;
        if !list_lengths_fit(array) {
            return None;
        }
        array
            .iter()
            .map(|item| {
                let item = item?;
                let numbers = item.as_any().downcast_ref::<Float32Array>()?;
                Some(numbers.values().to_vec())
            })
            .collect()
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.length(self.len());
        for item in self {
            encoder.f32(*item);
        }
    }
}
