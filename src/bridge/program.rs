//! A program: what a flush runs, written so that two flushes that can share an executable are equal.
//!
//! It is the cache key itself: derived `Eq` and `Hash` over ops with their attributes, types and the flow between them.
//! Values fed at run time (buffers, numbers) are not in it. Its text form is for people and tests.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::recording::{Input, Node};
use super::scalar::{ScalarInput, ScalarKind};
use super::value::Value;
use crate::ops::Op;
use crate::ops::barrier::Trace;
use crate::tensor::TensorType;
use burn_backend::Shape;

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// The program's n-th fed tensor.
    Feed(u32),
    /// The value of the program's n-th node.
    Node(u32),
}

/// An operand: a value, the shape it is read with, and whether it is read through a barrier (see
/// [`crate::ops::barrier`]).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OperandRef {
    pub source: Source,
    pub shape: Shape,
    pub barrier: bool,
}

/// An op of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProgramNode {
    pub op: Op,
    pub inputs: SmallVec<[OperandRef; 3]>,
    pub scalars: SmallVec<[ScalarKind; 2]>,
    pub output: TensorType,
}

/// A list of ops in the order they were recorded, without those whose values nobody wants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Program {
    pub feeds: Vec<TensorType>,
    pub nodes: Vec<ProgramNode>,
    /// Nodes whose values leave the program, in ascending order.
    pub outputs: Vec<u32>,
}

/// What one run of a program binds.
#[derive(Default)]
pub(super) struct Binding {
    /// The fed values, in the order of [`Program::feeds`].
    pub feeds: Vec<Arc<Value>>,
    /// The values to make, in the order of [`Program::outputs`].
    pub outputs: Vec<Arc<Value>>,
    /// Numbers of all nodes, in the order of the nodes, and minus infinity for the barriers, if there are any.
    pub lanes: Vec<f32>,
}

const FEED: u32 = 1 << 31;

impl Program {
    /// The program that makes the `wanted` values; empty if there is none. `epoch` is this build's number.
    ///
    /// Values that are ready already count as fed, also if one of the nodes made them.
    pub fn build(nodes: &[Node], wanted: &[bool], epoch: u32) -> (Program, Binding) {
        let needed = needed(nodes, wanted, epoch);
        let mut program = Program::default();
        let mut binding = Binding::default();
        let mut traces: Vec<Trace> = Vec::with_capacity(nodes.len());
        let mut has_barrier = false;
        for (index, node) in nodes.iter().enumerate().filter(|(index, _)| needed[*index]) {
            let mut made: SmallVec<[Trace; 3]> = SmallVec::new();
            let inputs = node
                .inputs
                .iter()
                .map(|input| {
                    let slot = input.value.slot(epoch).unwrap_or_else(|| {
                        let slot = program.feeds.len() as u32 | FEED;
                        input.value.set_slot(epoch, slot);
                        program.feeds.push(input.value.ty.clone());
                        binding.feeds.push(input.value.clone());
                        slot
                    });
                    let (source, trace) = if slot & FEED == 0 {
                        (Source::Node(slot), traces[slot as usize])
                    } else {
                        (Source::Feed(slot & !FEED), Trace::NOTHING)
                    };
                    made.push(trace);
                    let barrier = trace.hides(&node.op, &input.value.ty, &input.shape, &node.value.ty);
                    has_barrier |= barrier;
                    OperandRef { source, shape: input.shape.clone(), barrier }
                })
                .collect();
            node.scalars.iter().for_each(|scalar| scalar.write(&mut binding.lanes));
            traces.push(Trace::of(&node.op, &made));
            let own = program.nodes.len() as u32;
            node.value.set_slot(epoch, own);
            program.nodes.push(ProgramNode {
                op: node.op.clone(),
                inputs,
                scalars: node.scalars.iter().copied().map(ScalarInput::kind).collect(),
                output: node.value.ty.clone(),
            });
            if wanted[index] {
                program.outputs.push(own);
                binding.outputs.push(node.value.clone());
            }
        }
        if has_barrier {
            binding.lanes.push(f32::NEG_INFINITY);
        }
        (program, binding)
    }

    /// f32 lanes that the numbers of all nodes take, and that of the barriers, which is the last.
    pub fn lanes(&self) -> usize {
        let numbers: usize = self.nodes.iter().flat_map(|node| &node.scalars).map(|kind| kind.lanes()).sum();
        numbers + usize::from(self.has_barrier())
    }

    /// Whether an operand is read through a barrier.
    pub fn has_barrier(&self) -> bool {
        self.nodes.iter().flat_map(|node| &node.inputs).any(|input| input.barrier)
    }

    /// Bytes of the values that stay inside: what an executable may hold as scratch.
    pub fn inner_bytes(&self) -> usize {
        let all: usize = self.nodes.iter().map(|node| node.output.bytes()).sum();
        let out: usize = self.outputs.iter().map(|&i| self.nodes[i as usize].output.bytes()).sum();
        all - out
    }
}

/// Which nodes have to run for the wanted values.
fn needed(nodes: &[Node], wanted: &[bool], epoch: u32) -> Vec<bool> {
    let scratch = epoch.wrapping_sub(1);
    for (index, node) in nodes.iter().enumerate() {
        node.value.set_slot(scratch, index as u32);
    }
    let mut needed = wanted.to_vec();
    for index in (0..nodes.len()).rev() {
        if !needed[index] {
            continue;
        }
        for input in &nodes[index].inputs {
            if let Some(producer) = input.value.slot(scratch)
                && !input.value.is_ready()
            {
                needed[producer as usize] = true;
            }
        }
    }
    needed
}

/// The wanted values that no fed value went into: what initialises a model, mostly.
///
/// Empty if that is all that is wanted.
pub(super) fn initial(nodes: &[Node], wanted: &[bool], epoch: u32) -> Vec<bool> {
    let mut initial = vec![false; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        let from_here = |input: &Input| input.value.slot(epoch).is_some_and(|producer| initial[producer as usize]);
        initial[index] = node.inputs.iter().all(from_here);
        node.value.set_slot(epoch, index as u32);
    }
    initial.iter_mut().zip(wanted).for_each(|(initial, wanted)| *initial &= wanted);
    let all = initial.iter().zip(wanted).all(|(initial, wanted)| initial == wanted);
    if all { vec![false; nodes.len()] } else { initial }
}

impl fmt::Display for Program {
    /// One line per feed, node and output: `%3 = f32[64, 10] Arithmetic(Binary(Add)) %1 $0`. An operand that is read
    /// through a barrier has a bar in front.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ty = |ty: &TensorType| format!("{}{:?}", ty.dtype.name(), &ty.shape[..]);
        for (index, feed) in self.feeds.iter().enumerate() {
            writeln!(f, "${index} = {}", ty(feed))?;
        }
        for (index, node) in self.nodes.iter().enumerate() {
            write!(f, "%{index} = {} {:?}", ty(&node.output), node.op)?;
            for input in &node.inputs {
                let (sigil, at, own) = match input.source {
                    Source::Feed(at) => ('$', at, &self.feeds[at as usize].shape),
                    Source::Node(at) => ('%', at, &self.nodes[at as usize].output.shape),
                };
                let bar = if input.barrier { "|" } else { "" };
                write!(f, " {bar}{sigil}{at}")?;
                if *own != input.shape {
                    write!(f, "{:?}", &input.shape[..])?;
                }
            }
            node.scalars.iter().try_for_each(|kind| write!(f, " {kind:?}"))?;
            writeln!(f)?;
        }
        let outputs: Vec<_> = self.outputs.iter().map(|at| format!("%{at}")).collect();
        write!(f, "-> {}", outputs.join(" "))
    }
}

#[cfg(test)]
mod tests;
