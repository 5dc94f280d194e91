//! `x · a / y · b` with two numbers, as Adam's steps are recorded, is `x · (a · b) / y`. An optimizer has the same
//! numbers for every tensor, so their product is computed once.
//!
//! f32 only. The product of the numbers is rounded instead of the quotient. Zero, infinite and NaN elements give what
//! they gave, unless that product leaves f32's range, or a step between left it before. No optimizer's product does, so
//! the pattern wants an optimizer's divisor: a root with a number added.

use burn_backend::{DType, Shape};
use smallvec::SmallVec;

use super::add;
use super::reading::{ADD_SCALAR, DIV, MUL, MUL_SCALAR, Readers, SQRT, made_by, value};
use crate::bridge::program::{OperandRef, Program, Source};
use crate::ops::memory::MemoryOp;
use crate::tensor_type::TensorType;

pub(super) fn apply(program: &mut Program) {
    let readers = Readers::new(program);
    for place in 0..program.schedule.len() {
        let last = program.schedule[place];
        let Some((first, quotient)) = factors(program, last, &readers) else { continue };
        let x = program.nodes[first as usize].inputs[0].clone();
        let divisor = program.nodes[quotient as usize].inputs[1].clone();
        let whole = program.nodes[last as usize].output.clone();
        let one = TensorType::new(DType::F32, Shape::new([1]));
        // The first number is a value by itself, and the second multiplies that.
        let node = &mut program.nodes[first as usize];
        node.op = MemoryOp::Full.into();
        node.inputs.clear();
        node.output = one.clone();
        let number = value(program, first);
        let node = &mut program.nodes[last as usize];
        node.inputs = SmallVec::from_iter([number]);
        node.output = one;
        let product = value(program, last);
        let ones = Shape::from(vec![1; whole.shape.num_dims()]);
        let factor = OperandRef { shape: ones, ..product.clone() };
        let scaled = add(program, MUL, SmallVec::from_iter([x, factor]), whole);
        program.nodes[quotient as usize].inputs = SmallVec::from_iter([scaled, divisor]);
        for &reader in readers.of(last) {
            for input in &mut program.nodes[reader as usize].inputs {
                if input.source == product.source {
                    input.source = Source::Node(quotient);
                }
            }
        }
    }
}

/// The first product and the quotient, if the node is the last product.
fn factors(program: &Program, last: u32, readers: &Readers) -> Option<(u32, u32)> {
    let node = &program.nodes[last as usize];
    let fits = node.op == MUL_SCALAR && node.output.dtype == DType::F32 && !readers.leaves(last);
    let (quotient, [dividend, divisor]) = made_by(program, fits.then(|| &node.inputs[0])?, &DIV)? else { return None };
    let (_, [root]) = made_by(program, divisor, &ADD_SCALAR)? else { return None };
    made_by(program, root, &SQRT)?;
    let (first, _) = made_by(program, dividend, &MUL_SCALAR)?;
    let alone = readers.only(quotient) == Some(last) && readers.only(first) == Some(quotient);
    let same = program.nodes[quotient as usize].output.shape == program.nodes[first as usize].output.shape;
    (alone && same).then_some((first, quotient))
}
