//! `MPSGraphNormalizationOps.h`: mean and variance. The variance is the population's.
//!
//! On macOS 27 variances come out wrong now and then while other work runs, so there they are refused.

use super::reduction;
use crate::ir::{BinaryOp, DType, UnaryOp};
use crate::kernels::reduce::ReduceOp;
use crate::mpsgraph::builder::{Accepts, Builder, refuse};
use crate::objc::{Id, Method, Sel, method3, method4, version};

/// The selectors of the header that exist here.
pub const METHODS: &[Method] = &[
    method3("meanOfTensor:axes:name:", mean),
    method3("varianceOfTensor:axes:name:", variance),
    method4("varianceOfTensor:meanTensor:axes:name:", variance_with_mean),
];

extern "C-unwind" fn mean(this: Id, cmd: Sel, tensor: Id, axes: Id, name: Id) -> Id {
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
        let wide = if dtype == DType::U64 { DType::U64 } else { DType::I64 };
        let widened = builder.cast(x, wide);
        let sum = reduction::emit(&mut builder, ReduceOp::Sum, widened, axes);
        let count = builder.number(count, wide);
        let quotient = builder.binary(BinaryOp::Div, sum, count);
        builder.cast(quotient, dtype)
    };
    builder.tensor(value)
}

fn reliable(builder: &Builder) {
    if version::macos() >= (27, 0) {
        refuse!(builder, "variances are intermittently wrong on macOS 27: take the mean of the squared differences");
    }
}

extern "C-unwind" fn variance(this: Id, cmd: Sel, tensor: Id, axes: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    reliable(&builder);
    let x = builder.operand(tensor, "input", Accepts::ReducedFloats);
    builder.ranked(x, "input");
    let axes = reduction::axes_of(&builder, axes, builder.rank(x));
    let value = reduction::emit(&mut builder, ReduceOp::Variance, x, axes);
    builder.tensor(value)
}

extern "C-unwind" fn variance_with_mean(this: Id, cmd: Sel, tensor: Id, mean: Id, axes: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    reliable(&builder);
    let x = builder.operand(tensor, "input", Accepts::ReducedFloats);
    builder.ranked(x, "input");
    let mean = builder.value(mean, "mean");
    let axes = reduction::axes_of(&builder, axes, builder.rank(x));
    let difference = builder.binary(BinaryOp::Sub, x, mean);
    let square = builder.unary(UnaryOp::Square, difference);
    let value = reduction::emit(&mut builder, ReduceOp::Mean, square, axes);
    builder.tensor(value)
}
