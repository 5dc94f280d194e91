//! The nodes of a flush in the order of their program, ready to be looked up.
//!
//! A program is numbered from what is asked for: outputs are visited in an order that only their expressions decide,
//! and each node after its operands. So flushes that compute the same give the same program, in whatever order
//! independent ops were recorded. A draft borrows its nodes: finding a program that is compiled copies none of them. A
//! segment that is recorded like an earlier one takes over that one's order ([`Track`]).

mod construction;
mod flow;
mod track;

use std::hash::BuildHasher;
use std::sync::Arc;

use burn_backend::Shape;
use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::program::{OperandRef, Program, ProgramNode, Source};
use super::recording::{Input, Node};
use super::value::Value;
use crate::lowering::scalar::ScalarInput;
use crate::ops::Op;
use crate::tensor_type::{TensorType, same_extents};
pub(super) use flow::Flow;
pub(super) use track::{Track, key};

/// Numbers of nodes; those of short segments and programs need no memory of their own.
type Numbers = SmallVec<[u32; 8]>;

/// The scalar of the barriers.
pub(super) const BARRIER: ScalarInput = ScalarInput::Float(f64::NEG_INFINITY);

/// A program that a flush asks for, with what it binds.
#[derive(Default)]
pub(super) struct Draft<'a> {
    /// The program's nodes.
    nodes: SmallVec<[&'a Node; 8]>,
    /// For each node of the program, its number in the segment.
    recorded_as: Numbers,
    /// The operands of all nodes.
    operands: SmallVec<[(Source, bool); 8]>,
    /// What is fed.
    pub feeds: SmallVec<[Feed<'a>; 8]>,
    /// The nodes whose values leave the program, in ascending order.
    pub outputs: Numbers,
    /// The scalars of all nodes, in the order of the nodes, and minus infinity for the barriers, if there are any.
    pub scalars: Vec<ScalarInput>,
    /// Whether an operand is read through a barrier.
    pub has_barrier: bool,
}

/// A value that is fed.
pub(super) struct Feed<'a> {
    pub value: &'a Arc<Value>,
    /// The shape in which a product reads the value first, or else anybody. That is the feed's shape, in whatever shape
    /// the value was made: values that are read alike are fed alike, and products need no reshape.
    pub shape: &'a Shape,
    /// Whether a product reads the value.
    is_factor: bool,
    /// How many operands of the program's nodes hold a reference to the value.
    given: u32,
}

impl<'a> Feed<'a> {
    fn new(value: &'a Arc<Value>, shape: &'a Shape) -> Self {
        Self { value, shape, is_factor: false, given: 0 }
    }

    /// Notes that a node reads the feed in a shape.
    fn note(&mut self, node: &Node, input: &'a Input) {
        self.given += u32::from(input.given().is_some());
        if node.op.is_rewritten() && !self.is_factor {
            (self.shape, self.is_factor) = (input.shape(self.value), true);
        }
    }

    fn is_of(&self, ty: &TensorType) -> bool {
        self.value.ty.dtype == ty.dtype && same_extents(self.shape, &ty.shape)
    }
}

impl<'a> Draft<'a> {
    /// A draft with room for this many nodes.
    fn with_capacity(nodes: usize) -> Self {
        let mut draft = Self::default();
        draft.clear(nodes);
        draft
    }

    /// Empties it, and makes room for this many nodes.
    fn clear(&mut self, count: usize) {
        let Self { nodes, recorded_as, operands, feeds, outputs, scalars, has_barrier } = self;
        nodes.clear();
        nodes.reserve(count);
        recorded_as.clear();
        recorded_as.reserve(count);
        operands.clear();
        operands.reserve(2 * count);
        feeds.clear();
        outputs.clear();
        scalars.clear();
        *has_barrier = false;
    }

    /// The program that makes the `wanted` values from fed ones and those of nodes that are `done`; `None` if nothing
    /// is wanted.
    pub fn new(flow: &Flow<'a>, wanted: &[bool], done: &[bool]) -> Option<Self> {
        construction::draft(flow, wanted, done)
    }

    /// The values that the program makes, in the order of its outputs.
    pub fn output_values(&self) -> impl Iterator<Item = &'a Arc<Value>> + '_ {
        self.outputs.iter().map(|&at| &self.nodes[at as usize].value)
    }

    /// Bytes of what is fed that only the program's nodes have.
    pub fn own_bytes(&self) -> usize {
        let own = self.feeds.iter().filter(|feed| Value::holders(feed.value) <= feed.given as usize);
        own.map(|feed| feed.value.bytes()).sum()
    }

    /// The numbers of the program's nodes in the segment, ascending.
    pub fn recorded_nodes(&self) -> Vec<usize> {
        let mut nodes: Vec<usize> = self.recorded_as.iter().map(|&at| at as usize).collect();
        nodes.sort_unstable();
        nodes
    }

    /// The value of an operand.
    fn value_of(&self, source: Source) -> &'a Arc<Value> {
        match source {
            Source::Feed(at) => self.feeds[at as usize].value,
            Source::Node(at) => &self.nodes[at as usize].value,
        }
    }

    /// The nodes with the sources of their operands and whether each operand is read through a barrier.
    fn nodes(&self) -> impl Iterator<Item = (&'a Node, &[(Source, bool)])> + '_ {
        let mut rest = &self.operands[..];
        self.nodes.iter().map(move |node| {
            let (own, others) = rest.split_at(node.inputs.len());
            rest = others;
            (*node, own)
        })
    }

    /// The number of the program's nodes.
    pub fn ops(&self) -> usize {
        self.nodes.len()
    }

    /// The scalars of each node.
    pub fn scalars_of_nodes(&self) -> impl Iterator<Item = &'a [ScalarInput]> + '_ {
        self.nodes.iter().map(|node| &node.scalars[..])
    }

    /// The op of each node.
    pub fn op_of_each(&self) -> impl Iterator<Item = &'a Op> + '_ {
        self.nodes.iter().map(|node| &node.op)
    }

    /// A hash; equal drafts have equal ones.
    pub fn hash(&self) -> u64 {
        self.hash_by(|node| node.hash)
    }

    /// The hash that the draft has wherever its slices start.
    pub fn hash_anywhere(&self) -> u64 {
        self.hash_by(Node::hash_anywhere)
    }

    fn hash_by(&self, of_node: impl Fn(&Node) -> u64) -> u64 {
        let hash_of = |feed: &Feed<'_>| FixedState::default().hash_one((feed.value.ty.dtype, feed.shape));
        let mut hash = self.feeds.iter().fold(0, |hash, feed| mix(hash, hash_of(feed)));
        for (node, sources) in self.nodes() {
            hash = mix(hash, of_node(node));
            hash = sources.iter().fold(hash, |hash, &(source, barrier)| mix(hash, operand_code(source, barrier)));
        }
        self.outputs.iter().fold(hash, |hash, &output| mix(hash, output.into()))
    }

    /// Whether this is the program `known`.
    pub fn is(&self, known: &Program) -> bool {
        self.is_but_for(known, same)
    }

    /// Whether this is the program `known` if ops are compared by `same_op`.
    pub fn is_but_for(&self, known: &Program, same_op: impl SameOp) -> bool {
        let Program { feeds, nodes, outputs, schedule: _ } = known;
        self.outputs[..] == outputs[..]
            && self.nodes.len() == nodes.len()
            && self.feeds_are(feeds)
            && self.nodes().zip(nodes).enumerate().all(|(at, ((node, sources), known))| {
                is_node(node, known, at, &same_op)
                    && node.inputs.iter().zip(sources).zip(&known.inputs).all(|((input, &(source, barrier)), known)| {
                        let OperandRef { source: known_source, shape, barrier: known_barrier } = known;
                        let same = source == *known_source && barrier == *known_barrier;
                        same && same_extents(input.shape(self.value_of(source)), shape)
                    })
            })
    }

    fn feeds_are(&self, known: &[TensorType]) -> bool {
        self.feeds.len() == known.len() && self.feeds.iter().zip(known).all(|(feed, ty)| feed.is_of(ty))
    }

    /// The program itself, to be kept.
    pub fn program(&self) -> Program {
        let operand = |(input, &(source, barrier)): (&Input, &(Source, bool))| OperandRef {
            source,
            shape: input.shape(self.value_of(source)).clone(),
            barrier,
        };
        let nodes = self.nodes().map(|(node, sources)| ProgramNode {
            op: node.op.clone(),
            inputs: node.inputs.iter().zip(sources).map(operand).collect(),
            scalars: node.scalars.iter().copied().map(ScalarInput::kind).collect(),
            output: node.value.ty.clone(),
        });
        let mut schedule: Vec<u32> = (0..self.nodes.len() as u32).collect();
        schedule.sort_by_key(|&at| self.recorded_as[at as usize]);
        Program {
            feeds: self.feeds.iter().map(|feed| TensorType::new(feed.value.ty.dtype, feed.shape.clone())).collect(),
            nodes: nodes.collect(),
            outputs: self.outputs.to_vec(),
            schedule,
        }
    }
}

/// Whether two ops are the same; it is given the node's number, and says how many starts the known op is fed behind its
/// scalars.
pub(super) trait SameOp: Fn(usize, &Op, &Op) -> Option<usize> {}

impl<F: Fn(usize, &Op, &Op) -> Option<usize>> SameOp for F {}

/// Ops are the same if they are equal.
pub(super) fn same(_: usize, own: &Op, known: &Op) -> Option<usize> {
    (own == known).then_some(0)
}

/// Whether a node is the known one of this number, but for what its operands are.
fn is_node(node: &Node, known: &ProgramNode, number: usize, same_op: &impl SameOp) -> bool {
    same_op(number, &node.op, &known.op).is_some_and(|fed| node.scalars.len() + fed == known.scalars.len())
        && node.value.ty.is(&known.output)
        && node.scalars.iter().zip(&known.scalars).all(|(scalar, kind)| scalar.kind() == *kind)
        && node.inputs.len() == known.inputs.len()
}

#[inline]
fn operand_code(source: Source, barrier: bool) -> u64 {
    source.code() << 1 | u64::from(barrier)
}

#[inline]
fn mix(hash: u64, with: u64) -> u64 {
    let wide = u128::from(hash.rotate_left(23) ^ with ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93_u128;
    (wide as u64) ^ (wide >> 64) as u64
}
