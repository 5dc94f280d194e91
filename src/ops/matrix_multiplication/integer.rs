//! Integer matrix products. MPSGraph multiplies float matrices only, and f32 is not exact beyond 2^24, so rows are
//! multiplied elementwise and summed, in tables of bounded size.

use burn_backend::{DType, TensorMetadata};

use super::MatrixMultiplicationOp;
use crate::bridge::record;
use crate::error::unsupported;
use crate::ffi;
use crate::lowering::axis::{joined, part};
use crate::lowering::conversion::low_bits;
use crate::lowering::{Lowering, Operand};
use crate::ops::arithmetic::integer::multiply;
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// The most elements that one table of products has.
const TABLE: usize = 1 << 24;
/// The most tables that one multiplication has.
const TABLES: usize = 1 << 10;

/// Records an integer product of `lhs (batch or 1, m, k)` and `rhs (batch or 1, n, k)`.
pub(super) fn product(lhs: MpsGraphTensor, rhs: MpsGraphTensor, [batch, m, k, n]: [usize; 4]) -> MpsGraphTensor {
    let table = batch.checked_mul(n).and_then(|rows| rows.checked_mul(k)).filter(|&row| row < 1 << 28);
    let tables = table.map(|row| m.div_ceil((TABLE / row).max(1)));
    if tables.is_none_or(|tables| tables > TABLES) {
        let (a, b) = (lhs.dims(), rhs.dims());
        let reason = format!("{:?} {a:?} times the transpose of {b:?} needs too many products", lhs.dtype());
        unsupported("int_matmul", format!("{reason}; multiply in parts, or as f32 if that is exact enough"));
    }
    let output = TensorType::new(lhs.dtype(), [batch, m, n].into());
    record(MatrixMultiplicationOp::Integer.into(), &[&lhs, &rhs], &[], output)
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
