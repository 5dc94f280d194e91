//! Sums of tensors that are zero outside of a region, as the gradients of slices are: adding one to the others is
//! assigning the sum with its region.
//!
//! Every element keeps its bits but for one case: a sum of minus zeros where regions overlap becomes zero. Adding zero
//! makes zero of minus zero. So the first term of a sum has zero added where it is not zero anyway, and all later ones
//! find a sum without minus zero, to which adding zero changes nothing.

use std::collections::HashSet;

use burn_backend::Shape;
use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::add;
use super::reading::{ADD, Readers};
use super::regions::assigned;
use crate::bridge::program::{OperandRef, Program, Source};
use crate::ops::Op;
use crate::ops::tensor_shape::{AxisRange, TensorShapeOp};
use crate::tensor_type::TensorType;

/// Zeros into which a region was assigned.
struct Padded {
    zeros: u32,
    region: Vec<AxisRange>,
    part: OperandRef,
    shape: Shape,
}

/// Rewrites the program; whether anything changed.
pub(super) fn apply(program: &mut Program) -> bool {
    let mut rewrite = Rewrite {
        readers: Readers::new(program),
        without_minus_zero: HashSet::default(),
        schedule: Vec::new(),
        program,
    };
    let recorded = std::mem::take(&mut rewrite.program.schedule);
    for &at in &recorded {
        rewrite.visit(at);
        rewrite.schedule.push(at);
    }
    let changed = rewrite.schedule.len() > recorded.len();
    program.schedule = rewrite.schedule;
    changed
}

struct Rewrite<'p> {
    program: &'p mut Program,
    readers: Readers,
    /// Sums that were rewritten.
    without_minus_zero: HashSet<u32, FixedState>,
    schedule: Vec<u32>,
}

impl Rewrite<'_> {
    /// Rewrites a node if it adds a padded term.
    fn visit(&mut self, at: u32) {
        let Some((rest, term)) = self.sum(at) else { return };
        let rest = OperandRef { shape: term.shape.clone(), ..rest };
        let is_rewritten = |at| self.without_minus_zero.contains(&at);
        let rest = if rest.source.node().is_some_and(is_rewritten) {
            rest
        } else if let Some(first) = self.padded(&rest, at) {
            // The first two terms.
            self.assign(&first)
        } else if self.is_added_to(at) {
            let zeros = self.of_node(term.zeros, &term.shape);
            self.push(ADD, [rest, zeros].into_iter().collect(), self.like(&term, &term.shape))
        } else {
            return;
        };
        // The first term may have been made in another shape of as many elements.
        let rest = OperandRef { shape: term.shape.clone(), ..rest };
        let sum = self.part_sum(&rest, &term);
        let node = &mut self.program.nodes[at as usize];
        node.op = TensorShapeOp::SliceAssign { region: term.region }.into();
        node.output.shape = term.shape;
        node.inputs = SmallVec::from_iter([rest, sum]);
        self.without_minus_zero.insert(at);
    }

    /// What a node adds, if one of the terms is padded: the other one, and that one.
    fn sum(&self, at: u32) -> Option<(OperandRef, Padded)> {
        let node = &self.program.nodes[at as usize];
        let [a, b] = &node.inputs[..] else { return None };
        if node.op != ADD || a.shape != node.output.shape || b.shape != node.output.shape {
            return None;
        }
        let term = self.padded(b, at).map(|term| (a.clone(), term));
        term.or_else(|| Some((b.clone(), self.padded(a, at)?)))
    }

    /// The padded term that node `at` reads as `input`.
    fn padded(&self, input: &OperandRef, at: u32) -> Option<Padded> {
        let Source::Node(producer) = input.source else { return None };
        let assignment = &self.program.nodes[producer as usize];
        let region = assigned(assignment)?;
        let Source::Node(zeros) = assignment.inputs[0].source else { return None };
        let shape = assignment.output.shape.clone();
        // The value of a node that leaves the program has to keep its shape.
        let fits = shape == input.shape || self.program.outputs.binary_search(&at).is_err();
        let plain = region.iter().all(|range| range.is_plain());
        (self.program.nodes[zeros as usize].op.is_zeros() && fits && plain).then(|| Padded {
            zeros,
            region: region.to_vec(),
            part: assignment.inputs[1].clone(),
            shape,
        })
    }

    /// Whether the only reader of a sum adds another padded term to it.
    fn is_added_to(&self, at: u32) -> bool {
        self.readers
            .only(at)
            .is_some_and(|reader| self.sum(reader).is_some_and(|(rest, _)| rest.source == Source::Node(at)))
    }

    fn of_node(&self, number: u32, shape: &Shape) -> OperandRef {
        OperandRef { source: Source::Node(number), shape: shape.clone(), barrier: false }
    }

    /// A padded term with zero added where its part is.
    fn assign(&mut self, term: &Padded) -> OperandRef {
        let zeros = self.of_node(term.zeros, &term.shape);
        let part = self.part_sum(&zeros, term);
        let assignment = TensorShapeOp::SliceAssign { region: term.region.clone() }.into();
        self.push(assignment, [zeros, part].into_iter().collect(), self.like(term, &term.shape))
    }

    /// The part of `rest` in the term's region, plus the term's part.
    fn part_sum(&mut self, rest: &OperandRef, term: &Padded) -> OperandRef {
        let output = self.like(term, &term.part.shape);
        let slice = TensorShapeOp::Slice { region: term.region.clone() }.into();
        let taken = self.push(slice, SmallVec::from_iter([rest.clone()]), output.clone());
        self.push(ADD, [taken, term.part.clone()].into_iter().collect(), output)
    }

    /// The type of a value of this shape in a sum with the term.
    fn like(&self, term: &Padded, shape: &Shape) -> TensorType {
        TensorType::new(self.program.nodes[term.zeros as usize].output.dtype, shape.clone())
    }

    fn push(&mut self, op: Op, inputs: SmallVec<[OperandRef; 3]>, output: TensorType) -> OperandRef {
        self.schedule.push(self.program.nodes.len() as u32);
        add(self.program, op, inputs, output)
    }
}
