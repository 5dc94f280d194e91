//! `MPSGraphArithmeticOps.h`: elementwise functions of one, two and three tensors. The complex ones are left out.
//!
//! MPSGraph has no kernels that round integers, and none that take the sign or the floored remainder of 64-bit ones.
//! Its elementwise kernels are a table per type; nobody has reported those for u16, u32 and u64, nor remainders and
//! bitwise functions of i64.
//! The functions that test for NaN or propagate it raise an exception on integers. The bitwise functions refuse bool,
//! and the logical ones give the operands' type.

use super::elementwise::{self, binary_method, unary_method};
use crate::ir::{BinaryOp, DType, ElementwiseOp, TensorType, UnaryOp};
use crate::mpsgraph::builder::{Accepts, Builder, refuse};
use crate::mpsgraph::shape::Shown;
use crate::objc::{Id, Method, Sel, This, method2, method3, method4};

/// The selectors of the header.
pub const METHODS: &[Method] = &[
    unary_method!("identityWithTensor:name:", Identity, Any),
    unary_method!("absoluteWithTensor:name:", Abs, Arithmetic),
    unary_method!("negativeWithTensor:name:", Neg, Arithmetic),
    unary_method!("exponentWithTensor:name:", Exp, Floats),
    unary_method!("logarithmWithTensor:name:", Log, Floats),
    unary_method!("squareWithTensor:name:", Square, Arithmetic),
    unary_method!("squareRootWithTensor:name:", Sqrt, Floats),
    unary_method!("reciprocalWithTensor:name:", Recip, Floats),
    unary_method!("sinWithTensor:name:", Sin, Floats),
    unary_method!("cosWithTensor:name:", Cos, Floats),
    unary_method!("tanWithTensor:name:", Tan, Floats),
    unary_method!("asinWithTensor:name:", Asin, Floats),
    unary_method!("acosWithTensor:name:", Acos, Floats),
    unary_method!("atanWithTensor:name:", Atan, Floats),
    unary_method!("sinhWithTensor:name:", Sinh, Floats),
    unary_method!("coshWithTensor:name:", Cosh, Floats),
    unary_method!("tanhWithTensor:name:", Tanh, Floats),
    unary_method!("asinhWithTensor:name:", Asinh, Floats),
    unary_method!("acoshWithTensor:name:", Acosh, Floats),
    unary_method!("atanhWithTensor:name:", Atanh, Floats),
    unary_method!("erfWithTensor:name:", Erf, Floats),
    unary_method!("ceilWithTensor:name:", Ceil, Floats),
    unary_method!("floorWithTensor:name:", Floor, Floats),
    unary_method!("rintWithTensor:name:", Rint, Floats),
    unary_method!("roundWithTensor:name:", Round, Floats),
    unary_method!("truncateWithTensor:name:", Trunc, Floats).since(13, 0),
    unary_method!("signWithTensor:name:", Sign, NoInt64),
    unary_method!("signbitWithTensor:name:", Signbit, NoInt64),
    unary_method!("notWithTensor:name:", Not, Any),
    unary_method!("bitwiseNOTWithTensor:name:", BitNot, Bits).since(13, 0),
    unary_method!("isNaNWithTensor:name:", IsNan, Floats),
    unary_method!("isInfiniteWithTensor:name:", IsInf, Floats),
    unary_method!("isFiniteWithTensor:name:", IsFinite, Floats),
    binary_method!("additionWithPrimaryTensor:secondaryTensor:name:", Add, Arithmetic),
    binary_method!("subtractionWithPrimaryTensor:secondaryTensor:name:", Sub, Arithmetic),
    method3("multiplicationWithPrimaryTensor:secondaryTensor:name:", multiplication),
    binary_method!("divisionWithPrimaryTensor:secondaryTensor:name:", Div, Arithmetic),
    binary_method!("moduloWithPrimaryTensor:secondaryTensor:name:", Mod, NoInt64),
    binary_method!("floorModuloWithPrimaryTensor:secondaryTensor:name:", FloorMod, NoInt64),
    method3("powerWithPrimaryTensor:secondaryTensor:name:", power),
    binary_method!("minimumWithPrimaryTensor:secondaryTensor:name:", Min, Arithmetic),
    binary_method!("maximumWithPrimaryTensor:secondaryTensor:name:", Max, Arithmetic),
    binary_method!("minimumWithNaNPropagationWithPrimaryTensor:secondaryTensor:name:", MinNan, Floats).since(12, 0),
    binary_method!("maximumWithNaNPropagationWithPrimaryTensor:secondaryTensor:name:", MaxNan, Floats).since(12, 0),
    binary_method!("atan2WithPrimaryTensor:secondaryTensor:name:", Atan2, Floats),
    binary_method!("equalWithPrimaryTensor:secondaryTensor:name:", Equal, Compared),
    binary_method!("notEqualWithPrimaryTensor:secondaryTensor:name:", NotEqual, Compared),
    binary_method!("lessThanWithPrimaryTensor:secondaryTensor:name:", Less, Compared),
    binary_method!("lessThanOrEqualToWithPrimaryTensor:secondaryTensor:name:", LessEqual, Compared),
    binary_method!("greaterThanWithPrimaryTensor:secondaryTensor:name:", Greater, Compared),
    binary_method!("greaterThanOrEqualToWithPrimaryTensor:secondaryTensor:name:", GreaterEqual, Compared),
    binary_method!("logicalANDWithPrimaryTensor:secondaryTensor:name:", And, Any),
    binary_method!("logicalORWithPrimaryTensor:secondaryTensor:name:", Or, Any),
    binary_method!("logicalXORWithPrimaryTensor:secondaryTensor:name:", Xor, Any),
    binary_method!("logicalXNORWithPrimaryTensor:secondaryTensor:name:", Xnor, Any),
    binary_method!("bitwiseANDWithPrimaryTensor:secondaryTensor:name:", BitAnd, Bits).since(13, 0),
    binary_method!("bitwiseORWithPrimaryTensor:secondaryTensor:name:", BitOr, Bits).since(13, 0),
    binary_method!("bitwiseXORWithPrimaryTensor:secondaryTensor:name:", BitXor, Bits).since(13, 0),
    binary_method!("bitwiseLeftShiftWithPrimaryTensor:secondaryTensor:name:", Shl, Bits).since(13, 0),
    binary_method!("bitwiseRightShiftWithPrimaryTensor:secondaryTensor:name:", Shr, Bits).since(13, 0),
    method4("selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:", select),
    method4("clampWithTensor:minValueTensor:maxValueTensor:name:", clamp),
];

extern "C-unwind" fn multiplication(this: This<'_>, cmd: Sel, primary: Id, secondary: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let a = builder.operand(primary, "primary", Accepts::Arithmetic);
    let b = builder.operand(secondary, "secondary", Accepts::Arithmetic);
    if builder.dtype(a) == DType::I64 && builder.are_same(a, b, 4) {
        refuse!(
            builder,
            "both operands are one Int64 value: the optimiser makes a square of them, of which 64-bit integers have no \
             kernel, and the run ends the process; compute x * (x - 1) + x"
        );
    }
    let value = builder.binary(BinaryOp::Mul, a, b);
    builder.tensor(value)
}

extern "C-unwind" fn power(this: This<'_>, cmd: Sel, primary: Id, secondary: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let base = builder.operand(primary, "primary", Accepts::Arithmetic);
    let exponent = builder.operand(secondary, "secondary", Accepts::Arithmetic);
    builder.int64_needs(base, (13, 2));
    let value = builder.binary(BinaryOp::Pow, base, exponent);
    builder.tensor(value)
}

extern "C-unwind" fn select(this: This<'_>, cmd: Sel, predicate: Id, on_true: Id, on_false: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let predicate = builder.value(predicate, "predicate");
    if builder.dtype(predicate) != DType::Bool {
        refuse!(
            builder,
            "the predicate tensor is {}; it must be Bool, so compare it with 0",
            Shown(builder.ty(predicate))
        );
    }
    let on_true = builder.operand(on_true, "true predicate", Accepts::Compared);
    let on_false = builder.operand(on_false, "false predicate", Accepts::Compared);
    let value = builder.select(predicate, on_true, on_false);
    builder.tensor(value)
}

extern "C-unwind" fn clamp(this: This<'_>, cmd: Sel, tensor: Id, min: Id, max: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.operand(tensor, "input", Accepts::Arithmetic);
    let min = builder.value(min, "minimum");
    let max = builder.value(max, "maximum");
    builder.same_dtype(x, min);
    builder.same_dtype(x, max);
    let bounds = builder.broadcast(builder.shape(min), builder.shape(max));
    let shape = builder.broadcast(builder.shape(x), &bounds);
    let dtype = builder.dtype(x);
    let value = builder.emit(ElementwiseOp::Clamp, [x, min, max], TensorType { dtype, shape });
    builder.tensor(value)
}
