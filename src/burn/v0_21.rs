//! Burn 0.21: a backend's type names its elements, and `scatter` and `select_assign` only add.

use burn_backend::ops::InterpolateMode;
use burn_backend::quantization::{QuantLevel, QuantMode, QuantScheme, QuantStore};
use burn_backend::{DType, DeviceOps, QTensorPrimitive, Shape, TensorData};

use crate::device::MpsGraphDevice;
use crate::ops::resize::Filter;
use crate::tensor::quantized::{Level, MpsGraphQuantizedTensor};

pub mod public {
    //! The backend is generic over the elements of tensors that are made without a dtype.

    pub use crate::backend::{FloatElement, IntElement, MpsGraph};
}

/// What the calling thread works for: always itself.
pub(crate) fn stream() -> u64 {
    0
}

pub(crate) fn dtype_of(data: &TensorData) -> DType {
    data.dtype
}

pub(crate) fn shape_of(data: &TensorData) -> &Shape {
    &data.shape
}

/// Burn's data of a quantized tensor.
pub(crate) fn quantized_data(values: Vec<i8>, shape: Shape, scheme: QuantScheme, scales: &[f32]) -> TensorData {
    TensorData::quantized(values, shape, scheme, scales)
}

/// What has a scale of its own, or why this backend does not have the scheme.
pub(crate) fn level(scheme: &QuantScheme) -> Result<Level, &'static str> {
    let QuantMode::Symmetric = scheme.mode;
    Ok(match scheme.level {
        QuantLevel::Tensor => Level::Tensor,
        QuantLevel::Block(size) => Level::Block { elements: size.num_elements() },
    })
}

/// The elements that a whole number of blocks must fill: a block goes on in the next row.
pub(crate) fn blocks_fill(shape: &Shape) -> usize {
    shape.num_elements()
}

/// A convolution's padding of an axis, before and behind it.
pub(crate) fn sides(padding: usize) -> [usize; 2] {
    [padding; 2]
}

/// A convolution's padding of an axis with as much behind it as before.
pub(crate) fn both_sides(padding: usize) -> usize {
    padding
}

/// How many windows of `reach` elements there are along an axis in ceil mode, the last of which may begin in the
/// padding. A window that is too long for the axis is one all the same, as in burn-flex.
pub(crate) fn ceil_windows(input: usize, padding: usize, reach: usize, stride: usize) -> Option<usize> {
    Some((input + 2 * padding).saturating_sub(reach).div_ceil(stride) + 1)
}

/// Whether the pixel of a point half way between two is the one with the even number, or the one farther from 0.
pub(crate) const HALF_TO_EVEN: bool = false;

/// How pixels are made of their neighbours.
pub(crate) fn filter_of(mode: &InterpolateMode) -> Filter {
    match mode {
        InterpolateMode::Nearest => Filter::Nearest { middle: false },
        InterpolateMode::Bilinear => Filter::Linear,
        InterpolateMode::Bicubic => Filter::Cubic,
        InterpolateMode::Lanczos3 => Filter::Lanczos3,
    }
}

impl DeviceOps for MpsGraphDevice {}

impl QTensorPrimitive for MpsGraphQuantizedTensor {
    fn scheme(&self) -> &QuantScheme {
        &self.scheme
    }

    fn default_scheme() -> QuantScheme {
        QuantScheme::default().with_store(QuantStore::Native)
    }
}

macro_rules! types_items {
    () => {
        type FloatElem = F;
        type IntElem = I;
        type BoolElem = bool;
    };
}

macro_rules! backend_items {
    () => {};
}

macro_rules! metadata_items {
    () => {};
}

macro_rules! float_items {
    () => {
        fn float_device(_tensor: &Tensor) -> MpsGraphDevice {
            MpsGraphDevice
        }
        fn float_scatter_add(dim: usize, tensor: Tensor, indices: Tensor, value: Tensor) -> Tensor {
            scatter_nd::scatter(dim, tensor, indices, value, IndexingUpdateOp::Add)
        }
        fn float_select_add(tensor: Tensor, dim: usize, indices: Tensor, value: Tensor) -> Tensor {
            scatter_nd::select_assign(tensor, dim, indices, value, IndexingUpdateOp::Add)
        }
        /// NaN for NaN.
        fn float_sign(tensor: Tensor) -> Tensor {
            arithmetic::unary(UnaryOp::Sign, tensor)
        }
    };
}

macro_rules! int_items {
    () => {
        fn int_device(_tensor: &Tensor) -> MpsGraphDevice {
            MpsGraphDevice
        }
        fn int_scatter_add(dim: usize, tensor: Tensor, indices: Tensor, value: Tensor) -> Tensor {
            scatter_nd::scatter(dim, tensor, indices, value, IndexingUpdateOp::Add)
        }
        fn int_select_add(tensor: Tensor, dim: usize, indices: Tensor, value: Tensor) -> Tensor {
            scatter_nd::select_assign(tensor, dim, indices, value, IndexingUpdateOp::Add)
        }
    };
}

macro_rules! bool_items {
    () => {
        fn bool_device(_tensor: &Tensor) -> MpsGraphDevice {
            MpsGraphDevice
        }
    };
}

macro_rules! quantized_items {
    () => {
        fn q_device(_tensor: &Quantized) -> MpsGraphDevice {
            MpsGraphDevice
        }
    };
}

macro_rules! module_items {
    () => {
        fn max_pool1d_with_indices(
            x: Tensor,
            kernel_size: usize,
            stride: usize,
            padding: usize,
            dilation: usize,
            ceil_mode: bool,
        ) -> MaxPool1dWithIndices<Self> {
            let options = Options { kernel: [kernel_size], stride: [stride], padding: [padding], dilation: [dilation] };
            let (output, indices) =
                pooling::max_pool_with_indices("max_pool1d_with_indices", x, options, ceil_mode, I::dtype());
            MaxPool1dWithIndices::new(output, indices)
        }

        fn max_pool2d_with_indices(
            x: Tensor,
            kernel_size: [usize; 2],
            stride: [usize; 2],
            padding: [usize; 2],
            dilation: [usize; 2],
            ceil_mode: bool,
        ) -> MaxPool2dWithIndices<Self> {
            let options = Options { kernel: kernel_size, stride, padding, dilation };
            let (output, indices) =
                pooling::max_pool_with_indices("max_pool2d_with_indices", x, options, ceil_mode, I::dtype());
            MaxPool2dWithIndices::new(output, indices)
        }

        fn rfft(signal: Tensor, dim: usize, n: Option<usize>) -> (Tensor, Tensor) {
            crate::ops::fourier_transform::rfft(signal, dim, n)
        }

        fn irfft(spectrum_re: Tensor, spectrum_im: Tensor, dim: usize, n: Option<usize>) -> Tensor {
            crate::ops::fourier_transform::irfft(spectrum_re, spectrum_im, dim, n)
        }
    };
}

/// Of `AllocationController`; the type has `bytes` and `bytes_mut`.
macro_rules! allocation_items {
    () => {
        unsafe fn memory_mut(&mut self) -> &mut [MaybeUninit<u8>] {
            // SAFETY: Burn's trait demands of the caller that it writes initialised bytes only.
            unsafe { self.bytes_mut() }
        }

        fn memory(&self) -> &[MaybeUninit<u8>] {
            self.bytes()
        }
    };
}

pub(crate) use {
    allocation_items, backend_items, bool_items, float_items, int_items, metadata_items, module_items, quantized_items,
    types_items,
};
