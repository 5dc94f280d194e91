//! Barriers of a program that was rewritten. They were decided for what was recorded, and other nodes may make a
//! product's operand now.

use crate::bridge::program::{OperandRef, Program, Source};
use crate::ffi::os_version;
use crate::lowering::provenance::Provenance;

/// Gives every product the barriers that it needs now; none is taken away. Without the scalar of the barriers, which a
/// program has if something was recorded to need one, nothing can get one: then the answer is no.
pub(super) fn settle(program: &mut Program, has_scalar: bool) -> bool {
    let read_lone = read_lone(program);
    let mut provenances = vec![Provenance::NONE; program.nodes.len()];
    for place in 0..program.schedule.len() {
        let at = program.schedule[place] as usize;
        let node = &program.nodes[at];
        let of = |input: &OperandRef| {
            let own = match input.source {
                Source::Feed(_) => Provenance::NONE,
                Source::Node(producer) => provenances[producer as usize],
            };
            own.read_as(&program.type_of(input.source).shape, &input.shape)
        };
        let own: Vec<Provenance> = node.inputs.iter().map(of).collect();
        let first = node.inputs.first().map(|input| &input.shape[..]);
        provenances[at] = node.op.provenance(&own, first, node.output.shape.num_dims());
        if !node.op.is_rewritten() {
            continue;
        }
        let read_lone = read_lone[at] && !node.op.hides_readers();
        let needs: Vec<bool> = node
            .inputs
            .iter()
            .zip(&own)
            .map(|(input, provenance)| {
                let made = program.type_of(input.source);
                provenance.needs_barrier(&made.shape, (made.dtype, &input.shape), &node.output, read_lone)
            })
            .collect();
        for (input, needs) in program.nodes[at].inputs.iter_mut().zip(needs) {
            if needs && !input.barrier && !has_scalar {
                return false;
            }
            input.barrier |= needs;
        }
    }
    true
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
