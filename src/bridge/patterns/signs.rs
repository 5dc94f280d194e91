//! Minus signs move through products, quotients, sums and permutations to where something is added, and become a
//! subtraction. Gradients of differences and quotients have many.
//!
//! Rounding is symmetric, so every element keeps its bits but for one case: a sum that is exactly zero may have the
//! other zero's sign, and then who divides by it gets the other infinity.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::reading::{ADD, DIV, DIV_SCALAR, MUL, MUL_SCALAR, NEG, Readers, SUB, is_float};
use super::{add, put_in_order};
use crate::bridge::program::{OperandRef, Program, Source};
use crate::ops::Op;
use crate::ops::tensor_shape::TensorShapeOp;

/// Moves the signs if that leaves fewer nodes.
pub(super) fn apply(program: &mut Program) {
    let mut moved = program.clone();
    let mut signs = Signs {
        readers: Readers::new(program),
        minus: vec![false; program.nodes.len()],
        negatives: HashMap::default(),
        program: &mut moved,
    };
    let schedule = &program.schedule;
    if schedule.iter().all(|&at| signs.visit(at)) {
        put_in_order(&mut moved);
        if moved.schedule.len() < program.schedule.len() {
            *program = moved;
        }
    }
}

/// What becomes of a node that reads negatives.
enum Outcome {
    /// It computes the negative of what it did.
    Minus,
    /// It is another op, which may read its operands in the other order.
    Becomes(Op, bool),
    /// It needs its operands as they were.
    Needs,
}

struct Signs<'p> {
    program: &'p mut Program,
    readers: Readers,
    /// Nodes that now compute the negative of what they did.
    minus: Vec<bool>,
    /// The nodes that were added.
    negatives: HashMap<Source, u32, FixedState>,
}

impl Signs<'_> {
    /// Where an operand comes from but for a sign, and whether it is the negative of that. A sign that leaves the
    /// program keeps its value, and reads what the nodes compute now; so it is not looked through.
    fn behind(&self, mut source: Source) -> (Source, bool) {
        let mut minus = false;
        while let Source::Node(at) = source {
            let node = &self.program.nodes[at as usize];
            if node.op != NEG || !node.output.dtype.is_float() || self.readers.leaves(at) {
                return (source, minus ^ self.minus[at as usize]);
            }
            minus = !minus;
            source = node.inputs[0].source;
        }
        (source, minus)
    }

    /// Rewrites a node; whether the program stays as it has to.
    fn visit(&mut self, at: u32) -> bool {
        let node = &self.program.nodes[at as usize];
        let behind: SmallVec<[(Source, bool); 3]> = node.inputs.iter().map(|input| self.behind(input.source)).collect();
        let leaves = self.readers.leaves(at);
        if node.op == NEG && is_float(self.program, at) {
            // Who reads it reads what is behind it, unless it leaves the program.
            if leaves {
                self.program.nodes[at as usize].inputs[0].source = behind[0].0;
            }
            return !(leaves && behind[0].1);
        }
        let minus: SmallVec<[bool; 3]> = behind.iter().map(|(_, minus)| *minus).collect();
        let outcome =
            if minus.contains(&true) { self.outcome(at, &minus) } else { Outcome::Becomes(node.op.clone(), false) };
        let outcome = if leaves && matches!(outcome, Outcome::Minus) { Outcome::Needs } else { outcome };
        let needs = matches!(outcome, Outcome::Needs);
        for (index, (source, minus)) in behind.into_iter().enumerate() {
            let source = if minus && needs { self.negative(source) } else { source };
            self.program.nodes[at as usize].inputs[index].source = source;
        }
        let node = &mut self.program.nodes[at as usize];
        match outcome {
            Outcome::Minus => self.minus[at as usize] = true,
            Outcome::Becomes(op, swapped) => {
                node.op = op;
                if swapped {
                    node.inputs.swap(0, 1);
                }
            }
            Outcome::Needs => {}
        }
        true
    }

    /// What becomes of a node some of whose operands are negatives.
    fn outcome(&self, at: u32, minus: &[bool]) -> Outcome {
        let op = &self.program.nodes[at as usize].op;
        if !is_float(self.program, at) {
            Outcome::Needs
        } else if *op == MUL || *op == DIV {
            let is_odd = minus.iter().filter(|minus| **minus).count() % 2 == 1;
            if is_odd { Outcome::Minus } else { Outcome::Becomes(op.clone(), false) }
        } else if *op == ADD {
            match minus {
                [false, _] => Outcome::Becomes(SUB, false),
                [_, false] => Outcome::Becomes(SUB, true),
                _ => Outcome::Minus,
            }
        } else if *op == SUB {
            match minus {
                [false, _] => Outcome::Becomes(ADD, false),
                [_, false] => Outcome::Needs,
                _ => Outcome::Becomes(SUB, true),
            }
        } else if passes_signs_on(op) {
            Outcome::Minus
        } else {
            Outcome::Needs
        }
    }

    /// The negative of a value, by a node of its own.
    fn negative(&mut self, of: Source) -> Source {
        if let Some(&known) = self.negatives.get(&of) {
            return Source::Node(known);
        }
        let ty = self.program.type_of(of).clone();
        let input = OperandRef { source: of, shape: ty.shape.clone(), barrier: false };
        let made = self.program.nodes.len() as u32;
        add(self.program, NEG, SmallVec::from_iter([input]), ty);
        self.negatives.insert(of, made);
        Source::Node(made)
    }
}

/// Whether the negative of an op's one operand gives the negative of its value.
fn passes_signs_on(op: &Op) -> bool {
    if let Op::Reduction(op) = op {
        return op.added_axes().is_some();
    }
    let moves = matches!(op, Op::TensorShape(TensorShapeOp::Permute { .. } | TensorShapeOp::Expand));
    moves || *op == MUL_SCALAR || *op == DIV_SCALAR
}
