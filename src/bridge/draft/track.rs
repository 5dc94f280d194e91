//! The order that a segment's program was given when it was looked up, for segments that are recorded like it.
//!
//! To number a program takes a walk over its expressions. A loop records the same nodes in the same order again and
//! again; then it is enough to compare them, in that order, with the program that was found the last time.

use std::sync::Arc;

use super::{BARRIER, Draft, Feed, Numbers, SameOp, is_node, mix};
use crate::bridge::program::{Program, Source};
use crate::bridge::recording::{Input, Node, Segment};
use crate::bridge::value::Value;
use crate::tensor_type::same_extents;

/// For each node of a program its number in a segment.
pub(in crate::bridge) struct Track(Numbers);

impl Track {
    /// The order of a draft.
    pub fn of(draft: &Draft<'_>) -> Self {
        Self(Numbers::from_slice(&draft.recorded_as))
    }

    /// Whether a segment, in this order, is the program, if ops are compared by `same_op`; then `draft` becomes its
    /// draft, written where it is, because to move it takes long.
    pub fn draft<'a>(
        &self,
        program: &Program,
        segment: &'a Segment,
        same_op: impl SameOp,
        draft: &mut Draft<'a>,
    ) -> bool {
        let Segment { nodes, wanted } = segment;
        let Self(recorded_as) = self;
        if recorded_as.len() != program.nodes.len() {
            return false;
        }
        let nodes = &nodes[..];
        let place = |at: u32| recorded_as[at as usize] as usize;
        let asked = wanted.iter().filter(|wanted| **wanted).count();
        if asked != program.outputs.len() || program.outputs.iter().any(|&at| wanted.get(place(at)) != Some(&true)) {
            return false;
        }
        draft.clear(recorded_as.len());
        for (number, (known, &at)) in program.nodes.iter().zip(recorded_as).enumerate() {
            let Some(node) = nodes.get(at as usize).filter(|node| is_node(node, known, number, &same_op)) else {
                return false;
            };
            for (input, known) in node.inputs.iter().zip(&known.inputs) {
                let value = match known.source {
                    Source::Node(maker) => {
                        nodes.get(place(maker)).filter(|maker| input.producer() == Some(maker.serial)).map(|m| &m.value)
                    }
                    Source::Feed(number) => {
                        input.given().filter(|value| draft.feeds_as(number as usize, value, (node, input)))
                    }
                };
                if value.is_none_or(|value| !same_extents(input.shape(value), &known.shape)) {
                    return false;
                }
                draft.operands.push((known.source, known.barrier));
                draft.has_barrier |= known.barrier;
            }
            draft.scalars.extend_from_slice(&node.scalars);
            draft.nodes.push(node);
        }
        if !draft.feeds_are(&program.feeds) {
            return false;
        }
        if draft.has_barrier {
            draft.scalars.push(BARRIER);
        }
        draft.recorded_as.extend_from_slice(recorded_as);
        draft.outputs.extend_from_slice(&program.outputs);
        true
    }
}

impl<'a> Draft<'a> {
    /// Whether the fed value of this number is the given one, which it becomes if there is none of this number yet. A
    /// value may then have two numbers; a feed is only read, so that does no harm.
    fn feeds_as(&mut self, number: usize, value: &'a Arc<Value>, (node, input): (&Node, &'a Input)) -> bool {
        if number == self.feeds.len() {
            self.feeds.push(Feed::new(value, input.shape(value)));
        }
        let feed = &mut self.feeds[number];
        feed.note(node, input);
        Arc::ptr_eq(feed.value, value)
    }
}

/// A hash of a segment; segments that are recorded alike have equal ones, wherever their slices start.
pub(in crate::bridge) fn key(segment: &Segment) -> u64 {
    let of_node = |node: &Node| {
        let own = if node.op.has_starts() { 0 } else { node.hash };
        let distance = |producer: Option<u64>| producer.map_or(0, |serial| node.serial.wrapping_sub(serial));
        node.inputs.iter().fold(own, |hash, input| hash.rotate_left(5) ^ distance(input.producer()))
    };
    let nodes = segment.nodes.iter().zip(&segment.wanted);
    nodes.fold(0, |hash, (node, &wanted)| mix(hash, of_node(node) ^ u64::from(wanted)))
}

#[cfg(test)]
mod tests;
