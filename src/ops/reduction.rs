//! Reductions to one element or along one axis, whose extent becomes 1.
//!
//! 16-bit floats accumulate in f32, NaN wins among floats, integer sums and products wrap. Reductions of no elements
//! are answered here: a sum is 0, a product 1, a mean NaN, `any` false, `all` true; an extreme is refused.

use burn_backend::{BoolStore, DType, Shape, TensorMetadata};

use super::arithmetic::{self, UnaryOp, cast, divide_integers, divide_u64};
use super::{Operation, check_dim, memory};
use crate::bridge::record;
use crate::dtype::require;
use crate::error::{invalid, unsupported};
use crate::ffi;
use crate::lowering::conversion::{comparable, convert, from_comparable, low_bits, signed, summed_in};
use crate::lowering::provenance::{Provenance, Reshapes};
use crate::lowering::rank::{reshaped, within_rank};
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
    mean_dim(flat(x), 0)
}

/// Largest element, shape \[1\].
pub(crate) fn max(x: MpsGraphTensor) -> MpsGraphTensor {
    max_dim(flat(x), 0)
}

/// Smallest element, shape \[1\].
pub(crate) fn min(x: MpsGraphTensor) -> MpsGraphTensor {
    min_dim(flat(x), 0)
}

/// Largest absolute value, shape \[1\].
pub(crate) fn max_abs(x: MpsGraphTensor) -> MpsGraphTensor {
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
    (max_dim(x.clone(), dim), argmax(x, dim, out))
}

/// [`min_dim`] and [`argmin`].
pub(crate) fn min_dim_with_indices(x: MpsGraphTensor, dim: usize, out: DType) -> (MpsGraphTensor, MpsGraphTensor) {
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

fn flat(x: MpsGraphTensor) -> MpsGraphTensor {
    let elements = x.shape.num_elements();
    x.with_shape(Shape::new([elements]))
}

fn reduce(kind: Kind, x: MpsGraphTensor, dim: usize, out: DType) -> MpsGraphTensor {
    let op = ReductionOp { kind, dim, others: 0 };
    check_dim(op.name(), dim, x.dims());
    require(op.name(), out);
    if x.dtype().is_bool() && !matches!(kind, Kind::Any | Kind::All) {
        unsupported(op.name(), format!("dtype {:?}", x.dtype()));
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

    pub(crate) fn is_sum(&self) -> bool {
        self.kind == Kind::Sum
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
        let TensorType { dtype, shape } = &inputs[0].ty;
        let (view, axis) = within_rank(shape, self.dim);
        let x = reshaped(cx, &inputs[0].tensor, shape, &view);
        let axes: Vec<isize> =
            std::iter::once(axis).chain(self.axes()[1..].iter().map(|&other| other as isize)).collect();
        let graph = cx.graph();
        let result = match self.kind {
            Kind::Sum => {
                let wide = summed_in(*dtype);
                let sum = graph.reduction_sum(&convert(cx, &x, *dtype, wide), &axes);
                convert(cx, &sum, wide, *dtype)
            }
            Kind::Prod => {
                let wide = summed_in(*dtype);
                let result = product(cx, &convert(cx, &x, *dtype, wide), &view, axis);
                convert(cx, &result, wide, *dtype)
            }
            Kind::Mean => mean_of(cx, &x, *dtype, shape.num_elements() / output.elements(), &axes),
            Kind::Extreme(extreme) => extreme_of(cx, &x, *dtype, extreme, axis),
            Kind::Arg(extreme) => {
                // MPSGraph never chooses NaN (its argmax of NaN alone is -1), and its argmax of 64-bit integers has
                // been wrong (pytorch/pytorch#92311). So the graph compares each element with the extreme and finds the
                // first true one.
                let value = extreme_of(cx, &x, *dtype, extreme, axis);
                let bits = |x: &ffi::Tensor| low_bits(graph, x, *dtype, signed(*dtype));
                let mut hit = graph.equal(&bits(&x), &bits(&value));
                if dtype.is_float() {
                    hit = graph.logical_or(&hit, &graph.is_nan(&x));
                }
                let index = graph.reduction_arg_maximum(&graph.cast(&hit, ffi::DataType::F32), axis);
                convert(cx, &index, DType::I32, output.dtype)
            }
            Kind::Any | Kind::All => {
                // Only 32-bit numbers reduce on every system (pytorch/pytorch, OperationUtils.mm).
                let truth = convert(cx, &x, *dtype, BOOL);
                let truth = graph.cast(&truth, ffi::DataType::I32);
                let found = if self.kind == Kind::Any {
                    graph.reduction_or(&truth, &[axis])
                } else {
                    graph.reduction_and(&truth, &[axis])
                };
                convert(cx, &found, DType::I32, BOOL)
            }
        };
        let mut reduced = view;
        axes.iter().for_each(|&axis| reduced[axis as usize] = 1);
        reshaped(cx, &result, &reduced, &output.shape)
    }

    fn provenance(&self, inputs: &[Provenance]) -> Provenance {
        match self.kind {
            Kind::Sum if inputs[0].has(Provenance::EXPONENTIALS) => Provenance::TOTALS,
            Kind::Sum | Kind::Prod | Kind::Mean | Kind::Extreme(_) | Kind::Arg(_) | Kind::Any | Kind::All => {
                Provenance::NONE
            }
        }
    }

    fn is_rewritten(&self) -> bool {
        false
    }

    fn reshapes(&self, rank: usize) -> Reshapes {
        Reshapes::within_rank(rank)
    }
}

const BOOL: DType = DType::Bool(BoolStore::Native);

/// The product along `axis`, which becomes the last one first: along others it has been 59 times slower.
fn product(cx: &Lowering<'_>, x: &ffi::Tensor, view: &[usize], axis: isize) -> ffi::Tensor {
    let graph = cx.graph();
    let axis = axis as usize;
    let last = view.len() - 1;
    if view[axis + 1..].iter().all(|&extent| extent == 1) {
        return graph.reduction_product(x, &[axis as isize]);
    }
    let mut permutation: Vec<usize> = (0..view.len()).collect();
    permutation.swap(axis, last);
    let product = graph.reduction_product(&graph.transpose(x, &permutation), &[last as isize]);
    graph.transpose(&product, &permutation)
}

fn mean_of(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType, count: usize, axes: &[isize]) -> ffi::Tensor {
    let graph = cx.graph();
    if dtype.is_float() {
        let sum = graph.reduction_sum(&convert(cx, x, dtype, DType::F32), axes);
        let mean = graph.division(&sum, &cx.constant(count as f64, DType::F32));
        return convert(cx, &mean, DType::F32, dtype);
    }
    let sum = graph.reduction_sum(&low_bits(graph, x, dtype, DType::I64), axes);
    // A sum of u64 is right modulo 2^64 either way, but its quotient depends on how the bits are read.
    let count = cx.constant(count as f64, DType::I64);
    let mean = match dtype {
        DType::U64 => divide_u64(cx, &sum, &count),
        _ => divide_integers(cx, &sum, &count, DType::I64),
    };
    low_bits(graph, &mean, DType::I64, dtype)
}

fn extreme_of(cx: &Lowering<'_>, x: &ffi::Tensor, dtype: DType, extreme: Extreme, axis: isize) -> ffi::Tensor {
    let graph = cx.graph();
    if dtype.is_float() {
        // The plain forms skip NaN (MPSGraphReductionOps.h).
        let x = convert(cx, x, dtype, DType::F32);
        let value = match extreme {
            Extreme::Max => graph.reduction_maximum_propagate_nan(&x, &[axis]),
            Extreme::Min => graph.reduction_minimum_propagate_nan(&x, &[axis]),
        };
        return convert(cx, &value, DType::F32, dtype);
    }
    let x = comparable(cx, x, dtype);
    let value = match extreme {
        Extreme::Max => graph.reduction_maximum(&x, &[axis]),
        Extreme::Min => graph.reduction_minimum(&x, &[axis]),
    };
    from_comparable(cx, &value, dtype)
}
