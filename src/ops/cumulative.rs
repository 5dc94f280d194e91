//! Running sums, products and extremes along an axis.
//!
//! 16-bit floats accumulate in f32, integers wrap. From a NaN on, every result to the end of the axis is NaN.

use burn_backend::DType;

use super::sort::key;
use super::{Operation, check_dim};
use crate::bridge::record;
use crate::dtype::Elements;
use crate::ffi;
use crate::lowering::conversion::{comparable, convert, from_comparable, summed_in};
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::rank::{reshaped, within_rank};
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// Each element together with those before it along `dim`; `[x]`, shape and dtype stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CumulativeOp {
    kind: Kind,
    dim: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Sum,
    Product,
    Min,
    Max,
}

/// Sums of each element and those before it along `dim`; every dtype but bool.
pub(crate) fn cumsum(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    cumulative(Kind::Sum, x, dim)
}

/// Products of each element and those before it along `dim`; every dtype but bool.
pub(crate) fn cumprod(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    cumulative(Kind::Product, x, dim)
}

/// The smallest of each element and those before it along `dim`; every dtype but bool.
pub(crate) fn cummin(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    cumulative(Kind::Min, x, dim)
}

/// The largest of each element and those before it along `dim`; every dtype but bool.
pub(crate) fn cummax(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    cumulative(Kind::Max, x, dim)
}

fn cumulative(kind: Kind, x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    let op = CumulativeOp { kind, dim };
    check_dim(op.name(), dim, x.dims());
    Elements::Numbers.require(op.name(), &x);
    if x.dims()[dim] <= 1 {
        return x;
    }
    let output = x.ty();
    record(op.into(), &[&x], &[], output)
}

impl Operation for CumulativeOp {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Sum => "cumsum",
            Kind::Product => "cumprod",
            Kind::Min => "cummin",
            Kind::Max => "cummax",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        let TensorType { dtype, shape } = output;
        let (view, axis) = within_rank(shape, self.dim);
        let x = reshaped(cx, &inputs[0].tensor, shape, &view);
        let result = match self.kind {
            Kind::Sum => in_wide(cx, &x, *dtype, |x| cx.graph().cumulative_sum(x, axis)),
            Kind::Product => in_wide(cx, &x, *dtype, |x| cx.graph().cumulative_product(x, axis)),
            Kind::Min => extreme(cx, &x, *dtype, i32::MIN, |x| cx.graph().cumulative_minimum(x, axis)),
            Kind::Max => extreme(cx, &x, *dtype, i32::MAX, |x| cx.graph().cumulative_maximum(x, axis)),
        };
        reshaped(cx, &result, &view, shape)
    }

    fn provenance(&self, _inputs: &[Provenance]) -> Provenance {
        Provenance::NONE
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn reshapes(&self, rank: usize) -> Reshapes {
        Reshapes::within_rank(rank)
    }
}

/// A scan of sums or products in the dtype in which they are taken.
fn in_wide(
    cx: &Lowering<'_>,
    x: &ffi::Tensor,
    dtype: DType,
    scan: impl FnOnce(&ffi::Tensor) -> ffi::Tensor,
) -> ffi::Tensor {
    let wide = summed_in(dtype);
    convert(cx, &scan(&convert(cx, x, dtype, wide)), wide, dtype)
}

/// A scan of extremes. Apple's scans skip NaN, so floats become i32 keys of the same order, and NaN the key beyond all
/// others, which stays from then on.
fn extreme(
    cx: &Lowering<'_>,
    x: &ffi::Tensor,
    dtype: DType,
    beyond: i32,
    scan: impl FnOnce(&ffi::Tensor) -> ffi::Tensor,
) -> ffi::Tensor {
    if !dtype.is_float() {
        return from_comparable(cx, &scan(&comparable(cx, x, dtype)), dtype);
    }
    let graph = cx.graph();
    let x = convert(cx, x, dtype, DType::F32);
    let beyond = cx.constant(beyond.into(), DType::I32);
    let keys = graph.select(&graph.is_nan(&x), &beyond, &key::of(cx, &x, DType::F32));
    let found = key::element(cx, &scan(&keys), DType::F32);
    // The key below all others is that of a negative NaN, which would be sorted first.
    let found = graph.select(&graph.is_nan(&found), &graph.absolute(&found), &found);
    convert(cx, &found, DType::F32, dtype)
}
