//! Reductions and means.

use mpsgraph_soft::objc::Id;

use super::messages::numbers;
use super::selectors::{POSITIONS, REDUCTIONS, TRUTHS, reduced, reduction};
use super::session::{I64, U8, Value, close, floats, halves, ints, run, run_one, value};
use crate::support::{Documented, Probed, Reported, rule};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;
const SUM_OF_AXES: &str = "reductionSumWithTensor:axes:name:";

/// A reduction along an axis.
fn along(name: &str, x: Value, axis: isize) -> Value {
    run_one(&[x], |graph, x| reduced(graph, name, x[0], axis))
}

fn sum_over(x: Value, axes: &[i64]) -> Value {
    run_one(&[x], |graph, x| graph.op(SUM_OF_AXES, &[x[0], numbers(axes)]))
}

fn counted() -> Value {
    ints(&[2, 1, 3], &[1, 2, 3, 4, 5, 6])
}

#[test]
fn over_an_axis() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    let cases: &[(&str, [f32; 2])] =
        &[("Sum", [6.0, -1.0]), ("Product", [6.0, -8.0]), ("Minimum", [1.0, -4.0]), ("Maximum", [3.0, 2.0])];
    let results = run(&[floats(&[2, 3], &[1.0, 2.0, 3.0, 2.0, -4.0, 1.0])], |graph, x| {
        cases.iter().map(|(name, _)| reduced(graph, name, x[0], -1)).collect()
    });
    for ((_, wanted), result) in cases.iter().zip(&results) {
        assert_eq!(*result, floats(&[2, 1], wanted));
    }
}

#[test]
fn reduced_dimensions_stay_with_extent_1() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    assert_eq!(sum_over(counted(), &[0, 2]), ints(&[1, 1, 1], &[21]));
    assert_eq!(sum_over(counted(), &[0]), ints(&[1, 1, 3], &[5, 7, 9]));
}

#[test]
fn axes_count_from_the_end_and_may_repeat() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    assert_eq!(sum_over(counted(), &[-3]), ints(&[1, 1, 3], &[5, 7, 9]));
    assert_eq!(sum_over(counted(), &[2, 2, -1]), ints(&[2, 1, 1], &[6, 15]));
}

#[test]
fn nil_axes_are_all_axes() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    let all = run_one(&[counted()], |graph, x| graph.op(SUM_OF_AXES, &[x[0], Id::NIL]));
    assert_eq!(all, ints(&[1, 1, 1], &[21]));
}

#[test]
fn no_axes_give_the_operand() {
    let _test =
        rule(Probed("kern0x1b/charon probes on macOS 27.0: even a reduction to a truth value gives the operand"));
    for name in [REDUCTIONS, TRUTHS].concat() {
        let same = run_one(&[counted()], |graph, x| graph.op(&reduction(name), &[x[0], numbers(&[])]));
        assert_eq!(same, counted(), "{name}");
    }
}

fn with_nan() -> Value {
    floats(&[2, 3], &[1.0, NAN, 2.0, NAN, NAN, NAN])
}

#[test]
fn minimum_and_maximum_skip_nan() {
    let _test = rule(Probed(
        "kern0x1b/charon probes on macOS 27.0: nothing but NaN gives the infinity that the search begins with",
    ));
    close(&along("Minimum", with_nan(), 1), &[2, 1], &[1.0, INF]);
    close(&along("Maximum", with_nan(), 1), &[2, 1], &[2.0, -INF]);
}

#[test]
fn the_forms_that_propagate_nan_and_sums_keep_it() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    for name in ["MinimumPropagateNaN", "MaximumPropagateNaN", "Sum", "Product"] {
        close(&along(name, with_nan(), 1), &[2, 1], &[NAN, NAN]);
    }
}

#[test]
fn positions_skip_nan_and_are_negative_for_nothing_else() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0"));
    assert_eq!(along("ArgMaximum", with_nan(), 1), ints(&[2, 1], &[2, -1]));
    assert_eq!(along("ArgMinimum", with_nan(), 1), ints(&[2, 1], &[0, -1]));
}

#[test]
fn positions_are_of_the_first_of_equals() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0; zeros of either sign are equal"));
    let x = || floats(&[2, 4], &[4.0, 9.0, 4.0, 9.0, -0.0, 0.0, 0.0, -0.0]);
    assert_eq!(along("ArgMaximum", x(), 1), ints(&[2, 1], &[1, 0]));
    assert_eq!(along("ArgMinimum", x(), 1), ints(&[2, 1], &[0, 0]));
}

#[test]
fn positions_of_wide_integers_are_exact() {
    let _test = rule(Reported("pytorch/pytorch#92311 (old systems gave INT64_MIN)"));
    for (name, wanted) in std::iter::zip(POSITIONS, [1, 2]) {
        let x = value(I64, &[3], &[i64::MAX - 1, i64::MAX, i64::MIN]);
        assert_eq!(along(name, x, 0), ints(&[1], &[wanted]), "{name}");
    }
}

#[test]
fn truths_are_numbers_of_the_operands_type() {
    let _test = rule(Probed(
        "kern0x1b/charon probes on macOS 27.0: 0 or 1 in the operand's type; NaN is true, zeros of either sign are \
         false",
    ));
    let x = || floats(&[2, 2], &[NAN, NAN, -0.0, 3.0]);
    assert_eq!(along("And", x(), 1), floats(&[2, 1], &[1.0, 0.0]));
    assert_eq!(along("Or", x(), 1), floats(&[2, 1], &[1.0, 1.0]));
    let bytes = value(U8, &[2], &[0u8, 7]);
    assert_eq!(along("Or", bytes, 0), value(U8, &[1], &[1u8]));
}

#[test]
fn half_floats_accumulate_in_16_bits() {
    let _test = rule(Reported("pytorch/pytorch#136987: the sum overflows although the mean is a half float"));
    let mean =
        run_one(&[halves(&[2], &[65504.0, 65504.0])], |graph, x| graph.op("meanOfTensor:axes:name:", &[x[0], Id::NIL]));
    assert_eq!(mean, halves(&[1], &[INF]));
}

#[test]
fn extremes_of_half_floats() {
    let _test = rule(Documented("Apple's MPSGraphReductionOps.h: only the forms that propagate NaN keep it"));
    // The largest f16 and the next smaller one, and the two least that are not 0.
    let x = || halves(&[3, 4], &[65504.0, 65472.0, 6e-8, 1.2e-7, NAN, 2.0, -INF, -0.5, NAN, NAN, NAN, NAN]);
    assert_eq!(along("Maximum", x(), 1), halves(&[3, 1], &[65504.0, 2.0, -INF]));
    assert_eq!(along("Minimum", x(), 1), halves(&[3, 1], &[6e-8, -INF, INF]));
    for (name, first) in [("MaximumPropagateNaN", 65504.0), ("MinimumPropagateNaN", 6e-8)] {
        let kept = along(name, x(), 1).elements::<half::f16>();
        assert!(kept[0] == half::f16::from_f32(first) && kept[1].is_nan() && kept[2].is_nan(), "{name}: {kept:?}");
    }
    assert_eq!(along("ArgMaximum", x(), 1), ints(&[3, 1], &[0, 1, -1]));
    assert_eq!(along("ArgMinimum", x(), 1), ints(&[3, 1], &[2, 2, -1]));
    assert_eq!(along("And", x(), 1), halves(&[3, 1], &[1.0, 1.0, 1.0]));
    assert_eq!(along("Or", halves(&[2, 2], &[0.0, -0.0, 0.0, 6e-8]), 1), halves(&[2, 1], &[0.0, 1.0]));
}

#[test]
fn means_of_integers_are_truncated() {
    let _test = rule(Probed("kern0x1b/charon probes on macOS 27.0: (-1, 2) of rows whose means are -1.5 and 2.75"));
    let means = run_one(&[ints(&[2, 4], &[-3, -2, -1, 0, 2, 2, 3, 4])], |graph, x| {
        graph.op("meanOfTensor:axes:name:", &[x[0], numbers(&[1])])
    });
    assert_eq!(means, ints(&[2, 1], &[-1, 2]));
}

#[test]
fn means() {
    let _test = rule(Documented("Apple's MPSGraphNormalizationOps.h"));
    let mean = run_one(&[floats(&[2, 2], &[1.0, 3.0, 2.0, 10.0])], |graph, x| {
        graph.op("meanOfTensor:axes:name:", &[x[0], numbers(&[1])])
    });
    assert_eq!(mean, floats(&[2, 1], &[2.0, 6.0]));
}
