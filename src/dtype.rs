//! Burn's element types and the `MPSDataType` each is stored as.
//!
//! Metal has no f64, so f64 is refused by name and never narrowed. `bool` is one byte of 0 or 1 (`MPSDataTypeBool`);
//! data of Burn's other bool stores is converted, and a tensor that is asked for in one of them refused.

use std::fmt;

use burn_backend::{BoolStore, DType, DTypeUsage, DTypeUsageSet};

use crate::burn::level;
use crate::error::{Error, invalid, unsupported};
use crate::ffi::DataType;
use crate::tensor::MpsGraphTensor;
use crate::tensor::quantized::Packing;

/// The dtype of bools here.
pub(crate) const BOOL: DType = DType::Bool(BoolStore::Native);

/// The `MPSDataType` of `dtype`, or an error that says what to use instead.
pub(crate) fn data_type(op: &'static str, dtype: DType) -> Result<DataType, Error> {
    data_type_or_instead(dtype)
        .map_err(|instead| Error::Unsupported { op, reason: format!("dtype {dtype:?}: {instead}") })
}

/// The `MPSDataType` of `dtype`, or what to use instead.
fn data_type_or_instead(dtype: DType) -> Result<DataType, &'static str> {
    Ok(match dtype {
        DType::F32 => DataType::F32,
        DType::F16 => DataType::F16,
        DType::BF16 => DataType::BF16,
        DType::I64 => DataType::I64,
        DType::I32 => DataType::I32,
        DType::I16 => DataType::I16,
        DType::I8 => DataType::I8,
        DType::U64 => DataType::U64,
        DType::U32 => DataType::U32,
        DType::U16 => DataType::U16,
        DType::U8 => DataType::U8,
        BOOL => DataType::Bool,
        DType::F64 => return Err("Apple GPUs have no 64-bit floats; use f32"),
        DType::Flex32 => return Err("use f32, f16 or bf16"),
        DType::Bool(BoolStore::U8 | BoolStore::U32) => return Err("use the native bool store"),
        DType::QFloat(_) => return Err("quantized tensors have operations of their own"),
    })
}

/// The `MPSDataType` of a recorded value's dtype, which was checked when the value was recorded.
pub(crate) fn stored(dtype: DType) -> DataType {
    data_type("lower", dtype).unwrap_or_else(|error| unreachable!("checked when the op was recorded: {error}"))
}

/// Panics unless `dtype` can be stored. The text has the shape that the op was given.
#[track_caller]
pub(crate) fn require(op: &'static str, dtype: DType, shape: &[usize]) {
    if let Err(instead) = data_type_or_instead(dtype) {
        unsupported(op, format!("dtype {dtype:?}, shape {shape:?}: {instead}"));
    }
}

/// The elements that Burn defines an op for. To ask for others is a mistake, also where a kernel would take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elements {
    Floats,
    Integers,
    /// Floats and integers.
    Numbers,
    Bools,
}

impl Elements {
    /// Whether these are elements of `dtype`.
    pub fn has(self, dtype: DType) -> bool {
        match self {
            Self::Floats => dtype.is_float(),
            Self::Integers => dtype.is_int() || dtype.is_uint(),
            Self::Numbers => !dtype.is_bool(),
            Self::Bools => dtype.is_bool(),
        }
    }

    /// Ends an op on a tensor of others.
    #[track_caller]
    pub fn require(self, op: &'static str, x: &MpsGraphTensor) {
        if !self.has(x.dtype()) {
            let (dtype, shape) = x.typed();
            invalid(op, format!("dtype {dtype:?}, shape {shape:?}: it is for {self}, so cast it"));
        }
    }
}

impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Floats => "floats",
            Self::Integers => "integers",
            Self::Numbers => "floats or integers",
            Self::Bools => "bools",
        })
    }
}

/// The smallest and largest number of an integer dtype.
pub(crate) fn integer_range(dtype: DType) -> (i128, i128) {
    let bits = dtype.size() as u32 * 8;
    if dtype.is_uint() { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}

/// The dtype of positions along `dim` of a tensor of integers, for which Burn names none: the tensor's own, or i32
/// where that cannot hold them.
pub(crate) fn positions_in(tensor: &MpsGraphTensor, dim: usize) -> DType {
    // Who checks `dim` comes later.
    let elements = tensor.dims().get(dim).copied().unwrap_or(1);
    if elements as i128 - 1 > integer_range(tensor.dtype()).1 { DType::I32 } else { tensor.dtype() }
}

/// Panics unless `dtype`, an integer dtype, can be stored and holds the positions of so many elements of a tensor of
/// this shape.
#[track_caller]
pub(crate) fn require_positions(op: &'static str, shape: &[usize], elements: usize, dtype: DType) {
    require(op, dtype, shape);
    if elements as i128 - 1 > integer_range(dtype).1 {
        let last = elements - 1;
        unsupported(
            op,
            format!("positions up to {last} of shape {shape:?} do not fit {dtype:?}; ask for i32, or cast to i32"),
        );
    }
}

/// What Burn may do with `dtype` here.
pub(crate) fn usage(dtype: DType) -> DTypeUsageSet {
    if let DType::QFloat(scheme) = dtype {
        let is_stored = Packing::of(scheme.value).is_some() && level(&scheme).is_ok();
        return if is_stored { DTypeUsage::Storage.into() } else { DTypeUsageSet::empty() };
    }
    match data_type("dtype_usage", dtype) {
        Err(_) => DTypeUsageSet::empty(),
        Ok(DataType::F32 | DataType::F16 | DataType::BF16) => {
            DTypeUsage::Storage | DTypeUsage::Arithmetic | DTypeUsage::Accelerated
        }
        Ok(
            DataType::I64
            | DataType::I32
            | DataType::I16
            | DataType::I8
            | DataType::U64
            | DataType::U32
            | DataType::U16
            | DataType::U8
            | DataType::Bool,
        ) => DTypeUsage::Storage | DTypeUsage::Arithmetic,
    }
}
