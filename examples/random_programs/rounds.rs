//! A program in a loop: what a round gives is fed to the next one, as states of models and optimizers are, and nothing
//! is read before the end. So values are computed in memory that others leave, and a flush holds several rounds, or the
//! end of one and the beginning of the next. Two threads do so at once.

use std::panic::resume_unwind;
use std::thread;

use burn::tensor::TensorData;
use burn_mpsgraph::{MpsGraph, eagerly};

use crate::check::{Difference, as_a_whole, ends, first_difference, may_be_regrouped};
use crate::program::{Content, Feeds, Id, Made, Move, Number, Op, Program, Step};
use crate::run;
use crate::value::Value;

/// How often a program runs.
const ROUNDS: usize = 4;

/// For each step that is fed the one whose value the next round gets instead.
pub type Carried = Vec<Option<Id>>;

/// The first end of the last round that is not, bit for bit, what a program per op gives.
pub fn check(program: &Program, feeds: &Feeds) -> Option<Difference> {
    let carried = carried(program);
    if carried.iter().all(Option::is_none) {
        return None;
    }
    let rounded = rounded_in_any_order(program, &carried);
    let eager = eagerly(|| last_round(program, feeds, &carried));
    // Two threads at once, and the second time all that runs is known.
    let twice = || as_a_whole(|| [(); 2].map(|()| last_round(program, feeds, &carried)));
    let recorded: Vec<_> = thread::scope(|scope| {
        let other = scope.spawn(twice);
        let mut all = Vec::from(twice());
        all.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        all
    });
    recorded.iter().find_map(|recorded| first_difference("in a loop", &eager, recorded, &rounded))
}

/// A later step of the same type for each that is fed, another one for each.
fn carried(program: &Program) -> Carried {
    let mut carried = vec![None; program.steps.len()];
    let mut taken = vec![false; program.steps.len()];
    for (id, step) in program.steps.iter().enumerate() {
        // Positions have to stay in their range.
        if matches!(step.made, Made::By(..) | Made::Fed(Content::Below(_))) {
            continue;
        }
        let fits = |(at, other): (usize, &Step)| {
            matches!(other.made, Made::By(..)) && !taken[at] && other.shape == step.shape && other.dtype == step.dtype
        };
        carried[id] = (id..program.steps.len()).rev().find(|&at| fits((at, &program.steps[at])));
        if let Some(from) = carried[id] {
            taken[from] = true;
        }
    }
    carried
}

/// The ends of the program after all rounds.
fn last_round(program: &Program, feeds: &Feeds, carried: &Carried) -> Vec<(Id, TensorData)> {
    let mut given: Vec<Option<Value<MpsGraph>>> = vec![None; program.steps.len()];
    for _ in 1..ROUNDS {
        let values = run::values_with(program, feeds, &mut given);
        given = carried.iter().map(|from| from.map(|from| values[from].clone())).collect();
    }
    ends(program, run::values_with(program, feeds, &mut given))
}

/// Whether the roundings of a value may differ: of sums, whose order is free, and of what the order of NaN decides.
pub fn rounded_in_any_order(program: &Program, carried: &Carried) -> Vec<bool> {
    let orders_or_adds_floats = |step: &Step| match &step.made {
        // Into an axis of one element updates are a sum.
        Made::By(Op::Number(Number::Sort { .. } | Number::Argsort { .. } | Number::Topk { .. }), operands)
        | Made::By(Op::Move(Move::Scatter(_) | Move::SelectAssign(_)), operands) => {
            program.steps[operands[0]].dtype.is_float()
        }
        Made::Fed(_) | Made::By(..) => false,
    };
    let is_one = |step: &Step| may_be_regrouped(program, step) || orders_or_adds_floats(step);
    let mut rounded: Vec<bool> = program.steps.iter().map(is_one).collect();
    for _ in 0..ROUNDS {
        for (id, step) in program.steps.iter().enumerate() {
            let from = step.operands().iter().chain(&carried[id]);
            rounded[id] |= from.copied().collect::<Vec<Id>>().into_iter().any(|at| rounded[at]);
        }
    }
    rounded
}
