//! Integer matrix products. MPSGraph multiplies float matrices only, and f32 is not exact beyond 2^24, so rows are
//! multiplied elementwise and summed, in tables of bounded size.

use burn_backend::DType;

use super::MatrixMultiplicationOp;
use crate::bridge::record;
use crate::ffi;
use crate::lowering::axis::{joined, part};
use crate::lowering::conversion::low_bits;
use crate::lowering::{Lowering, Operand};
use crate::ops::arithmetic::integer::multiply;
use crate::ops::arithmetic::{self, BinaryOp};
use crate::ops::tensor_shape::{cat, narrow};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// The most elements that one table of products has.
const TABLE: usize = 1 << 24;
/// The most elements that the table of one row may have, where it has more than [`TABLE`].
const ROW: usize = 1 << 27;
/// The most tables that one node has.
const TABLES: usize = 1 << 10;

/// Records an integer product of `lhs (batch or 1, m, k)` and `rhs (batch or 1, n, k)`, large ones in parts.
pub(super) fn product(lhs: MpsGraphTensor, rhs: MpsGraphTensor, extents: [usize; 4]) -> MpsGraphTensor {
    let [batch, m, _, n] = extents;
    let Some((axis, most)) = cut(extents) else {
        let output = TensorType::new(lhs.dtype(), [batch, m, n].into());
        return record(MatrixMultiplicationOp::Integer.into(), &[&lhs, &rhs], &[], output);
    };
    let products = (0..extents[axis as usize]).step_by(most).map(|low| {
        let high = extents[axis as usize].min(low + most);
        let part = |x: &MpsGraphTensor, dim: usize| narrow(x.clone(), dim, [low, high]);
        let of_batch = |x: &MpsGraphTensor| if x.shape[0] == 1 { x.clone() } else { part(x, 0) };
        let (left, right) = match axis {
            Axis::Batch => (of_batch(&lhs), of_batch(&rhs)),
            Axis::Row => (part(&lhs, 1), rhs.clone()),
            Axis::Inner => (part(&lhs, 2), part(&rhs, 2)),
            Axis::Column => (lhs.clone(), part(&rhs, 1)),
        };
        let mut extents = extents;
        extents[axis as usize] = high - low;
        product(left, right, extents)
    });
    match axis {
        Axis::Batch => cat(products.collect(), 0),
        Axis::Row => cat(products.collect(), 1),
        Axis::Column => cat(products.collect(), 2),
        Axis::Inner => {
            let sum = products.reduce(|sum, product| arithmetic::binary(BinaryOp::Add, sum, product));
            sum.unwrap_or_else(|| unreachable!("an inner extent of 0 is answered before"))
        }
    }
}

/// An extent of a product, in the order in which they are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    Batch,
    Row,
    Inner,
    Column,
}

/// The extent that a product is cut along, and how much of it is taken at a time; `None` if one node takes all of it.
fn cut([batch, m, k, n]: [usize; 4]) -> Option<(Axis, usize)> {
    let row = batch.saturating_mul(n).saturating_mul(k);
    if row <= ROW {
        let rows = TABLES * (TABLE / row).max(1);
        return (m > rows).then_some((Axis::Row, rows));
    }
    Some(if batch > 1 {
        (Axis::Batch, (ROW / n.saturating_mul(k)).max(1))
    } else if n > 1 {
        (Axis::Column, (ROW / k).max(1))
    } else {
        (Axis::Inner, ROW)
    })
}

/// Each row of `a` with each row of `b`, a table of [`TABLE`] products at a time.
pub(super) fn lower(cx: &Lowering<'_>, a: &Operand, b: &Operand, output: &TensorType) -> ffi::Tensor {
    let graph = cx.graph();
    let &[batch, m, n] = output.shape.as_slice() else { unreachable!("three axes by construction") };
    // Reductions exist for 32 and 64 bits only; the low bits of a wider sum are those of the narrower one.
    let wide = if output.dtype.size() == 8 { DType::I64 } else { DType::I32 };
    let [x, y] = [a, b].map(|operand| low_bits(graph, &operand.tensor, operand.ty.dtype, wide));
    let (k, of_a, of_b) = (a.ty.shape[2], a.ty.shape[0], b.ty.shape[0]);
    let y = graph.reshape(&y, &[of_b, 1, n, k]);
    let rows = (TABLE / (batch * n * k)).clamp(1, m);
    let parts: Vec<ffi::Tensor> = (0..m)
        .step_by(rows)
        .map(|low| {
            let high = m.min(low + rows);
            let some = part(graph, &x, &a.ty.shape, 1, [low, high]);
            let some = graph.reshape(&some, &[of_a, high - low, 1, k]);
            // Of two single rows, which may be one.
            let table = if [m, n] == [1, 1] { multiply(cx, &some, &y, wide) } else { graph.multiplication(&some, &y) };
            graph.reshape(&graph.reduction_sum(&table, &[3]), &[batch, high - low, n])
        })
        .collect();
    low_bits(graph, &joined(graph, &parts, 1), wide, output.dtype)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_node_takes_is_not_cut() {
        assert_eq!(cut([1, 1024, 4096, 4096]), None);
        assert_eq!(cut([1, 1 << 20, 10, 10]), None);
        assert_eq!(cut([1, 1, 1 << 27, 1]), None);
    }

    #[test]
    fn parts_are_what_one_node_takes() {
        for extents in [
            [1, 2048, 4096, 4096],
            [1, 1, 16384, 16384],
            [64, 1, 16384, 16384],
            [3, 5000, 1 << 27, 2],
            [2, 3, (1 << 27) + 5, 7],
            [1, usize::MAX >> 1, 1, 1],
        ] {
            let mut part = extents;
            let mut cuts = 0;
            while let Some((axis, most)) = cut(part) {
                assert!(0 < most && most < part[axis as usize], "{part:?}: {axis:?} {most}");
                part[axis as usize] = most;
                cuts += 1;
            }
            assert!(0 < cuts && cuts < 5, "{extents:?}: {part:?}");
        }
    }
}
