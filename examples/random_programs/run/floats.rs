//! Ops of floats.

use burn::tensor::backend::Backend;
use burn::tensor::ops::AttentionModuleOptions;
use burn::tensor::{FloatDType, TensorMetadata, get_device_settings};
use burn_backend::tensor::FloatTensor;

use crate::program::{Float, Function};
use crate::value::Value;

/// Added to the variance in layer norm.
pub const EPSILON: f64 = 1e-5;

pub fn apply<B: Backend>(op: &Float, mut operands: impl Iterator<Item = Value<B>>) -> Value<B> {
    let mut value = || operands.next().expect("the program has the op's operands");
    let x = value().float();
    let bools = get_device_settings::<B>(&B::float_device(&x)).bool_dtype;
    Value::Float(match *op {
        Float::Function(op) => function::<B>(op, x),
        Float::IsNan => return Value::Bool(B::float_is_nan(x, bools)),
        Float::IsInf => return Value::Bool(B::float_is_inf(x, bools)),
        Float::Atan2 => B::float_atan2(x, value().float()),
        Float::Softmax(dim) => B::softmax(x, dim),
        Float::Softmin(dim) => B::softmin(x, dim),
        Float::LogSoftmax(dim) => B::log_softmax(x, dim),
        Float::LayerNorm => {
            let gamma = value().float();
            B::layer_norm(x, gamma, Some(value().float()), EPSILON)
        }
        Float::Cross(dim) => B::float_cross(x, value().float(), dim),
        Float::Prelu => B::prelu(x, value().float()),
        Float::Linear { bias } => {
            let weight = value().float();
            B::linear(x, weight, bias.then(|| value().float()))
        }
        Float::Powi => B::float_powi(x, value().int()),
        Float::Attention { masked, biased, causal, capped } => {
            let [keys, values] = [value().float(), value().float()];
            let mask = masked.then(|| value().bool());
            let bias = biased.then(|| value().float());
            let softcap = capped.then_some(2.0);
            let options = AttentionModuleOptions { scale: None, softcap, is_causal: causal };
            B::attention(x, keys, values, mask, bias, options)
        }
        Float::Rfft { dim, samples, imaginary } => {
            let (real, other) = B::rfft(x, dim, Some(samples));
            if imaginary { other } else { real }
        }
        Float::Irfft { dim, samples } => B::irfft(x, value().float(), dim, Some(samples)),
        Float::Quantized { scheme, turned } => {
            let (rank, dtype) = (x.shape().num_dims(), x.dtype());
            let mut quantized = B::quantize_dynamic(B::float_cast(x, FloatDType::F32), &scheme);
            if turned {
                quantized = B::q_swap_dims(quantized, rank - 2, rank - 1);
            }
            B::float_cast(B::dequantize(quantized, FloatDType::F32), dtype.into())
        }
    })
}

fn function<B: Backend>(op: Function, x: FloatTensor<B>) -> FloatTensor<B> {
    match op {
        Function::Acos => B::float_acos(x),
        Function::Acosh => B::float_acosh(x),
        Function::Asin => B::float_asin(x),
        Function::Asinh => B::float_asinh(x),
        Function::Atan => B::float_atan(x),
        Function::Atanh => B::float_atanh(x),
        Function::Ceil => B::float_ceil(x),
        Function::Cos => B::float_cos(x),
        Function::Cosh => B::float_cosh(x),
        Function::Erf => B::float_erf(x),
        Function::Exp => B::float_exp(x),
        Function::Floor => B::float_floor(x),
        Function::Gelu => B::gelu(x),
        Function::HardSigmoid => B::hard_sigmoid(x, 0.25.into(), 0.5.into()),
        Function::LeakyRelu => B::leaky_relu(x, 0.25.into()),
        Function::Log => B::float_log(x),
        Function::Log1p => B::float_log1p(x),
        Function::LogSigmoid => B::log_sigmoid(x),
        Function::PowfScalar => B::float_powf_scalar(x, 1.5.into()),
        Function::Recip => B::float_recip(x),
        Function::Relu => B::relu(x),
        Function::Round => B::float_round(x),
        Function::Sigmoid => B::sigmoid(x),
        Function::Sin => B::float_sin(x),
        Function::Sinh => B::float_sinh(x),
        Function::Sqrt => B::float_sqrt(x),
        Function::Tan => B::float_tan(x),
        Function::Tanh => B::float_tanh(x),
        Function::Trunc => B::float_trunc(x),
    }
}
