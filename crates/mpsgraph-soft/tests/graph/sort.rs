//! Sorts.

use mpsgraph_soft::objc::Id;

use super::session::{F32, Graph, I32, I64, Value, floats, halves, ints, run_one, value};
use crate::support::{Assumed, Documented, Reported, msg, refused, rule};

pub const SORT: &str = "sortWithTensor:axis:descending:name:";

pub fn sorted(graph: &Graph, x: Id, axis: isize, descending: bool) -> Id {
    msg!(graph.id(), SORT, x => Id, axis => isize, descending => bool, Id::NIL => Id; Id)
}

fn sort(x: Value, axis: isize, descending: bool) -> Value {
    run_one(&[x], |graph, x| sorted(graph, x[0], axis, descending))
}

#[test]
fn along_an_axis_up_and_down() {
    let _test = rule(Documented("Apple's MPSGraphSortOps.h"));
    let x = || floats(&[2, 3], &[2.0, -1.0, 0.5, 3.0, 7.0, -5.0]);
    assert_eq!(sort(x(), 1, false), floats(&[2, 3], &[-1.0, 0.5, 2.0, -5.0, 3.0, 7.0]));
    assert_eq!(sort(x(), -1, true), floats(&[2, 3], &[2.0, 0.5, -1.0, 7.0, 3.0, -5.0]));
    assert_eq!(sort(x(), 0, true), floats(&[2, 3], &[3.0, 7.0, 0.5, 2.0, -1.0, -5.0]));
    assert_eq!(sort(halves(&[3], &[1.5, -2.0, 0.25]), 0, false), halves(&[3], &[-2.0, 0.25, 1.5]));
}

#[test]
fn integers_are_exact() {
    let _test = rule(Assumed(
        "pytorch/pytorch casts narrower integers to Int32 for sorts, so there are kernels of integers, which compare them",
    ));
    assert_eq!(sort(ints(&[3], &[16_777_217, -3, 16_777_216]), 0, false), ints(&[3], &[-3, 16_777_216, 16_777_217]));
    let wide = value(I64, &[3], &[i64::MAX, i64::MIN, i64::MAX - 1]);
    assert_eq!(sort(wide, 0, true), value(I64, &[3], &[i64::MAX, i64::MAX - 1, i64::MIN]));
}

#[test]
fn nan_goes_by_its_sign() {
    let _test = rule(Reported("pytorch/pytorch#116567: on macOS 13.5.1 NaN with the sign bit set is the lowest"));
    let nan = f32::NAN.copysign(1.0);
    let (up, down) = ([-nan, f32::NEG_INFINITY, 1.0, f32::INFINITY, nan], [1.0, nan, f32::INFINITY]);
    let bits = |value: Value| value.elements::<u32>();
    assert_eq!(bits(sort(floats(&[5], &[up[4], up[2], up[0], up[3], up[1]]), 0, false)), up.map(f32::to_bits));
    let expected = [nan, f32::INFINITY, 1.0].map(f32::to_bits);
    assert_eq!(bits(sort(floats(&[3], &down), 0, true)), expected);
}

#[test]
fn more_than_2_to_the_22_rows_are_refused() {
    let _test = rule(Reported(
        "pytorch/pytorch#183885: positions along the first axis of (3, 2^22 + 1); values come from the same kernel",
    ));
    let many = (1 << 22) + 1;
    for (extents, axis) in [([3, many], 0), ([many, 3], 1)] {
        let graph = Graph::new();
        let x = graph.placeholder(&extents, F32);
        refused(SORT, "4194305 rows at once", || sorted(&graph, x, axis, false));
    }
    let graph = Graph::new();
    let x = graph.placeholder(&[many], I32);
    sorted(&graph, x, 0, false);
}
