//! Selectors that came with later systems: refused on older ones, and tried in a process that pretends to be 15.0.

use mpsgraph_soft::objc::{Id, version};

use super::messages::numbers;
use super::session::{F32, Graph, floats, run};
use crate::support::{Assumed, Documented, Probed, Reported, msg, passes_with, plain, refused, rule};

const UPDATE: &str = "sliceUpdateDataTensor:updateTensor:starts:ends:strides:name:";
const MASKED: &str = "sliceUpdateDataTensor:updateTensor:starts:ends:strides:startMask:endMask:squeezeMask:name:";

fn update(graph: &Graph, x: &[Id], arrays: [&[i64]; 3]) -> Id {
    let [starts, ends, strides] = arrays.map(numbers);
    msg!(
        graph.id(), UPDATE, x[0] => Id, x[1] => Id, starts => Id, ends => Id, strides => Id, Id::NIL => Id; Id
    )
}

fn masked(graph: &Graph, x: &[Id], arrays: [&[i64]; 3], masks: [u32; 3]) -> Id {
    let [starts, ends, strides] = arrays.map(numbers);
    msg!(
        graph.id(), MASKED, x[0] => Id, x[1] => Id, starts => Id, ends => Id, strides => Id,
        masks[0] => u32, masks[1] => u32, masks[2] => u32, Id::NIL => Id; Id
    )
}

fn is_at_least(major: u16, minor: u16) -> bool {
    version::macos() >= (major, minor)
}

fn is_newer() -> bool {
    is_at_least(15, 0)
}

#[test]
fn selectors_of_later_systems_are_refused() {
    let _test =
        rule(Reported("pytorch/pytorch MPSGraphSequoiaOps.h; dotnet/macios src/metalperformanceshadersgraph.cs"));
    if is_newer() {
        return;
    }
    let graph = Graph::new();
    let x = [graph.placeholder(&[2], F32), graph.placeholder(&[1], F32)];
    refused(UPDATE, "needs macOS 15.0", || update(&graph, &x, [&[0], &[1], &[1]]));
    if !is_at_least(14, 4) {
        refused(MASKED, "needs macOS 14.4", || masked(&graph, &x, [&[0], &[1], &[1]], [0; 3]));
    }
}

#[test]
fn on_a_newer_system() {
    let _test = plain();
    passes_with("MPSGRAPH_SOFT_MACOS", "15.0", &["--ignored", "graph::newer::"], 6);
}

#[test]
#[ignore = "run by `on_a_newer_system` with the environment it needs"]
fn slice_updates() {
    let _test = plain();
    assert!(is_newer());
    let operands = [floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), floats(&[2, 2], &[10.0, 20.0, 30.0, 40.0])];
    let results = run(&operands, |graph, x| {
        vec![
            update(graph, x, [&[0, 0], &[2, 3], &[1, 2]]),
            masked(graph, x, [&[1, 1], &[2, 3], &[1, 1]], [1, 0, 0]),
            update(graph, x, [&[-1, 2], &[-3, 0], &[-1, -1]]),
        ]
    });
    assert_eq!(results[0], floats(&[2, 3], &[10.0, 2.0, 20.0, 30.0, 5.0, 40.0]));
    assert_eq!(results[1], floats(&[2, 3], &[1.0, 10.0, 20.0, 4.0, 30.0, 40.0]));
    assert_eq!(results[2], floats(&[2, 3], &[1.0, 40.0, 30.0, 4.0, 20.0, 10.0]));
}

/// Checks that an update of the first of two floats is refused, without masks and with masks.
#[track_caller]
fn update_refused(update_shape: &[i64], code: u32, reason: &str) {
    let graph = Graph::new();
    let x = [graph.placeholder(&[2], F32), graph.placeholder(update_shape, code)];
    refused(UPDATE, reason, || update(&graph, &x, [&[0], &[1], &[1]]));
    masks_refused(update_shape, code, [0; 3], reason);
}

#[track_caller]
fn masks_refused(update_shape: &[i64], code: u32, masks: [u32; 3], reason: &str) {
    let graph = Graph::new();
    let x = [graph.placeholder(&[2], F32), graph.placeholder(update_shape, code)];
    refused(MASKED, reason, || masked(&graph, &x, [&[0], &[1], &[1]], masks));
}

#[test]
#[ignore = "run by `on_a_newer_system` with the environment it needs"]
fn slice_update_refuses_an_update_of_another_shape() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: the update's shape is the region's"));
    update_refused(&[2], F32, "region's shape [1]");
}

#[test]
#[ignore = "run by `on_a_newer_system` with the environment it needs"]
fn slice_update_refuses_an_end_mask() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    masks_refused(&[1], F32, [0, 1, 0], "end mask");
}

#[test]
#[ignore = "run by `on_a_newer_system` with the environment it needs"]
fn slice_update_refuses_a_squeeze_mask() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    masks_refused(&[1], F32, [0, 0, 1], "squeeze mask");
}

#[test]
#[ignore = "run by `on_a_newer_system` with the environment it needs"]
fn slice_update_refuses_a_start_mask_with_a_negative_stride() {
    let _test = rule(Assumed(
        "kern0x1b/charon probes on macOS 27.0 have it begin at 0, which a negative stride cannot leave; the header is \
         silent",
    ));
    let graph = Graph::new();
    let x = [graph.placeholder(&[2], F32), graph.placeholder(&[1], F32)];
    let reason = "where it starts is not documented";
    refused(MASKED, reason, || masked(&graph, &x, [&[1], &[0], &[-1]], [1, 0, 0]));
}

#[test]
#[ignore = "run by `on_a_newer_system` with the environment it needs"]
fn slice_update_refuses_a_mask_beyond_the_rank() {
    let _test = rule(Documented("Apple's MPSGraphTensorShapeOps.h: bit n of a mask is for dimension n"));
    masks_refused(&[1], F32, [2, 0, 0], "beyond the 1 dimensions");
}
