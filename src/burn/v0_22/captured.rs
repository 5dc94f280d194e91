//! Captured graphs: a model that was recorded once on `Device::capture()`, run again and again as one program.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};

use burn_backend::ops::IntTensorOps;
use burn_backend::tensor::IndexingUpdateOp;
use burn_backend::{TensorData, read_sync};
use burn_capture::CapturedGraph;
use burn_ir::{BaseOperationIr, FloatOperationIr, HandleKind, OperationIr, TensorId, TensorIr, TensorStatus};
use burn_router::TensorInterpreter;

use super::public::MpsGraph;
use super::signal;
use crate::bridge::{Runtime, read, upload};
use crate::device::MpsGraphDevice;
use crate::dtype::data_type;
use crate::error::Error;
use crate::tensor::MpsGraphTensor;

const FROM_CAPTURED: &str = "Program::from_captured";
const RUN: &str = "Program::run";

/// A captured graph on the device: its constants, such as a model's weights, are there already, and a run sends the
/// inputs and reads the outputs.
///
/// Needs no patch of Burn. The first run compiles the graph into an executable, which later runs find again.
#[derive(Clone, Debug)]
pub struct Program {
    operations: Vec<OperationIr>,
    constants: Vec<(TensorId, HandleKind<MpsGraph>)>,
    inputs: Vec<TensorIr>,
    outputs: Vec<TensorIr>,
}

impl Program {
    /// Takes over what `Device::capture_scope` gave, and copies the constants to the device.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the graph has a dtype that this backend refuses or an operation that Burn cannot
    /// replay: a custom one that is not of Burn's signal crate, a collective one, one of quantization, a cast of bools,
    /// bools at coordinates (`gather_nd`, `scatter_nd`), or an update of bools that is no or.
    /// [`Error::Invalid`] if it asks for a tensor that nothing gives it; a graph from `capture_scope` does not.
    /// Those of [`MpsGraphDevice::new`].
    ///
    /// # Panics
    /// If the device has no memory for the constants.
    pub fn from_captured(captured: CapturedGraph) -> Result<Self, Error> {
        Runtime::try_get()?;
        let CapturedGraph { mut graph, mut values } = captured;
        // It names a tensor that has a value, or is an input.
        graph.operations.retain(|operation| !matches!(operation, OperationIr::Init(_)));
        if let Some(reason) = graph.operations.iter().find_map(refusal) {
            return Err(Error::Unsupported { op: FROM_CAPTURED, reason });
        }
        let taken = graph.operations.iter().flat_map(OperationIr::inputs).map(|tensor| tensor.id);
        let used: HashSet<TensorId> = taken.chain(graph.inputs.iter().chain(&graph.outputs).copied()).collect();
        values.retain(|id, _| used.contains(id));
        let tensors = tensors(&graph.operations, &values);
        for tensor in tensors.values() {
            data_type(FROM_CAPTURED, tensor.dtype).map_err(with_advice)?;
        }
        let described = |id: &TensorId| {
            tensors.get(id).cloned().ok_or_else(|| invalid(format!("{id} is neither in an operation nor a value")))
        };
        let inputs = graph.inputs.iter().map(described).collect::<Result<Vec<_>, _>>()?;
        let outputs = graph.outputs.iter().map(described).collect::<Result<Vec<_>, _>>()?;
        check_order(&graph.operations, &outputs, values.keys().chain(&graph.inputs).copied().collect())?;
        values.retain(|id, _| !graph.inputs.contains(id));
        let constants = values.into_iter().map(|(id, data)| (id, handle(upload(FROM_CAPTURED, data)))).collect();
        Ok(Self { operations: graph.operations, constants, inputs, outputs })
    }

    /// What the graph gives for these inputs, in the order in which the capture named its inputs and outputs.
    ///
    /// What the calling thread has recorded before is submitted first, so that the graph is always a program of its
    /// own. Random numbers are new ones in every run.
    ///
    /// # Errors
    /// [`Error::Invalid`] if number, shapes or dtypes of the inputs are not those of the capture, before anything is
    /// sent; the device fault that hit the run.
    ///
    /// # Panics
    /// With the text of an [`Error`], as Burn's operations do, if an operation of the graph breaks its contract or is
    /// not supported, or if the device has no memory for the inputs.
    pub fn run(&self, inputs: &[TensorData]) -> Result<Vec<TensorData>, Error> {
        self.check_inputs(inputs)?;
        // What of it fails is none of the program, and its values say so.
        drop(Runtime::try_get()?.flush_thread());
        let mut interpreter = TensorInterpreter::with_custom_ops(MpsGraphDevice, signal::custom_ops());
        for (id, tensor) in &self.constants {
            interpreter.register_tensor_to_device(*id, tensor.clone());
        }
        for (input, data) in self.inputs.iter().zip(inputs) {
            interpreter.register_tensor_to_device(input.id, handle(upload(RUN, data)));
        }
        for operation in &self.operations {
            // Burn captures it, but its interpreter has no code for it.
            if let OperationIr::BaseInt(BaseOperationIr::Cast(cast)) = operation {
                let cast_to = MpsGraph::int_cast(tensor(interpreter.get_tensor(&cast.input)), cast.out.dtype.into());
                interpreter.register_tensor_to_device(cast.out.id, handle(cast_to));
            } else {
                interpreter.register_op(operation.clone());
            }
        }
        let outputs = self.outputs.iter().map(|output| tensor(interpreter.get_tensor(output))).collect();
        // It holds every value that the graph takes last without consuming it; each would be an output of the program.
        drop(interpreter);
        read_sync(read(outputs))
    }

    fn check_inputs(&self, inputs: &[TensorData]) -> Result<(), Error> {
        let invalid = |reason| Err(Error::Invalid { op: RUN, reason });
        if inputs.len() != self.inputs.len() {
            return invalid(format!("{} inputs where the graph has {}", inputs.len(), self.inputs.len()));
        }
        for (at, (expected, found)) in self.inputs.iter().zip(inputs).enumerate() {
            if (&expected.shape, expected.dtype) != (found.shape(), found.dtype()) {
                return invalid(format!(
                    "input {at} has shape {:?} of {:?} where the graph was captured with {:?} of {:?}; \
                     capture it with these, or convert the data",
                    &found.shape()[..],
                    found.dtype(),
                    &expected.shape[..],
                    expected.dtype
                ));
            }
        }
        Ok(())
    }
}

fn invalid(reason: String) -> Error {
    Error::Invalid { op: FROM_CAPTURED, reason }
}

/// Adds to a refusal of a dtype where a graph gets its dtypes from.
fn with_advice(error: Error) -> Error {
    match error {
        Error::Unsupported { op, reason } => {
            let advice = "`Device::configure` sets what a capture makes tensors of";
            Error::Unsupported { op, reason: format!("{reason}; {advice}") }
        }
        other @ (Error::Invalid { .. } | Error::OutOfMemory { .. } | Error::Device { .. } | Error::Hang { .. }) => {
            other
        }
    }
}

/// Every tensor of a graph, to be read and kept.
fn tensors(operations: &[OperationIr], values: &BTreeMap<TensorId, TensorData>) -> BTreeMap<TensorId, TensorIr> {
    let of_value = |(&id, data): (&TensorId, &TensorData)| {
        (id, TensorIr { id, shape: data.shape().clone(), status: TensorStatus::ReadOnly, dtype: data.dtype() })
    };
    let mut tensors: BTreeMap<TensorId, TensorIr> = values.iter().map(of_value).collect();
    for tensor in operations.iter().flat_map(OperationIr::nodes) {
        if let Entry::Vacant(entry) = tensors.entry(tensor.id) {
            entry.insert(TensorIr { status: TensorStatus::ReadOnly, ..tensor.clone() });
        }
    }
    tensors
}

/// Why Burn's interpreter cannot replay an operation, if it cannot.
#[allow(clippy::wildcard_enum_match_arm, reason = "Burn's list, not ours: its interpreter has the rest")]
fn refusal(operation: &OperationIr) -> Option<String> {
    let reason = match operation {
        OperationIr::Custom(custom) if !signal::is_known(custom) => {
            format!("the custom operation `{}`, of which only its author knows code", custom.id)
        }
        OperationIr::Distributed(_) => "a collective operation; there is one device".into(),
        OperationIr::Float(_, FloatOperationIr::Quantize(_) | FloatOperationIr::Dequantize(_)) => {
            "quantization, which Burn captures but does not replay; dequantize before the capture".into()
        }
        OperationIr::BaseBool(BaseOperationIr::Scatter(scatter)) if scatter.update != IndexingUpdateOp::Add => {
            format!("a scatter of bools with {:?}; Burn replays only Add, which is or", scatter.update)
        }
        OperationIr::BaseBool(BaseOperationIr::SelectAssign(select)) if select.update != IndexingUpdateOp::Add => {
            format!("an assignment to selected bools with {:?}; Burn replays only Add, which is or", select.update)
        }
        OperationIr::BaseBool(BaseOperationIr::ScatterNd(_) | BaseOperationIr::GatherNd(_)) => {
            "bools at coordinates, which Burn does not replay".into()
        }
        OperationIr::BaseBool(BaseOperationIr::Cast(_)) => "a cast of bools, which Burn does not replay".into(),
        _ => return None,
    };
    Some(reason)
}

/// Checks that operations find what they take, and that outputs are left: `given` is there at first.
fn check_order(operations: &[OperationIr], outputs: &[TensorIr], mut given: HashSet<TensorId>) -> Result<(), Error> {
    for (at, operation) in operations.iter().enumerate() {
        if let Some(missing) = operation.inputs().find(|tensor| !given.contains(&tensor.id)) {
            return Err(invalid(format!("operation {at} takes {}, which is no longer or not yet there", missing.id)));
        }
        let consumed = |tensor: &&TensorIr| tensor.status == TensorStatus::ReadWrite;
        for tensor in operation.inputs().filter(consumed) {
            given.remove(&tensor.id);
        }
        given.extend(operation.outputs().map(|tensor| tensor.id));
    }
    match outputs.iter().find(|output| !given.contains(&output.id)) {
        Some(missing) => Err(invalid(format!("the output {} is not left by the operations", missing.id))),
        None => Ok(()),
    }
}

fn handle(tensor: MpsGraphTensor) -> HandleKind<MpsGraph> {
    let dtype = tensor.dtype();
    if dtype.is_float() {
        HandleKind::Float(tensor)
    } else if dtype.is_bool() {
        HandleKind::Bool(tensor)
    } else {
        HandleKind::Int(tensor)
    }
}

fn tensor(handle: HandleKind<MpsGraph>) -> MpsGraphTensor {
    match handle {
        HandleKind::Float(tensor) | HandleKind::Int(tensor) | HandleKind::Bool(tensor) => tensor,
        HandleKind::Quantized(_) => unreachable!("quantized dtypes are refused when the program is made"),
    }
}
