//! A program whose slices and assigned regions move, as those of caches and of windows over data do: each time they
//! begin elsewhere, and what is compiled may be for any beginning.

use burn::tensor::Slice;
use burn_mpsgraph::eagerly;

use crate::check::{Difference, as_a_whole, ends, first_difference};
use crate::program::{Feeds, Made, Move, Op, Program};
use crate::random::Random;
use crate::rounds::rounded_in_any_order;
use crate::run;

/// How often a program runs, each time with other slices.
const TIMES: u64 = 4;

/// The first end that is not, bit for bit, what a program per op gives.
pub fn check(program: &Program, feeds: &Feeds) -> Option<Difference> {
    let slices = |step: &Made| matches!(step, Made::By(Op::Move(Move::Slice(_) | Move::SliceAssign(_)), _));
    if !program.steps.iter().any(|step| slices(&step.made)) {
        return None;
    }
    let rounded = rounded_in_any_order(program, &vec![None; program.steps.len()]);
    let differs = |program: &Program| {
        let run = || ends(program, run::values(program, feeds));
        first_difference("with slices that move", &eagerly(run), &run(), &rounded)
    };
    as_a_whole(|| (0..TIMES).find_map(|time| differs(&elsewhere(program, time))))
}

/// The program with slices of the same extents that begin elsewhere, equal ones at the same place.
fn elsewhere(program: &Program, time: u64) -> Program {
    let mut moved = program.clone();
    for step in &mut moved.steps {
        let Made::By(Op::Move(Move::Slice(slices) | Move::SliceAssign(slices)), operands) = &mut step.made else {
            continue;
        };
        for (slice, &extent) in slices.iter_mut().zip(&program.steps[operands[0]].shape) {
            *slice = moved_slice(*slice, extent, time);
        }
    }
    moved
}

fn moved_slice(slice: Slice, extent: usize, time: u64) -> Slice {
    let Some(end) = slice.end else { return slice };
    let length = end - slice.start;
    let room = (extent as isize - length).unsigned_abs();
    let start = Random::new((slice.start * 64 + end).cast_unsigned() as u64, time).below(room + 1) as isize;
    Slice::new(start, Some(start + length), slice.step)
}
