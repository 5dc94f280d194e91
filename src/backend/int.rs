//! Burn's integer tensor operations.
//!
//! Arithmetic wraps around in the tensor's own dtype. Positions (`int_argmax`, …) come in the dtype of the tensor, as
//! Burn's intermediate representation has it. Sorting and running sums are not implemented yet.

use std::ops::Range;

use burn_backend::ops::IntTensorOps;
use burn_backend::tensor::IndexingUpdateOp;
use burn_backend::{
    BoolDType, DType, Distribution, ExecutionError, FloatDType, IntDType, Scalar, Shape, Slice, TensorData,
    TensorMetadata,
};

use super::{FloatElement, IntElement, MpsGraph, into_data, not_yet};
use crate::bridge::upload;
use crate::device::MpsGraphDevice;
use crate::error::unsupported;
use crate::ops::arithmetic::{self, BinaryOp, CompareOp, UnaryOp};
use crate::ops::{gather, matrix_multiplication, memory, random, reduction, scatter_nd, tensor_shape};
use crate::tensor::MpsGraphTensor;

/// The tensor's own dtype, in which positions along `dim` are given.
fn index_dtype(name: &'static str, tensor: &MpsGraphTensor, dim: usize) -> DType {
    let dtype = tensor.dtype();
    let extent = tensor.shape.get(dim).copied().unwrap_or(0);
    let values = 1u64 << (8 * dtype.size() as u32 - u32::from(dtype.is_int())).min(63);
    if extent as u64 > values {
        unsupported(name, format!("positions up to {} do not fit {dtype:?}; cast to i32 first", extent - 1));
    }
    dtype
}

impl<F: FloatElement, I: IntElement> IntTensorOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    fn int_empty(shape: Shape, _device: &MpsGraphDevice, dtype: IntDType) -> MpsGraphTensor {
        memory::zeros(shape, dtype.into())
    }

    async fn int_into_data(tensor: MpsGraphTensor) -> Result<TensorData, ExecutionError> {
        into_data(tensor)
    }

    fn int_from_data(data: TensorData, _device: &MpsGraphDevice) -> MpsGraphTensor {
        upload("int_from_data", data)
    }

    fn int_device(_tensor: &MpsGraphTensor) -> MpsGraphDevice {
        MpsGraphDevice
    }

    fn int_to_device(tensor: MpsGraphTensor, _device: &MpsGraphDevice) -> MpsGraphTensor {
        tensor
    }

    fn int_reshape(tensor: MpsGraphTensor, shape: Shape) -> MpsGraphTensor {
        tensor_shape::reshape(tensor, shape)
    }

    fn int_slice(tensor: MpsGraphTensor, slices: &[Slice]) -> MpsGraphTensor {
        tensor_shape::slice(tensor, slices)
    }

    fn int_slice_assign(tensor: MpsGraphTensor, slices: &[Slice], value: MpsGraphTensor) -> MpsGraphTensor {
        tensor_shape::slice_assign(tensor, slices, value)
    }

    fn int_into_float(tensor: MpsGraphTensor, out_dtype: FloatDType) -> MpsGraphTensor {
        arithmetic::cast(tensor, out_dtype.into())
    }

    fn int_mask_where(tensor: MpsGraphTensor, mask: MpsGraphTensor, value: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::mask_where(tensor, mask, value)
    }

    fn int_mask_fill(tensor: MpsGraphTensor, mask: MpsGraphTensor, value: Scalar) -> MpsGraphTensor {
        arithmetic::mask_fill(tensor, mask, value.into())
    }

    fn int_gather(dim: usize, tensor: MpsGraphTensor, indices: MpsGraphTensor) -> MpsGraphTensor {
        gather::gather(dim, tensor, indices)
    }

    fn int_scatter_add(
        dim: usize,
        tensor: MpsGraphTensor,
        indices: MpsGraphTensor,
        value: MpsGraphTensor,
    ) -> MpsGraphTensor {
        scatter_nd::scatter_add(dim, tensor, indices, value)
    }

    fn int_scatter_nd(
        data: MpsGraphTensor,
        indices: MpsGraphTensor,
        values: MpsGraphTensor,
        reduction: IndexingUpdateOp,
    ) -> MpsGraphTensor {
        scatter_nd::scatter_nd(data, indices, values, reduction)
    }

    fn int_gather_nd(data: MpsGraphTensor, indices: MpsGraphTensor) -> MpsGraphTensor {
        gather::gather_nd(data, indices)
    }

    fn int_select(tensor: MpsGraphTensor, dim: usize, indices: MpsGraphTensor) -> MpsGraphTensor {
        gather::select(tensor, dim, indices)
    }

    fn int_select_add(
        tensor: MpsGraphTensor,
        dim: usize,
        indices: MpsGraphTensor,
        value: MpsGraphTensor,
    ) -> MpsGraphTensor {
        scatter_nd::select_add(tensor, dim, indices, value)
    }

    fn int_repeat_dim(tensor: MpsGraphTensor, dim: usize, times: usize) -> MpsGraphTensor {
        tensor_shape::repeat_dim(tensor, dim, times)
    }

    fn int_cat(tensors: Vec<MpsGraphTensor>, dim: usize) -> MpsGraphTensor {
        tensor_shape::cat(tensors, dim)
    }

    fn int_equal(lhs: MpsGraphTensor, rhs: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare(CompareOp::Equal, lhs, rhs, out_dtype.into())
    }

    fn int_equal_elem(lhs: MpsGraphTensor, rhs: Scalar, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare_scalar(CompareOp::Equal, lhs, rhs.into(), out_dtype.into())
    }

    fn int_not_equal(lhs: MpsGraphTensor, rhs: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare(CompareOp::NotEqual, lhs, rhs, out_dtype.into())
    }

    fn int_not_equal_elem(lhs: MpsGraphTensor, rhs: Scalar, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare_scalar(CompareOp::NotEqual, lhs, rhs.into(), out_dtype.into())
    }

    fn int_greater(lhs: MpsGraphTensor, rhs: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare(CompareOp::Greater, lhs, rhs, out_dtype.into())
    }

    fn int_greater_elem(lhs: MpsGraphTensor, rhs: Scalar, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare_scalar(CompareOp::Greater, lhs, rhs.into(), out_dtype.into())
    }

    fn int_greater_equal(lhs: MpsGraphTensor, rhs: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare(CompareOp::GreaterEqual, lhs, rhs, out_dtype.into())
    }

    fn int_greater_equal_elem(lhs: MpsGraphTensor, rhs: Scalar, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare_scalar(CompareOp::GreaterEqual, lhs, rhs.into(), out_dtype.into())
    }

    fn int_lower(lhs: MpsGraphTensor, rhs: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare(CompareOp::Lower, lhs, rhs, out_dtype.into())
    }

    fn int_lower_elem(lhs: MpsGraphTensor, rhs: Scalar, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare_scalar(CompareOp::Lower, lhs, rhs.into(), out_dtype.into())
    }

    fn int_lower_equal(lhs: MpsGraphTensor, rhs: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare(CompareOp::LowerEqual, lhs, rhs, out_dtype.into())
    }

    fn int_lower_equal_elem(lhs: MpsGraphTensor, rhs: Scalar, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare_scalar(CompareOp::LowerEqual, lhs, rhs.into(), out_dtype.into())
    }

    fn int_add(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Add, lhs, rhs)
    }

    fn int_add_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::Add, lhs, rhs.into())
    }

    fn int_sub(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Sub, lhs, rhs)
    }

    fn int_sub_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::Sub, lhs, rhs.into())
    }

    fn int_mul(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Mul, lhs, rhs)
    }

    fn int_mul_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::Mul, lhs, rhs.into())
    }

    fn int_div(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Div, lhs, rhs)
    }

    fn int_div_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::Div, lhs, rhs.into())
    }

    fn int_remainder(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Remainder, lhs, rhs)
    }

    fn int_remainder_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::Remainder, lhs, rhs.into())
    }

    fn int_powi(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Pow, lhs, rhs)
    }

    fn int_powi_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::powi_scalar(lhs, rhs)
    }

    fn int_powi_scalar_impl(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::powi_scalar(lhs, rhs)
    }

    fn int_clamp_min(tensor: MpsGraphTensor, min: Scalar) -> MpsGraphTensor {
        arithmetic::clamp(tensor, Some(min.into()), None)
    }

    fn int_clamp_max(tensor: MpsGraphTensor, max: Scalar) -> MpsGraphTensor {
        arithmetic::clamp(tensor, None, Some(max.into()))
    }

    fn int_clamp(tensor: MpsGraphTensor, min: Scalar, max: Scalar) -> MpsGraphTensor {
        arithmetic::clamp(tensor, Some(min.into()), Some(max.into()))
    }

    fn int_matmul(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        matrix_multiplication::matmul(lhs, rhs)
    }

    fn int_neg(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Neg, tensor)
    }

    fn int_abs(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Abs, tensor)
    }

    fn int_sign(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Sign, tensor)
    }

    fn int_zeros(shape: Shape, _device: &MpsGraphDevice, dtype: IntDType) -> MpsGraphTensor {
        memory::zeros(shape, dtype.into())
    }

    fn int_ones(shape: Shape, _device: &MpsGraphDevice, dtype: IntDType) -> MpsGraphTensor {
        memory::ones(shape, dtype.into())
    }

    fn int_full(shape: Shape, fill_value: Scalar, _device: &MpsGraphDevice, dtype: IntDType) -> MpsGraphTensor {
        memory::full(shape, fill_value.into(), dtype.into())
    }

    fn int_sum(tensor: MpsGraphTensor) -> MpsGraphTensor {
        reduction::sum(tensor)
    }

    fn int_sum_dim(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        reduction::sum_dim(tensor, dim)
    }

    fn int_prod(tensor: MpsGraphTensor) -> MpsGraphTensor {
        reduction::prod(tensor)
    }

    fn int_prod_dim(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        reduction::prod_dim(tensor, dim)
    }

    fn int_mean(tensor: MpsGraphTensor) -> MpsGraphTensor {
        reduction::mean(tensor)
    }

    fn int_mean_dim(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        reduction::mean_dim(tensor, dim)
    }

    fn int_max(tensor: MpsGraphTensor) -> MpsGraphTensor {
        reduction::max(tensor)
    }

    fn int_max_dim(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        reduction::max_dim(tensor, dim)
    }

    fn int_min(tensor: MpsGraphTensor) -> MpsGraphTensor {
        reduction::min(tensor)
    }

    fn int_min_dim(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        reduction::min_dim(tensor, dim)
    }

    fn int_max_abs(tensor: MpsGraphTensor) -> MpsGraphTensor {
        reduction::max_abs(tensor)
    }

    fn int_max_abs_dim(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        reduction::max_abs_dim(tensor, dim)
    }

    fn int_argmax(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        let out = index_dtype("int_argmax", &tensor, dim);
        reduction::argmax(tensor, dim, out)
    }

    fn int_argmin(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        let out = index_dtype("int_argmin", &tensor, dim);
        reduction::argmin(tensor, dim, out)
    }

    fn int_max_dim_with_indices(tensor: MpsGraphTensor, dim: usize) -> (MpsGraphTensor, MpsGraphTensor) {
        reduction::max_dim_with_indices(tensor, dim, I::dtype())
    }

    fn int_min_dim_with_indices(tensor: MpsGraphTensor, dim: usize) -> (MpsGraphTensor, MpsGraphTensor) {
        reduction::min_dim_with_indices(tensor, dim, I::dtype())
    }

    fn int_any(tensor: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        reduction::any(tensor, out_dtype.into())
    }

    fn int_any_dim(tensor: MpsGraphTensor, dim: usize, out_dtype: BoolDType) -> MpsGraphTensor {
        reduction::any_dim(tensor, dim, out_dtype.into())
    }

    fn int_all(tensor: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        reduction::all(tensor, out_dtype.into())
    }

    fn int_all_dim(tensor: MpsGraphTensor, dim: usize, out_dtype: BoolDType) -> MpsGraphTensor {
        reduction::all_dim(tensor, dim, out_dtype.into())
    }

    fn int_cumsum(_tensor: MpsGraphTensor, _dim: usize) -> MpsGraphTensor {
        not_yet("int_cumsum")
    }

    fn int_cumprod(_tensor: MpsGraphTensor, _dim: usize) -> MpsGraphTensor {
        not_yet("int_cumprod")
    }

    fn int_cummin(_tensor: MpsGraphTensor, _dim: usize) -> MpsGraphTensor {
        not_yet("int_cummin")
    }

    fn int_cummax(_tensor: MpsGraphTensor, _dim: usize) -> MpsGraphTensor {
        not_yet("int_cummax")
    }

    fn int_argtopk(_tensor: MpsGraphTensor, _dim: usize, _k: usize) -> MpsGraphTensor {
        not_yet("int_argtopk")
    }

    fn int_topk(_tensor: MpsGraphTensor, _dim: usize, _k: usize) -> MpsGraphTensor {
        not_yet("int_topk")
    }

    fn int_sort(_tensor: MpsGraphTensor, _dim: usize, _descending: bool) -> MpsGraphTensor {
        not_yet("int_sort")
    }

    fn int_sort_with_indices(
        _tensor: MpsGraphTensor,
        _dim: usize,
        _descending: bool,
    ) -> (MpsGraphTensor, MpsGraphTensor) {
        not_yet("int_sort_with_indices")
    }

    fn int_argsort(_tensor: MpsGraphTensor, _dim: usize, _descending: bool) -> MpsGraphTensor {
        not_yet("int_argsort")
    }

    fn int_transpose(tensor: MpsGraphTensor) -> MpsGraphTensor {
        tensor_shape::transpose(tensor)
    }

    fn int_swap_dims(tensor: MpsGraphTensor, dim1: usize, dim2: usize) -> MpsGraphTensor {
        tensor_shape::swap_dims(tensor, dim1, dim2)
    }

    fn int_permute(tensor: MpsGraphTensor, axes: &[usize]) -> MpsGraphTensor {
        tensor_shape::permute(tensor, axes)
    }

    fn int_flip(tensor: MpsGraphTensor, axes: &[usize]) -> MpsGraphTensor {
        tensor_shape::flip(tensor, axes)
    }

    fn int_expand(tensor: MpsGraphTensor, shape: Shape) -> MpsGraphTensor {
        tensor_shape::expand(tensor, shape)
    }

    fn int_unfold(tensor: MpsGraphTensor, dim: usize, size: usize, step: usize) -> MpsGraphTensor {
        tensor_shape::unfold(tensor, dim, size, step)
    }

    fn int_random(
        shape: Shape,
        distribution: Distribution,
        _device: &MpsGraphDevice,
        dtype: IntDType,
    ) -> MpsGraphTensor {
        random::random("int_random", shape, distribution, dtype.into())
    }

    fn int_arange(range: Range<i64>, _device: &MpsGraphDevice, dtype: IntDType) -> MpsGraphTensor {
        memory::arange(range, 1, dtype.into())
    }

    fn int_arange_step(range: Range<i64>, step: usize, _device: &MpsGraphDevice, dtype: IntDType) -> MpsGraphTensor {
        memory::arange(range, step, dtype.into())
    }

    fn bitwise_and(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::BitwiseAnd, lhs, rhs)
    }

    fn bitwise_and_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::BitwiseAnd, lhs, rhs.into())
    }

    fn bitwise_or(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::BitwiseOr, lhs, rhs)
    }

    fn bitwise_or_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::BitwiseOr, lhs, rhs.into())
    }

    fn bitwise_xor(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::BitwiseXor, lhs, rhs)
    }

    fn bitwise_xor_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::BitwiseXor, lhs, rhs.into())
    }

    fn bitwise_left_shift(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::LeftShift, lhs, rhs)
    }

    fn bitwise_left_shift_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::LeftShift, lhs, rhs.into())
    }

    fn bitwise_right_shift(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::RightShift, lhs, rhs)
    }

    fn bitwise_right_shift_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::RightShift, lhs, rhs.into())
    }

    fn bitwise_not(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::BitwiseNot, tensor)
    }

    fn int_cast(tensor: MpsGraphTensor, dtype: IntDType) -> MpsGraphTensor {
        arithmetic::cast(tensor, dtype.into())
    }
}
