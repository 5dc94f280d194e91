//! Burn 0.22: a tensor's dtype is known at run time only, defaults come from the device, and scatters have every
//! update.

mod captured;
mod composed;
#[cfg(feature = "remote")]
mod remote;
mod signal;

use burn_backend::distributed::DistributedOps;
use burn_backend::ops::InterpolateMode;
use burn_backend::quantization::{QuantMode, QuantScheme, QuantStore, ScaleDtype};
use burn_backend::{BoolDType, DType, DeviceOps, DeviceSettings, FloatDType, IntDType, Shape, TensorData};
use burn_std::QuantConfig;
use burn_std::id::StreamId;

pub(crate) use self::composed::{hypot, sign, topk_with_indices};
use crate::backend::{FloatElement, IntElement, MpsGraph};
use crate::device::MpsGraphDevice;
use crate::ops::resize::Filter;
use crate::tensor::quantized::Level;

pub mod public {
    //! The backend has no parameters: `Device::configure` sets the dtypes of tensors that are made without one.

    pub use super::captured::Program;
    #[cfg(feature = "remote")]
    pub use super::remote::{device, session};
    use crate::ops::fourier_transform;
    use crate::tensor::MpsGraphTensor;

    /// The backend: Burn's tensors as recorded MPSGraph programs.
    ///
    /// A program reaches it through Burn's `Device` (see the README); generic code may name it where Burn asks for a
    /// `Backend`.
    pub type MpsGraph = crate::backend::MpsGraph;

    /// Real and imaginary part of the spectrum of `signal` along `dim`, not scaled: `n / 2 + 1` bins of the signal cut
    /// or filled with zeros to `n` samples, by default all. Every length is right, not only powers of two.
    ///
    /// Both parts have the dtype of `signal`: f32, f16 or bf16. 16-bit floats are transformed in f32.
    ///
    /// burn-signal computes with it; in Burn 0.22 transforms are not among a backend's methods.
    ///
    /// # Panics
    /// If `dim` is no axis of `signal`, its dtype is not of floats, or there are no samples.
    pub fn rfft(signal: MpsGraphTensor, dim: usize, n: Option<usize>) -> (MpsGraphTensor, MpsGraphTensor) {
        fourier_transform::rfft(signal, dim, n)
    }

    /// The inverse of [`rfft`]: the `n` samples along `dim` of which the spectrum is this, scaled by `1 / n`. By
    /// default `n` is `2 * (bins - 1)`.
    ///
    /// The first `n / 2 + 1` bins count; missing ones are 0. The imaginary parts of the first bin, and of the last one
    /// for even `n`, are ignored, because they are 0 for every real signal. The samples have the dtype of the parts:
    /// f32, f16 or bf16. 16-bit floats are transformed in f32.
    ///
    /// # Panics
    /// If `dim` is no axis of `re`, the parts differ in shape or dtype, the dtype is not of floats, or there
    /// are no bins or no samples, of which one bin without an `n` makes none.
    pub fn irfft(re: MpsGraphTensor, im: MpsGraphTensor, dim: usize, n: Option<usize>) -> MpsGraphTensor {
        fourier_transform::irfft(re, im, dim, n)
    }
}

/// What the calling thread works for: itself, or the client's thread whose op a server runs on it.
pub(crate) fn stream() -> u64 {
    StreamId::current().value
}

pub(crate) fn dtype_of(data: &TensorData) -> DType {
    data.dtype()
}

pub(crate) fn shape_of(data: &TensorData) -> &Shape {
    data.shape()
}

/// Burn's data of a quantized tensor.
pub(crate) fn quantized_data(values: Vec<i8>, shape: Shape, scheme: QuantScheme, scales: &[f32]) -> TensorData {
    TensorData::quantized(values, shape, scheme, scales, None)
}

/// What has a scale of its own, or why this backend does not have the scheme.
pub(crate) fn level(scheme: &QuantScheme) -> Result<Level, &'static str> {
    if scheme.mode != QuantMode::Symmetric {
        return Err("a codebook in place of scales");
    }
    if scheme.scale_dtype() != ScaleDtype::F32 {
        return Err("scales of another dtype than f32");
    }
    let Some(size) = scheme.block_size() else { return Ok(Level::Tensor) };
    if scheme.block_scale().and(scheme.tensor_scale()).is_some() {
        return Err("scales of blocks beside one of the tensor");
    }
    match size.as_slice().split_last() {
        // Burn leaves out the ones in front, of which a block of one element has no others.
        None => Ok(Level::Block { elements: 1 }),
        Some((&run, outer)) if outer.iter().all(|&extent| extent == 1) => Ok(Level::Block { elements: run.into() }),
        Some(_) => Err("blocks that are not runs of one row"),
    }
}

/// The elements that a whole number of blocks must fill: no block goes on in the next row.
pub(crate) fn blocks_fill(shape: &Shape) -> usize {
    shape.last().copied().unwrap_or(0)
}

/// A convolution's padding of an axis, before and behind it.
pub(crate) fn sides((before, behind): (usize, usize)) -> [usize; 2] {
    [before, behind]
}

/// A convolution's padding of an axis with as much behind it as before.
pub(crate) fn both_sides(padding: usize) -> (usize, usize) {
    (padding, padding)
}

/// How many windows of `reach` elements there are along an axis in ceil mode: a last one that would begin behind the
/// input is left out. None if they are too long.
pub(crate) fn ceil_windows(input: usize, padding: usize, reach: usize, stride: usize) -> Option<usize> {
    let windows = (input + 2 * padding + stride - 1).checked_sub(reach)? / stride + 1;
    Some(if (windows - 1) * stride >= input + padding { windows - 1 } else { windows })
}

/// Whether the pixel of a point half way between two is the one with the even number, or the one farther from 0.
pub(crate) const HALF_TO_EVEN: bool = true;

/// How pixels are made of their neighbours.
pub(crate) fn filter_of(mode: &InterpolateMode) -> Filter {
    match mode {
        InterpolateMode::Nearest => Filter::Nearest { middle: false },
        InterpolateMode::NearestExact => Filter::Nearest { middle: true },
        InterpolateMode::Bilinear => Filter::Linear,
        InterpolateMode::Bicubic => Filter::Cubic,
        InterpolateMode::Lanczos3 => Filter::Lanczos3,
    }
}

impl DeviceOps for MpsGraphDevice {
    fn defaults(&self) -> DeviceSettings {
        let quantization = QuantConfig::new(QuantScheme::default().with_store(QuantStore::Native), Default::default());
        DeviceSettings::new(FloatDType::F32, IntDType::I32, BoolDType::Native, quantization)
    }
}

/// There is one device, so Burn's own, which sum between devices, have nothing to do.
impl<F: FloatElement, I: IntElement> DistributedOps<MpsGraph<F, I>> for MpsGraph<F, I> {}

macro_rules! types_items {
    () => {
        type GraphPrimitive = burn_backend::GraphUnsupported;
    };
}

macro_rules! backend_items {
    () => {
        /// Submits what the calling thread has recorded, without waiting for it.
        ///
        /// Not what other threads have recorded: how far they have come is never twice the same, so their programs
        /// would not repeat. burn-train calls this on the thread of its metrics for each batch.
        fn flush(_device: &MpsGraphDevice) -> Result<(), ExecutionError> {
            Ok(Runtime::try_get()?.flush_thread()?)
        }

        fn memory_pool_usage(device: &MpsGraphDevice) -> Option<burn_backend::MemoryPoolUsage> {
            Runtime::try_get().ok()?;
            let stats = device.stats();
            Some(burn_backend::MemoryPoolUsage {
                number_allocs: stats.buffers_live,
                bytes_in_use: stats.bytes_live,
                bytes_padding: 0,
                bytes_reserved: stats.bytes_live + stats.bytes_cached,
            })
        }
    };
}

macro_rules! metadata_items {
    () => {
        type Device = crate::device::MpsGraphDevice;

        fn device(&self) -> crate::device::MpsGraphDevice {
            crate::device::MpsGraphDevice
        }

        /// Ops make new values; what may share a buffer is decided when a program is run.
        fn can_mut(&self) -> bool {
            false
        }
    };
}

macro_rules! float_items {
    () => {
        fn float_scatter(
            dim: usize,
            tensor: Tensor,
            indices: Tensor,
            value: Tensor,
            update: IndexingUpdateOp,
        ) -> Tensor {
            scatter_nd::scatter(dim, tensor, indices, value, update)
        }
        fn float_select_assign(
            tensor: Tensor,
            dim: usize,
            indices: Tensor,
            value: Tensor,
            update: IndexingUpdateOp,
        ) -> Tensor {
            scatter_nd::select_assign(tensor, dim, indices, value, update)
        }
        fn float_topk_with_indices(tensor: Tensor, dim: usize, k: usize, out_dtype: IntDType) -> (Tensor, Tensor) {
            crate::burn::topk_with_indices(tensor, dim, k, out_dtype.into())
        }
        /// 0 for NaN.
        fn float_sign(tensor: Tensor) -> Tensor {
            crate::burn::sign(tensor)
        }
        fn float_hypot(lhs: Tensor, rhs: Tensor) -> Tensor {
            crate::burn::hypot(lhs, rhs)
        }
    };
}

macro_rules! int_items {
    () => {
        fn int_scatter(dim: usize, tensor: Tensor, indices: Tensor, value: Tensor, update: IndexingUpdateOp) -> Tensor {
            scatter_nd::scatter(dim, tensor, indices, value, update)
        }
        fn int_select_assign(
            tensor: Tensor,
            dim: usize,
            indices: Tensor,
            value: Tensor,
            update: IndexingUpdateOp,
        ) -> Tensor {
            scatter_nd::select_assign(tensor, dim, indices, value, update)
        }
        fn int_topk_with_indices(tensor: Tensor, dim: usize, k: usize) -> (Tensor, Tensor) {
            let out = positions_in(&tensor, dim);
            crate::burn::topk_with_indices(tensor, dim, k, out)
        }
        fn int_square(tensor: Tensor) -> Tensor {
            arithmetic::binary(BinaryOp::Mul, tensor.clone(), tensor)
        }
    };
}

macro_rules! bool_items {
    () => {};
}

macro_rules! quantized_items {
    () => {};
}

macro_rules! module_items {
    () => {
        fn adaptive_avg_pool3d(x: Tensor, output_size: [usize; 3]) -> Tensor {
            pooling::adaptive_avg_pool("adaptive_avg_pool3d", x, output_size)
        }

        fn adaptive_avg_pool3d_backward(x: Tensor, grad: Tensor) -> Tensor {
            pooling::adaptive_avg_pool_backward::<3>("adaptive_avg_pool3d_backward", x, grad)
        }

        fn max_pool1d_with_indices(
            x: Tensor,
            kernel_size: usize,
            stride: usize,
            padding: usize,
            dilation: usize,
            ceil_mode: bool,
            indices_dtype: burn_backend::IntDType,
        ) -> MaxPool1dWithIndices<Self> {
            let options = Options { kernel: [kernel_size], stride: [stride], padding: [padding], dilation: [dilation] };
            let out = indices_dtype.into();
            let (output, indices) =
                pooling::max_pool_with_indices("max_pool1d_with_indices", x, options, ceil_mode, out);
            MaxPool1dWithIndices::new(output, indices)
        }

        fn max_pool2d_with_indices(
            x: Tensor,
            kernel_size: [usize; 2],
            stride: [usize; 2],
            padding: [usize; 2],
            dilation: [usize; 2],
            ceil_mode: bool,
            indices_dtype: burn_backend::IntDType,
        ) -> MaxPool2dWithIndices<Self> {
            let options = Options { kernel: kernel_size, stride, padding, dilation };
            let out = indices_dtype.into();
            let (output, indices) =
                pooling::max_pool_with_indices("max_pool2d_with_indices", x, options, ceil_mode, out);
            MaxPool2dWithIndices::new(output, indices)
        }
    };
}

/// Of `AllocationController`; the type has `bytes` and `bytes_mut`.
macro_rules! allocation_items {
    () => {
        unsafe fn memory_mut(
            &mut self,
            _policy: burn_std::AccessPolicy,
        ) -> Result<&mut [MaybeUninit<u8>], burn_std::AccessError> {
            // SAFETY: Burn's trait demands of the caller that it writes initialised bytes only.
            Ok(unsafe { self.bytes_mut() })
        }

        fn memory(&self, _policy: burn_std::AccessPolicy) -> Result<&[MaybeUninit<u8>], burn_std::AccessError> {
            Ok(self.bytes())
        }
    };
}

pub(crate) use {
    allocation_items, backend_items, bool_items, float_items, int_items, metadata_items, module_items, quantized_items,
    types_items,
};
