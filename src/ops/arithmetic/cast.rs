//! Conversion between any two dtypes.
//!
//! Float to integer truncates toward zero and saturates, NaN becomes 0; integer to integer wraps; anything to bool is
//! `!= 0`; bool to a number is 0 or 1.

use burn_backend::{DType, TensorMetadata};

use super::ArithmeticOp;
use crate::bridge::{Lowering, record};
use crate::dtype::{data_type, require};
use crate::ffi;
use crate::ops::Op;
use crate::tensor::{MpsGraphTensor, TensorType};

/// `x` as `dtype`; `x` itself if it has that dtype.
pub(crate) fn cast(x: MpsGraphTensor, dtype: DType) -> MpsGraphTensor {
    if x.dtype() == dtype {
        return x;
    }
    require("cast", dtype);
    let output = TensorType::new(dtype, x.shape());
    record(Op::Arithmetic(ArithmeticOp::Cast), &[&x], &[], output)
}

/// The dtype in which a float op of several nodes is computed: rounding to 16 bits happens once, at its end.
pub(in crate::ops) fn computed_in(dtype: DType) -> DType {
    if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype }
}

/// Adds the conversion of `x` to a graph; nothing if the dtypes are equal.
pub(in crate::ops) fn convert(cx: &Lowering<'_>, x: &ffi::Tensor, from: DType, to: DType) -> ffi::Tensor {
    let g = cx.graph();
    let stored = |dtype| {
        data_type("cast", dtype).unwrap_or_else(|error| unreachable!("checked when the op was recorded: {error}"))
    };
    if from == to {
        return x.clone();
    }
    if to.is_bool() {
        // castTensor to bool has given 255 for 1.0 (pytorch/pytorch#94263); a comparison leaves no doubt.
        return g.not_equal(x, &cx.constant(0.0, from));
    }
    if from.is_float() && !to.is_float() {
        // Casts saturate (pytorch/pytorch#169058); what they make of NaN is written nowhere.
        let zero = cx.constant(0.0, from);
        let number = g.select(&g.is_nan(x), &zero, x);
        return g.cast(&number, stored(to));
    }
    if matches!(to, DType::F16 | DType::BF16) && !from.is_float() && !from.is_bool() {
        // Large integers overflow to infinity by way of f32; what a direct cast does is written nowhere.
        return g.cast(&g.cast(x, ffi::DataType::F32), stored(to));
    }
    g.cast(x, stored(to))
}
