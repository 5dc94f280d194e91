//! Barriers of a program that was rewritten. They were decided for what was recorded, and other nodes may make a
//! product's operand now.

use smallvec::SmallVec;

use crate::bridge::program::{Program, Source};
use crate::ffi::os_version;
use crate::lowering::provenance::{Provenance, Reading};

/// Gives every product the barriers that it needs now; none is taken away. Without the scalar of the barriers, which a
/// program has if something was recorded to need one, nothing can get one: then the answer is no.
pub(super) fn settle(program: &mut Program, has_scalar: bool) -> bool {
    let read_lone = read_lone(program);
    let mut provenances = vec![Provenance::NONE; program.nodes.len()];
    for place in 0..program.schedule.len() {
        let at = program.schedule[place] as usize;
        let (provenance, barriers) = node_barriers(program, at, &provenances, read_lone[at]);
        provenances[at] = provenance;
        for (input, needs) in program.nodes[at].inputs.iter_mut().zip(barriers) {
            if needs && !input.barrier && !has_scalar {
                return false;
            }
            input.barrier |= needs;
        }
    }
    true
}

/// The marks of a node's value, and which operands it has to read through barriers.
fn node_barriers(
    program: &Program,
    at: usize,
    provenances: &[Provenance],
    read_lone: bool,
) -> (Provenance, SmallVec<[bool; 3]>) {
    let node = &program.nodes[at];
    let readings = node.inputs.iter().map(|input| {
        let provenance = input.source.node().map_or(Provenance::NONE, |producer| provenances[producer as usize]);
        let made = program.type_of(input.source);
        Reading { provenance, dtype: made.dtype, made: &made.shape, shape: &input.shape }
    });
    let readings: SmallVec<[Reading<'_>; 3]> = readings.collect();
    node.op.barriers(&readings, &node.output, read_lone)
}

/// Which nodes' values are read with more than one extent of 1; see [`Provenance::needs_barrier`].
fn read_lone(program: &Program) -> Vec<bool> {
    let mut read_lone = vec![false; program.nodes.len()];
    if !os_version::at_least(26, 0) {
        return read_lone;
    }
    for &at in program.schedule.iter().rev() {
        let node = &program.nodes[at as usize];
        let reshapes = node.op.reshapes(node.output.shape.num_dims());
        for input in &node.inputs {
            if let Source::Node(producer) = input.source {
                read_lone[producer as usize] |= reshapes.sees_lone(&input.shape, read_lone[at as usize]);
            }
        }
    }
    read_lone
}
