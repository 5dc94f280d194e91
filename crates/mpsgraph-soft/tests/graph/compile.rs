//! Compiling.

mod in_place;
mod miscompiled;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use mpsgraph_soft::mpsgraph::counters;
use mpsgraph_soft::objc::{Id, Strong};

use super::messages::{array, buffer, dictionary, objects};
use super::session::{
    BF16, F16, F32, Graph, I16, I32, U8, command_buffer, descriptor, encode, queue, shaped_type, tensor_data,
};
use crate::support::{
    Assumed, Documented, Probed, Reported, device, msg, new, outcome, plain, pooled, refused, rule, violation,
};

const COMPILE: &str = "compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:";
const ADD: &str = "additionWithPrimaryTensor:secondaryTensor:name:";

/// A graph of one operation on one fed placeholder, compiled with this descriptor.
fn compile_with(descriptor: Id) {
    let graph = Graph::new();
    let x = graph.placeholder(&[1], F32);
    let y = graph.op("exponentWithTensor:name:", &[x]);
    graph.compile_with(dictionary(&[(x, shaped_type(&[1], F32))]), array(&[y]), descriptor);
}

/// Checks that a sum of two placeholders is not compiled with the feeds that are made of them and of the sum.
#[track_caller]
fn feeds_refused(reason: &str, feeds: impl Fn(Id, Id, Id) -> Vec<(Id, Id)>) {
    let graph = Graph::new();
    let (x, y) = (graph.placeholder(&[2], F32), graph.placeholder(&[2], F32));
    let sum = graph.op(ADD, &[x, y]);
    let descriptor = descriptor(0, true);
    refused(COMPILE, reason, || graph.compile_with(dictionary(&feeds(x, y, sum)), array(&[sum]), descriptor.id()));
}

/// The type that those placeholders have.
fn pair() -> Id {
    shaped_type(&[2], F32)
}

/// Checks that a graph is not compiled for the targets that are made of its fed placeholder.
#[track_caller]
fn targets_refused(reason: &str, targets: impl Fn(Id) -> Vec<Id>) {
    let graph = Graph::new();
    let x = graph.placeholder(&[2], F32);
    let feeds = dictionary(&[(x, pair())]);
    let descriptor = descriptor(0, true);
    refused(COMPILE, reason, || graph.compile_with(feeds, array(&targets(x)), descriptor.id()));
}

#[test]
fn feeds_have_an_order_of_their_own() {
    let _test = rule(Documented(
        "Apple's MPSGraphExecutable.h (feedTensors); pytorch/executorch MPSExecutor.mm matches feeds by identity",
    ));
    let graph = Graph::new();
    let feeds: Vec<Id> = (0..4).map(|_| graph.placeholder(&[1], F32)).collect();
    let target = graph.op(ADD, &[graph.op(ADD, &feeds[..2]), graph.op(ADD, &feeds[2..])]);
    let mut given = feeds.clone();
    for _ in 0..2 {
        let own = || objects(msg!(graph.compile(&given, &[target]), "feedTensors"; Id));
        let order = own();
        assert!(order != given && order.len() == 4);
        assert!(feeds.iter().all(|feed| order.contains(feed)));
        assert_eq!(own(), order, "the same for the same request");
        given.reverse();
    }
}

#[test]
fn targets_have_an_order_of_their_own() {
    let _test = rule(Documented("Apple's MPSGraphExecutable.h (targetTensors)"));
    let graph = Graph::new();
    let x = graph.placeholder(&[1], F32);
    let targets = [graph.op(ADD, &[x, x]), graph.op("exponentWithTensor:name:", &[x])];
    for given in [targets, [targets[1], targets[0]]] {
        let own = objects(msg!(graph.compile(&[x], &given), "targetTensors"; Id));
        assert!(own != given && own.len() == 2);
        assert!(own.iter().all(|target| targets.contains(target)));
    }
}

#[test]
fn compiled_graphs_and_nodes_are_counted() {
    let _test = plain();
    let graph = Graph::new();
    let feeds = [graph.placeholder(&[1], F32), graph.placeholder(&[1], F32)];
    let target = graph.op(ADD, &feeds);
    let counts = || {
        let nodes = [counters::nodes_compiled(), counters::operations_compiled()];
        [counters::graphs_compiled(), nodes[0], nodes[1], counters::kernels_compiled()]
    };
    let before = counts();
    graph.compile(&feeds, &[target]);
    let after = counts();
    assert_eq!([0, 1, 2, 3].map(|at| after[at] - before[at]), [1, 3, 1, 1]);
}

#[test]
fn compiling_16_bits_at_optimization_level_1_is_refused() {
    let _test = rule(Reported("JuliaGPU/Metal.jl lib/mpsgraphs/matmul.jl; liuliu/swift-diffusion#44"));
    let compile = |code: u32, level: usize| {
        let graph = Graph::new();
        let x = graph.placeholder(&[1], code);
        let feeds = dictionary(&[(x, shaped_type(&[1], code))]);
        let target = graph.op("signWithTensor:name:", &[x]);
        graph.compile_with(feeds, array(&[target]), descriptor(level, true).id());
    };
    for code in [F16, BF16, I16, U8] {
        refused(COMPILE, "optimizationLevel is 1", || compile(code, 1));
        compile(code, 0);
    }
    compile(F32, 1);
    compile(I32, 1);
    let fine = descriptor(0, true);
    assert_eq!(msg!(fine.id(), "optimizationLevel"; usize), 0);
}

#[test]
fn a_descriptor_has_defaults_that_compiling_refuses() {
    let _test = rule(Documented(
        "Apple's MPSGraph.h: the default is MPSGraphOptimizationLevel1, and compiling goes on in the background",
    ));
    let plain = new("MPSGraphCompilationDescriptor");
    assert_eq!(msg!(plain.id(), "optimizationLevel"; usize), 1);
    assert!(!msg!(plain.id(), "waitForCompilationCompletion"; bool));
    refused(COMPILE, "waitForCompilationCompletion is NO", || compile_with(plain.id()));
    refused(COMPILE, "no descriptor", || compile_with(Id::NIL));
}

#[test]
fn compiling_in_the_background_is_refused() {
    let _test = rule(Documented(
        "Apple's MPSGraph.h (waitForCompilationCompletion): errors of a compile in the background surface later",
    ));
    refused(COMPILE, "waitForCompilationCompletion is NO", || compile_with(descriptor(0, false).id()));
    let fine = descriptor(0, true);
    assert!(msg!(fine.id(), "waitForCompilationCompletion"; bool));
    compile_with(fine.id());
}

#[test]
fn compiling_without_type_inference_is_refused() {
    let _test = rule(Documented("Apple's MPSGraph.h (disableTypeInference)"));
    let late = descriptor(0, true);
    msg!(late.id(), "disableTypeInference"; ());
    refused(COMPILE, "type inference", || compile_with(late.id()));
}

#[test]
fn the_device_to_compile_for_may_be_nil() {
    let _test =
        rule(Documented("Apple's MPSGraph.h: without a device, the executable is specialised when it is first used"));
    let compile = |device: Id| {
        let graph = Graph::new();
        let x = graph.placeholder(&[2], F32);
        let (feeds, targets) = (dictionary(&[(x, pair())]), array(&[x]));
        msg!(
            graph.id(), COMPILE, device => Id, feeds => Id, targets => Id, Id::NIL => Id,
            descriptor(0, true).id() => Id; Id
        )
    };
    assert!(!compile(Id::NIL).is_nil());
    refused(COMPILE, "not an MPSGraphDevice", || compile(device().id()));
}

#[test]
fn a_placeholder_that_a_target_needs_must_be_fed() {
    let _test = rule(Probed("doom-fish/mpsgraph-rs execution.rs; kern0x1b/charon probes on macOS 27.0"));
    feeds_refused("not fed", |x, _, _| vec![(x, pair())]);
}

#[test]
fn a_placeholder_is_fed_as_what_it_is() {
    let _test = rule(Probed("doom-fish/mpsgraph-rs execution.rs; kern0x1b/charon probes on macOS 27.0"));
    feeds_refused("fed as Float32 [3]", |x, y, _| vec![(x, pair()), (y, shaped_type(&[3], F32))]);
    feeds_refused("fed as Float16 [2]", |x, y, _| vec![(x, pair()), (y, shaped_type(&[2], F16))]);
    feeds_refused("not an MPSGraphShapedType", |x, y, _| vec![(x, pair()), (y, y)]);
}

#[test]
fn only_placeholders_of_the_graph_are_fed() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs execution.rs"));
    feeds_refused("not a placeholder", |x, y, sum| vec![(x, pair()), (y, pair()), (sum, pair())]);
    feeds_refused("another graph", |x, y, _| {
        let foreign = Graph::new().placeholder(&[2], F32);
        vec![(x, pair()), (y, pair()), (foreign, pair())]
    });
}

#[test]
fn targets_are_tensors_of_the_graph() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs execution.rs"));
    targets_refused("another graph", |_| vec![Graph::new().placeholder(&[2], F32)]);
    targets_refused("not an MPSGraphTensor", |_| vec![array(&[])]);
}

#[test]
fn targets_are_given_and_given_once() {
    let _test =
        rule(Documented("Apple's MPSGraphExecutable.h: results are told apart by their place among the targets"));
    targets_refused("no targets", |_| vec![]);
    targets_refused("listed twice", |x| vec![x, x]);
}

#[test]
fn a_placeholder_that_no_target_needs_may_stay_unfed() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    let graph = Graph::new();
    let (x, _unused) = (graph.placeholder(&[2], F32), graph.placeholder(&[2], F32));
    let y = graph.op("negativeWithTensor:name:", &[x]);
    let executable = graph.compile(&[x], &[y]);
    assert_eq!(objects(msg!(executable, "feedTensors"; Id)), [x]);
}

#[test]
fn an_executable_without_feeds_has_nil_for_them() {
    let _test =
        rule(Assumed("Apple's MPSGraphExecutable.h declares feedTensors nullable, and nobody says when it is nil"));
    let graph = Graph::new();
    let one = graph.scalar(1.0, F32);
    let two = graph.op(ADD, &[one, one]);
    let executable = graph.compile(&[], &[two]);
    assert!(msg!(executable, "feedTensors"; Id).is_nil());
    assert_eq!(objects(msg!(executable, "targetTensors"; Id)), [two]);
}

#[test]
fn a_refused_node_poisons_its_graph() {
    let _test = rule(Reported(
        "doom-fish/mpsgraph-rs graph.rs: any later compile of the graph aborts, even when no target needs the node",
    ));
    let graph = Graph::new();
    let (x, y) = (graph.placeholder(&[2], F32), graph.placeholder(&[3], F32));
    refused(ADD, "do not broadcast", || graph.op(ADD, &[x, y]));
    refused(COMPILE, "earlier message", || graph.compile(&[x], &[x]));
    refused(ADD, "earlier message", || graph.op(ADD, &[x, x]));
}

#[test]
fn operands_are_tensors_of_the_graph() {
    let _test = rule(Reported("doom-fish/mpsgraph-rs graph.rs"));
    let (graph, other) = (Graph::new(), Graph::new());
    let (x, y) = (graph.placeholder(&[2], F32), other.placeholder(&[2], F32));
    refused(ADD, "another graph", || graph.op(ADD, &[x, y]));
    let graph = Graph::new();
    refused(ADD, "not an MPSGraphTensor", || graph.op(ADD, &[Id::NIL, Id::NIL]));
}

#[test]
fn a_first_run_while_another_thread_compiles_is_refused() {
    let _test = rule(Documented(
        "MPSGraphExecutable.h: without specializeWithDevice: the executable is specialised when it is first encoded",
    ));
    let queue = queue();
    let small = || {
        let graph = Graph::new();
        let x = graph.placeholder(&[2], F32);
        let executable = graph.compile(&[x], &[graph.op("sinWithTensor:name:", &[x])]);
        (Strong::retain(executable), buffer(&[0; 8]), buffer(&[0; 8]))
    };
    let run = |(executable, x, y): &(Strong, Strong, Strong)| {
        pooled(|| {
            let (x, y) = (tensor_data(x.id(), &[2], F32), tensor_data(y.id(), &[2], F32));
            encode(executable.id(), command_buffer(&queue), &[x], &[y]);
        });
    };
    let ready: Vec<_> = (0..400).map(|_| small()).collect();
    let (known, new) = ready.split_at(200);
    known.iter().for_each(run);
    let (started, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    let compile_until_ended = || {
        let graph = Graph::new();
        let x = graph.placeholder(&[2], F32);
        let y = (0..2000).fold(x, |y, _| graph.op("sinWithTensor:name:", &[y]));
        while !ended.load(Relaxed) {
            started.store(true, Relaxed);
            // It may be the one that is refused.
            let _ = outcome(|| pooled(|| graph.compile(&[x], &[y])));
        }
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let text = std::thread::scope(|scope| {
        scope.spawn(|| pooled(compile_until_ended));
        while !started.load(Relaxed) {
            std::thread::yield_now();
        }
        // The second run of each has nothing left to compile.
        known.iter().for_each(run);
        let text = violation(|| {
            for executable in new {
                run(executable);
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
            panic!("alone");
        });
        ended.store(true, Relaxed);
        text
    });
    std::panic::set_hook(hook);
    assert!(text.contains("the first run of an executable"), "{text}");
}

#[test]
fn concurrent_compiles_are_refused() {
    let _test = rule(Reported("pedronahum/MetalHLO MPSGraphCompiler.swift: concurrent compiles crash with signal 11"));
    let (met, text) = (AtomicBool::new(false), std::sync::Mutex::new(String::new()));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let compile_until_met = || {
        while !met.load(Relaxed) && std::time::Instant::now() < deadline {
            let said = violation(|| {
                pooled(|| {
                    let graph = Graph::new();
                    let x = graph.placeholder(&[2], F32);
                    let mut y = x;
                    for _ in 0..200 {
                        y = graph.op("sinWithTensor:name:", &[y]);
                    }
                    graph.compile(&[x], &[y]);
                });
                panic!("alone");
            });
            if said != "alone" {
                *text.lock().expect("not poisoned") = said;
                met.store(true, Relaxed);
            }
        }
    };
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| pooled(compile_until_met));
        }
    });
    std::panic::set_hook(hook);
    let text = text.into_inner().expect("not poisoned");
    assert!(text.contains("another thread is compiling"), "{text}");
}
