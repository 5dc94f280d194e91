//! One thread that works for several streams, as Burn's server does for the threads of its client.

use burn_backend::ops::FloatTensorOps;
use burn_backend::{StreamId, TensorData, read_sync};
use burn_mpsgraph::{MpsGraph, MpsGraphDevice, MpsGraphTensor};

use super::program::alone;

fn vector(elements: &[f32]) -> MpsGraphTensor {
    MpsGraph::float_from_data(TensorData::new(elements.to_vec(), [elements.len()]), &MpsGraphDevice)
}

/// tanh(x / 2 + 1)
fn step(x: MpsGraphTensor) -> MpsGraphTensor {
    MpsGraph::float_tanh(MpsGraph::float_add_scalar(MpsGraph::float_mul_scalar(x, 0.5f32.into()), 1.0f32.into()))
}

fn numbers(data: TensorData) -> Vec<f32> {
    data.try_to_vec().expect("f32")
}

#[test]
fn what_other_streams_record_changes_no_program() {
    const ROUNDS: u64 = 12;
    if !alone("streams::what_other_streams_record_changes_no_program") {
        return;
    }
    let [own, other] = [StreamId::allocate(), StreamId::allocate()];
    let (mut x, mut y) = (vector(&[1.0, 2.0]), vector(&[3.0]));
    let mut expected = [1.0f32, 2.0];
    let before = MpsGraphDevice.stats();
    for round in 0..ROUNDS {
        for _ in 0..round {
            y = other.executes(|| MpsGraph::float_sin(y));
        }
        x = own.executes(|| step(x));
        expected = expected.map(|x| (x * 0.5 + 1.0).tanh());
        let found = own.executes(|| read_sync(MpsGraph::float_into_data(x.clone()))).expect("the device works");
        for (found, expected) in numbers(found).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
        }
    }
    let used = MpsGraphDevice.stats().since(&before);
    assert_eq!((used.commits, used.executions, used.programs_compiled), (ROUNDS, ROUNDS, 1), "{used:?}");
    let sines = ROUNDS * (ROUNDS - 1) / 2;
    let expected = (0..sines).fold(3.0f32, |y, _| y.sin());
    let found = numbers(read_sync(MpsGraph::float_into_data(y)).expect("the device works"));
    assert!((found[0] - expected).abs() < 1e-4, "{found:?} is not {expected}");
}

/// The server polls it on another thread, while its own records the next step.
#[test]
fn a_read_submits_all_of_its_stream_before_it_is_polled() {
    if !alone("streams::a_read_submits_all_of_its_stream_before_it_is_polled") {
        return;
    }
    let stream = StreamId::allocate();
    let before = MpsGraphDevice.stats();
    let (read, weight) = stream.executes(|| {
        let weight = vector(&[4.0, 6.0]);
        let loss = MpsGraph::float_sum(weight.clone());
        let weight = MpsGraph::float_mul_scalar(weight, 0.5f32.into());
        (MpsGraph::float_into_data(loss), weight)
    });
    let used = MpsGraphDevice.stats().since(&before);
    assert_eq!((used.commits, used.executions, used.ops_waiting), (1, 1, 0), "{used:?}");
    let next = stream.executes(|| MpsGraph::float_add_scalar(weight, 1.0f32.into()));
    let read = std::thread::spawn(|| read_sync(read).expect("the device works"));
    assert_eq!(numbers(read.join().expect("no panic")), [10.0]);
    assert_eq!(numbers(read_sync(MpsGraph::float_into_data(next)).expect("the device works")), [3.0, 4.0]);
}

#[test]
fn streams_that_end_unseen_make_room() {
    let sum = (0..500).fold(vector(&[0.0]), |sum, _| {
        StreamId::allocate().executes(|| {
            let unread = MpsGraph::float_add_scalar(sum.clone(), 7.0f32.into());
            let sum = MpsGraph::float_add_scalar(sum, 1.0f32.into());
            drop(unread);
            sum
        })
    });
    assert_eq!(numbers(read_sync(MpsGraph::float_into_data(sum)).expect("the device works")), [500.0]);
}
