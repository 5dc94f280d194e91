//! Linear layers are a product and a sum, as the other patterns look for them. MPSGraph computes the same nodes. Layers
//! whose product has a scalar stay as they are, because scalars belong to recorded nodes.

use burn_backend::Shape;
use smallvec::smallvec;

use super::add;
use super::reading::ADD;
use super::sums_of_products::PRODUCT;
use crate::bridge::program::Program;
use crate::ops::Op;
use crate::ops::matrix_multiplication::MatrixMultiplicationOp;

const LAYER: Op = Op::MatrixMultiplication(MatrixMultiplicationOp::Linear);

pub(super) fn apply(program: &mut Program) {
    for place in 0..program.schedule.len() {
        let at = program.schedule[place];
        let node = &mut program.nodes[at as usize];
        if node.op != LAYER || !node.scalars.is_empty() {
            continue;
        }
        let Some(mut bias) = node.inputs.pop() else { unreachable!("a layer has a bias") };
        bias.shape = Shape::from([1, bias.shape[0]]);
        let (operands, output) = (std::mem::take(&mut node.inputs), node.output.clone());
        let product = add(program, PRODUCT, operands, output);
        let node = &mut program.nodes[at as usize];
        (node.op, node.inputs) = (ADD, smallvec![product, bias]);
    }
}
