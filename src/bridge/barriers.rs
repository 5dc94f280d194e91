//! Which operands of a program are read through barriers: asks the rule of [`crate::lowering::provenance`] for each
//! node, of a recorded program and of a rewritten one.

use burn_backend::{DType, Shape};
use smallvec::{SmallVec, smallvec};

use super::program::Source;
use super::recording::Marks;
use crate::ffi::os_version;
use crate::lowering::provenance::{Provenance, Reading};
use crate::ops::Op;
use crate::tensor_type::TensorType;

/// What is known of a program's nodes while its barriers are decided.
pub(super) struct Barriers {
    /// Which nodes' values are read with more than one extent of 1, directly or through nodes that MPSGraph's compiler
    /// sees through; see [`Provenance::needs_barrier`], which asks from macOS 26 on.
    read_lone: Marks,
    /// The marks of each node's value so far.
    provenances: SmallVec<[Provenance; 8]>,
}

impl Barriers {
    /// For a program whose nodes have numbers below `count`. They are given each before those that make its operands:
    /// the number, the op, the type of the value, and for each operand where it comes from and how it is read.
    pub fn new<'a, Operands: Iterator<Item = (Source, &'a Shape)>>(
        count: usize,
        nodes: impl Iterator<Item = (u32, &'a Op, &'a TensorType, Operands)>,
    ) -> Self {
        let mut read_lone = Marks::from_elem(false, count);
        if os_version::at_least(26, 0) {
            for (at, op, output, operands) in nodes {
                let reshapes = op.reshapes(output.shape.num_dims());
                for (source, shape) in operands {
                    if let Source::Node(producer) = source {
                        read_lone[producer as usize] |= reshapes.sees_lone(shape, read_lone[at as usize]);
                    }
                }
            }
        }
        Self { read_lone, provenances: smallvec![Provenance::NONE; count] }
    }

    /// Which operands a node has to read through barriers, asked after the nodes that make them. For each operand there
    /// is where it comes from, its dtype, the shape in which it is made or fed, and the one in which it is read.
    pub fn of_node<'a>(
        &mut self,
        at: u32,
        op: &Op,
        output: &TensorType,
        operands: impl Iterator<Item = (Source, DType, &'a Shape, &'a Shape)>,
    ) -> SmallVec<[bool; 3]> {
        let readings = operands.map(|(source, dtype, made, shape)| {
            let provenance = source.node().map_or(Provenance::NONE, |producer| self.provenances[producer as usize]);
            Reading { provenance, dtype, made, shape }
        });
        let readings: SmallVec<[Reading<'_>; 3]> = readings.collect();
        let (provenance, barriers) = op.barriers(&readings, output, self.read_lone[at as usize]);
        self.provenances[at as usize] = provenance;
        barriers
    }
}
