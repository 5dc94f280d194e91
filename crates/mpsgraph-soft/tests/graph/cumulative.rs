//! Running sums, products and extremes.

use super::session::{Value, floats, halves, ints, run_one};
use crate::support::{Documented, rule};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// A scan along an axis.
fn along(name: &str, x: Value, axis: isize) -> Value {
    run_one(&[x], |graph, x| graph.axis_op(&format!("cumulative{name}WithTensor:axis:name:"), x[0], axis))
}

#[test]
fn every_step_is_in_the_result() {
    let _test = rule(Documented("Apple's MPSGraphCumulativeOps.h: inclusive, from the first element on"));
    let x = || ints(&[2, 3], &[2, -1, 3, 0, 5, 4]);
    assert_eq!(along("Sum", x(), 1), ints(&[2, 3], &[2, 1, 4, 0, 5, 9]));
    assert_eq!(along("Product", x(), -1), ints(&[2, 3], &[2, -2, -6, 0, 0, 0]));
    assert_eq!(along("Minimum", x(), 1), ints(&[2, 3], &[2, -1, -1, 0, 0, 0]));
    assert_eq!(along("Maximum", x(), 0), ints(&[2, 3], &[2, -1, 3, 2, 5, 4]));
}

#[test]
fn extremes_skip_nan() {
    let _test = rule(Documented("Apple's MPSGraphCumulativeOps.h names no form that propagates NaN"));
    let x = [NAN, 3.0, NAN, -2.0, 5.0];
    for of in [floats, halves] {
        assert_eq!(along("Minimum", of(&[5], &x), 0), of(&[5], &[INF, 3.0, 3.0, -2.0, -2.0]));
        assert_eq!(along("Maximum", of(&[5], &x), 0), of(&[5], &[-INF, 3.0, 3.0, 3.0, 5.0]));
    }
}

#[test]
fn half_floats_accumulate_in_16_bits() {
    let _test = rule(Documented("Apple's MPSGraphCumulativeOps.h: the result has the operand's type"));
    // 2049 is no f16: each step rounds to the even neighbour, which is the number before it.
    assert_eq!(along("Sum", halves(&[3], &[2048.0, 1.0, 1.0]), 0), halves(&[3], &[2048.0, 2048.0, 2048.0]));
    assert_eq!(along("Product", halves(&[3], &[65504.0, 2.0, 0.5]), 0), halves(&[3], &[65504.0, INF, INF]));
}
