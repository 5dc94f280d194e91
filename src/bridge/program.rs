//! A program: what a flush runs, written so that two flushes that can share an executable are equal.
//!
//! It is the cache key: ops with their attributes, types and the flow between them. Values fed at run time (buffers,
//! scalars) are not in it. A `draft` is compared with it in place. Its text form is for people and tests.

use std::fmt;

use burn_backend::Shape;
use smallvec::SmallVec;

use crate::lowering::scalar::{Layout, ScalarKind};
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

impl Source {
    /// The node that makes it, if one does.
    pub fn node(self) -> Option<u32> {
        match self {
            Source::Feed(_) => None,
            Source::Node(at) => Some(at),
        }
    }

    /// A number that no other source has.
    pub fn code(self) -> u64 {
        match self {
            Source::Feed(at) => u64::from(at) << 1,
            Source::Node(at) => u64::from(at) << 1 | 1,
        }
    }
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

/// A list of ops, each after those that make its operands, without those whose values neither a tensor nor a later
/// node needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub feeds: Vec<TensorType>,
    pub nodes: Vec<ProgramNode>,
    /// Nodes whose values leave the program, in ascending order.
    pub outputs: Vec<u32>,
    /// The nodes in the order in which they were recorded the first time; not part of the program's identity.
    pub schedule: Vec<u32>,
}

impl Program {
    /// Whether both do the same, whenever their nodes were recorded.
    pub fn is_same(&self, other: &Self) -> bool {
        let Self { feeds, nodes, outputs, schedule: _ } = self;
        *feeds == other.feeds && *nodes == other.nodes && *outputs == other.outputs
    }

    /// The type of a value as it is fed or made; an operand may read it in another shape.
    pub fn type_of(&self, source: Source) -> &TensorType {
        match source {
            Source::Feed(at) => &self.feeds[at as usize],
            Source::Node(at) => &self.nodes[at as usize].output,
        }
    }

    /// For each node the first lanes of its scalars, if `layout` is that of all.
    pub fn lanes(&self, layout: &Layout) -> Vec<SmallVec<[u32; 2]>> {
        let mut first = layout.first.iter().copied();
        self.nodes.iter().map(|node| first.by_ref().take(node.scalars.len()).collect()).collect()
    }

    /// The types of all that is fed: the feeds, and behind them the lanes of scalars that are laid out so.
    pub fn fed_types(&self, layout: &Layout) -> Vec<TensorType> {
        self.feeds.iter().cloned().chain(layout.types()).collect()
    }

    /// Bytes of the values that do not leave the program, which an execution may need as scratch memory.
    pub fn inner_bytes(&self) -> usize {
        let bytes = |nodes: &[u32]| nodes.iter().map(|&at| self.nodes[at as usize].output.bytes()).sum::<usize>();
        bytes(&self.schedule) - bytes(&self.outputs)
    }
}

impl fmt::Display for Program {
    /// One line per feed, node (in the order in which they were recorded) and output:
    /// `%3 = f32[64, 10] Arithmetic(Binary(Add)) %1 $0`. An operand that is read through a barrier has a bar in front.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ty = |ty: &TensorType| format!("{}{:?}", ty.dtype.name(), &ty.shape[..]);
        for (index, feed) in self.feeds.iter().enumerate() {
            writeln!(f, "${index} = {}", ty(feed))?;
        }
        for &index in &self.schedule {
            let node = &self.nodes[index as usize];
            write!(f, "%{index} = {} {:?}", ty(&node.output), node.op)?;
            for input in &node.inputs {
                let (sigil, at) = match input.source {
                    Source::Feed(at) => ('$', at),
                    Source::Node(at) => ('%', at),
                };
                let bar = if input.barrier { "|" } else { "" };
                write!(f, " {bar}{sigil}{at}")?;
                if self.type_of(input.source).shape != input.shape {
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
