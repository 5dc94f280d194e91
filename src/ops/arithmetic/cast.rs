//! Conversion between any two dtypes, by the rules of [`crate::lowering::conversion`].

use burn_backend::{DType, TensorMetadata};

use super::ArithmeticOp;
use crate::bridge::record;
use crate::dtype::{integer_range, require};
use crate::ffi;
use crate::lowering::Lowering;
use crate::lowering::conversion::convert;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// `x` as `dtype`; `x` itself if it has that dtype.
pub(crate) fn cast(x: MpsGraphTensor, dtype: DType) -> MpsGraphTensor {
    if x.dtype() == dtype {
        return x;
    }
    require("cast", dtype, x.dims());
    let output = TensorType::new(dtype, x.shape());
    record(ArithmeticOp::Cast.into(), &[&x], &[], output)
}

/// Adds the conversion of `x` to a graph. Of a float to narrow or unsigned integers it goes by way of wider ones, which
/// are bounded, because a cast that follows may take the place of the last one
/// ([`Provenance::needs_barrier_for_cast`]).
///
/// [`Provenance::needs_barrier_for_cast`]: crate::lowering::provenance::Provenance::needs_barrier_for_cast
pub(super) fn lower(cx: &Lowering<'_>, x: &ffi::Tensor, from: DType, to: DType) -> ffi::Tensor {
    if !from.is_float() || !(to.is_int() || to.is_uint()) || matches!(to, DType::I32 | DType::I64) {
        return convert(cx, x, from, to);
    }
    let graph = cx.graph();
    let (lowest, highest) = integer_range(to);
    if to == DType::U64 {
        // No integers are wider. The highest bound is rounded up, and the cast saturates all the same.
        let [lowest, highest] = [lowest, highest].map(|bound| cx.constant(bound as f64, from));
        let at_least = graph.maximum_with_nan_propagation(&graph.truncate(x), &lowest);
        return convert(cx, &graph.minimum_with_nan_propagation(&at_least, &highest), from, to);
    }
    let wide = if to == DType::U32 { DType::I64 } else { DType::I32 };
    let [lowest, highest] = [lowest, highest].map(|bound| cx.constant(bound as f64, wide));
    let at_least = graph.maximum(&convert(cx, x, from, wide), &lowest);
    convert(cx, &graph.minimum(&at_least, &highest), wide, to)
}
