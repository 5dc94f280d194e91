//! What a write by index refuses before anything is recorded.

use burn_backend::{DType, Shape, TensorMetadata};

use super::integer;
use crate::error::{invalid, unsupported};
use crate::lowering::MOST_ELEMENTS;
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

/// Ends an op without an axis `dim`, or whose shapes do not fit by the `rule`. `fits` gets those of the tensor, the
/// indices and the values.
fn require_fit(
    name: &'static str,
    dim: usize,
    operands: [&MpsGraphTensor; 3],
    rule: &str,
    fits: impl FnOnce(&Shape, &Shape, &Shape) -> bool,
) {
    let [shape, at, new] = operands.map(|operand| &operand.shape);
    if dim >= shape.num_dims() || !fits(shape, at, new) {
        let [shape, at, new] = operands.map(|operand| operand.dims());
        invalid(name, format!("values of shape {new:?} at indices of shape {at:?}, dim {dim} of {shape:?}: {rule}"));
    }
}

/// Ends an op whose values have another dtype than the data, or whose data are bools.
pub(super) fn require_dtype(name: &'static str, data: &MpsGraphTensor, value: &MpsGraphTensor) {
    if data.dtype() != value.dtype() || data.dtype().is_bool() {
        let dtypes = (value.dtype(), data.dtype());
        invalid(name, format!("values of {:?} into {:?}: both must be of one dtype, not bools", dtypes.0, dtypes.1));
    }
}

/// Refuses more updates than f32 counts exactly (up to 2^24), because the integer scatters rely on that.
pub(super) fn require_exact(name: &'static str, dtype: DType, updates: usize) {
    if !dtype.is_float() && updates >= 1 << 24 {
        unsupported(name, format!("{updates} updates of {dtype:?}: at most 2^24 - 1; update fewer at a time"));
    }
}

/// Refuses updates whose digits do not fit one tensor: integers are summed digit by digit, side by side.
pub(super) fn require_room(name: &'static str, data: &MpsGraphTensor, value: &MpsGraphTensor, count: usize) {
    let dtype = data.dtype();
    if dtype.is_float() {
        return;
    }
    let digits = integer::digits(dtype, count);
    let elements = [data, value].map(|tensor| tensor.shape.num_elements());
    if elements.into_iter().any(|elements| elements * digits > MOST_ELEMENTS) {
        unsupported(
            name,
            format!(
                "{count} updates in {:?} of {dtype:?} take {digits} digits for each of {elements:?} elements: more \
                 than 2^30; split the tensor",
                data.dims()
            ),
        );
    }
}
