//! Burn's bool tensor operations. A bool is one byte, 0 or 1 (`MPSDataTypeBool`).

use burn_backend::ops::BoolTensorOps;
use burn_backend::{BoolDType, ExecutionError, FloatDType, IntDType, Scalar, Shape, Slice, TensorData};

use super::{FloatElement, IntElement, MpsGraph, into_data, non_zero};
use crate::bridge::upload;
use crate::burn::{bool_items, dtype_of};
use crate::device::MpsGraphDevice;
use crate::dtype::{BOOL, Elements, require_positions};
use crate::ops::arithmetic::{self, BinaryOp, CompareOp, UnaryOp};
use crate::ops::{gather, memory, reduction, scatter_nd, tensor_shape};
use crate::tensor::MpsGraphTensor as Tensor;

impl<F: FloatElement, I: IntElement> BoolTensorOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    fn bool_empty(shape: Shape, _device: &MpsGraphDevice, dtype: BoolDType) -> Tensor {
        memory::zeros(shape, dtype.into())
    }

    fn bool_zeros(shape: Shape, _device: &MpsGraphDevice, dtype: BoolDType) -> Tensor {
        memory::zeros(shape, dtype.into())
    }

    fn bool_ones(shape: Shape, _device: &MpsGraphDevice, dtype: BoolDType) -> Tensor {
        memory::ones(shape, dtype.into())
    }

    fn bool_into_data(tensor: Tensor) -> impl Future<Output = Result<TensorData, ExecutionError>> + Send {
        into_data(tensor)
    }

    fn bool_from_data(data: TensorData, _device: &MpsGraphDevice) -> Tensor {
        upload("bool_from_data", in_bytes(data))
    }

    fn bool_to_device(tensor: Tensor, _device: &MpsGraphDevice) -> Tensor {
        tensor
    }

    fn bool_into_int(tensor: Tensor, out_dtype: IntDType) -> Tensor {
        arithmetic::cast(tensor, out_dtype.into())
    }

    fn bool_into_float(tensor: Tensor, out_dtype: FloatDType) -> Tensor {
        arithmetic::cast(tensor, out_dtype.into())
    }

    fn bool_reshape(tensor: Tensor, shape: Shape) -> Tensor {
        tensor_shape::reshape(tensor, shape)
    }

    fn bool_slice(tensor: Tensor, slices: &[Slice]) -> Tensor {
        tensor_shape::slice(tensor, slices)
    }

    fn bool_slice_assign(tensor: Tensor, slices: &[Slice], value: Tensor) -> Tensor {
        tensor_shape::slice_assign(tensor, slices, value)
    }

    fn bool_mask_where(tensor: Tensor, mask: Tensor, value: Tensor) -> Tensor {
        arithmetic::mask_where(tensor, mask, value)
    }

    fn bool_mask_fill(tensor: Tensor, mask: Tensor, value: Scalar) -> Tensor {
        arithmetic::mask_fill(tensor, mask, value.into())
    }

    fn bool_gather(dim: usize, tensor: Tensor, indices: Tensor) -> Tensor {
        gather::gather(dim, tensor, indices)
    }

    fn bool_scatter_or(dim: usize, tensor: Tensor, indices: Tensor, value: Tensor) -> Tensor {
        scatter_nd::scatter_or(dim, tensor, indices, value)
    }

    fn bool_select(tensor: Tensor, dim: usize, indices: Tensor) -> Tensor {
        gather::select(tensor, dim, indices)
    }

    fn bool_select_or(tensor: Tensor, dim: usize, indices: Tensor, value: Tensor) -> Tensor {
        scatter_nd::select_or(tensor, dim, indices, value)
    }

    fn bool_repeat_dim(tensor: Tensor, dim: usize, times: usize) -> Tensor {
        tensor_shape::repeat_dim(tensor, dim, times)
    }

    fn bool_cat(tensors: Vec<Tensor>, dim: usize) -> Tensor {
        tensor_shape::cat(tensors, dim)
    }

    fn bool_equal(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::compare(CompareOp::Equal, lhs, rhs, BOOL)
    }

    fn bool_equal_elem(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::compare_scalar(CompareOp::Equal, lhs, rhs.into(), BOOL)
    }

    fn bool_not_equal(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::compare(CompareOp::NotEqual, lhs, rhs, BOOL)
    }

    fn bool_not_equal_elem(lhs: Tensor, rhs: Scalar) -> Tensor {
        arithmetic::compare_scalar(CompareOp::NotEqual, lhs, rhs.into(), BOOL)
    }

    fn bool_not(tensor: Tensor) -> Tensor {
        arithmetic::unary(UnaryOp::LogicalNot, tensor)
    }

    fn bool_and(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::LogicalAnd, lhs, rhs)
    }

    fn bool_or(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::LogicalOr, lhs, rhs)
    }

    fn bool_xor(lhs: Tensor, rhs: Tensor) -> Tensor {
        arithmetic::binary(BinaryOp::LogicalXor, lhs, rhs)
    }

    fn bool_transpose(tensor: Tensor) -> Tensor {
        tensor_shape::transpose(tensor)
    }

    fn bool_swap_dims(tensor: Tensor, dim1: usize, dim2: usize) -> Tensor {
        tensor_shape::swap_dims(tensor, dim1, dim2)
    }

    fn bool_permute(tensor: Tensor, axes: &[usize]) -> Tensor {
        tensor_shape::permute(tensor, axes)
    }

    fn bool_flip(tensor: Tensor, axes: &[usize]) -> Tensor {
        tensor_shape::flip(tensor, axes)
    }

    fn bool_expand(tensor: Tensor, shape: Shape) -> Tensor {
        tensor_shape::expand(tensor, shape)
    }

    fn bool_unfold(tensor: Tensor, dim: usize, size: usize, step: usize) -> Tensor {
        tensor_shape::unfold(tensor, dim, size, step)
    }

    fn bool_any(tensor: Tensor) -> Tensor {
        reduction::any(tensor, BOOL)
    }

    fn bool_any_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::any_dim(tensor, dim, BOOL)
    }

    fn bool_all(tensor: Tensor) -> Tensor {
        reduction::all(tensor, BOOL)
    }

    fn bool_all_dim(tensor: Tensor, dim: usize) -> Tensor {
        reduction::all_dim(tensor, dim, BOOL)
    }

    /// Reads the tensor, because the number of the result's rows depends on its values.
    async fn bool_argwhere(tensor: Tensor, out_dtype: IntDType) -> Tensor {
        Elements::Bools.require("bool_argwhere", &tensor);
        let longest = tensor.shape.iter().copied().max().unwrap_or(1);
        require_positions("bool_argwhere", &tensor.shape, longest, out_dtype.into());
        let data = into_data(tensor).await.unwrap_or_else(|error| panic!("bool_argwhere: {error}"));
        upload("bool_argwhere", non_zero::coordinates(&data, out_dtype.into()))
    }

    bool_items!();
}

/// Data with a byte for each bool. A router brings that of a backend which stores bools otherwise as it is there.
fn in_bytes(data: TensorData) -> TensorData {
    if dtype_of(&data).is_bool() { data.convert_dtype(BOOL) } else { data }
}
