//! Slices, by bounds, by length and with masks.

use mpsgraph_soft::objc::Id;

use super::{counted, moved, refuses};
use crate::graph::messages::{alone, msg, numbers, refused};
use crate::graph::session::{F32, Graph, Value, ints, run_one};

const SLICE: &str = "sliceTensor:starts:ends:strides:name:";
const LENGTH: &str = "sliceTensor:dimension:start:length:name:";
const MASKED: &str = "sliceTensor:starts:ends:strides:startMask:endMask:squeezeMask:name:";

fn slice(from: &[usize], starts: &[i64], ends: &[i64], strides: &[i64]) -> Value {
    moved(from, SLICE, &[starts, ends, strides])
}

fn by_length(graph: &Graph, x: Id, dimension: usize, start: isize, length: isize) -> Id {
    msg!(
        graph.id(), LENGTH,
        x => Id, dimension => usize, start => isize, length => isize, Id::NIL => Id; Id
    )
}

fn masked(graph: &Graph, x: Id, arrays: [&[i64]; 3], masks: [u32; 3]) -> Id {
    let [starts, ends, strides] = arrays.map(numbers);
    msg!(
        graph.id(), MASKED, x => Id, starts => Id, ends => Id, strides => Id,
        masks[0] => u32, masks[1] => u32, masks[2] => u32, Id::NIL => Id; Id
    )
}

/// The slice of a 3x3 with these bounds and masks.
fn masked_slice(arrays: [&[i64]; 3], masks: [u32; 3]) -> Value {
    run_one(&[counted(&[3, 3])], |graph, x| masked(graph, x[0], arrays, masks))
}

#[track_caller]
fn mask_refused(arrays: [&[i64]; 3], masks: [u32; 3], reason: &str) {
    let graph = Graph::new();
    let x = graph.placeholder(&[3, 3], F32);
    refused(MASKED, reason, || masked(&graph, x, arrays, masks));
}

/// The middle of a 3x3.
const MIDDLE: [&[i64]; 3] = [&[1, 1], &[2, 2], &[1, 1]];

/// Apple's MPSGraphTensorShapeOps.h.
#[test]
fn slices_by_bounds_and_strides() {
    let _alone = alone();
    assert_eq!(slice(&[3, 3], &[1, 0], &[3, 3], &[1, 2]), ints(&[2, 2], &[3, 5, 6, 8]));
    assert_eq!(slice(&[5], &[0], &[-1], &[3]), ints(&[2], &[0, 3]));
}

/// kern0x1b/charon probes on macOS 27.0.
#[test]
fn slices_count_negative_starts_from_the_end_and_clip_ends() {
    let _alone = alone();
    assert_eq!(slice(&[5], &[-2], &[9], &[1]), ints(&[2], &[3, 4]));
    let result = run_one(&[counted(&[2, 3])], |graph, x| by_length(graph, x[0], 1, -2, 2));
    assert_eq!(result, ints(&[2, 2], &[1, 2, 4, 5]));
}

/// kern0x1b/charon probes on macOS 27.0.
#[test]
fn slices_go_backwards() {
    let _alone = alone();
    assert_eq!(slice(&[5], &[4], &[0], &[-2]), ints(&[2], &[4, 2]));
    assert_eq!(slice(&[5], &[-1], &[-6], &[-3]), ints(&[2], &[4, 1]));
}

/// kern0x1b/charon probes on macOS 27.0: "start value 9 does not fit dimension size".
#[test]
fn slice_refuses_a_start_outside() {
    let _alone = alone();
    refuses(&[5], SLICE, &[&[5], &[6], &[1]], "out of bounds");
    refuses(&[5], SLICE, &[&[-6], &[6], &[1]], "out of bounds");
}

/// kern0x1b/charon probes on macOS 27.0: a tensor of no elements, and "device may not be nil" when it is run.
#[test]
fn slice_refuses_an_empty_result() {
    let _alone = alone();
    refuses(&[5], SLICE, &[&[2], &[2], &[1]], "aborts when run");
    refuses(&[5], SLICE, &[&[2], &[4], &[-1]], "aborts when run");
}

/// kern0x1b/charon probes on macOS 27.0: "stride cannot be 0".
#[test]
fn slice_refuses_a_stride_of_0() {
    let _alone = alone();
    refuses(&[5], SLICE, &[&[2], &[4], &[0]], "stride 0");
}

/// doom-fish/mpsgraph-rs ops.rs.
#[test]
fn slice_refuses_another_number_of_bounds_than_dimensions() {
    let _alone = alone();
    let (two, one): (&[i64], &[i64]) = (&[1, 1], &[1]);
    for arrays in [[one, two, two], [two, one, two], [two, two, one]] {
        refuses(&[5, 5], SLICE, &arrays, "1 numbers for 2 dimensions");
    }
}

/// kern0x1b/charon probes on macOS 27.0: "length value 9 does not fit within the dimension size".
#[test]
fn slice_by_length_refuses_what_leaves_the_tensor() {
    let _alone = alone();
    for (dimension, start, length, reason) in [
        (2, 0, 1, "dimension 2 is not one of 2"),
        (1, 2, 2, "out of bounds"),
        (1, -4, 1, "out of bounds"),
        (1, 0, 0, "empty"),
        (1, 0, -1, "empty"),
    ] {
        let graph = Graph::new();
        let x = graph.placeholder(&[2, 3], F32);
        refused(LENGTH, reason, || by_length(&graph, x, dimension, start, length));
    }
}

/// kern0x1b/charon probes on macOS 27.0: the start is not read, and is 0.
#[test]
fn a_start_mask_begins_at_the_first() {
    let _alone = alone();
    assert_eq!(masked_slice(MIDDLE, [0, 0, 0]), ints(&[1, 1], &[4]));
    assert_eq!(masked_slice(MIDDLE, [1, 0, 0]), ints(&[2, 1], &[1, 4]));
    let unread: [&[i64]; 3] = [&[9, 1], &[2, 2], &[1, 1]];
    assert_eq!(masked_slice(unread, [1, 0, 0]), ints(&[2, 1], &[1, 4]));
}

/// kern0x1b/charon probes on macOS 27.0: the end is not read, and is beyond the last in the direction of the stride.
#[test]
fn an_end_mask_goes_to_the_end() {
    let _alone = alone();
    assert_eq!(masked_slice(MIDDLE, [0, 2, 0]), ints(&[1, 2], &[4, 5]));
    let backwards: [&[i64]; 3] = [&[1, 2], &[2, 2], &[1, -1]];
    assert_eq!(masked_slice(backwards, [0, 2, 0]), ints(&[1, 3], &[5, 4, 3]));
}

/// kern0x1b/charon probes on macOS 27.0.
#[test]
fn a_squeeze_mask_drops_the_dimension() {
    let _alone = alone();
    assert_eq!(masked_slice(MIDDLE, [0, 0, 1]), ints(&[1], &[4]));
    let row: [&[i64]; 3] = [&[1, 0], &[2, 3], &[1, 1]];
    assert_eq!(masked_slice(row, [0, 0, 1]), ints(&[3], &[3, 4, 5]));
}

/// kern0x1b/charon probes on macOS 27.0: two rows give the elements of the first.
#[test]
fn a_squeeze_mask_refuses_to_drop_more_than_one_element() {
    let _alone = alone();
    let rows: [&[i64]; 3] = [&[1, 0], &[3, 3], &[1, 1]];
    mask_refused(rows, [0, 0, 1], "all but the first are lost");
}

/// doom-fish/mpsgraph-rs ops.rs: what comes after aborts on rank 0.
#[test]
fn a_squeeze_mask_refuses_a_result_of_rank_0() {
    let _alone = alone();
    mask_refused(MIDDLE, [0, 0, 3], "leaves rank 0");
}

/// kern0x1b/charon probes on macOS 27.0 have it begin at 0, which a negative stride cannot leave; the header is silent.
#[test]
fn a_start_mask_refuses_a_negative_stride() {
    let _alone = alone();
    let backwards: [&[i64]; 3] = [&[1, 2], &[2, 0], &[1, -1]];
    mask_refused(backwards, [2, 0, 0], "where it starts is not documented");
}

/// Apple's MPSGraphTensorShapeOps.h: bit n of a mask is for dimension n.
#[test]
fn masks_refuse_bits_beyond_the_rank() {
    let _alone = alone();
    for masks in [[4, 0, 0], [0, 4, 0], [0, 0, 4]] {
        mask_refused(MIDDLE, masks, "beyond the 2 dimensions");
    }
}
