//! Products with a table: one op, so that a transform of few points, where the cost of each recorded op counts, has not
//! three.

use burn_backend::{DType, Shape};

use super::{FourierTransformOp, Table};
use crate::bridge::record;
use crate::ffi;
use crate::lowering::axis::turning;
use crate::lowering::{Lowering, Operand};
use crate::ops::matrix_multiplication;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// A matrix product with a table of two axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TableProduct {
    pub table: Table,
    pub side: Side,
}

/// What multiplies what. `x` is `(rows, columns)`; on the right of a table also `(count, rows, columns)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Side {
    /// `x` times the table.
    Right,
    /// The table times `x`.
    Left,
    /// The table transposed times `x`.
    TransposedLeft,
    /// The table transposed times `x` transposed.
    BothTransposed,
}

impl TableProduct {
    /// Records the product with `x`, which has three axes if the table is on the left, and so has the result then.
    pub fn of(self, x: MpsGraphTensor) -> MpsGraphTensor {
        let [left, right] = self.operands(&x.shape);
        let result = product_shape(&left, &right);
        // One matrix needs no axis for its number.
        let (x, own) = match (x.shape.as_slice(), result.as_slice()) {
            (&[1, rows, columns], &[_, m, n]) => (x.with_shape([rows, columns].into()), [m, n].into()),
            _ => (x, result.clone()),
        };
        let (op, scalars) = (FourierTransformOp::Product(self), matrix_multiplication::scalars([&left, &right]));
        record(op.into(), &[&x], scalars, TensorType::new(DType::F32, own)).with_shape(result)
    }

    /// The shapes that are multiplied, for this one of `x`.
    fn operands(self, x: &Shape) -> [Shape; 2] {
        let (table, x) = (self.table.shape(), x.clone());
        match self.side {
            Side::Right => [x, table],
            Side::Left => [table, x],
            Side::TransposedLeft => [transposed(table), x],
            Side::BothTransposed => [transposed(table), transposed(x)],
        }
    }

    pub fn lower(self, cx: &Lowering<'_>, x: &Operand, output: &TensorType) -> ffi::Tensor {
        let [left, right] = self.operands(&x.ty.shape);
        let mut table = self.table.shape();
        let keeps_ranks = || matrix_multiplication::keeps_ranks(output.shape[0], [&left, &right, &output.shape]);
        if output.shape.num_dims() == 3 && !keeps_ranks() {
            table = [1, table[0], table[1]].into();
        }
        let table = operand(self.table.lower(cx, &table), table);
        let x = operand(x.tensor.clone(), x.ty.shape.clone());
        let operands = match self.side {
            Side::Right => [x, table],
            Side::Left => [table, x],
            Side::TransposedLeft => [transpose(cx, table), x],
            Side::BothTransposed => [table, x].map(|operand| transpose(cx, operand)),
        };
        matrix_multiplication::lower_float(cx, &operands, output)
    }
}

/// The shape of the product of matrices of these.
fn product_shape(left: &Shape, right: &Shape) -> Shape {
    let [rank_left, rank_right] = [left, right].map(|shape| shape.num_dims());
    let mut result = if rank_left > rank_right { left.clone() } else { right.clone() };
    let last = result.num_dims() - 1;
    (result[last - 1], result[last]) = (left[rank_left - 2], right[rank_right - 1]);
    result
}

fn operand(tensor: ffi::Tensor, shape: Shape) -> Operand {
    Operand { tensor, ty: TensorType::new(DType::F32, shape), is_zeros: false }
}

fn transpose(cx: &Lowering<'_>, Operand { tensor, ty, is_zeros: _ }: Operand) -> Operand {
    let permutation = turning(ty.shape.num_dims());
    let turned = cx.once("transposed", &tensor, || cx.graph().transpose(&tensor, &permutation));
    operand(turned, transposed(ty.shape))
}

/// With the last two extents exchanged.
fn transposed(mut shape: Shape) -> Shape {
    let rank = shape.num_dims();
    shape[..].swap(rank - 2, rank - 1);
    shape
}
