//! The gradient of a square root, which `Autodiff` records as `x^(-1/2) / 2`, where the root itself is known: one over
//! the root.
//!
//! It is rounded twice where a power is rounded once, and MPSGraph's power is not exact either. The two differ at -0
//! and minus infinity, so the pattern wants a mean or a sum of squares with a number added, as all normalizations have
//! it. That is never -0. It is minus infinity only if the number is, and then the root is NaN, as is all that is
//! divided by it.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::reading::{ADD_SCALAR, MUL, RECIP, SQRT, made_by};
use crate::bridge::program::{OperandRef, Program, Source};
use crate::ops::Op;
use crate::ops::arithmetic::{ArithmeticOp, Exponent};
use crate::ops::tensor_shape::TensorShapeOp;

const OVER_ROOT: Op = Op::Arithmetic(ArithmeticOp::PowerOf(Exponent::MinusHalf));

pub(super) fn apply(program: &mut Program) {
    let mut roots: HashMap<OperandRef, u32, FixedState> = HashMap::default();
    for &at in &program.schedule {
        let node = &program.nodes[at as usize];
        if node.op == SQRT {
            roots.insert(node.inputs[0].clone(), at);
        }
    }
    for place in 0..program.schedule.len() {
        let node = &program.nodes[program.schedule[place] as usize];
        if node.op == OVER_ROOT
            && let Some(&root) = roots.get(&node.inputs[0])
            && is_mean_of_squares(program, &node.inputs[0])
        {
            let node = &mut program.nodes[program.schedule[place] as usize];
            node.op = RECIP;
            let input = OperandRef { source: Source::Node(root), ..node.inputs[0].clone() };
            node.inputs = SmallVec::from_iter([input]);
        }
    }
}

/// Whether a value is a sum or mean of squares plus a number.
fn is_mean_of_squares(program: &Program, input: &OperandRef) -> bool {
    let Some((_, [mean])) = made_by(program, input, &ADD_SCALAR) else { return false };
    let Source::Node(mean) = mean.source else { return false };
    let mean = &program.nodes[mean as usize];
    let Op::Reduction(op) = mean.op else { return false };
    let mut of = &mean.inputs[0];
    while let Source::Node(at) = of.source {
        let node = &program.nodes[at as usize];
        if !matches!(node.op, Op::TensorShape(TensorShapeOp::Permute { .. })) {
            return node.op == MUL && node.inputs[0] == node.inputs[1] && op.added_axes().is_some();
        }
        of = &node.inputs[0];
    }
    false
}
