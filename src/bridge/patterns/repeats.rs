//! Values that are repeated only to be read by ops that repeat their operands themselves: by `expand`, or by a product
//! with ones, as the gradients of sums and means are recorded.
//!
//! Every element keeps its bits: a product with one is the other factor, also if that is NaN or infinite, and `(1 · s)
//! · y` is `s · y`, computed once per element of `y`. Only a subnormal factor may stay where the product with one
//! would be zero, as Apple's kernels flush it.

use std::collections::HashMap;

use burn_backend::Shape;
use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::reading::{MUL, MUL_SCALAR, Readers, either_way, is_float, maker};
use crate::bridge::program::{OperandRef, Program, Source};
use crate::ops::Op;
use crate::ops::arithmetic::{ArithmeticOp, BinaryOp};
use crate::ops::memory::MemoryOp;
use crate::ops::tensor_shape::TensorShapeOp;

/// How many permutations may be between a repeated value and those who read it.
const DEPTH: usize = 4;

pub(super) fn apply(program: &mut Program) {
    let readers = Readers::new(program);
    let mut repeated = Repeated::default();
    for place in 0..program.schedule.len() {
        let at = program.schedule[place];
        repeated.read_instead(program, at);
        if let Some(short) = repeated.of(program, at, &readers) {
            repeated.0.insert(at, short);
        }
    }
}

/// Nodes whose values repeat a value, with that value in as many axes.
#[derive(Default)]
struct Repeated(HashMap<u32, OperandRef, FixedState>);

impl Repeated {
    /// Lets a node read what its operands repeat.
    fn read_instead(&self, program: &mut Program, at: u32) {
        if !repeats_operands(program, at) {
            return;
        }
        for index in 0..program.nodes[at as usize].inputs.len() {
            let node = &program.nodes[at as usize];
            let Some(short) = self.behind(program, &node.inputs[index]) else { continue };
            let mut inputs = node.inputs.clone();
            inputs[index] = short;
            if is_repeated_to(&inputs, &node.output.shape) {
                program.nodes[at as usize].inputs = inputs;
            }
        }
    }

    /// What an operand repeats.
    fn behind(&self, program: &Program, input: &OperandRef) -> Option<OperandRef> {
        let Source::Node(producer) = input.source else { return None };
        let short = self.0.get(&producer)?;
        let shape = seen_as(&program.nodes[producer as usize].output.shape, &short.shape, &input.shape)?;
        Some(OperandRef { source: short.source, shape, barrier: false })
    }

    /// What a node repeats.
    fn of(&self, program: &mut Program, at: u32, readers: &Readers) -> Option<OperandRef> {
        let node = &program.nodes[at as usize];
        if node.op == MUL && is_float(program, at) {
            return self.of_product(program, at, readers);
        }
        if node.op == Op::TensorShape(TensorShapeOp::Expand) {
            return Some(self.shortest(program, &node.inputs[0]));
        }
        let Op::TensorShape(TensorShapeOp::Permute { permutation }) = &node.op else { return None };
        let short = self.behind(program, &node.inputs[0])?;
        // The elements of the short value stay where they are, so its longer axes must stay in their order.
        let longer = permutation.iter().filter(|&&axis| short.shape[axis] > 1);
        if !longer.is_sorted() {
            return None;
        }
        let shape: Vec<usize> = permutation.iter().map(|&axis| short.shape[axis]).collect();
        Some(OperandRef { shape: shape.into(), ..short })
    }

    /// What a product with ones, or with ones times a number, repeats. In the second case the number is multiplied with
    /// the other factor instead.
    fn of_product(&self, program: &mut Program, at: u32, readers: &Readers) -> Option<OperandRef> {
        let ways = either_way(&program.nodes[at as usize].inputs);
        if let Some([_, factor]) = ways.into_iter().find(|[ones, _]| is_ones(program, ones)) {
            return Some(self.shortest(program, factor));
        }
        let (scaled, factor) = ways.into_iter().find_map(|[scaled, factor]| {
            let (scaled, node) = maker(program, scaled)?;
            let fits = node.op == MUL_SCALAR && is_ones(program, &node.inputs[0]);
            (fits && readers.only(scaled) == Some(at)).then(|| (scaled, self.shortest(program, factor)))
        })?;
        if readers.leaves(at) || !all_repeat(program, readers, at, DEPTH) {
            return None;
        }
        let node = &mut program.nodes[scaled as usize];
        node.output.shape = factor.shape.clone();
        node.inputs = SmallVec::from_iter([factor.clone()]);
        let short = OperandRef { source: Source::Node(scaled), ..factor };
        // Whoever cannot read the short value after all, as in a shape that it does not have, reads this.
        let node = &mut program.nodes[at as usize];
        node.op = TensorShapeOp::Expand.into();
        node.inputs = SmallVec::from_iter([short.clone()]);
        Some(short)
    }

    /// What an operand repeats, or else the operand.
    fn shortest(&self, program: &Program, input: &OperandRef) -> OperandRef {
        self.behind(program, input).unwrap_or_else(|| input.clone())
    }
}

fn is_ones(program: &Program, input: &OperandRef) -> bool {
    input.source.node().is_some_and(|at| program.nodes[at as usize].op == Op::Memory(MemoryOp::Ones))
}

/// Whether an op repeats its operands itself.
fn repeats_operands(program: &Program, at: u32) -> bool {
    let Op::Arithmetic(op) = &program.nodes[at as usize].op else { return false };
    let repeats = matches!(
        op,
        ArithmeticOp::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div) | ArithmeticOp::MaskFill
    );
    repeats && is_float(program, at)
}

/// Whether every reader of a node repeats the value itself. A reader counts only if another of its operands has the
/// shape of its output: if none has, a product with ones costs no more than a repeated value.
fn all_repeat(program: &Program, readers: &Readers, at: u32, depth: usize) -> bool {
    readers.of(at).iter().all(|&reader| {
        let node = &program.nodes[reader as usize];
        if matches!(node.op, Op::TensorShape(TensorShapeOp::Permute { .. })) {
            return depth > 0 && !readers.leaves(reader) && all_repeat(program, readers, reader, depth - 1);
        }
        let mut others = node.inputs.iter().filter(|input| input.source != Source::Node(at));
        repeats_operands(program, reader) && others.any(|input| input.shape == node.output.shape)
    })
}

/// Whether operands of these shapes are repeated to `shape`.
fn is_repeated_to(inputs: &[OperandRef], shape: &Shape) -> bool {
    let ranks = inputs.iter().all(|input| input.shape.num_dims() == shape.num_dims());
    ranks && (0..shape.num_dims()).all(|axis| inputs.iter().any(|input| input.shape[axis] == shape[axis]))
}

/// The shape of `short`, which repeats to `whole`, if `whole` is seen as `view`.
fn seen_as(whole: &Shape, short: &Shape, view: &Shape) -> Option<Shape> {
    let mut seen = Vec::with_capacity(view.num_dims());
    let (mut from, mut to) = (0, 0);
    while from < whole.num_dims() || to < view.num_dims() {
        // The fewest axes of both that have as many elements.
        let (first_from, first_to) = (from, to);
        let (mut left, mut right) = (1, 1);
        loop {
            if left <= right && from < whole.num_dims() {
                left *= whole[from];
                from += 1;
            } else if to < view.num_dims() {
                right *= view[to];
                to += 1;
            } else {
                return None;
            }
            if left == right && (to > first_to || to == view.num_dims()) {
                break;
            }
        }
        let [own, repeated] = [&short[first_from..from], &whole[first_from..from]];
        if own == repeated {
            seen.extend_from_slice(&view[first_to..to]);
        } else if own.iter().all(|&extent| extent == 1) {
            seen.resize(to, 1);
        } else {
            return None;
        }
    }
    Some(seen.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_values_are_seen_in_other_shapes() {
        let seen = |whole: &[usize], short: &[usize], view: &[usize]| {
            let [whole, short, view] = [whole, short, view].map(|shape| Shape::from(shape.to_vec()));
            seen_as(&whole, &short, &view).map(|shape| shape.to_vec())
        };
        assert_eq!(seen(&[6, 512], &[6, 1], &[6, 8, 8, 8]), Some(vec![6, 1, 1, 1]));
        assert_eq!(seen(&[2, 16, 16], &[1, 16, 16], &[2, 1, 16, 16]), Some(vec![1, 1, 16, 16]));
        assert_eq!(seen(&[4, 3], &[4, 1], &[4, 3]), Some(vec![4, 1]));
        assert_eq!(seen(&[4, 3], &[4, 1], &[12]), None);
        assert_eq!(seen(&[2, 3], &[1, 3], &[2, 3, 1, 1]), Some(vec![1, 3, 1, 1]));
        assert_eq!(seen(&[8], &[1], &[1, 8]), Some(vec![1, 1]));
    }
}
