//! What is asked of a program, and the first thing that does not hold.
//!
//! - Op by op, each value is what its op gives for the values that it was computed from, so errors do not add up.
//! - Divided, because most programs before it were new, and with every value read, the same holds.
//! - Recorded as a whole, with every value read, the same holds.
//! - Recorded as a whole and read at its ends only, where patterns and MPSGraph's compiler may put steps together, it
//!   gives the same as op by op: bit for bit if nothing in it is a sum, else within what rounding explains. So it does
//!   with some of the values between kept too, which others then read as they are.
//! - None of this panics.
//! - With other numbers it is in the cache: nothing is compiled, and the same holds.
//! - In a loop, where a round reads what the one before gave, it gives the same as op by op (`rounds.rs`), and so it
//!   does each time that its slices begin elsewhere (`moving.rs`).

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use burn::tensor::TensorData;
use burn_mpsgraph::{MpsGraph, MpsGraphDevice, eagerly};
use test_support::{Tolerance, compare};

use crate::bounds::{Bound, bound};
use crate::judge::{Verdict, judge};
use crate::moving;
use crate::program::{Binary, Feeds, Float, Id, Image, Made, Move, Number, Op, Program, Step};
use crate::rounds;
use crate::run;
use crate::spread::Spread;
use crate::value::Value;

/// Something that does not hold, of the value of a step.
#[derive(Clone, Debug)]
pub struct Difference {
    pub at: Id,
    /// Which of the claims.
    pub claim: &'static str,
    pub text: String,
}

/// How many values, or gradients, there were to compare.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub values: usize,
    pub not_compared: usize,
}

/// The first difference of a program that is fed these numbers, and then those.
pub fn check(program: &Program, feeds: &[Feeds; 2], count: &mut Count) -> Option<Difference> {
    without_panic(program, || {
        let eager = feeds.each_ref().map(|feeds| eagerly(|| all(program, feeds)));
        eager
            .iter()
            .find_map(|values| each("op by op", program, values, count))
            .or_else(|| each("divided", program, &all(program, &feeds[0]), count))
            .or_else(|| each("recorded", program, &as_a_whole(|| all(program, &feeds[0])), count))
            .or_else(|| {
                let read = program.read();
                let ends = Kept { claim: "recorded, read at its ends", kept: read.iter().map(|read| !read).collect() };
                let third = |(id, read): (Id, &bool)| !read || (id + program.steps.len()).is_multiple_of(3);
                let some = Kept { claim: "recorded, some kept", kept: read.iter().enumerate().map(third).collect() };
                as_a_whole(|| [ends, some].iter().find_map(|kept| kept_agree(program, feeds, &eager, kept)))
            })
            .or_else(|| rounds::check(program, &feeds[0]))
            .or_else(|| moving::check(program, &feeds[0]))
    })
}

/// Does something on a thread of its own. There a program runs as a whole: only on one whose programs were new lately
/// one is divided.
pub fn as_a_whole<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| resume_unwind(panic)))
}

/// What `checked` finds, or that something panics.
pub fn without_panic(program: &Program, checked: impl FnOnce() -> Option<Difference>) -> Option<Difference> {
    catch_unwind(AssertUnwindSafe(checked)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default();
        Some(Difference { at: program.steps.len() - 1, claim: "runs", text })
    })
}

/// All values for both feeds, a program per op, unless an op panics.
pub fn op_by_op(program: &Program, feeds: &[Feeds; 2]) -> Option<[Vec<TensorData>; 2]> {
    catch_unwind(AssertUnwindSafe(|| feeds.each_ref().map(|feeds| eagerly(|| all(program, feeds))))).ok()
}

/// Every value, read at the end.
fn all(program: &Program, feeds: &Feeds) -> Vec<TensorData> {
    run::values::<MpsGraph>(program, feeds).into_iter().map(|value| value.into_data()).collect()
}

fn each(claim: &'static str, program: &Program, values: &[TensorData], count: &mut Count) -> Option<Difference> {
    for (at, step) in program.steps.iter().enumerate() {
        let operands: Vec<TensorData> = step.operands().iter().map(|&id| values[id].clone()).collect();
        count.values += 1;
        match judge(step, &operands, &values[at]) {
            Verdict::Agrees => (),
            Verdict::NotCompared => count.not_compared += 1,
            Verdict::Differs(text) => return Some(Difference { at, claim, text }),
        }
    }
    None
}

/// The values that no step reads, with nothing else kept when they are asked for.
pub fn ends(program: &Program, values: Vec<Value<MpsGraph>>) -> Vec<(Id, TensorData)> {
    let read = program.read();
    let ends: Vec<_> = values.into_iter().enumerate().filter(|(id, _)| !read[*id]).collect();
    ends.into_iter().map(|(id, value)| (id, value.into_data())).collect()
}

/// The first end that is not, bit for bit, what a program per op gave, unless its roundings may differ.
pub fn first_difference(
    claim: &'static str,
    eager: &[(Id, TensorData)],
    recorded: &[(Id, TensorData)],
    rounded: &[bool],
) -> Option<Difference> {
    eager.iter().zip(recorded).find_map(|((at, eager), (_, recorded))| {
        let outcome = compare(eager, recorded, Tolerance::Exact);
        let text = format!("op by op {}, recorded {}", outcome.expected, outcome.got);
        (!rounded[*at] && !outcome.agrees).then_some(Difference { at: *at, claim, text })
    })
}

/// Values that are read by name, and how that is called.
struct Kept {
    claim: &'static str,
    kept: Vec<bool>,
}

/// The values that are kept, recorded with all that they need and nothing else read.
fn kept_agree(
    program: &Program,
    feeds: &[Feeds; 2],
    eager: &[Vec<TensorData>; 2],
    Kept { claim, kept }: &Kept,
) -> Option<Difference> {
    let sums = downstream_of_sums(program);
    let found = |feeds: &Feeds| {
        let values = run::values::<MpsGraph>(program, feeds);
        // The others are dropped before anything runs.
        let kept: Vec<_> = values.into_iter().enumerate().filter(|(id, _)| kept[*id]).collect();
        kept.into_iter().map(|(id, value)| (id, value.into_data())).collect::<Vec<_>>()
    };
    let differs = |claim: &'static str, found: &[(Id, TensorData)], feeds: &Feeds, eager: &[TensorData]| {
        let orders_nan = downstream_of_ordered_nan(program, eager);
        let unequal =
            |id: Id, found: &TensorData| !orders_nan[id] && !compare(&eager[id], found, Tolerance::Exact).agrees;
        let mut found = found.iter().filter(|(id, found)| unequal(*id, found)).peekable();
        found.peek()?;
        let spread = Spread::new(program, feeds);
        found.find_map(|(id, found)| {
            let text = if sums[*id] {
                spread.difference(*id, &eager[*id], found)?
            } else {
                let outcome = compare(&eager[*id], found, Tolerance::Exact);
                format!("op by op {}, recorded {}", outcome.expected, outcome.got)
            };
            Some(Difference { at: *id, claim, text })
        })
    };
    let first = found(&feeds[0]);
    // What reads nothing that is fed is a program of its own at first.
    found(&feeds[0]);
    let before = MpsGraphDevice.stats();
    let second = found(&feeds[1]);
    let compiled = MpsGraphDevice.stats().since(&before).programs_compiled;
    if compiled > 0 {
        let text = format!("{compiled} programs were compiled for other numbers");
        return Some(Difference { at: program.steps.len() - 1, claim: "cached", text });
    }
    differs(claim, &first, &feeds[0], &eager[0]).or_else(|| differs("cached", &second, &feeds[1], &eager[1]))
}

/// Whether rounding that patterns may change enters each value: that of sums, and of the quotients of gradients.
fn downstream_of_sums(program: &Program) -> Vec<bool> {
    downstream(program, |step| may_be_regrouped(program, step))
}

/// Whether patterns may change the rounding of a step.
pub fn may_be_regrouped(program: &Program, step: &Step) -> bool {
    match &step.made {
        Made::Fed(_) => false,
        Made::By(op, _) => step.dtype.is_float() && (adds_in_any_order(op) || is_gradient_of_quotient(program, step)),
    }
}

/// Whether it enters each value where NaN is in an order: its sign decides that, and nothing fixes the sign of a NaN
/// that was computed.
fn downstream_of_ordered_nan(program: &Program, values: &[TensorData]) -> Vec<bool> {
    downstream(program, |step| match &step.made {
        Made::By(Op::Number(Number::Sort { .. } | Number::Argsort { .. } | Number::Topk { .. }), operands) => {
            let data = &values[operands[0]];
            data.dtype.is_float() && data.iter::<f64>().any(f64::is_nan)
        }
        Made::Fed(_) | Made::By(..) => false,
    })
}

/// The steps for which this holds, and all that depend on them.
fn downstream(program: &Program, holds: impl Fn(&Step) -> bool) -> Vec<bool> {
    let mut downstream: Vec<bool> = Vec::new();
    for step in &program.steps {
        downstream.push(holds(step) || step.operands().iter().any(|&id| downstream[id]));
    }
    downstream
}

/// Whether a step is `-a / b²`, which a pattern takes from `a / b`.
fn is_gradient_of_quotient(program: &Program, step: &Step) -> bool {
    let made = |id: Id| match &program.steps[id].made {
        Made::By(Op::Number(op), operands) => Some((op, &operands[..])),
        Made::Fed(_) | Made::By(..) => None,
    };
    let Made::By(Op::Number(Number::Binary(Binary::Div)), operands) = &step.made else { return false };
    matches!(made(operands[0]), Some((Number::Neg, _)))
        && matches!(made(operands[1]), Some((Number::Binary(Binary::Mul), &[a, b])) if a == b)
}

fn adds_in_any_order(op: &Op) -> bool {
    match op {
        Op::Number(Number::Matmul) | Op::Image(Image::DeformConv2d(_)) => true,
        Op::Float(Float::Rfft { .. } | Float::Irfft { .. }) => true,
        Op::Move(Move::Scatter(_) | Move::SelectAssign(_)) | Op::Number(Number::ScatterNd(_)) => false,
        Op::Cast(_) | Op::Move(_) | Op::Number(_) | Op::Float(_) | Op::Image(_) | Op::Int(_) | Op::Bool(_) => {
            matches!(bound(op), Bound::Terms | Bound::Normalized | Bound::Attended)
        }
    }
}
