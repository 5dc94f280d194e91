//! What the patterns make of recorded ops.

mod recorded;

use std::sync::Arc;

use burn_backend::{DType, Shape, Slice};

use crate::bridge::draft::{Draft, Flow};
use crate::bridge::patterns;
use crate::bridge::program::Program;
use crate::bridge::recording::Cut;
use crate::bridge::thread::current;
use crate::dtype::BOOL;
use crate::lowering::scalar::Layout;
use crate::ops::arithmetic::{self, BinaryOp};
use crate::ops::tensor_shape::{permute, slice, slice_assign};
use crate::ops::{memory, random, reduction};
use crate::tensor::MpsGraphTensor;

fn made(shape: &[usize]) -> MpsGraphTensor {
    random::random("random", Shape::from(shape.to_vec()), burn_backend::Distribution::Default, DType::F32)
}

/// The names of the ops that are compiled for what `make` records.
fn compiled<T>(make: impl FnOnce() -> T) -> Vec<&'static str> {
    let program = rewritten(make);
    program.schedule.iter().map(|&at| program.nodes[at as usize].op.name()).collect()
}

/// What is compiled for what `make` records.
fn rewritten<T>(make: impl FnOnce() -> T) -> Program {
    let _wanted = make();
    let recording = current().expect("the thread is not ending");
    let segment = recording.cut(Cut::Everything, &Arc::default()).expect("something was recorded");
    let draft = Draft::new(&Flow::new(&segment), &segment.wanted, &vec![false; segment.nodes.len()]);
    let draft = draft.expect("something is wanted");
    let mut program = draft.program();
    patterns::apply(&mut program, &Layout::new(&draft.scalars, None));
    program
}

fn step(t: usize) -> [Slice; 3] {
    [Slice::full(), Slice::new(t as isize, Some(t as isize + 1), 1), Slice::full()]
}

#[test]
fn time_steps_written_one_by_one_are_one_concatenation() {
    let found = compiled(|| {
        let start = memory::zeros([2, 4, 3].into(), DType::F32);
        vec![(0..4).fold(start, |all, t| slice_assign(all, &step(t), made(&[2, 1, 3])))]
    });
    assert_eq!(found, ["random", "random", "random", "random", "cat"]);
}

#[test]
fn what_is_not_overwritten_stays() {
    let found = compiled(|| {
        let start = made(&[2, 6, 3]);
        vec![[4, 1].into_iter().fold(start, |all, t| slice_assign(all, &step(t), made(&[2, 1, 3])))]
    });
    assert_eq!(found.iter().filter(|name| **name == "slice").count(), 3);
    assert_eq!(found.last(), Some(&"cat"));
}

#[test]
fn a_step_that_is_used_between_ends_a_chain() {
    let found = compiled(|| {
        let start = memory::zeros([2, 4, 3].into(), DType::F32);
        let first = slice_assign(start, &step(0), made(&[2, 1, 3]));
        vec![first.clone(), slice_assign(first, &step(1), made(&[2, 1, 3]))]
    });
    assert_eq!(found.iter().filter(|name| **name == "slice_assign").count(), 2);
}

#[test]
fn a_region_that_is_written_twice_ends_a_chain() {
    let found = compiled(|| {
        let start = memory::zeros([2, 4, 3].into(), DType::F32);
        vec![[0, 1, 1].into_iter().fold(start, |all, t| slice_assign(all, &step(t), made(&[2, 1, 3])))]
    });
    assert_eq!(found.iter().filter(|name| ["slice_assign", "cat"].contains(name)).count(), 2);
}

#[test]
fn slices_read_what_is_behind_assignments_elsewhere() {
    let found = compiled(|| {
        let mut gradient = made(&[2, 4, 3]);
        let mut steps = Vec::new();
        for t in (0..4).rev() {
            steps.push(slice(gradient.clone(), &step(t)));
            gradient = slice_assign(gradient, &step(t), memory::zeros([2, 1, 3].into(), DType::F32));
        }
        drop(gradient);
        steps
    });
    assert_eq!(found, ["random", "slice", "slice", "slice", "slice"]);
}

#[test]
fn gradients_of_time_steps_are_one_concatenation() {
    let found = compiled(|| {
        let term = |t: usize| {
            let zeros = memory::zeros([2, 4, 3].into(), DType::F32);
            slice_assign(zeros, &step(t), made(&[2, 1, 3]))
        };
        let sum = |all, t| arithmetic::binary(BinaryOp::Add, all, term(t));
        vec![(0..3).rev().fold(term(3), sum)]
    });
    assert_eq!(found.iter().filter(|name| **name == "slice_assign").count(), 0, "{found:?}");
    assert_eq!(found.last(), Some(&"cat"));
}

#[test]
fn all_elements_are_added_where_they_are() {
    let turned = || permute(made(&[2, 3, 4]), &[2, 0, 1]);
    assert_eq!(compiled(|| reduction::sum(turned())), ["random", "sum_dim"]);
    assert_eq!(compiled(|| reduction::any(turned(), BOOL)), ["random", "any_dim"]);
    // Which zero is the greatest depends on the order.
    assert_eq!(compiled(|| reduction::max(turned())), ["random", "permute", "max_dim"]);
}

#[test]
fn sums_are_permuted_instead_of_what_is_added() {
    let turned = || permute(made(&[2, 3, 4]), &[2, 1, 0]);
    assert_eq!(compiled(|| reduction::sum_dim(turned(), 1)), ["random", "sum_dim", "permute", "cat"]);
    // One axis is left.
    assert_eq!(compiled(|| reduction::sum_dim(permute(made(&[3, 4]), &[1, 0]), 0)), ["random", "sum_dim"]);
}
