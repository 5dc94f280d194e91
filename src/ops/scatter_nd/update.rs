//! Writes along an axis with any of Burn's updates; sums have kernels of their own, the others are
//! [`scatter_nd`](super::scatter_nd) at the places that the indices mean.

use burn_backend::tensor::IndexingUpdateOp;
use burn_backend::{DType, Shape};

use super::checks::{check_along, check_rows, require_dtype, require_elements};
use super::{scatter_add, scatter_nd, select_add};
use crate::error::unsupported;
use crate::lowering::rank::outer_axis_inner;
use crate::lowering::scalar::ScalarInput;
use crate::ops::arithmetic::{self, BinaryOp};
use crate::ops::{memory, tensor_shape};
use crate::tensor::MpsGraphTensor;

/// `tensor` with each element of `value` written along `dim` where `indices` says; both have the tensor's shape except
/// for their extent along `dim`.
///
/// Every dtype but bool. Of several updates of one element the last one stays (`Assign`), or all are combined; a NaN is
/// no minimum and no maximum of others. `Add` skips an index out of range, the others write to the nearest element.
pub(crate) fn scatter(
    dim: usize,
    tensor: MpsGraphTensor,
    indices: MpsGraphTensor,
    value: MpsGraphTensor,
    update: IndexingUpdateOp,
) -> MpsGraphTensor {
    if update == IndexingUpdateOp::Add {
        return scatter_add(dim, tensor, indices, value);
    }
    check_along("scatter", dim, &tensor, &indices, &value);
    require_dtype("scatter", &tensor, &value);
    let (shape, count) = (tensor.shape.clone(), value.shape.num_elements());
    if count == 0 {
        return tensor;
    }
    require_elements("scatter", &tensor);
    let places = places(&shape, dim, indices).with_shape([count, 1].into());
    let data = tensor.with_shape([shape.num_elements()].into());
    scatter_nd(data, places, value.with_shape([count].into()), update).with_shape(shape)
}

/// `tensor` with the slices of `value` along `dim` written to those that the rank-1 `indices` name.
///
/// Every dtype but bool, with the rules of [`scatter`]; an index out of range meets the nearest slice.
pub(crate) fn select_assign(
    tensor: MpsGraphTensor,
    dim: usize,
    indices: MpsGraphTensor,
    value: MpsGraphTensor,
    update: IndexingUpdateOp,
) -> MpsGraphTensor {
    if update == IndexingUpdateOp::Add {
        return select_add(tensor, dim, indices, value);
    }
    check_rows("select_assign", dim, &tensor, &indices, &value);
    let count = indices.shape[0];
    let indices = indices.with_shape([count, 1].into());
    if dim == 0 {
        return scatter_nd(tensor, indices, value, update);
    }
    let [tensor, value] = [tensor, value].map(|x| tensor_shape::swap_dims(x, 0, dim));
    tensor_shape::swap_dims(scatter_nd(tensor, indices, value, update), 0, dim)
}

/// Where in the packed elements of `shape` the elements are that `indices` along `dim` mean, in i32.
fn places(shape: &Shape, dim: usize, indices: MpsGraphTensor) -> MpsGraphTensor {
    let [_, extent, inner] = outer_axis_inner(shape, dim);
    if shape.num_elements() > i32::MAX as usize {
        unsupported("scatter", format!("2^31 or more elements in {shape:?}; update fewer at a time"));
    }
    let [outer, count, _] = outer_axis_inner(&indices.shape, dim);
    let axis = arithmetic::cast(indices.with_shape([outer, count, inner].into()), DType::I32);
    let axis = arithmetic::clamp(axis, Some(ScalarInput::Int(0)), Some(ScalarInput::Int(extent as i64 - 1)));
    let steps = |count: usize, step: usize, shape: [usize; 3]| {
        memory::arange(0..(count * step) as i64, step, DType::I32).with_shape(shape.into())
    };
    let in_row = arithmetic::binary_scalar(BinaryOp::Mul, axis, ScalarInput::Int(inner as i64));
    let in_block = arithmetic::binary(BinaryOp::Add, in_row, steps(inner, 1, [1, 1, inner]));
    arithmetic::binary(BinaryOp::Add, in_block, steps(outer, extent * inner, [outer, 1, 1]))
}
