//! Choosing between values: masks and bounds.

use burn_backend::DType;

use super::{ArithmeticOp, broadcast, common_dtype, scalar_for};
use crate::bridge::record;
use crate::dtype::{Elements, integer_range};
use crate::error::invalid;
use crate::ffi;
use crate::lowering::Lowering;
use crate::lowering::scalar::ScalarInput;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// `value` where `mask` is true, else `tensor`; all three broadcast.
pub(crate) fn mask_where(tensor: MpsGraphTensor, mask: MpsGraphTensor, value: MpsGraphTensor) -> MpsGraphTensor {
    const NAME: &str = "mask_where";
    check_mask(NAME, &mask);
    let dtype = common_dtype(NAME, &tensor, &value);
    let shape = broadcast(NAME, &broadcast(NAME, &tensor.shape, &mask.shape), &value.shape);
    let output = TensorType::new(dtype, shape);
    record(ArithmeticOp::MaskWhere.into(), &[&tensor, &mask, &value], &[], output)
}

/// `value` in the tensor's dtype where `mask` is true, else `tensor`; tensor and mask broadcast.
pub(crate) fn mask_fill(tensor: MpsGraphTensor, mask: MpsGraphTensor, value: ScalarInput) -> MpsGraphTensor {
    const NAME: &str = "mask_fill";
    check_mask(NAME, &mask);
    let output = TensorType::new(tensor.dtype(), broadcast(NAME, &tensor.shape, &mask.shape));
    let value = scalar_for(value, tensor.dtype());
    record(ArithmeticOp::MaskFill.into(), &[&tensor, &mask], &[value], output)
}

/// Each element, but at least `min` and at most `max`; NaN stays NaN. If the bounds cross, `min` wins. A bound beyond
/// the range of an integer dtype binds as the end of that range.
pub(crate) fn clamp(x: MpsGraphTensor, min: Option<ScalarInput>, max: Option<ScalarInput>) -> MpsGraphTensor {
    let dtype = x.dtype();
    Elements::Numbers.require("clamp", &x);
    let op = ArithmeticOp::Clamp { min: min.is_some(), max: max.is_some() };
    let bounds: Vec<_> = [min, max].into_iter().flatten().map(|bound| bound_for(bound, dtype)).collect();
    if bounds.is_empty() {
        return x;
    }
    let output = x.ty();
    record(op.into(), &[&x], &bounds, output)
}

/// A bound as a number of `dtype`; other scalars wrap, which would make it another bound.
fn bound_for(bound: ScalarInput, dtype: DType) -> ScalarInput {
    let bound = scalar_for(bound, dtype);
    let wide = match bound {
        ScalarInput::Int(x) => i128::from(x),
        ScalarInput::UInt(x) => i128::from(x),
        ScalarInput::Float(_) | ScalarInput::RandomState(_) => return bound,
    };
    let (lowest, highest) = integer_range(dtype);
    let number = wide.clamp(lowest, highest);
    if dtype == DType::U64 { ScalarInput::UInt(number as u64) } else { ScalarInput::Int(number as i64) }
}

/// Adds the bounds, the node's scalars, to a graph.
///
/// MPSGraph's own clamp follows `fmin` and `fmax`, which drop NaN (MPSGraphArithmeticOps.h); MPSGraph refuses integers
/// in the forms that keep NaN.
pub(super) fn lower_clamp(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType, min: bool, max: bool) -> ffi::Tensor {
    let mut result = x.clone();
    if max {
        let bound = cx.scalar(usize::from(min), dtype);
        let graph = cx.graph();
        result = if dtype.is_float() {
            graph.minimum_with_nan_propagation(&result, &bound)
        } else {
            graph.minimum(&result, &bound)
        };
    }
    if min {
        let bound = cx.scalar(0, dtype);
        let graph = cx.graph();
        result = if dtype.is_float() {
            graph.maximum_with_nan_propagation(&result, &bound)
        } else {
            graph.maximum(&result, &bound)
        };
    }
    result
}

#[track_caller]
fn check_mask(op: &'static str, mask: &MpsGraphTensor) {
    if !mask.dtype().is_bool() {
        invalid(op, format!("the mask of shape {:?} has dtype {:?}, not bool", mask.dims(), mask.dtype()));
    }
}
