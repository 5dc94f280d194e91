//! The gradient of a quotient for its divisor: `Autodiff` records `g · (-a / b²)` beside `g · (1 / b)` for the
//! dividend. The product of that one and of `a / b`, which is mostly known, is the negative of it.
//!
//! There is one rounding fewer. Where `b²` overflows or underflows and `b` does not, the result is mostly right instead
//! of zero or infinite; a divisor that is zero, infinite or NaN gives what it gave. But `g · (1 / b)`, the dividend's
//! gradient, may leave the range of f32 where the divisor's does not: for b of 1e-15 and g of 1e25, say, it is
//! infinite, and then so is the divisor's gradient, or NaN if a is zero; for b of 1e10 and g of 1e-30 it is 0, and then
//! so is the divisor's gradient, however large a is.
//!
//! In f16 `g · (1 / b)` leaves the range where the divisor's gradient does not, for losses that are scaled up, or small
//! gradients of means. There only softmaxes are rewritten, whose divisor is at least 1 and at least the dividend.

use std::collections::HashMap;

use burn_backend::DType;
use foldhash::fast::FixedState;
use smallvec::SmallVec;

use super::add;
use super::reading::{DIV, MUL, NEG, RECIP, Readers, either_way, made_by, value};
use super::softmax::is_softmax;
use crate::bridge::program::{OperandRef, Program, Source};

pub(super) fn apply(program: &mut Program) {
    let readers = Readers::new(program);
    let mut known = Known::default();
    for &at in &program.schedule {
        known.note(program, at);
    }
    for place in 0..program.schedule.len() {
        let at = program.schedule[place];
        let Some(Gradient { product, terms, scaled }) = known.gradient(program, at, &readers) else { continue };
        let output = program.nodes[at as usize].output.clone();
        let quotient = match known.quotients.get(&terms) {
            Some(&quotient) => value(program, quotient),
            None => add(program, DIV, terms.into_iter().collect(), output),
        };
        // A node of its own: who finds this one as a known quotient later reads what it was.
        let output = program.nodes[at as usize].output.clone();
        let own = add(program, NEG, SmallVec::from_iter([quotient]), output);
        program.nodes[product as usize].inputs = SmallVec::from_iter([value(program, scaled), own]);
    }
}

/// What is made of a node that is `-a / b²`.
struct Gradient {
    /// Who multiplies it by g.
    product: u32,
    /// a and b.
    terms: [OperandRef; 2],
    /// `g · (1 / b)`
    scaled: u32,
}

/// Nodes by what they compute.
#[derive(Default)]
struct Known {
    quotients: HashMap<[OperandRef; 2], u32, FixedState>,
    /// `g · (1 / b)` by g and b.
    scaled: HashMap<[OperandRef; 2], u32, FixedState>,
}

impl Known {
    fn note(&mut self, program: &Program, at: u32) {
        let node = &program.nodes[at as usize];
        if node.op == DIV {
            self.quotients.insert([node.inputs[0].clone(), node.inputs[1].clone()], at);
        } else if node.op == MUL {
            for [gradient, over] in either_way(&node.inputs) {
                if let Some((_, [divisor])) = made_by(program, over, &RECIP) {
                    self.scaled.insert([gradient.clone(), divisor.clone()], at);
                }
            }
        }
    }

    fn gradient(&self, program: &Program, at: u32, readers: &Readers) -> Option<Gradient> {
        let node = &program.nodes[at as usize];
        if node.op != DIV {
            return None;
        }
        let (_, [dividend]) = made_by(program, &node.inputs[0], &NEG)? else { return None };
        let (_, [divisor, same]) = made_by(program, &node.inputs[1], &MUL)? else { return None };
        if divisor != same {
            return None;
        }
        let product = readers.only(at)?;
        let reader = &program.nodes[product as usize];
        let whole = reader.op == MUL && reader.inputs.iter().all(|input| input.shape == node.output.shape);
        let own = |input: &OperandRef| input.source == Source::Node(at);
        let [gradient, _] = either_way(whole.then_some(&reader.inputs)?).into_iter().find(|[_, other]| own(other))?;
        let scaled = *self.scaled.get(&[gradient.clone(), divisor.clone()])?;
        let terms = [dividend.clone(), divisor.clone()];
        let fits = node.output.dtype != DType::F16 || is_softmax(program, &terms);
        fits.then_some(Gradient { product, terms, scaled })
    }
}
