//! Quantized tensors: the type that Burn's traits ask for. No operation on them is implemented yet.

use burn_backend::ops::QTensorOps;
use burn_backend::quantization::{QuantScheme, QuantizationParametersPrimitive};
use burn_backend::{DType, ExecutionError, FloatDType, QTensorPrimitive, Shape, Slice, TensorData, TensorMetadata};

use super::{FloatElement, IntElement, MpsGraph, not_yet};
use crate::device::MpsGraphDevice;
use crate::tensor::MpsGraphTensor;

/// A quantized tensor; no operation makes one yet.
#[derive(Clone, Debug)]
pub struct MpsGraphQuantizedTensor {
    values: MpsGraphTensor,
    scheme: QuantScheme,
}

impl TensorMetadata for MpsGraphQuantizedTensor {
    fn dtype(&self) -> DType {
        DType::QFloat(self.scheme)
    }

    fn shape(&self) -> Shape {
        self.values.shape()
    }

    fn rank(&self) -> usize {
        self.values.rank()
    }
}

impl QTensorPrimitive for MpsGraphQuantizedTensor {
    fn scheme(&self) -> &QuantScheme {
        &self.scheme
    }
}

type Quantized = MpsGraphQuantizedTensor;

impl<F: FloatElement, I: IntElement> QTensorOps<MpsGraph<F, I>> for MpsGraph<F, I> {
    fn q_from_data(_data: TensorData, _device: &MpsGraphDevice) -> Quantized {
        not_yet("q_from_data")
    }

    fn quantize(
        _tensor: MpsGraphTensor,
        _scheme: &QuantScheme,
        _qparams: QuantizationParametersPrimitive<Self>,
    ) -> Quantized {
        not_yet("quantize")
    }

    fn quantize_dynamic(_tensor: MpsGraphTensor, _scheme: &QuantScheme) -> Quantized {
        not_yet("quantize_dynamic")
    }

    fn dequantize(_tensor: Quantized, _dtype: FloatDType) -> MpsGraphTensor {
        not_yet("dequantize")
    }

    fn q_device(_tensor: &Quantized) -> MpsGraphDevice {
        MpsGraphDevice
    }

    fn q_to_device(tensor: Quantized, _device: &MpsGraphDevice) -> Quantized {
        tensor
    }

    async fn q_into_data(_tensor: Quantized) -> Result<TensorData, ExecutionError> {
        not_yet("q_into_data")
    }

    fn q_reshape(_tensor: Quantized, _shape: Shape) -> Quantized {
        not_yet("q_reshape")
    }

    fn q_expand(_tensor: Quantized, _shape: Shape) -> Quantized {
        not_yet("q_expand")
    }

    fn q_swap_dims(_tensor: Quantized, _dim1: usize, _dim2: usize) -> Quantized {
        not_yet("q_swap_dims")
    }

    fn q_permute(_tensor: Quantized, _axes: &[usize]) -> Quantized {
        not_yet("q_permute")
    }

    fn q_flip(_tensor: Quantized, _axes: &[usize]) -> Quantized {
        not_yet("q_flip")
    }

    fn q_select(_tensor: Quantized, _dim: usize, _indices: MpsGraphTensor) -> Quantized {
        not_yet("q_select")
    }

    fn q_slice(_tensor: Quantized, _slices: &[Slice]) -> Quantized {
        not_yet("q_slice")
    }
}
