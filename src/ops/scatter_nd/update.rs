//! Writes along an axis with any of Burn's updates; sums have kernels of their own, the others are
//! [`scatter_nd`](super::scatter_nd) at the places that the indices mean.

use burn_backend::tensor::IndexingUpdateOp;
use burn_backend::{DType, Shape, TensorMetadata};

use super::checks::{check_along, check_rows, require_dtype};
use super::parts::{self, in_parts};
use super::{Combine, scatter_add, scatter_nd, select_add};
use crate::dtype::BOOL;
use crate::error::unsupported;
use crate::lowering::rank::outer_axis_inner;
use crate::lowering::scalar::ScalarInput;
use crate::ops::arithmetic::{self, BinaryOp, CompareOp};
use crate::ops::gather::require_elements;
use crate::ops::{memory, reduction, tensor_shape};
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
    if update == IndexingUpdateOp::Mul && !tensor.dtype().is_float() {
        return multiply_integers(dim, tensor, indices, value);
    }
    let places = places(&shape, dim, indices).with_shape([count, 1].into());
    let data = tensor.with_shape([shape.num_elements()].into());
    scatter_nd(data, places, value.with_shape([count].into()), update).with_shape(shape)
}

/// [`scatter`] of products of integers: each line along `dim` has a table of its elements times its updates, because no
/// scatter of MPSGraph multiplies integers exactly.
fn multiply_integers(
    dim: usize,
    tensor: MpsGraphTensor,
    indices: MpsGraphTensor,
    value: MpsGraphTensor,
) -> MpsGraphTensor {
    let (shape, dtype) = (tensor.shape(), tensor.dtype());
    let ([outer, extent, inner], count) = (outer_axis_inner(&shape, dim), value.shape[dim]);
    let most = parts::most("scatter", Combine::Mul, &tensor, [count, outer * inner]);
    if most < count {
        return in_parts(tensor, (indices, dim), (value, dim), most, |tensor, indices, value| {
            multiply_integers(dim, tensor, indices, value)
        });
    }
    let updates = Shape::from([outer, 1, count, inner]);
    let indices = nearest(extent, indices).with_shape(updates.clone());
    let elements = memory::arange(0..extent as i64, 1, DType::I32).with_shape([1, extent, 1, 1].into());
    let meets = arithmetic::compare(CompareOp::Equal, elements, indices, BOOL);
    let one = memory::ones([1, 1, 1, 1].into(), dtype);
    let factors = arithmetic::mask_where(one, meets, value.with_shape(updates));
    arithmetic::binary(BinaryOp::Mul, tensor, reduction::prod_dim(factors, 2).with_shape(shape))
}

/// Indices into `extent` elements as i32, those out of range as the nearest one in it.
fn nearest(extent: usize, indices: MpsGraphTensor) -> MpsGraphTensor {
    let last = ScalarInput::Int(extent as i64 - 1);
    arithmetic::cast(arithmetic::clamp(indices, Some(ScalarInput::Int(0)), Some(last)), DType::I32)
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
        unsupported("scatter", format!("2^31 or more elements in {:?}; update fewer at a time", &shape[..]));
    }
    let [outer, count, _] = outer_axis_inner(&indices.shape, dim);
    let axis = nearest(extent, indices.with_shape([outer, count, inner].into()));
    let steps = |count: usize, step: usize, shape: [usize; 3]| {
        memory::arange(0..(count * step) as i64, step, DType::I32).with_shape(shape.into())
    };
    let in_row = arithmetic::binary_scalar(BinaryOp::Mul, axis, ScalarInput::Int(inner as i64));
    let in_block = arithmetic::binary(BinaryOp::Add, in_row, steps(inner, 1, [1, 1, inner]));
    arithmetic::binary(BinaryOp::Add, in_block, steps(outer, extent * inner, [outer, 1, 1]))
}
