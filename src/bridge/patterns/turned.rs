//! Reductions of a permuted tensor, which are those of the tensor along the axes that it has before: nothing is moved
//! but the result, if what stays has another order. All elements together need no order at all.
//!
//! The elements are the same, but they may be added in another order, so the last bits of sums and means of floats may
//! change. Extremes of floats stay as they are, since which of two zeros wins depends on the order, and so do products
//! and positions. 16-bit floats that are added along merged axes are rounded once, as they were.

use burn_backend::Shape;
use smallvec::SmallVec;

use super::add;
use super::reading::is_float;
use crate::bridge::program::{OperandRef, Program, ProgramNode, Source};
use crate::ffi::os_version;
use crate::lowering::rank::KERNEL_AXES;
use crate::ops::Op;
use crate::ops::reduction::ReductionOp;
use crate::ops::tensor_shape::TensorShapeOp;
use crate::tensor_type::TensorType;

pub(super) fn apply(program: &mut Program) {
    for place in 0..program.schedule.len() {
        let at = program.schedule[place];
        let Op::Reduction(op) = program.nodes[at as usize].op else { continue };
        let Some(permuted) = permuted(program, &program.nodes[at as usize].inputs[0]) else { continue };
        if !op.is_in_any_order(is_float(program, at)) {
            continue;
        }
        let source = permuted.node.inputs[0].clone();
        let node = &program.nodes[at as usize];
        if node.output.elements() == 1 {
            let shape = permuted.view.clone();
            program.nodes[at as usize].inputs[0] = OperandRef { shape, ..source };
        } else if let Some(run) = permuted.run(op).filter(|run| run.len() == 1 || may_merge(node, &source)) {
            let permutation = permuted.permutation.to_vec();
            reduce_first(program, at, op, &permutation, run, source);
        }
    }
}

/// Whether a reduction with this operand may be one along several axes.
fn may_merge(node: &ProgramNode, source: &OperandRef) -> bool {
    node.output.dtype.is_float() && source.shape.num_dims() <= KERNEL_AXES
}

/// Reduces `source` along the axes that are at `run` after the permutation, and permutes what comes of it if that is
/// not in order.
fn reduce_first(
    program: &mut Program,
    at: u32,
    op: ReductionOp,
    permutation: &[usize],
    run: std::ops::Range<usize>,
    source: OperandRef,
) {
    let mut axes = permutation[run].to_vec();
    axes.sort_unstable();
    let mut shape = source.shape.clone();
    axes.iter().for_each(|&axis| shape[axis] = 1);
    let in_order = permutation.iter().filter(|&&axis| shape[axis] != 1).is_sorted();
    let permuted: Shape = permutation.iter().map(|&axis| shape[axis]).collect();
    let output = &program.nodes[at as usize].output.shape;
    let reshapes = if in_order { program.outputs.contains(&at) && shape != *output } else { permuted != *output };
    if reshapes && os_version::at_least(26, 0) && is_read_by_rewritten(program, at) {
        return;
    }
    let reduction = Op::from(op.along(&axes));
    let inputs = SmallVec::from_iter([source]);
    if in_order {
        // The shape in which a result leaves the program is fixed.
        let leaves = program.outputs.contains(&at);
        let node = &mut program.nodes[at as usize];
        (node.op, node.inputs) = (reduction, inputs);
        if !leaves {
            node.output.shape = shape;
        }
        return;
    }
    let dtype = program.nodes[at as usize].output.dtype;
    let reduced = add(program, reduction, inputs, TensorType::new(dtype, shape));
    let permute = TensorShapeOp::Permute { permutation: permutation.to_vec() };
    let permuted = add(program, permute.into(), SmallVec::from_iter([reduced]), TensorType::new(dtype, permuted));
    // Of one operand, `cat` makes nothing.
    let node = &mut program.nodes[at as usize];
    node.op = TensorShapeOp::Cat { axis: 0 }.into();
    node.inputs = SmallVec::from_iter([OperandRef { shape: node.output.shape.clone(), ..permuted }]);
}

/// Whether an op that MPSGraph's compiler rewrites by what made its operands reads the value: what ends in a reshape
/// there may end the process from macOS 26 on ([`Provenance::needs_barrier`]).
///
/// [`Provenance::needs_barrier`]: crate::lowering::provenance::Provenance::needs_barrier
fn is_read_by_rewritten(program: &Program, at: u32) -> bool {
    let mut nodes = program.schedule.iter().map(|&reader| &program.nodes[reader as usize]);
    nodes.any(|node| node.op.is_rewritten() && node.inputs.iter().any(|input| input.source == Source::Node(at)))
}

/// A permutation, and the shape in which its result is read.
struct Permuted<'p> {
    node: &'p ProgramNode,
    permutation: &'p [usize],
    view: &'p Shape,
}

fn permuted<'p>(program: &'p Program, input: &'p OperandRef) -> Option<Permuted<'p>> {
    let Source::Node(producer) = input.source else { return None };
    let node = &program.nodes[producer as usize];
    let Op::TensorShape(TensorShapeOp::Permute { permutation }) = &node.op else { return None };
    Some(Permuted { node, permutation, view: &input.shape })
}

impl Permuted<'_> {
    /// Which axes of the permutation's result are the one axis of the view along which `op` reduces.
    fn run(&self, op: ReductionOp) -> Option<std::ops::Range<usize>> {
        let &[axis] = &op.axes()[..] else { return None };
        let shape = &self.node.output.shape;
        let count = |extents: &[usize]| extents.iter().product::<usize>();
        let before = count(&self.view[..axis]);
        let first = (0..shape.num_dims()).find(|&first| count(&shape[..first]) == before)?;
        let end = (first..=shape.num_dims()).find(|&end| count(&shape[first..end]) == self.view[axis])?;
        (end > first).then_some(first..end)
    }
}
