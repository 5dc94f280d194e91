//! Operands that are only given extents of 1 in front, like the bias of a layer: MPSGraph's elementwise ops put these
//! in front of the shorter shape themselves (MPSGraphArithmeticOps.h), so no reshape is needed. Every bit stays.

use super::reading::is_float;
use crate::bridge::program::Program;
use crate::ops::Op;
use crate::ops::arithmetic::{ArithmeticOp, BinaryOp};

pub(super) fn apply(program: &mut Program) {
    for place in 0..program.schedule.len() {
        let at = program.schedule[place];
        let node = &program.nodes[at as usize];
        let Op::Arithmetic(ArithmeticOp::Binary(op)) = &node.op else { continue };
        let broadcasts = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div);
        // If the first extent is 1, no operand might be left that has the first axis.
        if !broadcasts || !is_float(program, at) || node.output.shape[0] == 1 {
            continue;
        }
        for index in 0..node.inputs.len() {
            let input = &program.nodes[at as usize].inputs[index];
            let own = &program.type_of(input.source).shape;
            let (own, missing) = (own.clone(), input.shape.num_dims().saturating_sub(own.num_dims()));
            if missing > 0
                && input.shape[..missing].iter().all(|&extent| extent == 1)
                && input.shape[missing..] == own[..]
            {
                program.nodes[at as usize].inputs[index].shape = own;
            }
        }
    }
}
