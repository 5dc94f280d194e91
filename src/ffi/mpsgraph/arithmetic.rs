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

    /// Number of set bits of integers.
    fn bitwise_population_count(x) = "bitwisePopulationCountWithTensor:name:", since (13, 0);

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

    /// 10 to the power of `x`.
    fn exponent_base10(x) = "exponentBase10WithTensor:name:", since (11, 0);

    /// 2 to the power of `x`.
    fn exponent_base2(x) = "exponentBase2WithTensor:name:", since (11, 0);

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

    /// Logarithm to base 10.
    fn logarithm_base10(x) = "logarithmBase10WithTensor:name:", since (11, 0);

    /// Logarithm to base 2.
    fn logarithm_base2(x) = "logarithmBase2WithTensor:name:", since (11, 0);

    /// `-x`.
    fn negative(x) = "negativeWithTensor:name:", since (11, 0);

    /// `!x` as a truth value, in the dtype of the operand.
    fn not(x) = "notWithTensor:name:", since (11, 0);

    /// `1 / x`.
    fn reciprocal(x) = "reciprocalWithTensor:name:", since (11, 0);

    /// `1 / sqrt(x)`, under the name that every system has; macOS 15 calls it reciprocal.
    fn reverse_square_root(x) = "reverseSquareRootWithTensor:name:", since (11, 0);

    /// To the nearest integer, halves to even.
    fn rint(x) = "rintWithTensor:name:", since (11, 0);

    /// To the nearest integer, halves away from 0.
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

    /// `a / b`, 0 where `b` is 0.
    fn division_no_nan(a, b)
        = "divisionNoNaNWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `a == b`, as bool.
    fn equal(a, b) = "equalWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// Remainder with the sign of the divisor.
    fn floor_modulo(a, b) = "floorModuloWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

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

    /// `!(a && b)`, in the dtype of the operands.
    fn logical_nand(a, b) = "logicalNANDWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

    /// `!(a || b)`, in the dtype of the operands.
    fn logical_nor(a, b) = "logicalNORWithPrimaryTensor:secondaryTensor:name:", since (11, 0);

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

    /// `min(max(x, low), high)`; NaN does not reliably stay.
    fn clamp(x, low, high) = "clampWithTensor:minValueTensor:maxValueTensor:name:", since (11, 0);

    /// `if p { t } else { f }`: bool predicate, branches of one dtype.
    fn select(p, t, f)
        = "selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:", since (11, 0);
}
