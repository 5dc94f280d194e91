//! How a draft is made of a segment: what is wanted first, in the order of the expressions, and each node after its
//! operands.

use std::collections::HashMap;
use std::sync::Arc;

use burn_backend::Shape;
use foldhash::fast::FixedState;
use smallvec::{SmallVec, smallvec};

use super::flow::{FED, Flow};
use super::{BARRIER, Draft, Feed, Numbers, mix};
use crate::bridge::barriers::Barriers;
use crate::bridge::program::Source;
use crate::bridge::value::Value;

/// See [`Draft::new`].
pub(super) fn draft<'a>(flow: &Flow<'a>, wanted: &[bool], done: &[bool]) -> Option<Draft<'a>> {
    let expressions = expressions(flow, wanted, done);
    let mut roots: SmallVec<[usize; 8]> = (0..wanted.len()).filter(|&at| wanted[at]).collect();
    roots.sort_by_key(|&at| expressions[at]);
    let last = *roots.last()?;
    debug_assert!(!done[last], "what is done is not wanted again");
    let mut construction = Construction {
        flow,
        done,
        draft: Draft::with_capacity(flow.segment.nodes.len()),
        numbers: smallvec![UNNUMBERED; flow.segment.nodes.len()],
        shared: SmallVec::new(),
        numbers_of_shared: HashMap::default(),
    };
    let mut stack = Stack::new();
    for root in roots {
        construction.visit(root, &mut stack);
    }
    Some(construction.finish(wanted))
}

/// Marks a node that has no number in the program yet.
const UNNUMBERED: u32 = u32::MAX;

/// Shared values up to which one is looked for among all.
const FEW: usize = 8;

/// Operands from which on it does not matter which of them are the same: up to so many there are a few patterns.
const MANY: usize = 4;

/// The nodes that depend on each other down to the one that is visited, and which of its operands is next.
type Stack = SmallVec<[(usize, usize); 8]>;

struct Construction<'f, 'a> {
    flow: &'f Flow<'a>,
    done: &'f [bool],
    draft: Draft<'a>,
    /// For each node of the segment its number in the program.
    numbers: Numbers,
    /// The fed values that all readers read as one feed, with its number.
    shared: SmallVec<[(*const Value, u32); FEW]>,
    /// The same, if there are more than a few.
    numbers_of_shared: HashMap<*const Value, u32, FixedState>,
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
            if !self.is_fed(producer) && self.numbers[producer as usize] == UNNUMBERED {
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
        let is_joined_of_many = self.is_joined_of_many(at);
        for (index, input) in node.inputs.iter().enumerate() {
            let value = self.flow.value(at, index);
            let operand = (value, input.shape(value));
            let source = self.source(self.flow.producer(at, index), operand, is_joined_of_many);
            if let Source::Feed(number) = source {
                self.draft.feeds[number as usize].note(node, input);
            }
            self.draft.operands.push((source, false));
        }
        self.draft.scalars.extend_from_slice(&node.scalars);
        self.numbers[at] = self.draft.nodes.len() as u32;
        self.draft.nodes.push(node);
        self.draft.recorded_as.push(at as u32);
    }

    /// Whether a node reads many operands, and not one fed value again and again. Samples that are drawn from a list
    /// and joined hold other ones twice each time, which must not be other programs, so each operand is a feed of its
    /// own.
    fn is_joined_of_many(&self, at: usize) -> bool {
        let count = self.flow.segment.nodes[at].inputs.len();
        let is_fed = |index: &usize| self.is_fed(self.flow.producer(at, *index));
        let mut values = (0..count).filter(is_fed).map(|index| self.flow.value(at, index));
        count > MANY && values.next().is_some_and(|first| values.any(|value| !Arc::ptr_eq(first, value)))
    }

    /// Whether none of this program's nodes makes an operand.
    fn is_fed(&self, producer: u32) -> bool {
        producer == FED || self.done[producer as usize]
    }

    /// Where an operand comes from, which is a value read in a shape; `apart` says whether a fed value has a number of
    /// its own here, whoever else reads it.
    fn source(&mut self, producer: u32, (value, shape): (&'a Arc<Value>, &'a Shape), apart: bool) -> Source {
        if !self.is_fed(producer) {
            return Source::Node(self.numbers[producer as usize]);
        }
        if apart {
            return Source::Feed(self.feed(value, shape));
        }
        let address = Arc::as_ptr(value);
        let known = match self.shared.len() {
            0..=FEW => self.shared.iter().find(|(of, _)| *of == address).map(|&(_, number)| number),
            _ => self.numbers_of_shared.get(&address).copied(),
        };
        let number = known.unwrap_or_else(|| {
            let number = self.feed(value, shape);
            self.share(address, number);
            number
        });
        Source::Feed(number)
    }

    /// One more fed value, read in a shape.
    fn feed(&mut self, value: &'a Arc<Value>, shape: &'a Shape) -> u32 {
        self.draft.feeds.push(Feed::new(value, shape));
        self.draft.feeds.len() as u32 - 1
    }

    /// Notes that whoever reads this value reads the feed of this number.
    fn share(&mut self, address: *const Value, number: u32) {
        self.shared.push((address, number));
        let first_new = if self.shared.len() == FEW + 1 { 0 } else { self.shared.len() - 1 };
        if self.shared.len() > FEW {
            self.numbers_of_shared.extend(self.shared[first_new..].iter().copied());
        }
    }

    fn finish(self, wanted: &[bool]) -> Draft<'a> {
        let mut draft = self.draft;
        put_barriers(&mut draft);
        if draft.has_barrier {
            draft.scalars.push(BARRIER);
        }
        let is_output = |&at: &u32| wanted[draft.recorded_as[at as usize] as usize];
        draft.outputs = (0..draft.nodes.len() as u32).filter(is_output).collect();
        draft
    }
}

/// Decides which operands are read through barriers: when all nodes are there, because a product among the last ones
/// may decide the shape of a feed.
fn put_barriers(draft: &mut Draft<'_>) {
    let Draft { nodes, operands, feeds, has_barrier, .. } = draft;
    let nodes = &nodes[..];
    let made = |source: Source| match source {
        Source::Feed(at) => (feeds[at as usize].value, feeds[at as usize].shape),
        Source::Node(at) => (&nodes[at as usize].value, &nodes[at as usize].value.ty.shape),
    };
    let mut rest = &operands[..];
    let last_first = nodes.iter().enumerate().rev().map(|(at, node)| {
        let (before, own) = rest.split_at(rest.len() - node.inputs.len());
        rest = before;
        let read = node.inputs.iter().zip(own).map(|(input, &(source, _))| (source, input.shape(made(source).0)));
        (at as u32, &node.op, &node.value.ty, read)
    });
    let mut barriers = Barriers::new(nodes.len(), last_first);
    let mut rest = &mut operands[..];
    for (at, node) in nodes.iter().enumerate() {
        let (own, behind) = std::mem::take(&mut rest).split_at_mut(node.inputs.len());
        rest = behind;
        let read = node.inputs.iter().zip(&*own).map(|(input, &(source, _))| {
            let (value, shape) = made(source);
            (source, value.ty.dtype, shape, input.shape(value))
        });
        let needed = barriers.of_node(at as u32, &node.op, &node.value.ty, read);
        for ((_, barrier), needs) in own.iter_mut().zip(needed) {
            *barrier = needs;
            *has_barrier |= needs;
        }
    }
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
