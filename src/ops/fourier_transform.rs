//! Discrete Fourier transforms of real signals, and back: matrix products with tables of roots of unity.
//!
//! MPSGraph has transforms (`MPSGraphFourierTransformOps.h`, macOS 14.0), but through them PyTorch's transform back
//! silently gives the five samples of an odd length in reverse order (pytorch/pytorch#126649, open) and was wrong for
//! 64 samples on macOS 14.4.1 (pytorch/pytorch#124096); along an axis before the last four the process ends
//! (pytorch/pytorch#188864); their precision for lengths other than powers of two is not published. They also take
//! complex tensors, which no other op here uses. So a transform is composed of products of real matrices (`factors`).
//!
//! 16-bit floats are transformed in f32. Burn's public functions accept powers of two only; here every length is right.

mod factors;
mod products;
mod rotation;
mod table;

use burn_backend::{DType, Shape, Slice};

use self::factors::{Method, method};
use self::products::{Side, TableProduct};
use self::rotation::Rotation;
use self::table::Table;
use super::arithmetic::{self, BinaryOp};
use super::tensor_shape::narrow;
use super::{Operation, check_dim, memory, tensor_shape};
use crate::bridge::record;
use crate::dtype::Elements;
use crate::error::{Call, invalid, unsupported};
use crate::ffi;
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::rank::outer_axis_inner;
use crate::lowering::{Lowering, MOST_ELEMENTS, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// Real and imaginary part of the spectrum of `signal` along `dim`: `n / 2 + 1` bins of the signal cut or filled with
/// zeros to `n` samples, by default all. Not scaled.
pub(crate) fn rfft(signal: MpsGraphTensor, dim: usize, n: Option<usize>) -> (MpsGraphTensor, MpsGraphTensor) {
    const NAME: &str = "rfft";
    let _call = Call::begin(NAME, [signal.typed()]);
    check_dim(NAME, dim, signal.dims());
    Elements::Floats.require(NAME, &signal);
    let (dtype, mut shape) = (signal.dtype(), signal.shape.clone());
    let n = n.unwrap_or(shape[dim]);
    if n == 0 {
        invalid(NAME, format!("{n} samples along dim {dim} of shape {:?}; a transform takes one at least", &shape[..]));
    }
    check_length(NAME, n, dim, &shape);
    let bins = n / 2 + 1;
    let samples = shape[dim].min(n);
    shape[dim] = bins;
    if signal.shape.num_elements() == 0 {
        return (memory::zeros(shape.clone(), dtype), memory::zeros(shape, dtype));
    }
    let length = Length { n, inverse: false };
    let spectrum = length.transform_at_least(lines(signal, dim, samples), [2, bins]);
    let part = |at: usize| {
        let region = [Slice::full(), (at..at + 1).into(), (0..bins).into()];
        from_lines(tensor_shape::slice(spectrum.clone(), &region), dim, &shape, dtype)
    };
    (part(0), part(1))
}

/// The `n` samples along `dim` (by default twice the bins less one) of which the spectrum is this, scaled by `1 / n`.
///
/// The first `n / 2 + 1` bins count; missing ones are 0. The imaginary parts of the first bin, and of the last one for
/// even `n`, are ignored, because they are 0 for every real signal.
pub(crate) fn irfft(re: MpsGraphTensor, im: MpsGraphTensor, dim: usize, n: Option<usize>) -> MpsGraphTensor {
    const NAME: &str = "irfft";
    let _call = Call::begin(NAME, [re.typed(), im.typed()]);
    check_dim(NAME, dim, re.dims());
    Elements::Floats.require(NAME, &re);
    let (dtype, mut shape) = (re.dtype(), re.shape.clone());
    if im.dtype() != dtype || im.shape != shape {
        let [real, imaginary] = [&re, &im].map(|part| (part.dtype(), part.dims()));
        invalid(NAME, format!("real part {real:?} and imaginary part {imaginary:?} differ"));
    }
    let n = n.unwrap_or_else(|| 2 * shape[dim].saturating_sub(1));
    if n == 0 || shape[dim] == 0 {
        let (bins, shape) = (shape[dim], &shape[..]);
        let given = format!("{n} samples of {bins} bins along dim {dim} of shape {shape:?}");
        let rule = "there must be at least one sample and one bin";
        invalid(NAME, format!("{given}: {rule}; give `n` for a spectrum of one bin, whose default is 0 samples"));
    }
    check_length(NAME, n, dim, &shape);
    let bins = shape[dim].min(n / 2 + 1);
    shape[dim] = n;
    if shape.num_elements() == 0 {
        return memory::zeros(shape, dtype);
    }
    let length = Length { n, inverse: true };
    let filled = length.filled(bins);
    let mut parts = Vec::with_capacity(4);
    for part in [re, im] {
        let lines = lines(part, dim, bins);
        let zeros = [lines.shape[0], 1, filled - bins, lines.shape[3]];
        parts.push(lines);
        if filled > bins {
            parts.push(memory::zeros(zeros.into(), DType::F32));
        }
    }
    let [count, inner] = [0, 3].map(|axis| parts[0].shape[axis]);
    let spectrum = tensor_shape::cat(parts, 2).with_shape([count, 2, filled, inner].into());
    let (ty, weights) = (spectrum.ty(), Table::Weights { n, bins, filled });
    let weighted = record(FourierTransformOp::Times(weights).into(), &[&spectrum], &[], ty);
    from_lines(length.transform(weighted, [1, n]), dim, &shape, dtype)
}

/// The number of points, and whether the transform is the inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Length {
    n: usize,
    inverse: bool,
}

impl Length {
    /// Transforms `x (count, parts, points, inner)` along the points: the first ones of `n`, of which the others are 0,
    /// as real part and, if there are two parts, imaginary part. Gives parts and points as asked, again the first ones.
    fn transform(self, x: MpsGraphTensor, [parts, points]: [usize; 2]) -> MpsGraphTensor {
        narrow(self.transform_at_least(x, [parts, points]), 2, [0, points])
    }

    /// Like [`Self::transform`], but may give more points.
    fn transform_at_least(self, x: MpsGraphTensor, [parts, points]: [usize; 2]) -> MpsGraphTensor {
        match method(self.n) {
            Method::Product => self.product(x, [parts, points]),
            Method::Factors { first, second } => self.factors([first, second], x, [parts, points]),
            Method::Convolution { length } => self.convolution(length, x, [parts, points]),
        }
    }

    /// How many points, from the first one on, a transform reads of lines that have `filled`; zeros are behind them.
    fn filled(self, filled: usize) -> usize {
        match method(self.n) {
            Method::Product | Method::Convolution { .. } => filled,
            Method::Factors { second, .. } => filled.next_multiple_of(second),
        }
    }

    fn product(self, x: MpsGraphTensor, to: [usize; 2]) -> MpsGraphTensor {
        let &[count, parts, points, inner] = x.shape.as_slice() else { unreachable!("lines of parts of points") };
        let table = Table::Matrix { length: self, from: [parts, points], to };
        let product = if inner == 1 {
            TableProduct { table, side: Side::Right }.of(x.with_shape([count, parts * points].into()))
        } else {
            let x = x.with_shape([count, parts * points, inner].into());
            TableProduct { table, side: Side::TransposedLeft }.of(x)
        };
        product.with_shape([count, to[0], to[1], inner].into())
    }

    /// A transform of `a * b` points. The point at `b * i + j` of `x` is `(i, j)` of an `(a, b)` view, that at
    /// `i + a * j` of the result is `(i, j)`: transforms of length `a` along the first axis, `exp(∓2πi * i * j / n)`,
    /// transforms of length `b` along the other. Six points as `a = 2` and `b = 3`:
    ///
    /// ```text
    /// x0 x1 x2    sums and          times 1, w, w²    transforms     X0 X2 X4
    /// x3 x4 x5    differences of    below, with       of the rows    X1 X3 X5
    ///             the columns       w = exp(∓2πi/6)
    /// ```
    ///
    /// Both products have their table on the left, and the second one reads its points transposed; so no pass over
    /// memory only reorders, unless it moves runs of `inner`.
    fn factors(self, [a, b]: [usize; 2], x: MpsGraphTensor, [parts, points]: [usize; 2]) -> MpsGraphTensor {
        let &[count, given, filled, inner] = x.shape.as_slice() else { unreachable!("lines of parts of points") };
        let part = |n: usize| Length { n, ..self };
        let used = filled.div_ceil(b);
        let view = zeros_behind(x, used * b).with_shape([count, given * used, b * inner].into());
        let table = Table::Columns { length: part(a), from: [given, used], to: [2, a] };
        let first = TableProduct { table, side: Side::Left }.of(view);

        let apart = if inner == 1 { vec![count, a, 2, b] } else { vec![count, a, 2, b, inner] };
        let turned = Rotation::Factors { length: self, extents: [a, b] }.of(first.with_shape(apart.into()));
        let turned = turned.with_shape([count, a, 2, b, inner].into());
        let wanted = points.div_ceil(a);
        part(b).transform_each(turned, [parts, wanted]).with_shape([count, parts, wanted * a, inner].into())
    }

    /// Transforms `x (count, each, 2, points, inner)` and gives `(count, parts, points, each, inner)`.
    fn transform_each(self, x: MpsGraphTensor, [parts, points]: [usize; 2]) -> MpsGraphTensor {
        let &[count, each, given, filled, inner] = x.shape.as_slice() else { unreachable!("lines of parts of points") };
        match (method(self.n), inner) {
            (Method::Product, 1) => {
                let table = Table::Matrix { length: self, from: [given, filled], to: [parts, points] };
                let lines = x.with_shape([count, each, given * filled].into());
                let product = TableProduct { table, side: Side::BothTransposed }.of(lines);
                product.with_shape([count, parts, points, each, 1].into())
            }
            (Method::Product | Method::Factors { .. } | Method::Convolution { .. }, _) => {
                let lines = x.with_shape([count * each, given, filled, inner].into());
                let lines = self.transform(lines, [parts, points]);
                let lines = lines.with_shape([count, each, parts, points, inner].into());
                tensor_shape::permute(lines, &[0, 2, 3, 1, 4])
            }
        }
    }

    /// With `c(j) = exp(∓πi * j * j / n)` the result at `k` is `c(k)` times the sum over `j` of `x(j) * c(j) / c(k -
    /// j)`.
    fn convolution(self, length: usize, x: MpsGraphTensor, [parts, points]: [usize; 2]) -> MpsGraphTensor {
        let filled = x.shape[2];
        let there = Length { n: length, inverse: false };
        let back = Length { n: length, inverse: true };
        let chirped = self.chirped(x, filled);
        let spectrum = there.transform(chirped, [2, length]);
        let kernel = table(Table::ChirpKernel { length: self, points: length, behind: filled, ahead: points });
        let kernel = there.transform(kernel, [2, length]);
        let [re, im] = [0, 1].map(|at| narrow(kernel.clone(), 1, [at, at + 1]));
        let minus = arithmetic::unary(arithmetic::UnaryOp::Neg, im.clone());
        let exchanged = tensor_shape::flip(spectrum.clone(), &[1]);
        let [own, other] = [(spectrum, re), (exchanged, tensor_shape::cat(vec![minus, im], 1))]
            .map(|(x, factor)| arithmetic::binary(BinaryOp::Mul, x, factor));
        let product = arithmetic::binary(BinaryOp::Add, own, other);
        let sums = back.transform(product, [2, points]);
        narrow(self.chirped(sums, points), 1, [0, parts])
    }

    /// `x (count, parts, points, inner)` times `c`: two parts.
    fn chirped(self, x: MpsGraphTensor, points: usize) -> MpsGraphTensor {
        if x.shape[1] == 2 {
            return Rotation::Chirp { length: self, points }.of(x);
        }
        let re = table(Table::ChirpReal { length: self, points });
        let im = table(Table::ChirpImaginary { length: self, points });
        // The imaginary table begins with the negated numbers.
        let im = narrow(im, 1, [1, 2]);
        arithmetic::binary(BinaryOp::Mul, x, tensor_shape::cat(vec![re, im], 1))
    }
}

/// From so many numbers behind the transformed axis on, products have enough columns with that axis where it is.
const SIDE_BY_SIDE: usize = 16;

/// The first elements along `dim` as f32 `(count, 1, elements, inner)`.
fn lines(tensor: MpsGraphTensor, dim: usize, elements: usize) -> MpsGraphTensor {
    let [outer, axis, inner] = outer_axis_inner(&tensor.shape, dim);
    let tensor = narrow(tensor.with_shape([outer, axis, inner].into()), 1, [0, elements]);
    let lines = if inner < SIDE_BY_SIDE {
        tensor_shape::permute(tensor, &[0, 2, 1]).with_shape([outer * inner, 1, elements, 1].into())
    } else {
        tensor.with_shape([outer, 1, elements, inner].into())
    };
    arithmetic::cast(lines, DType::F32)
}

/// Such lines as the axis `dim` of `shape` again.
fn from_lines(lines: MpsGraphTensor, dim: usize, shape: &Shape, dtype: DType) -> MpsGraphTensor {
    let [outer, axis, inner] = outer_axis_inner(shape, dim);
    let lines = arithmetic::cast(lines, dtype);
    if inner >= SIDE_BY_SIDE {
        return lines.with_shape(shape.clone());
    }
    tensor_shape::permute(lines.with_shape([outer, inner, axis].into()), &[0, 2, 1]).with_shape(shape.clone())
}

/// `x` with zeros behind its points, `length` in all.
fn zeros_behind(x: MpsGraphTensor, length: usize) -> MpsGraphTensor {
    let &[count, parts, filled, inner] = x.shape.as_slice() else { unreachable!("lines of parts of points") };
    if filled == length {
        return x;
    }
    let zeros = memory::zeros([count, parts, length - filled, inner].into(), x.dtype());
    tensor_shape::cat(vec![x, zeros], 2)
}

/// The most complex numbers of f32 that 4 GiB hold.
const MOST_POINTS: usize = MOST_ELEMENTS / 2;

/// Ends transforms of `n` samples along `dim` of `shape` that would take too much on the way: whole numbers of points
/// of all lines, with a real and an imaginary part.
fn check_length(name: &'static str, n: usize, dim: usize, shape: &Shape) {
    let given = format_args!("{n} samples along dim {dim} of shape {:?}", &shape[..]);
    if n > MOST_POINTS {
        unsupported(name, format!("{given}: a transform has at most 2^29 samples; transform parts of the signal"));
    }
    let points = match method(n) {
        Method::Product => return,
        Method::Factors { .. } => n,
        Method::Convolution { length } => length,
    };
    let [outer, _, inner] = outer_axis_inner(shape, dim);
    if (outer * inner).saturating_mul(points) > MOST_POINTS {
        let rule = "all transforms together have at most 2^29 points; transform fewer lines at a time, or shorter ones";
        unsupported(name, format!("{given}, which takes {points} points for each of {} lines: {rule}", outer * inner));
    }
}

/// Records a table.
fn table(table: Table) -> MpsGraphTensor {
    record(FourierTransformOp::Constant(table).into(), &[], &[], TensorType::new(DType::F32, table.shape()))
}

/// An op of a transform, all of f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FourierTransformOp {
    Constant(Table),
    /// `[x]`, times the table.
    Times(Table),
    /// `[x]`; the scalars are those of a matrix product.
    Product(TableProduct),
    /// `[x]`.
    Rotated(Rotation),
}

impl Operation for FourierTransformOp {
    fn name(&self) -> &'static str {
        let is_inverse = match self {
            FourierTransformOp::Constant(table)
            | FourierTransformOp::Times(table)
            | FourierTransformOp::Product(TableProduct { table, .. }) => table.is_inverse(),
            FourierTransformOp::Rotated(rotation) => rotation.is_inverse(),
        };
        if is_inverse { "irfft" } else { "rfft" }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        match self {
            FourierTransformOp::Constant(table) => table.lower(cx, &output.shape),
            FourierTransformOp::Times(table) => {
                cx.graph().multiplication(&inputs[0].tensor, &table.lower(cx, &table.shape()))
            }
            FourierTransformOp::Product(product) => product.lower(cx, &inputs[0], output),
            FourierTransformOp::Rotated(rotation) => rotation.lower(cx, &inputs[0]),
        }
    }

    fn provenance(&self, inputs: &[Provenance]) -> Provenance {
        match self {
            FourierTransformOp::Constant(_) | FourierTransformOp::Product(_) => Provenance::NONE,
            FourierTransformOp::Times(_) | FourierTransformOp::Rotated(_) => inputs[0].without(Provenance::VIEW),
        }
    }

    fn is_rewritten(&self) -> bool {
        match self {
            FourierTransformOp::Product(_) => true,
            FourierTransformOp::Constant(_) | FourierTransformOp::Times(_) | FourierTransformOp::Rotated(_) => false,
        }
    }

    fn reshapes(&self, rank: usize) -> Reshapes {
        match self {
            FourierTransformOp::Rotated(_) => Reshapes::within_rank(rank),
            FourierTransformOp::Constant(_) | FourierTransformOp::Times(_) | FourierTransformOp::Product(_) => {
                Reshapes::Nothing
            }
        }
    }
}
