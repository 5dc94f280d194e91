//! Results of f32 that the order of the steps made infinite, 0 or NaN.
//!
//! Each accumulator takes every so manieth element. One of them may overflow, or come to 0, where a sum or product of
//! one element after the other does not: 2, 0.5, 2, 0.5 and so on has the product 1. Such a result is found anew in the
//! order of the elements, unless an element explains it.

use super::{Loops, ReduceOp};
use crate::kernels::elementwise::math::quotient;

/// Numbers that are looked at before it is asked what was found.
const LOOK: usize = 64;

/// What makes a result one that an element has to explain, by being such a number itself.
#[derive(Clone, Copy)]
pub(super) enum Special {
    /// Infinity or NaN.
    NotFinite,
    /// These, and 0.
    OrZero,
}

impl Special {
    /// What elements have to explain; nothing, if no order of the steps is another result.
    pub(super) fn of(op: ReduceOp) -> Option<Self> {
        match op {
            ReduceOp::Sum | ReduceOp::Mean => Some(Special::NotFinite),
            ReduceOp::Prod => Some(Special::OrZero),
            ReduceOp::Min | ReduceOp::Max | ReduceOp::MinNan | ReduceOp::MaxNan | ReduceOp::And | ReduceOp::Or => None,
        }
    }

    fn has(self, x: f32) -> bool {
        match self {
            Special::NotFinite => !x.is_finite(),
            Special::OrZero => !x.is_finite() | (x == 0.0),
        }
    }

    /// Whether one of the numbers is such a number.
    pub(super) fn is_among(self, numbers: &[f32]) -> bool {
        numbers.chunks(LOOK).any(|some| some.iter().fold(false, |found, &x| found | self.has(x)))
    }

    /// Finds results anew that no element explains.
    pub(super) fn mend(self, op: ReduceOp, x: &[f32], loops: &Loops, out: &mut [f32]) {
        for (at, result) in out.iter_mut().enumerate().filter(|(_, result)| self.has(**result)) {
            let x = &x[loops.kept.offset(at)..];
            let in_order = match op {
                ReduceOp::Sum => self.fold(x, loops, *result, 0.0, |sum, x| sum + x),
                ReduceOp::Mean => {
                    let sum = self.fold(x, loops, *result, 0.0, |sum, x| sum + x);
                    sum.map(|sum| quotient(sum, loops.count as f32))
                }
                ReduceOp::Prod => self.fold(x, loops, *result, 1.0, |product, x| product * x),
                ReduceOp::Min | ReduceOp::Max | ReduceOp::MinNan | ReduceOp::MaxNan | ReduceOp::And | ReduceOp::Or => {
                    unreachable!("{op:?} has one result in any order")
                }
            };
            *result = in_order.unwrap_or(*result);
        }
    }

    /// Folds the elements of the result that begins with `x` in order; `None` as soon as there is a reason for the
    /// result that was found.
    fn fold(
        self,
        x: &[f32],
        loops: &Loops,
        found: f32,
        mut folded: f32,
        step: impl Fn(f32, f32) -> f32,
    ) -> Option<f32> {
        let mut some = [0.0; LOOK];
        let mut at = 0;
        while at < loops.count {
            let [start, several, apart] = loops.reduced.run(at);
            let some = &mut some[..several.min(LOOK)];
            some.iter_mut().zip(x[start..].iter().step_by(apart.max(1))).for_each(|(some, x)| *some = *x);
            folded = some.iter().fold(folded, |folded, &x| step(folded, x));
            // Infinity and 0 stay what they are, but for the sign, which the result has from all elements.
            if self.is_among(some) || (self.has(folded) && folded.abs() == found.abs()) {
                return None;
            }
            at += some.len();
        }
        Some(folded)
    }
}
