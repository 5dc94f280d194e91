//! `MPSGraphRandomOps.h`: random numbers from a Philox state that is a tensor.
//!
//! A state is seven Int32: a 1, four words of counter, two of key. The seeded forms, whose seed is baked into the
//! compiled graph so that every run gives the same numbers, are left out, and so are constant states. Normal numbers
//! are composed by Box and Muller's transform (the other sampling method is refused), and each integer of two draws of
//! 16 bits.

use crate::ir::{BinaryOp, DType, Leaf, TensorType, UnaryOp, ValueId, ViewOp};
use crate::kernels::random::Random;
use crate::mpsgraph::builder::{Builder, refuse};
use crate::mpsgraph::random_op_descriptor::{self, Properties, RandomOpDescriptor};
use crate::mpsgraph::shape::{self, Shown};
use crate::mpsgraph::{dtype, random_op_descriptor::UNIFORM};
use crate::objc::{Id, Method, Sel, Strong, This, method3, method4};

/// The selectors of the header that exist here.
pub const METHODS: &[Method] = &[
    method4("randomTensorWithShape:descriptor:stateTensor:name:", random),
    method3("randomUniformTensorWithShape:stateTensor:name:", random_uniform),
];

const STATE_WORDS: usize = 7;

/// A message for random numbers while it is answered.
struct Draw<'a> {
    builder: Builder<'a>,
    shape: Vec<usize>,
    state: ValueId,
}

impl<'a> Draw<'a> {
    fn open(this: This<'a>, cmd: Sel, shape: Id, state: Id, name: Id) -> Self {
        let builder = Builder::open(this, cmd, name);
        let shape = builder.fixed_shape(shape);
        if shape.len() > 4 {
            refuse!(builder, "shape {shape:?}: random numbers are broken from rank 5 on; draw flat and reshape");
        }
        if let Err(reason) = shape::limits(&TensorType::new(DType::F32, shape.clone())) {
            refuse!(builder, "the result {reason}");
        }
        let state = builder.value(state, "state");
        if *builder.ty(state) != TensorType::new(DType::I32, [STATE_WORDS]) {
            refuse!(builder, "the state tensor is {}; it must be Int32 [7]", Shown(builder.ty(state)));
        }
        Self { builder, shape, state }
    }

    fn uniform(&mut self, shape: Vec<usize>, min: f32, max: f32) -> ValueId {
        let op = Random::Uniform { min: min.to_bits(), max: max.to_bits() };
        self.builder.emit(op, [self.state], TensorType { dtype: DType::F32, shape })
    }

    /// Two independent draws from `[0, 1)`.
    fn pair(&mut self) -> [ValueId; 2] {
        let doubled: Vec<usize> = [&[2], &self.shape[..]].concat();
        let both = self.uniform(doubled.clone(), 0.0, 1.0);
        [0, 1].map(|at| {
            let mut starts = vec![0; doubled.len()];
            starts[0] = at;
            let op = ViewOp::Slice { starts, strides: vec![1; doubled.len()] };
            let half = self.builder.emit(op, [both], TensorType::new(DType::F32, [&[1], &self.shape[..]].concat()));
            self.builder.reshape(half, self.shape.clone())
        })
    }

    fn with_number(&mut self, op: BinaryOp, x: ValueId, number: f64) -> ValueId {
        let number = self.builder.number(number, self.builder.dtype(x));
        self.builder.binary(op, x, number)
    }

    fn normal(&mut self, mean: f32, standard_deviation: f32) -> ValueId {
        let [radius, angle] = self.pair();
        // 1 - u is in (0, 1], so the logarithm is finite.
        let one = self.builder.number(1.0, DType::F32);
        let radius = self.builder.binary(BinaryOp::Sub, one, radius);
        let radius = self.builder.unary(UnaryOp::Log, radius);
        let radius = self.with_number(BinaryOp::Mul, radius, -2.0);
        let radius = self.builder.unary(UnaryOp::Sqrt, radius);
        let angle = self.with_number(BinaryOp::Mul, angle, std::f64::consts::TAU);
        let angle = self.builder.unary(UnaryOp::Cos, angle);
        let number = self.builder.binary(BinaryOp::Mul, radius, angle);
        let number = self.with_number(BinaryOp::Mul, number, f64::from(standard_deviation));
        self.with_number(BinaryOp::Add, number, f64::from(mean))
    }

    /// Integers from `min` to `max`, both included.
    fn integers(&mut self, min: isize, max: isize) -> ValueId {
        let words = self.pair().map(|half| {
            let scaled = self.with_number(BinaryOp::Mul, half, 65536.0);
            let whole = self.builder.unary(UnaryOp::Floor, scaled);
            self.builder.cast(whole, DType::U64)
        });
        let high = self.with_number(BinaryOp::Mul, words[0], 65536.0);
        let word = self.builder.binary(BinaryOp::Add, high, words[1]);
        // The range has 2^32 numbers at most, so the product fits 64 bits.
        let product = self.with_number(BinaryOp::Mul, word, (max - min + 1) as f64);
        let offset = self.with_number(BinaryOp::Shr, product, 32.0);
        let offset = self.builder.cast(offset, DType::I64);
        let number = self.with_number(BinaryOp::Add, offset, min as f64);
        self.builder.cast(number, DType::I32)
    }

    /// The numbers and the state after them.
    fn finish(mut self, numbers: ValueId, draws_per_number: usize) -> Id {
        let elements = (self.shape.iter().product::<usize>() * draws_per_number) as u64;
        let ty = self.builder.ty(self.state).clone();
        let state = self.builder.emit(Random::State { elements }, [self.state], ty);
        self.builder.tensor_array(&[numbers, state])
    }
}

extern "C-unwind" fn random_uniform(this: This<'_>, cmd: Sel, shape: Id, state: Id, name: Id) -> Id {
    let mut draw = Draw::open(this, cmd, shape, state, name);
    let numbers = draw.uniform(draw.shape.clone(), 0.0, 1.0);
    draw.finish(numbers, 1)
}

extern "C-unwind" fn random(this: This<'_>, cmd: Sel, shape: Id, descriptor: Id, state: Id, name: Id) -> Id {
    let mut draw = Draw::open(this, cmd, shape, state, name);
    let descriptor = Strong::retain(descriptor);
    let Some(properties) = descriptor.try_state::<RandomOpDescriptor>() else {
        refuse!(draw.builder, "the descriptor is {}", descriptor.id().class_name());
    };
    let asked: Properties = *properties.get();
    match (asked.distribution, asked.dtype) {
        (UNIFORM, DType::I32) => {
            let in_range = |bound: isize| i32::try_from(bound).is_ok();
            let (min, max) = (asked.min_integer, asked.max_integer);
            if min > max || !in_range(min) || !in_range(max) {
                refuse!(draw.builder, "integers from {min} to {max}: the range must be Int32's, and not empty");
            }
            let numbers = draw.integers(min, max);
            draw.finish(numbers, 2)
        }
        (UNIFORM, DType::F32 | DType::F16) => {
            let (min, max) = (asked.min, asked.max);
            if !(min < max && (max - min).is_finite()) {
                refuse!(draw.builder, "numbers from {min} to {max}: the range must be finite, and not empty");
            }
            let mut numbers = draw.uniform(draw.shape.clone(), min, max);
            if asked.dtype != DType::F32 {
                // Rounding to 16 bits must not reach the end of the range.
                numbers = draw.builder.cast(numbers, asked.dtype);
                let last = Leaf::Splat(dtype::below(max, asked.dtype));
                let last = draw.builder.emit(last, [], TensorType::new(asked.dtype, []));
                numbers = draw.builder.binary(BinaryOp::Min, numbers, last);
            }
            draw.finish(numbers, 1)
        }
        (random_op_descriptor::NORMAL, DType::F32 | DType::F16)
            if asked.sampling_method != random_op_descriptor::BOX_MULLER =>
        {
            refuse!(
                draw.builder,
                "normal numbers by the inverse of the distribution are NaN about once in 2^23: sample by Box and Muller"
            )
        }
        (random_op_descriptor::NORMAL, DType::F32 | DType::F16) => {
            let numbers = draw.normal(asked.mean, asked.standard_deviation);
            let numbers = draw.builder.cast(numbers, asked.dtype);
            draw.finish(numbers, 2)
        }
        (UNIFORM | random_op_descriptor::NORMAL, other) => refuse!(
            draw.builder,
            "{} random numbers; Float32 and Float16 are documented, and Int32 for the uniform distribution",
            dtype::name(other)
        ),
        _ => refuse!(draw.builder, "the truncated normal distribution is not supported here"),
    }
}
