//! Captured graphs as programs.

use burn_backend::ops::FloatTensorOps;
use burn_backend::tensor::FloatTensor;
use burn_backend::{BoolDType, DType, IntDType, Shape, TensorData};
use burn_dispatch::backends::Capture;
use burn_ir::{CustomOpIr, OperationIr, ScalarIr, TensorId, TensorIr, TensorStatus};
use burn_mpsgraph::{Error, MpsGraph, MpsGraphDevice, Program};
use burn_tensor::kind::Basic;
use burn_tensor::{BackendPrimitive, Bool, CapturedGraph, Device, DeviceConfig, Int, Tensor, activation};

use super::program::{alone, same};

/// How many times the layer is repeated, so that a graph has many ops.
const LAYERS: usize = 6;

fn id<const D: usize, K>(tensor: &Tensor<D, K>) -> TensorId
where
    K: Basic + BackendPrimitive<Capture, Primitive = FloatTensor<Capture>>,
{
    tensor.clone().try_into_primitive::<Capture>().expect("a captured tensor").id()
}

/// A capture on a device with these dtypes.
fn capture(config: DeviceConfig, program: impl FnOnce(&Device) -> (Vec<TensorId>, Vec<TensorId>)) -> CapturedGraph {
    let device = Device::capture();
    let captured = device.capture_scope(|scope| {
        device.clone().configure(config).expect("a new device");
        let (inputs, outputs) = program(&device);
        scope.complete(inputs, outputs)
    });
    captured.expect("a graph")
}

fn config() -> DeviceConfig {
    DeviceConfig::default().int_dtype(IntDType::I32).bool_dtype(BoolDType::Native)
}

fn weights() -> TensorData {
    TensorData::new((0..16).map(|at| (at as f32 * 0.7).sin()).collect::<Vec<_>>(), [4, 4])
}

/// A perceptron of equal layers: its output, and the greatest element of each row.
fn perceptron(x: Tensor<2>, device: &Device) -> (Tensor<2>, Tensor<2, Int>) {
    let weight = Tensor::<2>::from_data(weights(), device);
    let y = (0..LAYERS).fold(x, |x, _| activation::relu(x.matmul(weight.clone()) + 0.25));
    (y.clone(), y.argmax(1))
}

fn captured_perceptron() -> CapturedGraph {
    capture(config(), |device| {
        let x = Tensor::<2>::from_data(TensorData::new(vec![0.0f32; 12], [3, 4]), device);
        let at = id(&x);
        let (y, position) = perceptron(x, device);
        (vec![at], vec![id(&y), id(&position)])
    })
}

fn rows(shift: f32) -> TensorData {
    TensorData::new((0..12).map(|at| (at as f32 + shift).cos()).collect::<Vec<_>>(), [3, 4])
}

/// The same by hand.
fn expected(x: &TensorData) -> [TensorData; 2] {
    let weight = weights().try_to_vec::<f32>().expect("floats");
    let mut rows: Vec<Vec<f32>> = x.try_to_vec::<f32>().expect("floats").chunks(4).map(<[f32]>::to_vec).collect();
    for _ in 0..LAYERS {
        for row in &mut rows {
            let product = |column: usize| (0..4).map(|at| row[at] * weight[at * 4 + column]).sum::<f32>() + 0.25;
            *row = (0..4).map(|column| product(column).max(0.0)).collect();
        }
    }
    let greatest =
        |row: &Vec<f32>| (0..4).rev().max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("four columns") as i32;
    let positions: Vec<i32> = rows.iter().map(greatest).collect();
    [TensorData::new(rows.concat(), [3, 4]), TensorData::new(positions, [3, 1])]
}

#[test]
fn a_graph_gives_what_the_model_gives() {
    let program = Program::from_captured(captured_perceptron()).expect("a graph of ordinary ops");
    for shift in [0.0, 1.0, -7.5] {
        let found = program.run(&[rows(shift)]).expect("the device works");
        assert_eq!(found.len(), 2);
        found.iter().zip(&expected(&rows(shift))).for_each(|(found, expected)| same(found, expected));
    }
}

#[test]
fn a_run_is_one_commit_and_the_first_compiles() {
    if !alone("captured::a_run_is_one_commit_and_the_first_compiles") {
        return;
    }
    let before = MpsGraphDevice.stats();
    let program = Program::from_captured(captured_perceptron()).expect("a graph of ordinary ops");
    let used = MpsGraphDevice.stats().since(&before);
    // The weight and nothing else: what the input was at the capture is an example.
    assert_eq!((used.bytes_uploaded, used.commits, used.programs_compiled), (16 * 4, 0, 0), "{used:?}");
    for (run, compiled) in [(0, 1), (1, 0), (2, 0)] {
        let before = MpsGraphDevice.stats();
        program.run(&[rows(run as f32)]).expect("the device works");
        let used = MpsGraphDevice.stats().since(&before);
        assert_eq!((used.programs_compiled, used.executions, used.commits, used.host_reads), (compiled, 1, 1, 1));
        // The input and a few scalars, not the weight.
        assert!((12 * 4..12 * 4 + 32).contains(&used.bytes_uploaded), "{used:?}");
        assert_eq!(used.bytes_read, 12 * 4 + 3 * 4, "{used:?}");
    }
}

/// What else the thread has recorded does not get into the graph's program, which would be another one.
#[test]
fn a_graph_is_a_program_of_its_own() {
    if !alone("captured::a_graph_is_a_program_of_its_own") {
        return;
    }
    let program = Program::from_captured(captured_perceptron()).expect("a graph of ordinary ops");
    program.run(&[rows(0.0)]).expect("the device works");
    let other = MpsGraph::float_from_data(rows(1.0), &MpsGraphDevice);
    let other = MpsGraph::float_exp(other);
    let before = MpsGraphDevice.stats();
    program.run(&[rows(0.0)]).expect("the device works");
    let used = MpsGraphDevice.stats().since(&before);
    assert_eq!((used.programs_compiled, used.cache_hits, used.executions), (1, 1, 2), "{used:?}");
    drop(other);
}

#[test]
fn threads_share_a_program() {
    let program = Program::from_captured(captured_perceptron()).expect("a graph of ordinary ops");
    std::thread::scope(|scope| {
        for shift in 0..4 {
            let program = &program;
            scope.spawn(move || {
                let found = program.run(&[rows(shift as f32)]).expect("the device works");
                same(&found[0], &expected(&rows(shift as f32))[0]);
            });
        }
    });
}

/// A capture's own dtypes, as long as no bool is stored as a number.
#[test]
fn positions_have_the_dtype_of_the_capture() {
    let captured = capture(DeviceConfig::default(), |device| {
        let x = Tensor::<2>::from_data(rows(0.0), device);
        let positions = x.clone().argmax(1);
        (vec![id(&x)], vec![id(&positions)])
    });
    let program = Program::from_captured(captured).expect("a graph of ordinary ops");
    let data = TensorData::from([[0.0f32, 2.0, 1.0, 0.0], [3.0, 2.0, 1.0, 0.0], [0.0, 0.0, 0.0, 9.0]]);
    let found = program.run(&[data]).expect("the device works");
    same(&found[0], &TensorData::from([[1i64], [0], [3]]));
}

/// Also where Burn asks for positions without saying in which dtype.
#[test]
fn positions_in_integers_have_the_dtype_of_the_capture() {
    let captured = capture(DeviceConfig::default(), |device| {
        let x = Tensor::<1, Int>::from_data(TensorData::from([0i64; 4]), device);
        let sum = x.clone().argsort(0) + x.clone();
        let (values, positions) = x.clone().sort_with_indices(0);
        (vec![id(&x)], vec![id(&sum), id(&values), id(&positions)])
    });
    let program = Program::from_captured(captured).expect("a graph of ordinary ops");
    let found = program.run(&[TensorData::from([30i64, 10, 40, 20])]).expect("the device works");
    same(&found[0], &TensorData::from([31i64, 13, 40, 22]));
    same(&found[1], &TensorData::from([10i64, 20, 30, 40]));
    same(&found[2], &TensorData::from([1i64, 3, 0, 2]));
}

/// Burn's own interpreter does not replay these casts.
#[test]
fn integers_change_their_dtype() {
    let captured = capture(config(), |device| {
        let x = Tensor::<1, Int>::from_ints([0, 0, 0], device);
        let wide = x.clone().cast(IntDType::I64) * 1_000_000_000_000i64;
        let short = (x.clone() + 250).cast(IntDType::U8);
        (vec![id(&x)], vec![id(&wide), id(&short)])
    });
    let program = Program::from_captured(captured).expect("a graph of ordinary ops");
    let found = program.run(&[TensorData::from([-1, 2, 7])]).expect("the device works");
    let trillion = 1_000_000_000_000i64;
    assert_eq!(found, [TensorData::from([-trillion, 2 * trillion, 7 * trillion]), TensorData::from([249u8, 252, 1])]);
}

/// An output that is an input or a constant, and a graph without inputs.
#[test]
fn boundaries_need_no_operation_between_them() {
    let captured = capture(config(), |device| {
        let (x, weight) = (Tensor::<2>::from_data(rows(0.0), device), Tensor::<2>::from_data(weights(), device));
        let _unused = x.clone() + 1.0;
        (vec![id(&x)], vec![id(&weight), id(&x)])
    });
    // An operation names the input, or the capture would not know it.
    let program = Program::from_captured(captured).expect("a graph of ordinary ops");
    let found = program.run(&[rows(4.0)]).expect("the device works");
    assert_eq!(found, [weights(), rows(4.0)]);
    let captured = capture(config(), |device| {
        let ones = Tensor::<1, Int>::ones([3], device) + 4;
        (vec![], vec![id(&ones)])
    });
    let program = Program::from_captured(captured).expect("a graph of ordinary ops");
    assert_eq!(program.run(&[]).expect("the device works"), [TensorData::from([5, 5, 5])]);
}

/// A captured perceptron, and this operation of its output, which makes these.
fn with_custom(id: &'static str, outputs: usize, scalars: Vec<ScalarIr>) -> CapturedGraph {
    let mut captured = captured_perceptron();
    let y = TensorIr { status: TensorStatus::ReadOnly, ..described(&captured, captured.graph.outputs[0]) };
    let made = |at| TensorIr::uninit(TensorId::new(1 << 40 | at), Shape::new([3, 3]), DType::F32);
    let outputs: Vec<TensorIr> = (0..outputs as u64).map(made).collect();
    captured.graph.outputs = outputs.iter().map(|output| output.id).collect();
    captured.graph.operations.push(OperationIr::Custom(CustomOpIr::with_scalars(id, &[y], &outputs, scalars)));
    captured
}

fn described(captured: &CapturedGraph, id: TensorId) -> TensorIr {
    let mut made = captured.graph.operations.iter().flat_map(OperationIr::outputs);
    made.find(|tensor| tensor.id == id).expect("an operation makes it").clone()
}

/// As Burn's signal crate captures them.
#[test]
fn transforms_are_replayed() {
    let axis = |dim| vec![ScalarIr::UInt(dim), ScalarIr::Bool(false), ScalarIr::UInt(0)];
    let program = Program::from_captured(with_custom("signal::rfft", 2, axis(1))).expect("it is known");
    let found = program.run(&[rows(0.0)]).expect("a run");
    let y = Program::from_captured(captured_perceptron()).expect("ordinary ops").run(&[rows(0.0)]).expect("a run");
    let y = MpsGraph::float_from_data(y[0].clone(), &MpsGraphDevice);
    let (re, im) = burn_mpsgraph::rfft(y, 1, None);
    let read = |part| burn_backend::read_sync(MpsGraph::float_into_data(part)).expect("a read");
    assert_eq!(found, [read(re), read(im)]);
    for (outputs, scalars) in [(1, axis(1)), (2, vec![])] {
        let text = refused(with_custom("signal::rfft", outputs, scalars)).to_string();
        assert!(text.contains("the custom operation `signal::rfft`"), "{text}");
    }
}

#[test]
fn wrong_inputs_are_named() {
    let program = Program::from_captured(captured_perceptron()).expect("a graph of ordinary ops");
    let reason = |inputs: &[TensorData]| match program.run(inputs) {
        Err(Error::Invalid { op: "Program::run", reason }) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(&[]), "0 inputs where the graph has 1");
    assert_eq!(reason(&[rows(0.0), rows(1.0)]), "2 inputs where the graph has 1");
    let turned = TensorData::new(vec![0.0f32; 12], [4, 3]);
    assert!(reason(&[turned]).starts_with("input 0 has shape [4, 3] of F32 where the graph was captured with [3, 4]"));
    let halves = rows(0.0).convert_dtype(DType::F16);
    assert!(reason(&[halves]).starts_with("input 0 has shape [3, 4] of F16 where the graph was captured with [3, 4]"));
}

fn refused(captured: CapturedGraph) -> Error {
    Program::from_captured(captured).expect_err("the graph is refused")
}

#[test]
fn what_cannot_be_replayed_is_named() {
    let mut captured = captured_perceptron();
    let ends =
        [Shape::new([3, 4]), Shape::new([3, 4])].map(|shape| TensorIr::uninit(TensorId::new(7), shape, DType::F32));
    captured.graph.operations.push(OperationIr::Custom(CustomOpIr::new("theirs", &ends[..1], &ends[1..])));
    let text = refused(captured).to_string();
    assert!(text.starts_with("Program::from_captured: unsupported: the custom operation `theirs`"), "{text}");

    let captured = capture(DeviceConfig::default(), |device| {
        let x = Tensor::<2>::from_data(rows(0.0), device);
        let mask = x.clone().greater_elem(0.5);
        (vec![id(&x)], vec![id(&mask)])
    });
    let text = refused(captured).to_string();
    assert!(text.contains("Bool(U8)") && text.contains("Device::configure"), "{text}");

    let captured = capture(config(), |device| {
        let x = Tensor::<2>::from_data(rows(0.0), device).cast(burn_backend::FloatDType::F64);
        (vec![], vec![id(&x)])
    });
    assert!(matches!(refused(captured), Error::Unsupported { .. }));
}

#[test]
fn a_graph_that_asks_for_what_nothing_gives_is_invalid() {
    let mut captured = captured_perceptron();
    captured.values.clear();
    let text = refused(captured).to_string();
    assert!(text.starts_with("Program::from_captured: operation 0 takes TensorId("), "{text}");
    let mut captured = captured_perceptron();
    captured.graph.operations.pop();
    let text = refused(captured).to_string();
    assert!(text.contains("is neither in an operation nor a value"), "{text}");
}

#[test]
fn bools_come_back() {
    let captured = capture(config(), |device| {
        let x = Tensor::<1>::from_data(TensorData::from([0.0f32; 3]), device);
        let mask = Tensor::<1, Bool>::from_data(TensorData::from([true, false, true]), device);
        let outside = mask.clone().bool_not();
        let both = x.clone().greater_elem(0.5).bool_and(mask);
        (vec![id(&x)], vec![id(&both), id(&outside)])
    });
    let program = Program::from_captured(captured).expect("a graph of ordinary ops");
    let found = program.run(&[TensorData::from([1.0f32, 1.0, 0.0])]).expect("the device works");
    assert_eq!(found, [TensorData::from([true, false, false]), TensorData::from([false, true, false])]);
}
