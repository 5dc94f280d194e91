//! Casts: by value, and by bits.
//!
//! Casts from floats to integers saturate; casts between integers wrap; a cast of a cast loses no integers. Systems
//! have differed in what they make of floats and constants as Bool, so these casts are refused.

use crate::ir::{DType, TensorType, ValueId, ViewOp};
use crate::mpsgraph::builder::{Builder, refuse};
use crate::mpsgraph::shape::Shown;
use crate::objc::{Id, Method, Sel, This, method3};

/// Casting selectors.
pub const METHODS: &[Method] = &[
    method3("castTensor:toType:name:", cast).since(12, 0),
    method3("reinterpretCastTensor:toType:name:", reinterpret_cast).since(13, 2),
];

extern "C-unwind" fn cast(this: This<'_>, cmd: Sel, tensor: Id, data_type: u32, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    let dtype = builder.dtype_of_code(data_type);
    let from = builder.dtype(x);
    if dtype == DType::Bool && from != DType::Bool && (from.is_float() || builder.is_constant(x)) {
        refuse!(
            builder,
            "{} to Bool has given 255 for 1 and 0 for more than 1: compare it with 0",
            Shown(builder.ty(x))
        );
    }
    let value = builder.cast(joined(&builder, x, dtype), dtype);
    builder.tensor(value)
}

/// What a cast of `x` to `dtype` reads. MPSGraph's compiler makes one cast of two; so here, but from floats to floats,
/// which only miss a rounding, or that an integer's zero has no sign.
fn joined(builder: &Builder<'_>, x: ValueId, dtype: DType) -> ValueId {
    let Some(of) = builder.read_by_cast(x) else { return x };
    if builder.dtype(of).is_float() && dtype.is_float() { x } else { of }
}

extern "C-unwind" fn reinterpret_cast(this: This<'_>, cmd: Sel, tensor: Id, data_type: u32, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.value(tensor, "input");
    builder.ranked(x, "input");
    let dtype = builder.dtype_of_code(data_type);
    let from = builder.ty(x);
    if from.dtype == DType::Bool || dtype == DType::Bool {
        refuse!(builder, "bits of Bool cannot be reinterpreted: the compiler crashes");
    }
    let mut shape = from.shape.clone();
    let last = shape.last_mut().expect("rank 0 was refused");
    let bytes = *last * from.dtype.size();
    if !bytes.is_multiple_of(dtype.size()) {
        refuse!(builder, "the last axis of {} is not a whole number of elements of the new type", Shown(from));
    }
    *last = bytes / dtype.size();
    let value = builder.emit(ViewOp::Reinterpret, [x], TensorType { dtype, shape });
    builder.tensor(value)
}
