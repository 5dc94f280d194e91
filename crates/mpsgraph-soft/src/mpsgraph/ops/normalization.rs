//! `MPSGraphNormalizationOps.h`: the mean.

use super::reduction;
use crate::ir::{BinaryOp, DType, UnaryOp};
use crate::kernels::reduce::ReduceOp;
use crate::mpsgraph::builder::{Accepts, Builder};
use crate::objc::{Id, Method, Sel, This, method3};

/// The selectors of the header that exist here.
pub const METHODS: &[Method] = &[method3("meanOfTensor:axes:name:", mean)];

extern "C-unwind" fn mean(this: This<'_>, cmd: Sel, tensor: Id, axes: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.operand(tensor, "input", Accepts::Reduced);
    builder.int64_needs(x, reduction::INT64_SINCE);
    builder.ranked(x, "input");
    let axes = reduction::axes_of(&builder, axes, builder.rank(x));
    let dtype = builder.dtype(x);
    let value = if axes.is_empty() {
        builder.unary(UnaryOp::Identity, x)
    } else if dtype.is_float() {
        reduction::emit(&mut builder, ReduceOp::Mean, x, axes)
    } else {
        // Integer means truncate; the sum must not wrap in a narrow type.
        let count = axes.iter().map(|&axis| builder.shape(x)[axis] as f64).product();
        let widened = builder.cast(x, DType::I64);
        let sum = reduction::emit(&mut builder, ReduceOp::Sum, widened, axes);
        let count = builder.number(count, DType::I64);
        let quotient = builder.binary(BinaryOp::Div, sum, count);
        builder.cast(quotient, dtype)
    };
    builder.tensor(value)
}
