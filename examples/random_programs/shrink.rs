//! Makes a program that shows a difference shorter, as long as it shows one of the same claim.
//!
//! An op is dropped by feeding what it computed; what only it needed goes with it, and so does what nothing reads.

use burn::tensor::TensorData;

use crate::check::{Difference, op_by_op};
use crate::program::{Content, Feeds, Id, Made, Program};

/// A program, what it is fed at first and then, and what does not hold of it.
#[derive(Clone, Debug)]
pub struct Found {
    pub program: Program,
    pub feeds: [Feeds; 2],
    pub difference: Difference,
}

/// The shortest program that is found by dropping one step at a time.
pub fn shortest(mut found: Found, mut check: impl FnMut(&Program, &[Feeds; 2]) -> Option<Difference>) -> Found {
    while let Some(shorter) = shorter(&found, &mut check) {
        found = shorter;
    }
    found
}

fn shorter(found: &Found, mut check: impl FnMut(&Program, &[Feeds; 2]) -> Option<Difference>) -> Option<Found> {
    let values = op_by_op(&found.program, &found.feeds);
    let read = found.program.read();
    (0..found.program.steps.len()).rev().find_map(|id| {
        let (program, feeds) = match &found.program.steps[id].made {
            _ if !read[id] => without(&found.program, &found.feeds, id),
            Made::By(..) => fed(&found.program, &found.feeds, id, values.as_ref()?),
            Made::Fed(_) => return None,
        };
        let difference = check(&program, &feeds)?;
        (difference.claim == found.difference.claim).then_some(Found { program, feeds, difference })
    })
}

/// The program without a step that nothing reads.
fn without(program: &Program, feeds: &[Feeds; 2], id: Id) -> (Program, [Feeds; 2]) {
    let (mut program, mut feeds) = (program.clone(), feeds.clone());
    program.steps.remove(id);
    for feeds in &mut feeds {
        feeds.remove(id);
    }
    for step in &mut program.steps[id..] {
        if let Made::By(_, operands) = &mut step.made {
            for operand in operands.iter_mut().filter(|operand| **operand > id) {
                *operand -= 1;
            }
        }
    }
    (program, feeds)
}

/// The program with a step's value fed.
fn fed(program: &Program, feeds: &[Feeds; 2], id: Id, values: &[Vec<TensorData>; 2]) -> (Program, [Feeds; 2]) {
    let (mut program, mut feeds) = (program.clone(), feeds.clone());
    program.steps[id].made = Made::Fed(Content::Kept);
    for (feeds, values) in feeds.iter_mut().zip(values) {
        feeds[id] = Some(values[id].clone());
    }
    // What only it has read, the latest first, so that the numbers of the others stay.
    for before in (0..id).rev() {
        if !program.read()[before] {
            (program, feeds) = without(&program, &feeds, before);
        }
    }
    (program, feeds)
}
