//! Permutations of permutations: one permutation, or none if the axes are back in order. Elements only move, so every
//! bit stays.

use smallvec::SmallVec;

use super::reading::maker;
use crate::bridge::program::{Program, Source};
use crate::ops::Op;
use crate::ops::tensor_shape::TensorShapeOp;

pub(super) fn apply(program: &mut Program) {
    // What is read instead of a node's value.
    let mut instead: Vec<Option<Source>> = vec![None; program.nodes.len()];
    for place in 0..program.schedule.len() {
        let at = program.schedule[place] as usize;
        for input in &mut program.nodes[at].inputs {
            if let Source::Node(producer) = input.source {
                input.source = instead[producer as usize].unwrap_or(input.source);
            }
        }
        let node = &program.nodes[at];
        let Op::TensorShape(TensorShapeOp::Permute { permutation }) = &node.op else { continue };
        let Some((_, first)) = maker(program, &node.inputs[0]) else { continue };
        let Op::TensorShape(TensorShapeOp::Permute { permutation: before }) = &first.op else { continue };
        let both: Vec<usize> = permutation.iter().map(|&axis| before[axis]).collect();
        let input = first.inputs[0].clone();
        if both.is_sorted() {
            instead[at] = Some(input.source);
        } else {
            let node = &mut program.nodes[at];
            node.op = TensorShapeOp::Permute { permutation: both }.into();
            node.inputs = SmallVec::from_iter([input]);
        }
    }
}
