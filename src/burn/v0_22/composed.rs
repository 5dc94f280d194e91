//! Methods that only this line has, made of recorded ops.

use burn_backend::{DType, Slice, TensorMetadata};

use crate::dtype::BOOL;
use crate::lowering::scalar::ScalarInput;
use crate::ops::arithmetic::{self, BinaryOp, CompareOp, UnaryOp, cast};
use crate::ops::{sort, tensor_shape};
use crate::tensor::MpsGraphTensor as Tensor;

/// The `k` largest elements of each row along `dim`, the largest first, and their positions as `out`.
pub(crate) fn topk_with_indices(x: Tensor, dim: usize, k: usize, out: DType) -> (Tensor, Tensor) {
    sort::check_count("topk_with_indices", &x, dim, k);
    let mut slices = vec![Slice::full(); x.rank()];
    slices[dim] = Slice::new(0, Some(k as isize), 1);
    let (values, positions) = sort::sort_with_indices(x, dim, true, out);
    (tensor_shape::slice(values, &slices), tensor_shape::slice(positions, &slices))
}

/// 1, -1, or 0 for zeros and NaN.
pub(crate) fn sign(x: Tensor) -> Tensor {
    let nan = arithmetic::is_nan(x.clone(), BOOL);
    arithmetic::mask_fill(arithmetic::unary(UnaryOp::Sign, x), nan, ScalarInput::Float(0.0))
}

/// The length of the vector (left, right). An infinity wins over NaN, as in C; Burn's default gives NaN for some.
pub(crate) fn hypot(lhs: Tensor, rhs: Tensor) -> Tensor {
    let dtype = lhs.dtype();
    let [lhs, rhs] = [lhs, rhs].map(|x| arithmetic::unary(UnaryOp::Abs, cast(x, DType::F32)));
    let infinite = {
        let [lhs, rhs] = [&lhs, &rhs].map(|x| arithmetic::is_inf(x.clone(), BOOL));
        arithmetic::binary(BinaryOp::LogicalOr, lhs, rhs)
    };
    let sum = arithmetic::binary(BinaryOp::Add, lhs.clone(), rhs.clone());
    let zero = arithmetic::compare_scalar(CompareOp::Equal, sum, ScalarInput::Float(0.0), BOOL);
    let is_right = arithmetic::compare(CompareOp::Lower, lhs.clone(), rhs.clone(), BOOL);
    let long = arithmetic::mask_where(lhs.clone(), is_right.clone(), rhs.clone());
    let short = arithmetic::mask_where(rhs, is_right, lhs);
    // Squares of the ratio neither overflow nor vanish where the length does not.
    let ratio = arithmetic::binary(BinaryOp::Div, short, long.clone());
    let square = arithmetic::binary(BinaryOp::Mul, ratio.clone(), ratio);
    let factor =
        arithmetic::unary(UnaryOp::Sqrt, arithmetic::binary_scalar(BinaryOp::Add, square, ScalarInput::Float(1.0)));
    let length = arithmetic::binary(BinaryOp::Mul, long, factor);
    let length = arithmetic::mask_fill(length, zero, ScalarInput::Float(0.0));
    cast(arithmetic::mask_fill(length, infinite, ScalarInput::Float(f64::INFINITY)), dtype)
}
