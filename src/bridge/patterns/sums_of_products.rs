//! Sums of matrix products, `a · b + c · d`, are one product of concatenations, `[a c] · [b; d]`, and sums of sums of
//! rows are the sum of all rows. `Autodiff` adds up a weight's gradient so if the weight is used several times, as
//! recurrent layers use it in each step; and gates add a product of the input and one of the state.
//!
//! The terms are added in another order, so the last bits may change; 16-bit floats are rounded once instead of after
//! each term. In f16, where terms without the others may be infinite, the rest is added to the joined ones; those that
//! come to more than 65504 are still infinite, whatever the rest takes away.
//!
//! A sum is rewritten only if the copies take less than what is saved, for which a concatenation counts in parts if
//! several sums read it.

use std::collections::HashMap;

use burn_backend::{DType, Shape};
use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::add;
use super::joined::{Joined, Members, START, ToJoin};
use super::reading::{ADD, Readers, is_float};
use super::regions::PARTS;
use crate::bridge::program::{OperandRef, Program, Source};
use crate::ops::Op;
use crate::ops::matrix_multiplication::{INNER, MatrixMultiplicationOp};
use crate::ops::tensor_shape::{AxisRange, TensorShapeOp};
use crate::tensor_type::TensorType;

pub(super) const PRODUCT: Op = Op::MatrixMultiplication(MatrixMultiplicationOp::Float);

pub(super) fn apply(program: &mut Program) {
    let readers = Readers::new(program);
    let sums: Vec<Sum> = program.schedule.iter().filter_map(|&at| Sum::new(program, at, &readers)).collect();
    let mut uses = Uses::default();
    sums.iter().flat_map(|sum| &sum.groups).for_each(|group| group.count(&mut uses));
    let mut joined = Joined::new(program);
    // Sums of rows take what products have joined.
    for products in [true, false] {
        for sum in sums.iter().filter(|sum| sum.has_products() == products) {
            sum.rewrite(program, &uses, &mut joined);
        }
    }
}

/// How many sums read a concatenation.
type Uses = HashMap<Members, usize, FixedState>;

/// Terms that may become one.
struct Group {
    /// The terms themselves.
    values: Vec<OperandRef>,
    /// Left operands of products, or what has its rows summed.
    left: ToJoin,
    /// Right operands of products.
    right: Option<ToJoin>,
    /// How the terms, and their sum, are computed.
    op: Op,
    /// The type of one.
    output: TensorType,
}

/// A sum; nobody else reads its partial sums and its products.
struct Sum {
    root: u32,
    groups: Vec<Group>,
    others: Vec<OperandRef>,
}

/// One term: what it reads.
struct Term {
    value: OperandRef,
    node: u32,
    /// Rows of the joined operand that the term takes.
    inner: usize,
}

impl Sum {
    /// The sum that a node ends, if some of its terms may be joined.
    fn new(program: &Program, root: u32, readers: &Readers) -> Option<Self> {
        if !is_sum(program, root) || readers.only(root).is_some_and(|reader| is_part(program, root, reader)) {
            return None;
        }
        let shape = &program.nodes[root as usize].output.shape;
        let (mut products, mut rows, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let mut open: Vec<(u32, &OperandRef)> = Vec::new();
        let push = |open: &mut Vec<_>, at: u32| {
            open.extend(program.nodes[at as usize].inputs.iter().rev().map(|input| (at, input)));
        };
        push(&mut open, root);
        while let Some((reader, value)) = open.pop() {
            let Source::Node(made) = value.source else {
                others.push(value.clone());
                continue;
            };
            let node = &program.nodes[made as usize];
            let alone = readers.only(made) == Some(reader);
            let term = |inner| Term { value: value.clone(), node: made, inner };
            if alone && is_sum(program, made) && is_part(program, made, reader) {
                push(&mut open, made);
            } else if value.shape != *shape {
                others.push(value.clone());
            } else if node.op == PRODUCT && alone && node.output.shape == *shape && is_plain(program, made) {
                products.push(term(node.inputs[0].shape[1]));
            } else if let Op::Reduction(op) = &node.op
                && op.sum_axis() == Some(0)
                && is_of_rows(program, made, readers)
            {
                rows.push(term(node.inputs[0].shape[0]));
            } else {
                others.push(value.clone());
            }
        }
        let mut sum = Self { root, groups: Vec::new(), others };
        sum.group(program, products);
        sum.group(program, rows);
        (!sum.groups.is_empty()).then_some(sum)
    }

    fn has_products(&self) -> bool {
        self.groups.iter().any(|group| group.right.is_some())
    }

    /// Makes groups of as many terms as one concatenation and one product may have.
    fn group(&mut self, program: &Program, mut terms: Vec<Term>) {
        while !terms.is_empty() {
            let mut inner = 0;
            let fits = |term: &&Term| {
                inner += term.inner;
                inner <= INNER
            };
            let count = terms.iter().take(PARTS).take_while(fits).count().max(1);
            let rest = terms.split_off(count);
            match Group::new(program, &terms) {
                Some(group) => self.groups.push(group),
                None => self.others.extend(terms.into_iter().map(|term| term.value)),
            }
            terms = rest;
        }
    }

    fn rewrite(&self, program: &mut Program, uses: &Uses, joined: &mut Joined) {
        if !self.groups.iter().any(|group| group.pays(uses)) {
            return;
        }
        let mut terms = self.others.clone();
        let output = program.nodes[self.root as usize].output.clone();
        let mut last = None;
        for group in &self.groups {
            if group.pays(uses) {
                let (op, inputs, ty) = group.join(program, joined);
                if let Some((op, inputs, ty)) = last.replace((op, inputs, ty)) {
                    terms.push(OperandRef { shape: output.shape.clone(), ..add(program, op, inputs, ty) });
                }
            } else {
                terms.extend_from_slice(&group.values);
            }
        }
        let Some((op, inputs, ty)) = last else { unreachable!("one of the groups pays") };
        if output.dtype == DType::F16
            && let Some(end) = terms.pop()
        {
            let all = OperandRef { shape: output.shape.clone(), ..add(program, op, inputs, ty) };
            let sum = |sum, term| add(program, ADD, SmallVec::from_iter([sum, term]), output.clone());
            let sum = terms.into_iter().fold(all, sum);
            let root = &mut program.nodes[self.root as usize];
            (root.op, root.inputs) = (ADD, SmallVec::from_iter([sum, end]));
            return;
        }
        let rest = terms.into_iter().reduce(|a, b| {
            let extents = a.shape.iter().zip(b.shape.iter()).map(|(&a, &b)| a.max(b)).collect::<Vec<_>>();
            let ty = TensorType::new(output.dtype, extents.into());
            add(program, ADD, SmallVec::from_iter([a, b]), ty)
        });
        let leaves = program.outputs.binary_search(&self.root).is_ok();
        let node = if rest.is_none() && (ty.shape == output.shape || !leaves) {
            (op, inputs, ty)
        } else {
            let all = OperandRef { shape: output.shape.clone(), ..add(program, op, inputs, ty) };
            match rest {
                Some(rest) => (ADD, SmallVec::from_iter([rest, all]), output),
                // What leaves the program keeps its shape.
                None => {
                    let region = output.shape.iter().map(|&extent| AxisRange::full(extent)).collect();
                    (TensorShapeOp::Slice { region }.into(), SmallVec::from_iter([all]), output)
                }
            }
        };
        let root = &mut program.nodes[self.root as usize];
        (root.op, root.inputs, root.output) = node;
    }
}

impl Group {
    fn new(program: &Program, terms: &[Term]) -> Option<Self> {
        let [first, _, ..] = terms else { return None };
        let operands = |at: usize| -> Vec<&OperandRef> {
            terms.iter().map(|term| &program.nodes[term.node as usize].inputs[at]).collect()
        };
        let node = &program.nodes[first.node as usize];
        let is_product = node.op == PRODUCT;
        Some(Self {
            values: terms.iter().map(|term| term.value.clone()).collect(),
            left: ToJoin::before_transposing(program, &operands(0), usize::from(is_product)),
            right: is_product.then(|| ToJoin::new(&operands(1), 0)),
            op: node.op.clone(),
            output: node.output.clone(),
        })
    }

    fn operands(&self) -> impl Iterator<Item = &ToJoin> {
        [&self.left].into_iter().chain(&self.right)
    }

    fn count(&self, uses: &mut Uses) {
        self.operands().for_each(|operands| *uses.entry(operands.members()).or_default() += 1);
    }

    /// Whether the copies take less than what is saved: each term is written and read, by a kernel of its own.
    fn pays(&self, uses: &Uses) -> bool {
        let terms = self.values.len();
        let saved = 2 * terms * self.output.elements() + (terms - 1) * START;
        let copied =
            self.operands().map(|operands| (2 * operands.elements() + START).div_ceil(uses[&operands.members()]));
        copied.sum::<usize>() < saved
    }

    /// What makes the sum of the terms.
    fn join(&self, program: &mut Program, joined: &mut Joined) -> (Op, SmallVec<[OperandRef; 3]>, TensorType) {
        let inputs = match &self.right {
            Some(right) => SmallVec::from_iter(joined.together(program, [self.left.clone(), right.clone()])),
            None => SmallVec::from_iter(joined.together(program, [self.left.clone()])),
        };
        (self.op.clone(), inputs, self.output.clone())
    }
}

fn is_sum(program: &Program, at: u32) -> bool {
    program.nodes[at as usize].op == ADD && is_float(program, at)
}

/// Whether `reader` adds to a sum in its own shape.
fn is_part(program: &Program, at: u32, reader: u32) -> bool {
    let shape = &program.nodes[at as usize].output.shape;
    let node = &program.nodes[reader as usize];
    let own = |input: &OperandRef| input.source == Source::Node(at) && input.shape == *shape;
    is_sum(program, reader) && node.output.shape == *shape && node.inputs.iter().any(own)
}

/// Whether a product is of two matrices whose extents are at most [`INNER`]; larger ones are computed in parts.
pub(super) fn is_plain(program: &Program, at: u32) -> bool {
    let node = &program.nodes[at as usize];
    let small = |shape: &Shape| shape.num_dims() == 2 && shape.iter().all(|&extent| extent <= INNER);
    node.scalars.is_empty() && node.inputs.iter().all(|input| small(&input.shape))
}

/// Whether a sum along the first axis is of a matrix of floats, and read by sums only: two biases that are added to the
/// same have the same gradients, summed in different orders.
fn is_of_rows(program: &Program, at: u32, readers: &Readers) -> bool {
    let input = &program.nodes[at as usize].inputs[0];
    let added = !readers.leaves(at) && readers.of(at).iter().all(|&reader| is_sum(program, reader));
    added && is_float(program, at) && input.shape.num_dims() == 2
}
