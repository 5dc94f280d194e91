//! Sums along several axes by one node: of a sum along another axis, as the gradient of a repeated operand is recorded.
//!
//! The elements are the same, but they may be added in another order, so the last bits may change. 16-bit floats are
//! rounded once instead of after each axis.

use smallvec::SmallVec;

use super::reading::{Readers, is_float, maker};
use crate::bridge::program::{OperandRef, Program};
use crate::lowering::rank::KERNEL_AXES;
use crate::ops::Op;
use crate::ops::reduction::ReductionOp;

pub(super) fn apply(program: &mut Program) {
    let readers = Readers::new(program);
    for place in 0..program.schedule.len() {
        let at = program.schedule[place];
        let Op::Reduction(op) = program.nodes[at as usize].op else { continue };
        if is_float(program, at)
            && let Some((axes, input)) = of_sum(program, op, at, &readers)
        {
            let node = &mut program.nodes[at as usize];
            node.op = op.along(&axes).into();
            node.inputs = SmallVec::from_iter([input]);
        }
    }
}

/// The axes and the operand of a sum of a sum.
fn of_sum(program: &Program, op: ReductionOp, at: u32, readers: &Readers) -> Option<(Vec<usize>, OperandRef)> {
    let (inner, node) = maker(program, &program.nodes[at as usize].inputs[0])?;
    let Op::Reduction(first) = node.op else { return None };
    let both = op.is_sum() && first.is_sum() && readers.only(inner) == Some(at);
    let input = &node.inputs[0];
    if !both || input.shape.num_dims() > KERNEL_AXES {
        return None;
    }
    let mut axes = [op.added_axes()?, first.added_axes()?].concat();
    axes.sort_unstable();
    axes.dedup();
    Some((axes, input.clone()))
}
