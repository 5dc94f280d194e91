//! What a recording counts.

use std::sync::Arc;

use burn_backend::{DType, Shape, Slice};

use super::Cut;
use crate::bridge::flush::FlushReason;
use crate::bridge::runtime::Runtime;
use crate::bridge::thread::current;
use crate::ops::tensor_shape::slice;
use crate::ops::{memory, random};
use crate::tensor::MpsGraphTensor;

/// A value that is ready, of so many rows of 1024 floats.
fn ready(rows: usize) -> MpsGraphTensor {
    let shape = Shape::from([rows, 1024]);
    let value = random::random("random", shape, burn_backend::Distribution::Default, DType::F32);
    Runtime::get().flush(&current().expect("the thread is not ending"), Cut::Everything, FlushReason::Sync);
    value
}

#[test]
fn many_slices_of_one_large_value_count_it_once() {
    let recording = current().expect("the thread is not ending");
    let data = ready(64);
    let row = |at: isize| slice(data.clone(), &[Slice::new(at, Some(at + 1), 1)]);
    let mut kept: Vec<_> = (0..64).map(row).collect();
    assert_eq!(recording.lock().read_bytes, 64 * 4096);
    drop(recording.cut(Cut::Everything, &Arc::default()).expect("something was recorded"));
    assert_eq!(recording.lock().read_bytes, 0);
    kept.push(row(0));
    assert_eq!(recording.lock().read_bytes, 64 * 4096);
    drop(recording.cut(Cut::Everything, &Arc::default()));
}

#[test]
fn a_value_at_the_place_of_one_that_was_dropped_counts() {
    let recording = current().expect("the thread is not ending");
    for round in 1..=3 {
        let data = ready(1);
        drop(slice(data, &[Slice::full(), Slice::new(0, Some(2), 1)]));
        assert_eq!(recording.lock().read_bytes, 4096, "round {round}");
        let made = memory::zeros(Shape::from([2]), DType::F32);
        recording.prune();
        assert_eq!(recording.lock().read.len(), 0);
        drop(made);
        drop(recording.cut(Cut::Everything, &Arc::default()));
    }
}
