//! Burn's operations on quantized tensors.
//!
//! What is not here is left to Burn's defaults. `tests/contract/defaults/kept.rs` lists them with the reasons.

use burn_backend::ops::QTensorOps;
use burn_backend::quantization::{QuantScheme, QuantizationParametersPrimitive};
use burn_backend::{ExecutionError, FloatDType, IntDType, Shape, Slice, TensorData};

use super::{FloatElement, IntElement, MpsGraph};
use crate::bridge::{read, upload};
use crate::burn::{quantized_items, shape_of};
use crate::device::MpsGraphDevice;
use crate::ops::quantization;
use crate::tensor::MpsGraphTensor;
use crate::tensor::quantized::{MpsGraphQuantizedTensor as Quantized, bytes};

impl<F: FloatElement, I: IntElement> QTensorOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    fn q_from_data(data: TensorData, _device: &MpsGraphDevice) -> Quantized {
        let parts = bytes::split(&data);
        let (values, scales) = (upload("q_from_data", parts.values), upload("q_from_data", parts.scales));
        Quantized::new(values, scales, parts.scheme, shape_of(&data).clone())
    }

    fn quantize(
        tensor: MpsGraphTensor,
        scheme: &QuantScheme,
        qparams: QuantizationParametersPrimitive<Self>,
    ) -> Quantized {
        quantization::quantize(tensor, scheme, qparams.scales)
    }

    fn quantize_dynamic(tensor: MpsGraphTensor, scheme: &QuantScheme) -> Quantized {
        quantization::quantize_dynamic(tensor, scheme)
    }

    fn dequantize(tensor: Quantized, dtype: FloatDType) -> MpsGraphTensor {
        quantization::dequantize(&tensor, dtype.into())
    }

    fn q_to_device(tensor: Quantized, _device: &MpsGraphDevice) -> Quantized {
        tensor
    }

    async fn q_into_data(tensor: Quantized) -> Result<TensorData, ExecutionError> {
        let data = read(vec![*tensor.values.clone(), *tensor.scales.clone()]).await?;
        Ok(joined(&[tensor], data).remove(0))
    }

    fn q_reshape(tensor: Quantized, shape: Shape) -> Quantized {
        quantization::reshape(tensor, shape)
    }

    fn q_expand(tensor: Quantized, shape: Shape) -> Quantized {
        quantization::expand(tensor, shape)
    }

    fn q_swap_dims(tensor: Quantized, dim1: usize, dim2: usize) -> Quantized {
        quantization::swap_dims(tensor, dim1, dim2)
    }

    fn q_permute(tensor: Quantized, axes: &[usize]) -> Quantized {
        quantization::permute(tensor, axes)
    }

    fn q_flip(tensor: Quantized, axes: &[usize]) -> Quantized {
        quantization::flip(tensor, axes)
    }

    fn q_select(tensor: Quantized, dim: usize, indices: MpsGraphTensor) -> Quantized {
        quantization::select(tensor, dim, &indices)
    }

    fn q_slice(tensor: Quantized, slices: &[Slice]) -> Quantized {
        quantization::slice(tensor, slices)
    }

    fn q_gather(dim: usize, tensor: Quantized, indices: MpsGraphTensor) -> Quantized {
        quantization::gather(dim, tensor, indices)
    }

    fn q_repeat_dim(tensor: Quantized, dim: usize, times: usize) -> Quantized {
        quantization::repeat_dim(tensor, dim, times)
    }

    fn q_cat(tensors: Vec<Quantized>, dim: usize) -> Quantized {
        quantization::cat(tensors, dim)
    }

    fn q_abs(tensor: Quantized) -> Quantized {
        quantization::abs(tensor)
    }

    fn q_max_abs_dim(tensor: Quantized, dim: usize) -> Quantized {
        quantization::max_abs_dim(tensor, dim)
    }

    fn q_argmax(tensor: Quantized, dim: usize, out_dtype: IntDType) -> MpsGraphTensor {
        quantization::argmax(&tensor, dim, out_dtype.into())
    }

    fn q_argmin(tensor: Quantized, dim: usize, out_dtype: IntDType) -> MpsGraphTensor {
        quantization::argmin(&tensor, dim, out_dtype.into())
    }

    fn q_sort(tensor: Quantized, dim: usize, descending: bool) -> Quantized {
        quantization::sort(tensor, dim, descending)
    }

    fn q_sort_with_indices(
        tensor: Quantized,
        dim: usize,
        descending: bool,
        out_dtype: IntDType,
    ) -> (Quantized, MpsGraphTensor) {
        quantization::sort_with_indices(tensor, dim, descending, out_dtype.into())
    }

    fn q_argsort(tensor: Quantized, dim: usize, descending: bool, out_dtype: IntDType) -> MpsGraphTensor {
        quantization::argsort(&tensor, dim, descending, out_dtype.into())
    }

    fn q_topk(tensor: Quantized, dim: usize, k: usize) -> Quantized {
        quantization::topk(tensor, dim, k)
    }

    fn q_argtopk(tensor: Quantized, dim: usize, k: usize, out_dtype: IntDType) -> MpsGraphTensor {
        quantization::argtopk(&tensor, dim, k, out_dtype.into())
    }

    quantized_items!();
}

/// Burn's data of tensors whose values and scales were read, in turns.
pub(super) fn joined(tensors: &[Quantized], data: impl IntoIterator<Item = TensorData>) -> Vec<TensorData> {
    let mut data = data.into_iter();
    let mut next = || data.next().unwrap_or_else(|| unreachable!("values and scales were read of every tensor"));
    tensors.iter().map(|tensor| bytes::join(tensor, &next(), &next())).collect()
}
