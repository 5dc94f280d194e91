//! Burn's operations on float tensors: what each one is, is in `ops`. Long because Rust wants a trait in one `impl`.

use burn_backend::ops::{FloatTensorOps, GridSampleOptions};
use burn_backend::tensor::IndexingUpdateOp;
use burn_backend::{Distribution, ExecutionError, Scalar, TensorData, TensorMetadata};
use burn_std::{BoolDType, FloatDType, IntDType, Shape, Slice};

use super::{FloatElement, IntElement, MpsGraph, into_data, not_yet};
use crate::bridge::upload;
use crate::device::MpsGraphDevice;
use crate::ops::arithmetic::{self, BinaryOp, CompareOp, UnaryOp};
use crate::ops::{gather, matrix_multiplication, memory, random, reduction, scatter_nd, tensor_shape};
use crate::tensor::MpsGraphTensor;

impl<F: FloatElement, I: IntElement> FloatTensorOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    fn float_from_data(data: TensorData, _device: &MpsGraphDevice) -> MpsGraphTensor {
        upload("float_from_data", data)
    }

    fn float_random(
        shape: Shape,
        distribution: Distribution,
        _device: &MpsGraphDevice,
        dtype: FloatDType,
    ) -> MpsGraphTensor {
        random::random("float_random", shape, distribution, dtype.into())
    }

    fn float_zeros(shape: Shape, _device: &MpsGraphDevice, dtype: FloatDType) -> MpsGraphTensor {
        memory::zeros(shape, dtype.into())
    }

    fn float_ones(shape: Shape, _device: &MpsGraphDevice, dtype: FloatDType) -> MpsGraphTensor {
        memory::ones(shape, dtype.into())
    }

    fn float_full(shape: Shape, fill_value: Scalar, _device: &MpsGraphDevice, dtype: FloatDType) -> MpsGraphTensor {
        memory::full(shape, fill_value.into(), dtype.into())
    }

    async fn float_into_data(tensor: MpsGraphTensor) -> Result<TensorData, ExecutionError> {
        into_data(tensor)
    }

    fn float_device(_tensor: &MpsGraphTensor) -> MpsGraphDevice {
        MpsGraphDevice
    }

    fn float_to_device(tensor: MpsGraphTensor, _device: &MpsGraphDevice) -> MpsGraphTensor {
        tensor
    }

    fn float_into_int(tensor: MpsGraphTensor, out_dtype: IntDType) -> MpsGraphTensor {
        arithmetic::cast(tensor, out_dtype.into())
    }

    fn float_empty(shape: Shape, _device: &MpsGraphDevice, dtype: FloatDType) -> MpsGraphTensor {
        memory::zeros(shape, dtype.into())
    }

    fn float_repeat_dim(tensor: MpsGraphTensor, dim: usize, times: usize) -> MpsGraphTensor {
        tensor_shape::repeat_dim(tensor, dim, times)
    }

    fn float_add(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Add, lhs, rhs)
    }

    fn float_add_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::Add, lhs, rhs.into())
    }

    fn float_sub(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Sub, lhs, rhs)
    }

    fn float_sub_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::Sub, lhs, rhs.into())
    }

    fn float_mul(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Mul, lhs, rhs)
    }

    fn float_mul_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::Mul, lhs, rhs.into())
    }

    fn float_div(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Div, lhs, rhs)
    }

    fn float_div_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::Div, lhs, rhs.into())
    }

    fn float_remainder(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Remainder, lhs, rhs)
    }

    fn float_remainder_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::Remainder, lhs, rhs.into())
    }

    fn float_clamp_min(tensor: MpsGraphTensor, min: Scalar) -> MpsGraphTensor {
        arithmetic::clamp(tensor, Some(min.into()), None)
    }

    fn float_clamp_max(tensor: MpsGraphTensor, max: Scalar) -> MpsGraphTensor {
        arithmetic::clamp(tensor, None, Some(max.into()))
    }

    fn float_clamp(tensor: MpsGraphTensor, min: Scalar, max: Scalar) -> MpsGraphTensor {
        arithmetic::clamp(tensor, Some(min.into()), Some(max.into()))
    }

    fn float_matmul(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        matrix_multiplication::matmul(lhs, rhs)
    }

    fn float_cross(lhs: MpsGraphTensor, rhs: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        arithmetic::cross(lhs, rhs, dim)
    }

    fn float_neg(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Neg, tensor)
    }

    fn float_recip(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Recip, tensor)
    }

    fn float_transpose(tensor: MpsGraphTensor) -> MpsGraphTensor {
        tensor_shape::transpose(tensor)
    }

    fn float_swap_dims(tensor: MpsGraphTensor, dim1: usize, dim2: usize) -> MpsGraphTensor {
        tensor_shape::swap_dims(tensor, dim1, dim2)
    }

    fn float_permute(tensor: MpsGraphTensor, axes: &[usize]) -> MpsGraphTensor {
        tensor_shape::permute(tensor, axes)
    }

    fn float_flip(tensor: MpsGraphTensor, axes: &[usize]) -> MpsGraphTensor {
        tensor_shape::flip(tensor, axes)
    }

    fn float_reshape(tensor: MpsGraphTensor, shape: Shape) -> MpsGraphTensor {
        tensor_shape::reshape(tensor, shape)
    }

    fn float_expand(tensor: MpsGraphTensor, shape: Shape) -> MpsGraphTensor {
        tensor_shape::expand(tensor, shape)
    }

    fn float_unfold(tensor: MpsGraphTensor, dim: usize, size: usize, step: usize) -> MpsGraphTensor {
        tensor_shape::unfold(tensor, dim, size, step)
    }

    fn float_slice(tensor: MpsGraphTensor, slices: &[Slice]) -> MpsGraphTensor {
        tensor_shape::slice(tensor, slices)
    }

    fn float_slice_assign(tensor: MpsGraphTensor, slices: &[Slice], value: MpsGraphTensor) -> MpsGraphTensor {
        tensor_shape::slice_assign(tensor, slices, value)
    }

    fn float_cat(tensors: Vec<MpsGraphTensor>, dim: usize) -> MpsGraphTensor {
        tensor_shape::cat(tensors, dim)
    }

    fn float_gather(dim: usize, tensor: MpsGraphTensor, indices: MpsGraphTensor) -> MpsGraphTensor {
        gather::gather(dim, tensor, indices)
    }

    fn float_scatter_add(
        dim: usize,
        tensor: MpsGraphTensor,
        indices: MpsGraphTensor,
        value: MpsGraphTensor,
    ) -> MpsGraphTensor {
        scatter_nd::scatter_add(dim, tensor, indices, value)
    }

    fn float_scatter_nd(
        data: MpsGraphTensor,
        indices: MpsGraphTensor,
        values: MpsGraphTensor,
        reduction: IndexingUpdateOp,
    ) -> MpsGraphTensor {
        scatter_nd::scatter_nd(data, indices, values, reduction)
    }

    fn float_gather_nd(data: MpsGraphTensor, indices: MpsGraphTensor) -> MpsGraphTensor {
        gather::gather_nd(data, indices)
    }

    fn float_select(tensor: MpsGraphTensor, dim: usize, indices: MpsGraphTensor) -> MpsGraphTensor {
        gather::select(tensor, dim, indices)
    }

    fn float_select_add(
        tensor: MpsGraphTensor,
        dim: usize,
        indices: MpsGraphTensor,
        value: MpsGraphTensor,
    ) -> MpsGraphTensor {
        scatter_nd::select_add(tensor, dim, indices, value)
    }

    fn float_mask_where(tensor: MpsGraphTensor, mask: MpsGraphTensor, value: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::mask_where(tensor, mask, value)
    }

    fn float_mask_fill(tensor: MpsGraphTensor, mask: MpsGraphTensor, value: Scalar) -> MpsGraphTensor {
        arithmetic::mask_fill(tensor, mask, value.into())
    }

    fn float_equal(lhs: MpsGraphTensor, rhs: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare(CompareOp::Equal, lhs, rhs, out_dtype.into())
    }

    fn float_equal_elem(lhs: MpsGraphTensor, rhs: Scalar, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare_scalar(CompareOp::Equal, lhs, rhs.into(), out_dtype.into())
    }

    fn float_not_equal(lhs: MpsGraphTensor, rhs: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare(CompareOp::NotEqual, lhs, rhs, out_dtype.into())
    }

    fn float_not_equal_elem(lhs: MpsGraphTensor, rhs: Scalar, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare_scalar(CompareOp::NotEqual, lhs, rhs.into(), out_dtype.into())
    }

    fn float_greater(lhs: MpsGraphTensor, rhs: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare(CompareOp::Greater, lhs, rhs, out_dtype.into())
    }

    fn float_greater_elem(lhs: MpsGraphTensor, rhs: Scalar, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare_scalar(CompareOp::Greater, lhs, rhs.into(), out_dtype.into())
    }

    fn float_greater_equal(lhs: MpsGraphTensor, rhs: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare(CompareOp::GreaterEqual, lhs, rhs, out_dtype.into())
    }

    fn float_greater_equal_elem(lhs: MpsGraphTensor, rhs: Scalar, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare_scalar(CompareOp::GreaterEqual, lhs, rhs.into(), out_dtype.into())
    }

    fn float_lower(lhs: MpsGraphTensor, rhs: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare(CompareOp::Lower, lhs, rhs, out_dtype.into())
    }

    fn float_lower_elem(lhs: MpsGraphTensor, rhs: Scalar, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare_scalar(CompareOp::Lower, lhs, rhs.into(), out_dtype.into())
    }

    fn float_lower_equal(lhs: MpsGraphTensor, rhs: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare(CompareOp::LowerEqual, lhs, rhs, out_dtype.into())
    }

    fn float_lower_equal_elem(lhs: MpsGraphTensor, rhs: Scalar, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::compare_scalar(CompareOp::LowerEqual, lhs, rhs.into(), out_dtype.into())
    }

    fn float_is_nan(tensor: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::is_nan(tensor, out_dtype.into())
    }

    fn float_is_inf(tensor: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        arithmetic::is_inf(tensor, out_dtype.into())
    }

    fn float_sum(tensor: MpsGraphTensor) -> MpsGraphTensor {
        reduction::sum(tensor)
    }

    fn float_sum_dim(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        reduction::sum_dim(tensor, dim)
    }

    fn float_prod(tensor: MpsGraphTensor) -> MpsGraphTensor {
        reduction::prod(tensor)
    }

    fn float_prod_dim(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        reduction::prod_dim(tensor, dim)
    }

    fn float_mean(tensor: MpsGraphTensor) -> MpsGraphTensor {
        reduction::mean(tensor)
    }

    fn float_mean_dim(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        reduction::mean_dim(tensor, dim)
    }

    fn float_max(tensor: MpsGraphTensor) -> MpsGraphTensor {
        reduction::max(tensor)
    }

    fn float_max_dim(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        reduction::max_dim(tensor, dim)
    }

    fn float_min(tensor: MpsGraphTensor) -> MpsGraphTensor {
        reduction::min(tensor)
    }

    fn float_min_dim(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        reduction::min_dim(tensor, dim)
    }

    fn float_max_abs(tensor: MpsGraphTensor) -> MpsGraphTensor {
        reduction::max_abs(tensor)
    }

    fn float_max_abs_dim(tensor: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
        reduction::max_abs_dim(tensor, dim)
    }

    fn float_argmax(tensor: MpsGraphTensor, dim: usize, out_dtype: IntDType) -> MpsGraphTensor {
        reduction::argmax(tensor, dim, out_dtype.into())
    }

    fn float_argmin(tensor: MpsGraphTensor, dim: usize, out_dtype: IntDType) -> MpsGraphTensor {
        reduction::argmin(tensor, dim, out_dtype.into())
    }

    fn float_max_dim_with_indices(
        tensor: MpsGraphTensor,
        dim: usize,
        indices_dtype: IntDType,
    ) -> (MpsGraphTensor, MpsGraphTensor) {
        reduction::max_dim_with_indices(tensor, dim, indices_dtype.into())
    }

    fn float_min_dim_with_indices(
        tensor: MpsGraphTensor,
        dim: usize,
        indices_dtype: IntDType,
    ) -> (MpsGraphTensor, MpsGraphTensor) {
        reduction::min_dim_with_indices(tensor, dim, indices_dtype.into())
    }

    fn float_any(tensor: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        reduction::any(tensor, out_dtype.into())
    }

    fn float_any_dim(tensor: MpsGraphTensor, dim: usize, out_dtype: BoolDType) -> MpsGraphTensor {
        reduction::any_dim(tensor, dim, out_dtype.into())
    }

    fn float_all(tensor: MpsGraphTensor, out_dtype: BoolDType) -> MpsGraphTensor {
        reduction::all(tensor, out_dtype.into())
    }

    fn float_all_dim(tensor: MpsGraphTensor, dim: usize, out_dtype: BoolDType) -> MpsGraphTensor {
        reduction::all_dim(tensor, dim, out_dtype.into())
    }

    fn float_cast(tensor: MpsGraphTensor, dtype: FloatDType) -> MpsGraphTensor {
        arithmetic::cast(tensor, dtype.into())
    }

    fn float_exp(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Exp, tensor)
    }

    fn float_log(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Log, tensor)
    }

    fn float_log1p(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Log1p, tensor)
    }

    fn float_sqrt(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Sqrt, tensor)
    }

    fn float_abs(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Abs, tensor)
    }

    fn float_cos(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Cos, tensor)
    }

    fn float_sin(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Sin, tensor)
    }

    fn float_tan(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Tan, tensor)
    }

    fn float_cosh(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Cosh, tensor)
    }

    fn float_sinh(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Sinh, tensor)
    }

    fn float_tanh(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Tanh, tensor)
    }

    fn float_acos(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Acos, tensor)
    }

    fn float_acosh(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Acosh, tensor)
    }

    fn float_asin(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Asin, tensor)
    }

    fn float_asinh(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Asinh, tensor)
    }

    fn float_atan(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Atan, tensor)
    }

    fn float_atanh(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Atanh, tensor)
    }

    fn float_round(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Round, tensor)
    }

    fn float_floor(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Floor, tensor)
    }

    fn float_ceil(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Ceil, tensor)
    }

    fn float_trunc(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Trunc, tensor)
    }

    fn float_erf(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Erf, tensor)
    }

    fn float_sign(tensor: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::unary(UnaryOp::Sign, tensor)
    }

    fn float_atan2(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Atan2, lhs, rhs)
    }

    fn float_powf(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        arithmetic::binary(BinaryOp::Pow, lhs, rhs)
    }

    fn float_powi(lhs: MpsGraphTensor, rhs: MpsGraphTensor) -> MpsGraphTensor {
        let rhs = arithmetic::cast(rhs, lhs.dtype());
        arithmetic::binary(BinaryOp::Pow, lhs, rhs)
    }

    fn float_powi_scalar(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::powi_scalar(lhs, rhs)
    }

    fn float_powi_scalar_impl(lhs: MpsGraphTensor, rhs: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::Pow, lhs, rhs.into())
    }

    fn float_powf_scalar(tensor: MpsGraphTensor, value: Scalar) -> MpsGraphTensor {
        arithmetic::powf_scalar(tensor, value)
    }

    fn float_powf_scalar_impl(tensor: MpsGraphTensor, value: Scalar) -> MpsGraphTensor {
        arithmetic::binary_scalar(BinaryOp::Pow, tensor, value.into())
    }

    fn float_cumsum(_tensor: MpsGraphTensor, _dim: usize) -> MpsGraphTensor {
        not_yet("float_cumsum")
    }

    fn float_cumprod(_tensor: MpsGraphTensor, _dim: usize) -> MpsGraphTensor {
        not_yet("float_cumprod")
    }

    fn float_cummin(_tensor: MpsGraphTensor, _dim: usize) -> MpsGraphTensor {
        not_yet("float_cummin")
    }

    fn float_cummax(_tensor: MpsGraphTensor, _dim: usize) -> MpsGraphTensor {
        not_yet("float_cummax")
    }

    fn float_sort(_tensor: MpsGraphTensor, _dim: usize, _descending: bool) -> MpsGraphTensor {
        not_yet("float_sort")
    }

    fn float_sort_with_indices(
        _tensor: MpsGraphTensor,
        _dim: usize,
        _descending: bool,
        _indices_dtype: IntDType,
    ) -> (MpsGraphTensor, MpsGraphTensor) {
        not_yet("float_sort_with_indices")
    }

    fn float_argsort(_tensor: MpsGraphTensor, _dim: usize, _descending: bool, _out_dtype: IntDType) -> MpsGraphTensor {
        not_yet("float_argsort")
    }

    fn float_topk(_tensor: MpsGraphTensor, _dim: usize, _k: usize) -> MpsGraphTensor {
        not_yet("float_topk")
    }

    fn float_argtopk(_tensor: MpsGraphTensor, _dim: usize, _k: usize, _out_dtype: IntDType) -> MpsGraphTensor {
        not_yet("float_argtopk")
    }

    fn float_grid_sample_2d(
        _tensor: MpsGraphTensor,
        _grid: MpsGraphTensor,
        _options: GridSampleOptions,
    ) -> MpsGraphTensor {
        not_yet("float_grid_sample_2d")
    }
}
