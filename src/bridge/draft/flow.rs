//! Which node of a segment makes what another reads.

use std::sync::Arc;

use super::Numbers;
use crate::bridge::recording::{Marks, Segment};
use crate::bridge::value::Value;

/// Where the operands of a segment's nodes are made.
pub(in crate::bridge) struct Flow<'a> {
    pub segment: &'a Segment,
    /// For each operand of each node the index of the node that makes it, or [`FED`].
    producers: Numbers,
    /// Where in `producers` each node's operands start.
    starts: Numbers,
}

/// Marks an operand that no node of the segment makes.
pub(super) const FED: u32 = u32::MAX;

impl<'a> Flow<'a> {
    pub fn new(segment: &'a Segment) -> Self {
        let nodes = &segment.nodes;
        let (producers, starts) = (Numbers::with_capacity(2 * nodes.len()), Numbers::with_capacity(nodes.len()));
        let mut flow = Self { segment, producers, starts };
        for node in nodes.iter() {
            flow.starts.push(flow.producers.len() as u32);
            for input in &node.inputs {
                flow.producers.push(input.place_in(nodes).map_or(FED, |at| at as u32));
            }
        }
        flow
    }

    pub fn producer(&self, node: usize, input: usize) -> u32 {
        self.producers[self.starts[node] as usize + input]
    }

    /// An operand's value.
    pub fn value(&self, node: usize, input: usize) -> &'a Arc<Value> {
        let nodes = &self.segment.nodes;
        let given = nodes[node].inputs[input].given();
        given.unwrap_or_else(|| &nodes[self.producer(node, input) as usize].value)
    }

    /// The nodes that make a node's operands.
    pub fn producers_of(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let start = self.starts[node] as usize;
        let producers = &self.producers[start..start + self.segment.nodes[node].inputs.len()];
        producers.iter().filter(|&&producer| producer != FED).map(|&producer| producer as usize)
    }

    /// The values with which a model begins, such as its weights: those of the nodes before the first one that reads a
    /// fed value, as far as something can still ask for them or a later node reads them. `None` if none of them is
    /// wanted, or if only such values are.
    ///
    /// Not those of later nodes: a dropout's mask depends on nothing fed either, but every step makes another one. And
    /// not only the wanted ones: whether a running mean's first value is still held depends on how far the thread has
    /// come.
    pub fn initializers(&self, wanted: &[bool]) -> Option<Marks> {
        let nodes = &self.segment.nodes;
        let reads_fed = |at: &usize| (0..nodes[*at].inputs.len()).any(|input| self.producer(*at, input) == FED);
        let leading = (0..nodes.len()).find(reads_fed).unwrap_or(nodes.len());
        if !wanted[..leading].contains(&true) || !wanted[leading..].contains(&true) {
            return None;
        }
        let mut initial = Marks::from_elem(false, nodes.len());
        initial[..leading].copy_from_slice(&wanted[..leading]);
        let read_later = (leading..nodes.len()).flat_map(|at| self.producers_of(at)).filter(|&at| at < leading);
        read_later.for_each(|producer| initial[producer] = true);
        Some(initial)
    }

    /// The nodes that read a value which none of the segment's nodes makes.
    pub fn readers(&self, value: &Arc<Value>) -> Marks {
        let nodes = self.segment.nodes.iter().enumerate();
        nodes.map(|(at, node)| (0..node.inputs.len()).any(|input| Arc::ptr_eq(self.value(at, input), value))).collect()
    }

    /// The nodes among those given, and all that depend on one of them.
    pub fn dependants(&self, mut affected: Marks) -> Marks {
        for index in 0..affected.len() {
            affected[index] = affected[index] || self.producers_of(index).any(|producer| affected[producer]);
        }
        affected
    }
}
