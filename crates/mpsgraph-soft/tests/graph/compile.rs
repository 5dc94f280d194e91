//! Compiling.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use mpsgraph_soft::mpsgraph::counters;
use mpsgraph_soft::objc::Id;

use super::messages::{alone, array, dictionary, msg, objects, pooled, refused, violation};
use super::session::{F16, F32, Graph, descriptor, shaped_type};

const COMPILE: &str =
    "compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:";
const ADD: &str = "additionWithPrimaryTensor:secondaryTensor:name:";

#[test]
fn feeds_and_targets_have_an_order_of_their_own() {
    let _alone = alone();
    let graph = Graph::new();
    let feeds: Vec<Id> = (0..4).map(|_| graph.placeholder(&[1], F32)).collect();
    let targets = [graph.op(ADD, &feeds[..2]), graph.op(ADD, &feeds[2..])];
    let before = (counters::graphs_compiled(), counters::nodes_compiled());
    let executable = graph.compile(&feeds, &targets);
    assert_eq!(
        (counters::graphs_compiled(), counters::nodes_compiled()),
        (before.0 + 1, before.1 + 6)
    );
    let own = objects(msg!(executable, "feedTensors"; Id));
    assert!(own != feeds && own.len() == 4 && feeds.iter().all(|feed| own.contains(feed)));
    let own_targets = objects(msg!(executable, "targetTensors"; Id));
    assert!(own_targets != targets && own_targets.iter().all(|target| targets.contains(target)));
    let again = graph.compile(&feeds, &targets);
    assert_eq!(objects(msg!(again, "feedTensors"; Id)), own);
}

#[test]
fn descriptors() {
    let _alone = alone();
    let compile = |descriptor: Id| {
        let graph = Graph::new();
        let x = graph.placeholder(&[1], F32);
        let y = graph.op("exponentWithTensor:name:", &[x]);
        graph.compile_with(
            dictionary(&[(x, shaped_type(&[1], F32))]),
            array(&[y]),
            descriptor,
        );
    };
    refused(COMPILE, "optimizationLevel is 1", || {
        compile(descriptor(1, true).id())
    });
    refused(COMPILE, "waitForCompilationCompletion is NO", || {
        compile(descriptor(0, false).id())
    });
    refused(COMPILE, "no descriptor", || compile(Id::NIL));
    let late = descriptor(0, true);
    msg!(late.id(), "disableTypeInference"; ());
    refused(COMPILE, "type inference", || compile(late.id()));
    let fine = descriptor(0, true);
    assert_eq!(msg!(fine.id(), "optimizationLevel"; usize), 0);
    assert!(msg!(fine.id(), "waitForCompilationCompletion"; bool));
    compile(fine.id());
}

#[test]
fn feeds() {
    let _alone = alone();
    let on = |reason: &str, feeds: &dyn Fn(Id, Id, Id) -> Vec<(Id, Id)>| {
        let graph = Graph::new();
        let (x, y) = (graph.placeholder(&[2], F32), graph.placeholder(&[2], F32));
        let sum = graph.op(ADD, &[x, y]);
        let descriptor = descriptor(0, true);
        refused(COMPILE, reason, || {
            graph.compile_with(
                dictionary(&feeds(x, y, sum)),
                array(&[sum]),
                descriptor.id(),
            )
        });
    };
    let ty = || shaped_type(&[2], F32);
    on("not fed", &|x, _, _| vec![(x, ty())]);
    on("fed as Float32 [3]", &|x, y, _| {
        vec![(x, ty()), (y, shaped_type(&[3], F32))]
    });
    on("fed as Float16 [2]", &|x, y, _| {
        vec![(x, ty()), (y, shaped_type(&[2], F16))]
    });
    on("no placeholder", &|x, y, sum| {
        vec![(x, ty()), (y, ty()), (sum, ty())]
    });
    on("not an MPSGraphShapedType", &|x, y, _| {
        vec![(x, ty()), (y, y)]
    });
    on("another graph", &|x, y, _| {
        vec![
            (x, ty()),
            (y, ty()),
            (Graph::new().placeholder(&[2], F32), ty()),
        ]
    });
}

#[test]
fn targets() {
    let _alone = alone();
    let on = |reason: &str, targets: &dyn Fn(Id) -> Vec<Id>| {
        let graph = Graph::new();
        let x = graph.placeholder(&[2], F32);
        let feeds = dictionary(&[(x, shaped_type(&[2], F32))]);
        let descriptor = descriptor(0, true);
        refused(COMPILE, reason, || {
            graph.compile_with(feeds, array(&targets(x)), descriptor.id())
        });
    };
    on("no targets", &|_| vec![]);
    on("listed twice", &|x| vec![x, x]);
    on("another graph", &|_| {
        vec![Graph::new().placeholder(&[2], F32)]
    });
    on("not an MPSGraphTensor", &|_| vec![array(&[])]);
}

#[test]
fn a_placeholder_that_no_target_needs_may_stay_unfed() {
    let _alone = alone();
    let graph = Graph::new();
    let (x, _unused) = (graph.placeholder(&[2], F32), graph.placeholder(&[2], F32));
    let y = graph.op("negativeWithTensor:name:", &[x]);
    let executable = graph.compile(&[x], &[y]);
    assert_eq!(objects(msg!(executable, "feedTensors"; Id)), [x]);
}

#[test]
fn a_refused_node_poisons_its_graph() {
    let _alone = alone();
    let graph = Graph::new();
    let (x, y) = (graph.placeholder(&[2], F32), graph.placeholder(&[3], F32));
    refused(ADD, "do not broadcast", || graph.op(ADD, &[x, y]));
    refused(COMPILE, "earlier message", || graph.compile(&[x], &[x]));
    refused(ADD, "earlier message", || graph.op(ADD, &[x, x]));
}

#[test]
fn tensors_of_another_graph() {
    let _alone = alone();
    let (graph, other) = (Graph::new(), Graph::new());
    let (x, y) = (graph.placeholder(&[2], F32), other.placeholder(&[2], F32));
    refused(ADD, "another graph", || graph.op(ADD, &[x, y]));
    let graph = Graph::new();
    refused(ADD, "not an MPSGraphTensor", || {
        graph.op(ADD, &[Id::NIL, Id::NIL])
    });
}

#[test]
fn concurrent_compiles_are_refused() {
    let _alone = alone();
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
