//! Recording an op.

use burn_backend::Shape;

use super::flush::FlushReason;
use super::recording::{Cut, NewNode, Refused};
use super::runtime::Runtime;
use super::thread;
use super::value::{Handle, State};
use crate::error::unsupported;
use crate::lowering::MOST_BYTES;
use crate::lowering::scalar::ScalarInput;
use crate::ops::Op;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// Records an op on the calling thread and returns its value, which is computed when it is needed.
///
/// `output` is the value's shape and dtype. A value without elements is not recorded.
///
/// # Panics
/// With [`Error::Unsupported`](crate::Error::Unsupported)'s text if a tensor of `output`'s size cannot exist on the
/// device, or one that the op needs on the way.
pub(crate) fn record(
    op: Op,
    inputs: &[&MpsGraphTensor],
    scalars: &[ScalarInput],
    output: TensorType,
) -> MpsGraphTensor {
    let is_number = |shape: &Shape| shape.num_dims() == 0;
    if is_number(&output.shape) || inputs.iter().any(|input| is_number(&input.shape)) {
        return record_as_vectors(op, inputs, scalars, output);
    }
    let runtime = Runtime::get();
    let bytes = runtime.check_size(op.name(), &output).unwrap_or_else(|error| error.raise());
    if bytes == 0 {
        return MpsGraphTensor::new(Handle::of(output, State::Empty));
    }
    check_width(&op, inputs, &output, bytes);
    let mut node = NewNode { op: Some(op), inputs, scalars, output, bytes };
    let bounds = runtime.bounds();
    let mut is_ending = false;
    let value = loop {
        let pushed = thread::with_current(|recording, ending| {
            is_ending = ending;
            recording.push(&mut node, &bounds)
        });
        match pushed.map_err(|refused| *refused) {
            Ok(value) => break value,
            Err(Refused::Full(recording)) => runtime.flush(recording, recording.bound_cut(), FlushReason::Bound),
            Err(Refused::Foreign(values)) => runtime.flush_others(values),
            Err(Refused::Failed(failed)) => return MpsGraphTensor::new(Handle::of(node.output, failed)),
        }
    };
    // Another thread may have cut the node meanwhile.
    if (runtime.eager() || thread::is_eager() || is_ending)
        && let Some((recording, _)) = value.0.recorded_in()
    {
        runtime.flush(recording, Cut::Everything, FlushReason::Eager);
    }
    MpsGraphTensor::new(value)
}

/// Records an op with tensors of rank 0, which Burn makes by `gather_nd` and `reshape`: MPSGraph aborts on some of
/// them, so they are recorded with one axis.
#[cold]
fn record_as_vectors(
    op: Op,
    inputs: &[&MpsGraphTensor],
    scalars: &[ScalarInput],
    output: TensorType,
) -> MpsGraphTensor {
    let with_axis = |shape: &Shape| if shape.num_dims() == 0 { [1].into() } else { shape.clone() };
    let vectors: Vec<MpsGraphTensor> =
        inputs.iter().map(|&input| input.clone().with_shape(with_axis(&input.shape))).collect();
    let vectors: Vec<&MpsGraphTensor> = vectors.iter().collect();
    let TensorType { dtype, shape } = output;
    record(op, &vectors, scalars, TensorType::new(dtype, with_axis(&shape))).with_shape(shape)
}

/// Ends an op that is recorded as others if no tensor of its result's size can exist on the device: the first of those
/// would end with its own name.
pub(crate) fn check_size(op: &'static str, result: &TensorType) {
    Runtime::get().check_size(op, result).unwrap_or_else(|error| error.raise());
}

/// Refuses an op whose graph would hold a tensor of more than [`MOST_BYTES`] because its elements are wider than those
/// of operands and output.
fn check_width(op: &Op, inputs: &[&MpsGraphTensor], output: &TensorType, bytes: usize) {
    // An element has a byte at least, and eight at most.
    let may_be_large = |bytes: usize| bytes > MOST_BYTES / 8;
    if may_be_large(bytes) || inputs.iter().any(|input| may_be_large(input.value.0.bytes())) {
        check_elements(op, inputs, output);
    }
}

#[cold]
fn check_elements(op: &Op, inputs: &[&MpsGraphTensor], output: &TensorType) {
    let width = op.widest(inputs, output);
    let shapes = inputs.iter().map(|input| &input.shape).chain([&output.shape]);
    let most = shapes.max_by_key(|shape| shape.num_elements());
    if let Some(shape) = most.filter(|shape| shape.num_elements() * width > MOST_BYTES) {
        let (bits, most) = (8 * width, (MOST_BYTES / width).ilog2());
        let reason = format!(
            "its elements have {bits} bits on the way, which for more than 2^{most} are over 4 GiB; split the tensor"
        );
        unsupported(op.name(), format!("{reason} (shape {:?}, {:?})", &shape[..], output.dtype));
    }
}
