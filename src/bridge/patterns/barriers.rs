//! Barriers of a program that was rewritten. They were decided for what was recorded, and other nodes may make a
//! node's operand now.

use crate::bridge::barriers::Barriers;
use crate::bridge::program::Program;

/// Gives every node the barriers that it needs now; none is taken away. Without the scalar of the barriers, which a
/// program has if something was recorded to need one, nothing can get one: then the answer is no.
pub(super) fn settle(program: &mut Program, has_scalar: bool) -> bool {
    let last_first = program.schedule.iter().rev().map(|&at| {
        let node = &program.nodes[at as usize];
        (at, &node.op, &node.output, node.inputs.iter().map(|input| (input.source, &input.shape)))
    });
    let mut barriers = Barriers::new(program.nodes.len(), last_first);
    for place in 0..program.schedule.len() {
        let at = program.schedule[place];
        let node = &program.nodes[at as usize];
        let operands = node.inputs.iter().map(|input| {
            let made = program.type_of(input.source);
            (input.source, made.dtype, &made.shape, &input.shape)
        });
        let needed = barriers.of_node(at, &node.op, &node.output, operands);
        for (input, needs) in program.nodes[at as usize].inputs.iter_mut().zip(needed) {
            if needs && !input.barrier && !has_scalar {
                return false;
            }
            input.barrier |= needs;
        }
    }
    true
}
