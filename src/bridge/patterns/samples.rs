//! Samples that are prepared alike, one by one, and then joined, are joined first: each op is one kernel then, not one
//! for each sample. So datasets make their batches.
//!
//! Every element keeps its bits: the same ops compute it from the same numbers.

use burn_backend::Shape;
use smallvec::{SmallVec, smallvec};

use super::add;
use super::joined::{START, type_of};
use super::reading::{Readers, value};
use crate::bridge::program::{OperandRef, Program, ProgramNode, Source};
use crate::lowering::scalar::Layout;
use crate::ops::Op;
use crate::ops::arithmetic::ArithmeticOp;
use crate::ops::tensor_shape::TensorShapeOp;
use crate::tensor_type::TensorType;

/// Axes up to which MPSGraph's kernels work best.
const RANK: usize = 4;

pub(super) fn apply(program: &mut Program, layout: &Layout) {
    if !program.schedule.iter().any(|&at| is_concatenation(&program.nodes[at as usize])) {
        return;
    }
    let readers = Readers::new(program);
    let lanes = program.lanes(layout);
    for place in 0..program.schedule.len() {
        let mut joined = program.schedule[place];
        while let Some(samples) = Samples::of(program, joined, &readers, &lanes) {
            joined = samples.join_first(program, joined);
        }
    }
    read_behind(program);
}

/// Lets all who read a concatenation of one part read the part.
fn read_behind(program: &mut Program) {
    let part = |node: &ProgramNode| match &node.inputs[..] {
        [only] if is_concatenation(node) => Some(only.source),
        _ => None,
    };
    let parts: Vec<Option<Source>> = program.nodes.iter().map(part).collect();
    for input in program.nodes.iter_mut().flat_map(|node| &mut node.inputs) {
        if let Some(part) = input.source.node().and_then(|at| parts[at as usize]) {
            input.source = part;
        }
    }
}

fn is_concatenation(node: &ProgramNode) -> bool {
    matches!(node.op, Op::TensorShape(TensorShapeOp::Cat { .. }))
}

/// What the parts of a concatenation are made of, all by the same op.
struct Samples {
    /// One of the nodes that make the parts.
    maker: u32,
    /// What makes each part, in the shape that the part has in the concatenation.
    operands: SmallVec<[OperandRef; 3]>,
    together: Together,
}

/// An op that does for all samples together what it did for each.
struct Together {
    op: Op,
    /// The shapes in which it reads and makes all samples.
    read: Shape,
    made: Shape,
    /// The place of the operand that is another one for each sample.
    place: usize,
    /// The other operand.
    common: Option<OperandRef>,
}

impl Samples {
    fn of(program: &Program, joined: u32, readers: &Readers, lanes: &[SmallVec<[u32; 2]>]) -> Option<Self> {
        let concatenation = &program.nodes[joined as usize];
        let Op::TensorShape(TensorShapeOp::Cat { axis }) = concatenation.op else { return None };
        let parts = &concatenation.inputs;
        let is_small = concatenation.output.elements() <= parts.len() * START;
        if parts.len() < 2 || !is_small {
            return None;
        }
        let makers: Vec<u32> = parts.iter().map(|part| part.source.node()).collect::<Option<_>>()?;
        let nodes: Vec<&ProgramNode> = makers.iter().map(|&maker| &program.nodes[maker as usize]).collect();
        let is_alike = |maker: u32| {
            let has_same_numbers = lanes[maker as usize] == lanes[makers[0] as usize];
            has_same_numbers && program.nodes[maker as usize].op == nodes[0].op && readers.only(maker).is_some()
        };
        if !makers.iter().all(|&maker| is_alike(maker)) {
            return None;
        }
        let in_rows = if axis == 0 { Together::in_rows(&nodes) } else { None };
        let together = in_rows.or_else(|| Together::elementwise(nodes[0], &concatenation.output.shape))?;
        let operand = |(node, part): (&&ProgramNode, &OperandRef)| {
            let operand = node.inputs[together.place].clone();
            OperandRef { shape: part.shape.clone(), ..operand }
        };
        let operands: SmallVec<[OperandRef; 3]> = nodes.iter().zip(parts).map(operand).collect();
        let dtype = |operand| program.type_of(operand).dtype;
        let is_one_dtype = operands.iter().all(|operand| dtype(operand.source) == dtype(operands[0].source));
        is_one_dtype.then_some(Self { maker: makers[0], operands, together })
    }

    /// Lets the op read the concatenation of what all parts are made of, which is returned.
    fn join_first(self, program: &mut Program, joined: u32) -> u32 {
        let Self { maker, operands, together: Together { op, read, made, place, common } } = self;
        let concatenation = &program.nodes[joined as usize];
        let (cat, all) = (concatenation.op.clone(), concatenation.output.shape.clone());
        let output = TensorType::new(type_of(program, &operands[0]).dtype, all.clone());
        let before = add(program, cat, operands, output);
        let Source::Node(added) = before.source else { unreachable!("a node was added") };
        let node = &mut program.nodes[maker as usize];
        node.op = op;
        node.inputs = smallvec![OperandRef { shape: read, ..before }];
        if let Some(common) = common {
            node.inputs.insert(1 - place, common);
        }
        node.output.shape = made;
        program.nodes[joined as usize].inputs = smallvec![OperandRef { shape: all, ..value(program, maker) }];
        added
    }
}

impl Together {
    /// Of an op that computes each element from one, for a concatenation of the shape `all`.
    fn elementwise(node: &ProgramNode, all: &Shape) -> Option<Self> {
        let Op::Arithmetic(op) = &node.op else { return None };
        let of_one = match op {
            ArithmeticOp::Unary(_)
            | ArithmeticOp::BinaryScalar(_)
            | ArithmeticOp::PowerScalar { .. }
            | ArithmeticOp::PowerOf(_)
            | ArithmeticOp::CompareScalar(_)
            | ArithmeticOp::Test(_)
            | ArithmeticOp::Cast
            | ArithmeticOp::Clamp { .. } => true,
            ArithmeticOp::Binary(_) | ArithmeticOp::Compare(_) | ArithmeticOp::MaskWhere | ArithmeticOp::MaskFill => {
                false
            }
        };
        of_one.then(|| Self { op: node.op.clone(), read: all.clone(), made: all.clone(), place: 0, common: None })
    }

    /// Of an op that permutes samples of one shape, or computes each element from one of the sample and one of another
    /// operand. The samples stand along an axis in front, without their extents of 1: a product that reads more than
    /// one such extent needs a barrier (`Provenance::needs_barrier`).
    fn in_rows(nodes: &[&ProgramNode]) -> Option<Self> {
        let (first, count) = (nodes[0], nodes.len());
        let place = varying(nodes)?;
        let [read, made] = [&first.inputs[place].shape, &first.output.shape];
        let long = |shape: &Shape| -> Vec<usize> { (0..shape.num_dims()).filter(|&axis| shape[axis] != 1).collect() };
        let [read_axes, made_axes] = [long(read), long(made)];
        if made_axes.len() >= RANK {
            return None;
        }
        let mut op = first.op.clone();
        if let Op::TensorShape(TensorShapeOp::Permute { permutation }) = &mut op {
            let moved = |&axis: &usize| 1 + read_axes.iter().take_while(|&&other| other != permutation[axis]).count();
            *permutation = std::iter::once(0).chain(made_axes.iter().map(moved)).collect();
        }
        let in_front = |extent: usize, shape: &Shape, axes: &[usize]| {
            Shape::from_iter(std::iter::once(extent).chain(axes.iter().map(|&axis| shape[axis])))
        };
        let common = first.inputs.get(1 - place);
        let common =
            common.map(|common| OperandRef { shape: in_front(1, &common.shape, &made_axes), ..common.clone() });
        let [read, made] = [in_front(count, read, &read_axes), in_front(count, made, &made_axes)];
        Some(Self { op, read, made, place, common })
    }
}

/// The place of the operand that is another one for each node, if all nodes read that in one shape.
fn varying(nodes: &[&ProgramNode]) -> Option<usize> {
    let first = nodes[0];
    let is_read_alike = |place: usize| nodes.iter().all(|node| node.inputs[place].shape == first.inputs[place].shape);
    let is_common = |place: usize| nodes.iter().all(|node| node.inputs[place] == first.inputs[place]);
    if matches!(first.op, Op::TensorShape(TensorShapeOp::Permute { .. })) {
        return is_read_alike(0).then_some(0);
    }
    let Op::Arithmetic(ArithmeticOp::Binary(_) | ArithmeticOp::Compare(_)) = first.op else { return None };
    let is_whole = |place: usize| first.inputs[place].shape == first.output.shape;
    [0, 1].into_iter().find(|&place| is_whole(place) && is_read_alike(place) && is_common(1 - place))
}
