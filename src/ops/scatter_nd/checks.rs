//! What a write by index refuses before anything is recorded.

use burn_backend::Shape;

use crate::error::invalid;
use crate::ops::gather::require_indices;
use crate::tensor::MpsGraphTensor;

/// Ends an op whose indices are not one for each value along `dim`.
pub(super) fn check_along(
    name: &'static str,
    dim: usize,
    tensor: &MpsGraphTensor,
    indices: &MpsGraphTensor,
    value: &MpsGraphTensor,
) {
    let rule = "the indices must have the other dims of the tensor, and the values the shape of the indices";
    require_fit(name, dim, [tensor, indices, value], rule, |shape, at, new| {
        let rank = shape.num_dims();
        let same = |axis: usize| axis == dim || shape[axis] == at[axis];
        at.num_dims() == rank && (0..rank).all(same) && new == at
    });
}

/// Ends an op whose indices are not one for each slice of `value` along `dim`.
pub(super) fn check_rows(
    name: &'static str,
    dim: usize,
    tensor: &MpsGraphTensor,
    indices: &MpsGraphTensor,
    value: &MpsGraphTensor,
) {
    let rule = "the indices must have one dim, and the values a slice for each of them, along that dim of the tensor";
    require_fit(name, dim, [tensor, indices, value], rule, |shape, at, new| {
        at.num_dims() == 1 && {
            let mut expected = shape.to_vec();
            expected[dim] = at[0];
            new.as_slice() == expected
        }
    });
}

/// Ends an op without an axis `dim`, whose indices are no integers, or whose shapes do not fit by the `rule`. `fits`
/// gets those of the tensor, the indices and the values.
fn require_fit(
    name: &'static str,
    dim: usize,
    operands: [&MpsGraphTensor; 3],
    rule: &str,
    fits: impl FnOnce(&Shape, &Shape, &Shape) -> bool,
) {
    require_indices(name, operands[1]);
    let [shape, at, new] = operands.map(|operand| &operand.shape);
    if dim >= shape.num_dims() || !fits(shape, at, new) {
        let [shape, at, new] = operands.map(|operand| operand.dims());
        invalid(name, format!("values of shape {new:?} at indices of shape {at:?}, dim {dim} of {shape:?}: {rule}"));
    }
}

/// Ends an op whose values have another dtype than the data, or whose data are bools.
pub(super) fn require_dtype(name: &'static str, data: &MpsGraphTensor, value: &MpsGraphTensor) {
    if data.dtype() != value.dtype() || data.dtype().is_bool() {
        let [(new, shape), (own, into)] = [value, data].map(MpsGraphTensor::typed);
        let rule = "both must be of one dtype, not bools";
        invalid(name, format!("values of {new:?}, shape {shape:?}, into {own:?}, shape {into:?}: {rule}"));
    }
}
