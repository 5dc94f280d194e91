//! How integers and bools pass through kernels that are exact only for f32.
//!
//! MPSGraph's gather and scatter kernels convert integers to f32 on the way: values beyond 2^24 come out wrong
//! (pytorch/pytorch#195595; jax-mps wraps every gather and scatter for it). A 32-bit integer therefore travels as the
//! f32 with the same bits, a 64-bit one as two such f32 side by side, and a narrower one by value, which f32 holds
//! exactly. Where rows are gathered, narrower ones need no f32: PyTorch and jax-mps give that kernel 8 and 16 bits and
//! bools, of which f32 holds all values, and PyTorch 8 bits as signed ones.

use burn_backend::DType;

use crate::dtype::stored;
use crate::ffi::{self, DataType};

/// How a dtype travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// As it is.
    Own,
    /// By its bits, as the signed integer of its width.
    Signed(DataType),
    /// By value, as f32.
    Value,
    /// By its bits, as one f32.
    Bits,
    /// By its bits, as two f32 in the last axis.
    BitPairs,
}

impl Carrier {
    pub fn of(dtype: DType) -> Self {
        match dtype {
            DType::F32 | DType::F16 | DType::BF16 => Carrier::Own,
            DType::I32 | DType::U32 => Carrier::Bits,
            DType::I64 | DType::U64 => Carrier::BitPairs,
            DType::I16 | DType::I8 | DType::U16 | DType::U8 | DType::Bool(_) => Carrier::Value,
            DType::F64 | DType::Flex32 | DType::QFloat(_) => {
                unreachable!("{dtype:?} is refused when a tensor is made")
            }
        }
    }

    /// How it travels where whole rows are gathered along an axis.
    pub fn of_rows(dtype: DType) -> Self {
        match (Carrier::of(dtype), dtype) {
            (Carrier::Value, DType::U8) => Carrier::Signed(DataType::I8),
            (Carrier::Value, DType::U16) => Carrier::Signed(DataType::I16),
            (Carrier::Value, _) => Carrier::Own,
            (carrier, _) => carrier,
        }
    }

    /// Whether what travels is as wide as the element, and as many.
    pub fn keeps_width(self) -> bool {
        match self {
            Carrier::Own | Carrier::Signed(_) => true,
            Carrier::Value | Carrier::Bits | Carrier::BitPairs => false,
        }
    }

    /// The number of f32 (or other elements) that an element travels as.
    pub fn floats(self) -> usize {
        match self {
            Carrier::Own | Carrier::Signed(_) | Carrier::Value | Carrier::Bits => 1,
            Carrier::BitPairs => 2,
        }
    }

    /// `x` in the form in which it travels; the last extent is multiplied by [`Carrier::floats`].
    pub fn load(self, graph: &ffi::Graph, x: &ffi::Tensor) -> ffi::Tensor {
        match self {
            Carrier::Own => x.clone(),
            Carrier::Signed(bits) => graph.reinterpret_cast(x, bits),
            Carrier::Value => graph.cast(x, DataType::F32),
            Carrier::Bits => graph.reinterpret_cast(x, DataType::F32),
            // In two steps, as jax-mps does it: one that changes the width, one that changes the type.
            Carrier::BitPairs => graph.reinterpret_cast(&graph.reinterpret_cast(x, DataType::U32), DataType::F32),
        }
    }

    /// The inverse of [`Carrier::load`], to `dtype`.
    pub fn store(self, graph: &ffi::Graph, x: &ffi::Tensor, dtype: DType) -> ffi::Tensor {
        match self {
            Carrier::Own => x.clone(),
            Carrier::Value if dtype.is_bool() => {
                graph.not_equal(x, &graph.constant_with_scalar(0.0, &[1], DataType::F32))
            }
            Carrier::Value => graph.cast(x, stored(dtype)),
            Carrier::Bits | Carrier::Signed(_) => graph.reinterpret_cast(x, stored(dtype)),
            Carrier::BitPairs => graph.reinterpret_cast(&graph.reinterpret_cast(x, DataType::U32), stored(dtype)),
        }
    }
}
