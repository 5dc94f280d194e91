//! `MPSGraphArithmeticOps.h`: operations on each element.
//!
//! Operands of one operation have equal dtypes and broadcast as in NumPy. Left out: complex numbers.

use crate::ffi::objc::graph_methods;

graph_methods! {
    "MPSGraphArithmeticOps.h";

    /// `|x|`
    fn absolute(x) = "absoluteWithTensor:name:", since (11, 0);

    /// Inverse cosine.
    fn acos(x) = "acosWithTensor:name:", since (11, 0);

    /// Inverse hyperbolic cosine.
    fn acosh(x) = "acoshWithTensor:name:", since (11, 0);

    /// Inverse sine.
    fn asin(x) = "asinWithTensor:name:", since (11, 0);

    /// Inverse hyperbolic sine.
    fn asinh(x) = "asinhWithTensor:name:", since (11, 0);

    /// Inverse tangent.
    fn atan(x) = "atanWithTensor:name:", since (11, 0);

    /// Inverse hyperbolic tangent.
    fn atanh(x) = "atanhWithTensor:name:", since (11, 0);

    /// `!x` of integers.
    fn bitwise_not(x) = "bitwiseNOTWithTensor:name:", since (13, 0);

    /// Upwards to an integer.
    fn ceil(x) = "ceilWithTensor:name:", since (11, 0);

    /// Cosine.
    fn cos(x) = "cosWithTensor:name:", since (11, 0);

    /// Hyperbolic cosine.
    fn cosh(x) = "coshWithTensor:name:", since (11, 0);

    /// Error function.
    fn erf(x) = "erfWithTensor:name:", since (11, 0);

    /// e to the power of `x`.
    fn exponent(x) = "exponentWithTensor:name:", since (11, 0);

    /// Downwards to an integer. Not for i64.
    fn floor(x) = "floorWithTensor:name:", since (11, 0);

    /// `x`.
    fn identity(x) = "identityWithTensor:name:", since (11, 0);

    /// Neither infinite nor NaN, as bool. Floats only.
    fn is_finite(x) = "isFiniteWithTensor:name:", since (11, 0);

    /// Infinite, as bool. Floats only.
    fn is_infinite(x) = "isInfiniteWithTensor:name:", since (11, 0);

    /// NaN, as bool. Floats only.
    fn is_nan(x) = "isNaNWithTensor:name:", since (11, 0);

    /// Natural logarithm.
    fn logarithm(x) = "logarithmWithTensor:name:", since (11, 0);

    /// `-x`.
    fn negative(x) = "negativeWithTensor:name:", since (11, 0);

    /// `!x` as a truth value, in the dtype of the operand.
    fn not(x) = "notWithTensor:name:", since (11, 0);

    /// `1 / x`.
    fn reciprocal(x) = "reciprocalWithTensor:name:", since (11, 0);

    /// To the nearest integer, halves to even.
    fn rint(x) = "rintWithTensor:name:", since (11, 0);

    /// To the nearest integer, halves away from zero.
    fn round(x) = "roundWithTensor:name:", since (11, 0);

    /// -1, 0 or 1; 0 for NaN. Not for i64.
    fn sign(x) = "signWithTensor:name:", since (11, 0);

    /// Whether the sign bit is set, in the dtype of the operand. Not for i64.
    fn signbit(x) = "signbitWithTensor:name:", since (11, 0);

    /// Sine.
    fn sin(x) = "sinWithTensor:name:", since (11, 0);

    /// Hyperbolic sine.
    fn sinh(x) = "sinhWithTensor:name:", since (11, 0);

    /// `x * x`.
    fn square(x) = "squareWithTensor:name:", since (11, 0);

    /// Square root.
    fn square_root(x) = "squareRootWithTensor:name:", since (11, 0);

    /// Tangent.
    fn tan(x) = "tanWithTensor:name:", since (11, 0);

    /// Hyperbolic tangent.
    fn tanh(x) = "tanhWithTensor:name:", since (11, 0);

    /// Towards 0 to an integer.
    fn truncate(x) = "truncateWithTensor:name:", since (13, 0);

    /// `a + b`.
    fn addition(a, b) = "additionWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// The angle of the point (`x`, `y`).
    fn atan2(y, x) = "atan2WithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a & b` of integers.
    fn bitwise_and(a, b) = "bitwiseANDWithPrimaryTensor:secondaryTensor:name:", since (13, 0);

    /// `a << b` of integers; the count is masked to the width.
    fn bitwise_left_shift(a, b)
        = "bitwiseLeftShiftWithPrimaryTensor:secondaryTensor:name:", since (13, 0);

    /// `a | b` of integers.
    fn bitwise_or(a, b) = "bitwiseORWithPrimaryTensor:secondaryTensor:name:", since (13, 0);

    /// `a >> b` of integers, arithmetic for signed ones; the count is masked to the width.
    fn bitwise_right_shift(a, b)
        = "bitwiseRightShiftWithPrimaryTensor:secondaryTensor:name:", since (13, 0);

    /// `a ^ b` of integers.
    fn bitwise_xor(a, b) = "bitwiseXORWithPrimaryTensor:secondaryTensor:name:", since (13, 0);

    /// `a / b`.
    fn division(a, b) = "divisionWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a == b`, as bool.
    fn equal(a, b) = "equalWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a > b`, as bool.
    fn greater_than(a, b) = "greaterThanWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a >= b`, as bool.
    fn greater_than_or_equal_to(a, b)
        = "greaterThanOrEqualToWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a < b`, as bool.
    fn less_than(a, b) = "lessThanWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a <= b`, as bool.
    fn less_than_or_equal_to(a, b)
        = "lessThanOrEqualToWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a && b`, in the dtype of the operands.
    fn logical_and(a, b) = "logicalANDWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a || b`, in the dtype of the operands.
    fn logical_or(a, b) = "logicalORWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a == b` as truth values, in the dtype of the operands.
    fn logical_xnor(a, b) = "logicalXNORWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a != b` as truth values, in the dtype of the operands.
    fn logical_xor(a, b) = "logicalXORWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// The larger; of NaN and a number, the number.
    fn maximum(a, b) = "maximumWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// The larger; NaN if either is. Floats only.
    fn maximum_with_nan_propagation(a, b)
        = "maximumWithNaNPropagationWithPrimaryTensor:secondaryTensor:name:", since (12, 0);

    /// The smaller; of NaN and a number, the number.
    fn minimum(a, b) = "minimumWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// The smaller; NaN if either is. Floats only.
    fn minimum_with_nan_propagation(a, b)
        = "minimumWithNaNPropagationWithPrimaryTensor:secondaryTensor:name:", since (12, 0);

    /// C's remainder: with the sign of the dividend.
    fn modulo(a, b) = "moduloWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a * b`.
    fn multiplication(a, b)
        = "multiplicationWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a != b`, as bool.
    fn not_equal(a, b) = "notEqualWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a` to the power of `b`.
    fn power(a, b) = "powerWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a - b`.
    fn subtraction(a, b) = "subtractionWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `if p { t } else { f }`: bool predicate, branches of one dtype.
    fn select(p, t, f)
        = "selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:", since (11, 0);
}

#[cfg(test)]
pub(super) use cases::exercise;

#[cfg(test)]
mod cases {
    use std::f32::consts::{FRAC_PI_3, FRAC_PI_4, FRAC_PI_6, LN_2};

    use crate::ffi::Tensor;
    use crate::ffi::exercise::{Cases, check};
    use crate::ffi::mpsgraph::{MPSGraph, MPSGraphTensor};

    type Unary = fn(&MPSGraph, &MPSGraphTensor) -> Tensor;
    type Binary = fn(&MPSGraph, &MPSGraphTensor, &MPSGraphTensor) -> Tensor;

    const NAN: f32 = f32::NAN;
    const INFINITY: f32 = f32::INFINITY;

    /// Functions of one float at one place.
    const UNARY: [(Unary, f32, f64); 31] = [
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
        (MPSGraph::floor, -1.5, -2.0),
        (MPSGraph::identity, 7.0, 7.0),
        (MPSGraph::is_finite, INFINITY, 0.0),
        (MPSGraph::is_infinite, INFINITY, 1.0),
        (MPSGraph::is_nan, NAN, 1.0),
        (MPSGraph::logarithm, 2.0, LN_2 as f64),
        (MPSGraph::negative, 2.0, -2.0),
        (MPSGraph::reciprocal, 4.0, 0.25),
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
    const BINARY: [(Binary, f32, f32, f64); 19] = [
        (MPSGraph::addition, 2.0, 3.0, 5.0),
        (MPSGraph::subtraction, 2.0, 3.0, -1.0),
        (MPSGraph::multiplication, 2.0, 3.0, 6.0),
        (MPSGraph::division, 3.0, 2.0, 1.5),
        (MPSGraph::power, 2.0, 3.0, 8.0),
        (MPSGraph::atan2, 1.0, -1.0, 2.356_194_49),
        (MPSGraph::modulo, -7.0, 3.0, -1.0),
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
    const LOGICAL: [(Binary, [f64; 4]); 4] = [
        (MPSGraph::logical_and, [0.0, 0.0, 0.0, 1.0]),
        (MPSGraph::logical_or, [0.0, 1.0, 1.0, 1.0]),
        (MPSGraph::logical_xor, [0.0, 1.0, 1.0, 0.0]),
        (MPSGraph::logical_xnor, [1.0, 0.0, 0.0, 1.0]),
    ];

    pub fn exercise() {
        check(floats);
        check(integers);
    }

    fn floats(cases: &mut Cases) {
        let graph = cases.graph.clone();
        for (function, x, expected) in UNARY {
            let x = cases.floats(&[1], &[x]);
            cases.gives(function(&graph, &x), &[1], &[expected]);
        }
        for (function, a, b, expected) in BINARY {
            let (a, b) = (cases.floats(&[1], &[a]), cases.floats(&[1], &[b]));
            cases.gives(function(&graph, &a, &b), &[1], &[expected]);
        }
        let (x, low) = (cases.floats(&[3], &[-2.0, 0.5, 2.0]), cases.floats(&[1], &[-1.0]));
        let p = cases.bools(&[3], &[true, false, true]);
        cases.gives(graph.select(&p, &x, &low), &[3], &[-2.0, -1.0, 2.0]);
    }

    /// Integers and truth values.
    fn integers(cases: &mut Cases) {
        let graph = cases.graph.clone();
        for (function, a, b, expected) in BITWISE {
            let (a, b) = (cases.integers(&[1], &[a]), cases.integers(&[1], &[b]));
            cases.gives(function(&graph, &a, &b), &[1], &[expected]);
        }
        let x = cases.integers(&[2], &[0, 0b1011]);
        cases.gives(graph.bitwise_not(&x), &[2], &[-1.0, -12.0]);
        let a = cases.bools(&[4], &[false, false, true, true]);
        let b = cases.bools(&[4], &[false, true, false, true]);
        for (function, expected) in LOGICAL {
            cases.gives(function(&graph, &a, &b), &[4], &expected);
        }
        cases.gives(graph.not(&a), &[4], &[1.0, 1.0, 0.0, 0.0]);
    }
}
