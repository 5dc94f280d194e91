//! What an encode refuses, with what fits in all other respects.

use mpsgraph_soft::mps::mps_command_buffer::Encoder;
use mpsgraph_soft::objc::Id;
use mpsgraph_soft::objc::Strong;

use super::super::messages::{array, contents};
use super::super::session::{F16, F32, Graph, command_buffer, encode, queue, tensor_data};
use super::{ENCODE, Fitting, data, fitting, vector};
use crate::support::{Assumed, Documented, Probed, Reported, device, msg, new, owned, plain, refused, rule};

impl Fitting {
    /// Checks that these inputs and results are refused for this reason.
    #[track_caller]
    fn refuses(&self, reason: &str, inputs: &[Id], results: &[Id]) {
        let commands = command_buffer(&self.queue);
        refused(ENCODE, reason, || encode(self.executable.id(), commands, inputs, results));
    }
}

/// Tensor data of another type than the executable has.
fn other(extents: &[usize], code: u32) -> Id {
    tensor_data(vector([0.0; 4]).id(), extents, code)
}

#[test]
fn as_many_inputs_and_results_as_the_executable_has() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs execution.rs"));
    let fit = fitting();
    let [x, y] = fit.inputs;
    let out = fit.output;
    fit.refuses("1 inputs for an executable with 2", &[x], &[out]);
    fit.refuses("3 inputs for an executable with 2", &[x, y, x], &[out]);
    fit.refuses("2 results for an executable with 1", &[x, y], &[out, out]);
    fit.refuses("0 results for an executable with 1", &[x, y], &[]);
    fit.refuses("not an MPSGraphTensorData", &[x, fit.executable.id()], &[out]);
}

#[test]
fn a_feed_of_another_shape_or_element_type_is_refused() {
    let _test = rule(Probed("doom-fish/mpsgraph-rs execution.rs; kern0x1b/charon probes on macOS 27.0"));
    let fit = fitting();
    let [x, y] = fit.inputs;
    for (extents, code, shown) in
        [(&[2, 2][..], F32, "Float32 [2, 2]"), (&[3], F32, "Float32 [3]"), (&[4], F16, "Float16 [4]")]
    {
        let wrong = other(extents, code);
        let reason = |at| format!("inputs[{at}] is {shown}, the executable has Float32 [4] there");
        fit.refuses(&reason(1), &[x, wrong], &[fit.output]);
        fit.refuses(&reason(0), &[wrong, y], &[fit.output]);
    }
}

#[test]
fn a_result_buffer_of_another_shape_or_element_type_is_refused() {
    let _test = rule(Probed(
        "doom-fish/mpsgraph-rs, kern0x1b/charon, pedronahum/MetalHLO; ChanLumerico/lucid for (n, 1) in place of (n)",
    ));
    let fit = fitting();
    for (extents, code, shown) in
        [(&[3][..], F32, "Float32 [3]"), (&[4, 1], F32, "Float32 [4, 1]"), (&[4], F16, "Float16 [4]")]
    {
        let reason = format!("results[0] is {shown}, the executable has Float32 [4] there");
        fit.refuses(&reason, &fit.inputs, &[other(extents, code)]);
    }
}

#[test]
fn operands_without_hazard_tracking_are_refused() {
    let _test = rule(Assumed(
        "Apple's documentation of MTLHazardTrackingMode: the app orders such work, and encodes leave no place for that",
    ));
    const UNTRACKED: usize = 0x100;
    let untracked = msg!(device().id(), "newBufferWithLength:options:", 16 => usize, UNTRACKED => usize; Id);
    let untracked = owned(untracked);
    let fit = fitting();
    let reason = "is in a buffer without hazard tracking";
    fit.refuses(reason, &[data(&untracked), fit.inputs[1]], &[fit.output]);
    fit.refuses(reason, &fit.inputs, &[data(&untracked)]);
}

#[test]
fn one_buffer_as_input_and_result_is_refused() {
    let _test = rule(Reported(
        "ChanLumerico/lucid CompiledExecutable.mm; pytorch/pytorch aten/src/ATen/native/mps/operations/BinaryOps.mm",
    ));
    let fit = fitting();
    let [x, y] = fit.inputs;
    fit.refuses("corrupts the result", &[x, y], &[x]);
    let buffer = vector([1.0; 4]);
    fit.refuses("corrupts the result", &[x, data(&buffer)], &[data(&buffer)]);
}

#[test]
fn one_buffer_as_two_results_is_refused() {
    let _test = rule(Reported("ChanLumerico/lucid CompiledExecutable.mm"));
    let graph = Graph::new();
    let x = graph.placeholder(&[4], F32);
    let targets = ["sinWithTensor:name:", "cosWithTensor:name:"].map(|op| graph.op(op, &[x]));
    let executable = graph.compile(&[x], &targets);
    let (buffer, queue) = (vector([0.0; 4]), queue());
    let commands = command_buffer(&queue);
    refused(ENCODE, "corrupts the result", || {
        let results = [data(&buffer), data(&buffer)];
        encode(executable, commands, &[data(&vector([1.0; 4]))], &results)
    });
}

#[test]
fn one_buffer_as_two_inputs_is_fine() {
    let _test = plain();
    let fit = fitting();
    let (same, out) = (data(&vector([5.0; 4])), vector([1.0; 4]));
    let commands = command_buffer(&fit.queue);
    encode(fit.executable.id(), commands, &[same, same], &[data(&out)]);
    msg!(commands, "commit"; ());
    msg!(commands, "waitUntilCompleted"; ());
    assert_eq!(contents(out.id(), 16), [0; 16]);
}

#[test]
fn a_committed_command_buffer_is_refused() {
    let _test = rule(Documented("Apple's MTLCommandBuffer.h (commit); Apple's MPSGraph.h (encodeToCommandBuffer:)"));
    let fit = fitting();
    let committed = command_buffer(&fit.queue);
    msg!(committed, "commit"; ());
    refused(ENCODE, "the command buffer is committed already", || fit.encode(committed, Id::NIL));
}

#[test]
fn two_threads_encoding_on_one_command_buffer_are_refused() {
    let _test = rule(Reported("pytorch/pytorch#197805"));
    let fit = fitting();
    let commands = command_buffer(&fit.queue);
    let held = Strong::retain(commands);
    let other_thread = Encoder::new(&held).expect("open");
    refused(ENCODE, "another thread is encoding", || fit.encode(commands, Id::NIL));
    drop(other_thread);
    fit.encode(commands, Id::NIL);
}

#[test]
fn a_raw_command_buffer_is_refused() {
    let _test = rule(Documented("Apple's MPSGraphExecutable.h: it takes an MPSCommandBuffer"));
    let fit = fitting();
    for wrong in [msg!(fit.queue.id(), "commandBuffer"; Id), Id::NIL] {
        refused(ENCODE, "it must be an MPSCommandBuffer", || fit.encode(wrong, Id::NIL));
    }
    let empty = new("MPSCommandBuffer");
    refused(ENCODE, "initialised", || fit.encode(empty.id(), Id::NIL));
}

#[test]
fn results_are_given_by_the_caller() {
    let _test = rule(Documented(
        "Apple's MPSGraphExecutable.h: without a results array, MPSGraph allocates; this runtime does not",
    ));
    let fit = fitting();
    let (commands, inputs) = (command_buffer(&fit.queue), array(&fit.inputs));
    refused(
        ENCODE,
        "give a results array",
        || msg!(fit.executable.id(), ENCODE, commands => Id, inputs => Id, Id::NIL => Id, Id::NIL => Id; Id),
    );
}

#[test]
fn an_encode_cannot_wait_until_completed() {
    let _test = rule(Documented("Apple's MPSGraphExecutable.h (waitUntilCompleted, NO by default)"));
    let fit = fitting();
    let descriptor = new("MPSGraphExecutableExecutionDescriptor");
    assert!(!msg!(descriptor.id(), "waitUntilCompleted"; bool));
    fit.encode(command_buffer(&fit.queue), descriptor.id());
    msg!(descriptor.id(), "setWaitUntilCompleted:", true => bool; ());
    assert!(msg!(descriptor.id(), "waitUntilCompleted"; bool));
    refused(ENCODE, "waitUntilCompleted", || fit.encode(command_buffer(&fit.queue), descriptor.id()));
}

#[test]
fn another_descriptor_is_refused() {
    let _test =
        rule(Documented("Apple's MPSGraphExecutable.h: an executable has a class of execution descriptors of its own"));
    let fit = fitting();
    let wrong = new("MPSGraphCompilationDescriptor");
    refused(
        ENCODE,
        "the descriptor is MPSGraphCompilationDescriptor, not an MPSGraphExecutableExecutionDescriptor",
        || fit.encode(command_buffer(&fit.queue), wrong.id()),
    );
}

#[test]
fn an_executable_comes_from_a_graph() {
    let _test = rule(Assumed("this runtime loads no packages, so only a graph makes executables"));
    let mut fit = fitting();
    fit.executable = new("MPSGraphExecutable");
    refused(ENCODE, "not made by compiling a graph", || fit.encode(command_buffer(&fit.queue), Id::NIL));
}
