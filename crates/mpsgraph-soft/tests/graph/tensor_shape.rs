//! `MPSGraphTensorShapeOps.h`: views, slices, concatenations, padding, casts and coordinates.

mod casts;
mod joins;
mod pads;
mod slices;
mod views;

use mpsgraph_soft::objc::Id;

use super::messages::numbers;
use super::session::{F32, Graph, Value, ints, run_one};
use crate::support::refused;

/// 0, 1, 2, … in this shape.
fn counted(shape: &[usize]) -> Value {
    let elements: Vec<i32> = (0..shape.iter().product::<usize>() as i32).collect();
    ints(shape, &elements)
}

/// An operation on the tensor 0, 1, 2, … of this shape, and arrays.
fn moved(from: &[usize], selector: &str, arrays: &[&[i64]]) -> Value {
    run_one(&[counted(from)], |graph, x| {
        let arguments: Vec<Id> = std::iter::once(x[0]).chain(arrays.iter().map(|&array| numbers(array))).collect();
        graph.op(selector, &arguments)
    })
}

/// The same as refused.
#[track_caller]
fn refuses(from: &[i64], selector: &str, arrays: &[&[i64]], reason: &str) {
    let graph = Graph::new();
    let x = graph.placeholder(from, F32);
    let arguments: Vec<Id> = std::iter::once(x).chain(arrays.iter().map(|&array| numbers(array))).collect();
    refused(selector, reason, || graph.op(selector, &arguments));
}
