//! Matrices one after the other, for patterns that make one product of several.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::add;
use super::reading::maker;
use crate::bridge::program::{OperandRef, Program, Source};
use crate::ops::Op;
use crate::ops::tensor_shape::TensorShapeOp;
use crate::tensor_type::TensorType;

/// What starting one more kernel costs, in elements that are copied meanwhile. Small: a Mac's GPU copies more.
pub(super) const START: usize = 4096;

/// Matrices that are to be joined along an axis.
#[derive(Clone)]
pub(super) struct ToJoin {
    parts: Vec<OperandRef>,
    axis: usize,
    /// Whether the parts are joined as they were before they were transposed.
    transposed: bool,
}

/// Which matrices are joined along which axis, in whatever order.
pub(super) type Members = (Vec<OperandRef>, usize);

/// Concatenations that were added.
pub(super) struct Joined {
    known: HashMap<Members, Vec<(Vec<OperandRef>, OperandRef)>, FixedState>,
    /// When each node was recorded.
    places: Vec<usize>,
}

impl ToJoin {
    pub fn new(parts: &[&OperandRef], axis: usize) -> Self {
        let parts = parts.iter().map(|&part| OperandRef { barrier: false, ..part.clone() }).collect();
        Self { parts, axis, transposed: false }
    }

    /// As [`Self::new`], but transposed matrices are joined as they were before and transposed together. That takes
    /// fewer nodes; but a concatenation that several products read had better be in their order.
    pub fn before_transposing(program: &Program, parts: &[&OperandRef], axis: usize) -> Self {
        let before: Option<Vec<OperandRef>> = parts.iter().map(|part| transposed(program, part)).collect();
        match before {
            Some(parts) => Self { parts, axis: 1 - axis, transposed: true },
            None => Self::new(parts, axis),
        }
    }

    pub fn members(&self) -> Members {
        let mut parts = self.parts.clone();
        parts.sort_by_key(|part| part.source.code());
        (parts, self.axis)
    }

    pub fn elements(&self) -> usize {
        self.parts.iter().map(|part| part.shape.num_elements()).sum()
    }

    /// The same with the parts in another order.
    fn in_order(&self, order: &[usize]) -> Self {
        Self { parts: order.iter().map(|&at| self.parts[at].clone()).collect(), ..self.clone() }
    }
}

impl Joined {
    pub fn new(program: &Program) -> Self {
        let mut places = vec![0; program.nodes.len()];
        program.schedule.iter().enumerate().for_each(|(place, &at)| places[at as usize] = place);
        Self { known: HashMap::default(), places }
    }

    /// Adds a concatenation for each of these, all with their parts in one order: that of a concatenation which is
    /// known (of several the last one), else that in which the parts of the first were recorded. The steps of a
    /// sequence record alike, so most concatenations are known after the first step.
    pub fn together<const N: usize>(&mut self, program: &mut Program, all: [ToJoin; N]) -> [OperandRef; N] {
        let order = all.iter().rev().find_map(|matrices| self.known_order(matrices)).unwrap_or_else(|| {
            let mut order: Vec<usize> = (0..all[0].parts.len()).collect();
            order.sort_by_key(|&at| self.place(all[0].parts[at].source));
            order
        });
        all.map(|matrices| self.as_it_is(program, matrices.in_order(&order)))
    }

    /// What was fed comes before what was recorded.
    fn place(&self, source: Source) -> (Option<usize>, u64) {
        (source.node().map(|at| self.places[at as usize]), source.code())
    }

    /// The order of a known concatenation of the same parts.
    fn known_order(&self, matrices: &ToJoin) -> Option<Vec<usize>> {
        let (known, _) = self.known.get(&matrices.members())?.first()?;
        let places: HashMap<&OperandRef, usize, FixedState> =
            matrices.parts.iter().enumerate().map(|(at, part)| (part, at)).collect();
        let order: Vec<usize> = known.iter().map(|part| places[part]).collect();
        // A part that is there twice cannot be told from itself.
        (places.len() == matrices.parts.len()).then_some(order)
    }

    /// Adds the concatenation of these matrices, unless it is known.
    pub fn as_it_is(&mut self, program: &mut Program, matrices: ToJoin) -> OperandRef {
        let known = self.known.entry(matrices.members()).or_default();
        let joined = match known.iter().find(|(parts, _)| *parts == matrices.parts) {
            Some((_, joined)) => joined.clone(),
            None => {
                let joined = concatenate(program, &matrices.parts, matrices.axis);
                known.push((matrices.parts, joined.clone()));
                joined
            }
        };
        if matrices.transposed { transpose(program, joined) } else { joined }
    }
}

/// The type of a value in the shape in which it is read.
pub(super) fn type_of(program: &Program, input: &OperandRef) -> TensorType {
    TensorType::new(program.type_of(input.source).dtype, input.shape.clone())
}

fn concatenate(program: &mut Program, parts: &[OperandRef], axis: usize) -> OperandRef {
    let mut output = type_of(program, &parts[0]);
    output.shape[axis] = parts.iter().map(|part| part.shape[axis]).sum();
    add(program, TensorShapeOp::Cat { axis }.into(), SmallVec::from(parts), output)
}

fn transpose(program: &mut Program, matrix: OperandRef) -> OperandRef {
    let mut output = type_of(program, &matrix);
    output.shape = [matrix.shape[1], matrix.shape[0]].into();
    let op = TensorShapeOp::Permute { permutation: vec![1, 0] };
    add(program, op.into(), SmallVec::from_iter([matrix]), output)
}

/// What a transposed matrix was before.
fn transposed(program: &Program, matrix: &OperandRef) -> Option<OperandRef> {
    let (_, node) = maker(program, matrix)?;
    let Op::TensorShape(TensorShapeOp::Permute { permutation }) = &node.op else { return None };
    (permutation[..] == [1, 0]).then(|| node.inputs[0].clone())
}
