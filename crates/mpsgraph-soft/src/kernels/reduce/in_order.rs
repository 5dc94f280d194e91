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
        let Loops { kept, reduced, count, .. } = loops;
        for (at, result) in out.iter_mut().enumerate().filter(|(_, result)| self.has(**result)) {
            let x = &x[kept.offset(at)..];
            let elements = || (0..*count).map(|at| x[reduced.offset(at)]);
            let is_explained = match reduced.loops[..reduced.depth] {
                [(_, 1)] => self.is_among(&x[..*count]),
                _ => elements().any(|x| self.has(x)),
            };
            if is_explained {
                continue;
            }
            let sum = || elements().fold(0.0, |sum, x| sum + x);
            *result = match op {
                ReduceOp::Sum => sum(),
                ReduceOp::Mean => quotient(sum(), *count as f32),
                ReduceOp::Prod => elements().product(),
                ReduceOp::Min | ReduceOp::Max | ReduceOp::MinNan | ReduceOp::MaxNan | ReduceOp::And | ReduceOp::Or => {
                    unreachable!("{op:?} has one result in any order")
                }
            };
        }
    }
}
