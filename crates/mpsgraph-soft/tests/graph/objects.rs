//! The smaller classes, and what stays alive.

use mpsgraph_soft::objc::{Id, Strong};
use mpsgraph_soft::stats;

use super::messages::{
    alone, array, buffer, class, data_type, device, msg, new, numbers, objects, pooled, refused,
    shape,
};
use super::session::{BOOL, F16, F32, Graph, floats, run_one, shaped_type, tensor_data};

#[test]
fn tensors_know_their_operation() {
    let _alone = alone();
    let graph = Graph::new();
    let (x, y) = (graph.placeholder(&[2], F32), graph.placeholder(&[2], F32));
    let sum = graph.op("additionWithPrimaryTensor:secondaryTensor:name:", &[x, y]);
    let operation = msg!(sum, "operation"; Id);
    assert_eq!(objects(msg!(operation, "inputTensors"; Id)), [x, y]);
    assert_eq!(objects(msg!(operation, "outputTensors"; Id)), [sum]);
    assert!(objects(msg!(operation, "controlDependencies"; Id)).is_empty());
    let composed = graph.op("tileTensor:withMultiplier:name:", &[sum, numbers(&[2])]);
    assert_eq!(
        objects(msg!(msg!(composed, "operation"; Id), "inputTensors"; Id)),
        [sum]
    );
}

#[test]
fn shaped_types() {
    let _alone = alone();
    let a = shaped_type(&[2, 3], F16);
    assert_eq!((shape(a), data_type(a)), (vec![2, 3], F16));
    assert!(msg!(a, "isEqualTo:", shaped_type(&[2, 3], F16) => Id; bool));
    assert!(!msg!(a, "isEqualTo:", shaped_type(&[2, 3], F32) => Id; bool));
    msg!(a, "setDataType:", BOOL => u32; ());
    msg!(a, "setShape:", numbers(&[5]) => Id; ());
    assert_eq!((shape(a), data_type(a)), (vec![5], BOOL));
    refused("initWithShape:dataType:", "zero extent", || {
        shaped_type(&[0], F32)
    });
}

#[test]
fn tensor_data_checks_its_buffer() {
    let _alone = alone();
    let memory = buffer(&[0; 24]);
    let data = tensor_data(memory.id(), &[3, 2], F32);
    assert_eq!((shape(data), data_type(data)), (vec![3, 2], F32));
    let graph_device = msg!(data, "device"; Id);
    assert_eq!(msg!(graph_device, "metalDevice"; Id), device().id());
    refused("initWithMTLBuffer:shape:dataType:", "28 bytes", || {
        tensor_data(memory.id(), &[7], F32)
    });
    refused(
        "initWithMTLBuffer:shape:dataType:",
        "may not be nil",
        || tensor_data(Id::NIL, &[7], F32),
    );
    refused("initWithMTLBuffer:shape:dataType:", "rank 0", || {
        tensor_data(memory.id(), &[], F32)
    });
}

#[test]
fn devices_and_options() {
    let _alone = alone();
    let device = device();
    let graph_device = msg!(class("MPSGraphDevice"), "deviceWithMTLDevice:", device.id() => Id; Id);
    assert_eq!(msg!(graph_device, "metalDevice"; Id), device.id());
    assert_eq!(msg!(graph_device, "type"; u32), 0);
    refused(
        "deviceWithMTLDevice:",
        "not an MTLDevice",
        || msg!(class("MPSGraphDevice"), "deviceWithMTLDevice:", array(&[]) => Id; Id),
    );
    let graph = new("MPSGraph");
    assert_eq!(msg!(graph.id(), "options"; usize), 1);
    msg!(graph.id(), "setOptions:", 0 => usize; ());
    assert_eq!(msg!(graph.id(), "options"; usize), 0);
}

#[test]
fn nothing_is_left_behind() {
    let _alone = alone();
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
    let _alone = alone();
    let tensor = pooled(|| Strong::retain(Graph::new().placeholder(&[2, 2], F32)));
    assert_eq!(shape(tensor.id()), [2, 2]);
}
