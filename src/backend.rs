//! Burn's backend traits, each method a call into `ops` or `bridge`.
//!
//! No method falls back on a default of Burn that would read tensors back to the host.

mod activation;
mod bool;
mod element;
mod float;
mod int;
mod module;
mod non_zero;
mod quantized;
mod transaction;

use std::marker::PhantomData;

use burn_backend::{Backend, BackendTypes, DType, DTypeUsageSet, ExecutionError, TensorData};
use burn_ir::{BackendIr, HandleKind, TensorHandle};

pub use element::{FloatElement, IntElement};

use crate::bridge::Runtime;
use crate::burn::{backend_items, types_items};
use crate::device::MpsGraphDevice;
use crate::tensor::MpsGraphTensor;
use crate::tensor::quantized::MpsGraphQuantizedTensor;

/// The backend: Burn's tensors as recorded MPSGraph programs.
///
/// `F` is the float and `I` the integer element of tensors that are made without a dtype; tensors of the other dtypes
/// that Apple GPUs compute with can be made by naming them. f64 is refused: `MpsGraph<f64>` does not compile, and
/// asking for f64 by name panics. `from_data` makes floats of `F` of any data, also of f64.
///
/// Burn keeps both dtypes for the device as long as the process lives. So the alias with which the first tensor is made
/// decides for all others: after `MpsGraph`, `MpsGraph<f16>` makes f32 tensors too. Before the first tensor
/// `burn::tensor::set_default_dtypes` decides instead; it is an error after that. f16 is `burn::tensor::f16`, and bf16
/// `burn::tensor::bf16`.
///
/// # Reading in async code
///
/// `into_data_async` submits at its first poll, and then wakes its task when the data is there. That poll takes long if
/// a program has to be compiled (30 to 300 ms on a Mac, as users of MPSGraph report, once per program), if another
/// thread is compiling what the program reads, or if there is no room for more work in flight. Where that is too long
/// for an executor's thread, call [`MpsGraphDevice::flush`] on a thread that may block, and await that first: it
/// submits what every thread has recorded.
///
/// Wakers are called on the thread on which Metal tells what has ended, one after the other. One that polls there at
/// once, and so records or reads, waits for work whose end only this thread can tell, until the wait limit: hand the
/// task to a thread of the executor, as executors do.
///
/// ```compile_fail
/// fn backend<B: burn_backend::Backend>() {}
/// backend::<burn_mpsgraph::MpsGraph<f64>>();
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct MpsGraph<F = f32, I = i32> {
    elements: PhantomData<(F, I)>,
}

impl<F: FloatElement, I: IntElement> BackendTypes for MpsGraph<F, I> {
    type Device = MpsGraphDevice;
    type FloatTensorPrimitive = MpsGraphTensor;
    type IntTensorPrimitive = MpsGraphTensor;
    type BoolTensorPrimitive = MpsGraphTensor;
    type QuantizedTensorPrimitive = MpsGraphQuantizedTensor;

    types_items!();
}

impl<F: FloatElement, I: IntElement> Backend for MpsGraph<F, I> {
    fn name(_device: &MpsGraphDevice) -> String {
        "mpsgraph".into()
    }

    fn seed(_device: &MpsGraphDevice, seed: u64) {
        Runtime::get().seed(seed);
    }

    fn sync(_device: &MpsGraphDevice) -> Result<(), ExecutionError> {
        Ok(Runtime::try_get()?.sync()?)
    }

    fn memory_cleanup(device: &MpsGraphDevice) {
        device.memory_cleanup();
    }

    /// Does nothing: buffers are shared with the host, and data is copied into one when its tensor is made.
    fn staging<'a, Iter>(_data: Iter, _device: &MpsGraphDevice)
    where
        Iter: Iterator<Item = &'a mut TensorData>,
    {
    }

    fn dtype_usage(_device: &MpsGraphDevice, dtype: DType) -> DTypeUsageSet {
        crate::dtype::usage(dtype)
    }

    fn device_count(_type_id: u16) -> usize {
        1
    }

    backend_items!();
}

impl<F: FloatElement, I: IntElement> BackendIr for MpsGraph<F, I> {
    type Handle = HandleKind<Self>;

    fn float_tensor(handle: TensorHandle<Self::Handle>) -> MpsGraphTensor {
        match handle.handle {
            HandleKind::Float(tensor) => tensor,
            HandleKind::Int(_) | HandleKind::Bool(_) | HandleKind::Quantized(_) => wrong_kind("float", &handle.handle),
        }
    }

    fn int_tensor(handle: TensorHandle<Self::Handle>) -> MpsGraphTensor {
        match handle.handle {
            HandleKind::Int(tensor) => tensor,
            HandleKind::Float(_) | HandleKind::Bool(_) | HandleKind::Quantized(_) => wrong_kind("int", &handle.handle),
        }
    }

    fn bool_tensor(handle: TensorHandle<Self::Handle>) -> MpsGraphTensor {
        match handle.handle {
            HandleKind::Bool(tensor) => tensor,
            HandleKind::Float(_) | HandleKind::Int(_) | HandleKind::Quantized(_) => wrong_kind("bool", &handle.handle),
        }
    }

    fn quantized_tensor(handle: TensorHandle<Self::Handle>) -> MpsGraphQuantizedTensor {
        match handle.handle {
            HandleKind::Quantized(tensor) => tensor,
            HandleKind::Float(_) | HandleKind::Int(_) | HandleKind::Bool(_) => wrong_kind("quantized", &handle.handle),
        }
    }

    fn float_tensor_handle(tensor: MpsGraphTensor) -> Self::Handle {
        HandleKind::Float(tensor)
    }

    fn int_tensor_handle(tensor: MpsGraphTensor) -> Self::Handle {
        HandleKind::Int(tensor)
    }

    fn bool_tensor_handle(tensor: MpsGraphTensor) -> Self::Handle {
        HandleKind::Bool(tensor)
    }

    fn quantized_tensor_handle(tensor: MpsGraphQuantizedTensor) -> Self::Handle {
        HandleKind::Quantized(tensor)
    }
}

fn wrong_kind<B: Backend>(expected: &str, handle: &HandleKind<B>) -> ! {
    panic!("a {expected} tensor was asked for where the handle holds a {} tensor", handle.name())
}

/// The host's copy of one tensor.
pub(crate) fn into_data(tensor: MpsGraphTensor) -> impl Future<Output = Result<TensorData, ExecutionError>> + Send {
    let data = crate::bridge::read(vec![tensor]);
    async { Ok(data.await?.into_iter().next().unwrap_or_else(|| unreachable!("one tensor was read"))) }
}
