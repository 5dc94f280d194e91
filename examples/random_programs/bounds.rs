//! How far the value of each op may be from the oracle's, and for which operands it is not compared at all.

use burn::tensor::{DType, IndexingUpdateOp, TensorData};

use crate::oracle::{floats, integers};
use crate::program::{Binary, Float, Function, Image, Int, Move, Number, Op, Reduction, Resize, Running};
use crate::value::{ValueKind, kind};

#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// Elements move, every bit of them.
    Same,
    /// One rounding of the exact result; a subnormal one may be zero.
    Exact,
    /// That, and zero may have either sign.
    Value,
    /// Units in the last place of f32, for functions that are approximated, before the rounding to the dtype.
    Ulps(f64),
    /// Relative to the result, or to 1 if that is more: differences of near equals.
    Relative(f64),
    /// A rounding of f32 for each term of a sum.
    Terms,
    /// Roundings of products, which may be far larger than their difference.
    Products,
    /// Roundings of a mean, and of what is left without it.
    Normalized,
    /// Roundings of scores, whose exponentials weigh the values.
    Attended,
    /// So many roundings of f32 of the largest element of all operands.
    Largest(f64),
    /// So many of the product of the operands' largest.
    LargestProduct(f64),
}

pub fn bound(op: &Op) -> Bound {
    match op {
        Op::Cast(_) | Op::Int(_) | Op::Bool(_) => Bound::Exact,
        Op::Move(Move::Scatter(_) | Move::SelectAssign(_)) => Bound::Terms,
        Op::Move(_) => Bound::Same,
        Op::Number(op) => of_numbers(op),
        Op::Float(op) => of_floats(op),
        Op::Image(op) => of_images(op),
    }
}

fn of_numbers(op: &Number) -> Bound {
    match op {
        Number::Binary(op) => match op {
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div => Bound::Exact,
            // burn-flex's zeros have the sign of the divisor.
            Binary::Remainder => Bound::Value,
            Binary::Pow => Bound::Ulps(16.0),
        },
        Number::WithScalar(op, _) => match op {
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div => Bound::Exact,
            Binary::Remainder => Bound::Value,
            Binary::Pow => Bound::Ulps(4.0),
        },
        Number::Neg | Number::Abs | Number::Sign | Number::Compare(_) | Number::CompareElem(..) => Bound::Exact,
        // Of zeros of both signs either may win.
        Number::Clamp(..) | Number::ClampMin(_) | Number::ClampMax(_) => Bound::Value,
        Number::Reduce(reduction, _) => match reduction {
            Reduction::Sum | Reduction::Mean => Bound::Terms,
            Reduction::Prod => Bound::Ulps(64.0),
            Reduction::Max | Reduction::Min | Reduction::MaxAbs => Bound::Value,
        },
        Number::Cumulative(running, _) => match running {
            Running::Sum => Bound::Terms,
            Running::Prod => Bound::Ulps(64.0),
            Running::Max | Running::Min => Bound::Value,
        },
        Number::ArgMax(_) | Number::ArgMin(_) | Number::Argsort { .. } => Bound::Exact,
        Number::Sort { .. } | Number::Topk { .. } | Number::GatherNd => Bound::Same,
        Number::ScatterNd(IndexingUpdateOp::Add) => Bound::Terms,
        Number::ScatterNd(IndexingUpdateOp::Mul) => Bound::Ulps(64.0),
        Number::ScatterNd(IndexingUpdateOp::Min | IndexingUpdateOp::Max | IndexingUpdateOp::Assign) => Bound::Value,
        Number::Matmul => Bound::Terms,
    }
}

fn of_floats(op: &Float) -> Bound {
    match op {
        Float::Function(function) => of_function(*function),
        Float::IsNan | Float::IsInf => Bound::Exact,
        Float::Atan2 => Bound::Ulps(6.0),
        // The exponent of a small element is large and rounded.
        Float::Softmax(_) | Float::Softmin(_) => Bound::Ulps(128.0),
        Float::LogSoftmax(_) => Bound::Relative(1e-6),
        Float::LayerNorm => Bound::Normalized,
        Float::Cross(_) => Bound::Products,
        Float::Prelu | Float::Quantized { .. } => Bound::Exact,
        Float::Linear { .. } => Bound::Terms,
        Float::Powi => Bound::Ulps(16.0),
        Float::Attention { .. } => Bound::Attended,
        Float::Rfft { samples, .. } => Bound::Largest(8.0 * *samples as f64),
        Float::Irfft { .. } => Bound::Largest(16.0),
    }
}

fn of_images(op: &Image) -> Bound {
    match op {
        Image::Conv(_) | Image::ConvTranspose(_) | Image::AvgPool { .. } | Image::AdaptiveAvgPool2d(_) => Bound::Terms,
        // burn-flex multiplies by ones and zeros to unfold.
        Image::MaxPool { .. } | Image::Unfold4d(_) => Bound::Value,
        Image::MaxPoolIndices { .. } => Bound::Exact,
        Image::Interpolate { mode: Resize::Nearest, .. } => Bound::Same,
        // Positions are rounded.
        Image::Interpolate { .. } | Image::GridSample { .. } => Bound::Largest(1000.0),
        Image::DeformConv2d(_) => Bound::LargestProduct(4000.0),
    }
}

fn of_function(function: Function) -> Bound {
    match function {
        Function::Ceil | Function::Floor | Function::Trunc | Function::Sqrt | Function::Recip => Bound::Exact,
        // burn-flex rounds -0.25 to 0 in some layouts and to -0 in others.
        Function::Round | Function::Relu => Bound::Value,
        Function::LeakyRelu => Bound::Exact,
        Function::HardSigmoid => Bound::Relative(1e-7),
        // Metal's specification.
        Function::Acos | Function::Acosh | Function::Asin | Function::Asinh | Function::Atan | Function::Atanh => {
            Bound::Ulps(5.0)
        }
        Function::Cos | Function::Cosh | Function::Erf | Function::Exp | Function::Log | Function::Log1p => {
            Bound::Ulps(4.0)
        }
        Function::Sin | Function::Sinh => Bound::Ulps(4.0),
        Function::Tan | Function::Tanh => Bound::Ulps(6.0),
        Function::PowfScalar => Bound::Ulps(16.0),
        Function::Sigmoid => Bound::Ulps(128.0),
        Function::Gelu | Function::LogSigmoid => Bound::Relative(4e-7),
    }
}

/// How many numbers are added up for an element, at most.
pub fn terms(op: &Op, operands: &[TensorData], found: &TensorData) -> usize {
    let count = |data: &TensorData| data.shape.iter().product::<usize>();
    match op {
        Op::Number(Number::Matmul) | Op::Float(Float::Linear { .. }) => operands[0].shape.last().map_or(1, |n| n + 1),
        Op::Number(Number::Cumulative(_, dim)) => operands[0].shape[*dim],
        Op::Image(Image::Conv(_) | Image::ConvTranspose(_)) => count(&operands[1]) + 1,
        Op::Move(Move::Scatter(_) | Move::SelectAssign(_)) => count(&operands[2]) + 1,
        Op::Number(Number::ScatterNd(_)) => count(&operands[2]) + 1,
        Op::Image(Image::AvgPool { window, .. }) => window.size.iter().product(),
        Op::Image(_) => count(&operands[0]),
        Op::Cast(_) | Op::Move(_) | Op::Number(_) | Op::Float(_) | Op::Int(_) | Op::Bool(_) => {
            count(&operands[0]) / count(found).max(1) + 1
        }
    }
}

/// Whether the op's value is not specified for these operands, or burn-flex has another opinion of it.
pub fn unspecified(op: &Op, operands: &[TensorData]) -> bool {
    match kind(operands[0].dtype) {
        ValueKind::Float => of_these_floats(op, operands),
        ValueKind::Int => of_these_integers(op, operands),
        ValueKind::Bool => false,
    }
}

fn of_these_floats(op: &Op, operands: &[TensorData]) -> bool {
    let any = |test: fn(f64) -> bool| {
        operands.iter().any(|data| kind(data.dtype) == ValueKind::Float && floats(data).into_iter().any(test))
    };
    let nan = || any(f64::is_nan);
    match op {
        // burn-flex's clamps, relu and whole extremes drop NaN, and its pools heed it by its place.
        Op::Number(Number::ClampMin(_) | Number::ClampMax(_) | Number::Reduce(Reduction::Max, None)) => nan(),
        Op::Number(Number::Reduce(Reduction::Min | Reduction::MaxAbs, None)) => nan(),
        Op::Float(Float::Function(Function::Relu)) => nan(),
        Op::Image(Image::MaxPool { .. } | Image::MaxPoolIndices { .. }) => nan(),
        // So do burn-flex's extremes of updates.
        Op::Number(Number::ScatterNd(IndexingUpdateOp::Min | IndexingUpdateOp::Max)) => nan(),
        // burn-flex's remainder rounds twice and absorbs small dividends.
        Op::Number(Number::Binary(Binary::Remainder) | Number::WithScalar(Binary::Remainder, _)) => true,
        // Products on the way may leave the range of f32.
        Op::Number(Number::Reduce(Reduction::Prod, _) | Number::Cumulative(Running::Prod, _)) => {
            let size: f64 = floats(&operands[0]).iter().filter(|x| **x != 0.0).map(|x| x.abs().log2().abs()).sum();
            size.is_nan() || size >= 120.0
        }
        // The reduction of large arguments is not specified.
        Op::Float(Float::Function(Function::Sin | Function::Cos | Function::Tan)) => any(|x| x.abs() > 1e5),
        // Infinity times zero, in formulas that differ.
        Op::Float(Float::Function(Function::Gelu)) => any(f64::is_infinite),
        // Tiles of a convolution share terms.
        Op::Image(Image::Conv(_) | Image::ConvTranspose(_) | Image::Unfold4d(_)) => any(|x| !x.is_finite()),
        // A position that is rounded decides what is multiplied by zero; and steps on the way may overflow.
        Op::Image(Image::DeformConv2d(_) | Image::GridSample { .. }) => any(|x| x.is_nan() || x.abs() > 1e9),
        Op::Image(Image::Interpolate { mode: Resize::Bilinear | Resize::Bicubic | Resize::Lanczos3, .. }) => {
            any(|x| x.is_nan() || x.abs() > 1e9)
        }
        Op::Float(Float::Rfft { .. } | Float::Irfft { .. } | Float::Quantized { .. }) => {
            any(|x| x.is_nan() || x.abs() > 1e15)
        }
        Op::Float(Float::Attention { .. }) => any(|x| x.is_nan() || x.abs() > 100.0) || some_see_none(operands),
        // Products on the way may overflow, or do.
        Op::Float(Float::Cross(_)) if operands[0].dtype == DType::F16 => any(|x| x.is_nan() || x.abs() > 100.0),
        Op::Float(Float::LayerNorm | Float::Cross(_)) => any(|x| x.is_nan() || x.abs() > 1e15),
        Op::Cast(_) | Op::Move(_) | Op::Number(_) | Op::Float(_) | Op::Image(_) | Op::Int(_) | Op::Bool(_) => false,
    }
}

/// Whether a query is masked from all keys.
fn some_see_none(operands: &[TensorData]) -> bool {
    let mut masks = operands.iter().filter(|data| data.dtype.is_bool());
    let keys = operands[1].shape[2];
    masks.any(|mask| integers(mask).chunks(keys).any(|row| row.iter().all(|&masked| masked == 1)))
}

fn of_these_integers(op: &Op, operands: &[TensorData]) -> bool {
    let wide = operands.iter().any(|data| data.dtype == DType::U64 && integers(data).iter().any(|&x| x >> 63 != 0));
    let lowest =
        |data: &TensorData| data.dtype.is_int() && integers(data).contains(&(-1 << (8 * data.dtype.size() - 1)));
    match op {
        // What wraps gives the same low bits in any dtype.
        Op::Move(_) | Op::Int(Int::Bits(_) | Int::BitsScalar(_, _) | Int::Not | Int::ShiftLeft(_)) => false,
        Op::Number(Number::Binary(op) | Number::WithScalar(op, _)) => match op {
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Pow => false,
            // burn-flex panics where a quotient overflows, and adds the divisor to a remainder.
            Binary::Div | Binary::Remainder => {
                wide || operands.iter().any(|data| integers(data).iter().any(|x| x.unsigned_abs() >> 62 != 0))
                    || lowest(&operands[0])
            }
        },
        Op::Number(Number::Neg | Number::Matmul | Number::GatherNd) => false,
        Op::Number(Number::ScatterNd(IndexingUpdateOp::Add)) => false,
        Op::Number(Number::Reduce(Reduction::Sum | Reduction::Prod, _)) => false,
        Op::Number(Number::Cumulative(Running::Sum | Running::Prod, _)) => false,
        // burn-flex wraps the sum before it divides.
        Op::Number(Number::Reduce(Reduction::Mean, _)) => operands[0].dtype.size() == 8,
        // The lowest number has no magnitude.
        Op::Number(Number::Reduce(Reduction::MaxAbs, _)) => wide || lowest(&operands[0]),
        Op::Cast(_) | Op::Number(_) | Op::Int(_) | Op::Float(_) | Op::Image(_) | Op::Bool(_) => wide,
    }
}
