//! The smaller classes, and what stays alive.

use mpsgraph_soft::objc::{Id, Strong};
use mpsgraph_soft::stats;

use super::messages::{array, buffer, data_type, numbers, objects, shape};
use super::session::{BOOL, F16, F32, Graph, I32, floats, run_one, shaped_type, tensor_data};
use crate::support::{
    Assumed, Documented, Probed, Reported, class, device, msg, new, owned, plain, pooled, refused, rule,
};

#[test]
fn tensors_know_their_operation() {
    let _test = plain();
    let graph = Graph::new();
    let (x, y) = (graph.placeholder(&[2], F32), graph.placeholder(&[2], F32));
    let sum = graph.op("additionWithPrimaryTensor:secondaryTensor:name:", &[x, y]);
    let operation = msg!(sum, "operation"; Id);
    assert_eq!(objects(msg!(operation, "inputTensors"; Id)), [x, y]);
    assert_eq!(objects(msg!(operation, "outputTensors"; Id)), [sum]);
    assert!(objects(msg!(operation, "controlDependencies"; Id)).is_empty());
    // Int32 means are composed: of a cast, a sum, a division and another cast.
    let whole = graph.cast(sum, I32);
    let composed = graph.op("meanOfTensor:axes:name:", &[whole, numbers(&[0])]);
    assert_eq!(objects(msg!(msg!(composed, "operation"; Id), "inputTensors"; Id)), [whole]);
}

#[test]
fn shaped_types() {
    let _test = plain();
    let a = shaped_type(&[2, 3], F16);
    assert_eq!((shape(a), data_type(a)), (vec![2, 3], F16));
    assert!(msg!(a, "isEqualTo:", shaped_type(&[2, 3], F16) => Id; bool));
    assert!(!msg!(a, "isEqualTo:", shaped_type(&[2, 3], F32) => Id; bool));
    msg!(a, "setDataType:", BOOL => u32; ());
    msg!(a, "setShape:", numbers(&[5]) => Id; ());
    assert_eq!((shape(a), data_type(a)), (vec![5], BOOL));
}

#[test]
fn shaped_types_refuse_empty_and_dynamic_shapes() {
    let _test = rule(Probed("doom-fish/mpsgraph-rs data.rs; kern0x1b/charon probes on macOS 27.0"));
    for (extents, reason) in [(&[0][..], "zero extent"), (&[], "is empty"), (&[-1, 2], "dynamic")] {
        refused("initWithShape:dataType:", reason, || shaped_type(extents, F32));
    }
    let fine = shaped_type(&[1], F32);
    refused("setShape:", "zero extent", || msg!(fine, "setShape:", numbers(&[2, 0]) => Id; ()));
}

const TENSOR_DATA: &str = "initWithMTLBuffer:shape:dataType:";

#[test]
fn tensor_data_has_a_shape_a_type_and_a_device() {
    let _test = plain();
    let data = tensor_data(buffer(&[0; 24]).id(), &[3, 2], F32);
    assert_eq!((shape(data), data_type(data)), (vec![3, 2], F32));
    let graph_device = msg!(data, "device"; Id);
    assert_eq!(msg!(graph_device, "metalDevice"; Id), device().id());
}

#[test]
fn tensor_data_refuses_a_buffer_that_is_too_small() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: MPSNDArray asserts"));
    let memory = buffer(&[0; 24]);
    refused(TENSOR_DATA, "Float32 [7] needs 28 bytes, the buffer has 24", || tensor_data(memory.id(), &[7], F32));
    tensor_data(memory.id(), &[6], F32);
}

#[test]
fn tensor_data_refuses_a_nil_buffer() {
    let _test = rule(Probed(
        "kern0x1b/charon probes on macOS 27.0: what `newBufferWithLength:` gives for 0 bytes makes it abort",
    ));
    refused(TENSOR_DATA, "may not be nil", || tensor_data(Id::NIL, &[7], F32));
}

#[test]
fn tensor_data_refuses_rank_0() {
    let _test =
        rule(Reported("pytorch/pytorch aten/src/ATen/native/mps/OperationUtils.mm: a scalar is fed as shape [1]"));
    refused(TENSOR_DATA, "rank 0", || tensor_data(buffer(&[0; 4]).id(), &[], F32));
}

#[test]
fn tensor_data_refuses_empty_tensors() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0; pytorch/pytorch#117941"));
    refused(TENSOR_DATA, "zero extent", || tensor_data(buffer(&[0; 4]).id(), &[2, 0], F32));
}

#[test]
fn tensor_data_refuses_more_than_16_dimensions() {
    let _test = rule(Documented("Apple's MPSNDArray.h: at most 16 dimensions"));
    tensor_data(buffer(&[0; 4]).id(), &[1; 16], F32);
    refused(TENSOR_DATA, "more than 16 dimensions", || tensor_data(buffer(&[0; 4]).id(), &[1; 17], F32));
}

#[test]
fn tensor_data_refuses_2_to_the_31_elements() {
    let _test = rule(Documented("Apple's MPSNDArray.h; pytorch/pytorch#84039"));
    refused(TENSOR_DATA, "2^31 elements or more", || tensor_data(buffer(&[0; 4]).id(), &[1 << 16, 1 << 15], BOOL));
}

#[test]
fn tensor_data_refuses_more_than_4_gib() {
    let _test = rule(Reported("pytorch/pytorch#149261"));
    refused(TENSOR_DATA, "larger than 4 GiB", || tensor_data(buffer(&[0; 4]).id(), &[(1 << 30) + 1], F32));
}

#[test]
fn tensor_data_that_nobody_releases_is_counted() {
    let _test = rule(Reported(
        "kulinseth/pytorch#111; pytorch/pytorch#145503: what nobody releases stays, and shows in the counts",
    ));
    let live = || stats::live_count("MPSGraphTensorData");
    let before = live();
    let leaked = pooled(|| Strong::retain(tensor_data(buffer(&[0; 4]).id(), &[1], F32)).into_owned());
    assert_eq!(live(), before + 1);
    drop(owned(leaked));
    assert_eq!(live(), before);
}

#[test]
fn a_graph_device_stands_for_a_metal_device() {
    let _test = rule(Assumed("the argument of deviceWithMTLDevice: is declared as id<MTLDevice>"));
    let device = device();
    let on = |device: Id| msg!(class("MPSGraphDevice"), "deviceWithMTLDevice:", device => Id; Id);
    let graph_device = on(device.id());
    assert_eq!(msg!(graph_device, "metalDevice"; Id), device.id());
    assert_eq!(msg!(graph_device, "type"; u32), 0);
    refused("deviceWithMTLDevice:", "not an MTLDevice", || on(array(&[])));
}

#[test]
fn graphs_and_executables_have_options() {
    let _test = rule(Documented("Apple's MPSGraph.h: MPSGraphOptionsSynchronizeResults unless set"));
    let graph = Graph::new();
    let x = graph.placeholder(&[1], F32);
    for object in [graph.compile(&[x], &[x]), graph.id()] {
        assert_eq!(msg!(object, "options"; usize), 1);
        msg!(object, "setOptions:", 0 => usize; ());
        assert_eq!(msg!(object, "options"; usize), 0);
    }
}

#[test]
fn an_unknown_optimization_level_is_refused() {
    let _test = rule(Documented("Apple's MPSGraph.h (MPSGraphOptimization)"));
    let descriptor = new("MPSGraphCompilationDescriptor");
    refused(
        "setOptimizationLevel:",
        "2 is not an MPSGraphOptimization",
        || msg!(descriptor.id(), "setOptimizationLevel:", 2 => usize; ()),
    );
}

#[test]
fn nothing_is_left_behind() {
    let _test = rule(Reported("kulinseth/pytorch#111; pytorch/pytorch#145503; pytorch/pytorch#165619"));
    let round = || {
        pooled(|| {
            let result = run_one(&[floats(&[2], &[1.0, 2.0])], |graph, x| {
                msg!(msg!(x[0], "operation"; Id), "name"; Id);
                graph.op("reductionSumWithTensor:axes:name:", &[x[0], numbers(&[0])])
            });
            assert_eq!(result, floats(&[1], &[3.0]));
        });
    };
    round();
    let before = stats::live_objects();
    for _ in 0..10 {
        round();
    }
    assert_eq!(stats::live_objects(), before);
}

#[test]
fn a_tensor_outlives_its_graph() {
    let _test = plain();
    let tensor = pooled(|| Strong::retain(Graph::new().placeholder(&[2, 2], F32)));
    assert_eq!(shape(tensor.id()), [2, 2]);
}
