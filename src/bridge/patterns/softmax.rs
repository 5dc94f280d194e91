//! A softmax that was taken apart, as `Autodiff` records it: `exp(x - max x)` over its sum becomes the op of its own,
//! and its gradient `(g / S - Σ g / S · w) · exp(…)` becomes `(g - Σ g · w) · w`, where w is the softmax and S the sum.
//!
//! S is the same for all elements of a row, so only roundings differ. S is at least 1, or NaN as all of the row then.
//! `g - Σ g · w` may be twice as large as the largest g, which f16 cannot always hold, so 16-bit floats have `g · w -
//! w · Σ g · w`: as many nodes, and no step is larger than a g or the result. With f32, where gradients beyond half of
//! its range may so become infinite, the sum need not store its products. The op's own lowering is
//! `softMaxWithTensor:`, in f32 for 16-bit floats; products read it through a barrier, which was decided for the parts
//! and stays.

use burn_backend::DType;
use smallvec::SmallVec;

use super::joined::type_of;
use super::reading::{DIV, MUL, RECIP, Readers, SUB, either_way, made_by, maker, value};
use crate::bridge::program::{OperandRef, Program};
use crate::ops::Op;
use crate::ops::activation::ActivationOp;
use crate::ops::arithmetic::{ArithmeticOp, UnaryOp};

const EXP: Op = Op::Arithmetic(ArithmeticOp::Unary(UnaryOp::Exp));

/// Nodes that together are a softmax along an axis.
struct Softmax {
    quotient: Quotient,
    weights: u32,
}

/// The exponentials and their sum that a softmax divides.
struct Quotient {
    x: OperandRef,
    axis: usize,
    exponentials: u32,
    total: u32,
}

impl Softmax {
    /// The softmax that a node ends.
    fn ending_with(program: &Program, weights: u32) -> Option<Self> {
        let node = &program.nodes[weights as usize];
        let [dividend, divisor] = (node.op == DIV).then_some(&node.inputs[..])? else { return None };
        let quotient = Quotient::of(program, dividend, divisor)?;
        (quotient.x.shape == node.output.shape).then_some(Self { quotient, weights })
    }
}

impl Quotient {
    /// The parts of the softmax that the quotient of these is.
    fn of(program: &Program, dividend: &OperandRef, divisor: &OperandRef) -> Option<Self> {
        let (exponentials, [shifted]) = made_by(program, dividend, &EXP)? else { return None };
        let (total, axis) = sum_of(program, divisor, exponentials)?;
        let (_, [x, top]) = made_by(program, shifted, &SUB)? else { return None };
        let (_, top) = maker(program, top)?;
        let Op::Reduction(greatest) = top.op else { return None };
        let fits = greatest.maximum_axis() == Some(axis) && top.inputs[0] == *x && x.shape == dividend.shape;
        fits.then(|| Self { x: x.clone(), axis, exponentials, total })
    }
}

/// Whether a quotient is a softmax.
pub(super) fn is_softmax(program: &Program, [dividend, divisor]: &[OperandRef; 2]) -> bool {
    Quotient::of(program, dividend, divisor).is_some()
}

/// The node that makes `input` and its axis, if it is the sum of node `of` along one.
fn sum_of(program: &Program, input: &OperandRef, of: u32) -> Option<(u32, usize)> {
    let (at, node) = maker(program, input)?;
    let Op::Reduction(op) = node.op else { return None };
    let (made, _) = maker(program, &node.inputs[0])?;
    Some((at, op.sum_axis().filter(|_| made == of)?))
}

fn all(program: &Program) -> Vec<Softmax> {
    program.schedule.iter().filter_map(|&at| Softmax::ending_with(program, at)).collect()
}

/// Gradients by the softmax instead of by its parts.
pub(super) fn gradients(program: &mut Program) {
    let readers = Readers::new(program);
    for softmax in all(program) {
        for &last in readers.of(softmax.quotient.exponentials) {
            let Some(gradient) = Gradient::ending_with(program, &softmax, last, &readers) else { continue };
            gradient.rewrite(program, softmax.weights, last);
        }
    }
}

/// The gradient `(g / S - Σ g / S · w) · exp(…)`.
struct Gradient {
    of: OperandRef,
    weighted: u32,
    difference: u32,
    sum: u32,
}

impl Gradient {
    fn ending_with(program: &Program, softmax: &Softmax, last: u32, readers: &Readers) -> Option<Self> {
        let node = &program.nodes[last as usize];
        if node.op != MUL {
            return None;
        }
        let is = |input: &OperandRef, at: u32| maker(program, input).is_some_and(|(made, _)| made == at);
        let [inner, _] =
            either_way(&node.inputs).into_iter().find(|[_, own]| is(own, softmax.quotient.exponentials))?;
        let (difference, [scaled, sum]) = made_by(program, inner, &SUB)? else { return None };
        let (scaled, factors) = made_by(program, scaled, &MUL)?;
        let [of, _] = either_way(factors).into_iter().find(|[_, over]| {
            made_by(program, over, &RECIP).is_some_and(|(_, total)| is(&total[0], softmax.quotient.total))
        })?;
        let (sum, reduced) = maker(program, sum)?;
        let (weighted, factors) = made_by(program, &reduced.inputs[0], &MUL)?;
        let Op::Reduction(op) = reduced.op else { return None };
        let weighs = either_way(factors).into_iter().any(|[a, b]| is(a, scaled) && is(b, softmax.weights));
        let alone = [(difference, last), (sum, difference), (weighted, sum)];
        let alone = alone.into_iter().all(|(at, reader)| readers.only(at) == Some(reader));
        let whole = of.shape == node.output.shape && op.sum_axis() == Some(softmax.quotient.axis);
        let fits = weighs && alone && whole && readers.nobody_else_reads(scaled, &[difference, weighted]);
        fits.then(|| Self { of: of.clone(), weighted, difference, sum })
    }

    fn rewrite(self, program: &mut Program, weights: u32, last: u32) {
        let Self { of, weighted, difference, sum } = self;
        let [weights, products, sum, inner] = [weights, weighted, sum, difference].map(|node| value(program, node));
        let is_wide = type_of(program, &of).dtype == DType::F32;
        let mut put = |node: u32, op: Op, inputs: [OperandRef; 2]| {
            let node = &mut program.nodes[node as usize];
            (node.op, node.inputs) = (op, SmallVec::from_iter(inputs));
        };
        put(weighted, MUL, [of.clone(), weights.clone()]);
        if is_wide {
            put(difference, SUB, [of, sum]);
            put(last, MUL, [inner, weights]);
        } else {
            put(difference, MUL, [weights, sum]);
            put(last, SUB, [products, inner]);
        }
    }
}

/// The op of its own where nobody else reads the parts.
pub(super) fn whole(program: &mut Program) {
    let readers = Readers::new(program);
    for Softmax { quotient: Quotient { x, axis, exponentials, total }, weights } in all(program) {
        let alone =
            readers.nobody_else_reads(exponentials, &[total, weights]) && readers.nobody_else_reads(total, &[weights]);
        if alone {
            let node = &mut program.nodes[weights as usize];
            node.op = ActivationOp::Softmax { dim: axis }.into();
            node.inputs = SmallVec::from_iter([x]);
        }
    }
}
