//! From an executable to results. `ended` has who is told when an execution has ended, `refusals`
//! what an encode refuses.

use mpsgraph_soft::metal::{self, fault};
use mpsgraph_soft::mpsgraph::counters;
use mpsgraph_soft::objc::{Id, Strong};

use super::messages::{array, buffer, contents, objects};
use super::session::{F32, Graph, command_buffer, encode, floats, ints, queue, run_executable, run_one, tensor_data};
use crate::support::{Documented, Reported, msg, plain, pooled, rule};

mod ended;
mod refusals;

const ENCODE: &str = "encodeToCommandBuffer:inputsArray:resultsArray:executionDescriptor:";

/// The difference of two vectors of four, and its operands.
fn difference() -> (Strong, [Id; 2], Id) {
    let graph = Graph::new();
    let (a, b) = (graph.placeholder(&[4], F32), graph.placeholder(&[4], F32));
    let difference = graph.op("subtractionWithPrimaryTensor:secondaryTensor:name:", &[a, b]);
    (Strong::retain(graph.compile(&[a, b], &[difference])), [a, b], difference)
}

fn vector(elements: [f32; 4]) -> Strong {
    buffer(bytemuck::cast_slice(&elements))
}

/// Tensor data of four floats over a buffer.
fn data(buffer: &Strong) -> Id {
    tensor_data(buffer.id(), &[4], F32)
}

/// The difference with tensor data for it that fits.
struct Fitting {
    executable: Strong,
    inputs: [Id; 2],
    output: Id,
    queue: Strong,
}

fn fitting() -> Fitting {
    let [x, y, output] = [1.0, 2.0, 0.0].map(|x| data(&vector([x; 4])));
    Fitting { executable: difference().0, inputs: [x, y], output, queue: queue() }
}

impl Fitting {
    /// Sends the message with what fits, on this command buffer and with this descriptor.
    fn encode(&self, commands: Id, descriptor: Id) -> Id {
        let (inputs, results) = (array(&self.inputs), array(&[self.output]));
        msg!(
            self.executable.id(), ENCODE, commands => Id, inputs => Id, results => Id, descriptor => Id; Id
        )
    }
}

/// Writes to a buffer from the CPU.
fn overwrite(buffer: &Strong, bytes: &[u8]) {
    let start = msg!(buffer.id(), "contents"; *mut u8);
    assert!(bytes.len() <= msg!(buffer.id(), "length"; usize));
    // SAFETY: the buffer is at least as long, and `-contents` is refused while something writes it.
    unsafe { start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
}

#[test]
fn an_executable_runs_again_with_other_buffers_and_outlives_its_graph() {
    let _test = rule(Reported("ChanLumerico/lucid CompiledExecutable.mm: an executable retains what it needs"));
    let (executable, [a, b], target) = difference();
    for round in 0..3 {
        let x = floats(&[4], &[round as f32; 4]);
        let y = floats(&[4], &[1.0, 2.0, 3.0, 4.0]);
        let results = run_executable(executable.id(), &[(a, &x), (b, &y)], &[target]);
        let round = round as f32;
        assert_eq!(results[0], floats(&[4], &[round - 1.0, round - 2.0, round - 3.0, round - 4.0]));
    }
}

#[test]
fn results_appear_with_completion_in_commit_order() {
    let _test = rule(Documented("Apple's MPSGraphExecutable.h: encoding computes nothing"));
    let commits = fault::commit_inside_encode(0);
    let (executable, [a, _], _) = difference();
    let a_first = objects(msg!(executable.id(), "feedTensors"; Id))[0] == a;
    let queue = queue();
    let (one, out, out_2) = (vector([1.0; 4]), vector([0.0; 4]), vector([0.0; 4]));
    let minus = |x: &Strong, y: &Strong| {
        if a_first { [data(x), data(y)] } else { [data(y), data(x)] }
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
    assert_eq!(contents(out_2.id(), 16), bytemuck::cast_slice::<f32, u8>(&[-2.0; 4]));
    assert_eq!(counters::executions(), executions + 2);
    fault::commit_inside_encode(commits);
}

#[test]
fn a_result_may_be_a_feed_or_a_constant() {
    let _test = plain();
    let x = run_one(&[floats(&[2], &[1.0, 2.0])], |_, x| x[0]);
    assert_eq!(x, floats(&[2], &[1.0, 2.0]));
    let graph = Graph::new();
    let shape = super::messages::numbers(&[2]);
    let selector = "constantWithScalar:shape:dataType:";
    let constant = msg!(graph.id(), selector, 7.0 => f64, shape => Id, super::session::I32 => u32; Id);
    let executable = graph.compile(&[], &[constant]);
    assert_eq!(run_executable(executable, &[], &[constant])[0], ints(&[2], &[7, 7]));
}

#[test]
fn a_larger_buffer_is_used_from_its_start() {
    let _test = rule(Documented("Apple's MPSGraphTensorData.h: tensor data over a buffer has no offset"));
    let (executable, ..) = difference();
    let (x, y, out) = (buffer(&[0; 64]), buffer(&[0; 64]), buffer(&[0xff; 64]));
    let queue = queue();
    let commands = command_buffer(&queue);
    encode(executable.id(), commands, &[data(&x), data(&y)], &[data(&out)]);
    msg!(commands, "commit"; ());
    msg!(commands, "waitUntilCompleted"; ());
    assert_eq!(contents(out.id(), 64), [[0; 16].as_slice(), &[0xff; 48]].concat());
}

#[test]
fn tensor_data_is_read_when_the_execution_runs() {
    let _test = rule(Documented("Apple's MPSGraphTensorData.h: the buffer is referred to, not copied"));
    let (executable, [a, _], _) = difference();
    let a_first = objects(msg!(executable.id(), "feedTensors"; Id))[0] == a;
    let (x, y, out) = (vector([1.0; 4]), vector([1.0; 4]), vector([9.0; 4]));
    let inputs = if a_first { [data(&x), data(&y)] } else { [data(&y), data(&x)] };
    let queue = queue();
    let commands = command_buffer(&queue);
    encode(executable.id(), commands, &inputs, &[data(&out)]);
    overwrite(&x, bytemuck::cast_slice(&[5.0_f32; 4]));
    msg!(commands, "commit"; ());
    msg!(commands, "waitUntilCompleted"; ());
    let four = [4.0_f32; 4];
    assert_eq!(contents(out.id(), 16), bytemuck::cast_slice::<f32, u8>(&four));
}

#[test]
fn results_of_a_failed_command_buffer_are_stale() {
    let _test = rule(Reported(
        "ml-explore/mlx#479; gfx-rs/wgpu#9545: nothing raises, and the result buffer keeps what it held",
    ));
    let fit = fitting();
    let out = vector([7.0; 4]);
    let commands = command_buffer(&fit.queue);
    encode(fit.executable.id(), commands, &fit.inputs, &[data(&out)]);
    fault::fail_next_here(1, 8);
    msg!(commands, "commit"; ());
    msg!(commands, "waitUntilCompleted"; ());
    assert_eq!(msg!(commands, "status"; usize), 5);
    assert_eq!(msg!(msg!(commands, "error"; Id), "code"; isize), 8);
    let seven = [7.0_f32; 4];
    assert_eq!(contents(out.id(), 16), bytemuck::cast_slice::<f32, u8>(&seven));
}

#[test]
fn each_encode_leaves_scratch_memory_with_its_command_buffer() {
    let _test = rule(Reported("pytorch/pytorch#145374; pytorch/pytorch#194459"));
    let fit = fitting();
    let before = metal::counters::snapshot().scratch_live;
    pooled(|| {
        let commands = command_buffer(&fit.queue);
        let held = [0; 3].map(|_| {
            fit.encode(commands, Id::NIL);
            msg!(commands, "commitAndContinue"; ());
            metal::counters::snapshot().scratch_live - before
        });
        assert!(held[0] > 0);
        assert_eq!(held, [1, 2, 3].map(|times| times * held[0]));
    });
    assert_eq!(metal::counters::snapshot().scratch_live, before);
}
