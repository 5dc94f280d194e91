//! Ops of floats.

use test_support::BOOL;

use super::Grower;
use crate::program::{Float, Function, Id, Move, Number, Op, Window};
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
            13 => self.pool(x),
            _ => self.convolution(x),
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

    /// The elements of `x` as images, if it has not many.
    fn images(&mut self, x: Id) -> Option<Id> {
        if !(1..self.largest / 8).contains(&self.count(x)) {
            return None;
        }
        if self.steps[x].shape.len() == 4 {
            return Some(x);
        }
        let shape = self.split(self.count(x), 4);
        Some(self.push(Op::Move(Move::Reshape(shape.clone())), vec![x], shape, self.steps[x].dtype))
    }

    /// A window of at most these extents.
    fn window(&mut self, extents: [usize; 2]) -> Window {
        let size = extents.map(|n| 1 + self.random.below(n.min(3)));
        let stride = [(); 2].map(|()| 1 + self.random.below(2));
        let padding = size.map(|n| self.random.below(n / 2 + 1));
        Window { size, stride, padding, dilation: [1, 1], groups: 1 }
    }

    fn pool(&mut self, x: Id) {
        let Some(x) = self.images(x) else { return };
        let shape = self.shape_of(x);
        let window = self.window([shape[2], shape[3]]);
        let op = if self.random.one_in(2) { Float::AvgPool2d(window) } else { Float::MaxPool2d(window) };
        let extents = window.extents([shape[2], shape[3]]);
        self.push(Op::Float(op), vec![x], vec![shape[0], shape[1], extents[0], extents[1]], self.steps[x].dtype);
    }

    fn convolution(&mut self, x: Id) {
        let Some(x) = self.images(x) else { return };
        let (shape, dtype) = (self.shape_of(x), self.steps[x].dtype);
        let [channels, height, width] = [shape[1], shape[2], shape[3]];
        let mut window = self.window([height, width]);
        window.groups = if self.random.one_in(3) { channels } else { 1 };
        let columns = 1 + self.random.below(3);
        let (op, weight, out, extents) = if self.random.one_in(3) {
            let back = |i: usize| (shape[2 + i] - 1) * window.stride[i] + window.size[i];
            let extents = [0, 1].map(|i| back(i) - (2 * window.padding[i]).min(back(i) - 1));
            window.padding = [0, 1].map(|i| (back(i) - extents[i]) / 2);
            let extents = [0, 1].map(|i| back(i) - 2 * window.padding[i]);
            (Float::ConvTranspose2d(window), [channels, columns], columns * window.groups, extents)
        } else {
            let fits = |i: usize| 2 * (window.size[i] - 1) < shape[2 + i];
            window.dilation = [0, 1].map(|i| if fits(i) { 1 + self.random.below(2) } else { 1 });
            let out = columns * window.groups;
            (Float::Conv2d(window), [out, channels / window.groups], out, window.extents([height, width]))
        };
        let weight = self.twin(&[weight[0], weight[1], window.size[0], window.size[1]], dtype);
        self.push(Op::Float(op), vec![x, weight], vec![shape[0], out, extents[0], extents[1]], dtype);
    }
}

impl Window {
    /// The extents of what a window gives that goes over these.
    fn extents(&self, over: [usize; 2]) -> [usize; 2] {
        [0, 1].map(|i| (over[i] + 2 * self.padding[i] - self.dilation[i] * (self.size[i] - 1) - 1) / self.stride[i] + 1)
    }
}
