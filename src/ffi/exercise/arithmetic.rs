//! `MPSGraphArithmeticOps.h`.

use std::f32::consts::{FRAC_PI_3, FRAC_PI_4, FRAC_PI_6, LN_2};

use super::Sheet;
use crate::ffi::Tensor;
use crate::ffi::mpsgraph::{MPSGraph, MPSGraphTensor};

type Unary = fn(&MPSGraph, &MPSGraphTensor) -> Tensor;
type Binary = fn(&MPSGraph, &MPSGraphTensor, &MPSGraphTensor) -> Tensor;

const NAN: f32 = f32::NAN;
const INFINITY: f32 = f32::INFINITY;

/// Functions of one float at one place.
const UNARY: [(Unary, f32, f64); 36] = [
    (MPSGraph::absolute, -2.5, 2.5),
    (MPSGraph::acos, 0.5, FRAC_PI_3 as f64),
    (MPSGraph::acosh, 1.25, LN_2 as f64),
    (MPSGraph::asin, 0.5, FRAC_PI_6 as f64),
    (MPSGraph::asinh, 0.75, LN_2 as f64),
    (MPSGraph::atan, 1.0, FRAC_PI_4 as f64),
    (MPSGraph::atanh, 0.6, LN_2 as f64),
    (MPSGraph::ceil, -1.5, -1.0),
    (MPSGraph::cos, 1.0, 0.540_302_31),
    (MPSGraph::cosh, LN_2, 1.25),
    (MPSGraph::erf, 0.5, 0.520_499_88),
    (MPSGraph::exponent, LN_2, 2.0),
    (MPSGraph::exponent_base10, 2.0, 100.0),
    (MPSGraph::exponent_base2, 3.0, 8.0),
    (MPSGraph::floor, -1.5, -2.0),
    (MPSGraph::identity, 7.0, 7.0),
    (MPSGraph::is_finite, INFINITY, 0.0),
    (MPSGraph::is_infinite, INFINITY, 1.0),
    (MPSGraph::is_nan, NAN, 1.0),
    (MPSGraph::logarithm, 2.0, LN_2 as f64),
    (MPSGraph::logarithm_base10, 1000.0, 3.0),
    (MPSGraph::logarithm_base2, 8.0, 3.0),
    (MPSGraph::negative, 2.0, -2.0),
    (MPSGraph::reciprocal, 4.0, 0.25),
    (MPSGraph::reverse_square_root, 4.0, 0.5),
    (MPSGraph::rint, 2.5, 2.0),
    (MPSGraph::round, 2.5, 3.0),
    (MPSGraph::sign, -3.0, -1.0),
    (MPSGraph::sin, FRAC_PI_6, 0.5),
    (MPSGraph::sinh, LN_2, 0.75),
    (MPSGraph::square, -3.0, 9.0),
    (MPSGraph::square_root, 9.0, 3.0),
    (MPSGraph::tan, FRAC_PI_4, 1.0),
    (MPSGraph::tanh, LN_2, 0.6),
    (MPSGraph::truncate, -1.5, -1.0),
    (MPSGraph::signbit, -1.0, 1.0),
];

/// Functions of two floats.
const BINARY: [(Binary, f32, f32, f64); 21] = [
    (MPSGraph::addition, 2.0, 3.0, 5.0),
    (MPSGraph::subtraction, 2.0, 3.0, -1.0),
    (MPSGraph::multiplication, 2.0, 3.0, 6.0),
    (MPSGraph::division, 3.0, 2.0, 1.5),
    (MPSGraph::division_no_nan, 3.0, 0.0, 0.0),
    (MPSGraph::power, 2.0, 3.0, 8.0),
    (MPSGraph::atan2, 1.0, -1.0, 2.356_194_49),
    (MPSGraph::modulo, -7.0, 3.0, -1.0),
    (MPSGraph::floor_modulo, -7.0, 3.0, 2.0),
    (MPSGraph::maximum, 2.0, NAN, 2.0),
    (MPSGraph::minimum, NAN, 2.0, 2.0),
    (MPSGraph::maximum_with_nan_propagation, 2.0, NAN, f64::NAN),
    (MPSGraph::minimum_with_nan_propagation, NAN, 2.0, f64::NAN),
    (MPSGraph::equal, 2.0, 2.0, 1.0),
    (MPSGraph::not_equal, 2.0, 2.0, 0.0),
    (MPSGraph::greater_than, 2.0, 2.0, 0.0),
    (MPSGraph::greater_than_or_equal_to, 2.0, 2.0, 1.0),
    (MPSGraph::less_than, 1.0, 2.0, 1.0),
    (MPSGraph::less_than_or_equal_to, 3.0, 2.0, 0.0),
    (MPSGraph::equal, NAN, NAN, 0.0),
    (MPSGraph::not_equal, NAN, NAN, 1.0),
];

/// Functions of the bits of two integers.
const BITWISE: [(Binary, i32, i32, f64); 5] = [
    (MPSGraph::bitwise_and, 0b1100, 0b1010, 8.0),
    (MPSGraph::bitwise_or, 0b1100, 0b1010, 14.0),
    (MPSGraph::bitwise_xor, 0b1100, 0b1010, 6.0),
    (MPSGraph::bitwise_left_shift, 3, 2, 12.0),
    (MPSGraph::bitwise_right_shift, -8, 1, -4.0),
];

/// Functions of two truth values, for (false, false), (false, true), (true, false) and (true, true).
const LOGICAL: [(Binary, [f64; 4]); 6] = [
    (MPSGraph::logical_and, [0.0, 0.0, 0.0, 1.0]),
    (MPSGraph::logical_nand, [1.0, 1.0, 1.0, 0.0]),
    (MPSGraph::logical_or, [0.0, 1.0, 1.0, 1.0]),
    (MPSGraph::logical_nor, [1.0, 0.0, 0.0, 0.0]),
    (MPSGraph::logical_xor, [0.0, 1.0, 1.0, 0.0]),
    (MPSGraph::logical_xnor, [1.0, 0.0, 0.0, 1.0]),
];

/// Floats.
pub(super) fn fill(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    for (function, x, expected) in UNARY {
        let x = sheet.floats(&[1], &[x]);
        sheet.gives(function(&graph, &x), &[1], &[expected]);
    }
    for (function, a, b, expected) in BINARY {
        let (a, b) = (sheet.floats(&[1], &[a]), sheet.floats(&[1], &[b]));
        sheet.gives(function(&graph, &a, &b), &[1], &[expected]);
    }
    let x = sheet.floats(&[3], &[-2.0, 0.5, 2.0]);
    let (low, high) = (sheet.floats(&[1], &[-1.0]), sheet.floats(&[1], &[1.0]));
    sheet.gives(graph.clamp(&x, &low, &high), &[3], &[-1.0, 0.5, 1.0]);
    let p = sheet.bools(&[3], &[true, false, true]);
    sheet.gives(graph.select(&p, &x, &low), &[3], &[-2.0, -1.0, 2.0]);
}

/// Integers and truth values.
pub(super) fn fill_integers(sheet: &mut Sheet) {
    let graph = sheet.graph.clone();
    for (function, a, b, expected) in BITWISE {
        let (a, b) = (sheet.integers(&[1], &[a]), sheet.integers(&[1], &[b]));
        sheet.gives(function(&graph, &a, &b), &[1], &[expected]);
    }
    let x = sheet.integers(&[2], &[0, 0b1011]);
    sheet.gives(graph.bitwise_not(&x), &[2], &[-1.0, -12.0]);
    sheet.gives(graph.bitwise_population_count(&x), &[2], &[0.0, 3.0]);
    let a = sheet.bools(&[4], &[false, false, true, true]);
    let b = sheet.bools(&[4], &[false, true, false, true]);
    for (function, expected) in LOGICAL {
        sheet.gives(function(&graph, &a, &b), &[4], &expected);
    }
    sheet.gives(graph.not(&a), &[4], &[1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn floats() {
    super::sheet::check(fill);
}

#[test]
fn integers_and_truth_values() {
    super::sheet::check(fill_integers);
}
