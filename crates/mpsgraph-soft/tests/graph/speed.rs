//! What a message costs. The bounds are generous, for busy machines and unoptimised builds; they notice what grows
//! with the size of the graph.

use std::time::{Duration, Instant};

use mpsgraph_soft::objc::Id;

use super::messages::{buffer, objects};
use super::session::{F32, Graph, command_buffer, encode, queue, tensor_data};
use crate::support::{msg, plain, pooled};

const ADD: &str = "additionWithPrimaryTensor:secondaryTensor:name:";

fn sum_of(graph: &Graph, feeds: &[Id], nodes: usize) -> Id {
    (0..nodes).fold(feeds[0], |sum, at| graph.op(ADD, &[sum, feeds[at % feeds.len()]]))
}

#[test]
fn building_is_linear_and_cheap() {
    let _test = plain();
    let time = |nodes: usize| {
        pooled(|| {
            let graph = Graph::new();
            let x = graph.placeholder(&[2, 3], F32);
            let start = Instant::now();
            sum_of(&graph, &[x], nodes);
            start.elapsed()
        })
    };
    time(300);
    let short = (0..5).map(|_| time(300)).min().expect("five");
    let long = (0..5).map(|_| time(3000)).min().expect("five");
    println!("300 nodes {short:?}, 3000 nodes {long:?}");
    assert!(short < Duration::from_millis(20), "{short:?}");
    assert!(long < 60 * short, "{short:?} {long:?}");
}

#[test]
fn encoding_many_buffers_is_cheap() {
    let _test = plain();
    let graph = Graph::new();
    let feeds: Vec<Id> = (0..50).map(|_| graph.placeholder(&[2], F32)).collect();
    let sum = sum_of(&graph, &feeds, 50);
    let executable = graph.compile(&feeds, &[sum]);
    assert_eq!(objects(msg!(executable, "feedTensors"; Id)).len(), 50);
    let memory = (0..51).map(|_| buffer(&[0; 8])).collect::<Vec<_>>();
    let data: Vec<Id> = memory.iter().map(|buffer| tensor_data(buffer.id(), &[2], F32)).collect();
    let queue = queue();
    let encode_once = || {
        pooled(|| {
            let commands = command_buffer(&queue);
            let start = Instant::now();
            encode(executable, commands, &data[..50], &data[50..]);
            let time = start.elapsed();
            msg!(commands, "commit"; ());
            msg!(commands, "waitUntilCompleted"; ());
            time
        })
    };
    let time = (0..20).map(|_| encode_once()).min().expect("twenty");
    println!("50 buffers {time:?}");
    assert!(time < Duration::from_millis(5), "{time:?}");
}
