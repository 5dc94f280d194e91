//! The nodes of a flush in the order of their program, ready to be looked up.
//!
//! A program is numbered from what is asked for: outputs are visited in an order that only their expressions decide,
//! and each node after its operands. So flushes that compute the same give the same program, in whatever order
//! independent ops were recorded. A draft borrows its nodes: finding a program that is compiled copies none of them.

mod flow;

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;
use smallvec::{SmallVec, smallvec};

use super::list::{Input, Marks, Node};
use super::program::{OperandRef, Program, ProgramNode, Source};
use super::value::Value;
use crate::ffi::os_version;
use crate::lowering::provenance::Provenance;
use crate::lowering::scalar::ScalarInput;
use crate::ops::Op;
use flow::FED;
pub(super) use flow::Flow;

/// Numbers of nodes; those of short segments and programs need no memory of their own.
type Numbers = SmallVec<[u32; 8]>;

/// The scalar of the barriers.
pub(super) const BARRIER: ScalarInput = ScalarInput::Float(f64::NEG_INFINITY);

/// A program that a flush asks for, with what it binds.
pub(super) struct Draft<'a> {
    /// The program's nodes.
    nodes: SmallVec<[&'a Node; 8]>,
    /// For each, its number in the segment.
    recorded_as: Numbers,
    /// The operands of all nodes.
    operands: SmallVec<[(Source, bool); 8]>,
    /// The fed values.
    pub feeds: SmallVec<[&'a Arc<Value>; 8]>,
    /// The nodes whose values leave the program, in ascending order.
    pub outputs: Numbers,
    /// The scalars of all nodes, in the order of the nodes, and minus infinity for the barriers, if there are any.
    pub scalars: Vec<ScalarInput>,
    /// Whether an operand is read through a barrier.
    pub has_barrier: bool,
    /// Equal drafts have equal hashes.
    pub hash: u64,
}

impl<'a> Draft<'a> {
    /// The program that makes the `wanted` values from fed ones and those of nodes that are `done`; `None` if nothing
    /// is wanted.
    pub fn new(flow: &Flow<'a>, wanted: &[bool], done: &[bool]) -> Option<Self> {
        let expressions = expressions(flow, wanted, done);
        let mut roots: SmallVec<[usize; 8]> = (0..wanted.len()).filter(|&at| wanted[at]).collect();
        roots.sort_by_key(|&at| expressions[at]);
        let last = *roots.last()?;
        debug_assert!(!done[last], "what is done is not wanted again");
        let mut construction = Construction {
            flow,
            done,
            draft: Draft::empty(flow.segment.nodes.len()),
            numbers: smallvec![UNNUMBERED; flow.segment.nodes.len()],
            fed: HashMap::default(),
            provenances: SmallVec::with_capacity(flow.segment.nodes.len()),
            read_lone: read_lone(flow, wanted, done),
        };
        let mut stack = Stack::new();
        for root in roots {
            construction.visit(root, &mut stack);
        }
        Some(construction.finish(wanted))
    }

    fn empty(capacity: usize) -> Self {
        Self {
            nodes: SmallVec::with_capacity(capacity),
            recorded_as: Numbers::with_capacity(capacity),
            operands: SmallVec::with_capacity(2 * capacity),
            feeds: SmallVec::new(),
            outputs: Numbers::new(),
            scalars: Vec::new(),
            has_barrier: false,
            hash: 0,
        }
    }

    /// The values that the program makes, in the order of its outputs.
    pub fn output_values(&self) -> impl Iterator<Item = &'a Arc<Value>> + '_ {
        self.outputs.iter().map(|&at| &self.nodes[at as usize].value)
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
            Source::Feed(at) => self.feeds[at as usize],
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

    /// The hash that the draft has wherever its slices start.
    pub fn hash_anywhere(&self) -> u64 {
        let mut hash = self.feeds.iter().fold(0, |hash, value| mix(hash, FixedState::default().hash_one(&value.ty)));
        for (node, sources) in self.nodes() {
            hash = mix(hash, node.hash_anywhere());
            hash = sources.iter().fold(hash, |hash, &(source, barrier)| mix(hash, operand_code(source, barrier)));
        }
        self.outputs.iter().fold(hash, |hash, &output| mix(hash, output.into()))
    }

    /// Whether this is the program `known`.
    pub fn is(&self, known: &Program) -> bool {
        self.is_but_for(known, |_, own, known| (own == known).then_some(0))
    }

    /// Whether this is the program `known` if ops are compared by `same_op`, which is given each node's number and both
    /// ops. It says how many starts the known one is fed behind the scalars.
    pub fn is_but_for(&self, known: &Program, same_op: impl Fn(usize, &Op, &Op) -> Option<usize>) -> bool {
        let Program { feeds, nodes, outputs, schedule: _ } = known;
        self.outputs[..] == outputs[..]
            && self.nodes.len() == nodes.len()
            && self.feeds.len() == feeds.len()
            && self.feeds.iter().zip(feeds).all(|(value, ty)| value.ty == *ty)
            && self.nodes().zip(nodes).enumerate().all(|(at, ((node, sources), known))| {
                let ProgramNode { op, inputs, scalars, output } = known;
                same_op(at, &node.op, op).is_some_and(|fed| node.scalars.len() + fed == scalars.len())
                    && node.value.ty == *output
                    && node.scalars.iter().zip(scalars).all(|(scalar, kind)| scalar.kind() == *kind)
                    && node.inputs.len() == inputs.len()
                    && node.inputs.iter().zip(sources).zip(inputs).all(|((input, &(source, barrier)), known)| {
                        let OperandRef { source: known_source, shape, barrier: known_barrier } = known;
                        let same = source == *known_source && barrier == *known_barrier;
                        same && input.shape(self.value_of(source)) == shape
                    })
            })
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
            feeds: self.feeds.iter().map(|value| value.ty.clone()).collect(),
            nodes: nodes.collect(),
            outputs: self.outputs.to_vec(),
            schedule,
        }
    }
}

/// Marks a node that has no number in the program yet.
const UNNUMBERED: u32 = u32::MAX;

/// Fed values up to which one is looked for among all.
const FEW: usize = 8;

/// The nodes that depend on each other down to the one that is visited, and which of its operands is next.
type Stack = SmallVec<[(usize, usize); 8]>;

struct Construction<'f, 'a> {
    flow: &'f Flow<'a>,
    done: &'f [bool],
    draft: Draft<'a>,
    /// For each node of the segment its number in the program.
    numbers: Numbers,
    /// The numbers of the fed values, if there are more than a few.
    fed: HashMap<*const Value, u32, FixedState>,
    /// What MPSGraph's compiler may take each node's value for.
    provenances: SmallVec<[Provenance; 8]>,
    /// Which nodes' values are read with more than one extent of 1.
    read_lone: Marks,
}

impl<'a> Construction<'_, 'a> {
    /// Numbers a node after the nodes that it depends on.
    fn visit(&mut self, root: usize, stack: &mut Stack) {
        if self.numbers[root] != UNNUMBERED {
            return;
        }
        stack.push((root, 0));
        while let Some((node, input)) = stack.last_mut() {
            let (at, next) = (*node, *input);
            if next == self.flow.segment.nodes[at].inputs.len() {
                stack.pop();
                self.add(at);
                continue;
            }
            *input += 1;
            let producer = self.flow.producer(at, next);
            if producer != FED && !self.done[producer as usize] && self.numbers[producer as usize] == UNNUMBERED {
                stack.push((producer as usize, 0));
            }
        }
    }

    /// Appends a node whose operands have numbers.
    fn add(&mut self, at: usize) {
        if self.numbers[at] != UNNUMBERED {
            return;
        }
        let node = &self.flow.segment.nodes[at];
        let mut provenances: SmallVec<[Provenance; 3]> = SmallVec::new();
        let is_rewritten = node.op.is_rewritten();
        self.draft.hash = mix(self.draft.hash, node.hash);
        for (index, input) in node.inputs.iter().enumerate() {
            let value = self.flow.value(at, index);
            let (source, provenance) = self.source(self.flow.producer(at, index), value);
            let barrier = is_rewritten
                && provenance.needs_barrier(&value.ty, input.shape(value), &node.value.ty, self.read_lone[at]);
            self.draft.has_barrier |= barrier;
            provenances.push(provenance);
            self.draft.operands.push((source, barrier));
            self.draft.hash = mix(self.draft.hash, operand_code(source, barrier));
        }
        self.draft.scalars.extend_from_slice(&node.scalars);
        self.provenances.push(node.op.provenance(&provenances, node.value.ty.shape.num_dims()));
        self.numbers[at] = self.draft.nodes.len() as u32;
        self.draft.nodes.push(node);
        self.draft.recorded_as.push(at as u32);
    }

    /// Where an operand comes from; a value that none of this program's nodes makes is fed.
    fn source(&mut self, producer: u32, value: &'a Arc<Value>) -> (Source, Provenance) {
        if producer != FED && !self.done[producer as usize] {
            let number = self.numbers[producer as usize];
            return (Source::Node(number), self.provenances[number as usize]);
        }
        let known = match self.draft.feeds.len() {
            0..=FEW => self.draft.feeds.iter().position(|feed| Arc::ptr_eq(feed, value)).map(|at| at as u32),
            _ => self.fed.get(&Arc::as_ptr(value)).copied(),
        };
        (Source::Feed(known.unwrap_or_else(|| self.feed(value))), Provenance::NONE)
    }

    /// One more fed value.
    fn feed(&mut self, value: &'a Arc<Value>) -> u32 {
        let Draft { feeds, hash, .. } = &mut self.draft;
        *hash = mix(*hash, FixedState::default().hash_one(&value.ty));
        feeds.push(value);
        let first_new = if feeds.len() == FEW + 1 { 0 } else { feeds.len() - 1 };
        if feeds.len() > FEW {
            let numbered = feeds.iter().enumerate().skip(first_new);
            self.fed.extend(numbered.map(|(at, feed)| (Arc::as_ptr(feed), at as u32)));
        }
        feeds.len() as u32 - 1
    }

    fn finish(self, wanted: &[bool]) -> Draft<'a> {
        let mut draft = self.draft;
        if draft.has_barrier {
            draft.scalars.push(BARRIER);
        }
        let is_output = |&at: &u32| wanted[draft.recorded_as[at as usize] as usize];
        draft.outputs = (0..draft.nodes.len() as u32).filter(is_output).collect();
        draft.hash = draft.outputs.iter().fold(draft.hash, |hash, &output| mix(hash, output.into()));
        draft
    }
}

fn operand_code(source: Source, barrier: bool) -> u64 {
    source.code() << 1 | u64::from(barrier)
}

/// A hash of what each node computes from which shapes. Expressions that are equal, or differ only in where slices
/// start, have equal hashes.
fn expressions(flow: &Flow<'_>, wanted: &[bool], done: &[bool]) -> SmallVec<[u64; 8]> {
    let nodes = &flow.segment.nodes;
    let mut expressions = smallvec![0; nodes.len()];
    // A single output needs no order.
    if wanted.iter().filter(|wanted| **wanted).count() < 2 {
        return expressions;
    }
    for (at, node) in nodes.iter().enumerate() {
        expressions[at] = node.inputs.iter().enumerate().fold(node.hash_anywhere(), |hash, (index, input)| {
            match flow.producer(at, index) {
                producer if producer != FED && !done[producer as usize] => mix(hash, expressions[producer as usize]),
                // The extents tell most fed values apart.
                _ => {
                    let shape = input.shape(flow.value(at, index));
                    shape.iter().fold(hash, |hash, &extent| mix(hash, extent as u64))
                }
            }
        });
    }
    expressions
}

/// Which nodes' values are read with more than one extent of 1, directly or through nodes that MPSGraph's compiler sees
/// through; see [`Provenance::needs_barrier`], which asks from macOS 26 on.
fn read_lone(flow: &Flow<'_>, wanted: &[bool], done: &[bool]) -> Marks {
    let nodes = &flow.segment.nodes;
    let mut read_lone = Marks::from_elem(false, nodes.len());
    if !os_version::at_least(26, 0) {
        return read_lone;
    }
    let mut needed = Marks::from_slice(wanted);
    for (at, node) in nodes.iter().enumerate().rev().filter(|(at, _)| !done[*at]) {
        if !needed[at] {
            continue;
        }
        let reshapes = node.op.reshapes(node.value.ty.shape.num_dims());
        for (index, input) in node.inputs.iter().enumerate() {
            let producer = flow.producer(at, index);
            if producer != FED {
                needed[producer as usize] = true;
                read_lone[producer as usize] |= reshapes.sees_lone(input.shape(flow.value(at, index)), read_lone[at]);
            }
        }
    }
    read_lone
}

fn mix(hash: u64, with: u64) -> u64 {
    let wide = u128::from(hash.rotate_left(23) ^ with ^ 0x9e37_79b9_7f4a_7c15) * 0xd6e8_feb8_6659_fd93_u128;
    (wide as u64) ^ (wide >> 64) as u64
}
