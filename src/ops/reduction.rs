//! Reductions to one element or along one axis, whose extent becomes 1.
//!
//! 16-bit floats accumulate in f32, NaN wins among floats, integer sums and products wrap. Reductions of no elements
//! are answered here: a sum is 0, a product 1, a mean NaN, `any` false, `all` true; an extreme is refused.

mod lowering;

use std::cmp::Ordering;

use burn_backend::{DType, Shape, TensorMetadata};

pub(super) use lowering::mean_of;

use super::arithmetic::{self, UnaryOp, cast};
use super::{Distances, Operation, check_dim, memory};
use crate::bridge::record;
use crate::dtype::{require, require_positions};
use crate::error::{Call, invalid};
use crate::ffi;
use crate::lowering::conversion::computed_in;
use crate::lowering::provenance::{Provenance, Reading, Reshapes};
use crate::lowering::scalar::ScalarInput;
use crate::lowering::{Lowering, Operand};
use crate::tensor::MpsGraphTensor;
use crate::tensor_type::TensorType;

/// A reduction along `dim`; a reduction to a single element is recorded along the only axis of the flattened operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ReductionOp {
    kind: Kind,
    dim: usize,
    /// Bits of further axes; only the bridge's patterns make such ops, sums and means of floats of at most four axes.
    others: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Sum,
    Prod,
    Mean,
    Extreme(Extreme),
    /// Index of the extreme, the first of equal ones, in the output's dtype.
    Arg(Extreme),
    /// Whether any element differs from 0.
    Any,
    /// Whether all elements differ from 0.
    All,
}

/// Which end of the order; NaN counts as beyond both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Extreme {
    Max,
    Min,
}

/// Sum of all elements, shape \[1\].
pub(crate) fn sum(x: MpsGraphTensor) -> MpsGraphTensor {
    sum_dim(flat(x), 0)
}

/// Product of all elements, shape \[1\].
pub(crate) fn prod(x: MpsGraphTensor) -> MpsGraphTensor {
    prod_dim(flat(x), 0)
}

/// Mean of all elements, shape \[1\]; integers toward zero.
pub(crate) fn mean(x: MpsGraphTensor) -> MpsGraphTensor {
    if !x.dtype().is_float() {
        require_elements("mean", &x);
    }
    mean_dim(flat(x), 0)
}

/// Largest element, shape \[1\].
pub(crate) fn max(x: MpsGraphTensor) -> MpsGraphTensor {
    require_elements("max", &x);
    max_dim(flat(x), 0)
}

/// Smallest element, shape \[1\].
pub(crate) fn min(x: MpsGraphTensor) -> MpsGraphTensor {
    require_elements("min", &x);
    min_dim(flat(x), 0)
}

/// Largest absolute value, shape \[1\].
pub(crate) fn max_abs(x: MpsGraphTensor) -> MpsGraphTensor {
    require_elements("max_abs", &x);
    max_abs_dim(flat(x), 0)
}

/// Sums along `dim`.
pub(crate) fn sum_dim(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    let dtype = x.dtype();
    reduce(Kind::Sum, x, dim, dtype)
}

/// Products along `dim`.
pub(crate) fn prod_dim(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    let dtype = x.dtype();
    reduce(Kind::Prod, x, dim, dtype)
}

/// Means along `dim`; of integers toward zero.
pub(crate) fn mean_dim(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    let dtype = x.dtype();
    reduce(Kind::Mean, x, dim, dtype)
}

/// Largest elements along `dim`.
pub(crate) fn max_dim(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    let dtype = x.dtype();
    reduce(Kind::Extreme(Extreme::Max), x, dim, dtype)
}

/// Smallest elements along `dim`.
pub(crate) fn min_dim(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    let dtype = x.dtype();
    reduce(Kind::Extreme(Extreme::Min), x, dim, dtype)
}

/// Largest absolute values along `dim`.
pub(crate) fn max_abs_dim(x: MpsGraphTensor, dim: usize) -> MpsGraphTensor {
    let _call = Call::begin("max_abs_dim", [x.typed()]);
    max_dim(arithmetic::unary(UnaryOp::Abs, x), dim)
}

/// Indices of the largest elements along `dim`, as the integer dtype `out`.
pub(crate) fn argmax(x: MpsGraphTensor, dim: usize, out: DType) -> MpsGraphTensor {
    reduce(Kind::Arg(Extreme::Max), x, dim, out)
}

/// Indices of the smallest elements along `dim`, as the integer dtype `out`.
pub(crate) fn argmin(x: MpsGraphTensor, dim: usize, out: DType) -> MpsGraphTensor {
    reduce(Kind::Arg(Extreme::Min), x, dim, out)
}

/// [`max_dim`] and [`argmax`].
pub(crate) fn max_dim_with_indices(x: MpsGraphTensor, dim: usize, out: DType) -> (MpsGraphTensor, MpsGraphTensor) {
    let _call = Call::begin("max_dim_with_indices", [x.typed()]);
    (max_dim(x.clone(), dim), argmax(x, dim, out))
}

/// [`min_dim`] and [`argmin`].
pub(crate) fn min_dim_with_indices(x: MpsGraphTensor, dim: usize, out: DType) -> (MpsGraphTensor, MpsGraphTensor) {
    let _call = Call::begin("min_dim_with_indices", [x.typed()]);
    (min_dim(x.clone(), dim), argmin(x, dim, out))
}

/// Whether any element differs from 0, shape \[1\], as the bool dtype `out`.
pub(crate) fn any(x: MpsGraphTensor, out: DType) -> MpsGraphTensor {
    any_dim(flat(x), 0, out)
}

/// Whether all elements differ from 0, shape \[1\], as the bool dtype `out`.
pub(crate) fn all(x: MpsGraphTensor, out: DType) -> MpsGraphTensor {
    all_dim(flat(x), 0, out)
}

/// Whether any element along `dim` differs from 0, as the bool dtype `out`.
pub(crate) fn any_dim(x: MpsGraphTensor, dim: usize, out: DType) -> MpsGraphTensor {
    reduce(Kind::Any, x, dim, out)
}

/// Whether all elements along `dim` differ from 0, as the bool dtype `out`.
pub(crate) fn all_dim(x: MpsGraphTensor, dim: usize, out: DType) -> MpsGraphTensor {
    reduce(Kind::All, x, dim, out)
}

/// Ends an op that has no result of no elements.
#[track_caller]
fn require_elements(name: &'static str, x: &MpsGraphTensor) {
    if x.shape.num_elements() == 0 {
        invalid(name, format!("shape {:?} has no elements", x.dims()));
    }
}

fn flat(x: MpsGraphTensor) -> MpsGraphTensor {
    let elements = x.shape.num_elements();
    x.with_shape(Shape::new([elements]))
}

fn reduce(kind: Kind, x: MpsGraphTensor, dim: usize, out: DType) -> MpsGraphTensor {
    let op = ReductionOp { kind, dim, others: 0 };
    check_dim(op.name(), dim, x.dims());
    match kind {
        Kind::Arg(_) => require_positions(op.name(), x.dims(), x.dims()[dim], out),
        Kind::Sum | Kind::Prod | Kind::Mean | Kind::Extreme(_) | Kind::Any | Kind::All => {
            require(op.name(), out, x.dims());
        }
    }
    if x.dtype().is_bool() && !matches!(kind, Kind::Any | Kind::All) {
        let (dtype, shape) = x.typed();
        invalid(op.name(), format!("dtype {dtype:?}, shape {shape:?}: use any or all, or convert to numbers"));
    }
    let mut shape = x.shape();
    shape[dim] = 1;
    let output = TensorType::new(out, shape);
    if x.shape.num_elements() == 0 && output.elements() > 0 {
        return of_nothing(op, &x, output);
    }
    if x.dims()[dim] == 1 {
        // An axis of one element needs no reduction.
        match kind {
            Kind::Sum | Kind::Prod | Kind::Mean | Kind::Extreme(_) => return x,
            Kind::Arg(_) => return memory::zeros(output.shape, out),
            Kind::Any | Kind::All => return cast(x, out),
        }
    }
    record(op.into(), &[&x], &[], output)
}

/// The result where the axis has no elements.
fn of_nothing(op: ReductionOp, x: &MpsGraphTensor, output: TensorType) -> MpsGraphTensor {
    let _call = Call::begin(op.name(), [x.typed()]);
    let TensorType { dtype, shape } = output;
    match op.kind {
        Kind::Sum | Kind::Any => memory::zeros(shape, dtype),
        Kind::Prod | Kind::All => memory::ones(shape, dtype),
        Kind::Mean if dtype.is_float() => memory::full(shape, ScalarInput::Float(f64::NAN), dtype),
        Kind::Mean | Kind::Extreme(_) | Kind::Arg(_) => {
            invalid(op.name(), format!("dim {} of shape {:?} has no elements", op.dim, x.dims()))
        }
    }
}

impl ReductionOp {
    /// The axes, if this is a sum or a mean.
    pub(crate) fn added_axes(&self) -> Option<Vec<usize>> {
        match self.kind {
            Kind::Sum | Kind::Mean => Some(self.axes()),
            Kind::Prod | Kind::Extreme(_) | Kind::Arg(_) | Kind::Any | Kind::All => None,
        }
    }

    /// The axis, if this is a sum along one.
    pub(crate) fn sum_axis(&self) -> Option<usize> {
        (self.kind == Kind::Sum && self.others == 0).then_some(self.dim)
    }

    /// The axis, if this is the greatest along one.
    pub(crate) fn maximum_axis(&self) -> Option<usize> {
        (self.kind == Kind::Extreme(Extreme::Max)).then_some(self.dim)
    }

    /// Whether elements are added.
    pub(crate) fn is_sum(&self) -> bool {
        self.kind == Kind::Sum
    }

    /// Whether the result is the same, but for the rounding of sums, in whatever order the elements come.
    pub(crate) fn is_in_any_order(&self, is_float: bool) -> bool {
        match self.kind {
            Kind::Sum | Kind::Mean | Kind::Any | Kind::All => true,
            Kind::Prod | Kind::Extreme(_) => !is_float,
            Kind::Arg(_) => false,
        }
    }

    /// The same along these axes, of which there is at least one.
    pub(crate) fn along(&self, axes: &[usize]) -> Self {
        let others = axes[1..].iter().fold(0, |bits, axis| bits | 1 << axis);
        Self { kind: self.kind, dim: axes[0], others }
    }

    /// All axes.
    pub(crate) fn axes(&self) -> Vec<usize> {
        let others = (0..u8::BITS as usize).filter(|axis| self.others >> axis & 1 == 1);
        std::iter::once(self.dim).chain(others).collect()
    }
}

impl Operation for ReductionOp {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Sum => "sum_dim",
            Kind::Prod => "prod_dim",
            Kind::Mean => "mean_dim",
            Kind::Extreme(Extreme::Max) => "max_dim",
            Kind::Extreme(Extreme::Min) => "min_dim",
            Kind::Arg(Extreme::Max) => "argmax",
            Kind::Arg(Extreme::Min) => "argmin",
            Kind::Any => "any_dim",
            Kind::All => "all_dim",
        }
    }

    fn lower(&self, cx: &Lowering<'_>, inputs: &[Operand], output: &TensorType) -> ffi::Tensor {
        lowering::reduced(cx, self, &inputs[0], output)
    }

    fn widest(&self, operands: &[&MpsGraphTensor], _output: &TensorType) -> usize {
        // Sums of which a mean is made do not wrap around.
        if self.kind == Kind::Mean && !operands[0].dtype().is_float() { 8 } else { 4 }
    }

    fn provenance(&self, inputs: &[Provenance]) -> Provenance {
        match self.kind {
            Kind::Sum if inputs[0].has(Provenance::EXPONENTIALS) => Provenance::TOTALS,
            // Along another axis than the last they are permuted back at the end.
            Kind::Prod => Provenance::APART,
            Kind::Sum | Kind::Mean | Kind::Extreme(_) | Kind::Arg(_) | Kind::Any | Kind::All => Provenance::NONE,
        }
    }

    fn apart(&self, operand: &[usize]) -> Distances {
        let Some(last) = operand.len().checked_sub(1).filter(|&last| self.kind == Kind::Prod && self.dim < last) else {
            return Distances::new();
        };
        // In memory the last axis takes the place of the one that is reduced.
        let between = |first: usize| operand[first..last].iter().product::<usize>();
        let apart = |axis: usize| match axis.cmp(&self.dim) {
            Ordering::Less => operand[axis + 1..].iter().product::<usize>() / operand[self.dim].max(1),
            Ordering::Equal => 0,
            Ordering::Greater if axis == last => between(self.dim + 1),
            Ordering::Greater => between(axis + 1),
        };
        (0..=last).map(apart).collect()
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn widens(&self, dtype: DType, _readings: &[Reading<'_>], _output: &TensorType) -> bool {
        computed_in(dtype) != dtype || self.kind == Kind::Mean && dtype == DType::I32
    }

    fn reshapes(&self, rank: usize) -> Reshapes {
        Reshapes::within_rank(rank)
    }
}
