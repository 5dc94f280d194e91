//! `MPSGraphActivationOps.h`. The gradient takes the function's input as its source.

use super::elementwise::{self, unary_method};
use crate::ir::{BinaryOp, UnaryOp, ValueId};
use crate::kernels::softmax::Softmax;
use crate::mpsgraph::builder::{Accepts, Builder, refuse};
use crate::mpsgraph::shape::Shown;
use crate::objc::{Id, Method, Sel, This, method2, method3};

/// The selectors of the header.
pub const METHODS: &[Method] = &[
    unary_method!("reLUWithTensor:name:", Relu, Arithmetic),
    unary_method!("sigmoidWithTensor:name:", Sigmoid, Floats),
    method3("reLUGradientWithIncomingGradient:sourceTensor:name:", relu_gradient),
    method3("softMaxWithTensor:axis:name:", soft_max),
];

extern "C-unwind" fn relu_gradient(this: This<'_>, cmd: Sel, incoming: Id, source: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let incoming = builder.operand(incoming, "incoming gradient", Accepts::Arithmetic);
    let source = builder.operand(source, "source", Accepts::Arithmetic);
    let (a, b) = (builder.ty(incoming), builder.ty(source));
    if a != b {
        refuse!(builder, "the incoming gradient is {}, the source {}: MPSGraph aborts", Shown(a), Shown(b));
    }
    let value = builder.binary(BinaryOp::ReluGrad, incoming, source);
    builder.tensor(value)
}

/// Sums of more 16-bit floats than this lose too much precision; PyTorch's attention stays below it.
const LONG_ROW: usize = 3068;

/// Refuses long rows of 16-bit floats.
fn short_rows(builder: &Builder, x: ValueId, axis: usize) {
    let (ty, extent) = (builder.ty(x), builder.shape(x)[axis]);
    if ty.dtype.size() == 2 && extent > LONG_ROW {
        refuse!(
            builder,
            "{} along axis {axis}: rows of more than {LONG_ROW} 16-bit floats lose precision, so cast them to Float32",
            Shown(ty)
        );
    }
}

extern "C-unwind" fn soft_max(this: This<'_>, cmd: Sel, tensor: Id, axis: isize, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.operand(tensor, "input", Accepts::Floats);
    builder.ranked(x, "input");
    let axis = builder.axis(axis as i64, builder.rank(x));
    short_rows(&builder, x, axis);
    let ty = builder.ty(x).clone();
    let value = builder.emit(Softmax { axis }, [x], ty);
    builder.tensor(value)
}
