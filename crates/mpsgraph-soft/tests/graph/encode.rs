//! From an executable to results.

use mpsgraph_soft::mpsgraph::counters;
use mpsgraph_soft::objc::{Id, Strong};

use super::messages::{alone, array, buffer, contents, msg, new, objects, refused};
use super::session::{
    F16, F32, Graph, command_buffer, encode, floats, ints, queue, run_executable, run_one,
    tensor_data,
};

const ENCODE: &str = "encodeToCommandBuffer:inputsArray:resultsArray:executionDescriptor:";

/// The difference of two vectors of four, and its operands.
fn difference() -> (Strong, [Id; 2], Id) {
    let graph = Graph::new();
    let (a, b) = (graph.placeholder(&[4], F32), graph.placeholder(&[4], F32));
    let difference = graph.op(
        "subtractionWithPrimaryTensor:secondaryTensor:name:",
        &[a, b],
    );
    (
        Strong::retain(graph.compile(&[a, b], &[difference])),
        [a, b],
        difference,
    )
}

fn vector(elements: [f32; 4]) -> Strong {
    buffer(bytemuck::cast_slice(&elements))
}

#[test]
fn an_executable_runs_again_with_other_buffers_and_outlives_its_graph() {
    let _alone = alone();
    let (executable, [a, b], target) = difference();
    for round in 0..3 {
        let x = floats(&[4], &[round as f32; 4]);
        let y = floats(&[4], &[1.0, 2.0, 3.0, 4.0]);
        let results = run_executable(executable.id(), &[(a, &x), (b, &y)], &[target]);
        let round = round as f32;
        assert_eq!(
            results[0],
            floats(&[4], &[round - 1.0, round - 2.0, round - 3.0, round - 4.0])
        );
    }
}

#[test]
fn results_appear_with_completion_in_commit_order() {
    let _alone = alone();
    let (executable, [a, _], _) = difference();
    let a_first = objects(msg!(executable.id(), "feedTensors"; Id))[0] == a;
    let queue = queue();
    let (one, out, out_2) = (vector([1.0; 4]), vector([0.0; 4]), vector([0.0; 4]));
    let data = |buffer: &Strong| tensor_data(buffer.id(), &[4], F32);
    let minus = |x: &Strong, y: &Strong| {
        if a_first {
            [data(x), data(y)]
        } else {
            [data(y), data(x)]
        }
    };
    let executions = counters::executions();
    let first = command_buffer(&queue);
    let zero = vector([0.0; 4]);
    encode(executable.id(), first, &minus(&zero, &one), &[data(&out)]);
    assert_eq!(contents(out.id(), 16), [0; 16], "encoding computes nothing");
    let second = command_buffer(&queue);
    encode(executable.id(), second, &minus(&out, &one), &[data(&out_2)]);
    msg!(first, "commit"; ());
    msg!(second, "commit"; ());
    msg!(second, "waitUntilCompleted"; ());
    assert_eq!(
        contents(out_2.id(), 16),
        bytemuck::cast_slice::<f32, u8>(&[-2.0; 4])
    );
    assert_eq!(counters::executions(), executions + 2);
}

#[test]
fn a_result_may_be_a_feed_or_a_constant() {
    let _alone = alone();
    let x = run_one(&[floats(&[2], &[1.0, 2.0])], |_, x| x[0]);
    assert_eq!(x, floats(&[2], &[1.0, 2.0]));
    let graph = Graph::new();
    let shape = super::messages::numbers(&[2]);
    let selector = "constantWithScalar:shape:dataType:";
    let constant =
        msg!(graph.id(), selector, 7.0 => f64, shape => Id, super::session::I32 => u32; Id);
    let executable = graph.compile(&[], &[constant]);
    assert_eq!(
        run_executable(executable, &[], &[constant])[0],
        ints(&[2], &[7, 7])
    );
}

#[test]
fn a_larger_buffer_is_used_from_its_start() {
    let _alone = alone();
    let (executable, ..) = difference();
    let (x, y, out) = (buffer(&[0; 64]), buffer(&[0; 64]), buffer(&[0xff; 64]));
    let data = |buffer: &Strong| tensor_data(buffer.id(), &[4], F32);
    let queue = queue();
    let commands = command_buffer(&queue);
    encode(
        executable.id(),
        commands,
        &[data(&x), data(&y)],
        &[data(&out)],
    );
    msg!(commands, "commit"; ());
    msg!(commands, "waitUntilCompleted"; ());
    assert_eq!(
        contents(out.id(), 64),
        [[0; 16].as_slice(), &[0xff; 48]].concat()
    );
}

#[test]
fn refusals() {
    let _alone = alone();
    let (executable, ..) = difference();
    let executable = executable.id();
    let (x, y, out) = (vector([1.0; 4]), vector([2.0; 4]), vector([0.0; 4]));
    let [x, y, out] = [x, y, out].map(|buffer| tensor_data(buffer.id(), &[4], F32));
    let other = |extents: &[usize], code: u32| tensor_data(vector([0.0; 4]).id(), extents, code);
    let queue = queue();
    let on = |reason: &str, inputs: &[Id], results: &[Id]| {
        refused(ENCODE, reason, || {
            encode(executable, command_buffer(&queue), inputs, results)
        });
    };
    on("1 inputs for an executable with 2", &[x], &[out]);
    on("2 results for an executable with 1", &[x, y], &[out, out]);
    on(
        "inputs[1] is Float32 [2, 2]",
        &[x, other(&[2, 2], F32)],
        &[out],
    );
    on("results[0] is Float32 [3]", &[x, y], &[other(&[3], F32)]);
    on("results[0] is Float16 [4]", &[x, y], &[other(&[4], F16)]);
    on("corrupts", &[x, y], &[x]);
    on("not an MPSGraphTensorData", &[x, executable], &[out]);
    let committed = command_buffer(&queue);
    msg!(committed, "commit"; ());
    refused(ENCODE, "commit", || {
        encode(executable, committed, &[x, y], &[out])
    });
    refused(ENCODE, "MPSCommandBuffer", || {
        let raw = msg!(queue.id(), "commandBuffer"; Id);
        encode(executable, raw, &[x, y], &[out])
    });
    refused(ENCODE, "results", || {
        let (commands, inputs) = (command_buffer(&queue), array(&[x, y]));
        msg!(executable, ENCODE, commands => Id, inputs => Id, Id::NIL => Id, Id::NIL => Id; Id)
    });
    let waiting = new("MPSGraphExecutableExecutionDescriptor");
    msg!(waiting.id(), "setWaitUntilCompleted:", true => bool; ());
    assert!(msg!(waiting.id(), "waitUntilCompleted"; bool));
    refused(ENCODE, "waitUntilCompleted", || {
        let (commands, inputs, results) = (command_buffer(&queue), array(&[x, y]), array(&[out]));
        msg!(executable, ENCODE, commands => Id, inputs => Id, results => Id, waiting.id() => Id; Id)
    });
}
