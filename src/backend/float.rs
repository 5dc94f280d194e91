//! Burn's operations on float tensors; `ops` defines each of them. The file is long because Rust requires one `impl`
//! for a trait.

use burn_backend::ops::{FloatTensorOps, GridSampleOptions};
use burn_backend::tensor::IndexingUpdateOp;
use burn_backend::{Distribution, ExecutionError, Scalar, TensorData};
use burn_std::{BoolDType, FloatDType, IntDType, Shape, Slice};

use super::{FloatElement, IntElement, MpsGraph, into_data};
use crate::bridge::upload;
use crate::burn::float_items;
use crate::device::MpsGraphDevice;
use crate::ops::arithmetic::{self, BinaryOp, CompareOp, UnaryOp};
use crate::ops::{
    cumulative, gather, matrix_multiplication, memory, random, reduction, sample_grid, scatter_nd, sort, tensor_shape,
};
use crate::tensor::MpsGraphTensor as Tensor;

impl<F: FloatElement, I: IntElement> FloatTensorOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    fn float_from_data(data: TensorData, _device: &MpsGraphDevice) -> Tensor {
        upload("float_from_data", data)
    }
    fn float_random(shape: Shape, distribution: Distribution, _device: &MpsGraphDevice, dtype: FloatDType) -> Tensor {
        random::random("float_random", shape, distribution, dtype.into())
    }
    fn float_zeros(shape: Shape, _device: &MpsGraphDevice, dtype: FloatDType) -> Tensor {
        memory::zeros(shape, dtype.into())
    }
    fn float_ones(shape: Shape, _device: &MpsGraphDevice, dtype: FloatDType) -> Tensor {
        memory::ones(shape, dtype.into())
    }
    fn float_full(shape: Shape, fill_value: Scalar, _device: &MpsGraphDevice, dtype: FloatDType) -> Tensor {
        memory::full(shape, fill_value.into(), dtype.into())
    }

    fn float_into_data(tensor: Tensor) -> impl Future<Output = Result<TensorData, ExecutionError>> + Send {
        into_data(tensor)
    }

    fn float_to_device(tensor: Tensor, _device: &MpsGraphDevice) -> Tensor {
        tensor
    }
    fn float_into_int(tensor: Tensor, out_dtype: IntDType) -> Tensor {
        arithmetic::cast(tensor, out_dtype.into())
    }
    fn float_empty(shape: Shape, _device: &MpsGraphDevice, dtype: FloatDType) -> Tensor {
        memory::zeros(shape, dtype.into())
    }
    fn float_repeat_dim(tensor: Tensor, dim: usize, times: usize) -> Tensor {
        tensor_shape::repeat_dim(tensor, dim, times)
    }
    fn float_add(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Add, lhs, rhs)
    }
    fn float_add_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::Add, lhs, rhs.into())
    }
    fn float_sub(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Sub, lhs, rhs)
    }
    fn float_sub_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::Sub, lhs, rhs.into())
    }
    fn float_mul(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Mul, lhs, rhs)
    }
    fn float_mul_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::Mul, lhs, rhs.into())
    }
    fn float_div(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Div, lhs, rhs)
    }
    fn float_div_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::Div, lhs, rhs.into())
    }
    fn float_remainder(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Remainder, lhs, rhs)
    }
    fn float_remainder_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::Remainder, lhs, rhs.into())
    }
    fn float_clamp_min(tensor: Tensor, min: Scalar) -> Tensor {
        arithmetic::clamp(tensor, Some(min.into()), None)
    }
    fn float_clamp_max(tensor: Tensor, max: Scalar) -> Tensor {
        arithmetic::clamp(tensor, None, Some(max.into()))
    }
    fn float_clamp(tensor: Tensor, min: Scalar, max: Scalar) -> Tensor {
        arithmetic::clamp(tensor, Some(min.into()), Some(max.into()))
    }
    fn float_matmul(lhs: Tensor, rhs: Tensor) -> Tensor {
        matrix_multiplication::matmul(lhs, rhs)
    }
    fn float_cross(lhs: Tensor, rhs: Tensor, dim: usize) -> Tensor {
        arithmetic::cross(lhs, rhs, dim)
    }
    fn float_neg(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Neg, tensor)
    }
    fn float_recip(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Recip, tensor)
    }
    fn float_transpose(tensor: Tensor) -> Tensor {
        tensor_shape::transpose(tensor)
    }
    fn float_swap_dims(tensor: Tensor, dim1: usize, dim2: usize) -> Tensor {
        tensor_shape::swap_dims(tensor, dim1, dim2)
    }
    fn float_permute(tensor: Tensor, axes: &[usize]) -> Tensor {
        tensor_shape::permute(tensor, axes)
    }
    fn float_flip(tensor: Tensor, axes: &[usize]) -> Tensor {
        tensor_shape::flip(tensor, axes)
    }
    fn float_reshape(tensor: Tensor, shape: Shape) -> Tensor {
        tensor_shape::reshape(tensor, shape)
    }
    fn float_expand(tensor: Tensor, shape: Shape) -> Tensor {
        tensor_shape::expand(tensor, shape)
    }
    fn float_unfold(tensor: Tensor, dim: usize, size: usize, step: usize) -> Tensor {
        tensor_shape::unfold(tensor, dim, size, step)
    }
    fn float_slice(tensor: Tensor, slices: &[Slice]) -> Tensor {
        tensor_shape::slice(tensor, slices)
    }
    fn float_slice_assign(tensor: Tensor, slices: &[Slice], value: Tensor) -> Tensor {
        tensor_shape::slice_assign(tensor, slices, value)
    }
    fn float_cat(tensors: Vec<Tensor>, dim: usize) -> Tensor {
        tensor_shape::cat(tensors, dim)
    }
    fn float_gather(dim: usize, tensor: Tensor, indices: Tensor) -> Tensor {
        gather::gather(dim, tensor, indices)
    }
    fn float_scatter_nd(data: Tensor, indices: Tensor, values: Tensor, reduction: IndexingUpdateOp) -> Tensor {
        scatter_nd::scatter_nd(data, indices, values, reduction)
    }
    fn float_gather_nd(data: Tensor, indices: Tensor) -> Tensor {
        gather::gather_nd(data, indices)
    }
    fn float_select(tensor: Tensor, dim: usize, indices: Tensor) -> Tensor {
        gather::select(tensor, dim, indices)
    }
    fn float_mask_where(tensor: Tensor, mask: Tensor, value: Tensor) -> Tensor {
        arithmetic::mask_where(tensor, mask, value)
    }
    fn float_mask_fill(tensor: Tensor, mask: Tensor, value: Scalar) -> Tensor {
        arithmetic::mask_fill(tensor, mask, value.into())
    }
    fn float_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare(CompareOp::Equal, lhs, rhs, out_dtype.into())
    }
    fn float_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare_scalar(CompareOp::Equal, lhs, rhs.into(), out_dtype.into())
    }
    fn float_not_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare(CompareOp::NotEqual, lhs, rhs, out_dtype.into())
    }
    fn float_not_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare_scalar(CompareOp::NotEqual, lhs, rhs.into(), out_dtype.into())
    }
    fn float_greater(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare(CompareOp::Greater, lhs, rhs, out_dtype.into())
    }
    fn float_greater_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare_scalar(CompareOp::Greater, lhs, rhs.into(), out_dtype.into())
    }
    fn float_greater_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare(CompareOp::GreaterEqual, lhs, rhs, out_dtype.into())
    }
    fn float_greater_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare_scalar(CompareOp::GreaterEqual, lhs, rhs.into(), out_dtype.into())
    }
    fn float_lower(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare(CompareOp::Lower, lhs, rhs, out_dtype.into())
    }
    fn float_lower_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare_scalar(CompareOp::Lower, lhs, rhs.into(), out_dtype.into())
    }
    fn float_lower_equal(lhs: Tensor, rhs: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare(CompareOp::LowerEqual, lhs, rhs, out_dtype.into())
    }
    fn float_lower_equal_elem(lhs: Tensor, rhs: Scalar, out_dtype: BoolDType) -> Tensor {
        arithmetic::compare_scalar(CompareOp::LowerEqual, lhs, rhs.into(), out_dtype.into())
    }
    fn float_is_nan(tensor: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::is_nan(tensor, out_dtype.into())
    }
    fn float_is_inf(tensor: Tensor, out_dtype: BoolDType) -> Tensor {
        arithmetic::is_inf(tensor, out_dtype.into())
    }
    fn float_sum(tensor: Tensor) -> Tensor {
        reduction::sum(tensor)
    }
    fn float_sum_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::sum_dim(tensor, dim)
    }
    fn float_prod(tensor: Tensor) -> Tensor {
        reduction::prod(tensor)
    }
    fn float_prod_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::prod_dim(tensor, dim)
    }
    fn float_mean(tensor: Tensor) -> Tensor {
        reduction::mean(tensor)
    }
    fn float_mean_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::mean_dim(tensor, dim)
    }
    fn float_max(tensor: Tensor) -> Tensor {
        reduction::max(tensor)
    }
    fn float_max_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::max_dim(tensor, dim)
    }
    fn float_min(tensor: Tensor) -> Tensor {
        reduction::min(tensor)
    }
    fn float_min_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::min_dim(tensor, dim)
    }
    fn float_max_abs(tensor: Tensor) -> Tensor {
        reduction::max_abs(tensor)
    }
    fn float_max_abs_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::max_abs_dim(tensor, dim)
    }
    fn float_argmax(tensor: Tensor, dim: usize, out_dtype: IntDType) -> Tensor {
        reduction::argmax(tensor, dim, out_dtype.into())
    }
    fn float_argmin(tensor: Tensor, dim: usize, out_dtype: IntDType) -> Tensor {
        reduction::argmin(tensor, dim, out_dtype.into())
    }
    fn float_max_dim_with_indices(tensor: Tensor, dim: usize, indices_dtype: IntDType) -> (Tensor, Tensor) {
        reduction::max_dim_with_indices(tensor, dim, indices_dtype.into())
    }
    fn float_min_dim_with_indices(tensor: Tensor, dim: usize, indices_dtype: IntDType) -> (Tensor, Tensor) {
        reduction::min_dim_with_indices(tensor, dim, indices_dtype.into())
    }
    fn float_any(tensor: Tensor, out_dtype: BoolDType) -> Tensor {
        reduction::any(tensor, out_dtype.into())
    }
    fn float_any_dim(tensor: Tensor, dim: usize, out_dtype: BoolDType) -> Tensor {
        reduction::any_dim(tensor, dim, out_dtype.into())
    }
    fn float_all(tensor: Tensor, out_dtype: BoolDType) -> Tensor {
        reduction::all(tensor, out_dtype.into())
    }
    fn float_all_dim(tensor: Tensor, dim: usize, out_dtype: BoolDType) -> Tensor {
        reduction::all_dim(tensor, dim, out_dtype.into())
    }
    fn float_cast(tensor: Tensor, dtype: FloatDType) -> Tensor {
        arithmetic::cast(tensor, dtype.into())
    }
    fn float_exp(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Exp, tensor)
    }
    fn float_log(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Log, tensor)
    }
    fn float_log1p(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Log1p, tensor)
    }
    fn float_sqrt(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Sqrt, tensor)
    }
    fn float_abs(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Abs, tensor)
    }
    fn float_cos(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Cos, tensor)
    }
    fn float_sin(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Sin, tensor)
    }
    fn float_tan(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Tan, tensor)
    }
    fn float_cosh(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Cosh, tensor)
    }
    fn float_sinh(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Sinh, tensor)
    }
    fn float_tanh(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Tanh, tensor)
    }
    fn float_acos(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Acos, tensor)
    }
    fn float_acosh(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Acosh, tensor)
    }
    fn float_asin(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Asin, tensor)
    }
    fn float_asinh(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Asinh, tensor)
    }
    fn float_atan(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Atan, tensor)
    }
    fn float_atanh(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Atanh, tensor)
    }
    fn float_round(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Round, tensor)
    }
    fn float_floor(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Floor, tensor)
    }
    fn float_ceil(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Ceil, tensor)
    }
    fn float_trunc(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Trunc, tensor)
    }
    fn float_erf(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::Erf, tensor)
    }
    fn float_atan2(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Atan2, lhs, rhs)
    }
    fn float_powf(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::Pow, lhs, rhs)
    }

    fn float_powi(lhs: Tensor, rhs: Tensor) -> Tensor {
        let rhs = arithmetic::cast(rhs, lhs.dtype());
        arithmetic::binary(BinaryOp::Pow, lhs, rhs)
    }

    fn float_powi_scalar(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::powi_scalar(lhs, rhs)
    }
    fn float_powi_scalar_impl(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::Pow, lhs, rhs.into())
    }
    fn float_powf_scalar(tensor: Tensor, value: Scalar) -> Tensor {
        arithmetic::powf_scalar(tensor, value)
    }
    fn float_powf_scalar_impl(tensor: Tensor, value: Scalar) -> Tensor {
        arithmetic::binary_scalar(BinaryOp::Pow, tensor, value.into())
    }
    fn float_cumsum(tensor: Tensor, dim: usize) -> Tensor {
        cumulative::cumsum(tensor, dim)
    }
    fn float_cumprod(tensor: Tensor, dim: usize) -> Tensor {
        cumulative::cumprod(tensor, dim)
    }
    fn float_cummin(tensor: Tensor, dim: usize) -> Tensor {
        cumulative::cummin(tensor, dim)
    }
    fn float_cummax(tensor: Tensor, dim: usize) -> Tensor {
        cumulative::cummax(tensor, dim)
    }
    fn float_sort(tensor: Tensor, dim: usize, descending: bool) -> Tensor {
        sort::sort(tensor, dim, descending)
    }

    fn float_sort_with_indices(
        tensor: Tensor,
        dim: usize,
        descending: bool,
        indices_dtype: IntDType,
    ) -> (Tensor, Tensor) {
        sort::sort_with_indices(tensor, dim, descending, indices_dtype.into())
    }

    fn float_argsort(tensor: Tensor, dim: usize, descending: bool, out_dtype: IntDType) -> Tensor {
        sort::argsort(tensor, dim, descending, out_dtype.into())
    }
    fn float_topk(tensor: Tensor, dim: usize, k: usize) -> Tensor {
        sort::topk(tensor, dim, k)
    }
    fn float_argtopk(tensor: Tensor, dim: usize, k: usize, out_dtype: IntDType) -> Tensor {
        sort::argtopk(tensor, dim, k, out_dtype.into())
    }
    fn float_grid_sample_2d(tensor: Tensor, grid: Tensor, options: GridSampleOptions) -> Tensor {
        sample_grid::grid_sample_2d(tensor, grid, options)
    }

    float_items!();
}
