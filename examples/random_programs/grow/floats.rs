//! Ops of floats.

use burn::tensor::quantization::QuantValue::{Q2F, Q2S, Q4F, Q4S, Q8F, Q8S};
use burn::tensor::quantization::{QuantLevel, QuantScheme, QuantStore, QuantValue};
use test_support::BOOL;

use super::Grower;
use crate::program::{Float, Function, Id, Number, Op};
use crate::value::ValueKind;

/// Each function with a range that its operand mostly gets, where it is not defined everywhere or grows fast.
const FUNCTIONS: [(Function, Option<[i64; 2]>); 29] = [
    (Function::Acos, Some([-1, 1])),
    (Function::Acosh, Some([1, 100])),
    (Function::Asin, Some([-1, 1])),
    (Function::Asinh, None),
    (Function::Atan, None),
    (Function::Atanh, Some([-1, 1])),
    (Function::Ceil, None),
    (Function::Cos, Some([-100, 100])),
    (Function::Cosh, Some([-8, 8])),
    (Function::Erf, None),
    (Function::Exp, Some([-8, 8])),
    (Function::Floor, None),
    (Function::Gelu, Some([-2, 1000])),
    (Function::HardSigmoid, None),
    (Function::LeakyRelu, None),
    (Function::Log, Some([0, 1000])),
    (Function::Log1p, Some([-1, 1000])),
    (Function::LogSigmoid, None),
    (Function::PowfScalar, Some([0, 1000])),
    (Function::Recip, None),
    (Function::Relu, None),
    (Function::Round, None),
    (Function::Sigmoid, None),
    (Function::Sin, Some([-100, 100])),
    (Function::Sinh, Some([-8, 8])),
    (Function::Sqrt, Some([0, 1000])),
    (Function::Tan, Some([-100, 100])),
    (Function::Tanh, None),
    (Function::Trunc, None),
];

/// Every kind of integer.
const VALUES: [QuantValue; 6] = [Q8F, Q8S, Q4F, Q4S, Q2F, Q2S];

impl Grower {
    pub(super) fn grow_float(&mut self) {
        let x = self.of_kind(ValueKind::Float);
        match self.random.below(16) {
            0..6 => self.function(x),
            6 => {
                let op = if self.random.one_in(2) { Float::IsNan } else { Float::IsInf };
                self.elementwise(Op::Float(op), x, None, Some(BOOL));
            }
            7 => {
                let y = self.partner(x);
                self.elementwise(Op::Float(Float::Atan2), x, Some(y), None);
            }
            8 => {
                let dim = self.dim(x);
                let op = [Float::Softmax(dim), Float::Softmin(dim), Float::LogSoftmax(dim)];
                let op = op[self.random.below(3)].clone();
                self.elementwise(Op::Float(op), x, None, None);
            }
            9 => self.layer_norm(x),
            10 => self.cross(x),
            11 => self.prelu(x),
            12 => self.linear(x),
            13 if self.random.one_in(2) => self.quantized(x),
            13 => self.spectrum(x),
            14 => self.power_or_attention(x),
            _ => self.grow_image(x),
        }
    }

    fn function(&mut self, x: Id) {
        let (function, range) = self.random.pick(&FUNCTIONS);
        let x = match range {
            Some([low, high]) if self.plain || !self.random.one_in(4) => {
                self.elementwise(Op::Number(Number::Clamp(low, high)), x, None, None)
            }
            Some(_) | None => x,
        };
        self.elementwise(Op::Float(Float::Function(function)), x, None, None);
    }

    fn layer_norm(&mut self, x: Id) {
        let shape = self.shape_of(x);
        let (width, dtype) = (shape[shape.len() - 1], self.steps[x].dtype);
        // Of one or two elements little is left for a gradient but roundings.
        if shape.contains(&0) || self.plain && width < 3 {
            return;
        }
        let [gamma, beta] = [(); 2].map(|()| self.twin(&[width], dtype));
        self.push(Op::Float(Float::LayerNorm), vec![x, gamma, beta], shape, dtype);
    }

    fn cross(&mut self, x: Id) {
        let shape = self.shape_of(x);
        if let Some(dim) = shape.iter().position(|&n| n == 3) {
            let y = self.twin(&shape, self.steps[x].dtype);
            self.elementwise(Op::Float(Float::Cross(dim)), x, Some(y), None);
        }
    }

    fn prelu(&mut self, x: Id) {
        let shape = self.shape_of(x);
        let mut slopes = vec![1; shape.len()];
        if shape.len() > 1 && self.random.one_in(2) {
            slopes[1] = shape[1];
        }
        let slopes = self.twin(&slopes, self.steps[x].dtype);
        self.push(Op::Float(Float::Prelu), vec![x, slopes], shape, self.steps[x].dtype);
    }

    fn linear(&mut self, x: Id) {
        let (mut shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        let last = shape.len() - 1;
        if last == 0 {
            return;
        }
        let width = self.random.pick(&[1, 2, 3, 8]);
        let bias = self.random.one_in(2);
        let mut operands = vec![x, self.twin(&[shape[last], width], dtype)];
        if bias {
            operands.push(self.twin(&[width], dtype));
        }
        shape[last] = width;
        if shape.iter().product::<usize>() <= self.largest {
            self.push(Op::Float(Float::Linear { bias }), operands, shape, dtype);
        }
    }

    fn power_or_attention(&mut self, x: Id) {
        // Gradients of large powers and of weights that are nearly 0 are not compared.
        let x = if self.plain { self.elementwise(Op::Number(Number::Clamp(-2, 2)), x, None, None) } else { x };
        if self.random.one_in(2) {
            let shape = self.shape_of(x);
            let powers = self.indices(&shape, 4);
            self.push(Op::Float(Float::Powi), vec![x, powers], shape, self.steps[x].dtype);
        } else {
            self.attention_of(x);
        }
    }

    /// `x` as queries.
    fn attention_of(&mut self, x: Id) {
        let Some(x) = self.with_axes(x, 4) else { return };
        let (shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        let [keys, width] = [self.random.pick(&[1, 2, 3, 7, 16]), self.random.pick(&[1, 2, 4, 5])];
        let of = |rows: usize, columns: usize| vec![shape[0], shape[1], rows, columns];
        let scores = of(shape[2], keys);
        if [&scores, &of(shape[2], width)].iter().any(|shape| shape.iter().product::<usize>() > self.largest) {
            return;
        }
        let [masked, biased, capped] = [(); 3].map(|()| self.random.one_in(3));
        // A query that sees no key gives NaN or zeros.
        let causal = self.random.one_in(3) && !masked && keys >= shape[2];
        let mut operands = vec![x, self.twin(&of(keys, shape[3]), dtype), self.twin(&of(keys, width), dtype)];
        if masked {
            operands.push(self.twin(&scores, BOOL));
        }
        if biased {
            operands.push(self.twin(&scores, dtype));
        }
        let op = Float::Attention { masked, biased, causal, capped };
        self.push(Op::Float(op), operands, of(shape[2], width), dtype);
    }

    fn quantized(&mut self, x: Id) {
        let (mut shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        let last = shape.len() - 1;
        // It has no gradient.
        if self.plain || shape.contains(&0) {
            return;
        }
        let mut scheme = QuantScheme::default().with_value(self.random.pick(&VALUES)).with_store(QuantStore::Native);
        let is_block = (2..=32).contains(&shape[last]) && self.random.one_in(2);
        if is_block {
            scheme = scheme.with_level(QuantLevel::block([shape[last] as u8]));
        }
        // burn-flex turns blocks by way of floats.
        let turned = last > 0 && !is_block && self.random.one_in(2);
        if turned {
            shape.swap(last - 1, last);
        }
        self.push(Op::Float(Float::Quantized { scheme, turned }), vec![x], shape, dtype);
    }

    fn spectrum(&mut self, x: Id) {
        let (mut shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        // Autodiff has none.
        if self.plain || shape.contains(&0) {
            return;
        }
        let dim = self.dim(x);
        let samples = 1 << (1 + self.random.below(5));
        if self.random.one_in(2) {
            let imaginary = self.random.one_in(2);
            shape[dim] = samples / 2 + 1;
            if shape.iter().product::<usize>() <= self.largest {
                self.push(Op::Float(Float::Rfft { dim, samples, imaginary }), vec![x], shape, dtype);
            }
        } else {
            let imaginary = self.twin(&shape, dtype);
            shape[dim] = samples;
            if shape.iter().product::<usize>() <= self.largest {
                self.push(Op::Float(Float::Irfft { dim, samples }), vec![x, imaginary], shape, dtype);
            }
        }
    }
}
