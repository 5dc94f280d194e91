//! What a recording counts.

use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

use burn_backend::{DType, Shape, Slice};

use super::nodes::KEPT;
use super::{Cut, Recording, pieces};
use crate::bridge::flush::FlushReason;
use crate::bridge::runtime::Runtime;
use crate::bridge::thread::current;
use crate::bridge::value::Value;
use crate::ops::tensor_shape::slice;
use crate::ops::{memory, random};
use crate::tensor::MpsGraphTensor;

/// A value that is ready, of so many rows of 1024 floats.
fn ready(rows: usize) -> MpsGraphTensor {
    let shape = Shape::from([rows, 1024]);
    let value = random::random("random", shape, burn_backend::Distribution::Default, DType::F32);
    Runtime::get().flush(current().expect("the thread is not ending"), Cut::Everything, FlushReason::Sync);
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

#[test]
fn a_node_that_stays_keeps_what_it_reads_of_those_that_are_cut() {
    let recording = current().expect("the thread is not ending");
    let first = memory::zeros(Shape::from([2, 3]), DType::F32);
    let serial = first.value.0.made_by();
    let second = slice(first, &[Slice::full(), Slice::new(0, Some(2), 1)]);
    let segment = recording.cut(Cut::Upto(serial), &Arc::default()).expect("something was recorded");
    assert_eq!((segment.nodes.len(), &segment.wanted[..]), (1, &[true][..]), "only a node asks for it");
    let left = recording.cut(Cut::Everything, &Arc::default()).expect("a node has stayed");
    let given = left.nodes[0].inputs[0].given().expect("its node has left");
    assert!(Arc::ptr_eq(given, &segment.nodes[0].value));
    assert_eq!(Value::holders(given), 2, "the nodes that make and read it");
    drop(second);
}

#[test]
fn values_that_nobody_has_make_room_for_later_ones() {
    let recording = current().expect("the thread is not ending");
    let kept = memory::zeros(Shape::from([4]), DType::F32);
    let part = |at: isize| slice(kept.clone(), &[Slice::new(at, Some(at + 1), 1)]);
    let place = Arc::as_ptr(&part(0).value.0);
    let segment = recording.cut(Cut::Everything, &Arc::default()).expect("something was recorded");
    assert_eq!(&segment.wanted[..], [true, false]);
    recording.take_back(segment.nodes);
    assert_eq!(recording.lock().nodes.places(), 2);
    // In the place of the one that a tensor has.
    let first = part(1);
    assert_ne!(Arc::as_ptr(&first.value.0), Arc::as_ptr(&kept.value.0));
    let later = part(1);
    assert_eq!((Arc::as_ptr(&later.value.0), later.dims()), (place, &[1][..]));
    assert!(later.value.0.recorded_in().is_some());
    assert_eq!(Value::holders(&later.value.0), 2, "the tensor and the node");
    drop(recording.cut(Cut::Everything, &Arc::default()));
}

#[test]
fn pieces_end_at_the_same_ops_wherever_those_stand() {
    let recording = current().expect("the thread is not ending");
    // So many slices of other shapes, then what is alike: places from the end at which pieces begin.
    let begins = |others: usize| {
        let all = memory::zeros(Shape::from([100]), DType::F32);
        let part = |length: usize| drop(slice(all.clone(), &[Slice::new(0, Some(length as isize), 1)]));
        (0..others).for_each(|at| part(60 + at % 7));
        (0..50).for_each(|at| part(1 + at * at % 41));
        let nodes = recording.cut(Cut::Everything, &Arc::default()).expect("something was recorded").nodes;
        let begins: Vec<usize> = pieces(&nodes, 2).into_iter().map(|begin| nodes.len() - begin).collect();
        begins.into_iter().filter(|begin| *begin <= 40).collect::<Vec<_>>()
    };
    let expected = begins(0);
    assert!((4..=14).contains(&expected.len()), "{expected:?}");
    for others in [1, 2, 3, 10, 33] {
        assert_eq!(begins(others), expected, "behind {others} others");
    }
}

#[test]
fn of_a_long_segment_some_places_are_kept() {
    let recording = current().expect("the thread is not ending");
    let segment = |_| {
        for _ in 0..KEPT / 2 + 1 {
            drop(memory::zeros(Shape::from([2]), DType::F32));
        }
        recording.cut(Cut::Everything, &Arc::default()).expect("something was recorded").nodes
    };
    let nodes: Vec<_> = (0..2).flat_map(segment).collect();
    assert_eq!(nodes.len(), KEPT + 2);
    recording.take_back(nodes.into());
    assert_eq!(recording.lock().nodes.places(), KEPT);
}

#[test]
fn a_recording_goes_from_thread_to_thread_and_its_serial_numbers_go_on() {
    let record = |keeps: bool| {
        let thread = std::thread::spawn(move || {
            let made = memory::zeros(Shape::from([2]), DType::F32);
            (made.value.0.maker().expect("it was recorded"), keeps.then_some(made))
        });
        thread.join().expect("the thread has ended")
    };
    let before = Recording::all().len();
    let ((orphan, serial), kept) = record(true);
    let mut last: HashMap<*const Recording, u64> = HashMap::new();
    for _ in 0..1000 {
        let ((recording, serial), _) = record(false);
        assert!(!ptr::eq(recording, orphan), "a tensor still needs it");
        let earlier = last.insert(recording, serial);
        assert!(earlier.is_none_or(|earlier| earlier < serial));
    }
    // Other tests have threads of their own meanwhile.
    assert!(Recording::all().len() < before + 100);
    assert!(orphan.is_in_use() && orphan.waiting().0 == 1);
    drop(kept);
    assert!(!orphan.is_in_use() || orphan.next_serial() > serial + 1, "free, or another thread has it");
}
