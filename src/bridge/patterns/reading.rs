//! Who reads what in a program.

use super::super::program::{OperandRef, Program, ProgramNode, Source};
use crate::ops::Op;
use crate::ops::arithmetic::{ArithmeticOp, BinaryOp, UnaryOp};

pub(super) const ADD: Op = Op::Arithmetic(ArithmeticOp::Binary(BinaryOp::Add));
pub(super) const SUB: Op = Op::Arithmetic(ArithmeticOp::Binary(BinaryOp::Sub));
pub(super) const MUL: Op = Op::Arithmetic(ArithmeticOp::Binary(BinaryOp::Mul));
pub(super) const DIV: Op = Op::Arithmetic(ArithmeticOp::Binary(BinaryOp::Div));
pub(super) const MUL_SCALAR: Op = Op::Arithmetic(ArithmeticOp::BinaryScalar(BinaryOp::Mul));
pub(super) const DIV_SCALAR: Op = Op::Arithmetic(ArithmeticOp::BinaryScalar(BinaryOp::Div));
pub(super) const ADD_SCALAR: Op = Op::Arithmetic(ArithmeticOp::BinaryScalar(BinaryOp::Add));
pub(super) const SQRT: Op = Op::Arithmetic(ArithmeticOp::Unary(UnaryOp::Sqrt));
pub(super) const NEG: Op = Op::Arithmetic(ArithmeticOp::Unary(UnaryOp::Neg));
pub(super) const RECIP: Op = Op::Arithmetic(ArithmeticOp::Unary(UnaryOp::Recip));

/// The node that makes an operand, if the operand is read in the shape in which it is made.
pub(super) fn maker<'p>(program: &'p Program, input: &OperandRef) -> Option<(u32, &'p ProgramNode)> {
    let Source::Node(at) = input.source else { return None };
    let node = &program.nodes[at as usize];
    (node.output.shape == input.shape).then_some((at, node))
}

/// The node that makes an operand and what it reads, if it is this op.
pub(super) fn made_by<'p>(program: &'p Program, input: &OperandRef, op: &Op) -> Option<(u32, &'p [OperandRef])> {
    maker(program, input).filter(|(_, node)| node.op == *op).map(|(at, node)| (at, &node.inputs[..]))
}

/// Both ways to see two operands whose order does not matter.
pub(super) fn either_way(inputs: &[OperandRef]) -> [[&OperandRef; 2]; 2] {
    let [a, b] = inputs else { unreachable!("an op of two operands") };
    [[a, b], [b, a]]
}

/// A node's value as an operand.
pub(super) fn value(program: &Program, at: u32) -> OperandRef {
    let shape = program.nodes[at as usize].output.shape.clone();
    OperandRef { source: Source::Node(at), shape, barrier: false }
}

/// Whether a node's value is of floats.
pub(super) fn is_float(program: &Program, at: u32) -> bool {
    program.nodes[at as usize].output.dtype.is_float()
}

/// For each node those that read it, once per operand.
pub(super) struct Readers {
    of: Vec<Vec<u32>>,
    leaves: Vec<bool>,
}

impl Readers {
    pub fn new(program: &Program) -> Self {
        let mut readers = Self { of: vec![Vec::new(); program.nodes.len()], leaves: vec![false; program.nodes.len()] };
        for &at in &program.schedule {
            for input in &program.nodes[at as usize].inputs {
                if let Source::Node(producer) = input.source {
                    readers.of[producer as usize].push(at);
                }
            }
        }
        program.outputs.iter().for_each(|&output| readers.leaves[output as usize] = true);
        readers
    }

    /// All who read a node.
    pub fn of(&self, at: u32) -> &[u32] {
        &self.of[at as usize]
    }

    /// Whether a node's value leaves the program.
    pub fn leaves(&self, at: u32) -> bool {
        self.leaves[at as usize]
    }

    /// The one node that reads this one, once; `None` if there are several, or the value leaves the program.
    pub fn only(&self, at: u32) -> Option<u32> {
        match self.of(at) {
            &[only] if !self.leaves(at) => Some(only),
            _ => None,
        }
    }

    /// Whether nobody but these nodes reads a node, and its value does not leave the program.
    pub fn nobody_else_reads(&self, at: u32, known: &[u32]) -> bool {
        !self.leaves(at) && self.of(at).iter().all(|reader| known.contains(reader))
    }
}
