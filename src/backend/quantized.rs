//! Burn's operations on quantized tensors.
//!
//! What is not here is left to Burn's defaults. Those compute with the dequantized tensor, in one program with what
//! they ask for, and none of them reads anything back.

use burn_backend::ops::QTensorOps;
use burn_backend::quantization::{QuantScheme, QuantizationParametersPrimitive};
use burn_backend::{ExecutionError, FloatDType, Shape, Slice, TensorData};

use super::{FloatElement, IntElement, MpsGraph};
use crate::bridge::{read, upload};
use crate::device::MpsGraphDevice;
use crate::ops::quantization;
use crate::tensor::MpsGraphTensor;
use crate::tensor::quantized::{MpsGraphQuantizedTensor as Quantized, bytes};

impl<F: FloatElement, I: IntElement> QTensorOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    fn q_from_data(data: TensorData, _device: &MpsGraphDevice) -> Quantized {
        let parts = bytes::split(&data);
        let (values, scales) = (upload("q_from_data", parts.values), upload("q_from_data", parts.scales));
        Quantized::new(values, scales, parts.scheme, data.shape)
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

    fn q_device(_tensor: &Quantized) -> MpsGraphDevice {
        MpsGraphDevice
    }

    fn q_to_device(tensor: Quantized, _device: &MpsGraphDevice) -> Quantized {
        tensor
    }

    async fn q_into_data(tensor: Quantized) -> Result<TensorData, ExecutionError> {
        let data = read(&[tensor.values.clone(), tensor.scales.clone()])?;
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
}

/// Burn's data of tensors whose values and scales were read, in turns.
pub(super) fn joined(tensors: &[Quantized], data: impl IntoIterator<Item = TensorData>) -> Vec<TensorData> {
    let mut data = data.into_iter();
    let mut next = || data.next().unwrap_or_else(|| unreachable!("values and scales were read of every tensor"));
    tensors.iter().map(|tensor| bytes::join(tensor, &next(), &next())).collect()
}
