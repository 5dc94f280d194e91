//! Burn's integer tensor operations.
//!
//! Arithmetic wraps around in the tensor's own dtype. Positions (`int_argmax`, …) have the dtype of the tensor, as in
//! Burn's intermediate representation, or i32 where that cannot hold them.

use std::ops::Range;

use burn_backend::ops::IntTensorOps;
use burn_backend::tensor::IndexingUpdateOp;
use burn_backend::{BoolDType, Distribution, ExecutionError, FloatDType, IntDType, Scalar, Shape, Slice, TensorData};

use super::{FloatElement, IntElement, MpsGraph, into_data};
use crate::bridge::upload;
use crate::burn::int_items;
use crate::device::MpsGraphDevice;
use crate::dtype::positions_in;
use crate::ops::arithmetic::{self, BinaryOp, CompareOp, UnaryOp};
use crate::ops::{
    cumulative, gather, matrix_multiplication, memory, random, reduction, scatter_nd, sort, tensor_shape,
};
use crate::tensor::MpsGraphTensor as Tensor;

impl<F: FloatElement, I: IntElement> IntTensorOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    fn int_empty(shape: Shape, _device: &MpsGraphDevice, dtype: IntDType) -> Tensor {
        memory::zeros(shape, dtype.into())
    }

    fn int_into_data(tensor: Tensor) -> impl Future<Output = Result<TensorData, ExecutionError>> + Send {
        into_data(tensor)
    }

    fn int_from_data(data: TensorData, _device: &MpsGraphDevice) -> Tensor {
        upload("int_from_data", data)
    }
    fn int_to_device(tensor: Tensor, _device: &MpsGraphDevice) -> Tensor {
        tensor
    }
    fn int_reshape(tensor: Tensor, shape: Shape) -> Tensor {
        tensor_shape::reshape(tensor, shape)
    }
    fn int_slice(tensor: Tensor, slices: &[Slice]) -> Tensor {
        tensor_shape::slice(tensor, slices)
    }
    fn int_slice_assign(tensor: Tensor, slices: &[Slice], value: Tensor) -> Tensor {
        tensor_shape::slice_assign(tensor, slices, value)
    }
    fn int_into_float(tensor: Tensor, out_dtype: FloatDType) -> Tensor {
        arithmetic::cast(tensor, out_dtype.into())
    }
    fn int_mask_where(tensor: Tensor, mask: Tensor, value: Tensor) -> Tensor {
        arithmetic::mask_where(tensor, mask, value)
    }
    fn int_mask_fill(tensor: Tensor, mask: Tensor, value: Scalar) -> Tensor {
        arithmetic::mask_fill(tensor, mask, value.into())
    }
    fn int_gather(dim: usize, tensor: Tensor, indices: Tensor) -> Tensor {
        gather::gather(dim, tensor, indices)
    }
    fn int_scatter_nd(data: Tensor, indices: Tensor, values: Tensor, reduction: IndexingUpdateOp) -> Tensor {
        scatter_nd::scatter_nd(data, indices, values, reduction)
    }
    fn int_gather_nd(data: Tensor, indices: Tensor) -> Tensor {
        gather::gather_nd(data, indices)
    }
    fn int_select(tensor: Tensor, dim: usize, indices: Tensor) -> Tensor {
        gather::select(tensor, dim, indices)
    }
    fn int_repeat_dim(tensor: Tensor, dim: usize, times: usize) -> Tensor {
        tensor_shape::repeat_dim(tensor, dim, times)
    }
    fn int_cat(tensors: Vec<Tensor>, dim: usize) -> Tensor {
        tensor_shape::cat(tensors, dim)
    }
    fn int_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare(CompareOp::Equal, lhs, rhs, out_dtype.into())
    }
    fn int_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare_scalar(CompareOp::Equal, lhs, rhs.into(), out_dtype.into())
    }
    fn int_not_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare(CompareOp::NotEqual, lhs, rhs, out_dtype.into())
    }
    fn int_not_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare_scalar(CompareOp::NotEqual, lhs, rhs.into(), out_dtype.into())
    }
    fn int_greater(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare(CompareOp::Greater, lhs, rhs, out_dtype.into())
    }
    fn int_greater_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare_scalar(CompareOp::Greater, lhs, rhs.into(), out_dtype.into())
    }
    fn int_greater_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare(CompareOp::GreaterEqual, lhs, rhs, out_dtype.into())
    }
    fn int_greater_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare_scalar(CompareOp::GreaterEqual, lhs, rhs.into(), out_dtype.into())
    }
    fn int_lower(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare(CompareOp::Lower, lhs, rhs, out_dtype.into())
    }
    fn int_lower_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare_scalar(CompareOp::Lower, lhs, rhs.into(), out_dtype.into())
    }
    fn int_lower_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare(CompareOp::LowerEqual, lhs, rhs, out_dtype.into())
    }
    fn int_lower_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare_scalar(CompareOp::LowerEqual, lhs, rhs.into(), out_dtype.into())
    }
    fn int_add(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Add, lhs, rhs)
    }
    fn int_add_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::Add, lhs, rhs.into())
    }
    fn int_sub(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Sub, lhs, rhs)
    }
    fn int_sub_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::Sub, lhs, rhs.into())
    }
    fn int_mul(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Mul, lhs, rhs)
    }
    fn int_mul_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::Mul, lhs, rhs.into())
    }
    fn int_div(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Div, lhs, rhs)
    }
    fn int_div_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::Div, lhs, rhs.into())
    }
    fn int_remainder(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Remainder, lhs, rhs)
    }
    fn int_remainder_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::Remainder, lhs, rhs.into())
    }
    fn int_powi(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Pow, lhs, rhs)
    }
    fn int_powi_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::powi_scalar(lhs, rhs)
    }
    fn int_powi_scalar_impl(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::powi_scalar(lhs, rhs)
    }
    fn int_clamp_min(tensor: Tensor, min: Scalar) -> Tensor {
        arithmetic::clamp(tensor, Some(min.into()), None)
    }
    fn int_clamp_max(tensor: Tensor, max: Scalar) -> Tensor {
        arithmetic::clamp(tensor, None, Some(max.into()))
    }
    fn int_clamp(tensor: Tensor, min: Scalar, max: Scalar) -> Tensor {
        arithmetic::clamp(tensor, Some(min.into()), Some(max.into()))
    }
    fn int_matmul(lhs: Tensor, rhs: Tensor) -> Tensor {
        matrix_multiplication::matmul(lhs, rhs)
    }
    fn int_neg(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Neg, tensor)
    }
    fn int_abs(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Abs, tensor)
    }
    fn int_sign(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Sign, tensor)
    }
    fn int_zeros(shape: Shape, _device: &MpsGraphDevice, dtype: IntDType) -> Tensor {
        memory::zeros(shape, dtype.into())
    }
    fn int_ones(shape: Shape, _device: &MpsGraphDevice, dtype: IntDType) -> Tensor {
        memory::ones(shape, dtype.into())
    }
    fn int_full(shape: Shape, fill_value: Scalar, _device: &MpsGraphDevice, dtype: IntDType) -> Tensor {
        memory::full(shape, fill_value.into(), dtype.into())
    }
    fn int_sum(tensor: Tensor) -> Tensor {
        reduction::sum(tensor)
    }
    fn int_sum_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::sum_dim(tensor, dim)
    }
    fn int_prod(tensor: Tensor) -> Tensor {
        reduction::prod(tensor)
    }
    fn int_prod_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::prod_dim(tensor, dim)
    }
    fn int_mean(tensor: Tensor) -> Tensor {
        reduction::mean(tensor)
    }
    fn int_mean_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::mean_dim(tensor, dim)
    }
    fn int_max(tensor: Tensor) -> Tensor {
        reduction::max(tensor)
    }
    fn int_max_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::max_dim(tensor, dim)
    }
    fn int_min(tensor: Tensor) -> Tensor {
        reduction::min(tensor)
    }
    fn int_min_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::min_dim(tensor, dim)
    }
    fn int_max_abs(tensor: Tensor) -> Tensor {
        reduction::max_abs(tensor)
    }
    fn int_max_abs_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::max_abs_dim(tensor, dim)
    }

    fn int_argmax(tensor: Tensor, dim: usize) -> Tensor {
        let out = positions_in(&tensor, dim);
        reduction::argmax(tensor, dim, out)
    }

    fn int_argmin(tensor: Tensor, dim: usize) -> Tensor {
        let out = positions_in(&tensor, dim);
        reduction::argmin(tensor, dim, out)
    }

    fn int_max_dim_with_indices(tensor: Tensor, dim: usize) -> (Tensor, Tensor) {
        let out = positions_in(&tensor, dim);
        reduction::max_dim_with_indices(tensor, dim, out)
    }
    fn int_min_dim_with_indices(tensor: Tensor, dim: usize) -> (Tensor, Tensor) {
        let out = positions_in(&tensor, dim);
        reduction::min_dim_with_indices(tensor, dim, out)
    }
    fn int_any(tensor: Tensor, out_dtype: BoolDType) -> Tensor {
        reduction::any(tensor, out_dtype.into())
    }
    fn int_any_dim(tensor: Tensor, dim: usize, out_dtype: BoolDType) -> Tensor {
        reduction::any_dim(tensor, dim, out_dtype.into())
    }
    fn int_all(tensor: Tensor, out_dtype: BoolDType) -> Tensor {
        reduction::all(tensor, out_dtype.into())
    }
    fn int_all_dim(tensor: Tensor, dim: usize, out_dtype: BoolDType) -> Tensor {
        reduction::all_dim(tensor, dim, out_dtype.into())
    }
    fn int_cumsum(tensor: Tensor, dim: usize) -> Tensor {
        cumulative::cumsum(tensor, dim)
    }
    fn int_cumprod(tensor: Tensor, dim: usize) -> Tensor {
        cumulative::cumprod(tensor, dim)
    }
    fn int_cummin(tensor: Tensor, dim: usize) -> Tensor {
        cumulative::cummin(tensor, dim)
    }
    fn int_cummax(tensor: Tensor, dim: usize) -> Tensor {
        cumulative::cummax(tensor, dim)
    }
    fn int_argtopk(tensor: Tensor, dim: usize, k: usize) -> Tensor {
        let out = positions_in(&tensor, dim);
        sort::argtopk(tensor, dim, k, out)
    }
    fn int_topk(tensor: Tensor, dim: usize, k: usize) -> Tensor {
        sort::topk(tensor, dim, k)
    }
    fn int_sort(tensor: Tensor, dim: usize, descending: bool) -> Tensor {
        sort::sort(tensor, dim, descending)
    }
    fn int_sort_with_indices(tensor: Tensor, dim: usize, descending: bool) -> (Tensor, Tensor) {
        let out = positions_in(&tensor, dim);
        sort::sort_with_indices(tensor, dim, descending, out)
    }
    fn int_argsort(tensor: Tensor, dim: usize, descending: bool) -> Tensor {
        let out = positions_in(&tensor, dim);
        sort::argsort(tensor, dim, descending, out)
    }
    fn int_transpose(tensor: Tensor) -> Tensor {
        tensor_shape::transpose(tensor)
    }
    fn int_swap_dims(tensor: Tensor, dim1: usize, dim2: usize) -> Tensor {
        tensor_shape::swap_dims(tensor, dim1, dim2)
    }
    fn int_permute(tensor: Tensor, axes: &[usize]) -> Tensor {
        tensor_shape::permute(tensor, axes)
    }
    fn int_flip(tensor: Tensor, axes: &[usize]) -> Tensor {
        tensor_shape::flip(tensor, axes)
    }
    fn int_expand(tensor: Tensor, shape: Shape) -> Tensor {
        tensor_shape::expand(tensor, shape)
    }
    fn int_unfold(tensor: Tensor, dim: usize, size: usize, step: usize) -> Tensor {
        tensor_shape::unfold(tensor, dim, size, step)
    }
    fn int_random(shape: Shape, distribution: Distribution, _device: &MpsGraphDevice, dtype: IntDType) -> Tensor {
        random::random("int_random", shape, distribution, dtype.into())
    }
    fn int_arange(range: Range<i64>, _device: &MpsGraphDevice, dtype: IntDType) -> Tensor {
        memory::arange(range, 1, dtype.into())
    }
    fn int_arange_step(range: Range<i64>, step: usize, _device: &MpsGraphDevice, dtype: IntDType) -> Tensor {
        memory::arange(range, step, dtype.into())
    }
    fn bitwise_and(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::BitwiseAnd, lhs, rhs)
    }
    fn bitwise_and_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::BitwiseAnd, lhs, rhs.into())
    }
    fn bitwise_or(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::BitwiseOr, lhs, rhs)
    }
    fn bitwise_or_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::BitwiseOr, lhs, rhs.into())
    }
    fn bitwise_xor(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::BitwiseXor, lhs, rhs)
    }
    fn bitwise_xor_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::BitwiseXor, lhs, rhs.into())
    }
    fn bitwise_left_shift(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::LeftShift, lhs, rhs)
    }
    fn bitwise_left_shift_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::LeftShift, lhs, rhs.into())
    }
    fn bitwise_right_shift(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::RightShift, lhs, rhs)
    }
    fn bitwise_right_shift_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::RightShift, lhs, rhs.into())
    }
    fn bitwise_not(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::BitwiseNot, tensor)
    }
    fn int_cast(tensor: Tensor, dtype: IntDType) -> Tensor {
        arithmetic::cast(tensor, dtype.into())
    }

    int_items!();
}
