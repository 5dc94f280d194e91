//! Every operation on every dtype against scalar references in f64 (floats) and i128 (integers), over special values
//! and all pairs of them, at lengths 1 to 20 and across tiles.

use super::load::Geometry;
use super::*;
use crate::ir::{BinaryOp, DType, UnaryOp};
use crate::kernels::span::{Span, SpanMut};
use half::{bf16, f16};

mod binary;
mod cast;
mod half_floats;
mod pairs;
mod stepped;
mod unary;

const FLOATS: [DType; 3] = [DType::F32, DType::F16, DType::BF16];
const INTS: [DType; 8] = [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];

/// A basic operation, and what it gives.
type Case = (BinaryOp, fn(f32, f32) -> f32);

const BASIC: [Case; 6] = [
    (BinaryOp::Add, |a, b| a + b),
    (BinaryOp::Sub, |a, b| a - b),
    (BinaryOp::Mul, |a, b| flushed(a * b)),
    (BinaryOp::Div, |a, b| flushed(a / b)),
    (BinaryOp::MinNan, |a, b| if a.is_nan() | b.is_nan() { f32::NAN } else { a.min(b) }),
    (BinaryOp::MaxNan, |a, b| if a.is_nan() | b.is_nan() { f32::NAN } else { a.max(b) }),
];

/// A packed tensor that any dtype can be read from and written to by value.
#[derive(Clone, Debug)]
struct Data {
    dtype: DType,
    words: Vec<u64>,
    len: usize,
}

impl Data {
    fn new(dtype: DType, len: usize) -> Self {
        Self { dtype, words: vec![0; (len * dtype.size()).div_ceil(8)], len }
    }

    fn floats(dtype: DType, values: &[f32]) -> Self {
        let mut data = Self::new(dtype, values.len());
        for (i, &value) in values.iter().enumerate() {
            match dtype {
                DType::F32 => data.set(i, &value.to_ne_bytes()),
                DType::F16 => data.set(i, &f16::from_f32(value).to_ne_bytes()),
                DType::BF16 => data.set(i, &bf16::from_f32(value).to_ne_bytes()),
                DType::I8
                | DType::I16
                | DType::I32
                | DType::I64
                | DType::U8
                | DType::U16
                | DType::U32
                | DType::U64
                | DType::Bool => unreachable!("{dtype:?} is not a float"),
            }
        }
        data
    }

    /// The low bytes of each value.
    fn ints(dtype: DType, values: &[i128]) -> Self {
        let mut data = Self::new(dtype, values.len());
        for (i, value) in values.iter().enumerate() {
            data.set(i, &value.to_le_bytes()[..dtype.size()]);
        }
        data
    }

    fn set(&mut self, i: usize, bytes: &[u8]) {
        let size = self.dtype.size();
        bytemuck::cast_slice_mut::<u64, u8>(&mut self.words)[i * size..][..size].copy_from_slice(bytes);
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len * self.dtype.size()]
    }

    fn float(&self, i: usize) -> f32 {
        let size = self.dtype.size();
        let bytes = &self.bytes()[i * size..][..size];
        match self.dtype {
            DType::F32 => f32::from_ne_bytes(bytes.try_into().unwrap()),
            DType::F16 => f16::from_ne_bytes(bytes.try_into().unwrap()).to_f32(),
            DType::BF16 => bf16::from_ne_bytes(bytes.try_into().unwrap()).to_f32(),
            DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64
            | DType::Bool => unreachable!("{:?} is not a float", self.dtype),
        }
    }

    fn int(&self, i: usize) -> i128 {
        let size = self.dtype.size();
        let mut word = [0; 16];
        word[..size].copy_from_slice(&self.bytes()[i * size..][..size]);
        wrap(self.dtype, i128::from_le_bytes(word))
    }
}

/// The value of the low bits as `dtype`.
fn wrap(dtype: DType, value: i128) -> i128 {
    match dtype {
        DType::I8 => value as i8 as i128,
        DType::I16 => value as i16 as i128,
        DType::I32 => value as i32 as i128,
        DType::I64 => value as i64 as i128,
        DType::U8 | DType::Bool => value as u8 as i128,
        DType::U16 => value as u16 as i128,
        DType::U32 => value as u32 as i128,
        DType::U64 => value as u64 as i128,
        DType::F32 | DType::F16 | DType::BF16 => unreachable!("floats do not wrap"),
    }
}

fn range(dtype: DType) -> (i128, i128) {
    let bits = 8 * dtype.size() as u32;
    let signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) }
}

/// Integers with extremes, signs and bit patterns.
fn int_values(dtype: DType) -> Vec<i128> {
    let (min, max) = range(dtype);
    let all =
        [min, min + 1, max, max - 1, max / 2, min / 2, 0, 1, 2, 3, 5, 7, 8, 31, 33, 63, 100, -1, -2, -3, -7, 0x55];
    let mut values: Vec<i128> = all.into_iter().filter(|v| (min..=max).contains(v)).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Floats of all kinds that `dtype` holds.
fn float_values(dtype: DType) -> Vec<f32> {
    let positive = [
        0.0,
        1e-45,
        1e-40,
        1.2e-38,
        1e-20,
        6e-8,
        1e-4,
        0.1,
        0.3,
        0.49999997,
        0.5,
        0.7,
        1.0,
        1.5,
        2.0,
        2.5,
        3.0,
        3.7,
        4.0,
        5.5,
        9.0,
        20.0,
        87.9,
        100.0,
        150.0,
        1000.5,
        65504.0,
        8388607.5,
        16777216.0,
        1e9,
        1e20,
        f32::MAX,
        f32::INFINITY,
    ];
    let values = positive.iter().flat_map(|&x| [x, -x]).chain([f32::NAN]).collect::<Vec<f32>>();
    let data = Data::floats(dtype, &values);
    (0..values.len()).map(|i| data.float(i)).collect()
}

/// A product or a quotient that is too small to be normal is zero.
fn flushed(x: f32) -> f32 {
    flushed_exact(x as f64) as f32
}

fn flushed_exact(x: f64) -> f64 {
    if (x as f32).is_subnormal() { 0.0f64.copysign(x) } else { x }
}

/// Runs what `body` builds on packed operands.
fn run(operands: &[&Data], result: DType, body: impl Fn(&mut LoopBuilder, &[Register]) -> Register) -> Data {
    let len = operands[0].len;
    let mut builder = LoopBuilder::new(len);
    let flat = |data: &Data| Geometry::new(0, &[data.len], &[1]);
    let registers: Vec<Register> =
        operands.iter().enumerate().map(|(i, data)| builder.load(i, data.dtype, flat(data))).collect();
    let value = body(&mut builder, &registers);
    builder.store(result, value);
    let mut output = Data::new(result, len);
    // SAFETY: the operands and the output outlive the run.
    let spans: Vec<Span> = operands.iter().map(|data| unsafe { Span::of(data.bytes()) }).collect();
    let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut output.words)[..len * result.size()];
    // SAFETY: as above.
    builder.finish().run(&spans, &mut [unsafe { SpanMut::of(bytes) }]);
    output
}

/// What `dtype` makes of an exact value, and how far off a result may be: one unit in the last place of f32, and for
/// 16-bit floats one of their own where the f32 falls on the other side of a tie.
#[track_caller]
fn assert_close(dtype: DType, got: f32, exact: f64, what: &str) {
    let narrow = |x: f32| Data::floats(dtype, &[x]).float(0);
    let want = narrow(exact as f32);
    if want.is_nan() {
        return assert!(got.is_nan(), "{what}: {got} instead of NaN");
    }
    let f = exact as f32;
    let near = [f.next_down().next_down(), f.next_down(), f, f.next_up(), f.next_up().next_up()].map(narrow);
    assert!(near.contains(&got), "{what}: {got:e} instead of {want:e} ({exact:e})");
}

/// Equal bits, except for the sign of zero and the payload of NaN.
#[track_caller]
fn assert_same(got: f32, want: f32, what: &str) {
    assert!(got == want || (got.is_nan() && want.is_nan()), "{what}: {got:e} instead of {want:e}");
}

/// What decays does not stay where 0.9 of a few units of the last place is as many.
#[test]
fn averages_decay_to_zero() {
    for (dtype, steps) in [(DType::F32, 1000), (DType::BF16, 1000), (DType::F16, 10)] {
        let rate = Data::floats(dtype, &[0.9; 70]);
        let gradient = Data::floats(dtype, &[0.0; 70]);
        let mut average = Data::floats(dtype, &(0..70).map(|at| (at as f32 - 35.0) * 1e-3).collect::<Vec<f32>>());
        for _ in 0..steps {
            average = run(&[&average, &rate, &gradient], dtype, |b, r| {
                let kept = b.binary(BinaryOp::Mul, dtype, r[0], r[1]);
                b.binary(BinaryOp::Add, dtype, kept, r[2])
            });
            assert!((0..70).all(|at| !average.float(at).is_subnormal()), "{dtype:?}");
        }
        assert!(dtype == DType::F16 || (0..70).all(|at| average.float(at) == 0.0), "{dtype:?}");
    }
}

/// Nothing is flushed but what was multiplied or divided: other results are exact there.
#[test]
fn what_is_moved_or_added_keeps_its_bits() {
    let x = Data::floats(DType::F32, &[1e-40, -1e-45, 2e-38]);
    let same = |data: &Data, expected: [f32; 3]| assert_eq!([0, 1, 2].map(|at| data.float(at)), expected);
    same(&run(&[&x], DType::F32, |b, r| b.unary(UnaryOp::Neg, DType::F32, r[0])), [-1e-40, 1e-45, -2e-38]);
    let others = Data::floats(DType::F32, &[1e-40, 1e-45, -1.5e-38]);
    let sum = run(&[&x, &others], DType::F32, |b, r| b.binary(BinaryOp::Add, DType::F32, r[0], r[1]));
    same(&sum, [1e-40 + 1e-40, 0.0, 2e-38 - 1.5e-38]);
}

/// The sign of a product that is flushed is that of a product.
#[test]
fn flushed_products_have_their_sign() {
    for len in [3, 40] {
        let values = |at: [f32; 3]| (0..len).map(|i| at[i % 3]).collect::<Vec<f32>>();
        let x = Data::floats(DType::F32, &values([1e-30, -1e-30, 1e-40]));
        let y = Data::floats(DType::F32, &values([1e-10, 1e-10, -1.0]));
        let product = run(&[&x, &y], DType::F32, |b, r| b.binary(BinaryOp::Mul, DType::F32, r[0], r[1]));
        for at in 0..len {
            assert_eq!(product.float(at).to_bits(), [0.0f32, -0.0, -0.0][at % 3].to_bits(), "{at} of {len}");
        }
    }
}

#[test]
fn every_length() {
    for len in (1..=20).chain([63, 64, 65, 1023, 1024, 1025, 3001]) {
        let values: Vec<f32> = (0..len).map(|i| i as f32 * 0.25 - 3.0).collect();
        for dtype in FLOATS {
            let x = Data::floats(dtype, &values);
            let y = run(&[&x, &x], dtype, |b, r| {
                let square = b.binary(BinaryOp::Mul, dtype, r[0], r[1]);
                b.unary(UnaryOp::Neg, dtype, square)
            });
            let expected: Vec<f32> = (0..len).map(|i| -(x.float(i) * x.float(i))).collect();
            assert_eq!(y.bytes(), Data::floats(dtype, &expected).bytes(), "{dtype:?} {len}");
        }
    }
}

#[test]
fn strided_operands() {
    // Every kind of view of a [rows, columns] loop: packed, row, column, scalar, transposed, reversed.
    for (rows, columns) in [(1, 7), (7, 1), (3, 5), (40, 10), (13, 64), (5, 300), (2, 1500)] {
        let (r, c) = (rows as isize, columns as isize);
        let views: [(usize, [isize; 2]); 7] = [
            (0, [c, 1]),
            (0, [0, 1]),
            (0, [1, 0]),
            (3, [0, 0]),
            (0, [1, r]),
            (rows * columns - 1, [-c, -1]),
            (0, [2, 1]),
        ];
        let data: Vec<i128> = (0..rows * columns + 2 * rows + 4).map(|i| i as i128 * 7 % 101).collect();
        for dtype in [DType::I32, DType::U8, DType::I64, DType::F16] {
            let data = if dtype == DType::F16 {
                Data::floats(dtype, &data.iter().map(|&x| x as f32).collect::<Vec<_>>())
            } else {
                Data::ints(dtype, &data)
            };
            for (left, right) in views.iter().flat_map(|a| views.iter().map(move |b| (a, b))) {
                let mut builder = LoopBuilder::new(rows * columns);
                let shape = [rows, columns];
                let a = builder.load(0, dtype, Geometry::new(left.0, &shape, &left.1));
                let b = builder.load(0, dtype, Geometry::new(right.0, &shape, &right.1));
                let sum = builder.binary(BinaryOp::Add, dtype, a, b);
                builder.store(dtype, sum);
                let mut output = Data::new(dtype, rows * columns);
                let len = output.bytes().len();
                let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut output.words)[..len];
                // SAFETY: both tensors outlive the run.
                unsafe { builder.finish().run(&[Span::of(data.bytes())], &mut [SpanMut::of(bytes)]) };
                let at = |view: &(usize, [isize; 2]), i: usize| {
                    let (y, x) = ((i / columns) as isize, (i % columns) as isize);
                    view.0.wrapping_add_signed(y * view.1[0] + x * view.1[1])
                };
                for i in 0..rows * columns {
                    let (a, b) = (at(left, i), at(right, i));
                    if dtype == DType::F16 {
                        assert_eq!(output.float(i), data.float(a) + data.float(b));
                    } else {
                        assert_eq!(output.int(i), wrap(dtype, data.int(a) + data.int(b)));
                    }
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "is no value of F32")]
fn a_value_of_another_type_is_refused() {
    let mut builder = LoopBuilder::new(4);
    let x = builder.load(0, DType::U8, Geometry::new(0, &[4], &[1]));
    builder.unary(UnaryOp::Neg, DType::F32, x);
}
