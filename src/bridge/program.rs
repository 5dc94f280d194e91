//! A program: what a flush runs, written so that two flushes that can share an executable are equal.
//!
//! It is the cache key itself: derived `Eq` and `Hash` over ops with their attributes, types and the flow between them.
//! Values fed at run time (buffers, scalars) are not in it. Its text form is for people and tests.

use std::fmt;
use std::sync::Arc;

use burn_backend::Shape;
use smallvec::SmallVec;

use super::recording::{Input, Node};
use super::value::Value;
use crate::lowering::provenance::Provenance;
use crate::lowering::scalar::{ScalarInput, ScalarKind};
use crate::ops::Op;
use crate::tensor_type::TensorType;

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// The program's n-th fed tensor.
    Feed(u32),
    /// The value of the program's n-th node.
    Node(u32),
}

/// An operand: a value, the shape it is read with, and whether it is read through a barrier (see
/// [`crate::lowering::provenance`]).
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

/// A list of ops in the order they were recorded, without those whose values neither a tensor nor a later node needs.
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
    /// The scalars of all nodes, in the order of the nodes, and minus infinity for the barriers, if there are any.
    pub lanes: Vec<f32>,
}

impl Program {
    /// The program that makes the `wanted` values; empty if there is none. `epoch` is this build's number.
    ///
    /// Values that are already ready count as fed, also if one of the nodes made them.
    pub fn build(nodes: &[Node], wanted: &[bool], epoch: u32) -> (Program, Binding) {
        let Marks { needed, read_lone } = mark(nodes, wanted, epoch);
        let mut construction = Construction { epoch, ..Construction::default() };
        for (index, node) in nodes.iter().enumerate().filter(|(index, _)| needed[*index]) {
            construction.add(node, wanted[index], read_lone[index]);
        }
        let Construction { program, mut binding, has_barrier, .. } = construction;
        if has_barrier {
            binding.lanes.push(f32::NEG_INFINITY);
        }
        (program, binding)
    }

    /// The number of f32 lanes: those of all nodes' scalars, and last the lane of the barriers, if there is one.
    pub fn lanes(&self) -> usize {
        let of_nodes: usize = self.nodes.iter().flat_map(|node| &node.scalars).map(|kind| kind.lanes()).sum();
        of_nodes + usize::from(self.has_barrier())
    }

    /// Whether an operand is read through a barrier.
    pub fn has_barrier(&self) -> bool {
        self.nodes.iter().flat_map(|node| &node.inputs).any(|input| input.barrier)
    }

    /// Bytes of the values that do not leave the program, which an executable may hold as scratch memory.
    pub fn inner_bytes(&self) -> usize {
        let all: usize = self.nodes.iter().map(|node| node.output.bytes()).sum();
        let out: usize = self.outputs.iter().map(|&i| self.nodes[i as usize].output.bytes()).sum();
        all - out
    }
}

/// A program while its nodes are added one after the other.
#[derive(Default)]
struct Construction {
    program: Program,
    binding: Binding,
    /// What MPSGraph's compiler may take each node's value for.
    provenances: Vec<Provenance>,
    has_barrier: bool,
    /// The number of this build, under which values keep their index in it.
    epoch: u32,
}

/// Marks the index of a value as that of a feed.
const FEED: u32 = 1 << 31;

impl Construction {
    /// Appends a node, whose value leaves the program if it is `wanted`; `read_lone` is its mark.
    fn add(&mut self, node: &Node, wanted: bool, read_lone: bool) {
        let mut provenances: SmallVec<[Provenance; 3]> = SmallVec::new();
        let mut inputs = SmallVec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            let (source, provenance) = self.source(input);
            let barrier = node.op.is_rewritten()
                && provenance.needs_barrier(&input.value.ty, &input.shape, &node.value.ty, read_lone);
            self.has_barrier |= barrier;
            provenances.push(provenance);
            inputs.push(OperandRef { source, shape: input.shape.clone(), barrier });
        }
        node.scalars.iter().for_each(|scalar| scalar.write(&mut self.binding.lanes));
        self.provenances.push(node.op.provenance(&provenances, node.value.ty.shape.num_dims()));
        let own = self.program.nodes.len() as u32;
        node.value.set_slot(self.epoch, own);
        self.program.nodes.push(ProgramNode {
            op: node.op.clone(),
            inputs,
            scalars: node.scalars.iter().copied().map(ScalarInput::kind).collect(),
            output: node.value.ty.clone(),
        });
        if wanted {
            self.program.outputs.push(own);
            self.binding.outputs.push(node.value.clone());
        }
    }

    /// Where an input comes from; a value that none of this program's nodes makes is fed.
    fn source(&mut self, input: &Input) -> (Source, Provenance) {
        let slot = input.value.slot(self.epoch).unwrap_or_else(|| {
            let slot = self.program.feeds.len() as u32 | FEED;
            input.value.set_slot(self.epoch, slot);
            self.program.feeds.push(input.value.ty.clone());
            self.binding.feeds.push(input.value.clone());
            slot
        });
        if slot & FEED == 0 {
            (Source::Node(slot), self.provenances[slot as usize])
        } else {
            (Source::Feed(slot & !FEED), Provenance::NONE)
        }
    }
}

/// What the readers of nodes' values tell about the nodes.
struct Marks {
    /// Which nodes have to run for the wanted values.
    needed: Vec<bool>,
    /// Which values are read with more than one extent of 1 by a node that has to run.
    read_lone: Vec<bool>,
}

/// Marks the nodes, readers before what they read.
fn mark(nodes: &[Node], wanted: &[bool], epoch: u32) -> Marks {
    let scratch = epoch.wrapping_sub(1);
    for (index, node) in nodes.iter().enumerate() {
        node.value.set_slot(scratch, index as u32);
    }
    let mut needed = wanted.to_vec();
    let mut read_lone = vec![false; nodes.len()];
    for index in (0..nodes.len()).rev() {
        if !needed[index] {
            continue;
        }
        let node = &nodes[index];
        let reshapes = node.op.reshapes(node.value.ty.shape.num_dims());
        for input in &node.inputs {
            if let Some(producer) = input.value.slot(scratch) {
                read_lone[producer as usize] |= reshapes.sees_lone(&input.shape, read_lone[index]);
                needed[producer as usize] |= !input.value.is_ready();
            }
        }
    }
    Marks { needed, read_lone }
}

/// The wanted values that do not depend on a fed value, such as a model's initial weights.
///
/// Empty if all wanted values are such.
pub(super) fn initializers(nodes: &[Node], wanted: &[bool], epoch: u32) -> Vec<bool> {
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
