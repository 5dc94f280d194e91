//! Activation functions and their gradients, in as few nodes as their definitions take. Floats only.
//!
//! An op of more than one node is computed in f32 for 16-bit floats, and its result is rounded once.

use burn_backend::DType;

use super::arithmetic::{log1p_f32, scalar_for};
use super::{Operation, check_dim};
use crate::bridge::record;
use crate::dtype::Elements;
use crate::error::invalid;
use crate::ffi;
use crate::lowering::conversion::{computed_in, convert};
use crate::lowering::provenance::{Provenance, Reading, Reshapes};
use crate::lowering::rank::{reshaped, within_rank};
use crate::lowering::scalar::ScalarInput;
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// An activation function or a gradient of one; the result has the first operand's shape and dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ActivationOp {
    /// `[x]`
    Relu,
    /// `[output of relu, gradient]`
    ReluBackward,
    /// `[x]` and the slope below 0 as a scalar.
    LeakyRelu,
    /// `[x, slope below 0]`, which broadcast.
    Prelu,
    /// `[x]`: `x / 2 * (1 + erf(x / sqrt(2)))`.
    Gelu,
    /// `[x, gradient]`
    GeluBackward,
    /// `[x]`
    Sigmoid,
    /// `[output of sigmoid, gradient]`
    SigmoidBackward,
    /// `[x]` and alpha, beta as scalars: `alpha * x + beta` within 0 and 1.
    HardSigmoid,
    /// `[x]`
    LogSigmoid,
    /// `[x, gradient]`
    LogSigmoidBackward,
    /// `[x]`
    Softmax { dim: usize },
    /// `[x]`
    LogSoftmax { dim: usize },
    /// `[x]`: softmax of `-x`.
    Softmin { dim: usize },
}

/// `max(x, 0)`
pub(crate) fn relu(x: MpsGraphTensor) -> MpsGraphTensor {
    record_activation(ActivationOp::Relu, &[&x], &[])
}

/// Gradient of [`relu`] from its output.
pub(crate) fn relu_backward(output: MpsGraphTensor, grad: MpsGraphTensor) -> MpsGraphTensor {
    record_activation(ActivationOp::ReluBackward, &[&output, &grad], &[])
}

/// `x`, multiplied by `slope` below 0.
pub(crate) fn leaky_relu(x: MpsGraphTensor, slope: ScalarInput) -> MpsGraphTensor {
    record_activation(ActivationOp::LeakyRelu, &[&x], &[slope])
}

/// `x`, multiplied by `alpha` below 0; `alpha` broadcasts to `x`.
pub(crate) fn prelu(x: MpsGraphTensor, alpha: MpsGraphTensor) -> MpsGraphTensor {
    record_activation(ActivationOp::Prelu, &[&x, &alpha], &[])
}

/// `x` times the probability that a standard normal number is below it.
pub(crate) fn gelu(x: MpsGraphTensor) -> MpsGraphTensor {
    record_activation(ActivationOp::Gelu, &[&x], &[])
}

/// Gradient of [`gelu`].
pub(crate) fn gelu_backward(x: MpsGraphTensor, grad: MpsGraphTensor) -> MpsGraphTensor {
    record_activation(ActivationOp::GeluBackward, &[&x, &grad], &[])
}

/// `1 / (1 + exp(-x))`
pub(crate) fn sigmoid(x: MpsGraphTensor) -> MpsGraphTensor {
    record_activation(ActivationOp::Sigmoid, &[&x], &[])
}

/// Gradient of [`sigmoid`] from its output.
pub(crate) fn sigmoid_backward(output: MpsGraphTensor, grad: MpsGraphTensor) -> MpsGraphTensor {
    record_activation(ActivationOp::SigmoidBackward, &[&output, &grad], &[])
}

/// `alpha * x + beta` within 0 and 1.
pub(crate) fn hard_sigmoid(x: MpsGraphTensor, alpha: ScalarInput, beta: ScalarInput) -> MpsGraphTensor {
    record_activation(ActivationOp::HardSigmoid, &[&x], &[alpha, beta])
}

/// `log(sigmoid(x))`, precise for large `|x|`.
pub(crate) fn log_sigmoid(x: MpsGraphTensor) -> MpsGraphTensor {
    record_activation(ActivationOp::LogSigmoid, &[&x], &[])
}

/// Gradient of [`log_sigmoid`].
pub(crate) fn log_sigmoid_backward(x: MpsGraphTensor, grad: MpsGraphTensor) -> MpsGraphTensor {
    record_activation(ActivationOp::LogSigmoidBackward, &[&x, &grad], &[])
}

/// `exp(x)` over its sum along `dim`.
pub(crate) fn softmax(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    along(ActivationOp::Softmax { dim }, x, dim)
}

/// Logarithm of [`softmax`].
pub(crate) fn log_softmax(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    along(ActivationOp::LogSoftmax { dim }, x, dim)
}

/// [`softmax`] of `-x`.
pub(crate) fn softmin(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    along(ActivationOp::Softmin { dim }, x, dim)
}

fn along(op: ActivationOp, x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    check_dim(op.name(), dim, x.dims());
    record_activation(op, &[&x], &[])
}

fn record_activation(op: ActivationOp, inputs: &[&MpsGraphTensor], scalars: &[ScalarInput]) -> MpsGraphTensor {
    let output = inputs[0].ty();
    Elements::Floats.require(op.name(), inputs[0]);
    for input in inputs {
        if input.dtype() != output.dtype {
            let operands: Vec<_> = inputs.iter().map(|input| input.typed()).collect();
            invalid(op.name(), format!("operands {operands:?}; one float dtype is expected: cast one"));
        }
        let expands = op == ActivationOp::Prelu
            && input.dims().len() == output.shape.num_dims()
            && input.dims().iter().zip(output.shape.iter()).all(|(&a, &b)| a == b || a == 1);
        if input.shape != output.shape && !expands {
            let shape = output.shape.as_slice();
            invalid(op.name(), format!("shape {:?} does not go with {shape:?}", input.dims()));
        }
    }
    let scalars: Vec<_> = scalars.iter().map(|&scalar| scalar_for(scalar, output.dtype)).collect();
    record(op.into(), inputs, &scalars, output)
}

impl Operation for ActivationOp {
    fn name(&self) -> &'static str {
        match self {
            Self::Relu => "relu",
            Self::ReluBackward => "relu_backward",
            Self::LeakyRelu => "leaky_relu",
            Self::Prelu => "prelu",
            Self::Gelu => "gelu",
            Self::GeluBackward => "gelu_backward",
            Self::Sigmoid => "sigmoid",
            Self::SigmoidBackward => "sigmoid_backward",
            Self::HardSigmoid => "hard_sigmoid",
            Self::LogSigmoid => "log_sigmoid",
            Self::LogSigmoidBackward => "log_sigmoid_backward",
            Self::Softmax { .. } => "softmax",
            Self::LogSoftmax { .. } => "log_softmax",
            Self::Softmin { .. } => "softmin",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let x = &inputs[0].tensor;
        match self {
            // Apple does not document what reLUWithTensor: makes of NaN, and MPSGraph's plain maximum drops NaN.
            Self::Relu => {
                let zero = cx.constant(0.0, output.dtype);
                return cx.graph().maximum_with_nan_propagation(x, &zero);
            }
            // Where the output is NaN this passes the gradient, like Burn's default and PyTorch's threshold; MPSGraph's
            // reLUGradient… gives it where the output is above 0.
            Self::ReluBackward => {
                let (graph, zero) = (cx.graph(), cx.constant(0.0, output.dtype));
                return graph.select(&graph.less_than_or_equal_to(x, &zero), &zero, &inputs[1].tensor);
            }
            Self::Sigmoid => return cx.graph().sigmoid(x),
            Self::LeakyRelu
            | Self::Prelu
            | Self::Gelu
            | Self::GeluBackward
            | Self::SigmoidBackward
            | Self::HardSigmoid
            | Self::LogSigmoid
            | Self::LogSigmoidBackward
            | Self::Softmax { .. }
            | Self::LogSoftmax { .. }
            | Self::Softmin { .. } => {}
        }
        let wide = computed_in(output.dtype);
        let operands: Vec<_> = inputs.iter().map(|x| convert(cx, &x.tensor, output.dtype, wide)).collect();
        let result = self.lower_f32(cx, &operands, &output.shape);
        convert(cx, &result, wide, output.dtype)
    }

    fn widest(&self, _operands: &[&MpsGraphTensor], _output: &TensorType) -> usize {
        if matches!(self, Self::Relu) { 0 } else { 4 }
    }

    fn provenance(&self, _inputs: &[Provenance]) -> Provenance {
        match self {
            Self::Softmax { .. } | Self::Softmin { .. } => Provenance::SOFTMAX,
            Self::Relu
            | Self::ReluBackward
            | Self::LeakyRelu
            | Self::Prelu
            | Self::Gelu
            | Self::GeluBackward
            | Self::Sigmoid
            | Self::SigmoidBackward
            | Self::HardSigmoid
            | Self::LogSigmoid
            | Self::LogSigmoidBackward
            | Self::LogSoftmax { .. } => Provenance::NONE,
        }
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn widens(&self, dtype: DType, _readings: &[Reading<'_>], _output: &TensorType) -> bool {
        !matches!(self, Self::Relu | Self::ReluBackward | Self::Sigmoid) && computed_in(dtype) != dtype
    }

    fn reshapes(&self, rank: usize) -> Reshapes {
        match self {
            Self::Softmax { .. } | Self::LogSoftmax { .. } | Self::Softmin { .. } => Reshapes::within_rank(rank),
            Self::Relu
            | Self::ReluBackward
            | Self::LeakyRelu
            | Self::Prelu
            | Self::Gelu
            | Self::GeluBackward
            | Self::Sigmoid
            | Self::SigmoidBackward
            | Self::HardSigmoid
            | Self::LogSigmoid
            | Self::LogSigmoidBackward => Reshapes::Nothing,
        }
    }
}

impl ActivationOp {
    fn lower_f32(&self, cx: &Lowering<'_>, operands: &[ffi::Tensor], shape: &[usize]) -> ffi::Tensor {
        let x = &operands[0];
        let scalar = |index| cx.scalar(index, DType::F32);
        let graph = cx.graph();
        let constant = |value| cx.constant(value, DType::F32);
        match self {
            Self::Relu | Self::ReluBackward | Self::Sigmoid => {
                unreachable!("one node of any float dtype")
            }
            // Composed of other nodes, because Apple does not document leakyReLU for a slope above 1 or for NaN.
            Self::LeakyRelu => {
                graph.select(&graph.less_than(x, &constant(0.0)), &graph.multiplication(x, &scalar(0)), x)
            }
            Self::Prelu => graph.select(&graph.less_than(x, &constant(0.0)), &graph.multiplication(x, &operands[1]), x),
            Self::Gelu => graph.multiplication(x, &normal_cdf(cx, x)),
            Self::GeluBackward => {
                let exponent = graph.multiplication(&graph.square(x), &constant(-0.5));
                let scale = constant(std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2 / 2.0);
                let density = graph.multiplication(&graph.exponent(&exponent), &scale);
                let slope = graph.addition(&normal_cdf(cx, x), &graph.multiplication(x, &density));
                graph.multiplication(&operands[1], &slope)
            }
            Self::SigmoidBackward => {
                let complement = graph.subtraction(&constant(1.0), x);
                graph.multiplication(&graph.multiplication(&operands[1], x), &complement)
            }
            Self::HardSigmoid => {
                let line = graph.addition(&graph.multiplication(x, &scalar(0)), &scalar(1));
                let above = graph.maximum_with_nan_propagation(&line, &constant(0.0));
                graph.minimum_with_nan_propagation(&above, &constant(1.0))
            }
            Self::LogSigmoid => {
                // min(x, 0) - log(1 + exp(-|x|)): this neither overflows nor loses small terms.
                let rest = log1p_f32(cx, &graph.exponent(&graph.negative(&graph.absolute(x))));
                graph.subtraction(&graph.minimum(x, &constant(0.0)), &rest)
            }
            Self::LogSigmoidBackward => graph.multiplication(&operands[1], &graph.sigmoid(&graph.negative(x))),
            Self::Softmax { dim } => softmax_of(cx, x, shape, *dim),
            Self::Softmin { dim } => softmax_of(cx, &graph.negative(x), shape, *dim),
            Self::LogSoftmax { dim } => {
                // MPSGraph has no log-softmax, and the logarithm of its softmax would lose small probabilities.
                let (view, axis) = within_rank(shape, *dim);
                let x = reshaped(cx, x, shape, &view);
                let shifted = graph.subtraction(&x, &graph.reduction_maximum(&x, &[axis]));
                let sum = graph.reduction_sum(&graph.exponent(&shifted), &[axis]);
                let result = graph.subtraction(&shifted, &graph.logarithm(&sum));
                reshaped(cx, &result, &view, shape)
            }
        }
    }
}

/// `(1 + erf(x / sqrt(2))) / 2`, once for the function and its gradient.
fn normal_cdf(cx: &Lowering<'_>, x: &ffi::Tensor) -> ffi::Tensor {
    let graph = cx.graph();
    let constant = |value| cx.constant(value, DType::F32);
    cx.once("normal cdf", x, || {
        let erf = graph.erf(&graph.multiplication(x, &constant(std::f64::consts::FRAC_1_SQRT_2)));
        graph.multiplication(&graph.addition(&erf, &constant(1.0)), &constant(0.5))
    })
}

/// Softmax along `dim`. Matrix products read its value through a barrier; see [`crate::lowering::provenance`].
fn softmax_of(cx: &Lowering<'_>, x: &ffi::Tensor, shape: &[usize], dim: usize) -> ffi::Tensor {
    let (view, axis) = within_rank(shape, dim);
    let result = cx.graph().soft_max(&reshaped(cx, x, shape, &view), axis);
    reshaped(cx, &result, &view, shape)
}
