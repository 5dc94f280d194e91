//! A program written once with `Tensor<D>`, captured as a graph, and replayed on this backend and on burn-flex.

use std::process::Command;

use burn_backend::tensor::FloatTensor;
use burn_backend::{BoolDType, IntDType, TensorData, Tolerance};
use burn_dispatch::backends::Capture;
use burn_flex::{Flex, FlexDevice};
use burn_ir::{BackendIr, BaseOperationIr, HandleKind, OperationIr, TensorIr, TensorStatus};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice};
use burn_router::TensorInterpreter;
use burn_tensor::kind::Basic;
use burn_tensor::{BackendPrimitive, CapturedGraph, Device, DeviceConfig, Tensor, try_read_sync};

/// The tensors that a program gives, held so that no later op takes one for itself.
#[derive(Default)]
pub struct Results(Vec<(TensorIr, FloatTensor<Capture>)>);

impl Results {
    /// Adds a tensor of any kind.
    pub fn add<const D: usize, K>(&mut self, tensor: Tensor<D, K>)
    where
        K: Basic + BackendPrimitive<Capture, Primitive = FloatTensor<Capture>>,
    {
        let captured = tensor.try_into_primitive::<Capture>().expect("the program stays on the captured device");
        let mut tensor = captured.clone().into_ir();
        tensor.status = TensorStatus::ReadOnly;
        self.0.push((tensor, captured));
    }
}

/// What a program gives on this backend and on burn-flex.
pub struct Answers {
    pub ours: Vec<TensorData>,
    pub flex: Vec<TensorData>,
}

/// Runs a program on both backends.
pub fn run(program: impl FnOnce(&Device, &mut Results)) -> Answers {
    let device = Device::capture();
    let mut results = Results::default();
    let captured = device.capture_scope(|scope| {
        // As both backends have them.
        let config = DeviceConfig::default().int_dtype(IntDType::I32).bool_dtype(BoolDType::Native);
        device.clone().configure(config).expect("a new device");
        program(&device, &mut results);
        let outputs: Vec<_> = results.0.iter().map(|(tensor, _)| tensor.id).collect();
        scope.complete([], outputs)
    });
    let captured = captured.expect("a graph");
    Answers {
        ours: replay::<MpsGraph>(&captured, &results, MpsGraphDevice),
        flex: replay::<Flex>(&captured, &results, FlexDevice),
    }
}

fn replay<B: BackendIr>(captured: &CapturedGraph, results: &Results, device: B::Device) -> Vec<TensorData> {
    let mut interpreter = TensorInterpreter::<B>::new(device);
    for (&id, data) in &captured.values {
        interpreter.register_tensor_data_id(id, data.clone());
    }
    for operation in &captured.graph.operations {
        match operation {
            // Burn captures it, but its interpreter has no code for it.
            OperationIr::BaseInt(BaseOperationIr::Cast(cast)) => {
                let HandleKind::Int(tensor) = interpreter.get_tensor(&cast.input) else { panic!("{cast:?}") };
                let cast_to = B::int_cast(tensor, cast.out.dtype.into());
                interpreter.register_tensor_to_device(cast.out.id, HandleKind::Int(cast_to));
            }
            _ => interpreter.register_op(operation.clone()),
        }
    }
    let read = |(tensor, _): &(TensorIr, _)| {
        let data = try_read_sync(interpreter.read_tensor_async(tensor.clone())).expect("both answer at once");
        data.expect("a value")
    };
    results.0.iter().map(read).collect()
}

/// Runs a program on both backends, whose results must agree: floats closely, everything else exactly, NaN with NaN.
#[track_caller]
pub fn agree(program: impl FnOnce(&Device, &mut Results)) {
    let Answers { ours, flex } = run(program);
    for (ours, flex) in ours.iter().zip(&flex) {
        same(ours, flex);
    }
}

/// [`agree`], and the results are these.
#[track_caller]
pub fn gives<const N: usize>(expected: [TensorData; N], program: impl FnOnce(&Device, &mut Results)) {
    let Answers { ours, flex } = run(program);
    assert_eq!((ours.len(), flex.len()), (N, N));
    for ((ours, flex), expected) in ours.iter().zip(&flex).zip(&expected) {
        same(flex, expected);
        same(ours, expected);
    }
}

#[track_caller]
pub fn same(found: &TensorData, expected: &TensorData) {
    assert_eq!((found.shape(), found.dtype()), (expected.shape(), expected.dtype()));
    if found.dtype().is_float() {
        found.assert_approx_eq::<f32>(expected, Tolerance::default());
    } else {
        found.assert_eq(expected, true);
    }
}

/// [`same`], but floats of 16 bits may differ in the last bits: backends round between ops at different places.
#[track_caller]
pub fn near(found: &TensorData, expected: &TensorData) {
    if found.dtype().size() != 2 {
        return same(found, expected);
    }
    assert_eq!((found.shape(), found.dtype()), (expected.shape(), expected.dtype()));
    found.assert_approx_eq::<f32>(expected, Tolerance::rel_abs(1e-2, 1e-2));
}

/// Runs the test that asks in a process of its own, where no other test counts along; says whether this is that one.
///
/// # Panics
/// If the test fails there.
#[track_caller]
pub fn alone(test: &str) -> bool {
    const ALONE: &str = "BURN_MPSGRAPH_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().expect("this test is a file"));
    let output = command.args(["--exact", test]).env(ALONE, "1").output().expect("the test runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}
