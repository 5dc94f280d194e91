//! Finds positions of extremes at once, where a graph looks for the first element that equals the extreme.
//!
//! MPSGraph's own positions never name a NaN, and those of 64-bit integers have been wrong. So who wants them compares
//! each element with the extreme, and takes the least position of equals. The kernel reads the elements once instead of
//! twice, and writes no comparisons.

use super::Job;
use super::constants::integer;
use super::reading::{binary, bits_of, cast, select, unary, view};
use crate::ir::{BinaryOp, DType, Node, Nodes, Op, UnaryOp, ValueId, ViewOp};
use crate::kernels::KernelOp;
use crate::kernels::arg_reduce::{ArgReduce, Extreme, NanRule};
use crate::kernels::iota::Iota;
use crate::kernels::reduce::{Reduce, ReduceOp};

/// The same job, with each such group of nodes as one.
pub fn join(job: Job) -> Job {
    job.joined(position)
}

/// The node that finds what `id` is, if it is the end of such a group.
///
/// The graph is
///
/// ```text
/// extreme  = min or max(x) along the axis
/// hits     = x == extreme                  of integers
///            x == extreme || is_nan(x)     of floats, whose extreme is NaN if one of them is
/// position = min(hits ? places : extent) along the axis
/// ```
///
/// where the extreme may be found of the elements in another form: half floats as f32, and unsigned integers moved by
/// half their range.
fn position(nodes: &Nodes, id: ValueId) -> Option<Node> {
    let Node { op, inputs, output, method } = nodes.node(id);
    let Op::Kernel(KernelOp::Reduce(Reduce { op: ReduceOp::Min, axes })) = op else { return None };
    let (&[axis], [hits, places, none]) = (axes.as_slice(), select(nodes, inputs[0])?) else { return None };
    let extent = nodes.ty(inputs[0]).shape[axis];
    let [chosen, hit, counted] = [inputs[0], hits, places].map(|id| &nodes.ty(id).shape);
    let counts = nodes.node(places).op == Iota { axis }.into() && counted.len() == chosen.len();
    let fits = counts && counted[axis] == extent && hit == chosen;
    if !fits || integer(nodes, none) != i64::try_from(extent).ok() {
        return None;
    }
    let (equal, tested) = match binary(nodes, hits, BinaryOp::Or) {
        Some((equal, test)) => (equal, Some(unary(nodes, test, UnaryOp::IsNan)?)),
        None => (hits, None),
    };
    let (x, value) = binary(nodes, equal, BinaryOp::Equal)?;
    let Found { of, extreme, nan } = Found::of(nodes, x, value, axis)?;
    let is_whole = tested == (nan == NanRule::First).then_some(x) && nodes.ty(of).shape == nodes.ty(hits).shape;
    let op = Op::Kernel(ArgReduce { extreme, nan, axis }.into());
    is_whole.then(|| Node { op, inputs: vec![of], output: output.clone(), method })
}

/// Elements and which extreme of them was found.
struct Found {
    of: ValueId,
    extreme: Extreme,
    /// If NaN come first, the elements are floats, and their extreme is NaN if one of them is.
    nan: NanRule,
}

impl Found {
    /// What `value` is an extreme of, if that is `x` in any form.
    fn of(nodes: &Nodes, x: ValueId, value: ValueId, axis: usize) -> Option<Self> {
        if let Op::View(turn @ ViewOp::Transpose { perm }) = &nodes.node(value).op {
            let unturned = view(nodes, x, turn)?;
            let found = Self::of(nodes, unturned, nodes.node(value).inputs[0], perm[axis])?;
            return (found.of == unturned).then_some(Found { of: x, ..found });
        }
        let value = same_bits(nodes, value);
        let own = nodes.ty(x).dtype;
        let (reduced, is_of_x): (_, fn(&Nodes, ValueId, ValueId) -> bool) =
            match (cast(nodes, value, DType::F32), moved(nodes, value)) {
                (Some(reduced), _) if own.is_float() && nodes.ty(value).dtype == own => {
                    (reduced, |nodes, of, x| cast(nodes, of, nodes.ty(x).dtype) == Some(x))
                }
                (_, Some(reduced)) => (reduced, |nodes, of, x| moved(nodes, of) == Some(x)),
                (_, None) => (value, |_, of, x| of == x),
            };
        let Node { op: Op::Kernel(KernelOp::Reduce(Reduce { op, axes })), inputs, .. } = nodes.node(reduced) else {
            return None;
        };
        let of = inputs[0];
        let (extreme, nan) = match op {
            ReduceOp::Max => (Extreme::Largest, NanRule::Skip),
            ReduceOp::Min => (Extreme::Smallest, NanRule::Skip),
            ReduceOp::MaxNan => (Extreme::Largest, NanRule::First),
            ReduceOp::MinNan => (Extreme::Smallest, NanRule::First),
            ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Mean | ReduceOp::And | ReduceOp::Or => return None,
        };
        let dtype = nodes.ty(of).dtype;
        let has_loops = match nan {
            NanRule::First => dtype == DType::F32,
            NanRule::Skip => dtype.is_int(),
        };
        (*axes == [axis] && has_loops && is_of_x(nodes, of, x)).then_some(Found { of, extreme, nan })
    }
}

/// What has the same bits as another type in between.
fn same_bits(nodes: &Nodes, id: ValueId) -> ValueId {
    let there = view(nodes, id, &ViewOp::Reinterpret);
    let back = there.and_then(|there| bits_of(nodes, there, nodes.ty(there).dtype, nodes.ty(id).dtype));
    back.filter(|&back| nodes.ty(back).shape == nodes.ty(id).shape).unwrap_or(id)
}

/// What `id` is moved from by half the range of signed integers; moved again, it is back.
fn moved(nodes: &Nodes, id: ValueId) -> Option<ValueId> {
    let (from, half) = binary(nodes, id, BinaryOp::Add)?;
    let moves = match integer(nodes, half)? {
        i64::MIN => nodes.ty(id).dtype == DType::I64,
        number => number == i64::from(i32::MIN) && nodes.ty(id).dtype == DType::I32,
    };
    moves.then_some(from)
}
