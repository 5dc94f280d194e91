//! Recording an op.

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::flush::FlushReason;
use super::list::{Cut, Hashes, Input, Recording};
use super::runtime::Runtime;
use super::thread;
use super::value::{Handle, State, Value};
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
/// device.
pub(crate) fn record(
    op: Op,
    inputs: &[&MpsGraphTensor],
    scalars: &[ScalarInput],
    output: TensorType,
) -> MpsGraphTensor {
    let runtime = Runtime::get();
    if let Err(error) = runtime.check_size(op.name(), &output) {
        error.raise();
    }
    if output.elements() == 0 {
        return MpsGraphTensor::new(Handle::of(output, State::Empty));
    }
    // A thread whose locals are gone has no recording that could wait for a later flush: each op runs by itself.
    let (recording, ending) = match thread::current() {
        Some(recording) => (recording, false),
        None => (Arc::new(Recording::new()), true),
    };
    let inputs = match operands(runtime, &op, inputs, &recording) {
        Ok(inputs) => inputs,
        Err(failed) => return MpsGraphTensor::new(Handle::of(output, failed)),
    };
    let hashes = Hashes::of(&op, scalars, &output);
    let (value, full) = recording.push(op, inputs, scalars.into(), hashes, &runtime.bounds(), |serial| {
        Arc::new(Value::new(output, State::Recorded { recording: recording.clone(), serial }))
    });
    let handle = Handle::new(value);
    runtime.count_recorded();
    if runtime.eager() || thread::is_eager() || ending {
        runtime.flush(&recording, Cut::Everything, FlushReason::Eager);
    } else if full {
        runtime.flush(&recording, recording.bound_cut(), FlushReason::Bound);
    }
    MpsGraphTensor::new(handle)
}

/// The operands, each counted as used; what other threads have recorded is flushed first. `Err` if one has failed.
fn operands(
    runtime: &Runtime,
    op: &Op,
    tensors: &[&MpsGraphTensor],
    own: &Arc<Recording>,
) -> Result<SmallVec<[Input; 3]>, State> {
    let mut inputs = SmallVec::with_capacity(tensors.len());
    let mut foreign: Vec<(Arc<Recording>, u64)> = Vec::new();
    for tensor in tensors {
        let value = &tensor.value.0;
        let producer = match &*value.lock() {
            State::Ready(_) | State::Pending(_) => None,
            State::Recorded { recording, serial } if Arc::ptr_eq(recording, own) => Some(*serial),
            State::Recorded { recording, serial } => {
                foreign.push((recording.clone(), *serial));
                None
            }
            State::Failed(error) => return Err(State::Failed(error.clone())),
            State::Empty => unreachable!("{}: an op over no elements is answered before it is recorded", op.name()),
        };
        inputs.push(Input { value: value.clone(), shape: tensor.shape.clone(), producer });
    }
    if !foreign.is_empty() {
        runtime.flush_others(foreign);
    }
    inputs.iter().for_each(|input: &Input| input.value.begin_use());
    Ok(inputs)
}

impl Hashes {
    fn of(op: &Op, scalars: &[ScalarInput], output: &TensorType) -> Self {
        let hash = |op: &Op| {
            let own = FixedState::default().hash_one((op, output));
            scalars.iter().fold(own, |hash, scalar| hash.rotate_left(3) ^ scalar.kind() as u64)
        };
        let own = hash(op);
        let starts = op.starts();
        let anywhere = if starts.is_empty() { own } else { hash(&op.with_moving_starts(&vec![true; starts.len()])) };
        Self { own, anywhere }
    }
}
