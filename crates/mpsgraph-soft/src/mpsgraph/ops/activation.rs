//! `MPSGraphActivationOps.h`. Gradients take the function's input as their source, the sigmoid's included.

use super::elementwise::{self, unary_method};
use crate::ir::{BinaryOp, DType, TensorType, UnaryOp, ValueId};
use crate::kernels::reduce::{Reduce, ReduceOp};
use crate::kernels::softmax::Softmax;
use crate::mpsgraph::builder::{Accepts, Builder, refuse};
use crate::mpsgraph::shape::Shown;
use crate::objc::{Id, Method, Sel, method2, method3, method4};

/// The selectors of the header.
pub const METHODS: &[Method] = &[
    unary_method!("reLUWithTensor:name:", Relu, Numbers),
    unary_method!("sigmoidWithTensor:name:", Sigmoid, Floats),
    method3("reLUGradientWithIncomingGradient:sourceTensor:name:", relu_gradient),
    method3("sigmoidGradientWithIncomingGradient:sourceTensor:name:", sigmoid_gradient),
    method3("softMaxWithTensor:axis:name:", soft_max),
    method4("softMaxGradientWithIncomingGradient:sourceTensor:axis:name:", soft_max_gradient),
    method3("leakyReLUWithTensor:alpha:name:", leaky_relu).since(12, 0),
    method3("leakyReLUWithTensor:alphaTensor:name:", leaky_relu_with_alpha_tensor).since(12, 0),
    method4("leakyReLUGradientWithIncomingGradient:sourceTensor:alphaTensor:name:", leaky_relu_gradient).since(12, 0),
];

/// Incoming gradient and source, of one type and shape.
fn gradient_operands(builder: &Builder, incoming: Id, source: Id, accepts: Accepts) -> [ValueId; 2] {
    let incoming = builder.operand(incoming, "incoming gradient", accepts);
    let source = builder.operand(source, "source", accepts);
    let (a, b) = (builder.ty(incoming), builder.ty(source));
    if a != b {
        refuse!(builder, "the incoming gradient is {}, the source {}: it aborts", Shown(a), Shown(b));
    }
    [incoming, source]
}

extern "C-unwind" fn relu_gradient(this: Id, cmd: Sel, incoming: Id, source: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let [incoming, source] = gradient_operands(&builder, incoming, source, Accepts::Numbers);
    let value = builder.binary(BinaryOp::ReluGrad, incoming, source);
    builder.tensor(value)
}

extern "C-unwind" fn sigmoid_gradient(this: Id, cmd: Sel, incoming: Id, source: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let [incoming, source] = gradient_operands(&builder, incoming, source, Accepts::Floats);
    let value = builder.binary(BinaryOp::SigmoidGrad, incoming, source);
    builder.tensor(value)
}

/// 16-bit floats lose too much in sums of more than so many; PyTorch's attention keeps below it.
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

fn emit_soft_max(builder: &mut Builder, x: ValueId, axis: usize) -> ValueId {
    let ty = builder.ty(x).clone();
    builder.emit(Softmax { axis }, [x], ty)
}

extern "C-unwind" fn soft_max(this: Id, cmd: Sel, tensor: Id, axis: isize, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.operand(tensor, "input", Accepts::Floats);
    builder.ranked(x, "input");
    let axis = builder.axis(axis as i64, builder.rank(x));
    short_rows(&builder, x, axis);
    let value = emit_soft_max(&mut builder, x, axis);
    builder.tensor(value)
}

extern "C-unwind" fn soft_max_gradient(this: Id, cmd: Sel, incoming: Id, source: Id, axis: isize, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let [incoming, source] = gradient_operands(&builder, incoming, source, Accepts::Floats);
    builder.ranked(source, "source");
    let axis = builder.axis(axis as i64, builder.rank(source));
    short_rows(&builder, source, axis);
    // Sums of 16-bit floats would be rounded at every step.
    let dtype = builder.dtype(source);
    let incoming = builder.cast(incoming, DType::F32);
    let source = builder.cast(source, DType::F32);
    let result = emit_soft_max(&mut builder, source, axis);
    let product = builder.binary(BinaryOp::Mul, incoming, result);
    let mut shape = builder.shape(source).to_vec();
    shape[axis] = 1;
    let reduce = Reduce { op: ReduceOp::Sum, axes: vec![axis] };
    let sum = builder.emit(reduce, [product], TensorType::new(DType::F32, shape));
    let difference = builder.binary(BinaryOp::Sub, incoming, sum);
    let gradient = builder.binary(BinaryOp::Mul, result, difference);
    let value = builder.cast(gradient, dtype);
    builder.tensor(value)
}

extern "C-unwind" fn leaky_relu(this: Id, cmd: Sel, tensor: Id, alpha: f64, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.operand(tensor, "input", Accepts::Floats);
    builder.not_negative_infinity(alpha, builder.dtype(x));
    let alpha = builder.number(alpha, builder.dtype(x));
    let value = builder.binary(BinaryOp::LeakyRelu, x, alpha);
    builder.tensor(value)
}

extern "C-unwind" fn leaky_relu_with_alpha_tensor(this: Id, cmd: Sel, tensor: Id, alpha: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.operand(tensor, "input", Accepts::Floats);
    let alpha = builder.value(alpha, "alpha");
    let value = builder.binary(BinaryOp::LeakyRelu, x, alpha);
    builder.tensor(value)
}

extern "C-unwind" fn leaky_relu_gradient(this: Id, cmd: Sel, incoming: Id, source: Id, alpha: Id, name: Id) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let [incoming, source] = gradient_operands(&builder, incoming, source, Accepts::Floats);
    let alpha = builder.value(alpha, "alpha");
    let zero = builder.number(0.0, builder.dtype(source));
    let positive = builder.binary(BinaryOp::Greater, source, zero);
    let scaled = builder.binary(BinaryOp::Mul, incoming, alpha);
    let value = builder.select(positive, incoming, scaled);
    builder.tensor(value)
}
