//! `MPSGraphReductionOps.h`. Reduced dimensions stay, with extent 1.
//!
//! The kernels see the last four dimensions and assert on an axis before them. They exist for few element types;
//! callers must cast bfloat and narrow or unsigned integers first. Half floats are summed in 16 bits, as on the
//! hardware; callers that want more precision cast up.

use crate::ir::{DType, TensorType, ValueId};
use crate::kernels::arg_reduce::{ArgReduce, Extreme, NanRule};
use crate::kernels::reduce::{Reduce, ReduceOp};
use crate::mpsgraph::builder::{Accepts, Builder};
use crate::objc::{Id, MacOs, Method, Sel, This, method3};

/// A method with `axes:`: the selector, the reduction, the types it accepts.
macro_rules! over_axes {
    ($selector:literal, $op:ident, $accepts:ident) => {{
        extern "C-unwind" fn body(this: This<'_>, cmd: Sel, tensor: Id, axes: Id, name: Id) -> Id {
            reduce(this, cmd, tensor, axes, name, ReduceOp::$op, Accepts::$accepts)
        }
        method3($selector, body)
    }};
}

/// A method with `axis:` that gives the position of an extreme element: the selector, and which element.
macro_rules! position {
    ($selector:literal, $extreme:ident) => {{
        extern "C-unwind" fn body(this: This<'_>, cmd: Sel, tensor: Id, axis: isize, name: Id) -> Id {
            position(this, cmd, tensor, axis, name, Extreme::$extreme)
        }
        method3($selector, body)
    }};
}

/// The selectors of the header.
pub const METHODS: &[Method] = &[
    over_axes!("reductionSumWithTensor:axes:name:", Sum, Reduced),
    over_axes!("reductionProductWithTensor:axes:name:", Prod, Reduced),
    over_axes!("reductionMinimumWithTensor:axes:name:", Min, Reduced),
    over_axes!("reductionMaximumWithTensor:axes:name:", Max, Reduced),
    over_axes!("reductionMinimumPropagateNaNWithTensor:axes:name:", MinNan, ReducedFloats),
    over_axes!("reductionMaximumPropagateNaNWithTensor:axes:name:", MaxNan, ReducedFloats),
    over_axes!("reductionAndWithTensor:axes:name:", And, Truths).since(12, 2),
    over_axes!("reductionOrWithTensor:axes:name:", Or, Truths).since(12, 2),
    position!("reductionArgMaximumWithTensor:axis:name:", Largest).since(12, 0),
    position!("reductionArgMinimumWithTensor:axis:name:", Smallest).since(12, 0),
];

/// 64-bit integers are reduced from this system on.
pub(super) const INT64_SINCE: MacOs = (13, 3);

/// The axes of an array: sorted and distinct, in reach of the kernels. Nil means all.
pub(super) fn axes_of(builder: &Builder, array: Id, rank: usize) -> Vec<usize> {
    let mut axes: Vec<usize> = if array.is_nil() {
        (0..rank).collect()
    } else {
        builder.integers(array, "axes").into_iter().map(|axis| builder.axis(axis, rank)).collect()
    };
    axes.sort_unstable();
    axes.dedup();
    for &axis in &axes {
        builder.minor_axis(axis, rank);
    }
    axes
}

/// The operand of a method that works along one axis, and that axis from the start.
pub(super) fn along(builder: &Builder, tensor: Id, accepts: Accepts, axis: isize) -> (ValueId, usize) {
    let x = builder.operand(tensor, "input", accepts);
    builder.int64_needs(x, INT64_SINCE);
    builder.ranked(x, "input");
    let rank = builder.rank(x);
    let axis = builder.axis(axis as i64, rank);
    builder.minor_axis(axis, rank);
    (x, axis)
}

/// Appends a reduction over these axes.
pub(super) fn emit(builder: &mut Builder, op: ReduceOp, x: ValueId, axes: Vec<usize>) -> ValueId {
    let mut ty = builder.ty(x).clone();
    for &axis in &axes {
        ty.shape[axis] = 1;
    }
    builder.emit(Reduce { op, axes }, [x], ty)
}

fn reduce(this: This<'_>, cmd: Sel, tensor: Id, axes: Id, name: Id, op: ReduceOp, accepts: Accepts) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let x = builder.operand(tensor, "input", accepts);
    builder.int64_needs(x, INT64_SINCE);
    builder.ranked(x, "input");
    let axes = axes_of(&builder, axes, builder.rank(x));
    let value =
        if axes.is_empty() { builder.unary(crate::ir::UnaryOp::Identity, x) } else { emit(&mut builder, op, x, axes) };
    builder.tensor(value)
}

fn position(this: This<'_>, cmd: Sel, tensor: Id, axis: isize, name: Id, extreme: Extreme) -> Id {
    let mut builder = Builder::open(this, cmd, name);
    let (x, axis) = along(&builder, tensor, Accepts::Reduced, axis);
    let mut shape = builder.shape(x).to_vec();
    shape[axis] = 1;
    let value = builder.emit(ArgReduce { extreme, nan: NanRule::Skip, axis }, [x], TensorType::new(DType::I32, shape));
    builder.tensor(value)
}
